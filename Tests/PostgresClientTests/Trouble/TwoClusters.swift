import Foundation
import PostgresClient
import TestSupport
import Testing

/// Two servers of a test's own that know nothing of each other, reached by one connection string.
struct TwoClusters {
    let first: TestCluster
    let second: TestCluster

    static func run(_ body: (TwoClusters) async throws -> Void) async throws {
        async let first = TestCluster.start()
        async let second = TestCluster.start()
        let clusters = try await TwoClusters(first: first, second: second)
        for (cluster, name) in [(clusters.first, "first"), (clusters.second, "second")] {
            let connection = try await cluster.connect()
            try await connection.run(
                script: """
                    CREATE TABLE public.place (name text); INSERT INTO public.place VALUES ('\(name)');
                    CREATE TABLE public.work (id bigint)
                    """
            )
            await connection.close()
        }
        try await body(clusters)
        try? await clusters.first.stop()
        try? await clusters.second.stop()
    }

    /// How to connect to the first of the two that can write.
    func configuration(_ rest: String = "target_session_attrs=read-write") -> PostgresConfiguration {
        let hosts = [first, second].map(Self.folder).joined(separator: ",")
        let name = PostgresApplicationName(role: "test", host: "localhost", pid: 1)
        return PostgresConfiguration(
            "host=\(hosts) port=5432,5432 user=postgres dbname=postgres \(rest)",
            applicationName: name
        )
    }

    private static func folder(_ cluster: TestCluster) -> String {
        let host = cluster.connectionString().split(separator: " ").first { $0.hasPrefix("host=") } ?? ""
        return String(host.dropFirst("host=".count))
    }

    static let place = PostgresStatement("SELECT name FROM public.place")
    static let write = PostgresStatement("INSERT INTO public.work VALUES (1)")

    /// Lets a server write or not, as an administrator does, and waits until new sessions have it so.
    static func setReadOnly(_ cluster: TestCluster, _ isReadOnly: Bool) async throws {
        let value = isReadOnly ? "on" : "off"
        let change = try await cluster.connect()
        try await change.execute(
            PostgresStatement("ALTER SYSTEM SET default_transaction_read_only = \(value)", prepare: false)
        )
        try await change.execute(PostgresStatement("SELECT pg_reload_conf()"))
        try await waitUntil(change, "SELECT current_setting('default_transaction_read_only') = '\(value)'")
        await change.close()
        // The postmaster may be behind its children.
        let deadline = ContinuousClock.now + .seconds(60)
        var isDone = false
        while !isDone {
            try #require(ContinuousClock.now < deadline)
            let fresh = try await cluster.connect()
            isDone = try await fresh.execute(
                PostgresStatement("SELECT current_setting('default_transaction_read_only') = '\(value)'")
            ).bool(0, 0)
            await fresh.close()
        }
    }

    /// The process that makes a server's sessions.
    static func postmaster(_ cluster: TestCluster) async throws -> pid_t {
        let connection = try await cluster.connect()
        let file = try await connection.execute(PostgresStatement("SELECT pg_read_file('postmaster.pid')")).text(0, 0)
        await connection.close()
        return try #require(file.split(separator: "\n").first.flatMap { pid_t($0) })
    }
}
