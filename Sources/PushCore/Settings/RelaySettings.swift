/// How the gateways are reached (Adobe's node `nmac/relay`).
public struct RelaySettings: Sendable, Equatable {
    /// A PEM file of certificate authorities for external accounts that name none. Empty: the system's.
    public var trustedCertsChain = ""

    /// Creates the settings with their defaults.
    public init() {}
}
