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
