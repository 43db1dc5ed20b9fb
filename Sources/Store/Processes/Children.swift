import PostgresClient
import PushCore

/// A child that a supervisor is about to start.
package struct ChildRow: Sendable {
    /// The host it runs on.
    package var hostID: String
    /// Increases with each child of a host, so that a stale status line is recognised.
    package var generation: Int32
    package var applicationID: Int32
    package var accountID: Int32
    package var connector: Connector

    package init(hostID: String, generation: Int32, applicationID: Int32, accountID: Int32, connector: Connector) {
        self.hostID = hostID
        self.generation = generation
        self.applicationID = applicationID
        self.accountID = accountID
        self.connector = connector
    }
}

extension Store {
    /// Creates the row of a child that is about to start; its id is the owner of the parts that it will claim.
    package func insertChild(_ child: ChildRow) async throws -> Int64 {
        let result = try await query(
            """
            INSERT INTO pushmta_engine.mta_child (host_id, generation, application_id, external_account_id, connector)
            VALUES ($1::uuid, $2, $3, $4, $5) RETURNING id
            """,
            [
                .text(child.hostID), .int32(child.generation), .int32(child.applicationID), .int32(child.accountID),
                .text(child.connector.rawValue),
            ]
        )
        return try result.int64(0, 0)
    }

    /// Records that a child is alive and what it does; a child that was declared dead stays dead.
    package func recordChildReport(_ report: ChildReport, child: Int64) async throws {
        var kept = report
        // A gateway's text may contain NUL, which PostgreSQL cannot store.
        kept.lastError.unicodeScalars.removeAll { $0 == "\0" }
        try await query(
            """
            UPDATE pushmta_engine.mta_child SET report = $2::text::jsonb, last_heartbeat = clock_timestamp()
            WHERE id = $1 AND exited_at IS NULL
            """,
            [.int64(child), .text(try JSONBody.text(kept))]
        )
    }

    /// Records why a child ended, with the tail of its standard error.
    ///
    /// The child's own report counts until its supervisor, which sees the real end, has judged it: a child may crash
    /// after its stop record. `orphaned` stands for an end that no process has seen, and replaces nothing.
    package func childExited(
        _ id: Int64,
        reason: String,
        detail: String = "",
        stderrTail: String = "",
        saidByItself: Bool = false
    ) async throws {
        try await query(
            """
            UPDATE pushmta_engine.mta_child SET exited_at = coalesce(exited_at, clock_timestamp()),
                exit_reason = $2, exit_detail = $3, stderr_tail = $4,
                report = report - ARRAY['parts_held', 'in_flight', 'rate'] #- '{connections,open}' #- '{connections,wanted}'
                    #- '{connections,streams_in_flight}' #- '{connections,limited_by}'
            WHERE id = $1 AND (exited_at IS NULL OR NOT $5 AND $2 <> 'orphaned')
            """,
            [.int64(id), .text(reason), .text(detail), .text(stderrTail), .bool(saidByItself)]
        )
    }

    /// Counts outcomes that came from a dead child's journal.
    package func addReplayed(child: Int64, count: Int64) async throws {
        try await query(
            "UPDATE pushmta_engine.mta_child SET journal_replayed = journal_replayed + $2 WHERE id = $1",
            [.int64(child), .int64(count)]
        )
    }

    /// Running children, newest first; with `includeExited` also the last 100 that ended.
    package func children(includeExited: Bool = false) async throws -> [ChildOverview] {
        let result = try await query(
            """
            SELECT \(Self.childColumns) FROM pushmta.mta_child c
            WHERE c.exited_at IS NULL OR ($1 AND c.id IN (SELECT e.id FROM pushmta.mta_child e
                WHERE e.exited_at IS NOT NULL ORDER BY e.exited_at DESC LIMIT 100))
            ORDER BY c.id DESC
            """,
            [.bool(includeExited)]
        )
        return try all(result, Self.childOverview)
    }

    private static let childColumns = """
        c.id, c.host_id::text, c.generation, c.application_id, c.external_account_id, c.connector, c.state, c.report::text, c.started_at,
        c.heartbeat_age_seconds, c.exit_reason, c.exit_detail, c.stderr_tail, c.health, c.journal_replayed, coalesce(c.application, ''),
        coalesce(c.account, ''), c.recycle_requested
        """

    /// An unreadable report, of another version for example, does not hide the other children.
    private static func report(_ text: String) -> ChildReport {
        (try? JSONBody.decode(ChildReport.self, from: text.utf8)) ?? ChildReport()
    }

    private static func childOverview(_ row: inout RowReader) throws -> ChildOverview {
        ChildOverview(
            id: try row.int64(),
            row: ChildRow(
                hostID: try row.text(),
                generation: try row.int32(),
                applicationID: try row.int32(),
                accountID: try row.int32(),
                connector: try row.choice()
            ),
            state: try row.choice(),
            report: report(try row.text()),
            startedAt: try row.time(),
            heartbeatAgeSeconds: try row.double(),
            exitReason: try row.textOrNil(),
            exitDetail: try row.text(),
            stderrTail: try row.text(),
            health: try row.text(),
            journalReplayed: try row.int64(),
            applicationName: try row.text(),
            accountName: try row.text(),
            isRecycleRequested: try row.bool()
        )
    }
}
