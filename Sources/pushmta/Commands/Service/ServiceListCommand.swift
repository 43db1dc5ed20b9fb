import ArgumentParser
import Store

/// `pushmta service list`.
struct ServiceListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the services.")

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.services() }
        var table = Table(["id", "name", "label"])
        for row in rows { table.add([Cell(row.id), .text(row.name), .text(row.label)]) }
        table.show(json: json)
    }
}
