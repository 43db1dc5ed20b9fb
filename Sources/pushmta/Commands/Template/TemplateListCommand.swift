import ArgumentParser
import Store

/// `pushmta template list`.
struct TemplateListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the delivery templates.")

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.templates() }
        var table = Table(["id", "name", "label", "ready_made"])
        for row in rows { table.add([Cell(row.id), .text(row.name), .text(row.label), .flag(row.isReadyMade)]) }
        table.show(json: json)
    }
}
