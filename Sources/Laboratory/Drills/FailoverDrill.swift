import Administration
import Foundation
import LaboratoryStore
import Store

/// The primary repeatedly dies, and its synchronous replica takes over.
struct FailoverDrill: Drill {
    let name = "failover"
    let summary = "primary killed, synchronous replica promoted; connections by target_session_attrs=read-write"
    let promise = "lost 0, duplicates 0: every acknowledged commit is on both servers"

    func run(_ site: DrillSite) async throws {
        let own = site.cluster
        let pair = try ReplicaPair(primary: own)
        site.onCleanup { await pair.remove(keeping: own) }
        site.leaveNote(try ReplicaPair.removalCommand(own))
        let url = try ReplicaPair.connectionString(own, database: TestSite.databaseName)
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

    /// Makes a new replica and waits until it has everything: if the primary died before, outcomes would be lost.
    private func follow(_ site: DrillSite, _ pair: ReplicaPair) async throws {
        try await pair.attach()
        try await site.until("a replica that has everything", within: .seconds(60), every: .milliseconds(50)) {
            (try? await site.store().hasSynchronousReplica()) ?? false
        }
    }
}

/// A primary and its synchronous replica, either of which can take over from the other.
///
/// Every acknowledged commit is on both, so a failover loses nothing.
actor ReplicaPair {
    /// The application name of a replica at its primary.
    private static let standbyName = "replica"

    private var primary: PrivateCluster
    private var replica: PrivateCluster

    /// A pair of a running primary and a replica, which `attach` creates.
    ///
    /// - Throws: `CommandFailure` if PostgreSQL is not installed.
    init(primary: PrivateCluster) throws {
        self.primary = primary
        replica = try Self.second(of: primary)
    }

    /// The second cluster of a pair; nothing is created.
    static func second(of cluster: PrivateCluster) throws -> PrivateCluster {
        var second = try PrivateCluster(folder: cluster.folder + "b")
        second.port = cluster.port
        return second
    }

    /// The connection string that finds the primary among the two.
    static func connectionString(_ cluster: PrivateCluster, database: String) throws -> String {
        let second = try second(of: cluster)
        return
            "host=\(cluster.folder),\(second.folder) port=\(cluster.port),\(second.port) user=\(PrivateCluster.role) "
            + "dbname=\(database) target_session_attrs=read-write"
    }

    /// A shell command that stops and removes the second cluster, for a drill that could not do it itself.
    static func removalCommand(_ cluster: PrivateCluster) throws -> String {
        let second = try second(of: cluster)
        // SIGQUIT is PostgreSQL's immediate shutdown.
        return "kill -QUIT $(head -n 1 '\(second.data)/postmaster.pid') 2>/dev/null; sleep 1; rm -rf '\(second.folder)'"
    }

    /// Makes the replica from a base backup of the primary. From now on the primary waits for it with every commit.
    func attach() async throws {
        try await replica.makeFolder()
        if FileManager.default.fileExists(atPath: replica.data) {
            try FileManager.default.removeItem(atPath: replica.data)
        }
        try await primary.run(
            "pg_basebackup",
            [
                "-h", primary.folder, "-p", String(primary.port), "-U", PrivateCluster.role, "-D", replica.data, "-R",
                "-X", "stream", "-c", "fast",
            ]
        )
        let source = "host=\(primary.folder) port=\(primary.port) user=\(PrivateCluster.role)"
        try set(
            [
                "unix_socket_directories = '\(replica.folder)'",
                "primary_conninfo = '\(source) application_name=\(Self.standbyName)'",
                // A primary without a replica must not wait for one.
                "synchronous_standby_names = ''",
            ],
            of: replica
        )
        try await replica.start()
        try set(["synchronous_standby_names = '\(Self.standbyName)'"], of: primary)
        try await primary.run("pg_ctl", ["reload", "-D", primary.data, "-s"])
    }

    /// The primary dies and its replica takes over. There is no replica until `attach` makes one of the old primary.
    func failOver() async throws {
        try await primary.stop(.immediate)
        try await replica.run("pg_ctl", ["promote", "-D", replica.data, "-w", "-t", "60", "-s"])
        swap(&primary, &replica)
    }

    /// Stops both servers and removes the one that does not belong to the site.
    func remove(keeping own: PrivateCluster) async {
        for cluster in [primary, replica] {
            try? await cluster.stop(.immediate)
            if cluster.folder != own.folder { try? cluster.remove() }
        }
    }

    /// Appends settings without changing the file's owner. The last setting of a name counts.
    private func set(_ lines: [String], of cluster: PrivateCluster) throws {
        let file = cluster.data + "/postgresql.auto.conf"
        let text = try String(contentsOfFile: file, encoding: .utf8) + lines.joined(separator: "\n") + "\n"
        try text.write(toFile: file, atomically: false, encoding: .utf8)
    }
}
