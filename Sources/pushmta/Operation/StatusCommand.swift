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

/// What `pushmta status` shows.
struct StatusSnapshot: Sendable {
    let hosts: [HostRow]
    let children: [ChildOverview]
    /// The children that ended recently; nil if they were not requested.
    let ended: [ChildOverview]?
    let circuits: [CircuitRow]
    let alarms: [AlarmRow]
    let work: [WaitingWork]
    let deliveries: [DeliveryProgress]
    let workers: [FeedbackWorkerRow]
    /// Why a section could not be read, by the name of the section.
    let unreadable: [String: String]

    /// Reads everything; with `includeEnded`, also the children that ended recently. Each section is read separately,
    /// so that a locked table does not affect the others.
    init(store: Store, includeEnded: Bool) async throws {
        var unreadable: [String: String] = [:]
        func section<Row>(_ name: String, _ read: () async throws -> [Row]) async throws -> [Row] {
            do {
                return try await read()
            } catch let error as PostgresError where error.isLockTimeout {
                unreadable[name] = await store.lockHolders()
                return []
            }
        }
        hosts = try await section("hosts") { try await store.hosts() }
        let all = try await section("children") { try await store.children(includeExited: includeEnded) }
        children = all.filter { $0.exitReason == nil }
        ended = includeEnded ? all.filter { $0.exitReason != nil } : nil
        circuits = try await section("applications") { try await store.circuits() }
        alarms = try await section("alarms") { try await Self.alarms(store) }
        work = try await section("queues") { try await store.waitingWork() }
        deliveries = try await section("deliveries") { try await store.unfinishedDeliveries() }
        workers = try await section("feedback") { try await store.feedbackWorkers() }
        self.unreadable = unreadable
    }

    /// The rows of `pushmta.alarm`, and two alarms that the view cannot raise. They say whether this session's server
    /// accepts writes, and whether this user can read the views of target mappings.
    private static func alarms(_ store: Store) async throws -> [AlarmRow] {
        let isReadOnly = try await store.isReadOnly()
        // If no session can write, heartbeats do not arrive, even from live hosts.
        let silences: Set = ["host_late", "host_gone", "child_late", "child_gone"]
        let seen = try await store.alarms().filter { !isReadOnly || !silences.contains($0.code) }
        return (isReadOnly ? [.readOnly] : []) + seen
            + (try await mappingProblems(store)).map { name, problem in
                AlarmRow(
                    severity: .warning,
                    code: "mapping_unreadable",
                    subjectKind: "target mapping",
                    subject: name,
                    text: problem,
                    remedy: "make it readable: deliveries that use it wait until then, or until their validity ends"
                )
            }
    }

    private static func mappingProblems(_ store: Store) async throws -> [(String, String)] {
        do {
            return try await store.mappingProblems()
        } catch let error as PostgresError where error.isLockTimeout {
            return []
        }
    }

    /// The tables with their names.
    var tables: [(name: String, table: Table)] {
        let childTable = ChildTable(hosts: hosts)
        var tables = [
            ("alarms", alarmTable), ("hosts", HostTable.table(hosts)), ("children", childTable.running(children)),
            ("applications", CircuitTable.table(circuits)), ("queues", workTable),
            ("deliveries", DeliveryTable.table(deliveries)), ("feedback", FeedbackTable.table(workers)),
        ]
        if let ended { tables.append(("ended_children", childTable.ended(ended))) }
        if !unreadable.isEmpty { tables.append(("unreadable", unreadableTable)) }
        return tables
    }

    private var unreadableTable: Table {
        var table = Table(["section", "reason"])
        for (name, reason) in unreadable.sorted(by: { $0.key < $1.key }) { table.add([.text(name), .text(reason)]) }
        return table
    }

    private var alarmTable: Table {
        var table = Table(["severity", "code", "subject", "alarm", "remedy", "since"])
        for alarm in alarms {
            table.add([
                .text(alarm.severity.rawValue), .text(alarm.code), .text(alarm.fullSubject), .text(alarm.text),
                .text(alarm.remedy), Cell(alarm.since?.internetText),
            ])
        }
        return table
    }

    private var workTable: Table {
        var table = Table([
            "application", "account", "connector", "ready_parts", "ready_messages", "highest_priority", "oldest_s",
        ])
        for item in work {
            table.add([
                .text(item.application), .text(item.account), .text(item.connector.rawValue), .integer(item.parts),
                .integer(item.messages), .integer(Int64(item.highestPriority)), .number(item.oldestSeconds),
            ])
        }
        return table
    }
}

/// Hosts as a table. Columns that are also in the view `pushmta.mta_host` have its names.
enum HostTable {
    /// A table of hosts.
    static func table(_ hosts: [HostRow]) -> Table {
        var table = Table([
            "host", "name", "pid", "version", "state", "health", "version_mixed", "heartbeat_age", "children",
            "max_children",
            "unknown", "resent_after_ambiguity", "journal_replayed", "late_outcomes", "load", "resident_mib",
            "journal_free_mib", "alarm",
        ])
        for host in hosts { table.add(row(host)) }
        return table
    }

    private static func row(_ host: HostRow) -> [Cell] {
        let report = host.report
        return [
            .text(report.id), .text(report.name), Cell(report.pid), .text(report.version),
            .text(report.state.rawValue), .text(host.health), .flag(host.isVersionMixed),
            .number(host.heartbeatAgeSeconds), Cell(report.children), Cell(report.maxChildren), .integer(host.unknown),
            .integer(host.resentAfterAmbiguity), .integer(report.journalReplayed), .integer(host.lateOutcomes),
            .number(report.load), .number(Cell.mebibytes(report.residentBytes)),
            .number(Cell.mebibytes(report.journalFreeBytes)), .text(report.alarm),
        ]
    }
}

/// Children as tables. Columns that are also in the view `pushmta.mta_child` have its names.
struct ChildTable: Sendable {
    /// The hosts, for their names.
    let hosts: [HostRow]

    func running(_ children: [ChildOverview]) -> Table {
        var table = Table(
            [
                "child", "host", "pid", "application", "account", "connector", "state", "health", "heartbeat_age",
                "delivery",
                "parts_held", "connections", "wanted", "why", "streams", "window", "limited_by",
            ] + Self.counts + ["rate", "p50_ms", "p99_ms", "resident_mib", "last_error"]
        )
        for child in children {
            let report = child.report
            table.add(
                place(child) + [
                    .text(child.state.rawValue), .text(child.health), .number(child.heartbeatAgeSeconds),
                    Cell(report.deliveryID), Cell(report.partsHeld), Cell(report.connections.open),
                    Cell(report.connections.wanted), .text(report.connections.reason),
                    Cell(report.connections.streamsInFlight), Cell(report.connections.dispatchWindow),
                    Cell(report.connections.limitedBy?.rawValue),
                ] + counts(child) + [
                    .number(report.rate), .number(report.latencyP50Milliseconds),
                    .number(report.latencyP99Milliseconds),
                    .number(Cell.mebibytes(report.residentBytes)), .text(report.lastError),
                ]
            )
        }
        return table
    }

    func ended(_ children: [ChildOverview]) -> Table {
        var table = Table(
            [
                "child", "host", "pid", "application", "account", "connector", "exit_reason", "exit_detail",
            ] + Self.counts + ["last_error", "stderr_tail"]
        )
        for child in children {
            table.add(
                place(child) + [Cell(child.exitReason), .text(child.exitDetail)] + counts(child)
                    + [.text(child.report.lastError), .text(child.stderrTail)]
            )
        }
        return table
    }

    private func place(_ child: ChildOverview) -> [Cell] {
        let host = hosts.first { $0.report.id == child.row.hostID }?.report.name
        return [
            .integer(child.id), .text(host ?? child.row.hostID), Cell(child.report.pid),
            .text(child.applicationName), .text(child.accountName), .text(child.row.connector.rawValue),
        ]
    }

    private static let counts = ChildCounts.all.map(\.name) + ["journal_replayed"]

    private func counts(_ child: ChildOverview) -> [Cell] {
        ChildCounts.all.map { .integer(child.report.counts[keyPath: $0.path]) } + [.integer(child.journalReplayed)]
    }
}

/// The circuit breakers of applications.
enum CircuitTable {
    /// The columns of a circuit. Those that are also in the view `pushmta.application` have its names.
    static let columns = [
        "circuit", "circuit_reason", "circuit_remedy", "probes", "next_probe_s", "token_effects_held",
    ]

    /// One row per application.
    static func table(_ circuits: [CircuitRow]) -> Table {
        var table = Table(["application", "platform", "environment"] + columns)
        for circuit in circuits {
            table.add(
                [
                    .text(circuit.application), .text(circuit.platform.rawValue), .text(circuit.environment.rawValue),
                ] + cells(circuit.health)
            )
        }
        return table
    }

    /// The cells of one application's circuit; nil means that the application has never failed.
    static func cells(_ health: ApplicationHealthRow?) -> [Cell] {
        guard let health else { return [.text(CircuitState.closed.rawValue), "", "", 0, .none, .flag(false)] }
        return [
            .text(health.state.rawValue), .text(health.reason), .text(health.remedy), Cell(health.probes),
            health.nextProbeInSeconds.map { .number(max(0, $0)) } ?? .none, .flag(health.tokenEffectsHeld),
        ]
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
