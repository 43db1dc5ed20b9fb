/// The addresses by which Adobe Campaign chooses a connector in its external accounts.
///
/// They name a script on the marketing server itself, so only their path counts: people carry over whatever host and port stood
/// there.
public enum ConnectorAlias {
    /// The connectors by the file names that Adobe's documentation gives (`nms/jsp/…`).
    private static let files: [(name: String, connector: Connector)] = [
        ("ios.jsp", .iosBinary), ("iosHTTP2.jsp", .iosHTTP2), ("androidPushConnector.js", .androidV1),
        ("androidPushConnectorV2.js", .androidV2),
    ]

    /// The connector that an address stands for; nil if it is none of Adobe's.
    public static func connector(url: String) -> Connector? {
        let path = url.split(separator: "/", omittingEmptySubsequences: true)
        guard path.count >= 3, path.suffix(3).dropLast() == ["nms", "jsp"], let file = path.last else { return nil }
        return files.first { $0.name == file }?.connector
    }

    /// The addresses as Adobe's documentation writes them.
    public static let known = files.map { file in
        "\(file.connector == .iosHTTP2 ? "http" : "https")://localhost:8080/nms/jsp/\(file.name)"
    }
}
