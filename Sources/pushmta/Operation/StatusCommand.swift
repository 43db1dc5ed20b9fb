import Administration
import ArgumentParser
import PostgresClient
import PushCore
import Store

/// `pushmta status`: alarms, hosts, children, applications, queues, deliveries under way.
struct StatusCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show alarms, hosts, children, applications, waiting work and running deliveries.",
        discussion: """
            By the database's clock, a host or child is late when its last heartbeat is older than 5 s, and gone when \
            it is older than 15 s. Alarms are those of the view pushmta.alarm. The rights of pushmta_monitoring \
            suffice, except for the check whether the views of target mappings can be read, which needs the rights of \
            pushmta_runtime. The exit status is 0 whatever is shown. The command waits a second for locked tables, \
            then shows them as not readable and names the session that holds the lock.

            Lines keep to 120 columns: they show names instead of ids, and only counters that are not zero. --wide \
            shows all columns.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Also show the children that ended recently, with the reason and the end of their standard error.")
    var ended = false

    @Flag(help: "Show every column with ids and zeros, however long the lines are.")
    var wide = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if wide, json { throw ValidationError("--wide cannot be combined with --json, which has every column.") }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let includeEnded = ended
        let snapshot = try await StoreSession.look(loaded.values) {
            try await StatusSnapshot(store: $0, includeEnded: includeEnded)
        }
        if json {
            StandardOutput.line(Cell.object(snapshot.tables.map { ($0.name, $0.table.cell) }).json)
            return
        }
        guard wide else { return StandardOutput.line(StatusText(snapshot).text(width: StatusText.width)) }
        for (name, table) in snapshot.tables {
            let none = snapshot.unreadable[name].map { "not readable: \($0)" } ?? "none"
            StandardOutput.line(table.rows.isEmpty ? "\(name): \(none)\n" : "\(name)\n\(table.text)\n")
        }
    }
}

/// Feedback workers as a table. Columns that are also in the view `pushmta.feedback_worker` have its names.
enum FeedbackTable {
    /// A table of workers.
    static func table(_ workers: [FeedbackWorkerRow]) -> Table {
        var table = Table([
            "worker", "host", "pid", "version", "state", "heartbeat_age", "last_action", "token_events",
            "messages_counted",
            "hits_counted", "hits_loaded", "waiting_spools",
        ])
        for worker in workers {
            table.add([
                .text(worker.id), .text(worker.host), Cell(worker.pid), .text(worker.version), .text(worker.state),
                .number(worker.heartbeatAgeSeconds), .text(worker.lastAction), .integer(worker.tokenEvents),
                .integer(worker.messagesCounted), .integer(worker.hitsCounted),
                .integer(worker.hitsLoaded), Cell(worker.waitingSpools),
            ])
        }
        return table
    }
}
