import Foundation

/// A pgbouncer for one test, in front of a test cluster and reached over a socket.
package final class TestPooler: Sendable {
    /// When a server session returns to the pool.
    package enum Mode: String, Sendable, CaseIterable {
        case session
        case transaction
        case statement
    }

    private let installation: PostgresInstallation
    private let folder: String

    /// Starts pgbouncer.
    ///
    /// - Parameters:
    ///   - server: the folder of the server's socket, its port and its user.
    ///   - sessions: the maximum number of server sessions for each database.
    ///   - goesRound: whether it hands out the least recently used session instead of the most recently used one.
    package init(
        _ mode: Mode,
        to server: (folder: String, port: Int, user: String),
        sessions: Int = 20,
        goesRound: Bool = false
    ) async throws {
        installation = try PostgresInstallation.find()
        // The path of a socket has at most 107 bytes.
        folder = "/tmp/pushmta-pooler-\(String(UInt32.random(in: 0 ... .max), radix: 36))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        if let user = installation.user, let entry = getpwnam(user) {
            chown(folder, entry.pointee.pw_uid, entry.pointee.pw_gid)
        }
        let settings = """
            [databases]
            * = host=\(server.folder) port=\(server.port) user=\(server.user)
            [pgbouncer]
            listen_addr =
            listen_port = 6432
            unix_socket_dir = \(folder)
            auth_type = any
            pool_mode = \(mode.rawValue)
            default_pool_size = \(sessions)
            server_round_robin = \(goesRound ? 1 : 0)
            logfile = \(folder)/log
            pidfile = \(folder)/pid
            """
        try settings.write(toFile: "\(folder)/settings", atomically: true, encoding: .utf8)
        let debian = "/usr/sbin/pgbouncer"
        let program = FileManager.default.isExecutableFile(atPath: debian) ? debian : "/usr/bin/pgbouncer"
        do {
            try await Command.run(
                program,
                ["-q", "-d", "\(folder)/settings"],
                asUser: installation.user,
                log: "\(folder).commands"
            )
        } catch {
            throw TestSupportError("pgbouncer does not start (package pgbouncer): \(error)")
        }
        // It moves to the background before it listens.
        try await eventually("pgbouncer listens, or says in \(folder)/log why not") {
            FileManager.default.fileExists(atPath: "\(folder)/.s.PGSQL.6432")
        }
    }

    /// The libpq connection string of a database behind it.
    package func connectionString(database: String) -> String {
        "host=\(folder) port=6432 user=pooled dbname=\(database)"
    }

    /// Stops pgbouncer.
    ///
    /// It uses a signal that cannot be blocked: pgbouncer inherits the signal mask of the thread that started it, and a
    /// pool's thread blocks most signals.
    package func stop() {
        let file = (try? String(contentsOfFile: "\(folder)/pid", encoding: .utf8)) ?? ""
        if let pid = pid_t(file.trimmingCharacters(in: .whitespacesAndNewlines)), pid > 1 { kill(pid, SIGKILL) }
        try? FileManager.default.removeItem(atPath: folder)
        try? FileManager.default.removeItem(atPath: "\(folder).commands")
    }
}

extension TestCluster {
    /// A pooler in front of this cluster.
    package func pooler(
        _ mode: TestPooler.Mode,
        sessions: Int = 20,
        goesRound: Bool = false
    ) async throws -> TestPooler {
        try await TestPooler(mode, to: (socketFolder, 5432, "postgres"), sessions: sessions, goesRound: goesRound)
    }
}
