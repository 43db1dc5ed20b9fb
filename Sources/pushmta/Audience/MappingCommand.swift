import Administration
import ArgumentParser
import PushCore
import Store

struct MappingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mapping",
        abstract: "Target mappings: views that map a service's user keys to people.",
        subcommands: [MappingAddCommand.self, MappingListCommand.self, MappingShowCommand.self]
    )
}

/// `pushmta mapping add NAME --view … --key …`.
struct MappingAddCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Register a view or table of this database as a target mapping.",
        discussion: """
            Its key column holds the user keys that apps register, with one row for each. Filters and personalisation \
            can use its columns as mapping.NAME. The role pushmta_reader must be able to read it.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "Its name in commands and SQL, unique.")
    var name: String

    @Option(help: "The view with its schema, for example crm.person.")
    var view: String

    @Option(name: .customLong("key"), help: "The column that holds the user keys.")
    var keyColumn: String

    @Option(help: "Its name for people (default: the name).")
    var label: String?

    func execute(_ loaded: LoadedSettings) async throws {
        let (mapping, readsAll) = try await StoreSession.run(loaded.values) { store in
            let mapping = try await store.createMapping(
                name: name,
                label: label ?? name,
                view: view,
                keyColumn: keyColumn
            )
            return (mapping, try await store.readsWholeView(mapping))
        }
        StandardOutput.line(
            "Mapping \(mapping.name) reads \(mapping.view) by \(mapping.keyColumn.name), with \(mapping.columns.count) columns. "
                + "Next: pushmta service set NAME --mapping \(mapping.name)"
        )
        guard readsAll else { return }
        StandardOutput.line(
            "No index covers \(mapping.keyColumn.name): each look-up reads the whole view. Create an index on the key, or a "
                + "materialized view with one."
        )
    }
}

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

/// `pushmta mapping show NAME`: its columns, as filters and personalisation see them.
struct MappingShowCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a target mapping's columns and their types in filters."
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
