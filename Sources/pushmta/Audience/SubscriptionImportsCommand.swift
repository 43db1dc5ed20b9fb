import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta subscription imports`: the imports that can be undone.
struct SubscriptionImportsCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "imports",
        abstract: "List the imports of the last day, which can be undone."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.imports() }
        var table = Table(["id", "application", "file", "started_at", "undone_at", "changes"])
        for row in rows {
            table.add([
                .integer(row.id), .text(row.application), .text(row.source), .text(row.startedAt.internetText),
                .text(row.undoneAt?.internetText ?? ""), .integer(row.changes),
            ])
        }
        guard json || !rows.isEmpty else {
            StandardOutput.line("Nothing was imported in the last day.")
            return
        }
        table.show(json: json)
    }
}
