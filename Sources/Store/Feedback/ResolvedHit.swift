import PushCore

/// A hit whose message is known, or is known by a number that the database resolves.
package struct ResolvedHit: Sendable {
    package enum Message: Sendable, Hashable {
        /// By delivery, sequence, and the delivery's day as days since 2000-01-01.
        case known(delivery: Int64, sequence: Int32, logDay: Int32)
        /// By its number, in one of these deliveries.
        case numbered(Int64, deliveries: [Int64])
    }

    package var message: Message
    /// When it arrived, and from where.
    package var hit: TrackingHit

    package init(message: Message, hit: TrackingHit) {
        self.message = message
        self.hit = hit
    }
}
