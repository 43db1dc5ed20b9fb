import Administration
import Foundation

/// A private PostgreSQL cluster for test sites and benches: a real server on a Unix socket that no other user can
/// reach.
///
/// PostgreSQL refuses to run as root. For root it runs as `postgres` or `nobody`; root can still connect, as root can
/// enter every folder. The socket is in a folder with a short path, because a socket's path is limited to 107 bytes.
/// The data is in the same folder, or in a site's folder.
struct PrivateCluster: Sendable {
    /// The superuser of the cluster.
    static let role = "pushmta"
    /// The port number in the socket's file name. Unless the settings say otherwise, the server does not listen on a
    /// network.
    static let standardPort = 5432

    /// The folder of the socket.
    let folder: String
    /// The folder of data and log: the socket's folder, or another one, whose path may be long.
    let dataFolder: String
    /// The folder of PostgreSQL's programs.
    let programs: String
    /// The user that the server runs as; `nil`: the caller.
    let user: SystemUser?
    /// The port in the socket's name, and on the network if the settings let the server listen there.
    var port = standardPort
    /// Lines that are appended to `postgresql.conf` and override the others. They are used when the cluster is created.
    var extraSettings = ""
    /// Lines that are appended to the `pg_hba.conf` of `initdb`. They are used when the cluster is created.
    var extraAccess = ""
    /// The connection string for clients if it is not the socket of this server alone. For example, a replica may take
    /// over.
    var connection: String?
    /// Environment variables for the server's processes.
    var environment: [String: String] = [:]

    var data: String { dataFolder + "/data" }
    var log: String { dataFolder + "/postgres.log" }
    /// Whether the data has its own folder. The socket's folder is then removed when the server is stopped.
    var hasOwnDataFolder: Bool { dataFolder != folder }

    /// Finds PostgreSQL's programs and the user to run the server as.
    ///
    /// - Throws: `CommandFailure` if PostgreSQL is not installed, or if the caller is root and no user for the server
    ///   exists.
    init(folder: String) throws {
        self.folder = folder
        dataFolder = folder
        programs = try Self.findPrograms()
        user = try Self.findUser()
    }

    /// A site's cluster, which keeps its data in the site's folder, so that both are removed together.
    ///
    /// If the server runs as another user who may not enter that folder (such as root's home), the data is next to the
    /// socket.
    ///
    /// - Throws: The same as `init(folder:)`.
    init(site: String) throws {
        folder = Self.folder(forSite: site)
        programs = try Self.findPrograms()
        let user = try Self.findUser()
        self.user = user
        let own = site + "/" + Self.siteFolder
        let isThere = FileOwnership(own)?.isFolder == true
        dataFolder = isThere || (user?.mayEnter(site) ?? true) ? own : folder
    }

    /// The name of the data folder in a site's folder. It is a link if the data is elsewhere.
    static let siteFolder = "postgres"

    /// The connection string of a database of the cluster.
    func connectionString(_ database: String) -> String {
        connection ?? connectionString(database, host: folder)
    }

    /// The connection string of a database of the cluster over this host: an address that the server listens on, or the
    /// folder of its socket.
    func connectionString(_ database: String, host: String, user: String = role) -> String {
        "host=\(host) port=\(port) user=\(user) dbname=\(database)"
    }

    /// Creates a database user with exactly the privileges of a role. An existing user of that name, which must own
    /// nothing, is dropped first.
    func recreateUser(_ name: String, memberOf role: String) async throws {
        let connection = ["-h", folder, "-p", String(port), "-U", Self.role]
        try await run("dropuser", connection + ["--if-exists", name])
        try await run("createuser", connection + ["-g", role, name])
    }

    /// Starts the server, and creates the cluster first if it does not exist. A running server is left running.
    func start() async throws {
        try await makeFolder()
        if !FileManager.default.fileExists(atPath: data + "/PG_VERSION") { try await initialise() }
        guard await !isRunning() else { return }
        try await run("pg_ctl", ["start", "-D", data, "-l", log, "-w", "-t", "60", "-s"])
    }

    /// Stops the server if it runs. By default, connections are terminated and the data is complete.
    func stop(_ mode: PrivateClusterStop = .fast) async throws {
        guard await isRunning() else { return }
        try await run("pg_ctl", ["stop", "-D", data, "-m", mode.rawValue, "-w", "-t", "60", "-s"])
        // The folder is empty unless someone put something there; then `rmdir` leaves it.
        if hasOwnDataFolder { rmdir(folder) }
    }

    /// Removes the folders. The server must be stopped.
    func remove() throws {
        for folder in [folder, dataFolder] where FileManager.default.fileExists(atPath: folder) {
            try FileManager.default.removeItem(atPath: folder)
        }
    }

    /// Drops and recreates the database; its connections are terminated.
    func recreateDatabase(_ name: String) async throws {
        let connection = ["-h", folder, "-p", String(port), "-U", Self.role]
        try await run("dropdb", connection + ["--if-exists", "--force", name])
        try await run("createdb", connection + [name])
    }

    func isRunning() async -> Bool {
        (try? await run("pg_ctl", ["status", "-D", data])) != nil
    }

    /// The process id of the postmaster; `nil` if the server does not run.
    var processID: Int32? {
        guard let text = try? String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8) else { return nil }
        return text.split(separator: "\n").first.flatMap { Int32($0) }
    }

    private func initialise() async throws {
        try await run(
            "initdb",
            ["-D", data, "-U", Self.role, "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions"]
        )
        let file = data + "/postgresql.auto.conf"
        try append(PrivateClusterSettings.text(socketFolder: folder, port: port) + extraSettings + "\n", to: file)
        if !extraAccess.isEmpty { try append(extraAccess + "\n", to: data + "/pg_hba.conf") }
    }

    /// Appends to one of the server's files without changing the file's owner.
    private func append(_ text: String, to file: String) throws {
        try (try String(contentsOfFile: file, encoding: .utf8) + text)
            .write(toFile: file, atomically: false, encoding: .utf8)
    }

    /// Runs one of PostgreSQL's programs as the server's user.
    ///
    /// - Returns: What it printed.
    @discardableResult
    func run(_ program: String, _ arguments: [String]) async throws -> String {
        do {
            return try await ToolRun.run(programs + "/" + program, arguments, as: user, environment: environment)
        } catch let failure as CommandFailure {
            throw CommandFailure(
                .unavailable,
                "The private PostgreSQL cluster in \(folder): \(failure). Its log is \(log)."
            )
        }
    }

    /// Creates the folder. It rejects an existing folder of another user, as every user may create folders there.
    func makeFolder() async throws {
        for folder in Set([folder, dataFolder]) { try makeFolder(folder) }
    }

    private func makeFolder(_ folder: String) throws {
        let manager = FileManager.default
        if FileOwnership(folder) != nil {
            guard isOwn(folder) else {
                throw CommandFailure(.unavailable, "\(folder) belongs to another user: remove it and start again")
            }
            return
        }
        try manager.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        guard let user else { return }
        try manager.setAttributes(
            [.ownerAccountID: NSNumber(value: user.userID), .groupOwnerAccountID: NSNumber(value: user.groupID)],
            ofItemAtPath: folder
        )
    }

    /// The path of one of PostgreSQL's programs: from the folder that the environment names, or else of the newest
    /// installed version.
    static func program(_ name: String) throws -> String { try findPrograms() + "/" + name }

    private static func findPrograms() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        if let chosen = environment[SettingsLoader.postgresVariable], !chosen.isEmpty {
            guard FileManager.default.isExecutableFile(atPath: chosen + "/initdb") else {
                throw CommandFailure(
                    .unavailable,
                    "\(SettingsLoader.postgresVariable) is \(chosen), which has no initdb: set it to the folder of "
                        + "PostgreSQL's programs, or unset it"
                )
            }
            return chosen
        }
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap { Int($0) }
            .sorted()
        let search = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let folders = versions.reversed().map { "\(root)/\($0)/bin" } + search
        guard let found = folders.first(where: { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }) else {
            throw CommandFailure(
                .unavailable,
                "No PostgreSQL server is installed: on Debian, run apt-get install postgresql"
            )
        }
        return found
    }

    private static func findUser() throws -> SystemUser? {
        guard getuid() == 0 else { return nil }
        guard let user = SystemUser(named: "postgres") ?? SystemUser(named: "nobody") else {
            throw CommandFailure(
                .unavailable,
                "PostgreSQL does not run as root, and there is no user postgres or nobody: create one, or run as "
                    + "another user"
            )
        }
        return user
    }
}

extension PrivateCluster {
    /// Whether the folder exists and this user or the server's user created it. Every user may create folders there, so
    /// it could be another user's.
    var isOwn: Bool { isOwn(folder) }

    fileprivate func isOwn(_ folder: String) -> Bool {
        guard let ownership = FileOwnership(folder) else { return false }
        return ownership.isFolder && ownership.owner == user?.userID ?? getuid() && ownership.permissions & 0o022 == 0
    }

    /// The folder of a site's cluster. It is short because a socket's path is limited to 107 bytes.
    static func folder(forSite folder: String) -> String {
        "/tmp/pushmta-\(getuid())-\(shortName(of: folder))"
    }

    /// Eight hexadecimal digits that distinguish folders (FNV-1a).
    private static func shortName(of path: String) -> String {
        let hash = path.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let text = String(UInt32(truncatingIfNeeded: hash ^ (hash >> 32)), radix: 16)
        return String(repeating: "0", count: 8 - text.count) + text
    }
}

/// The settings of a private cluster.
enum PrivateClusterSettings {
    /// The lines that follow what `initdb` wrote.
    ///
    /// Durability is on, as in production. Only what depends on the machine's size differs from PostgreSQL's defaults.
    /// These allow 1 GB of WAL between checkpoints, which a million messages use up in seconds.
    static func text(socketFolder: String, port: Int) -> String {
        """
        fsync = on
        full_page_writes = on
        synchronous_commit = on
        listen_addresses = ''
        unix_socket_directories = '\(socketFolder)'
        unix_socket_permissions = 0700
        port = \(port)
        max_connections = 100
        shared_buffers = 256MB
        wal_buffers = 16MB
        max_wal_size = 4GB
        min_wal_size = 1GB
        checkpoint_timeout = 15min
        jit = off

        """
    }
}

/// The shutdown modes of `pg_ctl`.
enum PrivateClusterStop: String, Sendable, CaseIterable {
    /// Connections are terminated, uncommitted transactions are rolled back, and the data is complete.
    case fast
    /// Like a crash: nothing is finished, and the next start recovers from the WAL.
    case immediate
}
