import Gateways
import ProcessProtocol

/// Which messages are shown to whom, as a value: filters, samples a second, and when each trace ends.
struct TraceSampler {
    /// One trace that goes on.
    struct Running {
        var order: TraceOrder
        var end: ContinuousClock.Instant
        var allowance: SampleAllowance
        var counts = TraceCounts()
        /// The hash of the push token that is looked for, as bytes.
        var tokenHash: [UInt8]?
    }

    private(set) var running: [Running] = []
    /// All traces together show no more: what is read beside the sending must not show in its rate.
    private var together: SampleAllowance
    /// To look for a token is dear, as each message's is hashed for it: above this rate some are not looked at, and are counted.
    private var hashing: SampleAllowance

    init(at now: ContinuousClock.Instant) {
        together = SampleAllowance(perSecond: TraceLimits.mostPerSecond, at: now)
        hashing = SampleAllowance(perSecond: TraceLimits.mostHashesPerSecond, at: now)
    }

    /// Begins, renews or ends a trace.
    ///
    /// - Returns: its counts; of an order that cannot be obeyed, as there are too many, nil.
    mutating func obey(_ order: TraceOrder, at now: ContinuousClock.Instant) -> TraceCounts? {
        expire(at: now)
        let known = running.firstIndex { $0.order.id == order.id }
        guard order.seconds > 0 else { return known.map { running.remove(at: $0).counts } ?? TraceCounts() }
        // What comes by a pipe lets nothing run for ever.
        let end = now.advanced(by: .seconds(min(order.seconds, TraceLimits.longestSeconds)))
        if let known {
            running[known].end = end
            return running[known].counts
        }
        guard running.count < TraceLimits.mostTraces else { return nil }
        let perSecond = min(max(order.perSecond, 1), TraceLimits.mostPerSecond)
        var made = Running(order: order, end: end, allowance: SampleAllowance(perSecond: perSecond, at: now))
        // What is no hash is no token's.
        made.tokenHash = order.tokenHash.map { PushTokenHash.bytes($0) ?? [] }
        running.append(made)
        return TraceCounts()
    }

    /// Forgets the traces whose time is over.
    mutating func expire(at now: ContinuousClock.Instant) {
        running.removeAll { $0.end <= now }
    }

    /// The traces that show a message. Each to which it belongs counts it.
    mutating func sample(
        delivery: Int64,
        token: ArraySlice<UInt8>,
        at now: ContinuousClock.Instant
    ) -> [Int64] {
        var shown: [Int64] = []
        for index in running.indices {
            let wantedDelivery = running[index].order.deliveryID
            guard now < running[index].end, wantedDelivery == nil || wantedDelivery == delivery else { continue }
            if let wanted = running[index].tokenHash {
                guard hashing.has(at: now) else {
                    running[index].counts.unchecked += 1
                    continue
                }
                hashing.take()
                guard PushTokenHash.isHash(wanted, of: token) else { continue }
            }
            running[index].counts.matched += 1
            guard running[index].allowance.has(at: now), together.has(at: now) else { continue }
            running[index].allowance.take()
            together.take()
            shown.append(running[index].order.id)
        }
        return shown
    }

    /// A sample of a trace found no room.
    mutating func lost(_ id: Int64) {
        if let index = running.firstIndex(where: { $0.order.id == id }) { running[index].counts.lost += 1 }
    }

    /// What was counted for a trace; nil if it is over.
    func counts(_ id: Int64) -> TraceCounts? { running.first { $0.order.id == id }?.counts }

    /// Whether a trace shows texts.
    func isUnmasked(_ id: Int64) -> Bool { running.first { $0.order.id == id }?.order.isUnmasked ?? false }
}

/// So many samples a second, saved up for one second at most.
struct SampleAllowance {
    private let perSecond: Double
    private var saved: Double
    private var counted: ContinuousClock.Instant

    init(perSecond: Int, at now: ContinuousClock.Instant) {
        self.perSecond = Double(perSecond)
        saved = Double(perSecond)
        counted = now
    }

    /// Whether one may be taken now.
    mutating func has(at now: ContinuousClock.Instant) -> Bool {
        saved = min(perSecond, saved + (now - counted) / .seconds(1) * perSecond)
        counted = now
        return saved >= 1
    }

    /// Takes one that may be taken.
    mutating func take() { saved -= 1 }
}
