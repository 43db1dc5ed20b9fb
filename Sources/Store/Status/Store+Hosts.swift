import PostgresClient
import PushCore

extension Store {
    /// Says that a supervisor has started on a host.
    public func registerHost(_ report: HostReport) async throws {
        try await query(
            """
            INSERT INTO pushmta_engine.mta_host (id, name, pid, version, schema_version, state, journal_folder, children,
                max_children, cores, load, resident_bytes, journal_free_bytes, journal_replayed, alarm, started_at, last_beat)
            VALUES ($1::uuid, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, clock_timestamp(), clock_timestamp())
            ON CONFLICT (id) DO UPDATE SET started_at = excluded.started_at, \(Self.hostColumns)
            """,
            Self.hostParameters(report)
        )
    }

    /// Says that a supervisor lives; makes the row if somebody removed it.
    public func beatHost(_ report: HostReport) async throws {
        try await query(
            """
            INSERT INTO pushmta_engine.mta_host (id, name, pid, version, schema_version, state, journal_folder, children,
                max_children, cores, load, resident_bytes, journal_free_bytes, journal_replayed, alarm, last_beat)
            VALUES ($1::uuid, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, clock_timestamp())
            ON CONFLICT (id) DO UPDATE SET \(Self.hostColumns)
            """,
            Self.hostParameters(report)
        )
    }

    private static let hostColumns = [
        "name", "pid", "version", "schema_version", "state", "journal_folder", "children", "max_children", "cores",
        "load",
        "resident_bytes", "journal_free_bytes", "journal_replayed", "alarm", "last_beat",
    ].map { "\($0) = excluded.\($0)" }.joined(separator: ", ")

    /// The host id travels as text: it is read from a file, and PostgreSQL checks it.
    private static func hostParameters(_ report: HostReport) -> [PostgresValue] {
        [
            .text(report.id), .text(report.name), .int32(report.pid), .text(report.version),
            .int32(report.schemaVersion),
            .text(report.state.rawValue), .text(report.journalFolder), .int32(report.children),
            .int32(report.maxChildren),
            .int32(report.cores), .double(report.load), .int64(report.residentBytes), .int64(report.journalFreeBytes),
            .int64(report.journalReplayed), .text(report.alarm),
        ]
    }

    /// All hosts that ever reported, by name.
    public func hosts() async throws -> [HostRow] {
        let result = try await query(
            """
            SELECT id::text, name, pid, version, schema_version, state, journal_folder, children, max_children, cores, load,
                resident_bytes, journal_free_bytes, journal_replayed, alarm, started_at, beat_age_seconds
            FROM pushmta.mta_host ORDER BY name, id
            """
        )
        return try all(result) { rows, row in
            HostRow(
                report: HostReport(
                    id: try rows.text(row, 0),
                    name: try rows.text(row, 1),
                    pid: try rows.int32(row, 2),
                    version: try rows.text(row, 3),
                    schemaVersion: try rows.int32(row, 4),
                    state: try choice(rows, row, 5),
                    journalFolder: try rows.text(row, 6),
                    children: try rows.int32(row, 7),
                    maxChildren: try rows.int32(row, 8),
                    cores: try rows.int32(row, 9),
                    load: try rows.double(row, 10),
                    residentBytes: try rows.int64(row, 11),
                    journalFreeBytes: try rows.int64(row, 12),
                    journalReplayed: try rows.int64(row, 13),
                    alarm: try rows.text(row, 14)
                ),
                startedAt: try rows.time(row, 15),
                beatAgeSeconds: try rows.double(row, 16)
            )
        }
    }
}
