import Administration
import PostgresClient
import PushCore
import Store

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
