import PostgresClient
import PushCore

/// The plain inserts of a small batch into the broad log. They run after the fence in the same transaction, so the
/// part's row is locked, and a part that is no longer held gives no rows. An existing row is a unique violation.
enum BroadLogInsert {
    /// More statements than this cost more than the rows they save.
    private static let maxRuns = 8

    /// The inserts of all outcomes of a batch: one for each of its first runs, and one for the rest.
    static func statements(_ batch: OutcomeBatch) -> [PostgresStatement] {
        let rows = batch.rows(withRunsFrom: maxRuns)
        return batch.runs.prefix(maxRuns).map(run) + (rows.isEmpty ? [] : [self.rows(rows)])
    }

    static func run(_ run: OutcomeBatch.Run) -> PostgresStatement {
        let parameters: [PostgresValue] = [
            .int64(run.key.claim.part), .int64(run.key.claim.token), .int16(run.key.status.rawValue),
            .int16(run.key.httpStatus), .int16(run.key.attempt), .int64Array(run.subscriptionIDs),
            .int32Array(run.sequences),
            .heldState,
        ]
        guard run.key.reason.isEmpty else {
            return PostgresStatement(runWithReasonSQL, parameters + [.text(run.key.reason)])
        }
        return run.gatewayMessageIDs.isEmpty
            ? PostgresStatement(runSQL, parameters)
            : PostgresStatement(runWithGatewayIDsSQL, parameters + [.textColumn(run.gatewayMessageIDs)])
    }

    private static func rows(_ rows: [OutcomeBatch.Row]) -> PostgresStatement {
        var claims: [PartToken] = []
        var places: [PartToken: Int32] = [:]
        let ofRows = rows.map { row -> Int32 in
            if let place = places[row.claim] { return place }
            claims.append(row.claim)
            places[row.claim] = Int32(claims.count)
            return Int32(claims.count)
        }
        return PostgresStatement(
            rowsSQL,
            [.int64Array(claims.map(\.part)), .int64Array(claims.map(\.token)), .heldState, .int32Array(ofRows)]
                + columns(rows).dropFirst()
        )
    }

    /// Parameters $1 to $9 of statements that take rows one by one.
    static func columns(_ rows: [OutcomeBatch.Row]) -> [PostgresValue] {
        [
            .int64Array(rows.map(\.claim.part)), .int32Array(rows.map(\.sequence)),
            .int64Array(rows.map(\.subscriptionID)),
            .int16Array(rows.map(\.status.rawValue)), .int16Array(rows.map(\.httpStatus)),
            .int16Array(rows.map(\.attempt)),
            .textArray(rows.map(\.reason)), .textArray(rows.map(\.gatewayMessageID)),
            .int16ArrayWithNulls(rows.map { $0.failure?.code }),
        ]
    }

    static let runSQL = """
        INSERT INTO pushmta_engine.broad_log
            (delivery_id, subscription_id, part_id, sequence, log_day, status, http_status, attempt)
        SELECT p.delivery_id, o.subscription_id, p.id, o.sequence, p.log_day, $3, $4, $5
        FROM pushmta_engine.delivery_part p CROSS JOIN unnest($6::bigint[], $7::integer[]) o(subscription_id, sequence)
        WHERE p.id = $1 AND p.fencing_token = $2 AND p.state = $8
        """

    static let runWithGatewayIDsSQL = """
        INSERT INTO pushmta_engine.broad_log
            (delivery_id, subscription_id, part_id, sequence, log_day, status, http_status, attempt, gateway_message_id)
        SELECT p.delivery_id, o.subscription_id, p.id, o.sequence, p.log_day, $3, $4, $5, o.gateway_message_id
        FROM pushmta_engine.delivery_part p
        CROSS JOIN unnest($6::bigint[], $7::integer[], $9::text[]) o(subscription_id, sequence, gateway_message_id)
        WHERE p.id = $1 AND p.fencing_token = $2 AND p.state = $8
        """

    static let runWithReasonSQL = """
        INSERT INTO pushmta_engine.broad_log
            (delivery_id, subscription_id, part_id, sequence, log_day, status, http_status, attempt, reason)
        SELECT p.delivery_id, o.subscription_id, p.id, o.sequence, p.log_day, $3, $4, $5, $9
        FROM pushmta_engine.delivery_part p CROSS JOIN unnest($6::bigint[], $7::integer[]) o(subscription_id, sequence)
        WHERE p.id = $1 AND p.fencing_token = $2 AND p.state = $8
        """

    /// Each part is looked up once, and each row finds its part by its index. A join of rows and parts would be a
    /// nested loop, because the planner does not know their numbers.
    static let rowsSQL = """
        WITH held AS MATERIALIZED (
            SELECT array_agg(coalesce(p.delivery_id, 0) ORDER BY c.place) AS deliveries,
                array_agg(coalesce(p.log_day, 'epoch') ORDER BY c.place) AS days
            FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY c(part_id, token, place)
            LEFT JOIN LATERAL (SELECT q.delivery_id, q.log_day FROM pushmta_engine.delivery_part q
                WHERE q.id = c.part_id AND q.fencing_token = c.token AND q.state = $3 OFFSET 0) p ON true
        )
        INSERT INTO pushmta_engine.broad_log (delivery_id, subscription_id, part_id, sequence, log_day, status, http_status,
            attempt, reason, gateway_message_id, failure)
        SELECT h.deliveries[o.place], o.subscription_id, ($1)[o.place], o.sequence, h.days[o.place], o.status, o.http_status, o.attempt,
            o.reason, o.gateway_message_id, o.failure
        FROM held h
        CROSS JOIN unnest($4::integer[], $5::integer[], $6::bigint[], $7::smallint[], $8::smallint[], $9::smallint[], $10::text[],
            $11::text[], $12::smallint[])
            o(place, sequence, subscription_id, status, http_status, attempt, reason, gateway_message_id, failure)
        WHERE h.deliveries[o.place] <> 0
        """
}

/// The rows of larger batches: COPY writes one WAL record for each page, INSERT one for each row. An existing row is a
/// unique violation, as with an insert.
///
/// Measured, 27 November 2026, batches of 2,000, in turn: a million messages for APNs took 4.08 s and 151 bytes of WAL
/// a message, compared with 4.20 s and 199 (four rounds); for FCM, 24 November, 187 bytes compared with 240.
enum BroadLogCopy {
    /// Fewer rows are inserted: COPY takes three more round trips, which single messages would have to wait for.
    private static let minRows = 200

    /// Whether COPY is better than INSERT for a batch.
    static func suits(_ batch: OutcomeBatch) -> Bool { batch.count >= minRows }

    static let sql = """
        COPY pushmta_engine.broad_log (delivery_id, log_day, status, http_status, attempt, part_id, failure, reason, subscription_id, sequence,
            gateway_message_id) FROM STDIN (FORMAT binary)
        """

    /// After this many rows the server writes what it has buffered. Measured, 27 November 2026, batches of 2,000
    /// without an index: 1.18 microseconds a row if never, 0.75 if every 50, 100 or 200 rows.
    private static let gathered = 150

    /// A row of ``sql`` for the partition `broad_log_flush`.
    private static let flush: [PostgresValue] =
        [.int64(0), .date(daysSince2000: .max)] + Array(repeating: .null, count: 9)

    /// The outcomes of the parts that the fence has found to be held.
    static func rows(_ batch: OutcomeBatch, held: [PartToken: PartPlacement]) throws -> CopyRows {
        var copy = CopyRows(flush: flush, every: gathered)
        for run in batch.runs {
            guard let part = held[run.key.claim] else { continue }
            try copy.append(
                rows: run.sequences.count,
                columns: [
                    .same(.int64(part.delivery)), .same(.date(daysSince2000: part.logDay)),
                    .same(.int16(run.key.status.rawValue)), .same(.int16(run.key.httpStatus)),
                    .same(.int16(run.key.attempt)), .same(.int64(run.key.claim.part)), .same(.null),
                    .same(run.key.reason.isEmpty ? .null : .text(run.key.reason)), .int64(run.subscriptionIDs),
                    .int32(run.sequences),
                    run.gatewayMessageIDs.isEmpty ? .same(.null) : .textColumn(run.gatewayMessageIDs),
                ]
            )
        }
        let rows = batch.rows.compactMap { row in held[row.claim].map { (row, $0) } }
        try copy.append(
            rows: rows.count,
            columns: [
                .int64(rows.map(\.1.delivery)), .int32(rows.map(\.1.logDay)), .int16(rows.map(\.0.status.rawValue)),
                .int16(rows.map(\.0.httpStatus)), .int16(rows.map(\.0.attempt)), .int64(rows.map(\.0.claim.part)),
                .int16OrNull(rows.map { $0.0.failure?.code }), .text(rows.map(\.0.reason)),
                .int64(rows.map(\.0.subscriptionID)), .int32(rows.map(\.0.sequence)),
                .text(rows.map(\.0.gatewayMessageID)),
            ]
        )
        return copy
    }
}

/// Records outcomes that came after the end of their part, which the statistics count one by one: the others of their
/// part are counted together, once.
enum LateOutcomeInsert {
    /// The part's row is locked, so that no session counts it meanwhile.
    static func statement(parts: [Int64], sequences: [Int32]) -> PostgresStatement {
        PostgresStatement(sql, [.int64Array(parts), .int32Array(sequences)])
    }

    static let sql = """
        INSERT INTO pushmta_engine.late_outcome (part_id, delivery_id, log_day, sequence)
        SELECT p.id, p.delivery_id, p.log_day, o.sequence
        FROM unnest($1::bigint[], $2::integer[]) o(part_id, sequence)
        JOIN pushmta_engine.delivery_part p ON p.id = o.part_id AND p.id = ANY($1)
        """
}

/// How many tokens were called dead, of how many messages: more than a fleet loses at once is not a fact.
enum TokenRefusalInsert {
    /// All parts of a batch are of one application.
    static func statements(_ batch: OutcomeBatch) -> [PostgresStatement] {
        let refused = batch.refusedTokens
        guard refused > 0, let part = batch.effects.first(where: { $0.kind == .invalid })?.claim.part else { return [] }
        return [
            PostgresStatement(
                sql,
                [
                    .int64(part), .int32(Int32(clamping: refused)),
                    .int32(Int32(clamping: batch.count + batch.answeredBefore)),
                ]
            )
        ]
    }

    static let sql = """
        INSERT INTO pushmta_engine.token_refusal (application_id, refused, answered)
        SELECT p.application_id, $2, $3 FROM pushmta_engine.delivery_part p WHERE p.id = $1
        """
}

/// The insert of what gateways reported about tokens.
enum TokenEventInsert {
    /// Events of outcomes that are now in the broad log; application, delivery and subscription are the part's.
    ///
    /// A token that was registered later is left alone, because it may not be the refused one. Later means: than the
    /// claim, after which the owner reads the tokens; than the creation of the part, if the claim is unknown; or than
    /// the time that the gateway gives, if that is earlier. If the gateway gives no time, the event names the part,
    /// because it does not say when it was true. The exception is an event that no mix-up can cause: it names no part,
    /// and is applied whatever happens to the others.
    ///
    /// Nothing is recorded for a forgotten subscription: an answer may contain the replacing token.
    ///
    /// - Parameter ofHeldParts: only for parts that are still held under the effect's token. For a lost part, the
    ///   outcome in the log may be the new owner's, whose message got through; only the conflict path knows which rows
    ///   were really inserted.
    static func statement(_ effects: [OutcomeBatch.Effect], ofHeldParts: Bool) -> PostgresStatement {
        PostgresStatement(
            sql,
            [
                .int64Array(effects.map(\.claim.part)), .int32Array(effects.map(\.sequence)),
                .textArray(effects.map(\.reason)), .int64ArrayWithNulls(effects.map(\.sinceMilliseconds)),
                .int64Array(effects.map(\.claim.token)), ofHeldParts ? .heldState : .null,
                .textArray(effects.map(\.kind.rawValue)), .textArray(effects.map(\.newToken)),
                .int16Array(effects.map { $0.isCertain ? 1 : 0 }),
            ]
        )
    }

    /// Each outcome is looked up separately: until the day's tables are analyzed, a join would read the whole delivery
    /// for each, and a gateway that calls every token dead sends thousands at once.
    static let sql = """
        INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, delivery_id, sequence, reason, since, part_id,
            new_token, dated)
        SELECT p.application_id, b.subscription_id, e.kind, p.delivery_id, e.sequence, e.reason,
            least(to_timestamp(e.since / 1000.0), coalesce(CASE WHEN $6::text IS NOT NULL THEN p.claimed_at END, p.created_at)),
            CASE WHEN e.since IS NULL AND e.certain = 0 THEN p.id END, e.new_token, e.since IS NOT NULL
        FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::bigint[], $5::bigint[], $7::text[], $8::text[],
            $9::smallint[]) e(part_id, sequence, reason, since, token, kind, new_token, certain)
        JOIN pushmta_engine.delivery_part p ON p.id = e.part_id
            AND ($6::text IS NULL OR p.fencing_token = e.token AND p.state = $6::text)
        CROSS JOIN LATERAL (SELECT o.subscription_id FROM pushmta_engine.broad_log o
            WHERE o.log_day = p.log_day AND o.delivery_id = p.delivery_id AND o.sequence = e.sequence LIMIT 1) b
        WHERE NOT EXISTS (SELECT FROM pushmta_engine.forgotten_subscription f WHERE f.subscription_id = b.subscription_id)
        """
}
