import Administration
import ArgumentParser
import Store

/// `pushmta migrate`: brings the database's schema to this program's version.
struct MigrateCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Bring the database's schema to this version.",
        discussion: """
            Does nothing if it is there already, but for rights of its roles that are missing; two hosts may run it at once; refuses a newer
            schema, and that of a development version. A user who may not make roles is told, before anything is changed, what an administrator has to run.
            """
    )

    @OptionGroup var global: GlobalOptions

    func execute(_ loaded: LoadedSettings) async throws {
        let report = try await Store.migrate(StoreSession.configuration(loaded.values, role: "migrate"))
        guard !report.applied.isEmpty else {
            for statement in report.granted { StandardOutput.line("repaired: \(statement)") }
            StandardOutput.line("The schema has version \(report.to) already.")
            return
        }
        for name in report.applied { StandardOutput.line("applied \(name)") }
        StandardOutput.line("The schema went from version \(report.from) to \(report.to).")
    }
}
