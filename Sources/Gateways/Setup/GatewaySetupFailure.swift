/// Why a gateway or a feedback service cannot be used the way that the database and the settings say.
public struct GatewaySetupFailure: Error, Sendable, CustomStringConvertible {
    /// What, of which thing, why, and what to do.
    public let description: String
    /// Whether this host is at fault: from another one it may well work.
    public let isHostsFault: Bool

    /// Makes a failure.
    public init(_ description: String, isHostsFault: Bool) {
        self.description = description
        self.isHostsFault = isHostsFault
    }
}
