import ArgumentParser
import Store

/// `pushmta mapping add NAME --view … --key …`.
struct MappingAddCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Register a view or table of this database as a target mapping.",
        discussion: """
            Its key column holds the user keys with which apps register, one row for each. Its columns are then usable in \
            filters and personalisation as mapping.NAME. The supervisor and its children must be able to read it.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "Its name in commands and SQL, unique.")
    var name: String

    @Option(help: "The view with its schema, as in crm.person.")
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
            "No index serves \(mapping.keyColumn.name): each look-up reads the whole view. Create an index on the key, or a "
                + "materialized view with one."
        )
    }
}
