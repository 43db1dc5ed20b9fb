/// One process's share of a rate limit that all hosts share, as slices of time.
///
/// A slice is a number of messages, spread evenly from a moment on at the rate of that moment. Messages that are not
/// used soon after their time lapse, so that no burst follows a pause.
package struct RateShare: Sendable, Hashable {
    /// The time that a slice covers.
    ///
    /// It bounds what is lost if its owner dies, how soon a change of the rate takes effect, and how long other
    /// processes wait. All processes use the same value, so that all get equal shares; so does the database
    /// (`take_rates`).
    package static let slice = Duration.milliseconds(50)
    /// The next slice is requested this long before the last one ends. It covers a commit in a busy database and a turn
    /// of the child's loop.
    static let lead = Duration.milliseconds(150)
    /// The pause between groups of messages. They leave in groups because each group costs a dispatch mark.
    package static let step = Duration.milliseconds(50)
    /// A message lapses if it was not sent this long after its time. If messages are rarer than that, it lapses when
    /// the next one is due.
    static let grace = Duration.milliseconds(250)

    private struct Slice: Sendable, Hashable {
        let start: Duration
        let rate: Double
        let count: Int
        var used = 0

        /// The number of its messages that may have left by a moment.
        func due(at moment: Duration) -> Int {
            guard moment >= start else { return 0 }
            guard rate.isFinite else { return count }
            return Int(min(Double(count), ((moment - start) / .seconds(1) * rate).rounded(.down) + 1))
        }

        var end: Duration { rate.isFinite ? start + .seconds(Double(count) / rate) : start }

        /// When the next of its messages may leave.
        var next: Duration { rate.isFinite ? start + .seconds(Double(used) / rate) : start }
    }

    private var slices: [Slice] = []
    private var lastUse: Duration?
    /// Whether a slice has been requested.
    package private(set) var isAsking = false
    /// Messages a second, from the last slice or the limit.
    package private(set) var rate: Double
    private var limit: Double

    /// - Parameter rate: the limit in messages a second, until a slice says otherwise.
    package init(rate: Double) {
        self.rate = rate
        limit = rate
    }

    /// Sets the limit. If it changed, the slices of the old limit are dropped: at one message an hour a slice would
    /// last an hour. Short ones stay if the change is small: a rate that follows a signal changes every second.
    package mutating func limit(_ messagesPerSecond: Double) {
        guard messagesPerSecond != limit else { return }
        let isSmall = messagesPerSecond > limit / 2 && messagesPerSecond < limit * 2
        limit = messagesPerSecond
        rate = messagesPerSecond
        slices.removeAll { !isSmall || $0.end - $0.start > .seconds(1) }
    }

    /// The number of messages that may leave now.
    ///
    /// - Parameter waiting: the number of messages that wait. If fewer are due, they leave together, a step after the
    ///   last group.
    package func room(for waiting: Int, at moment: Duration) -> Int {
        let due = slices.reduce(0) { $0 + max(0, $1.due(at: moment) - $1.used) }
        if due < waiting, let lastUse, moment - lastUse < Self.step { return 0 }
        return due
    }

    /// Counts messages that leave.
    package mutating func use(_ messages: Int, at moment: Duration) {
        lastUse = moment
        var rest = messages
        for index in slices.indices where rest > 0 {
            let taken = min(rest, slices[index].count - slices[index].used)
            slices[index].used += taken
            rest -= taken
        }
        clean(at: moment)
    }

    /// When to check again whether messages may leave; nil if no slice has messages left.
    package func nextLook(at moment: Duration) -> Duration? {
        guard let next = slices.first(where: { $0.used < $0.count })?.next else { return nil }
        return max(next, lastUse.map { $0 + Self.step } ?? next, moment + .milliseconds(1))
    }

    /// The number of messages to request; 0 if enough are available or already requested.
    ///
    /// - Parameter waiting: messages that could leave.
    package func wanted(for waiting: Int, at moment: Duration) -> Int {
        let (there, covered) = slices.reduce((0, Duration.zero)) { ($0.0 + $1.count - $1.used, max($0.1, $1.end)) }
        guard !isAsking, waiting > there, covered < moment + Self.lead else { return 0 }
        return max(1, min(waiting - there, Int((min(rate, 1_000_000_000) * (Self.slice / .seconds(1))).rounded(.up))))
    }

    /// Notes that a slice was requested.
    package mutating func ask() {
        isAsking = true
    }

    /// Notes that the request failed.
    package mutating func askFailed() {
        isAsking = false
    }

    /// Adds a slice that was granted.
    ///
    /// - Parameters:
    ///   - rate: messages a second from its start; infinite without a limit.
    ///   - delay: the time until its start.
    package mutating func granted(_ count: Int, rate: Double, startsIn delay: Duration, at moment: Duration) {
        isAsking = false
        self.rate = rate
        clean(at: moment)
        slices.append(Slice(start: moment + delay, rate: rate, count: count))
    }

    /// Removes used and lapsed messages. In a long slice, such as one message a minute, only messages that are due can
    /// lapse.
    private mutating func clean(at moment: Duration) {
        for index in slices.indices {
            let grace = max(Self.grace, .seconds(1 / slices[index].rate))
            let lapsed = slices[index].due(at: moment - grace)
            slices[index].used = max(slices[index].used, lapsed)
        }
        slices.removeAll { $0.used >= $0.count }
    }
}
