import Administration
import Foundation

/// A PostgreSQL cluster of our own for test sites and benches: a real server on a Unix socket, which no other user can reach.
///
/// PostgreSQL refuses to run as root. Then it runs as `postgres` or `nobody`, and root still connects, as root enters every
/// folder. The socket is in a short folder, because its path has 107 bytes at most; the data is there too, or in the folder of a site.
struct PrivateCluster: Sendable {
    /// The superuser of the cluster.
    static let role = "pushmta"
    /// The port that the socket's file carries in its name; unless the settings say otherwise nothing listens on a network.
    static let standardPort = 5432

    /// The folder of the socket.
    let folder: String
    /// The folder of data and log: that of the socket, or another one, which is as long as it likes.
    let dataFolder: String
    /// The folder of the server's programs.
    let programs: String
    /// The user that the server runs as, if not the caller.
    let user: SystemUser?
    /// The port: of the socket's name, and of the network where the settings let the server listen there.
    var port = standardPort
    /// Lines of `postgresql.conf` that go behind our own and override them; they count when the cluster is made.
    var extraSettings = ""
    /// Lines of `pg_hba.conf` that go behind those of `initdb`; they count when the cluster is made.
    var extraAccess = ""
    /// What clients connect with, if not over the socket of this server alone: a replica may take its place.
    var connection: String?
    /// Variables that the server's processes get.
    var environment: [String: String] = [:]

    var data: String { dataFolder + "/data" }
    var log: String { dataFolder + "/postgres.log" }
    /// Whether the data is not beside the socket, which then lies in a folder that goes when the server is stopped.
    var hasOwnDataFolder: Bool { dataFolder != folder }

    /// Finds the server's programs and the user for it.
    ///
    /// - Throws: `CommandFailure` if PostgreSQL is not installed or root finds no user that the server can run as.
    init(folder: String) throws {
        self.folder = folder
        dataFolder = folder
        programs = try Self.findPrograms()
        user = try Self.findUser()
    }

    /// A cluster of a site, which keeps its data in the site's folder, so that it goes with it.
    ///
    /// Only where the server runs as another user, who may not enter that folder (as that of root), is the data beside the socket.
    ///
    /// - Throws: as `init(folder:)`.
    init(site: String) throws {
        folder = Self.folder(forSite: site)
        programs = try Self.findPrograms()
        let user = try Self.findUser()
        self.user = user
        let own = site + "/" + Self.siteFolder
        let isThere = FileOwnership(own)?.isFolder == true
        dataFolder = isThere || (user?.mayEnter(site) ?? true) ? own : folder
    }

    /// The folder of the data in that of a site; a link to it where the data lies elsewhere.
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

    /// Makes a user who may do what a role may and nothing else; an earlier one of that name, who owns nothing, goes.
    func recreateUser(_ name: String, memberOf role: String) async throws {
        let connection = ["-h", folder, "-p", String(port), "-U", Self.role]
        try await run("dropuser", connection + ["--if-exists", name])
        try await run("createuser", connection + ["-g", role, name])
    }

    /// Starts the server; makes the cluster first if there is none. A server that runs already is left running.
    func start() async throws {
        try await makeFolder()
        if !FileManager.default.fileExists(atPath: data + "/PG_VERSION") { try await initialise() }
        guard await !isRunning() else { return }
        try await run("pg_ctl", ["start", "-D", data, "-l", log, "-w", "-t", "60", "-s"])
    }

    /// Stops the server if it runs. By default connections are ended and the data is complete.
    func stop(_ mode: PrivateClusterStop = .fast) async throws {
        guard await isRunning() else { return }
        try await run("pg_ctl", ["stop", "-D", data, "-m", mode.rawValue, "-w", "-t", "60", "-s"])
        // It is empty; where it is not, somebody has put something there.
        if hasOwnDataFolder { rmdir(folder) }
    }

    /// Removes the folders. The server has to be stopped.
    func remove() throws {
        for folder in [folder, dataFolder] where FileManager.default.fileExists(atPath: folder) {
            try FileManager.default.removeItem(atPath: folder)
        }
    }

    /// Makes the database anew, without anything of an earlier one; its connections are ended.
    func recreateDatabase(_ name: String) async throws {
        let connection = ["-h", folder, "-p", String(port), "-U", Self.role]
        try await run("dropdb", connection + ["--if-exists", "--force", name])
        try await run("createdb", connection + [name])
    }

    func isRunning() async -> Bool {
        (try? await run("pg_ctl", ["status", "-D", data])) != nil
    }

    /// The id of the server's first process; `nil` if it does not run.
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

    /// Appends to a file of the server without changing its owner.
    private func append(_ text: String, to file: String) throws {
        try (try String(contentsOfFile: file, encoding: .utf8) + text)
            .write(toFile: file, atomically: false, encoding: .utf8)
    }

    /// Runs one of the server's programs as the server's user.
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

    /// Makes the folder; refuses one that somebody else made, as everybody may write where it lies.
    func makeFolder() async throws {
        for folder in Set([folder, dataFolder]) { try makeFolder(folder) }
    }

    private func makeFolder(_ folder: String) throws {
        let manager = FileManager.default
        if FileOwnership(folder) != nil {
            guard isOwn(folder) else {
                throw CommandFailure(.unavailable, "\(folder) belongs to somebody else: remove it and start again")
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

    /// The path of one of PostgreSQL's programs, those that the environment names or of the newest version that is installed.
    static func program(_ name: String) throws -> String { try findPrograms() + "/" + name }

    private static func findPrograms() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        if let chosen = environment[SettingsLoader.postgresVariable], !chosen.isEmpty {
            guard FileManager.default.isExecutableFile(atPath: chosen + "/initdb") else {
                throw CommandFailure(
                    .unavailable,
                    "\(SettingsLoader.postgresVariable) is \(chosen), where there is no initdb: name a folder of PostgreSQL's programs, or unset it"
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
                "PostgreSQL does not run as root and there is no user postgres or nobody to run it as"
            )
        }
        return user
    }
}

extension PrivateCluster {
    /// Whether there is a folder that this user, or the server's, has made: as everybody may write where it lies, it may be
    /// another's.
    var isOwn: Bool { isOwn(folder) }

    fileprivate func isOwn(_ folder: String) -> Bool {
        guard let ownership = FileOwnership(folder) else { return false }
        return ownership.isFolder && ownership.owner == user?.userID ?? getuid() && ownership.permissions & 0o022 == 0
    }

    /// The folder of the cluster of a site: short, as the path of a socket has 107 bytes at most.
    static func folder(forSite folder: String) -> String {
        "/tmp/pushmta-\(getuid())-\(shortName(of: folder))"
    }

    /// Eight hexadecimal digits that tell folders apart (FNV-1a).
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
    /// Durability is on, as in production. Only what depends on the size of the machine differs from PostgreSQL's defaults:
    /// the defaults are made for 1 GB of WAL between checkpoints, which a million messages use up in seconds.
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

/// How a server is stopped, with `pg_ctl`'s own words.
enum PrivateClusterStop: String, Sendable, CaseIterable {
    /// Connections are ended, what they did not commit is rolled back, the data is complete.
    case fast
    /// As after a crash: nothing is finished, and the next start recovers from the WAL.
    case immediate
}

/// What a path is and whose, links not followed.
struct FileOwnership: Sendable, Equatable {
    /// Whether it is a folder itself, not a link to one.
    let isFolder: Bool
    /// The numeric id of its owner.
    let owner: UInt32
    /// The numeric id of its group.
    let group: UInt32
    let permissions: UInt32

    /// Looks at a path; `nil` if there is nothing.
    init?(_ path: String) {
        // `attributesOfItem` does not follow a link in the last part of the path.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let owner = attributes[.ownerAccountID] as? NSNumber,
            let group = attributes[.groupOwnerAccountID] as? NSNumber,
            let permissions = attributes[.posixPermissions] as? NSNumber
        else { return nil }
        isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
        self.owner = owner.uint32Value
        self.group = group.uint32Value
        self.permissions = permissions.uint32Value
    }

    /// Whether it is a folder of this user that nobody else can write in.
    var isOwnFolder: Bool { isFolder && owner == getuid() && permissions & 0o022 == 0 }
}
