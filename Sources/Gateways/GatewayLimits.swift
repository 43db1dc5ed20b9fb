import PushCore

/// What one request to a gateway may carry.
public struct GatewayLimits: Sendable, Hashable {
    /// The largest payload in bytes; for APNs that of all push types but `voip`, see ``PushCore/PayloadLimits``.
    public var maxPayloadBytes: Int
    /// The most messages that one request carries, 1 or more.
    public var maxMessagesPerRequest: Int

    /// Makes limits.
    public init(maxPayloadBytes: Int, maxMessagesPerRequest: Int = 1) {
        self.maxPayloadBytes = maxPayloadBytes
        self.maxMessagesPerRequest = maxMessagesPerRequest
    }
}
