import PushCore

/// The limits of a gateway.
package struct GatewayLimits: Sendable, Hashable {
    /// The largest payload in bytes; for APNs, that of all push types except `voip`, see ``PushCore/PayloadLimits``.
    package var maxPayloadBytes: Int
    /// The maximum number of messages in one request, 1 or more.
    package var maxMessagesPerRequest: Int
    /// The maximum number of messages of one owner that are sent and have no stored outcome; nil if the gateway's
    /// latency decides.
    package var maxUnresolvedMessages: Int?
    /// How long the gateway may stay silent about all messages before that counts as its failure; nil if silence is not
    /// a failure.
    package var maxSilence: Duration?

    /// Makes limits. Omitted values have the usual defaults.
    package init(
        maxPayloadBytes: Int,
        maxMessagesPerRequest: Int = 1,
        maxUnresolvedMessages: Int? = nil,
        maxSilence: Duration? = TroubleDetector.maxSilence
    ) {
        self.maxPayloadBytes = maxPayloadBytes
        self.maxMessagesPerRequest = maxMessagesPerRequest
        self.maxUnresolvedMessages = maxUnresolvedMessages
        self.maxSilence = maxSilence
    }
}
