import Administration
import Synchronization

extension DrillSite {
    /// How long a fault waits for enough streams.
    private static let loadLimit = Duration.seconds(120)
    /// The time between two looks at the open streams.
    private static let lookInterval = Duration.milliseconds(10)
    /// The time between two looks whether the load has run out.
    private static let refillInterval = Duration.milliseconds(300)

    /// Does something bad as soon as enough streams are open, and counts it.
    ///
    /// - Parameter minimumStreams: With 0 it does not wait; the fault then counts if enough happen to be open.
    @discardableResult
    func fault(
        _ what: String,
        minimumStreams: Int64 = DrillFault.leastStreams,
        _ action: () async throws -> Void
    ) async throws -> DrillFault {
        let open = try await minimumStreams > 0 ? untilStreams(minimumStreams) : streams()
        let connections = try await control?.counters().mostConnections
        let fault = DrillFault(what: what, streams: open, connections: connections, moment: .now)
        try await action()
        state.withLock { $0.faults.append(fault) }
        let number = faults.count { $0.counts }
        note("\(what), \(open) streams open" + (fault.counts ? " (fault \(number))" : " (too few to count)"))
        return fault
    }

    /// Counts faults that the gateways did by themselves.
    ///
    /// - Parameter streams: The fewest streams that were open at one of them.
    func noteFaults(_ what: String, number: Int, streams: Int64) {
        let fault = DrillFault(what: what, streams: streams, connections: nil, moment: .now)
        state.withLock { $0.faults.append(contentsOf: repeatElement(fault, count: number)) }
        note("\(what): \(number) times, with at least \(streams) streams open")
    }

    /// The requests that wait for their answer at the gateways now. Another gateway than the simulator does not tell; then it is
    /// what the children said in their last heartbeats.
    func streams() async throws -> Int64 {
        if let control { return try await control.counters().waiting }
        return try await children().reduce(0) { $0 + Int64($1.streams) }
    }

    /// Waits until so many streams are open; the load is kept up meanwhile.
    ///
    /// - Returns: How many there are.
    /// - Throws: `DrillFailure` if they do not come.
    @discardableResult
    func untilStreams(_ least: Int64, within limit: Duration? = nil) async throws -> Int64 {
        let limit = limit ?? Self.loadLimit
        let deadline = ContinuousClock.now.advanced(by: limit)
        var refillAt = ContinuousClock.now.advanced(by: Self.refillInterval)
        var most: Int64 = 0
        while ContinuousClock.now < deadline {
            let open = try await ifReachable { try await streams() } ?? 0
            if open >= least { return open }
            most = max(most, open)
            if ContinuousClock.now >= refillAt {
                try await ifReachable { try await refill() }
                refillAt = .now.advanced(by: Self.refillInterval)
            }
            try await Task.sleep(for: Self.lookInterval)
        }
        throw DrillFailure("\(least) streams were to be open within \(limit); \(most) was the most")
    }

    /// Waits until the rate is steady, so that a later fault has something to be compared with.
    func untilSteady(within limit: Duration = .seconds(60)) async throws {
        guard options.hasTimes else { return }
        try await until("a steady rate", within: limit, every: .milliseconds(200)) {
            try await refill()
            return meter.isSteady
        }
    }

    /// Waits until the gateways accept at the old rate again and returns how long that took, in seconds.
    ///
    /// In a run without times it returns 0 at once.
    ///
    /// - Throws: `DrillFailure` if the rate does not come back.
    @discardableResult
    func measureRecovery(after fault: DrillFault, within limit: Duration = .seconds(60)) async throws -> Double {
        guard options.hasTimes else { return 0 }
        guard let rate = meter.medianRate(before: fault.moment) else {
            throw DrillFailure("no rate was measured before this fault: \(fault.what)")
        }
        var found: Double?
        try await until(
            "the rate of \(Int(rate)) messages a second after: \(fault.what)",
            within: limit,
            every: .milliseconds(200)
        ) {
            try await refill()
            found = meter.secondsToRate(rate, after: fault.moment)
            return found != nil
        }
        let seconds = found ?? 0
        state.withLock { $0.recoveries.append(seconds) }
        note("the rate of \(Int(rate)) messages a second was back after \(Int(seconds * 1_000)) ms")
        return seconds
    }
}

/// A fault that was done on purpose.
struct DrillFault: Sendable {
    /// So many streams have to be open for a fault to count.
    static let leastStreams: Int64 = 100

    /// What was done.
    let what: String
    /// The streams that were open when it was done.
    let streams: Int64
    /// The connections that a child can have had then, those to the gateway that had most; `nil` if the gateways did not tell.
    let connections: Int64?
    let moment: ContinuousClock.Instant

    /// Whether enough streams were open.
    var counts: Bool { streams >= Self.leastStreams }
}

/// A fault met nothing that it could harm: it does not count, and another one is tried.
struct FaultMiss: Error, CustomStringConvertible {
    /// What was missed.
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension DrillSite {
    /// So many faults in a row may miss.
    private static let mostMisses = 20

    /// Tries a fault until one has taken effect.
    ///
    /// - Parameter attempt: Throws `FaultMiss` out of the action of `fault`, which then does not count it.
    /// - Throws: `DrillFailure` if none has.
    func untilHit<Result>(_ attempt: () async throws -> Result) async throws -> Result {
        for _ in 0..<Self.mostMisses {
            do {
                return try await attempt()
            } catch let miss as FaultMiss {
                note("a miss: \(miss)")
            }
        }
        throw DrillFailure("\(Self.mostMisses) faults in a row met nothing")
    }
}
