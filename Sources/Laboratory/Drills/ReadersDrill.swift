import Administration
import LaboratoryStore
import PostgresClient
import Store

/// Four transactions hold old snapshots open while messages are sent at full speed.
struct ReadersDrill: Drill {
    let name = "readers"
    let summary = "four REPEATABLE READ transactions held open, compared with the rate before and after in the same run"
    let promise = "the rate stays at 80 % or more, lost 0, duplicates 0"
    let minimumFaults = 0
    let messages: Int64 = 200_000

    private static let readers = 4
    private static let minShare = 0.8
    /// How often the rate with readers is measured, each time between two measurements without.
    private static let turns = 2

    func run(_ site: DrillSite) async throws {
        try await site.startCluster()
        // With no latency and many streams the CPU is the bottleneck, so that the readers' cost shows.
        try await site.startSimulator(DrillGateway(latencyMilliseconds: 0, streams: 1_000))
        try await site.addHost().start()
        let audience = try await site.audience()
        let readers = SnapshotReaders(count: Self.readers, settings: site.settings())
        // The first delivery warms up caches, connections and processes.
        _ = try await rate(site, audience)
        // Measurements alternate, because the machine may become slower or faster meanwhile.
        var without = [try await rate(site, audience)]
        var with: [Double] = []
        for _ in 0..<Self.turns {
            let (rate, reads) = try await readers.during { try await self.rate(site, audience) }
            with.append(rate)
            without.append(try await self.rate(site, audience))
            site.note(
                "without readers \(without.map { Int($0) }) messages a second, with them \(with.map { Int($0) }), "
                    + "\(reads) reads"
            )
        }
        let share = mean(with) / mean(without)
        site.expect(share >= Self.minShare, "with readers the rate is \(Int(share * 100)) % of that without")
    }

    private func mean(_ rates: [Double]) -> Double {
        rates.reduce(0, +) / Double(rates.count)
    }

    /// The rate of one delivery from its start to its last stored outcome, in messages a second.
    private func rate(_ site: DrillSite, _ audience: [String]) async throws -> Double {
        let delivery = try await site.deliver(to: audience)
        let progress = try await site.untilOver(delivery)
        guard let seconds = try await site.store().secondsToLastOutcome(delivery: delivery.id), seconds > 0 else {
            throw DrillFailure("delivery \(delivery.id) is over, but no part has an end time")
        }
        return Double(progress.target) / seconds
    }
}
