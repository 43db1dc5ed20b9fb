import Administration
import Foundation
import LaboratoryStore
import PostgresClient
import Store

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

/// Server processes of the engine's connections are terminated continuously.
struct BackendsTerminatedDrill: Drill {
    let name = "backends-terminated"
    let summary = "server processes of the engine's connections terminated, several a second"
    let promise = "lost 0, duplicates 0: no lease expires because a connection is lost"
    let isShort = true

    /// The connections' names: those of children, of the supervisor, of all.
    private static let patterns = [
        "pushmta/mta-child/%", "pushmta/mta-child-load/%", "pushmta/mta-child%", "pushmta/supervisor%",
    ]

    func run(_ site: DrillSite) async throws {
        try await site.startCluster()
        try await site.startSimulator(DrillGateway(streams: 100))
        try await site.addHost().start()
        try await site.keepSending(to: try await site.audience())
        let rate = try await site.undisturbedRate()
        for _ in 0..<minimumFaults { try await terminate(site, pause: 50...400) }
        try await site.outage("all server processes of the engine are terminated", rate: rate) {
            _ = try await site.store().terminateBackends(applicationNameLike: "pushmta/mta-child%")
            _ = try await site.store().terminateBackends(applicationNameLike: "pushmta/supervisor%")
        }
        try await site.untilOver()
        try await site.expectNoLostLease()
    }

    private func terminate(_ site: DrillSite, pause: ClosedRange<Int>) async throws {
        let pattern = site.randomElement(of: Self.patterns) ?? "pushmta/mta-child%"
        let limit = site.random(in: 1...4)
        try await site.fault("server processes of \(pattern) are terminated") {
            // It waits for a connection that is just being reopened; otherwise nothing would happen.
            try await site.until("a connection like \(pattern)", within: .seconds(30)) {
                try await site.store().terminateBackends(applicationNameLike: pattern, limit: limit) > 0
            }
        }
        try await site.pause(milliseconds: pause)
    }
}

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

/// Connections that are opened and left idle, until the server has no slot left.
actor IdleConnections {
    /// Their name in `pg_stat_activity`.
    static let role = "idle"

    private let connectionString: String
    private var open: [PostgresConnection] = []

    /// An empty set of connections to the database of this connection string.
    init(_ connectionString: String) {
        self.connectionString = connectionString
    }

    /// Opens connections until the server refuses one, or until `maximum` are open.
    ///
    /// - Returns: The number of open connections.
    /// - Throws: `PostgresError` if the server refuses for any reason other than that all slots are taken.
    func takeAll(atMost maximum: Int) async throws -> Int {
        while open.count < maximum {
            do {
                open.append(try await PostgresConnection.connect(configuration))
            } catch let error where Self.isSlotRefusal(error) {
                break
            }
        }
        return open.count
    }

    /// Closes all connections.
    func release() async {
        for connection in open { await connection.close() }
        open = []
    }

    private var configuration: PostgresConfiguration {
        PostgresConfiguration(
            connectionString,
            applicationName: PostgresApplicationName(
                role: Self.role,
                host: ProcessInfo.processInfo.hostName,
                pid: ProcessInfo.processInfo.processIdentifier
            )
        )
    }

    /// libpq gives no SQLSTATE for a refused connection, only the server's message. The cluster's language is English.
    private static func isSlotRefusal(_ error: any Error) -> Bool {
        "\(error)".contains("too many clients") || "\(error)".contains("remaining connection slots")
    }
}

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
