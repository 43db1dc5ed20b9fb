/// The rate after the first success: 1,000 messages a second, doubling every second until there is no limit.
///
/// A gateway that has just recovered faces the backlog of all its clients. And if the first success was luck, few
/// messages are refused. Moments are on the owner's monotonic clock. All processes that send for the application on the
/// account share the rate.
package struct OpeningRamp: Sendable, Hashable {
    /// Messages in the first second, of all processes together.
    package static let firstRate = 1_000.0
    /// The length of the ramp. At its end the rate is a million a second, more than any gateway accepts.
    package static let length = Duration.seconds(10)

    private let start: Duration
    private let sharers: Int
    private var sent = 0

    /// - Parameters:
    ///   - start: the moment of the first success.
    ///   - sharers: the number of processes that send, at least 1.
    ///   - moment: the current moment. Messages that could have left before it are not made up for.
    package init(start: Duration, sharers: Int = 1, at moment: Duration) {
        self.start = start
        self.sharers = max(1, sharers)
        sent = Int(Self.total(after: moment - start) / Double(self.sharers))
    }

    /// Whether the ramp is over, so that all messages may leave.
    package func isOver(at moment: Duration) -> Bool { moment - start >= Self.length }

    /// Whether messages may leave now. The messages of one dispatch mark leave together, and the next ones wait for
    /// their share.
    package func admits(at moment: Duration) -> Bool {
        isOver(at: moment) || Double(sent) <= Self.total(after: moment - start) / Double(sharers)
    }

    /// Counts messages that leave.
    package mutating func count(_ messages: Int) { sent += messages }

    /// The same ramp, shared by another number of processes.
    package func shared(by sharers: Int, at moment: Duration) -> OpeningRamp {
        self.sharers == max(1, sharers) ? self : OpeningRamp(start: start, sharers: sharers, at: moment)
    }

    /// The number of messages that may have left this long after the start: the integral of a rate that doubles every
    /// second.
    private static func total(after time: Duration) -> Double {
        let seconds = max(0, min(time, length) / .seconds(1))
        var (whole, total) = (0.0, 0.0)
        while whole + 1 <= seconds {
            total += firstRate * Self.power(whole)
            whole += 1
        }
        return total + firstRate * Self.power(whole) * (seconds - whole)
    }

    private static func power(_ exponent: Double) -> Double { Double(1 << Int(exponent)) }
}
