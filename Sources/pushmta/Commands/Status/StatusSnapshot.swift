import PostgresClient
import PushCore
import Store

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
