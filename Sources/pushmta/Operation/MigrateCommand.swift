import Administration
import ArgumentParser
import PostgresClient
import Store

/// `pushmta migrate`: migrates the database's schema to this program's version.
struct MigrateCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Migrate the database's schema to this version.",
        discussion: """
            If the schema already has this version, it only grants missing rights of its roles. Two hosts may run it \
            at once. It refuses a newer schema and that of a development version, and warns about a PostgreSQL newer \
            than those it was tested on. A user who may not create roles is told what an administrator must run, \
            before anything is changed.

            After a restore to an earlier moment, run it with --restored, on one host, before any process of the \
            engine starts. Ids that were assigned since that moment are then not assigned again: journals, receipts on \
            disk and devices still know them.
            """
    )

    @Flag(
        help: "The database was restored to an earlier moment: continue ids far above all that were assigned since."
    )
    var restored = false

    @Option(
        help: ArgumentHelp(
            "Wait at most this long for a database that is not reachable yet, for example while it starts.",
            valueName: "seconds"
        )
    )
    var wait = 0

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    /// A database that takes longer will not come.
    private static let maxWait = 86_400
    /// A starting server needs some seconds.
    private static let pause = Duration.seconds(1)

    func validate() throws {
        guard (0...Self.maxWait).contains(wait) else {
            throw ValidationError("--wait is \(wait): give seconds from 0 to \(Self.maxWait).")
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
        StandardOutput.line("Ids of \(moved) kinds continue far above the earlier ones.")
    }

    private func show(_ report: MigrationReport) {
        guard !report.applied.isEmpty else {
            for statement in report.granted { StandardOutput.line("repaired: \(statement)") }
            StandardOutput.line("The schema already has version \(report.to).")
            return
        }
        for name in report.applied { StandardOutput.line("applied \(name)") }
        StandardOutput.line("The schema was migrated from version \(report.from) to \(report.to).")
    }
}
