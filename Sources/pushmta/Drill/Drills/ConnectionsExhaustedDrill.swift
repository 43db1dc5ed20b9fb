import Store

/// Idle connections take every slot of the server while the engine has lost its own.
struct ConnectionsExhaustedDrill: Drill {
    let name = "connections-exhausted"
    let summary = "every connection slot of PostgreSQL taken by idle connections, the engine's own ended"
    let promise = "lost 0, duplicates 0, and it goes on by itself"

    /// The server's slots: few, so that they are soon taken.
    private static let slots = 30
    /// So often in a row nothing of the engine has to be found: a connection that is just being made has no name yet.
    private static let looks = 3
    /// The connections of a child: for loading and for settling.
    private static let ofChild = 2
    /// How long a child that has its connections again needs to renew its leases: the order to do so waits for them.
    private static let renewal = Duration.milliseconds(300)

    func run(_ site: DrillSite) async throws {
        site.configureCluster { $0.extraSettings += "max_connections = \(Self.slots)\n" }
        try await site.startCluster()
        try await site.startSimulator(DrillGateway(streams: 100))
        let host = try site.addHost()
        try await host.start()
        try await site.keepSending(to: try await site.audience())
        let rate = try await site.undisturbedRate()
        let idle = IdleConnections(site.databaseURL)
        do {
            for number in 1...minimumFaults {
                if number.isMultiple(of: 5) {
                    try await site.outage("every connection slot is taken", rate: rate) {
                        try await exhaust(site, host, idle)
                    }
                } else {
                    try await site.fault("every connection slot is taken") { try await exhaust(site, host, idle) }
                }
            }
            try await site.untilOver()
            try await site.expectNoLostLease()
        } catch {
            await idle.release()
            throw error
        }
    }

    private func exhaust(_ site: DrillSite, _ host: DrillHost, _ idle: IdleConnections) async throws {
        // After the last round one may still wait before it connects again. A child that missed several rounds for that could not
        // renew its leases, while others were there to take its parts: right, but another drill.
        try await site.until("connections of all children", within: .seconds(60)) {
            let children = host.childIDs().count
            let connections = try await site.store().backends(applicationNameLike: "pushmta/mta-child%")
            return children > 0 && connections >= Self.ofChild * children
        }
        try await Task.sleep(for: Self.renewal)
        var taken = 0
        var looks = 0
        // The engine connects again at once and may be faster than we are: until it has no connection, and no slot is free.
        try await site.until("the engine has no connection, and no slot is free", within: .seconds(30)) {
            taken = try await idle.takeAll(atMost: Self.slots)
            looks = try await end(site) == 0 ? looks + 1 : 0
            return looks >= Self.looks
        }
        site.note("the engine has no connection, \(taken) slots are taken")
        try await site.pause(milliseconds: 300...3_000)
        await idle.release()
    }

    /// Ends the engine's connections.
    ///
    /// - Returns: How many there were.
    private func end(_ site: DrillSite) async throws -> Int {
        try await site.store().terminateBackends(applicationNameLike: "pushmta/mta-child%")
            + site.store().terminateBackends(applicationNameLike: "pushmta/supervisor%")
    }
}
