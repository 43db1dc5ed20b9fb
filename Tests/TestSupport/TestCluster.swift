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
        return try await .connect(PostgresConfiguration(connectionString(database: database), applicationName: name))
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
