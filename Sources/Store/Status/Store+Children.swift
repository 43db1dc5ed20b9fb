import PostgresClient
import PushCore

extension Store {
    /// Makes the row of a child that is about to start; its id is the owner of the parts that it will claim.
    public func insertChild(_ child: ChildRow) async throws -> Int64 {
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

    /// Says that a child lives and what it does; a child that was declared dead stays so.
    public func beatChild(_ beat: ChildBeat) async throws {
        try await query(
            """
            UPDATE pushmta_engine.mta_child SET pid = $2, state = $3, delivery_id = $4, part_id = $5, parts_held = $6,
                connections = $7, streams_in_flight = $8, sent = $9, failed = $10, retried = $11, unknown = $12,
                resent_after_ambiguity = $13, rate = $14, latency_p50_ms = $15, latency_p99_ms = $16, resident_bytes = $17,
                last_error = $18, late_outcomes = $19, last_beat = clock_timestamp()
            WHERE id = $1 AND exited_at IS NULL
            """,
            [
                .int64(beat.childID), .int32(beat.pid), .text(beat.state.rawValue),
                .int64OrNull(beat.deliveryID), .int64OrNull(beat.partID), .int32(beat.partsHeld),
                .int32(beat.connections), .int32(beat.streamsInFlight), .int64(beat.sent), .int64(beat.failed),
                .int64(beat.retried), .int64(beat.unknown), .int64(beat.resentAfterAmbiguity), .double(beat.rate),
                .double(beat.latencyP50Milliseconds), .double(beat.latencyP99Milliseconds), .int64(beat.residentBytes),
                .text(beat.lastError), .int64(beat.lateOutcomes),
            ]
        )
    }

    /// Says why a child ended, with its last words on standard error.
    ///
    /// What the child says of itself counts until its supervisor, which sees the real end, has judged it: a child may crash
    /// after its goodbye. `orphaned` is said of ends that nobody saw, and replaces nothing.
    public func childExited(
        _ id: Int64,
        reason: String,
        detail: String = "",
        lastWords: String = "",
        saidByItself: Bool = false
    ) async throws {
        try await query(
            """
            UPDATE pushmta_engine.mta_child SET state = 'exited', exited_at = coalesce(exited_at, clock_timestamp()),
                exit_reason = $2, exit_detail = $3, last_words = $4, parts_held = 0, connections = 0, streams_in_flight = 0,
                rate = 0
            WHERE id = $1 AND (exited_at IS NULL OR NOT $5 AND $2 <> 'orphaned')
            """,
            [.int64(id), .text(reason), .text(detail), .text(lastWords), .bool(saidByItself)]
        )
    }

    /// Counts outcomes that came from a dead child's journal.
    public func addReplayed(child: Int64, count: Int64) async throws {
        try await query(
            "UPDATE pushmta_engine.mta_child SET journal_replayed = journal_replayed + $2 WHERE id = $1",
            [.int64(child), .int64(count)]
        )
    }

    /// Children of a host that have not ended as far as the database knows.
    public func runningChildren(ofHost host: String) async throws -> [Int64] {
        let result = try await query(
            "SELECT id FROM pushmta_engine.mta_child WHERE host_id = $1::uuid AND exited_at IS NULL ORDER BY id",
            [.text(host)]
        )
        return try all(result) { rows, row in try rows.int64(row, 0) }
    }

    /// Children that run, newest first; with `includeExited` also the last 100 that ended.
    public func children(includeExited: Bool = false) async throws -> [ChildOverview] {
        let result = try await query(
            """
            SELECT \(Self.childColumns) FROM pushmta.mta_child c
            WHERE c.exited_at IS NULL OR ($1 AND c.id IN (SELECT e.id FROM pushmta_engine.mta_child e
                WHERE e.exited_at IS NOT NULL ORDER BY e.exited_at DESC LIMIT 100))
            ORDER BY c.id DESC
            """,
            [.bool(includeExited)]
        )
        return try all(result, Self.childOverview)
    }

    private static let childColumns = """
        c.id, coalesce(c.pid, 0), c.state, c.delivery_id, c.part_id, c.parts_held, c.connections, c.streams_in_flight, c.sent,
        c.failed, c.retried, c.unknown, c.resent_after_ambiguity, c.rate, c.latency_p50_ms, c.latency_p99_ms,
        c.resident_bytes, c.last_error, c.host_id::text, c.generation, c.application_id, c.external_account_id, c.connector,
        c.started_at, c.beat_age_seconds, c.exit_reason, c.exit_detail, c.last_words, c.late_outcomes, c.health,
        c.journal_replayed, coalesce(c.application, ''), coalesce(c.account, '')
        """

    private static func childOverview(_ rows: PostgresResult, _ row: Int) throws -> ChildOverview {
        ChildOverview(
            beat: ChildBeat(
                childID: try rows.int64(row, 0),
                pid: try rows.int32(row, 1),
                state: try choice(rows, row, 2),
                deliveryID: try rows.int64OrNil(row, 3),
                partID: try rows.int64OrNil(row, 4),
                partsHeld: try rows.int32(row, 5),
                connections: try rows.int32(row, 6),
                streamsInFlight: try rows.int32(row, 7),
                sent: try rows.int64(row, 8),
                failed: try rows.int64(row, 9),
                retried: try rows.int64(row, 10),
                unknown: try rows.int64(row, 11),
                resentAfterAmbiguity: try rows.int64(row, 12),
                lateOutcomes: try rows.int64(row, 28),
                rate: try rows.double(row, 13),
                latencyP50Milliseconds: try rows.double(row, 14),
                latencyP99Milliseconds: try rows.double(row, 15),
                residentBytes: try rows.int64(row, 16),
                lastError: try rows.text(row, 17)
            ),
            row: ChildRow(
                hostID: try rows.text(row, 18),
                generation: try rows.int32(row, 19),
                applicationID: try rows.int32(row, 20),
                accountID: try rows.int32(row, 21),
                connector: try choice(rows, row, 22)
            ),
            startedAt: try rows.time(row, 23),
            beatAgeSeconds: try rows.double(row, 24),
            exitReason: try rows.textOrNil(row, 25),
            exitDetail: try rows.text(row, 26),
            lastWords: try rows.text(row, 27),
            health: try rows.text(row, 29),
            journalReplayed: try rows.int64(row, 30),
            applicationName: try rows.text(row, 31),
            accountName: try rows.text(row, 32)
        )
    }
}
