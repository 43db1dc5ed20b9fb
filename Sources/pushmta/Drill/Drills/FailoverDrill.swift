import Store

/// The primary dies and its synchronous replica takes its place, again and again.
struct FailoverDrill: Drill {
    let name = "failover"
    let summary = "primary killed, synchronous replica promoted; connections by target_session_attrs=read-write"
    let promise = "lost 0, duplicates 0: what was acknowledged is on both"

    func run(_ site: DrillSite) async throws {
        let own = site.cluster
        let pair = try ReplicaPair(primary: own)
        site.onCleanup { await pair.remove(keeping: own) }
        site.leaveNote(try ReplicaPair.removalCommand(own))
        let url = try ReplicaPair.connectionString(own, database: TrialSite.databaseName)
        site.configureCluster { $0.connection = url }
        try await site.startCluster()
        try await follow(site, pair)
        try await site.startSimulator(DrillGateway(streams: 100))
        try await site.addHost().start()
        try await site.keepSending(to: try await site.audience())
        let rate = try await site.undisturbedRate()
        for number in 1...minimumFaults {
            if number.isMultiple(of: 5) {
                try await site.outage("the primary dies, the replica takes over", rate: rate) {
                    try await pair.failOver()
                }
            } else {
                try await site.fault("the primary dies, the replica takes over") { try await pair.failOver() }
            }
            try await follow(site, pair)
            try await site.pause(milliseconds: 0...1_000)
        }
        try await site.untilOver()
        try await site.expectNoLostLease()
    }

    /// Makes a new replica and waits until it has everything: a primary that died before would take outcomes with it.
    private func follow(_ site: DrillSite, _ pair: ReplicaPair) async throws {
        try await pair.attach()
        try await site.until("a replica that has everything", within: .seconds(60), every: .milliseconds(50)) {
            (try? await site.store().hasSynchronousReplica()) ?? false
        }
    }
}
