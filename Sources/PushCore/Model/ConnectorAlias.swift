/// The URLs that select a connector in Adobe Campaign's external accounts.
///
/// They name a script on the marketing server itself, so only their path counts; people copy whatever host and port the
/// account had.
package enum ConnectorAlias {
    /// The connector that a URL selects; nil if it is not one of Adobe's.
    package static func connector(url: String) -> Connector? {
        let path = url.split(separator: "/", omittingEmptySubsequences: true)
        guard path.count >= 3, path.suffix(3).dropLast() == ["nms", "jsp"], let file = path.last else { return nil }
        return Connector.allCases.first { connector in connector.facts.alias.map { $0.file == file } ?? false }
    }

    /// The URLs as Adobe's documentation writes them.
    package static let known = Connector.allCases.compactMap { url($0) }

    /// The URL that selects a connector, as Adobe's documentation writes it; nil if there is none.
    package static func url(_ connector: Connector) -> String? {
        connector.facts.alias.map { "\($0.scheme)://localhost:8080/nms/jsp/\($0.file)" }
    }
}
