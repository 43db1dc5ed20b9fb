import Administration
import PostgresClient
import PushCore
import Store

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
