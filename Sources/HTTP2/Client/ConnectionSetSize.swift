import NIOCore

/// How many connections a client holds: the rule for it, as a value whose clock is the caller's.
///
/// Requests that wait for a stream while every stream is in use, or waits for others to be free with it, ask for more connections. How many more is a matter of rate and
/// latency: a connection carries its stream limit divided by the latency, so a set that is to carry a rate needs rate × latency / limit
/// of them. What the server and this process can do is not known before it is tried: the set grows by steps, and a step that brings no
/// rate with its streams full is taken back. A server that wants fewer (GOAWAYs, refused streams, 429) gets half, and the set comes back
/// slowly. What is not used for a while is closed.
public struct ConnectionSetSize: Sendable {
    /// What a client sees of its connections at one moment.
    public struct Sample: Sendable {
        /// Connections that take requests.
        public var ready = 0
        /// Connections that are being opened.
        public var opening = 0
        /// How many streams the ready connections have for requests that are not urgent.
        public var streamLimit = 0
        /// Requests on the wire without an answer.
        public var inFlight = 0
        /// Free streams that wait until there are so many that requests leave together.
        public var gathering = 0
        /// Whether requests wait for a stream.
        public var isWaiting = false
        /// Requests that were answered since the client started.
        public var answered: Int64 = 0
        /// The sum of their latencies in microseconds.
        public var latencySum: Int64 = 0
        /// Requests that the server refused without looking at them since the client started.
        public var refused: Int64 = 0

        public init() {}

        /// Whether hardly a stream is left that a request would get: one connection that is behind does not keep the others from growing.
        var isFull: Bool { streamLimit > 0 && inFlight + gathering >= streamLimit - streamLimit / 16 }
    }

    /// Why the set has its size.
    public enum Reason: String, Sendable, Hashable {
        /// Nothing has asked for more.
        case start
        /// Requests waited for streams: it was grown.
        case grown
        /// More connections brought no more rate.
        case noGain = "no gain"
        /// The server wanted fewer.
        case backedOff = "backed off"
        /// Some connections were not used.
        case unused
    }

    /// A set that could carry more than this is large enough: a child sends some 240,000 messages a second where nobody takes any time
    /// (1,000,000 in 4.2 s, November 2026), and what a set of such a size does not use is closed again.
    static let mostRate = 280_000.0
    /// So many requests a second a child puts on new connections, until their streams are full.
    static let fillRate = 100_000.0
    /// A step multiplies the set by so much at most, and is checked before the next. Each costs two latencies and more: 32 connections are
    /// there after one, 56 to APNs and 480 to FCM after two. A gateway that gives no more has seen 31 until their streams were full.
    static let step = 32
    /// The same in quarters of the set.
    private static let mostQuarters = 4 * (step - 1)
    /// Room above what the rate asks for, as latencies vary.
    static let slack = 1.25
    /// A step has to bring so much more rate to be kept: less is noise.
    static let leastGain = 1.05
    /// Where answers take so many times as long after a step, requests wait inside of the gateway for what more connections cannot bring.
    static let mostSlower = 2.0
    /// A step that brought nothing is tried again after so long, twice as long each time, up to the most.
    static let firstHold = TimeAmount.seconds(10)
    static let mostHold = TimeAmount.minutes(5)
    /// A step of which a part was kept is followed by a small one after so long: the first moments of a set show less than it can do.
    static let partHold = TimeAmount.seconds(1)
    /// What a server has refused is asked for again after so long, a quarter more each time.
    static let backOffHold = TimeAmount.seconds(60)
    /// What is not used for so long is closed. Apple asks senders to keep connections open and not to open and close them again and again.
    static let unusedAfter = TimeAmount.seconds(60)
    /// Connections that do not get the streams of the others in this time will not.
    static let mostOpening = TimeAmount.seconds(2)
    /// A trial whose streams are not full by then is over, with nothing taken back.
    static let mostTrial = TimeAmount.seconds(10)
    /// The shortest period that says anything about a rate.
    static let leastPeriod = TimeAmount.milliseconds(100)
    /// Answers without which a period says nothing.
    static let leastAnswers: Int64 = 50
    /// More than this share of refused requests in a period is the server's wish, and not a limit that was lowered under our feet.
    static let refusedShare = 0.02

    private struct Period: Sendable {
        var start: NIODeadline
        var first: Sample
        var samples = 0
        var starved = 0
        /// When the last sample was taken, and what was on the wire then.
        var last: (at: NIODeadline, inFlight: Int)
        /// Milliseconds that requests were on the wire, all together.
        var waited = 0.0

        init(start: NIODeadline, first: Sample) {
            self.start = start
            self.first = first
            last = (start, first.inFlight)
        }

        mutating func add(_ sample: Sample, at now: NIODeadline) {
            samples += 1
            if sample.isWaiting, sample.isFull { starved += 1 }
            waited += Double(last.inFlight) * Double((now - last.at).nanoseconds) / 1e6
            last = (now, sample.inFlight)
        }

        /// Whether requests waited for streams while there were none for them.
        var isStarved: Bool { starved * 2 > samples }

        /// The mean latency of the answers in milliseconds: what shows that a gateway has grown slow.
        ///
        /// That of the quick ones while the slow ones are still out: at a gateway with a long tail it doubles in the first seconds.
        func meanOfAnswers(_ sample: Sample) -> Double {
            Double(sample.latencySum - first.latencySum) / Double(max(1, sample.answered - first.answered)) / 1_000
        }

        /// The mean latency in milliseconds by Little's law: what was on the wire, divided by the rate of the answers.
        ///
        /// More than the gateway's own while ever more goes out: what a step is compared with.
        func meanByLittlesLaw(_ sample: Sample) -> Double { waited / Double(max(1, sample.answered - first.answered)) }
    }

    private enum Phase: Sendable {
        /// As many as there should be, as far as is known.
        case steady
        /// More are being opened, with so many streams each.
        case opening(Before, limit: Int, since: NIODeadline)
        /// They are there, but their first requests cannot have been answered.
        case filling(Before, until: NIODeadline)
        /// What they bring is measured, from this moment on.
        case trying(Before, since: NIODeadline)
    }

    /// What there was before a step.
    private struct Before: Sendable {
        var connections: Int
        var streams: Int
        var rate: Double
        /// The most that it was, in milliseconds.
        var latency: Double
    }

    /// The fewest and the most connections; 0 for a client that dials nothing.
    public let minimum: Int
    public let maximum: Int
    /// How many there should be.
    public private(set) var target: Int
    /// Why the target is what it is.
    public private(set) var reason = Reason.start
    /// Requests a second in the last period; 0 before the first.
    public private(set) var rate = 0.0
    /// The mean latency of the last period, in milliseconds.
    public private(set) var latencyMilliseconds = 0.0
    private var phase = Phase.steady
    private var period: Period?
    /// Since when nothing was on the wire, and nothing waited.
    private var idleSince: NIODeadline?
    /// The most that the server is asked for; it rises again after a back-off.
    private var ceiling: Int
    private var holdUntil: NIODeadline?
    private var hold = Self.firstHold
    /// How many quarters of the set a step adds: after one that was taken back a single one, twice as many after each that was kept.
    private var quarters = Self.mostQuarters
    private var ceilingRises: NIODeadline?
    /// The most connections that were in use at once since `usedSince`.
    private var mostUsed = 0.0
    private var usedSince: NIODeadline?

    public init(minimum: Int = 1, maximum: Int) {
        self.minimum = max(0, minimum)
        self.maximum = max(self.minimum, maximum)
        target = self.minimum
        ceiling = self.maximum
    }

    /// Takes what is seen now, some times in a tenth of a second while requests are on the wire.
    /// - Returns: whether the target has changed.
    public mutating func see(_ sample: Sample, at now: NIODeadline) -> Bool {
        let before = target
        raiseCeiling(now)
        watchUse(sample, now)
        advance(sample, now)
        guard !isPause(sample, now) else { return target != before }
        guard var current = period, sample.answered >= current.first.answered, !hasOtherStreams(current, sample) else {
            period = Period(start: now, first: sample)
            return target != before
        }
        current.add(sample, at: now)
        period = current
        if isOver(current, sample, now) {
            judge(current, sample, now)
            period = Period(start: now, first: sample)
        }
        return target != before
    }

    /// A pause says nothing: the rate of what comes after it would be too low. A moment without requests is none.
    private mutating func isPause(_ sample: Sample, _ now: NIODeadline) -> Bool {
        let isLong = idleSince.map { now - $0 >= Self.leastPeriod } ?? false
        if isLong { period = nil }
        guard sample.inFlight == 0, !sample.isWaiting else {
            idleSince = nil
            return false
        }
        idleSince = idleSince ?? now
        return isLong
    }

    /// APNs allows one stream until it knows the sender: what came before that is no measure of what comes then.
    private func hasOtherStreams(_ period: Period, _ sample: Sample) -> Bool {
        sample.streamLimit > 2 * period.first.streamLimit || period.first.streamLimit > 2 * sample.streamLimit
    }

    /// The server wants fewer connections or requests: GOAWAY with ENHANCE_YOUR_CALM, or a 429 for all that this sender does.
    /// - Returns: whether the target has changed.
    public mutating func backOff(at now: NIODeadline) -> Bool {
        let before = target
        // Many connections hear of the same thing in the same moment.
        guard ceilingRises.map({ now + Self.backOffHold - $0 > Self.leastPeriod }) ?? true else { return false }
        target = max(minimum, target / 2)
        ceiling = target
        ceilingRises = now + Self.backOffHold
        reason = .backedOff
        phase = .steady
        period = nil
        return target != before
    }

    /// Waits for the connections of a step, and for the time of an answer; what comes before says nothing.
    private mutating func advance(_ sample: Sample, _ now: NIODeadline) {
        switch phase {
        case .opening(let before, let limit, let since) where sample.ready >= target && sample.opening == 0:
            // APNs allows one stream until it knows the sender, on each connection.
            let isUsable = sample.streamLimit * 2 >= limit * sample.ready
            guard isUsable || now - since >= Self.mostOpening else { break }
            // A child takes its time to fill so many streams, and the first answers after that are those of the first streams.
            let fill = Double(sample.streamLimit) / Self.fillRate * 1_000_000
            let answer = latencyMilliseconds * 1_000
            phase = .filling(before, until: now + .microseconds(Int64(fill + answer)))
            period = nil
        case .filling(let before, let until) where now >= until:
            phase = .trying(before, since: now)
            period = nil
        default: break
        }
    }

    /// A period ends when connections have had the time to show what they can do: all are there, and requests came back.
    private func isOver(_ period: Period, _ sample: Sample, _ now: NIODeadline) -> Bool {
        let length = now - period.start
        let answered = sample.answered - period.first.answered
        guard length >= Self.leastPeriod, answered >= Self.leastAnswers, sample.opening == 0 else { return false }
        // Requests of a step that wait inside of the gateway are not waited for.
        if case .trying(let before, _) = phase, period.isStarved,
            period.meanOfAnswers(sample) > before.latency * Self.mostSlower
        {
            return true
        }
        return Double(length.nanoseconds) / 1e6 >= period.meanByLittlesLaw(sample)
    }

    private mutating func judge(_ period: Period, _ sample: Sample, _ now: NIODeadline) {
        let answered = sample.answered - period.first.answered
        let seconds = Double((now - period.start).nanoseconds) / 1e9
        rate = Double(answered) / seconds
        latencyMilliseconds = period.meanOfAnswers(sample)
        if Double(sample.refused - period.first.refused) > Double(answered) * Self.refusedShare {
            _ = backOff(at: now)
            return
        }
        switch phase {
        case .opening, .filling: break
        case .trying(let before, let since):
            // While there are free streams nobody knows what more of them bring, unless it is seen that they bring nothing.
            let length = Double((now - period.start).nanoseconds) / 1e6
            let bringsNothing = isSlower(before) && gain(before) < Self.leastGain
            guard period.isStarved || bringsNothing && period.waited > length * Double(before.streams) else {
                // What there was before is no measure any more.
                if now - since >= Self.mostTrial { phase = .steady }
                break
            }
            phase = .steady
            keepWhatGains(before, now)
            if holdUntil == nil, period.isStarved { grow(sample, latency: period.meanByLittlesLaw(sample), now) }
        case .steady:
            if period.isStarved { grow(sample, latency: period.meanByLittlesLaw(sample), now) }
        }
    }

    private func gain(_ before: Before) -> Double { rate / max(before.rate, 1) }

    private func isSlower(_ before: Before) -> Bool { latencyMilliseconds > before.latency * Self.mostSlower }

    /// Keeps of a step what brought rate.
    ///
    /// Where answers take as long as before, nothing waits for the gateway: that the rate has not grown as the set has is this process's own
    /// doing, or the moment's, and what is not needed is closed as ``Reason/unused``.
    private mutating func keepWhatGains(_ before: Before, _ now: NIODeadline) {
        let gain = gain(before)
        let gained = Int((Double(before.connections) * gain * Self.slack).rounded(.up))
        let wanted = gain < Self.leastGain ? before.connections : isSlower(before) ? gained : target
        guard wanted < target else {
            quarters = min(quarters * 2, Self.mostQuarters)
            // A small step that was kept may be chance; one that doubled the set is none.
            if quarters > 4 { hold = Self.firstHold }
            return
        }
        target = max(minimum, wanted)
        reason = .noGain
        if gain < Self.leastGain { return holdBack(now) }
        quarters = 1
        holdUntil = now + Self.partHold
    }

    /// A step has brought nothing: the next is a small one, and waits longer each time.
    private mutating func holdBack(_ now: NIODeadline) {
        quarters = 1
        holdUntil = now + hold
        hold = min(hold * 2, Self.mostHold)
    }

    private mutating func grow(_ sample: Sample, latency: Double, _ now: NIODeadline) {
        if let until = holdUntil, now < until { return }
        holdUntil = nil
        let limit = max(1, sample.streamLimit / max(1, sample.ready))
        let asked = Int((Self.mostRate * latency / 1_000 / Double(limit)).rounded(.up))
        let wanted = min(target + max(1, target * quarters / 4), asked, ceiling)
        guard wanted > target else { return }
        let before = Before(connections: target, streams: sample.streamLimit, rate: rate, latency: latency)
        phase = .opening(before, limit: limit, since: now)
        target = wanted
        reason = .grown
    }

    private mutating func raiseCeiling(_ now: NIODeadline) {
        guard let rises = ceilingRises, now >= rises else { return }
        ceiling = min(maximum, ceiling + max(1, ceiling / 4))
        ceilingRises = ceiling < maximum ? now + Self.backOffHold : nil
    }

    /// Closes what was not used.
    private mutating func watchUse(_ sample: Sample, _ now: NIODeadline) {
        let limit = max(1, sample.streamLimit / max(1, sample.ready))
        let used = Double(sample.inFlight) / Double(limit)
        mostUsed = max(mostUsed, used)
        guard let since = usedSince else {
            usedSince = now
            return
        }
        guard now - since >= Self.unusedAfter else { return }
        let needed = max(minimum, Int((mostUsed * Self.slack).rounded(.up)))
        switch phase {
        case .steady, .trying:
            guard needed < target else { break }
            target = needed
            reason = .unused
            phase = .steady
        case .opening(let before, _, let since) where now - since >= Self.unusedAfter:
            // Not all of them come about.
            target = max(minimum, before.connections, min(target, sample.ready))
            reason = .noGain
            phase = .steady
            holdBack(now)
        case .opening, .filling: break
        }
        mostUsed = used
        usedSince = now
    }
}
