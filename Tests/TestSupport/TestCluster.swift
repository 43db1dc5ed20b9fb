// TestSupport: helpers for the tests of several modules: PostgreSQL servers, databases, a pooler, waiting, randomness.
//
// WHAT IT DOES
//   Starts real PostgreSQL servers for a test run, clones a prepared database for each test, can put pgbouncer in
//   front, waits for conditions with a deadline, and provides seeded random numbers.
//
// HOW IT IS USED
//   TestDatabase.create() gives a test a database with the product's schema in TestCluster.shared(); create(_:) one
//   from another TestTemplate. TestCluster.start(...) is for a test that stops its server. eventually(_:within:_:) is
//   the only place that polls. TestRandom.seed(for:) prints the seed; TestCases.count(_:) returns the number of cases.
//
// THREADS AND TASKS
//   The first test that needs the shared cluster starts it. A template is created once (TemplateStore, an actor) and
//   cloned. A command (Command.run) is awaited on its own thread.
//
// STATE AND FILES
//   Each cluster has a folder /tmp/pushmta-test-… with data, socket, log and a lock. It is removed at the end of the
//   process. The next shared cluster removes folders that a killed run left. Databases are removed with their cluster,
//   or with drop(). fsync and the other durability settings stay on.
//
// FAILURES
//   TestSupportError says what could not be started and which package is missing. As root, the servers run as the user
//   postgres or nobody.
//
// SETTINGS
//   PUSHMTA_POSTGRESQL (the folder of PostgreSQL's programs; by default those of the newest installed version);
//   PUSHMTA_TEST_CASES (number of cases of random tests) and PUSHMTA_TEST_SEED (their seed); PUSHMTA_TEST_SHADOWS=1
//   creates objects that shadow PostgreSQL's own in each database (ShadowNames).
//
// SEE ALSO
//   ClusterDirectory.swift, TestDatabase.swift, TestTemplate.swift, TestPooler.swift, Eventually.swift,
//   TestRandom.swift

import PostgresClient

/// A real PostgreSQL server of the test run. It is reached over a socket in a directory with a short path, and ends
/// with the process.
package final class TestCluster: Sendable {
    private let installation: PostgresInstallation
    private let directory: ClusterDirectory
    private let tlsPort: UInt16?
    let templates = TemplateStore()

    private static let sharedCluster = Task {
        ClusterDirectory.sweep()
        return try await start()
    }

    /// The cluster that all tests of the run share; the first test starts it.
    package static func shared() async throws -> TestCluster { try await sharedCluster.value }

    /// Starts a cluster for a single test, which may stop and restart it.
    ///
    /// - Parameter tlsPort: a port of localhost on which it also listens, with TLS; see ``tlsConnectionString(_:)``.
    package static func start(tlsPort: UInt16? = nil) async throws -> TestCluster {
        let installation = try PostgresInstallation.find()
        let cluster = TestCluster(installation, try ClusterDirectory(user: installation.user), tlsPort)
        try await cluster.initialise()
        try await cluster.launch()
        return cluster
    }

    private init(_ installation: PostgresInstallation, _ directory: ClusterDirectory, _ tlsPort: UInt16?) {
        self.installation = installation
        self.directory = directory
        self.tlsPort = tlsPort
    }

    deinit { directory.clear() }

    /// The libpq connection string of a database.
    package func connectionString(database: String = "postgres") -> String {
        "host=\(directory.path) port=\(tlsPort ?? 5432) user=postgres dbname=\(database)"
    }

    /// The libpq connection string for TLS over TCP, with a verification mode; the certificate is for `localhost`.
    package func tlsConnectionString(sslmode: String) -> String {
        let root = "\(directory.path)/server.crt"
        return "host=localhost hostaddr=127.0.0.1 port=\(tlsPort ?? 5432) user=postgres dbname=postgres"
            + " sslmode=\(sslmode) sslrootcert=\(root)"
    }

    /// A connection to the administration database.
    package func connect(database: String = "postgres") async throws -> PostgresConnection {
        let name = PostgresApplicationName(role: "test", host: "localhost", pid: 0)
        return try await .forPeople(PostgresConfiguration(connectionString(database: database), applicationName: name))
    }

    /// Starts the server after ``stop(immediately:)``.
    package func launch() async throws {
        let log = "\(directory.path)/log"
        let arguments = ["-D", data, "-l", log, "-w", "-t", "120", "start"]
        do {
            try await installation.run("pg_ctl", arguments, log: commandLog)
        } catch {
            throw TestSupportError("PostgreSQL did not start, see \(log): \(error)")
        }
    }

    /// Stops the server. `immediately` stops it like a crash, so that it recovers at the next start.
    package func stop(immediately: Bool = false) async throws {
        let mode = immediately ? "immediate" : "fast"
        try await installation.run("pg_ctl", ["-D", data, "-w", "-m", mode, "stop"], log: commandLog)
    }

    /// The folder of its socket.
    var socketFolder: String { directory.path }

    private var data: String { "\(directory.path)/data" }
    private var commandLog: String { "\(directory.path)/commands" }

    private func initialise() async throws {
        try await installation.run(
            "initdb",
            ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
            log: commandLog
        )
        // fsync, full_page_writes and synchronous_commit stay on, as in production.
        var settings = [
            "unix_socket_directories=\(directory.path)", "max_connections=200",
            "shared_buffers=64MB", "max_wal_size=2GB",
            // The pause covers all databases together, and a run creates hundreds.
            "autovacuum_naptime=10min",
        ]
        settings += try await tlsSettings()
        let script = settings.map { setting in
            let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return "\(parts[0]) = '\(parts[1])'"
        }
        try installation.append(script, to: "\(data)/postgresql.auto.conf")
    }

    private func tlsSettings() async throws -> [String] {
        guard let tlsPort else { return ["listen_addresses="] }
        let (key, certificate) = ("\(directory.path)/server.key", "\(directory.path)/server.crt")
        let request =
            "req -new -x509 -nodes -days 2 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1"
            + " -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout \(key) -out \(certificate)"
        let arguments = request.split(separator: " ").map(String.init)
        try await Command.run("/usr/bin/openssl", arguments, asUser: installation.user, log: commandLog)
        return [
            "listen_addresses=127.0.0.1", "port=\(tlsPort)", "ssl=on", "ssl_key_file=\(key)",
            "ssl_cert_file=\(certificate)",
        ]
    }
}
