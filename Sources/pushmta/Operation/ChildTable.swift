import Administration
import PostgresClient
import PushCore
import Store

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
