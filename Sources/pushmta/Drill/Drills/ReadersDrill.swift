import Store

/// Four transactions hold old snapshots of the database open while messages are sent at full speed.
struct ReadersDrill: Drill {
    let name = "readers"
    let summary = "four REPEATABLE READ transactions held open, compared with the rate before and after in the same run"
    let promise = "the rate stays at 80 % or more, lost 0, duplicates 0"
    let minimumFaults = 0
    let messages: Int64 = 200_000

    private static let readers = 4
    private static let leastShare = 0.8
    /// How often the rate with readers is measured, each time between two without.
    private static let turns = 2

    func run(_ site: DrillSite) async throws {
        try await site.startCluster()
        // No latency and many streams: the processors set the pace, so that what the readers cost can be seen.
        try await site.startSimulator(DrillGateway(latencyMilliseconds: 0, streams: 1_000))
        try await site.addHost().start()
        let audience = try await site.audience()
        let readers = SnapshotReaders(count: Self.readers, settings: site.settings())
        // The first one warms up: caches, connections, processes.
        _ = try await rate(site, audience)
        // By turns, as the machine may become slower or faster meanwhile.
        var without = [try await rate(site, audience)]
        var with: [Double] = []
        for _ in 0..<Self.turns {
            let (rate, reads) = try await readers.during { try await self.rate(site, audience) }
            with.append(rate)
            without.append(try await self.rate(site, audience))
            site.note(
                "without readers \(without.map { Int($0) }) messages a second, with them \(with.map { Int($0) }), \(reads) reads"
            )
        }
        let share = mean(with) / mean(without)
        site.expect(share >= Self.leastShare, "with readers the rate is \(Int(share * 100)) % of that without")
    }

    private func mean(_ rates: [Double]) -> Double {
        rates.reduce(0, +) / Double(rates.count)
    }

    /// The rate of one delivery, from its start to the last outcome stored, messages a second.
    private func rate(_ site: DrillSite, _ audience: [String]) async throws -> Double {
        let delivery = try await site.deliver(to: audience)
        let progress = try await site.untilOver(delivery)
        guard let seconds = try await site.store().secondsToLastOutcome(delivery: delivery.id), seconds > 0 else {
            throw DrillSetback("delivery \(delivery.id) is over, but no part tells when")
        }
        return Double(progress.target) / seconds
    }
}
