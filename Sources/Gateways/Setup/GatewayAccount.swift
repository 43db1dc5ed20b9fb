import PushCore

/// What an external account says of its gateway, for whoever connects to it or to what belongs to it.
public struct GatewayAccount: Sendable {
    /// Where the gateway listens.
    public let address: GatewayAddress
    /// Where its feedback service listens, which only the binary gateway has.
    public let feedbackAddress: GatewayAddress
    /// Connections of one child; nil for the usual number.
    public let connections: Int?

    private let certificateAuthorityFile: String?

    /// Takes an account as it is stored.
    ///
    /// - Parameter json: its options, a flat JSON object, see `AccountOption`.
    public init(name: String, host: String, port: Int32, options json: String) throws(GatewaySetupFailure) {
        guard case .object(let entries)? = try? JSONValue(parsing: json.utf8) else {
            throw GatewaySetupFailure(
                "the options of external account \(name) are not a JSON object",
                isHostsFault: false
            )
        }
        func text(_ option: AccountOption) -> String? {
            switch entries.first(where: { $0.name == option.rawValue })?.value {
            case .string(let text), .number(let text): text
            default: nil
            }
        }
        address = GatewayAddress(host: host, port: Int(port))
        var feedback = address.feedback
        if let host = text(.feedbackHost) { feedback.host = host }
        if let port = text(.feedbackPort).flatMap(Int.init) { feedback.port = port }
        feedbackAddress = feedback
        connections = text(.connections).flatMap(Int.init)
        certificateAuthorityFile = text(.certificateAuthorityFile)
    }

    /// Timeouts, trust and the way, for all connections of this account.
    ///
    /// - Parameter environment: the process's variables, for a proxy.
    public func options(
        _ settings: Settings,
        environment: [String: String]
    ) throws(GatewaySetupFailure) -> GatewayOptions {
        var options = GatewayOptions(
            requestTimeoutMilliseconds: Int64(settings.mta.child.requestTimeoutSec) * 1_000,
            connectTimeoutMilliseconds: Int64(settings.mta.child.connectTimeoutSec) * 1_000
        )
        let relayFile = settings.nmac.relay.trustedCertsChain
        options.trustRootsFile = certificateAuthorityFile ?? (relayFile.isEmpty ? nil : relayFile)
        do {
            options.proxy = try settings.nmac.gatewayProxy(environment: environment)
        } catch {
            throw GatewaySetupFailure("\(error)", isHostsFault: true)
        }
        options.sendAhead = settings.nmac.binary.dispatchWindow
        options.presumedAcceptedMilliseconds = Int64(settings.nmac.binary.presumedAcceptedMs)
        return options
    }
}
