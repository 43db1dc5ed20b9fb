import PushCore
import Store

/// What `pushmta status` shows.
struct StatusSnapshot: Sendable {
    /// Deliveries to look at: the newest.
    private static let deliveryLimit = 20
    /// A host or child that has said nothing for so long is called late: three of its beats.
    private static let lateAfterSeconds = 6.0

    private let hosts: [HostRow]
    private let children: [ChildOverview]
    private let work: [ReadyWork]
    private let deliveries: [DeliveryProgress]

    /// Reads everything.
    init(store: Store) async throws {
        hosts = try await store.hosts()
        children = try await store.children()
        work = try await store.readyWork()
        deliveries = try await store.deliveries(limit: Int(Self.deliveryLimit))
    }

    /// The tables with their names.
    var tables: [(name: String, table: Table)] {
        [("hosts", hostTable), ("children", childTable), ("queues", workTable), ("deliveries", deliveryTable)]
    }

    private var hostTable: Table {
        var table = Table(["host", "name", "pid", "version", "state", "children", "beat_age", "late", "alarm"])
        for host in hosts {
            let report = host.report
            table.add([
                .text(report.id), .text(report.name), Cell(report.pid), .text(report.version),
                .text(report.state.rawValue),
                Cell(report.children), .number(host.beatAgeSeconds),
                .flag(Self.isLate(host.beatAgeSeconds, report.state == .stopped)),
                .text(report.alarm),
            ])
        }
        return table
    }

    private var childTable: Table {
        var table = Table([
            "child", "host", "pid", "connector", "state", "delivery", "connections", "streams", "sent", "failed",
            "retried", "rate",
            "p50_ms", "p99_ms", "resident_mib", "beat_age", "late", "last_error",
        ])
        for child in children {
            let beat = child.beat
            table.add([
                .integer(beat.childID), .text(child.row.hostID), Cell(beat.pid), .text(child.row.connector.rawValue),
                .text(beat.state.rawValue), Cell(beat.deliveryID), Cell(beat.connections), Cell(beat.streamsInFlight),
                .integer(beat.sent), .integer(beat.failed), .integer(beat.retried), .number(beat.rate),
                .number(beat.latencyP50Milliseconds), .number(beat.latencyP99Milliseconds),
                .number(Double(beat.residentBytes) / 1_048_576), .number(child.beatAgeSeconds),
                .flag(Self.isLate(child.beatAgeSeconds, beat.state == .exited)), .text(beat.lastError),
            ])
        }
        return table
    }

    private var workTable: Table {
        var table = Table(["application", "account", "connector", "ready_parts", "ready_messages", "highest_priority"])
        for item in work {
            table.add([
                Cell(item.applicationID), Cell(item.accountID), .text(item.connector.rawValue), Cell(item.readyParts),
                Cell(item.readyMessages), Cell(item.highestPriority),
            ])
        }
        return table
    }

    private var deliveryTable: Table {
        DeliveryTable.table(deliveries.filter { !$0.state.isFinal })
    }

    private static func isLate(_ ageSeconds: Double, _ hasEnded: Bool) -> Bool {
        !hasEnded && ageSeconds > lateAfterSeconds
    }
}
