import PushCore
import Store

/// Children as tables; columns are named as in the view `pushmta.mta_child` where the thing is the same.
struct ChildTable: Sendable {
    /// For the names of where they run.
    let hosts: [HostRow]

    /// Those that run.
    func running(_ children: [ChildOverview]) -> Table {
        var table = Table([
            "child", "host", "pid", "application", "account", "connector", "state", "health", "beat_age", "delivery",
            "parts_held", "connections", "streams", "sent", "failed", "retried", "unknown", "resent_after_ambiguity",
            "journal_replayed", "late_outcomes", "rate", "p50_ms", "p99_ms", "resident_mib", "last_error",
        ])
        for child in children {
            let beat = child.beat
            table.add(
                place(child) + [
                    .text(beat.state.rawValue), .text(child.health), .number(child.beatAgeSeconds),
                    Cell(beat.deliveryID), Cell(beat.partsHeld), Cell(beat.connections), Cell(beat.streamsInFlight),
                ] + counts(child) + [
                    .number(beat.rate), .number(beat.latencyP50Milliseconds), .number(beat.latencyP99Milliseconds),
                    .number(Cell.mebibytes(beat.residentBytes)), .text(beat.lastError),
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
            "last_words",
        ])
        for child in children {
            table.add(
                place(child) + [Cell(child.exitReason), .text(child.exitDetail)] + counts(child)
                    + [.text(child.beat.lastError), .text(child.lastWords)]
            )
        }
        return table
    }

    private func place(_ child: ChildOverview) -> [Cell] {
        let host = hosts.first { $0.report.id == child.row.hostID }?.report.name
        return [
            .integer(child.beat.childID), .text(host ?? child.row.hostID), Cell(child.beat.pid),
            .text(child.applicationName), .text(child.accountName), .text(child.row.connector.rawValue),
        ]
    }

    private func counts(_ child: ChildOverview) -> [Cell] {
        let beat = child.beat
        return [
            .integer(beat.sent), .integer(beat.failed), .integer(beat.retried), .integer(beat.unknown),
            .integer(beat.resentAfterAmbiguity), .integer(child.journalReplayed), .integer(beat.lateOutcomes),
        ]
    }
}
