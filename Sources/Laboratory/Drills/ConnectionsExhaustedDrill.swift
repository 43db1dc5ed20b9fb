import Administration
import LaboratoryStore
import PostgresClient
import Store

/// Idle connections take every connection slot of the server, and the engine has lost its own.
struct ConnectionsExhaustedDrill: Drill {
    let name = "connections-exhausted"
    let summary = "every connection slot of PostgreSQL taken by idle connections, the engine's own terminated"
    let promise = "lost 0, duplicates 0, and sending resumes automatically"

    /// The server's connection slots: few, so that they are soon taken.
    private static let slots = 30
    /// The number of consecutive checks that must find no connection of the engine. A connection being made has no name
    /// yet.
    private static let looks = 3
    /// A child's connections: one for loading, one for outcomes.
    private static let ofChild = 2
    /// How long a reconnected child needs to renew its leases, as the renewal has waited for the connections.
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
        // After the last round a child may still wait before it reconnects. If it missed several rounds, it could not
        // renew its leases while others were there to take its parts. That would be correct, but it is another drill.
        try await site.until("connections of all children", within: .seconds(60)) {
            let children = host.childIDs().count
            let connections = try await site.store().backends(applicationNameLike: "pushmta/mta-child%")
            return children > 0 && connections >= Self.ofChild * children
        }
        try await Task.sleep(for: Self.renewal)
        var taken = 0
        var looks = 0
        // The engine reconnects at once and may win the race. Repeat until it has no connection and no slot is free.
        try await site.until("the engine has no connection, and no slot is free", within: .seconds(30)) {
            taken = try await idle.takeAll(atMost: Self.slots)
            looks = try await end(site) == 0 ? looks + 1 : 0
            return looks >= Self.looks
        }
        site.note("the engine has no connection, \(taken) slots are taken")
        try await site.pause(milliseconds: 300...3_000)
        await idle.release()
    }

    /// Terminates the engine's connections.
    ///
    /// - Returns: The number of terminated connections.
    private func end(_ site: DrillSite) async throws -> Int {
        try await site.store().terminateBackends(applicationNameLike: "pushmta/mta-child%")
            + site.store().terminateBackends(applicationNameLike: "pushmta/supervisor%")
    }
}
