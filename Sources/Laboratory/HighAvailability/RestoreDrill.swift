import Administration
import Foundation
import LaboratoryStore
import PushCore
import Store

/// The database is lost and restored to a moment before the hosts' journals. Then the steps of the backup guide follow.
struct RestoreDrill: Drill {
    let name = "restore"
    let summary =
        "database lost, restored from base backup and WAL to a moment before the journals; one delivery continues, "
        + "one is stopped"
    let promise =
        "lost 0; duplicates only of messages accepted after that moment and in no journal; none of a stopped delivery"
    let needs: [DrillNeed] = [.simulator]
    let minimumFaults = 1
    let messages: Int64 = 30_000

    private static let gateway = (latency: 300, streams: 150)
    /// Slow enough that the running deliveries outlast all steps, and fast enough for hundreds of open streams.
    private static let rate = 500.0
    /// The minimum number of accepted messages of each delivery before and after the moment.
    private static let leastAccepted = 1_500

    func run(_ site: DrillSite) async throws {
        let archive = ArchivedCluster(site.cluster)
        site.configureCluster { $0.extraSettings += archive.settings }
        try await site.startCluster()
        try await archive.makeFolders()
        try await site.startSimulator(
            DrillGateway(latencyMilliseconds: Self.gateway.latency, streams: Self.gateway.streams)
        )
        var hosts: [DrillHost] = []
        for name in ["host1", "host2"] {
            let host = try site.addHost(name, DrillHostSetup(children: 1))
            try await host.start()
            hosts.append(host)
        }
        let small = try await site.audience(count: 2_000, prefix: "before")
        let before = try await site.deliver(to: small, messages: 2_000)
        try await site.untilOver(before)
        try await archive.makeBackup()
        var fates = RestoreFates(site)
        let going = try await site.deliver(to: try await site.audience(prefix: "going")) {
            $0.keepTrying()
            $0.messagesPerSecond = Self.rate
        }
        let stopped = try await site.deliver(
            to: try await site.audience(prefix: "stopped"),
            allows: [.canceled, .unknown]
        ) {
            $0.keepTrying()
            $0.messagesPerSecond = Self.rate
        }
        try await fates.untilAccepted([going, stopped], Self.leastAccepted)
        try await archive.markMoment(site.store())
        site.note("the moment to which the database will be restored")
        let forgotten = try await site.deliver(to: small, messages: 2_000)
        try await fates.untilAccepted([going, stopped], 2 * Self.leastAccepted)
        try await fates.untilAccepted([forgotten], 500)
        try await fates.rememberKeys()
        try await site.fault("the database is lost, then the hosts die") {
            try await site.cluster.stop(.immediate)
            // Answers that arrive meanwhile are only in the journals.
            try await site.pause(milliseconds: 300...1_500)
            for host in hosts { try await host.killAll() }
        }
        try await fates.takeStock(hosts, forgotten)
        try await archive.restore(site)
        try await fates.compare(with: [before, going, stopped])
        try await followTheGuide(site, hosts, stop: stopped)
        try await site.untilOver()
        try await fates.judge(sent: [before, going], stopped: stopped)
    }

    /// The steps of `Deploy/guide/backup.md` after the database is back.
    private func followTheGuide(_ site: DrillSite, _ hosts: [DrillHost], stop: DrillDelivery) async throws {
        let words = try await ToolRun.run(
            site.programs.pushmta,
            ["migrate", "--restored", "--config", hosts[0].settingsFile]
        )
        site.note(words.split(separator: "\n").joined(separator: " "))
        try await site.store().stopDelivery(stop.id)
        for host in hosts { try await host.start() }
        // Journals from before the restore must not affect new deliveries.
        let new = try await site.deliver(to: try await site.audience(count: 2_000, prefix: "after"), messages: 2_000)
        try await site.untilOver(new)
    }
}

/// A private cluster with a WAL archive and a base backup.
struct ArchivedCluster: Sendable {
    private static let moment = "drill"
    /// How long the archiver may take for a segment, and a restore for all segments.
    private static let limit = Duration.seconds(60)

    private let cluster: PrivateCluster
    private var archive: String { cluster.folder + "/archive" }
    private var backup: String { cluster.folder + "/backup" }

    init(_ cluster: PrivateCluster) {
        self.cluster = cluster
    }

    /// The settings that turn on archiving.
    var settings: String {
        "archive_mode = on\narchive_command = 'test ! -f \(archive)/%f && cp %p \(archive)/%f'\n"
    }

    /// Creates the archive's folder.
    func makeFolders() async throws {
        try await runAsServer("/bin/mkdir", ["-m", "0700", archive])
    }

    func makeBackup() async throws {
        try await cluster.run(
            "pg_basebackup",
            [
                "-h", cluster.folder, "-p", String(cluster.port), "-U", PrivateCluster.role, "-D", backup, "-X", "none",
                "--no-manifest", "-c", "fast",
            ]
        )
    }

    /// Marks the moment to restore to, and waits until it is archived.
    func markMoment(_ store: Store) async throws {
        let file = archive + "/" + (try await store.markRestorePoint(Self.moment))
        let deadline = ContinuousClock.now.advanced(by: Self.limit)
        while !FileManager.default.fileExists(atPath: file) {
            guard ContinuousClock.now < deadline else {
                throw DrillFailure("\(file) was not archived within \(Self.limit)")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Deletes the data, restores to the marked moment, and waits until the server accepts writes.
    func restore(_ site: DrillSite) async throws {
        try FileManager.default.removeItem(atPath: cluster.data)
        try await runAsServer("/bin/cp", ["-a", backup, cluster.data])
        try await runAsServer("/usr/bin/touch", [cluster.data + "/recovery.signal"])
        let file = cluster.data + "/postgresql.auto.conf"
        let text =
            try String(contentsOfFile: file, encoding: .utf8)
                + """
                restore_command = 'cp \(archive)/%f %p'
                recovery_target_name = '\(Self.moment)'
                recovery_target_action = promote
                archive_mode = off
                # No client may connect before the restore is complete.
                hot_standby = off

                """
        try text.write(toFile: file, atomically: false, encoding: .utf8)
        try await cluster.start()
        try await site.until("the restored database accepts writes", within: Self.limit) {
            try await !site.store().isReadOnly()
        }
    }

    private func runAsServer(_ program: String, _ arguments: [String]) async throws {
        try await ToolRun.run(program, arguments, as: cluster.user)
    }
}
