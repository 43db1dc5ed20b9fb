import Administration
import LaboratoryStore
import Store
import Synchronization

extension DrillSite {
    /// The rate has to be back so soon, in seconds, with the usual lease: within the lease and ten more.
    static let recoveryLimit = 25.0

    /// How long the undisturbed rate is measured.
    private static let undisturbed = Duration.seconds(10)

    /// The rate of the gateways while nothing bad happens, messages a second: with it the rate after a fault is compared.
    ///
    /// In a run without times it is 0, as soon as there is load.
    func undisturbedRate() async throws -> Double {
        try await untilStreams(DrillFault.leastStreams)
        guard options.hasTimes else { return 0 }
        let end = ContinuousClock.now.advanced(by: Self.undisturbed)
        try await until("the undisturbed rate", within: Self.undisturbed * 2, every: .milliseconds(200)) {
            try await refill()
            return ContinuousClock.now >= end
        }
        guard let rate = meter.medianRate(before: .now) else {
            throw DrillFailure("the gateways have accepted nothing")
        }
        note("the undisturbed rate is \(Int(rate)) messages a second")
        return rate
    }

    /// Does something bad that ends with everything put right again, and measures how long the rate then takes to come back.
    func outage(_ what: String, rate: Double, _ action: () async throws -> Void) async throws {
        let fault = try await fault(what, action)
        try await measureRecovery(of: what, to: rate, before: fault.moment, since: .now)
    }

    /// Measures from `moment` on how long the gateways take to accept at this rate again; not in a run without times.
    ///
    /// - Parameters:
    ///   - undisturbed: The rate that was measured before anything bad happened.
    ///   - before: When it happened. The machine may have other work by then: a lower rate just before is enough.
    /// - Throws: `DrillFailure` if they do not at all.
    func measureRecovery(
        of what: String,
        to undisturbed: Double,
        before: ContinuousClock.Instant? = nil,
        since moment: ContinuousClock.Instant
    ) async throws {
        guard options.hasTimes else { return }
        let recent = before.flatMap { meter.medianRate(before: $0) }
        let rate = min(undisturbed, recent ?? undisturbed)
        var found: Double?
        try await until("the rate of \(Int(rate)) messages a second after: \(what)", within: .seconds(90)) {
            try await refill()
            found = meter.secondsToRate(rate, after: moment)
            return found != nil
        }
        let seconds = found ?? 0
        state.withLock { $0.recoveries.append(seconds) }
        note("the rate of \(Int(rate)) messages a second was back after \(Int(seconds * 1_000)) ms")
        expect(seconds <= Self.recoveryLimit, "after \"\(what)\" the rate was back after \(seconds) s only")
    }

    /// Claims that ended with a lost owner so far, of all deliveries.
    func lostClaims() async throws -> Int64 {
        var lost: Int64 = 0
        for delivery in deliveries { lost += try await store().leaseHistory(delivery: delivery.id).lost }
        return lost
    }

    /// Finds fault with every delivery of which a lease ended while its owner lived.
    ///
    /// - Parameter once: Whether no part may have been claimed twice at all. Where connections break that is no fault: a claim
    ///   whose reply was lost is given back.
    func expectNoLostLease(once: Bool = false) async throws {
        for delivery in deliveries {
            let history = try await store().leaseHistory(delivery: delivery.id)
            note(
                "delivery \(delivery.id): \(history.parts) parts, \(history.claims) claims, \(history.lost) of them lost"
            )
            expect(
                history.lost == 0,
                "delivery \(delivery.id): \(history.lost) parts were taken from owners that lived"
            )
            guard once else { continue }
            let more = history.claims - history.parts
            expect(more == 0, "delivery \(delivery.id): parts were claimed \(more) times more than there are parts")
        }
    }
}

/// How many pushes the gateways accept a second, from samples of a count that only grows.
final class RateMeter: Sendable {
    /// A count at a moment.
    struct Sample: Sendable {
        let moment: ContinuousClock.Instant
        let count: Int64
    }

    /// The time between two samples.
    private static let interval = Duration.milliseconds(100)
    /// The time over which a rate is taken.
    private static let window = Duration.seconds(1)
    /// The time before a fault that tells the usual rate.
    private static let past = Duration.seconds(10)
    /// A rate counts as back from this share of the usual one on.
    private static let share = 0.95
    /// So many windows make a rate that a fault can be compared with.
    private static let leastWindows = 20

    private let samples = Mutex<[Sample]>([])

    /// Takes samples until the task is cancelled; a gateway that does not answer is asked again.
    func measure(_ count: @Sendable () async throws -> Int64) async {
        while !Task.isCancelled {
            if let count = try? await count() { add(Sample(moment: .now, count: count)) }
            try? await Task.sleep(for: Self.interval)
        }
    }

    func add(_ sample: Sample) {
        samples.withLock { $0.append(sample) }
    }

    /// Whether the rate of the last seconds can be compared with.
    var isSteady: Bool { rates(before: .now).count >= Self.leastWindows }

    /// The usual rate before a moment, messages a second: the median over windows of a second in which something was accepted.
    func medianRate(before moment: ContinuousClock.Instant) -> Double? {
        let rates = rates(before: moment).sorted()
        return rates.isEmpty ? nil : rates[rates.count / 2]
    }

    /// Seconds from a moment until a window of a second has this rate again; `nil` if none has.
    func secondsToRate(_ rate: Double, after moment: ContinuousClock.Instant) -> Double? {
        windows(from: moment, to: nil).first { $0.rate >= rate * Self.share }.map { ($0.end - moment) / .seconds(1) }
    }

    /// The longest time between two moments in which nothing was accepted.
    func longestPause(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) -> Duration {
        let samples = samples.withLock { $0 }.filter { $0.moment >= start && $0.moment <= end }
        var last = start
        var longest = Duration.zero
        for (before, sample) in zip(samples, samples.dropFirst()) {
            longest = max(longest, sample.moment - last)
            if sample.count > before.count { last = sample.moment }
        }
        return longest
    }

    private func rates(before moment: ContinuousClock.Instant) -> [Double] {
        windows(from: moment.advanced(by: .zero - Self.past), to: moment).map(\.rate).filter { $0 > 0 }
    }

    /// The windows of a second that lie between two moments, by their ends.
    private func windows(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant?) -> [(
        end: ContinuousClock.Instant, rate: Double
    )] {
        let samples = samples.withLock { $0 }
        guard var first = samples.firstIndex(where: { $0.moment >= start }) else { return [] }
        var found: [(end: ContinuousClock.Instant, rate: Double)] = []
        for sample in samples[first...] where end.map({ sample.moment <= $0 }) ?? true {
            while first + 1 < samples.count, sample.moment - samples[first + 1].moment >= Self.window { first += 1 }
            let length = sample.moment - samples[first].moment
            guard length >= Self.window else { continue }
            found.append((sample.moment, Double(sample.count - samples[first].count) / (length / .seconds(1))))
        }
        return found
    }
}
