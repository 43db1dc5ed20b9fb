/// What concerns the mobile gateways themselves (Adobe's node `nmac`).
public struct NMACSettings: Sendable, Equatable {
    /// How the gateways are reached.
    public var relay = RelaySettings()

    /// Creates the settings with their defaults.
    public init() {}
}
