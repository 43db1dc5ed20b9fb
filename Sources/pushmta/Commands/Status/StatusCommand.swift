import ArgumentParser
import Store

/// `pushmta status`: hosts, children, queues.
struct StatusCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show hosts, children, waiting work and running deliveries."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let snapshot = try await StoreSession.run(loaded.values) { try await StatusSnapshot(store: $0) }
        let tables = snapshot.tables
        if json {
            StandardOutput.line(
                "{" + tables.map { JSONText.quoted($0.name) + ":" + $0.table.json }.joined(separator: ",") + "}"
            )
            return
        }
        for (name, table) in tables {
            StandardOutput.line(table.rows.isEmpty ? "\(name): none\n" : "\(name)\n\(table.text)\n")
        }
    }
}
