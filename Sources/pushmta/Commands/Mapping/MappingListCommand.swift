import ArgumentParser
import Store

/// `pushmta mapping list`.
struct MappingListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the target mappings.")

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.mappings() }
        var table = Table(["id", "name", "label", "view", "key", "problem"])
        for (row, problem) in rows {
            table.add([
                Cell(row.id), .text(row.name), .text(row.label), .text(row.view), .text(row.keyColumn),
                Cell(problem),
            ])
        }
        table.show(json: json)
    }
}
