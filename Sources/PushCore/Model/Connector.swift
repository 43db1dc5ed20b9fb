/// The protocol that an external account speaks to its gateway.
public enum Connector: String, Sendable, Hashable, Codable, CaseIterable {
    /// APNs binary protocol (port 2195), payloads of at most 2,048 bytes.
    case iosBinary = "ios-binary"
    /// APNs provider API over HTTP/2.
    case iosHTTP2 = "ios-http2"
    /// FCM with one connection per MTA child.
    case androidV1 = "android-v1"
    /// FCM with up to `maxGCMConnectPerChild` connections in parallel per MTA child.
    case androidV2 = "android-v2"

    /// The platform whose applications this connector serves.
    public var platform: Platform {
        switch self {
        case .iosBinary, .iosHTTP2: .ios
        case .androidV1, .androidV2: .android
        }
    }
}

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
    public static let known = files.map { url($0.connector, $0.name) }

    /// The address that stands for a connector, as Adobe's documentation writes it; nil if it has none.
    public static func url(_ connector: Connector) -> String? {
        files.first { $0.connector == connector }.map { url(connector, $0.name) }
    }

    private static func url(_ connector: Connector, _ file: String) -> String {
        "\(connector == .iosHTTP2 ? "http" : "https")://localhost:8080/nms/jsp/\(file)"
    }
}

/// An option of an external account beside its address, by the name under which the database keeps it.
public enum AccountOption: String, Sendable, Hashable, CaseIterable {
    /// A PEM file of certificate authorities to trust instead of the usual ones.
    case certificateAuthorityFile = "ca_file"
    /// Connections to the gateway of one child.
    case connections
    /// The host of the binary gateway's feedback service.
    case feedbackHost = "feedback_host"
    /// The port of that service.
    case feedbackPort = "feedback_port"

    /// The connectors that have it.
    public func isKnown(to connector: Connector) -> Bool {
        switch self {
        case .certificateAuthorityFile: true
        // One connection per child is what this connector is.
        case .connections: connector != .androidV1
        case .feedbackHost, .feedbackPort: connector == .iosBinary
        }
    }

    /// The most connections of a child: Apple and Google want few of long life.
    public static let connectionLimit = 1...100

    /// What is wrong with options that are to be stored; nil if nothing is.
    public static func problem(json: String, connector: Connector) -> String? {
        guard case .object(let entries)? = try? JSONParser.parse(json.utf8) else { return "they are no JSON object" }
        let known = allCases.filter { $0.isKnown(to: connector) }
        for entry in entries {
            guard let option = known.first(where: { $0.rawValue == entry.name }) else {
                let nearest = NearestName.nearest(to: entry.name, among: known.map(\.rawValue))
                let hint = nearest.map { "; did you mean \($0)?" } ?? ""
                return "connector \(connector.rawValue) has no option \"\(entry.name)\"\(hint)"
            }
            guard option.accepts(entry.value) else { return "\(entry.name) must be \(option.words)" }
        }
        return nil
    }

    /// The options that a connector has, of those that another one had.
    public static func fitting(json: String, connector: Connector) -> String {
        guard case .object(let entries)? = try? JSONParser.parse(json.utf8) else { return json }
        var bytes: [UInt8] = []
        let known = allCases.filter { $0.isKnown(to: connector) }.map(\.rawValue)
        JSONValue.object(entries.filter { known.contains($0.name) }).append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private var words: String {
        switch self {
        case .certificateAuthorityFile: "the path of a PEM file"
        case .connections:
            "a whole number from \(Self.connectionLimit.lowerBound) to \(Self.connectionLimit.upperBound)"
        case .feedbackHost: "a host name or an IP address"
        case .feedbackPort: "a port from 1 to 65535"
        }
    }

    private func accepts(_ value: JSONValue) -> Bool {
        switch (self, value) {
        case (.certificateAuthorityFile, .string(let path)): !path.isEmpty
        case (.connections, .number(let digits)): Int(digits).map(Self.connectionLimit.contains) ?? false
        case (.feedbackHost, .string(let host)): (try? GatewayHost(host)) != nil
        case (.feedbackPort, .number(let digits)): Int(digits).map((1...65_535).contains) ?? false
        default: false
        }
    }
}
