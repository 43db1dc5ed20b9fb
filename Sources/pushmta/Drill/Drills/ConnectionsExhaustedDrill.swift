import Store

/// Idle connections take every slot of the server while the engine has lost its own.
struct ConnectionsExhaustedDrill: Drill {
    let name = "connections-exhausted"
    let summary = "every connection slot of PostgreSQL taken by idle connections, the engine's own ended"
    let promise = "lost 0, duplicates 0, and it goes on by itself"

    /// The server's slots: few, so that they are soon taken.
    private static let slots = 30

    func run(_ site: DrillSite) async throws {
        site.configureCluster { $0.extraSettings += "max_connections = \(Self.slots)\n" }
        try await site.startCluster()
        try await site.startSimulator(DrillGateway(streams: 100))
        try await site.addHost().start()
        try await site.keepSending(to: try await site.audience())
        let rate = try await site.undisturbedRate()
        let idle = IdleConnections(site.databaseURL)
        do {
            for number in 1...minimumFaults {
                if number.isMultiple(of: 5) {
                    try await site.outage("every connection slot is taken", rate: rate) {
                        try await exhaust(site, idle)
                    }
                } else {
                    try await site.fault("every connection slot is taken") { try await exhaust(site, idle) }
                }
            }
            try await site.untilOver()
            try await site.expectNoLostLease()
        } catch {
            await idle.release()
            throw error
        }
    }

    private func exhaust(_ site: DrillSite, _ idle: IdleConnections) async throws {
        _ = try await idle.takeAll(atMost: Self.slots)
        let ended =
            try await site.store().terminateBackends(applicationNameLike: "pushmta/mta-child%")
            + site.store().terminateBackends(applicationNameLike: "pushmta/supervisor%")
        let taken = try await idle.takeAll(atMost: Self.slots)
        site.note("\(ended) connections of the engine were ended, \(taken) slots are taken")
        try await site.pause(milliseconds: 300...3_000)
        await idle.release()
    }
}
