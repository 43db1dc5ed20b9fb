// TestSupport: what the tests of several modules share: PostgreSQL servers, databases, a pooler, waiting, chance.
//
// WHAT IT DOES
//   Starts real PostgreSQL servers for a test run, clones a prepared database for each test, starts pgbouncer in front, waits
//   for conditions with a deadline, and gives seeded random numbers.
//
// HOW IT IS USED
//   TestDatabase.create() gives a test a database with the product's schema in TestCluster.shared(); create(_:) one of
//   another TestTemplate. TestCluster.start(...) is for a test that stops its server. eventually(_:within:_:) is the one
//   place that asks again and again. TestRandom.seed(for:) prints the seed; TestCases.count(_:) says how many cases.
//
// THREADS AND TASKS
//   The shared cluster is started by the first test that needs it; a template is made once (TemplateStore, an actor) and
//   cloned. A command (Command.run) is waited for on a thread of its own.
//
// STATE AND FILES
//   A folder pushmta-test-… in /tmp for each cluster, with data, socket and log, and a lock on it. It goes at the end of the
//   process; what a killed run left, the next shared cluster removes. Databases go with their cluster, or with drop(). fsync
//   and the other settings of durability stay on.
//
// FAILURES
//   TestSupportError says what could not be started, and which package is missing. As root the servers run as postgres or
//   nobody.
//
// SETTINGS
//   PUSHMTA_POSTGRESQL (the folder of PostgreSQL's programs; without it those of the newest version that is installed);
//   PUSHMTA_TEST_CASES (cases of random tests) and PUSHMTA_TEST_SEED (their seed); PUSHMTA_TEST_SHADOWS=1 puts objects in the
//   place of PostgreSQL's own into each database (ShadowNames).
//
// SEE ALSO
//   ClusterDirectory.swift, TestDatabase.swift, TestTemplate.swift, TestPooler.swift, Eventually.swift, TestRandom.swift

import PostgresClient

/// A real PostgreSQL server of the test run's own, reached over a socket in a short directory, gone when the process ends.
public final class TestCluster: Sendable {
    private let installation: PostgresInstallation
    private let directory: ClusterDirectory
    private let tlsPort: UInt16?
    let templates = TemplateStore()

    private static let sharedCluster = Task {
        ClusterDirectory.sweep()
        return try await start()
    }

    /// The one cluster that all tests of the run share; started by the first.
    public static func shared() async throws -> TestCluster { try await sharedCluster.value }

    /// Starts a cluster for one test alone, which may stop and restart it.
    ///
    /// - Parameter tlsPort: also listens there, on localhost, with TLS; see ``tlsConnectionString(_:)``.
    public static func start(tlsPort: UInt16? = nil) async throws -> TestCluster {
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
    public func connectionString(database: String = "postgres") -> String {
        "host=\(directory.path) port=\(tlsPort ?? 5432) user=postgres dbname=\(database)"
    }

    /// The libpq connection string for TLS over TCP, with its verification mode; the certificate is for `localhost`.
    public func tlsConnectionString(sslmode: String) -> String {
        let root = "\(directory.path)/server.crt"
        return "host=localhost hostaddr=127.0.0.1 port=\(tlsPort ?? 5432) user=postgres dbname=postgres"
            + " sslmode=\(sslmode) sslrootcert=\(root)"
    }

    /// A connection to the database for administration.
    public func connect(database: String = "postgres") async throws -> PostgresConnection {
        let name = PostgresApplicationName(role: "test", host: "localhost", pid: 0)
        return try await .forPeople(PostgresConfiguration(connectionString(database: database), applicationName: name))
    }

    /// Starts the server after ``stop(immediately:)``.
    public func launch() async throws {
        let log = "\(directory.path)/log"
        let arguments = ["-D", data, "-l", log, "-w", "-t", "120", "start"]
        do {
            try await installation.run("pg_ctl", arguments, log: commandLog)
        } catch {
            throw TestSupportError("PostgreSQL did not start, see \(log): \(error)")
        }
    }

    /// Stops the server; `immediately` as a crash would, so that it recovers at the next start.
    public func stop(immediately: Bool = false) async throws {
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
        // fsync, full_page_writes and synchronous_commit stay on, as everywhere.
        var settings = [
            "unix_socket_directories=\(directory.path)", "max_connections=200",
            "shared_buffers=64MB", "max_wal_size=2GB",
            // The pause is for all databases together, and a run makes hundreds.
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
