import Foundation

/// A PostgreSQL cluster of our own for trials and benches: a real server on a Unix socket, which no other user can reach.
///
/// PostgreSQL refuses to run as root. Then it runs as `postgres` or `nobody`, and root still connects, as root enters every
/// folder. Data and socket are in one short folder, because the path of a socket has 107 bytes at most.
struct PrivateCluster: Sendable {
    /// The superuser of the cluster.
    static let role = "pushmta"
    /// The name that the socket's file carries; nothing listens on a network port.
    static let port = 5432

    /// The folder of data, socket and log.
    let folder: String
    /// The folder of the server's programs.
    let programs: String
    /// The user that the server runs as, if not the caller.
    let user: SystemUser?

    /// Where the data is.
    var data: String { folder + "/data" }
    /// The server's log.
    var log: String { folder + "/postgres.log" }

    /// Finds the server's programs and the user for it.
    ///
    /// - Throws: `CommandFailure` if PostgreSQL is not installed or root finds no user that the server can run as.
    init(folder: String) throws {
        self.folder = folder
        programs = try Self.findPrograms()
        user = try Self.findUser()
    }

    /// The connection string of a database of the cluster.
    func connectionString(_ database: String) -> String {
        "host=\(folder) port=\(Self.port) user=\(Self.role) dbname=\(database)"
    }

    /// Starts the server; makes the cluster first if there is none. A server that runs already is left running.
    func start() async throws {
        try await makeFolder()
        if !FileManager.default.fileExists(atPath: data + "/PG_VERSION") { try await initialise() }
        guard await !isRunning() else { return }
        try await run("pg_ctl", ["start", "-D", data, "-l", log, "-w", "-t", "60", "-s"])
    }

    /// Stops the server if it runs: connections are ended, the data is complete.
    func stop() async throws {
        guard await isRunning() else { return }
        try await run("pg_ctl", ["stop", "-D", data, "-m", "fast", "-w", "-t", "60", "-s"])
    }

    /// Removes the folder. The server has to be stopped.
    func remove() throws {
        guard FileManager.default.fileExists(atPath: folder) else { return }
        try FileManager.default.removeItem(atPath: folder)
    }

    /// Makes the database anew, without anything of an earlier one; its connections are ended.
    func recreateDatabase(_ name: String) async throws {
        let connection = ["-h", folder, "-p", String(Self.port), "-U", Self.role]
        try await run("dropdb", connection + ["--if-exists", "--force", name])
        try await run("createdb", connection + [name])
    }

    /// Whether the server runs.
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
        let text = try String(contentsOfFile: file, encoding: .utf8) + PrivateClusterSettings.text(socketFolder: folder)
        try text.write(toFile: file, atomically: false, encoding: .utf8)
    }

    @discardableResult
    private func run(_ program: String, _ arguments: [String]) async throws -> String {
        do {
            return try await ToolRun.run(programs + "/" + program, arguments, as: user)
        } catch let failure as CommandFailure {
            throw CommandFailure(
                .unavailable,
                "The private PostgreSQL cluster in \(folder): \(failure). Its log is \(log)."
            )
        }
    }

    /// Makes the folder; refuses one that somebody else made, as everybody may write where it lies.
    private func makeFolder() async throws {
        let manager = FileManager.default
        let owner = user?.userID ?? getuid()
        if let attributes = try? manager.attributesOfItem(atPath: folder) {
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            guard isFolder, (attributes[.ownerAccountID] as? NSNumber)?.uint32Value == owner else {
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

    private static func findPrograms() throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap { Int($0) }
            .sorted()
        let search = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
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
