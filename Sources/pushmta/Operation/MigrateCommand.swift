import Administration
import ArgumentParser
import PostgresClient
import Store

/// `pushmta migrate`: brings the database's schema to this program's version.
struct MigrateCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Bring the database's schema to this version.",
        discussion: """
            Does nothing if it is there already, but for rights of its roles that are missing; two hosts may run it at once; refuses a newer
            schema, and that of a development version; warns of a PostgreSQL that is newer than those it was tested on. A user who may not make roles is told, before anything is changed, what an administrator has to run.

            After a restore to an earlier moment: --restored, on one host, before any process of the engine starts. Ids that were given \
            out since then are not given out again, as journals, receipts on disk and devices still know them.
            """
    )

    @Flag(
        help: "The database was set back to an earlier moment: let ids go on far above all that were given out since."
    )
    var restored = false

    @Option(
        help: ArgumentHelp(
            "Wait this long for a database that cannot be reached yet, such as one that is just starting.",
            valueName: "seconds"
        )
    )
    var wait = 0

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    /// A longer wait would be for something that does not come.
    private static let longestWait = 86_400
    /// A server that starts takes seconds.
    private static let pause = Duration.seconds(1)

    func validate() throws {
        guard (0...Self.longestWait).contains(wait) else {
            throw ValidationError("--wait is \(wait): give seconds from 0 to \(Self.longestWait).")
        }
    }

    /// Migrates as soon as the database accepts connections.
    private func migrate(_ configuration: PostgresConfiguration) async throws -> MigrationReport {
        let deadline = ContinuousClock.now + .seconds(wait)
        while true {
            do {
                return try await Store.migrate(configuration)
            } catch let error as PostgresError where error.isConnectionLost && .now + Self.pause < deadline {
                try await Task.sleep(for: Self.pause)
            }
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let configuration = StoreSession.commandConfiguration(loaded.values, role: "migrate")
        let report = try await migrate(configuration)
        show(report)
        if let warning = report.serverWarning { StandardError.write("pushmta: warning: \(warning)\n") }
        guard restored else { return }
        let moved = try await Store.skipIdentifiers(configuration)
        StandardOutput.line("Ids of \(moved) kinds go on far above those of before.")
    }

    private func show(_ report: MigrationReport) {
        guard !report.applied.isEmpty else {
            for statement in report.granted { StandardOutput.line("repaired: \(statement)") }
            StandardOutput.line("The schema has version \(report.to) already.")
            return
        }
        for name in report.applied { StandardOutput.line("applied \(name)") }
        StandardOutput.line("The schema went from version \(report.from) to \(report.to).")
    }
}
