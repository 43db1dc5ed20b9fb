import ArgumentParser
import Store

/// `pushmta status`: alarms, hosts, children, applications, queues, running deliveries.
struct StatusCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show alarms, hosts, children, applications, waiting work and running deliveries.",
        discussion: """
            A host or child is late when its last beat is older than 5 s and gone when it is older than 15 s, by the database's \
            clock. The exit status is 0 whatever is shown.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Also show the children that ended lately, with the reason and their last words.")
    var ended = false

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let includeEnded = ended
        let snapshot = try await StoreSession.run(loaded.values) {
            try await StatusSnapshot(store: $0, includeEnded: includeEnded)
        }
        let tables = snapshot.tables
        if json {
            StandardOutput.line(Cell.object(tables.map { ($0.name, $0.table.cell) }).json)
            return
        }
        for (name, table) in tables {
            StandardOutput.line(table.rows.isEmpty ? "\(name): none\n" : "\(name)\n\(table.text)\n")
        }
    }
}
