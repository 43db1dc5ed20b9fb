import Administration
import LaboratoryStore
import PushCore
import Store
import Synchronization

/// The primary of three servers under Patroni repeatedly dies or is cut off. Three hosts reach it in three ways.
struct PatroniFailoverDrill: Drill {
    let name = "patroni-failover"
    let summary =
        "three PostgreSQL servers under Patroni; the primary killed 4 times and cut off 4 times; hosts by libpq, "
        + "HAProxy, pgbouncer"
    let promise = "lost 0, duplicates at most ambiguous, each counted as resent; every host resumes automatically"
    let needs =
        PatroniCluster.needs + [.tool("haproxy", package: "haproxy"), .tool("pgbouncer", package: "pgbouncer")]
    let minimumFaults = PatroniFault.all.count

    /// The ways to connect to the primary, one host each.
    enum Way: String, CaseIterable {
        case libpq
        case haproxy
        case pgbouncer
    }

    /// Slow enough that three debug builds, three servers and a simulator can share two CPUs, and that a delivery
    /// lasts.
    private static let gateway = (latency: 400, streams: 150)

    func run(_ site: DrillSite) async throws {
        let network = DrillNetwork(folder: site.folder, hostCount: PatroniCluster.serverCount + Way.allCases.count)
        site.onCleanup { await network.remove() }
        site.leaveNote(network.killCommand)
        site.leaveNote(network.removalCommand)
        try await network.make()
        let cluster = try PatroniCluster(site, network: network)
        site.onCleanup {
            await cluster.stop()
            for place in Way.allCases.indices {
                try? await network.killProcesses(of: PatroniCluster.serverCount + place) { _ in true }
            }
        }
        try await start(site, cluster)
        let traffic = HostTraffic()
        let hosts = Way.allCases.indices.map { PatroniCluster.serverCount + $0 }
        site.keepRunning { _ in await traffic.watch(hosts) { network.bytesToGateways($0) } }
        let round = PatroniRound(site: site, cluster: cluster, traffic: traffic)
        for fault in site.shuffled(PatroniFault.all) { try await round.run(fault) }
        try await site.untilOver()
        for delivery in site.deliveries {
            let history = try await site.store().leaseHistory(delivery: delivery.id)
            site.note("delivery \(delivery.id): \(history.parts) parts, \(history.lost) taken from a lost owner")
        }
    }

    private func start(_ site: DrillSite, _ cluster: PatroniCluster) async throws {
        let database = TestSite.databaseName
        site.note("seed \(site.seed), folder \(site.folder)")
        site.useDatabase(cluster.connectionString(database: database))
        try site.leaveClusterFolder()
        try await cluster.start()
        try await cluster.createDatabase(database)
        try await site.openDatabase()
        try await site.startSimulator(
            DrillGateway(
                latencyMilliseconds: Self.gateway.latency,
                streams: Self.gateway.streams,
                host: cluster.network.gatewayAddress
            )
        )
        for (place, way) in Way.allCases.enumerated() {
            let number = PatroniCluster.serverCount + place
            var setup = DrillHostSetup(children: 1)
            setup.wrapper = try cluster.network.wrapper(number)
            setup.database = cluster.connectionString(database: database)
            if way != .libpq { setup.database = try await startProxies(site, cluster, number, way) }
            try await site.addHost(way.rawValue, setup).start()
        }
        try await site.keepSending(to: try await site.audience()) { $0.keepTrying() }
    }

    /// Starts HAProxy on a host, and pgbouncer in front of it if that is the host's way.
    ///
    /// - Returns: The host's connection string.
    private func startProxies(_ site: DrillSite, _ cluster: PatroniCluster, _ host: Int, _ way: Way) async throws
        -> String
    {
        let files = try cluster.writeProxies(way.rawValue)
        try await start(site, cluster, host, "haproxy", ["-db", "-f", files.haproxy], "\(way.rawValue)-haproxy")
        guard way == .pgbouncer else { return cluster.proxiedConnectionString(database: TestSite.databaseName) }
        try await start(site, cluster, host, "pgbouncer", [files.pgbouncer], "\(way.rawValue)-pgbouncer")
        return cluster.pooledConnectionString(database: TestSite.databaseName)
    }

    private func start(
        _ site: DrillSite,
        _ cluster: PatroniCluster,
        _ host: Int,
        _ tool: String,
        _ arguments: [String],
        _ name: String
    ) async throws {
        let process = BackgroundProcess(
            name: name,
            recordFile: "\(site.folder)/run/\(name).pid",
            logFile: "\(site.folder)/log/\(name).log"
        )
        let command = try cluster.asServerUser(host) + [Executables.tool(tool, package: tool)] + arguments
        try await process.start(command[0], Array(command.dropFirst()))
    }
}

/// What happens to a primary.
enum PatroniFault: String, Sendable {
    /// Patroni and PostgreSQL are killed at once; etcd survives.
    case killed = "Patroni and PostgreSQL of the primary are killed"
    /// All processes of the server are killed at once.
    case serverKilled = "everything on the primary's server is killed"
    /// The server can reach no other machine.
    case cut = "the primary's server is cut off from all other machines"
    /// The hosts still reach the server, but the server does not reach the other ones: its commits hang.
    case separated = "the primary's server is cut off from the other servers, not from the hosts"

    /// The faults of a run: four kills and four cuts.
    static let all: [PatroniFault] = [
        .killed, .killed, .serverKilled, .serverKilled, .cut, .cut, .separated, .separated,
    ]
}

/// One fault of the primary, until all servers follow one primary again.
struct PatroniRound: Sendable {
    /// Longer than Patroni and the hosts may take together: a ttl, an election, and a client's maximum back-off.
    private static let progressLimit = Duration.seconds(120)

    let site: DrillSite
    let cluster: PatroniCluster
    let traffic: HostTraffic

    func run(_ fault: PatroniFault) async throws {
        try await untilAllSend(since: .now)
        let old = try await cluster.primary()
        let others = (0..<PatroniCluster.serverCount).filter { $0 != old }
        let done = try await site.fault(fault.rawValue) {
            switch fault {
            case .killed: try await cluster.kill(old, withEtcd: false)
            case .serverKilled: try await cluster.kill(old, withEtcd: true)
            case .cut: try await cluster.network.cut(old)
            case .separated: try await cluster.network.separate(old, from: others)
            }
        }
        let new = try await cluster.untilPrimary(otherThan: old)
        let promoted = ContinuousClock.now
        site.note("db\(new + 1) is the primary instead of db\(old + 1) after \(Self.seconds(promoted - done.moment))")
        try await untilAllSend(since: promoted)
        report(fault, since: done.moment)
        switch fault {
        case .killed, .serverKilled: try await cluster.restart(old)
        case .cut: try await cluster.network.heal(old)
        case .separated: try await cluster.network.join(old, to: others)
        }
        try await cluster.untilWhole()
    }

    /// Waits until every host has sent something since a moment.
    private func untilAllSend(since moment: ContinuousClock.Instant) async throws {
        try await site.until("every host sends", within: Self.progressLimit, every: .milliseconds(250)) {
            try await site.refill()
            return hosts.allSatisfy { traffic.sends($0.number, since: moment) }
        }
    }

    private var hosts: [(number: Int, name: String)] {
        PatroniFailoverDrill.Way.allCases.enumerated().map { (PatroniCluster.serverCount + $0, $1.rawValue) }
    }

    /// Reports how long each host sent nothing, and records the longest time as the recovery.
    private func report(_ fault: PatroniFault, since start: ContinuousClock.Instant) {
        let end = ContinuousClock.now
        let times = hosts.map { (name: $0.name, time: traffic.standstill($0.number, from: start, to: end)) }
        site.state.withLock { $0.recoveries.append((times.map(\.time).max() ?? .zero) / .seconds(1)) }
        let words = times.map { "\($0.name) \(Self.seconds($0.time))" }.joined(separator: ", ")
        site.note("without progress after \"\(fault.rawValue)\": \(words)")
    }

    private static func seconds(_ time: Duration) -> String {
        "\((time / .milliseconds(100)).rounded() / 10) s"
    }
}
