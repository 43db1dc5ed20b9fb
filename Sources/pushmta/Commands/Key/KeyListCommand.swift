import ArgumentParser
import Store

/// `pushmta key list`.
struct KeyListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the keys of the API.",
        discussion:
            "What names a key stands behind pushmta_ in it; the rest of it nobody can read. The last use is told to the hour."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.apiKeys() }
        var table = Table([
            "id", "name", "state", "scopes", "applications", "created", "expires", "revoked", "last_used",
        ])
        for row in rows {
            table.add([
                .text(row.publicID), .text(row.name), .text(row.state), .text(row.scopes.joined(separator: " ")),
                .text(row.applications.isEmpty ? "all" : row.applications.joined(separator: " ")),
                .text(row.createdAt.internetText), Cell(row.expiresAt?.internetText),
                Cell(row.revokedAt?.internetText), Cell(row.lastUsedAt?.internetText),
            ])
        }
        table.show(json: json)
    }
}
