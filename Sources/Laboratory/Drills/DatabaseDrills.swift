import Administration
import Foundation
import LaboratoryStore
import PostgresClient
import Store

/// The database's server is stopped and started again and again while messages are on the wire.
struct PostgresStopDrill: Drill {
    let mode: PrivateClusterStop

    var name: String { "postgres-\(mode.rawValue)" }
    var summary: String {
        "PostgreSQL stopped in mode \(mode.rawValue) and started, for moments and once for longer than a lease"
    }
    let promise = "lost 0, duplicates 0: no lease ends because the database was away"

    /// Every so many faults the time until the old rate is measured.
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
        try await site.outage("PostgreSQL is away for longer than a lease", rate: rate) {
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

/// Server processes of the engine's connections are ended in a stream.
struct BackendsTerminatedDrill: Drill {
    let name = "backends-terminated"
    let summary = "server processes of the engine's connections ended, several a second"
    let promise = "lost 0, duplicates 0: no lease ends with a connection"
    let isShort = true

    /// Whose connections: of children, of the supervisor, of all.
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
        try await site.outage("all server processes of the engine are ended", rate: rate) {
            _ = try await site.store().terminateBackends(applicationNameLike: "pushmta/mta-child%")
            _ = try await site.store().terminateBackends(applicationNameLike: "pushmta/supervisor%")
        }
        try await site.untilOver()
        try await site.expectNoLostLease()
    }

    private func terminate(_ site: DrillSite, pause: ClosedRange<Int>) async throws {
        let pattern = site.randomElement(of: Self.patterns) ?? "pushmta/mta-child%"
        let limit = site.random(in: 1...4)
        try await site.fault("server processes of \(pattern) are ended") {
            // One that is just being made anew is waited for, or nothing would have happened.
            try await site.until("a connection like \(pattern)", within: .seconds(30)) {
                try await site.store().terminateBackends(applicationNameLike: pattern, limit: limit) > 0
            }
        }
        try await site.pause(milliseconds: pause)
    }
}

/// Idle connections take every slot of the server while the engine has lost its own.
struct ConnectionsExhaustedDrill: Drill {
    let name = "connections-exhausted"
    let summary = "every connection slot of PostgreSQL taken by idle connections, the engine's own ended"
    let promise = "lost 0, duplicates 0, and it goes on by itself"

    /// The server's slots: few, so that they are soon taken.
    private static let slots = 30
    /// So often in a row nothing of the engine has to be found: a connection that is just being made has no name yet.
    private static let looks = 3
    /// The connections of a child: for loading and for outcomes.
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

/// Connections that somebody opens and does nothing with, until the server has no slot left.
actor IdleConnections {
    /// What they are called in `pg_stat_activity`.
    static let role = "idle"

    private let connectionString: String
    private var open: [PostgresConnection] = []

    /// None yet, to the database of this connection string.
    init(_ connectionString: String) {
        self.connectionString = connectionString
    }

    /// Opens more until the server refuses one, or until `most` are open.
    ///
    /// - Returns: How many are open.
    /// - Throws: `PostgresError` if the server refuses for another reason than that all slots are taken.
    func takeAll(atMost most: Int) async throws -> Int {
        while open.count < most {
            do {
                open.append(try await PostgresConnection.connect(configuration))
            } catch let error where Self.isSlotRefusal(error) {
                break
            }
        }
        return open.count
    }

    /// Closes all.
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

    /// libpq gives no SQLSTATE for a refused connection, only the server's words; the cluster's language is English.
    private static func isSlotRefusal(_ error: any Error) -> Bool {
        "\(error)".contains("too many clients") || "\(error)".contains("remaining connection slots")
    }
}

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
            throw DrillFailure("delivery \(delivery.id) is over, but no part tells when")
        }
        return Double(progress.target) / seconds
    }
}
