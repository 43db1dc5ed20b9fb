import PostgresClient
import PushCore

/// The last sign of life of a host.
package struct HostSign: Sendable, Hashable {
    package let name: String
    package let pid: Int32
    /// When it was sent.
    package let heartbeat: DatabaseTime
    /// Whether the supervisor may be alive: the sign is recent and does not report its end.
    package let isFresh: Bool
}

/// What operators have asked of a host, until it is done.
package struct HostRequests: Sendable, Hashable {
    /// Whether it is to drain.
    package var isDrainRequested: Bool
    /// Its children that are to be replaced.
    package var recycledChildren: Set<Int64>
    /// Whether another start of a supervisor has taken over the host, so that this one has lost it.
    package var isHostLost = false

    package init(isDrainRequested: Bool = false, recycledChildren: Set<Int64> = []) {
        self.isDrainRequested = isDrainRequested
        self.recycledChildren = recycledChildren
    }
}

extension Store {
    /// Records that a supervisor has started on a host; requests to the previous one are cleared.
    package func registerHost(_ report: HostReport) async throws {
        try await query(
            """
            INSERT INTO pushmta_engine.mta_host (id, name, pid, version, schema_version, state, journal_folder, children,
                max_children, cores, load, resident_bytes, journal_free_bytes, journal_replayed, alarm, asleep, alarm_remedy, start_nonce,
                started_at, last_heartbeat)
            VALUES ($1::uuid, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18::uuid, clock_timestamp(),
                clock_timestamp())
            ON CONFLICT (id) DO UPDATE SET started_at = excluded.started_at, drain_requested = false, \(Self.hostColumns)
            """,
            Self.hostParameters(report)
        )
    }

    /// Records that a supervisor is alive; creates the row again if it was removed. Returns the operators' requests.
    @discardableResult
    package func recordHostHeartbeat(_ report: HostReport) async throws -> HostRequests {
        let result = try await query(
            """
            INSERT INTO pushmta_engine.mta_host (id, name, pid, version, schema_version, state, journal_folder, children,
                max_children, cores, load, resident_bytes, journal_free_bytes, journal_replayed, alarm, asleep, alarm_remedy, start_nonce,
                last_heartbeat)
            VALUES ($1::uuid, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18::uuid, clock_timestamp())
            ON CONFLICT (id) DO UPDATE SET \(Self.hostColumns)
                WHERE mta_host.start_nonce IS NOT DISTINCT FROM excluded.start_nonce OR excluded.start_nonce IS NULL
            RETURNING drain_requested, ARRAY(SELECT c.id FROM pushmta_engine.mta_child c
                WHERE c.host_id = $1::uuid AND c.exited_at IS NULL AND c.recycle_requested)
            """,
            Self.hostParameters(report)
        )
        guard result.rowCount > 0 else {
            var requests = HostRequests()
            requests.isHostLost = true
            return requests
        }
        return try result.one { row in
            HostRequests(isDrainRequested: try row.bool(), recycledChildren: Set(try row.int64Array()))
        }
    }

    /// The last sign of life of a host, and whether it is recent enough that its supervisor may be alive; nil if there
    /// is no such host.
    package func hostSign(_ id: String) async throws -> HostSign? {
        let result = try await query(
            """
            SELECT h.name, h.pid, h.last_heartbeat, h.state <> 'stopped' AND h.last_heartbeat > clock_timestamp() - interval '15 seconds'
            FROM pushmta_engine.mta_host h WHERE h.id = $1::uuid
            """,
            [.text(id)]
        )
        return try result.oneOrNil { row in
            HostSign(
                name: try row.text(),
                pid: try row.int32(),
                heartbeat: try row.time(),
                isFresh: try row.bool()
            )
        }
    }

    /// Asks the supervisor of a host to drain: it sees the request with its next heartbeat, or at once if it listens.
    ///
    /// - Parameter host: the id, or the name if only one host that is not stopped has it.
    /// - Returns: the host's id. Throws ``StoreError`` of code `notFound`, or `invalid` if the name is ambiguous.
    @discardableResult
    package func requestDrain(host: String) async throws -> String {
        let found = try await query(
            """
            SELECT id::text FROM pushmta_engine.mta_host
            WHERE id::text = lower($1) OR name = $1 AND state <> 'stopped' ORDER BY id::text = lower($1) DESC, last_heartbeat DESC
            """,
            [.text(host)]
        )
        let ids = try all(found) { row in try row.text() }
        guard let id = ids.first else {
            throw StoreError(
                .notFound,
                "There is no running host \"\(host)\".",
                hint: "pushmta status shows the hosts"
            )
        }
        guard ids.count == 1 || id == host.lowercased() else {
            throw StoreError(
                .invalid,
                "\(ids.count) hosts have the name \"\(host)\": \(ids.joined(separator: ", ")).",
                hint: "name one of them by its id"
            )
        }
        try await group([
            PostgresStatement(
                "UPDATE pushmta_engine.mta_host SET drain_requested = true WHERE id = $1::uuid",
                [.text(id)]
            ),
            PostgresStatement("SELECT pg_notify('pushmta_wake', 'control')"),
        ])
        return id
    }

    /// Removes a host that is permanently gone, with its children, from the status tables.
    ///
    /// - Parameters:
    ///   - host: its id or name.
    ///   - journalsLost: whether the journals of its children will never be read.
    /// - Returns: its id and name, and how many children were removed. Throws ``StoreError`` of code `notFound`, of
    ///   `invalid` for a name of several hosts, and of `conflict` while it is alive, holds parts, or may have journals.
    package func removeHost(_ host: String, journalsLost: Bool = false) async throws -> (
        id: String, name: String, children: Int64
    ) {
        let result = try await query(
            "SELECT r.id::text, r.name, r.children FROM pushmta.remove_host($1, $2) r",
            [.text(host), .bool(journalsLost)]
        )
        return try result.one { row in (try row.text(), try row.text(), try row.int64()) }
    }

    private static let hostColumns = [
        "name", "pid", "version", "schema_version", "state", "journal_folder", "children", "max_children", "cores",
        "load",
        "resident_bytes", "journal_free_bytes", "journal_replayed", "alarm", "asleep", "alarm_remedy", "start_nonce",
        "last_heartbeat",
    ].map { "\($0) = excluded.\($0)" }.joined(separator: ", ")

    /// The host id is passed as text: it is read from a file, and PostgreSQL checks it.
    private static func hostParameters(_ report: HostReport) -> [PostgresValue] {
        [
            .text(report.id), .text(report.name), .int32(report.pid), .text(report.version),
            .int32(report.schemaVersion),
            .text(report.state.rawValue), .text(report.journalFolder), .int32(report.children),
            .int32(report.maxChildren),
            .int32(report.cores), .double(report.load), .int64(report.residentBytes), .int64(report.journalFreeBytes),
            .int64(report.journalReplayed), .text(report.alarm), .bool(report.isAsleep), .text(report.alarmRemedy),
            .textOrNull(report.startNonce),
        ]
    }

    /// All hosts that ever reported, by name.
    package func hosts() async throws -> [HostRow] {
        let result = try await query(
            """
            SELECT id::text, name, pid, version, schema_version, state, journal_folder, children, max_children, cores, load,
                resident_bytes, journal_free_bytes, journal_replayed, alarm, alarm_remedy, started_at, heartbeat_age_seconds,
                health, version_mixed, drain_requested, unknown, resent_after_ambiguity, late_outcomes
            FROM pushmta.mta_host ORDER BY name, id
            """
        )
        return try all(result) { row in
            HostRow(
                report: HostReport(
                    id: try row.text(),
                    name: try row.text(),
                    pid: try row.int32(),
                    version: try row.text(),
                    schemaVersion: try row.int32(),
                    state: try row.choice(),
                    journalFolder: try row.text(),
                    children: try row.int32(),
                    maxChildren: try row.int32(),
                    cores: try row.int32(),
                    load: try row.double(),
                    residentBytes: try row.int64(),
                    journalFreeBytes: try row.int64(),
                    journalReplayed: try row.int64(),
                    alarm: try row.text(),
                    alarmRemedy: try row.text()
                ),
                startedAt: try row.time(),
                heartbeatAgeSeconds: try row.double(),
                health: try row.text(),
                isVersionMixed: try row.bool(),
                isDrainRequested: try row.bool(),
                unknown: try row.int64(),
                resentAfterAmbiguity: try row.int64(),
                lateOutcomes: try row.int64()
            )
        }
    }
}

extension Store {
    /// Records when a web process's certificate expires.
    ///
    /// - Parameter expires: seconds of Unix time.
    package func noteWebCertificate(host: String, file: String, expires: Int) async throws {
        try await query(
            "SELECT pushmta_engine.note_web_certificate($1, $2, $3)",
            [.text(host), .text(file), .double(Double(expires))]
        )
    }
}
