import PostgresClient
import PushCore

/// The end of parts: each is closed once, in the transaction of its last outcomes, together with its retry parts.
enum PartClosing {
    /// All statements that end the parts, in order.
    static func statements(_ closing: [ClosingPart]) -> [PostgresStatement] {
        let closing = closing.sorted { ($0.claim.part, $0.claim.token) < ($1.claim.part, $1.claim.token) }
        return unknown(closing) + [statement(closing)]
    }

    /// Comes before the first lock of a part. New parts must not meet a delivery that is just being paused or stopped.
    /// The session that does that locks the delivery first and then waits for parts: the opposite order would be a
    /// deadlock.
    static func lock(_ closing: [ClosingPart]) -> [PostgresStatement] {
        closing.isEmpty ? [] : [DeliveryLock.statement(parts: closing.map(\.claim.part))]
    }

    /// A part that ends early leaves no ambiguous message as canceled or expired.
    private static func unknown(_ closing: [ClosingPart]) -> [PostgresStatement] {
        let early = closing.filter { $0.restStatus != nil && $0.restStatus != .unknown }
        guard !early.isEmpty else { return [] }
        return [
            PostgresStatement(
                unknownSQL,
                [.int64Array(early.map(\.claim.part)), .int64Array(early.map(\.claim.token)), .heldState]
            )
        ]
    }

    private static let unknownSQL = """
        SELECT pushmta_engine.record_unknown(ARRAY(
            SELECT p.id FROM unnest($1::bigint[], $2::bigint[]) c(id, token)
            JOIN pushmta_engine.delivery_part p ON p.id = c.id AND p.id = ANY($1) AND p.fencing_token = c.token AND p.state = $3
            ORDER BY p.id FOR NO KEY UPDATE OF p), 'no answer was recorded before the end')
        """

    private static func statement(_ closing: [ClosingPart]) -> PostgresStatement {
        guard closing.contains(where: { $0.hasRetries || !$0.ambiguous.isEmpty }) else {
            return PostgresStatement(plainSQL, ends(closing) + [.heldState])
        }
        var setParts: [Int64] = []
        var setNumbers: [Int32] = []
        var delays: [Int64] = []
        var counts: [Bool] = []
        var refusals: [Int16] = []
        var reasons: [String?] = []
        var parts: [Int64] = []
        var numbers: [Int32] = []
        var sequences: [Int32] = []
        for part in closing where part.hasRetries {
            for (number, retry) in part.retries.enumerated() where !retry.sequences.isEmpty {
                setParts.append(part.claim.part)
                setNumbers.append(Int32(number))
                delays.append(max(0, retry.delayMilliseconds))
                counts.append(retry.countsAttempt)
                refusals.append(retry.refusals)
                reasons.append(retry.waitsFor)
                parts += Array(repeating: part.claim.part, count: retry.sequences.count)
                numbers += Array(repeating: Int32(number), count: retry.sequences.count)
                sequences += retry.sequences
            }
        }
        return PostgresStatement(
            sql,
            ends(closing) + [
                .int64Array(setParts), .int32Array(setNumbers), .int64Array(delays), .int64Array(parts),
                .int32Array(numbers),
                .int32Array(sequences), .heldState,
                .int64Array(closing.flatMap { Array(repeating: $0.claim.part, count: $0.ambiguous.count) }),
                .int32Array(closing.flatMap(\.ambiguous)), .boolArray(counts), .int16Array(refusals),
                .textArray(reasons),
            ]
        )
    }

    /// Parameters $1 to $5.
    private static func ends(_ closing: [ClosingPart]) -> [PostgresValue] {
        [
            .int64Array(closing.map(\.claim.part)), .int64Array(closing.map(\.claim.token)),
            .int32Array(closing.map(\.resentAfterAmbiguity)),
            .int16ArrayWithNulls(closing.map { $0.restStatus?.rawValue }),
            .textArray(closing.map { $0.restStatus == nil ? nil : $0.restReason }),
        ]
    }

    /// Adds the statement's result: one row for each closed part with the number of its retry parts and the token under
    /// which it ended.
    static func read(_ result: PostgresResult, into report: inout StoreReport) throws {
        try result.each { row in
            let part = try row.int64()
            report.closedParts.append(part)
            report.retryParts += Int(try row.int64())
            report.closed.insert(PartToken(part: part, token: try row.int64()))
        }
    }

    /// Without retries, as nearly all parts end. The arrays are read as in the statement of the marks.
    static let plainSQL = """
        UPDATE pushmta_engine.delivery_part p
        SET state = 'done', finished_at = now(),
            resent_after_ambiguity = p.resent_after_ambiguity + ($3::integer[])[width_bucket(p.id, $1)],
            rest_status = ($4::smallint[])[width_bucket(p.id, $1)], rest_reason = ($5::text[])[width_bucket(p.id, $1)]
        WHERE p.id = ANY($1::bigint[]) AND p.fencing_token = ($2::bigint[])[width_bucket(p.id, $1)] AND p.state = $6
            AND (($4::smallint[])[width_bucket(p.id, $1)] IS NOT NULL OR p.size = \(StatusCounts.sumSQL))
        RETURNING p.id, 0::bigint, p.fencing_token
        """

    /// `IS NULL` of a scalar subquery, not NOT EXISTS: this makes a look-up for each of a few messages, never a join
    /// with the whole delivery. A message that has an outcome by now (a late fact) goes into no retry part. A part
    /// stays open if its counters, with what it hands over, do not add up to its size.
    static let sql = """
        WITH c AS (
            SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::integer[], $4::smallint[], $5::text[])
                c(id, token, resent, rest_status, rest_reason)
        ), wanted AS MATERIALIZED (
            SELECT DISTINCT ON (r.part_id, r.sequence) r.part_id, r.number, r.sequence
            FROM unnest($9::bigint[], $10::integer[], $11::integer[]) r(part_id, number, sequence)
            ORDER BY r.part_id, r.sequence, r.number
        ), \(PartTargets.sql(parts: "SELECT DISTINCT part_id FROM wanted")), retry AS MATERIALIZED (
            SELECT w.part_id, w.number, array_agg(w.sequence ORDER BY w.sequence) AS sequences, count(*)::integer AS size,
                array_agg(t.subscription_ids[x.place] ORDER BY w.sequence) AS subscription_ids,
                array_agg(t.target_ids[x.place] ORDER BY w.sequence) AS target_ids,
                -- -- Either the same for the whole part, or one for each message.
                (array_agg(t.variables))[1] AS variables,
                array_agg(t.message_variables[x.place] ORDER BY w.sequence) FILTER (WHERE cardinality(t.message_variables) > 0)
                    AS message_variables
            FROM wanted w
            JOIN target t ON t.part_id = w.part_id
            CROSS JOIN LATERAL (SELECT \(PartTargets.place(of: "w.sequence"))) x(place)
            WHERE x.place BETWEEN 1 AND cardinality(t.subscription_ids)
                AND (SELECT true FROM pushmta_engine.broad_log b
                    WHERE b.log_day = t.log_day AND b.delivery_id = t.delivery_id AND b.sequence = w.sequence) IS NULL
            GROUP BY w.part_id, w.number
        ), closed AS (
            UPDATE pushmta_engine.delivery_part p
            SET state = 'done', finished_at = now(), handed_over = coalesce(h.size, 0),
                resent_after_ambiguity = p.resent_after_ambiguity + c.resent, rest_status = c.rest_status,
                rest_reason = c.rest_reason
            FROM c LEFT JOIN (SELECT part_id, sum(size)::integer AS size FROM retry GROUP BY part_id) h ON h.part_id = c.id
            WHERE p.id = c.id AND p.id = ANY($1) AND p.fencing_token = c.token AND p.state = $12
                AND (c.rest_status IS NOT NULL OR p.size = \(StatusCounts.sumSQL) + coalesce(h.size, 0))
            RETURNING p.id, p.delivery_id, p.application_id, p.external_account_id, p.log_day, p.priority, p.attempt,
                p.refusals, p.has_variables, p.valid_until, p.fencing_token, p.wave, p.time_zone, p.cell, p.variant
        ), ambiguous AS (
            INSERT INTO pushmta_engine.delivery_part_recovery (part_id, fencing_token, ambiguous)
            SELECT k.id, k.fencing_token, array_agg(DISTINCT a.sequence)
            FROM (
                SELECT a.part_id, a.sequence FROM unnest($13::bigint[], $14::integer[]) a(part_id, sequence)
                UNION ALL
                SELECT w.part_id, w.sequence
                FROM wanted w
                JOIN pushmta_engine.delivery_part p ON p.id = w.part_id
                JOIN pushmta_engine.delivery_part q ON q.id = p.parent_part_id
                JOIN pushmta_engine.delivery_part_recovery r ON r.part_id = q.id AND r.fencing_token = q.fencing_token
                WHERE w.sequence = ANY(r.ambiguous)
            ) a JOIN closed k ON k.id = a.part_id
            GROUP BY k.id, k.fencing_token
            ON CONFLICT (part_id, fencing_token) DO NOTHING
        ), made AS MATERIALIZED (
            SELECT nextval(pg_get_serial_sequence('pushmta_engine.delivery_part', 'id')) AS new_id, k.*, r.sequences, r.size,
                r.subscription_ids, r.target_ids, r.variables, r.message_variables, s.delay, s.counts, s.refusals AS refused,
                s.waits_for
            FROM closed k
            JOIN retry r ON r.part_id = k.id
            JOIN unnest($6::bigint[], $7::integer[], $8::bigint[], $15::boolean[], $16::smallint[], $17::text[])
                s(part_id, number, delay, counts, refusals, waits_for)
                ON s.part_id = r.part_id AND s.number = r.number
        ), parts AS (
            INSERT INTO pushmta_engine.delivery_part (id, delivery_id, parent_part_id, not_before, application_id,
                external_account_id, log_day, size, priority, attempt, refusals, has_variables, valid_until, waits_for, wave,
                time_zone, cell, variant, state)
            SELECT m.new_id, m.delivery_id, m.id, CASE WHEN m.waits_for IS NULL THEN now() + m.delay * interval '1 millisecond'
                ELSE \(CredentialWaitSQL.end(of: "m")) END, m.application_id,
                m.external_account_id, m.log_day, m.size, m.priority, m.attempt + CASE WHEN m.counts THEN 1 ELSE 0 END,
                m.refused, m.has_variables, m.valid_until, m.waits_for, m.wave, m.time_zone, m.cell,
                m.variant, \(DeliveryLock.partState(timeZone: "m.time_zone"))
            FROM made m JOIN pushmta_engine.delivery d ON d.id = m.delivery_id
        ), apart AS (
            \(CredentialWaitSQL.begin(of: "made"))
        ), targets AS (
            INSERT INTO pushmta_engine.delivery_part_target (part_id, delivery_id, log_day, first_sequence, last_sequence,
                sequences, subscription_ids, target_ids, variables, message_variables)
            SELECT m.new_id, m.delivery_id, m.log_day, m.sequences[1], m.sequences[m.size], m.sequences, m.subscription_ids,
                CASE WHEN m.has_variables AND m.variables IS NULL AND m.message_variables IS NULL THEN m.target_ids END,
                m.variables, m.message_variables
            FROM made m
        )
        SELECT k.id, (SELECT count(*) FROM made m WHERE m.id = k.id), k.fencing_token FROM closed k
        """
}
