import ArgumentParser
import PushCore
import Store

/// `pushmta account list`.
struct AccountListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the external accounts.")

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.accounts() }
        var table = Table(["id", "name", "connector", "host", "port", "options", "active"])
        for row in rows {
            table.add([
                Cell(row.id), .text(row.name), .text(row.connector.rawValue), .text(row.host), Cell(row.port),
                .text(row.options), .flag(row.active),
            ])
        }
        table.show(json: json)
    }
}
