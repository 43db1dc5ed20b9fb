/// An option of an external account in addition to its host and port, under its name in the database.
package enum AccountOption: String, Sendable, Hashable, CaseIterable {
    /// A PEM file of certificate authorities to trust instead of the system's.
    case certificateAuthorityFile = "ca_file"
    /// The number of connections of one child to the gateway.
    case connections
    /// The host of the binary gateway's feedback service.
    case feedbackHost = "feedback_host"
    /// The port of that service.
    case feedbackPort = "feedback_port"

    /// Whether a connector has this option.
    package func isKnown(to connector: Connector) -> Bool {
        switch self {
        case .certificateAuthorityFile: true
        case .connections: connector.facts.hasConnectionOption
        case .feedbackHost, .feedbackPort: connector.facts.hasFeedbackService
        }
    }

    /// The allowed number of connections of a child. Apple and Google ask for few, long-lived connections.
    package static let connectionLimit = 1...100

    /// What is wrong with options before they are stored; nil if they are valid.
    package static func problem(json: String, connector: Connector) -> String? {
        guard case .object(let entries)? = try? JSONParser.parse(json.utf8) else { return "they are not a JSON object" }
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

    /// The options of another connector that this connector has too.
    package static func fitting(json: String, connector: Connector) -> String {
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
