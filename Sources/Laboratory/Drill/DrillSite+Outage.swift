import Administration
import LaboratoryStore
import Store
import Synchronization

extension DrillSite {
    /// The maximum time until the rate has recovered, in seconds: the usual lease plus ten.
    static let recoveryLimit = 25.0

    /// How long the undisturbed rate is measured.
    private static let undisturbed = Duration.seconds(10)

    /// The gateways' rate without faults, in messages a second. The rate after a fault is compared with it.
    ///
    /// In a run without times it returns 0 as soon as there is load.
    func undisturbedRate() async throws -> Double {
        try await untilStreams(DrillFault.minStreams)
        guard options.hasTimes else { return 0 }
        let end = ContinuousClock.now.advanced(by: Self.undisturbed)
        try await until("the undisturbed rate", within: Self.undisturbed * 2, every: .milliseconds(200)) {
            try await refill()
            return ContinuousClock.now >= end
        }
        guard let rate = meter.medianRate(before: .now) else {
            throw DrillFailure("the gateways have accepted no push")
        }
        note("the undisturbed rate is \(Int(rate)) messages a second")
        return rate
    }

    /// Injects a fault that ends with everything restored, and measures how long the rate then takes to recover.
    func outage(_ what: String, rate: Double, _ action: () async throws -> Void) async throws {
        let fault = try await fault(what, action)
        try await measureRecovery(of: what, to: rate, before: fault.moment, since: .now)
    }

    /// Measures how long the gateways take, from `moment`, to accept at this rate again. A run without times skips it.
    ///
    /// - Parameters:
    ///   - undisturbed: The rate that was measured before any fault.
    ///   - before: When the fault was injected. If the rate just before it was lower, because the machine had other
    ///     work, that rate is enough.
    /// - Throws: `DrillFailure` if the rate does not recover.
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
        note("the rate of \(Int(rate)) messages a second recovered after \(Int(seconds * 1_000)) ms")
        expect(
            seconds <= Self.recoveryLimit,
            "after \"\(what)\" the rate took \(seconds) s to recover; the limit is \(Self.recoveryLimit) s"
        )
    }

    /// The number of claims, of all deliveries, that ended because the owner was lost.
    func lostClaims() async throws -> Int64 {
        var lost: Int64 = 0
        for delivery in deliveries { lost += try await store().leaseHistory(delivery: delivery.id).lost }
        return lost
    }

    /// Expects that no lease of a delivery expired while its owner was alive.
    ///
    /// - Parameter once: Whether each part must have been claimed exactly once. Where connections break, a second claim
    ///   is correct: a claim whose reply was lost is given back.
    func expectNoLostLease(once: Bool = false) async throws {
        for delivery in deliveries {
            let history = try await store().leaseHistory(delivery: delivery.id)
            note(
                "delivery \(delivery.id): \(history.parts) parts, \(history.claims) claims, \(history.lost) of them "
                    + "lost"
            )
            expect(
                history.lost == 0,
                "delivery \(delivery.id): \(history.lost) parts were taken from live owners"
            )
            guard once else { continue }
            let more = history.claims - history.parts
            expect(more == 0, "delivery \(delivery.id): there were \(more) more claims than parts")
        }
    }
}
