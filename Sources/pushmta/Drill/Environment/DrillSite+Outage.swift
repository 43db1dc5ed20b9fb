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
            throw DrillSetback("the gateways have accepted nothing")
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
    /// - Throws: `DrillSetback` if they do not at all.
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
