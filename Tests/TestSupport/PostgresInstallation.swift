import Foundation

/// The location of PostgreSQL's programs, and the user who runs them.
struct PostgresInstallation {
    /// The directory of `initdb` and `pg_ctl`.
    let binaries: String
    /// The user who runs them, because PostgreSQL refuses root. Nil for the current user.
    let user: String?

    /// Finds the installation that `PUSHMTA_POSTGRESQL` names; otherwise the newest one.
    static func find() throws -> PostgresInstallation {
        let user = geteuid() == 0 ? try unprivilegedUser() : nil
        let files = FileManager.default
        let environment = ProcessInfo.processInfo.environment
        if let chosen = environment["PUSHMTA_POSTGRESQL"], !chosen.isEmpty {
            guard files.isExecutableFile(atPath: chosen + "/initdb") else {
                throw TestSupportError("PUSHMTA_POSTGRESQL is \(chosen), where there is no initdb")
            }
            return PostgresInstallation(binaries: chosen, user: user)
        }
        let debian = "/usr/lib/postgresql"
        let versions = (try? files.contentsOfDirectory(atPath: debian)) ?? []
        let newestFirst = versions.sorted { $0.compare($1, options: .numeric) == .orderedDescending }
        let path = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let candidates = newestFirst.map { "\(debian)/\($0)/bin" } + path + ["/opt/homebrew/opt/postgresql/bin"]
        guard let binaries = candidates.first(where: { files.isExecutableFile(atPath: $0 + "/initdb") }) else {
            throw TestSupportError("found no initdb under \(debian) or in PATH: install postgresql")
        }
        return PostgresInstallation(binaries: binaries, user: user)
    }

    /// Runs one of the programs, with its output in the log file.
    @discardableResult
    func run(_ program: String, _ arguments: [String], log: String) async throws -> String {
        try await Command.run("\(binaries)/\(program)", arguments, asUser: user, log: log)
    }

    /// Appends lines to a configuration file of the cluster.
    func append(_ lines: [String], to path: String) throws {
        guard let file = FileHandle(forWritingAtPath: path) else { throw TestSupportError("cannot write \(path)") }
        try file.seekToEnd()
        try file.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
        try file.close()
    }

    private static func unprivilegedUser() throws -> String {
        let users: [String] = ["postgres", "nobody"]
        guard let user = users.first(where: { getpwnam($0) != nil }) else {
            throw TestSupportError("PostgreSQL does not run as root, and there is no user postgres or nobody")
        }
        return user
    }
}
