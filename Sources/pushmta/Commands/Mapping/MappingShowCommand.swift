import ArgumentParser
import PushCore
import Store

/// `pushmta mapping show NAME`: its columns, as filters and personalisation know them.
struct MappingShowCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a target mapping's columns and what filters take them for."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The mapping's name.")
    var name: String

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let mapping = try await StoreSession.run(loaded.values) { try await $0.mapping(named: name) }
        var table = Table(["column", "type", "kind", "is_key"])
        for column in mapping.columns {
            table.add([
                .text(column.name), .text(column.type), .text(column.kind.rawValue), .flag(column == mapping.keyColumn),
            ])
        }
        table.show(json: json)
    }
}
