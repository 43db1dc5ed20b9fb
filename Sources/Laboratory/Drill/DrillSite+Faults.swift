import Administration
import Synchronization

extension DrillSite {
    /// How long a fault waits for enough streams.
    private static let loadLimit = Duration.seconds(120)
    /// The interval between checks of the open streams.
    private static let lookInterval = Duration.milliseconds(10)
    /// The interval between checks whether the load has run out.
    private static let refillInterval = Duration.milliseconds(300)

    /// Injects a fault as soon as enough streams are open, and counts it.
    ///
    /// - Parameter minimumStreams: The streams to wait for. With 0 it does not wait; the fault then counts only if
    ///   enough streams happen to be open.
    @discardableResult
    func fault(
        _ what: String,
        minimumStreams: Int64 = DrillFault.minStreams,
        _ action: () async throws -> Void
    ) async throws -> DrillFault {
        let open = try await minimumStreams > 0 ? untilStreams(minimumStreams) : streams()
        let connections = try await control?.counters().maxConnections
        let fault = DrillFault(what: what, streams: open, connections: connections, moment: .now)
        try await action()
        state.withLock { $0.faults.append(fault) }
        let number = faults.count { $0.counts }
        note("\(what), \(open) streams open" + (fault.counts ? " (fault \(number))" : " (too few to count)"))
        return fault
    }

    /// Counts faults that the gateways injected on their own.
    ///
    /// - Parameter streams: The minimum number of open streams at one of them.
    func noteFaults(_ what: String, number: Int, streams: Int64) {
        let fault = DrillFault(what: what, streams: streams, connections: nil, moment: .now)
        state.withLock { $0.faults.append(contentsOf: repeatElement(fault, count: number)) }
        note("\(what): \(number) times, with at least \(streams) streams open")
    }

    /// The requests that currently wait for their answer at the gateways. An external gateway does not report them;
    /// then the children's last heartbeats are used.
    func streams() async throws -> Int64 {
        if let control { return try await control.counters().waiting }
        return try await children().reduce(0) { $0 + Int64($1.streams) }
    }

    /// Waits until at least this many streams are open. Meanwhile the load is kept up.
    ///
    /// - Returns: The number of open streams.
    /// - Throws: `DrillFailure` if they are not open within the limit.
    @discardableResult
    func untilStreams(_ least: Int64, within limit: Duration? = nil) async throws -> Int64 {
        let limit = limit ?? Self.loadLimit
        let deadline = ContinuousClock.now.advanced(by: limit)
        var refillAt = ContinuousClock.now.advanced(by: Self.refillInterval)
        var highest: Int64 = 0
        while ContinuousClock.now < deadline {
            let open = try await ifReachable { try await streams() } ?? 0
            if open >= least { return open }
            highest = max(highest, open)
            if ContinuousClock.now >= refillAt {
                try await ifReachable { try await refill() }
                refillAt = .now.advanced(by: Self.refillInterval)
            }
            try await Task.sleep(for: Self.lookInterval)
        }
        throw DrillFailure("fewer than \(least) streams were open within \(limit); the maximum was \(highest)")
    }

    /// Waits until the rate is steady, so that the rate after a fault can be compared with it.
    func untilSteady(within limit: Duration = .seconds(60)) async throws {
        guard options.hasTimes else { return }
        try await until("a steady rate", within: limit, every: .milliseconds(200)) {
            try await refill()
            return meter.isSteady
        }
    }

    /// Waits until the gateways accept at the previous rate again, and returns how long that took, in seconds.
    ///
    /// In a run without times it returns 0 at once.
    ///
    /// - Throws: `DrillFailure` if the rate does not recover.
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
        note("the rate of \(Int(rate)) messages a second recovered after \(Int(seconds * 1_000)) ms")
        return seconds
    }
}

extension DrillSite {
    /// The maximum number of consecutive misses.
    private static let maxMisses = 20

    /// Tries a fault until one has taken effect.
    ///
    /// - Parameter attempt: It throws `FaultMiss` from the action of `fault` to have the fault not counted.
    /// - Throws: `DrillFailure` if none has.
    func untilHit<Result>(_ attempt: () async throws -> Result) async throws -> Result {
        for _ in 0..<Self.maxMisses {
            do {
                return try await attempt()
            } catch let miss as FaultMiss {
                note("a miss: \(miss)")
            }
        }
        throw DrillFailure("\(Self.maxMisses) faults in a row had no effect")
    }
}
