import Foundation
import PushCore

/// A delivery that is paused, resumed and stopped, and the times in which nothing of it may come to a gateway.
struct ControlledDelivery: Sendable {
    /// An order must have taken effect within so many seconds.
    static let limit = 1.0

    /// The delivery.
    let delivery: DrillDelivery
    /// Recognises its messages.
    let codec: MessageIDCodec
    /// Whether it is paused now.
    private(set) var isPaused = false
    /// Whether it was stopped.
    private(set) var isStopped = false
    /// The orders that held it back, and until when, in seconds since 1970.
    private(set) var quiet: [(order: Double, end: Double)] = []

    /// A delivery that runs.
    init(_ delivery: DrillDelivery, codec: MessageIDCodec) {
        self.delivery = delivery
        self.codec = codec
    }

    /// The order to pause or to stop was given just now.
    mutating func held(forGood: Bool) {
        isStopped = forGood
        let now = Date().timeIntervalSince1970
        // A stop of a paused delivery prolongs what the pause has begun.
        if isPaused { quiet[quiet.count - 1].end = .infinity } else { quiet.append((now, .infinity)) }
        isPaused = !forGood
    }

    /// The order to go on is about to be given.
    mutating func resumed() {
        isPaused = false
        quiet[quiet.count - 1].end = Date().timeIntervalSince1970
    }

    /// What came of it although it was held back, in seconds after the order, and how much came in the second before an order.
    func arrivals(_ times: [Double]) -> (late: [Double], before: Int) {
        var late: [Double] = []
        var before = 0
        for time in times {
            for (order, end) in quiet {
                if time > order + Self.limit, time < end { late.append(time - order) }
                if time > order - 1, time <= order { before += 1 }
            }
        }
        return (late, before)
    }
}
