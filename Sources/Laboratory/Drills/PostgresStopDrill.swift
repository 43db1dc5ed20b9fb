/// The database server is repeatedly stopped and started while messages are on the wire.
struct PostgresStopDrill: Drill {
    let mode: PrivateClusterStop

    var name: String { "postgres-\(mode.rawValue)" }
    var summary: String {
        "PostgreSQL stopped in mode \(mode.rawValue) and started again, briefly and once for longer than a lease"
    }
    let promise = "lost 0, duplicates 0: no lease expires because the database was down"

    /// The recovery of the rate is measured after one of this many faults.
    private static let measuredEvery = 5

    func run(_ site: DrillSite) async throws {
        try await site.startCluster()
        try await site.startSimulator(DrillGateway(streams: 100))
        try await site.addHost().start()
        try await site.keepSending(to: try await site.audience())
        let rate = try await site.undisturbedRate()
        for number in 1..<minimumFaults {
            if number.isMultiple(of: Self.measuredEvery) {
                try await site.outage("PostgreSQL is stopped and started", rate: rate) {
                    try await restart(site, away: 500...3_000)
                }
            } else {
                try await site.fault("PostgreSQL is stopped and started") { try await restart(site, away: 0...3_000) }
            }
            try await site.pause(milliseconds: 0...1_000)
        }
        try await site.outage("PostgreSQL is down for longer than a lease", rate: rate) {
            try await restart(site, away: 17_000...20_000)
        }
        try await site.untilOver()
        try await site.expectNoLostLease()
    }

    private func restart(_ site: DrillSite, away: ClosedRange<Int>) async throws {
        try await site.cluster.stop(mode)
        try await site.pause(milliseconds: away)
        try await site.cluster.start()
    }
}
