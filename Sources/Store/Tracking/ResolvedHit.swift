import PushCore

/// A hit whose message is known, or is known by a number that the database resolves.
public struct ResolvedHit: Sendable {
    /// Which message.
    public enum Message: Sendable, Hashable {
        /// By delivery, sequence, and the delivery's day as days since 2000-01-01.
        case known(delivery: Int64, sequence: Int32, logDay: Int32)
        /// By its number, in one of these deliveries.
        case numbered(Int64, deliveries: [Int64])
    }

    /// Which message.
    public var message: Message
    /// When it came and from whom.
    public var hit: TrackingHit

    /// A hit.
    public init(message: Message, hit: TrackingHit) {
        self.message = message
        self.hit = hit
    }
}
