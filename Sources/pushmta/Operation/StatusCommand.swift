import Administration
import ArgumentParser
import PostgresClient
import PushCore
import Store

/// `pushmta status`: alarms, hosts, children, applications, queues, running deliveries.
struct StatusCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show alarms, hosts, children, applications, waiting work and running deliveries.",
        discussion: """
            A host or child is late when its last heartbeat is older than 5 s and gone when it is older than 15 s, by the database's \
            clock. The exit status is 0 whatever is shown.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Also show the children that ended lately, with the reason and their tail of its standard error.")
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

/// What `pushmta status` shows.
struct StatusSnapshot: Sendable {
    private let hosts: [HostRow]
    private let children: [ChildOverview]
    private let ended: [ChildOverview]?
    private let applications: [ApplicationRow]
    private let accounts: [AccountRow]
    private let health: [ApplicationHealthRow]
    private let expiring: [CredentialNotice]
    private let mappings: [StatusAlarm]
    private let inactive: [InactiveAccount]
    private let waiting: [WaitingDelivery]
    private let work: [ReadyWork]
    private let deliveries: [DeliveryProgress]
    private let workers: [FeedbackWorkerRow]
    private let backlog: FeedbackBacklog
    private let holds: [RetentionHold]
    private let troubles: [GatewayTroubleRow]
    private let failures: [MassFailureRow]
    private let isReadOnly: Bool
    private let certificates: [WebCertificateRow]

    /// Reads everything; with `includeEnded` also the children that ended lately.
    init(store: Store, includeEnded: Bool) async throws {
        hosts = try await store.hosts()
        let all = try await store.children(includeExited: includeEnded)
        children = all.filter { $0.exitReason == nil }
        ended = includeEnded ? all.filter { $0.exitReason != nil } : nil
        applications = try await store.applications()
        accounts = try await store.accounts()
        health = try await store.applicationHealth()
        expiring = try await store.expiringCredentials(withinDays: ExpiryNotice.firstDays)
        mappings = try await store.mappings().compactMap { mapping in
            mapping.problem.map { StatusAlarm.alarm(ofMapping: mapping.row.name, $0) }
        }
        inactive = try await store.inactiveAccounts()
        waiting = try await store.waitingDeliveries()
        work = try await store.readyWork()
        deliveries = try await store.unfinishedDeliveries()
        workers = try await store.feedbackWorkers()
        backlog = try await store.feedbackBacklog()
        holds = try await store.retentionHolds()
        troubles = try await store.gatewayTroubles()
        failures = try await store.massFailures()
        isReadOnly = try await store.isReadOnly()
        certificates = try await store.webCertificates()
    }

    /// The tables with their names.
    var tables: [(name: String, table: Table)] {
        let circuits = CircuitTable(applications: applications, health: health)
        let childTable = ChildTable(hosts: hosts)
        var tables = [
            ("alarms", alarmTable), ("hosts", HostTable.table(hosts)), ("children", childTable.running(children)),
            ("applications", circuits.table), ("queues", workTable), ("deliveries", DeliveryTable.table(deliveries)),
            ("feedback", FeedbackTable.table(workers)),
        ]
        if let ended { tables.append(("ended_children", childTable.ended(ended))) }
        return tables
    }

    private var alarmTable: Table {
        var table = Table(["subject", "alarm"])
        if isReadOnly { table.add([.text("database"), .text(PostgresError.readOnlyWords)]) }
        let alarms = StatusAlarm.all(
            hosts: hosts,
            children: children,
            applications: applications,
            health: health,
            credentials: expiring,
            inactive: inactive,
            waiting: waiting
        )
        let feedback = FeedbackNotice(backlog).map { StatusAlarm(subject: "feedback", text: $0.text) }
        let held = deliveries.compactMap(StatusAlarm.alarm(ofHeld:))
        let spools = SpoolNotice.all(workers).map { StatusAlarm(subject: "host \($0.host)", text: $0.text) }
        let kept = holds.map { RetentionNotice($0) }.map { StatusAlarm(subject: $0.subject, text: $0.text) }
        let gateways = troubles.map(StatusAlarm.alarm(of:)) + failures.map(StatusAlarm.alarm(of:))
        let expiring = certificates.compactMap(WebCertificateNotice.alarm)
        for alarm in gateways + alarms + held + mappings + spools + kept + expiring + [feedback].compactMap(\.self) {
            table.add([.text(alarm.subject), .text(alarm.text)])
        }
        return table
    }

    private var workTable: Table {
        var table = Table([
            "application", "account", "connector", "ready_parts", "ready_messages", "highest_priority",
        ])
        for item in work {
            table.add([
                Cell(applications.first { $0.id == item.applicationID }?.name),
                Cell(accounts.first { $0.id == item.accountID }?.name), .text(item.connector.rawValue),
                Cell(item.readyParts), Cell(item.readyMessages), Cell(item.highestPriority),
            ])
        }
        return table
    }
}

/// Hosts as a table; columns are named as in the view `pushmta.mta_host` where the thing is the same.
enum HostTable {
    /// The table of some hosts.
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

/// Children as tables; columns are named as in the view `pushmta.mta_child` where the thing is the same.
struct ChildTable: Sendable {
    /// For the names of where they run.
    let hosts: [HostRow]

    /// Those that run.
    func running(_ children: [ChildOverview]) -> Table {
        var table = Table([
            "child", "host", "pid", "application", "account", "connector", "state", "health", "heartbeat_age",
            "delivery",
            "parts_held", "connections", "wanted", "why", "streams", "window", "sent", "failed", "retried", "unknown",
            "resent_after_ambiguity",
            "journal_replayed", "late_outcomes", "rate", "p50_ms", "p99_ms", "resident_mib", "last_error",
        ])
        for child in children {
            let heartbeat = child.heartbeat
            table.add(
                place(child) + [
                    .text(heartbeat.state.rawValue), .text(child.health), .number(child.heartbeatAgeSeconds),
                    Cell(heartbeat.deliveryID), Cell(heartbeat.partsHeld), Cell(heartbeat.connections.open),
                    Cell(heartbeat.connections.wanted), .text(heartbeat.connections.reason),
                    Cell(heartbeat.connections.streamsInFlight), Cell(heartbeat.connections.dispatchWindow),
                ] + counts(child) + [
                    .number(heartbeat.rate), .number(heartbeat.latencyP50Milliseconds),
                    .number(heartbeat.latencyP99Milliseconds),
                    .number(Cell.mebibytes(heartbeat.residentBytes)), .text(heartbeat.lastError),
                ]
            )
        }
        return table
    }

    /// Those that have ended.
    func ended(_ children: [ChildOverview]) -> Table {
        var table = Table([
            "child", "host", "pid", "application", "account", "connector", "exit_reason", "exit_detail", "sent",
            "failed",
            "retried", "unknown", "resent_after_ambiguity", "journal_replayed", "late_outcomes", "last_error",
            "stderr_tail",
        ])
        for child in children {
            table.add(
                place(child) + [Cell(child.exitReason), .text(child.exitDetail)] + counts(child)
                    + [.text(child.heartbeat.lastError), .text(child.stderrTail)]
            )
        }
        return table
    }

    private func place(_ child: ChildOverview) -> [Cell] {
        let host = hosts.first { $0.report.id == child.row.hostID }?.report.name
        return [
            .integer(child.heartbeat.childID), .text(host ?? child.row.hostID), Cell(child.heartbeat.pid),
            .text(child.applicationName), .text(child.accountName), .text(child.row.connector.rawValue),
        ]
    }

    private func counts(_ child: ChildOverview) -> [Cell] {
        let heartbeat = child.heartbeat
        return [
            .integer(heartbeat.sent), .integer(heartbeat.failed), .integer(heartbeat.retried),
            .integer(heartbeat.unknown),
            .integer(heartbeat.resentAfterAmbiguity), .integer(child.journalReplayed), .integer(heartbeat.lateOutcomes),
        ]
    }
}

/// The circuit breakers of applications.
struct CircuitTable: Sendable {
    /// The columns of a circuit, named as in the view `pushmta.application` where the thing is the same.
    static let columns = [
        "circuit", "circuit_reason", "circuit_remedy", "probes", "next_probe_s", "token_effects_held",
    ]

    /// The applications.
    let applications: [ApplicationRow]
    /// What is known of them; an application without a row never had trouble.
    let health: [ApplicationHealthRow]

    /// One application a row.
    var table: Table {
        var table = Table(["application", "platform", "environment"] + Self.columns)
        for application in applications {
            table.add(
                [
                    .text(application.name), .text(application.platform.rawValue),
                    .text(application.environment.rawValue),
                ] + cells(of: application.id)
            )
        }
        return table
    }

    /// The cells of one application's circuit.
    func cells(of application: Int32) -> [Cell] {
        guard let row = health.first(where: { $0.applicationID == application }) else {
            return [.text(CircuitState.closed.rawValue), "", "", 0, .none, .flag(false)]
        }
        return [
            .text(row.state.rawValue), .text(row.reason), .text(row.remedy), Cell(row.probes),
            row.nextProbeInSeconds.map { .number(max(0, $0)) } ?? .none, .flag(row.tokenEffectsHeld),
        ]
    }
}

/// Feedback workers as a table; columns are named as in the view `pushmta.feedback_worker` where the thing is the same.
enum FeedbackTable {
    /// The table of some workers.
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

/// Whether a host or child still says that it lives, as the views `pushmta.mta_host` and `pushmta.mta_child` judge.
enum Liveness: Sendable {
    case alive
    /// It has missed heartbeats.
    case late
    /// It has been silent for so long that others take over.
    case gone
    /// It has said that it ended.
    case ended

    /// Reads the column `health`.
    init(health: String) {
        switch health {
        case "late": self = .late
        case "gone": self = .gone
        case "stopped", "exited": self = .ended
        default: self = .alive
        }
    }
}

extension HostRow {
    /// Whether its supervisor lives.
    var liveness: Liveness { Liveness(health: health) }
}

extension ChildOverview {
    /// Whether it lives.
    var liveness: Liveness { Liveness(health: health) }
}
