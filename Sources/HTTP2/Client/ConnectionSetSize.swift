import NIOCore

/// The rule for the number of connections that a client holds. The caller supplies the clock.
///
/// More connections are needed if requests wait while every stream is in use, or waits for others to be free with it. A
/// connection carries its stream limit divided by the latency, so a rate needs rate × latency / limit connections.
///
/// What the server and this process can do is found by trial. The set grows in steps, and a step that brings no more
/// rate with its streams full is undone. If a server wants fewer (GOAWAYs, refused streams, 429), the set is halved and
/// grows again slowly. Connections that are unused for a while are closed.
package struct ConnectionSetSize: Sendable {
    /// The state of a client's connections at one moment.
    package struct Sample: Sendable {
        /// Connections that take requests.
        package var ready = 0
        /// Connections that are being opened.
        package var opening = 0
        /// The streams of the ready connections that are open to requests that are not urgent.
        package var streamLimit = 0
        /// Requests on the wire without a response.
        package var inFlight = 0
        /// Free streams that are held back until enough are free for requests to leave together.
        package var gathering = 0
        /// Whether requests wait for a stream.
        package var isWaiting = false
        /// Responses since the client started.
        package var answered: Int64 = 0
        /// The sum of their latencies, in microseconds.
        package var latencySum: Int64 = 0
        /// Requests that the server refused unprocessed since the client started.
        package var refused: Int64 = 0

        package init() {}

        /// Whether hardly any stream is left for requests. One slow connection does not keep the set from growing.
        var isFull: Bool { streamLimit > 0 && inFlight + gathering >= streamLimit - streamLimit / 16 }
    }

    /// Why the set has its size.
    package enum Reason: String, Sendable, Hashable {
        /// No more were needed.
        case start
        /// Requests waited for streams, so the set grew.
        case grown
        /// More connections did not increase the rate.
        case noGain = "no gain"
        /// The server wanted fewer.
        case backedOff = "backed off"
        /// Some connections were unused.
        case unused
    }

    /// The maximum rate that a set is sized for, in requests a second. A child sends about 240,000 messages a second to
    /// a gateway that answers at once (1,000,000 in 4.2 s, November 2026). The unused part of such a set is closed
    /// again.
    static let maxRate = 280_000.0
    /// The rate at which a child fills the streams of new connections, in requests a second.
    static let fillRate = 100_000.0
    /// A step multiplies the set by at most this factor, and is checked before the next. Each step costs two latencies
    /// or more. There are 32 connections after one step; after two, 56 to APNs or 480 to FCM. A gateway that gives no
    /// more has seen 31 of them until their streams were full.
    static let step = 32
    /// The maximum step, in quarters of the set.
    private static let maxQuarters = 4 * (step - 1)
    /// The factor above the needed number, because latencies vary.
    static let slack = 1.25
    /// The factor by which a step must increase the rate to be kept; less is noise.
    static let minGain = 1.05
    /// If the latency grows by this factor after a step, requests wait inside the gateway, and more connections cannot
    /// help.
    static let maxSlowdown = 2.0
    /// The pause before a step that brought nothing is tried again. It doubles each time, up to the maximum.
    static let firstHold = TimeAmount.seconds(10)
    static let maxHold = TimeAmount.minutes(5)
    /// The pause before the small step that follows a partly kept one. The first moments of a set show less than it can
    /// do.
    static let partHold = TimeAmount.seconds(1)
    /// The time after a back-off until the ceiling rises by a quarter; and between two such rises.
    static let backOffHold = TimeAmount.seconds(60)
    /// Connections that are unused for this long are closed. Apple asks senders to keep connections open rather than
    /// open and close them repeatedly.
    static let unusedAfter = TimeAmount.seconds(60)
    /// The time in which new connections must reach the stream limit of the others.
    static let maxOpening = TimeAmount.seconds(2)
    /// The maximum length of a trial. If the streams are not full by then, it ends and the step is kept.
    static let maxTrial = TimeAmount.seconds(10)
    /// The minimum length of a period that measures a rate.
    static let minPeriod = TimeAmount.milliseconds(100)
    /// The minimum number of responses in a period.
    static let minAnswers: Int64 = 50
    /// If more than this share of a period's requests is refused, the server wants fewer. A smaller share may come from
    /// a stream limit that it has just lowered.
    static let refusedShare = 0.02

    private struct Period: Sendable {
        var start: NIODeadline
        var first: Sample
        var samples = 0
        var starved = 0
        /// The time of the last sample, and the number of requests on the wire then.
        var last: (at: NIODeadline, inFlight: Int)
        /// The total time that requests were on the wire, in milliseconds.
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

        /// Whether requests waited in most samples while no stream was free.
        var isStarved: Bool { starved * 2 > samples }

        /// The mean latency of the responses, in milliseconds; it shows whether a gateway has become slow.
        ///
        /// At first it covers only the fast responses, because the slow ones are still missing. At a gateway with a
        /// long tail it doubles within seconds.
        func meanOfAnswers(_ sample: Sample) -> Double {
            Double(sample.latencySum - first.latencySum) / Double(max(1, sample.answered - first.answered)) / 1_000
        }

        /// The mean latency by Little's law, in milliseconds: the requests on the wire divided by the rate of
        /// responses.
        ///
        /// It exceeds the gateway's own latency while the number of requests grows. A step is compared with it.
        func meanByLittlesLaw(_ sample: Sample) -> Double { waited / Double(max(1, sample.answered - first.answered)) }
    }

    private enum Phase: Sendable {
        /// The set has the right size, as far as is known.
        case steady
        /// More connections are being opened, each expected to have `limit` streams.
        case opening(Before, limit: Int, since: NIODeadline)
        /// They are open, but their first requests cannot have been answered yet.
        case filling(Before, until: NIODeadline)
        /// Their effect is measured from this moment on.
        case trying(Before, since: NIODeadline)
    }

    /// The state before a step.
    private struct Before: Sendable {
        var connections: Int
        var streams: Int
        var rate: Double
        /// The latency by Little's law, in milliseconds; at least the gateway's own.
        var latency: Double
    }

    /// The minimum number of connections; 0 for a client that opens none.
    package let minimum: Int
    package let maximum: Int
    /// The number of connections that there should be.
    package private(set) var target: Int
    /// Why the target is what it is.
    package private(set) var reason = Reason.start
    /// The rate in the last period, in requests a second; 0 before the first.
    package private(set) var rate = 0.0
    /// The mean latency of the last period, in milliseconds.
    package private(set) var latencyMilliseconds = 0.0
    private var phase = Phase.steady
    private var period: Period?
    /// Since when nothing has been on the wire or waiting.
    private var idleSince: NIODeadline?
    /// The maximum target; lowered by a back-off, then raised again in steps.
    private var ceiling: Int
    private var holdUntil: NIODeadline?
    private var hold = Self.firstHold
    /// The quarters of the set that a step adds: one after a step that was undone, and twice as many after each that
    /// was kept.
    private var quarters = Self.maxQuarters
    private var ceilingRises: NIODeadline?
    /// The maximum number of connections in use since `usedSince`.
    private var peakUse = 0.0
    private var usedSince: NIODeadline?

    package init(minimum: Int = 1, maximum: Int) {
        self.minimum = max(0, minimum)
        self.maximum = max(self.minimum, maximum)
        target = self.minimum
        ceiling = self.maximum
    }

    /// Takes a sample; called several times in 100 ms while requests are on the wire.
    /// - Returns: whether the target has changed.
    package mutating func see(_ sample: Sample, at now: NIODeadline) -> Bool {
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

    /// Whether there is a pause in the work. A period must not include one, or its rate would be too low. A short
    /// moment without requests does not count.
    private mutating func isPause(_ sample: Sample, _ now: NIODeadline) -> Bool {
        let isLong = idleSince.map { now - $0 >= Self.minPeriod } ?? false
        if isLong { period = nil }
        guard sample.inFlight == 0, !sample.isWaiting else {
            idleSince = nil
            return false
        }
        idleSince = idleSince ?? now
        return isLong
    }

    /// Whether the stream limit has changed much since the period began, which makes it useless. APNs allows one stream
    /// until it knows the sender.
    private func hasOtherStreams(_ period: Period, _ sample: Sample) -> Bool {
        sample.streamLimit > 2 * period.first.streamLimit || period.first.streamLimit > 2 * sample.streamLimit
    }

    /// The server wants fewer connections or requests: it sent GOAWAY with ENHANCE_YOUR_CALM, or 429 for the whole
    /// sender.
    /// - Returns: whether the target has changed.
    package mutating func backOff(at now: NIODeadline) -> Bool {
        let before = target
        // Many connections report the same event at the same moment.
        guard ceilingRises.map({ now + Self.backOffHold - $0 > Self.minPeriod }) ?? true else { return false }
        target = max(minimum, target / 2)
        ceiling = target
        ceilingRises = now + Self.backOffHold
        reason = .backedOff
        phase = .steady
        period = nil
        return target != before
    }

    /// Waits for a step's connections and then for the time of a response. Nothing is measured before.
    private mutating func advance(_ sample: Sample, _ now: NIODeadline) {
        switch phase {
        case .opening(let before, let limit, let since) where sample.ready >= target && sample.opening == 0:
            // APNs allows one stream until it knows the sender, on each connection.
            let isUsable = sample.streamLimit * 2 >= limit * sample.ready
            guard isUsable || now - since >= Self.maxOpening else { break }
            // The child needs time to fill this many streams, and then the first responses take one latency.
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

    /// A period ends when all connections are open and have had time to return responses.
    private func isOver(_ period: Period, _ sample: Sample, _ now: NIODeadline) -> Bool {
        let length = now - period.start
        let answered = sample.answered - period.first.answered
        guard length >= Self.minPeriod, answered >= Self.minAnswers, sample.opening == 0 else { return false }
        // If a step's requests wait inside the gateway, the period need not wait for them.
        if case .trying(let before, _) = phase, period.isStarved,
            period.meanOfAnswers(sample) > before.latency * Self.maxSlowdown
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
            // While streams are free, the gain of a step is unknown, unless it is clear that it brings nothing.
            let length = Double((now - period.start).nanoseconds) / 1e6
            let bringsNothing = isSlower(before) && gain(before) < Self.minGain
            guard period.isStarved || bringsNothing && period.waited > length * Double(before.streams) else {
                // The state before the step is too old for a comparison.
                if now - since >= Self.maxTrial { phase = .steady }
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

    private func isSlower(_ before: Before) -> Bool { latencyMilliseconds > before.latency * Self.maxSlowdown }

    /// Keeps the part of a step that increased the rate.
    ///
    /// If the latency has not grown, requests do not wait inside the gateway. A rate that has not grown with the set is
    /// then due to this process or to the moment. Connections that are not needed are later closed as
    /// ``Reason/unused``.
    private mutating func keepWhatGains(_ before: Before, _ now: NIODeadline) {
        let gain = gain(before)
        let gained = Int((Double(before.connections) * gain * Self.slack).rounded(.up))
        let wanted = gain < Self.minGain ? before.connections : isSlower(before) ? gained : target
        guard wanted < target else {
            quarters = min(quarters * 2, Self.maxQuarters)
            // A small step may have been kept by chance, but not one that doubled the set.
            if quarters > 4 { hold = Self.firstHold }
            return
        }
        target = max(minimum, wanted)
        reason = .noGain
        if gain < Self.minGain { return holdBack(now) }
        quarters = 1
        holdUntil = now + Self.partHold
    }

    /// A step has brought nothing: the next one is small, and is delayed longer each time.
    private mutating func holdBack(_ now: NIODeadline) {
        quarters = 1
        holdUntil = now + hold
        hold = min(hold * 2, Self.maxHold)
    }

    private mutating func grow(_ sample: Sample, latency: Double, _ now: NIODeadline) {
        if let until = holdUntil, now < until { return }
        holdUntil = nil
        let limit = max(1, sample.streamLimit / max(1, sample.ready))
        let asked = Int((Self.maxRate * latency / 1_000 / Double(limit)).rounded(.up))
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

    /// Closes unused connections.
    private mutating func watchUse(_ sample: Sample, _ now: NIODeadline) {
        let limit = max(1, sample.streamLimit / max(1, sample.ready))
        let used = Double(sample.inFlight) / Double(limit)
        peakUse = max(peakUse, used)
        guard let since = usedSince else {
            usedSince = now
            return
        }
        guard now - since >= Self.unusedAfter else { return }
        let needed = max(minimum, Int((peakUse * Self.slack).rounded(.up)))
        switch phase {
        case .steady, .trying:
            guard needed < target else { break }
            target = needed
            reason = .unused
            phase = .steady
        case .opening(let before, _, let since) where now - since >= Self.unusedAfter:
            // Not all of them could be opened.
            target = max(minimum, before.connections, min(target, sample.ready))
            reason = .noGain
            phase = .steady
            holdBack(now)
        case .opening, .filling: break
        }
        peakUse = used
        usedSince = now
    }
}
