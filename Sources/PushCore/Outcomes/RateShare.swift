/// What one process has of a rate that all hosts share: slices of the rate's line of time.
///
/// A slice is so many messages from a moment on, evenly, at the rate of that moment. Messages that are not used soon after their time lapse,
/// so that a pause is not made up for by a burst.
public struct RateShare: Sendable, Hashable {
    /// A slice covers so long: what is lost with its owner, how long a change of the rate takes to be felt, and how long each of the others
    /// has to wait. All have the same, so that all have the same share. The database keeps to it, too (`take_rates`).
    public static let slice = Duration.milliseconds(50)
    /// The next slice is asked for so long before the last one ends: a commit of a busy database, and a turn of the child's loop.
    static let lead = Duration.milliseconds(150)
    /// Messages leave at least so often, and not one by one: each time costs a mark.
    public static let step = Duration.milliseconds(50)
    /// A message that has not left so long after its time lapses, and where messages are rarer than that when the time of the next one comes.
    static let grace = Duration.milliseconds(250)

    private struct Slice: Sendable, Hashable {
        let start: Duration
        let rate: Double
        let count: Int
        var used = 0

        /// How many of its messages may have left by a moment.
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
    /// A slice has been asked for.
    public private(set) var isAsking = false
    /// Messages a second, as the last slice or the limit says.
    public private(set) var rate: Double
    private var limit: Double

    /// - Parameter rate: the limit, messages a second, as long as no slice says otherwise.
    public init(rate: Double) {
        self.rate = rate
        limit = rate
    }

    /// The limit may be another one now: then slices of the old one are given up, as one of a message in an hour would last for an hour.
    public mutating func limit(_ messagesPerSecond: Double) {
        guard messagesPerSecond != limit else { return }
        limit = messagesPerSecond
        rate = messagesPerSecond
        slices = []
    }

    /// Messages that may leave now.
    ///
    /// - Parameter waiting: how many would. Fewer than these go out together, a step after the last.
    public func room(for waiting: Int, at moment: Duration) -> Int {
        let due = slices.reduce(0) { $0 + max(0, $1.due(at: moment) - $1.used) }
        if due < waiting, let lastUse, moment - lastUse < Self.step { return 0 }
        return due
    }

    /// Counts messages that leave.
    public mutating func use(_ messages: Int, at moment: Duration) {
        lastUse = moment
        var rest = messages
        for index in slices.indices where rest > 0 {
            let taken = min(rest, slices[index].count - slices[index].used)
            slices[index].used += taken
            rest -= taken
        }
        clean(at: moment)
    }

    /// When to look again whether messages may leave; nil while nothing is to be had.
    public func nextLook(at moment: Duration) -> Duration? {
        guard let next = slices.first(where: { $0.used < $0.count })?.next else { return nil }
        return max(next, lastUse.map { $0 + Self.step } ?? next, moment + .milliseconds(1))
    }

    /// How many messages to ask for; 0 if enough are there, or asked for.
    ///
    /// - Parameter waiting: messages that could leave.
    public func wanted(for waiting: Int, at moment: Duration) -> Int {
        let (there, covered) = slices.reduce((0, Duration.zero)) { ($0.0 + $1.count - $1.used, max($0.1, $1.end)) }
        guard !isAsking, waiting > there, covered < moment + Self.lead else { return 0 }
        return max(1, min(waiting - there, Int((min(rate, 1_000_000_000) * (Self.slice / .seconds(1))).rounded(.up))))
    }

    /// A slice is asked for.
    public mutating func ask() {
        isAsking = true
    }

    /// The answer did not come.
    public mutating func askFailed() {
        isAsking = false
    }

    /// A slice is there.
    ///
    /// - Parameters:
    ///   - rate: messages a second from its start; infinite without a limit.
    ///   - delay: until its start.
    public mutating func granted(_ count: Int, rate: Double, startsIn delay: Duration, at moment: Duration) {
        isAsking = false
        self.rate = rate
        clean(at: moment)
        slices.append(Slice(start: moment + delay, rate: rate, count: count))
    }

    /// Takes away what is used, and what was not used in its time: of a slice that lasts long, as one message a minute, only what is due.
    private mutating func clean(at moment: Duration) {
        for index in slices.indices {
            let grace = max(Self.grace, .seconds(1 / slices[index].rate))
            let lapsed = slices[index].due(at: moment - grace)
            slices[index].used = max(slices[index].used, lapsed)
        }
        slices.removeAll { $0.used >= $0.count }
    }
}
