import Administration
import Foundation
import LaboratoryStore
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

    /// Makes a new replica and waits until it has everything: a primary that died before would take outcomes with it.
    private func follow(_ site: DrillSite, _ pair: ReplicaPair) async throws {
        try await pair.attach()
        try await site.until("a replica that has everything", within: .seconds(60), every: .milliseconds(50)) {
            (try? await site.store().hasSynchronousReplica()) ?? false
        }
    }
}

/// A primary and its synchronous replica, of which either can take the other's place.
///
/// Synchronous means that what was acknowledged to a client is on both, so a fail-over loses nothing.
actor ReplicaPair {
    /// How a replica names itself to its primary.
    private static let standbyName = "replica"

    private var primary: PrivateCluster
    private var replica: PrivateCluster

    /// A pair out of a running primary and the replica that `make` is to make of it.
    ///
    /// - Throws: `CommandFailure` if PostgreSQL is not installed.
    init(primary: PrivateCluster) throws {
        self.primary = primary
        replica = try Self.second(of: primary)
    }

    /// The cluster beside another one; nothing is made.
    static func second(of cluster: PrivateCluster) throws -> PrivateCluster {
        var second = try PrivateCluster(folder: cluster.folder + "b")
        second.port = cluster.port
        return second
    }

    /// The connection string that finds whichever of the two is the primary.
    static func connectionString(_ cluster: PrivateCluster, database: String) throws -> String {
        let second = try second(of: cluster)
        return
            "host=\(cluster.folder),\(second.folder) port=\(cluster.port),\(second.port) user=\(PrivateCluster.role) "
            + "dbname=\(database) target_session_attrs=read-write"
    }

    /// A command for the shell that stops and removes what lies beside the cluster of a drill that could not do it itself.
    static func removalCommand(_ cluster: PrivateCluster) throws -> String {
        let second = try second(of: cluster)
        // SIGQUIT is PostgreSQL's immediate shutdown.
        return "kill -QUIT $(head -n 1 '\(second.data)/postmaster.pid') 2>/dev/null; sleep 1; rm -rf '\(second.folder)'"
    }

    /// Makes the replica out of the primary's data and has the primary wait for it with every commit from now on.
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
                // A primary that nobody follows yet must not wait for somebody.
                "synchronous_standby_names = ''",
            ],
            of: replica
        )
        try await replica.start()
        try set(["synchronous_standby_names = '\(Self.standbyName)'"], of: primary)
        try await primary.run("pg_ctl", ["reload", "-D", primary.data, "-s"])
    }

    /// The primary dies and its replica takes its place; the other one is not there until `attach` makes it the replica.
    func failOver() async throws {
        try await primary.stop(.immediate)
        try await replica.run("pg_ctl", ["promote", "-D", replica.data, "-w", "-t", "60", "-s"])
        swap(&primary, &replica)
    }

    /// Stops both and removes the one that does not belong to the site.
    func remove(keeping own: PrivateCluster) async {
        for cluster in [primary, replica] {
            try? await cluster.stop(.immediate)
            if cluster.folder != own.folder { try? cluster.remove() }
        }
    }

    /// Appends settings, of which the last of a name counts, without changing the file's owner.
    private func set(_ lines: [String], of cluster: PrivateCluster) throws {
        let file = cluster.data + "/postgresql.auto.conf"
        let text = try String(contentsOfFile: file, encoding: .utf8) + lines.joined(separator: "\n") + "\n"
        try text.write(toFile: file, atomically: false, encoding: .utf8)
    }
}
