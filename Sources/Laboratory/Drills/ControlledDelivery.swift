import Foundation
import PushCore

/// A delivery that is paused, resumed and stopped, and the times during which none of its messages may reach a gateway.
struct ControlledDelivery: Sendable {
    /// The maximum time until an order has taken effect, in seconds.
    static let limit = 1.0

    let delivery: DrillDelivery
    /// The codec that recognises its messages.
    let codec: MessageIDCodec
    /// Whether it is currently paused.
    private(set) var isPaused = false
    private(set) var isStopped = false
    /// When it was paused or stopped, and until when, in seconds since 1970.
    private(set) var quiet: [(order: Double, end: Double)] = []

    init(_ delivery: DrillDelivery, codec: MessageIDCodec) {
        self.delivery = delivery
        self.codec = codec
    }

    /// Records that it was just paused or stopped.
    ///
    /// - Parameter allowance: Seconds until all children can know it, apart from the usual limit.
    mutating func held(forGood: Bool, after allowance: Double = 0) {
        isStopped = forGood
        let now = Date().timeIntervalSince1970 + allowance
        // A stop of a paused delivery extends the pause.
        if isPaused { quiet[quiet.count - 1].end = .infinity } else { quiet.append((now, .infinity)) }
        isPaused = !forGood
    }

    /// Records that it is about to be resumed.
    mutating func resumed() {
        isPaused = false
        quiet[quiet.count - 1].end = Date().timeIntervalSince1970
    }

    /// Counts the messages that arrived around the orders.
    ///
    /// - Returns: The arrivals while it was paused or stopped, in seconds after the order, and the number of arrivals
    ///   in the second before an order.
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
