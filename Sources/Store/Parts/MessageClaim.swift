import PostgresClient
import PushCore

extension Store {
    /// Claims small due parts as `claimParts` does, and merges parts of single messages that go together.
    ///
    /// `send_message` creates a part for each message, so that its caller waits for no other. Load, mark, fence and end
    /// cost the same for one message as for a thousand. So parts that were never claimed are merged into one of up to
    /// about a thousand messages: of one delivery and priority, whose messages expire within the same second. The
    /// merged part expires with the first of them.
    ///
    /// The merged parts are deleted. Their frozen targets stay until the partition of their day is dropped, like those
    /// of ended parts.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of parts to read, most urgent first.
    ///   - largest: the maximum number of messages of a part; larger ones are left to `claimParts`.
    ///   - messages: the maximum number of messages of all claimed parts; the first part is taken in any case.
    ///   - passed: deliveries to skip.
    package func claimMessages(
        application: Int32,
        account: Int32,
        child: Int64,
        limit: Int,
        largest: Int32,
        messages: Int,
        except passed: Set<Int64> = []
    ) async throws -> [ClaimedPart] {
        let parameters: [PostgresValue] = [
            .int32(application), .int32(account), .int64(child), .int64(Int64(limit)), .int32(largest),
            .int64(Int64(messages)),
        ]
        return try Self.claimed(
            passed.isEmpty
                ? await query(MessageClaim.sql, parameters)
                : await query(MessageClaim.othersSQL, parameters + [.int64Array(passed.sorted())])
        )
    }
}

/// The statement that claims parts of single messages and merges them.
enum MessageClaim {
    /// As many messages as preparation puts into a part.
    private static let maxMessages = 1_000
    /// Parts of one claim that have a history, and are not merged.
    private static let maxOthers = 256

    static let sql = sql(more: "")
    static let othersSQL = sql(more: "AND p.delivery_id <> ALL($7)")

    /// A part `p` that is only its messages: it was never claimed, and nothing refers to its id.
    private static let isPlain = """
        p.valid_until IS NOT NULL AND p.fencing_token = 0 AND p.attempt = 1 AND p.refusals = 0 AND p.load_failures = 0 AND NOT p.alone
            AND p.parent_part_id IS NULL AND p.id > coalesce((SELECT h.refusals_believed_through
                FROM pushmta_engine.application_health h WHERE h.application_id = $1), 0)
        """

    /// This statement needs no lock against a session that pauses or ends a delivery: it locks what it takes, and
    /// creates only claimed parts. Only parts of one day are merged, the latest: then the partition of their targets is
    /// chosen once, which for each part would take longer than all the rest. With `OFFSET 0` they are looked up part by
    /// part.
    private static func sql(more: String) -> String {
        """
        WITH picked AS MATERIALIZED (
            SELECT p.id, p.delivery_id, p.log_day, p.size, p.priority, p.not_before, p.created_at, p.valid_until,
                \(isPlain) AS is_plain
            \(Store.duePartsSQL(more: "AND p.size <= $5 \(more)"))
        ), day AS MATERIALIZED (
            SELECT max(k.log_day) AS log_day FROM picked k WHERE k.is_plain
        ), candidate AS (
            SELECT k.id, k.delivery_id, k.log_day, k.size, k.priority, k.not_before, k.created_at, k.valid_until,
                k.is_plain AND k.log_day = (SELECT log_day FROM day) AS is_plain
            FROM picked k
        ), numbered AS (
            SELECT k.*, sum(k.size) OVER urgency AS through, row_number() OVER (PARTITION BY k.is_plain ORDER BY k.priority DESC,
                k.not_before, k.id) AS place, sum(k.size) OVER kin AS kin_through
            FROM candidate k
            WINDOW urgency AS (ORDER BY k.priority DESC, k.not_before, k.id ROWS UNBOUNDED PRECEDING),
                kin AS (PARTITION BY k.is_plain, k.delivery_id, k.priority, date_trunc('second', k.valid_until) ORDER BY k.id
                    ROWS UNBOUNDED PRECEDING)
        ), taken AS MATERIALIZED (
            SELECT n.*, (n.kin_through - n.size) / \(maxMessages) AS piece,
                CASE WHEN n.is_plain THEN count(*) OVER (PARTITION BY n.is_plain, n.delivery_id, n.priority,
                    date_trunc('second', n.valid_until), (n.kin_through - n.size) / \(maxMessages)) ELSE 1 END AS parts
            FROM numbered n
            WHERE (n.through <= $6 OR n.through = n.size) AND (n.is_plain OR n.place <= \(maxOthers))
        ), merged AS MATERIALIZED (
            SELECT nextval(pg_get_serial_sequence('pushmta_engine.delivery_part', 'id')) AS id, g.*
            FROM (
                SELECT k.delivery_id, k.log_day, k.priority, min(k.not_before) AS not_before, min(k.created_at) AS created_at,
                    min(k.valid_until) AS valid_until, count(*)::integer AS size,
                    array_agg(m.sequence ORDER BY m.sequence) AS sequences,
                    array_agg(m.subscription_id ORDER BY m.sequence) AS subscription_ids,
                    CASE WHEN count(m.variables) > 0 THEN array_agg(m.variables ORDER BY m.sequence) END AS message_variables
                FROM taken k
                CROSS JOIN LATERAL (
                    SELECT u.subscription_id, coalesce(u.sequence, t.first_sequence + u.n::integer - 1) AS sequence,
                        coalesce(u.variables, t.variables) AS variables
                    FROM pushmta_engine.delivery_part_target t
                    CROSS JOIN LATERAL unnest(t.subscription_ids, t.sequences, t.message_variables)
                        WITH ORDINALITY u(subscription_id, sequence, variables, n)
                    WHERE t.log_day = (SELECT log_day FROM day) AND t.part_id = k.id OFFSET 0) m
                WHERE k.parts > 1
                GROUP BY k.delivery_id, k.log_day, k.priority, date_trunc('second', k.valid_until), k.piece
            ) g
        ), gone AS (
            DELETE FROM pushmta_engine.delivery_part p WHERE p.id = ANY(ARRAY(SELECT id FROM taken WHERE parts > 1))
        ), targets AS (
            INSERT INTO pushmta_engine.delivery_part_target (part_id, delivery_id, log_day, first_sequence, last_sequence,
                sequences, subscription_ids, message_variables)
            SELECT m.id, m.delivery_id, m.log_day, m.sequences[1], m.sequences[m.size], m.sequences, m.subscription_ids,
                m.message_variables
            FROM merged m
        ), made AS (
            INSERT INTO pushmta_engine.delivery_part (id, delivery_id, application_id, external_account_id, log_day, size, priority,
                not_before, created_at, valid_until, has_variables, state, owner, fencing_token, claimed_at)
            SELECT m.id, m.delivery_id, $1, $2, m.log_day, m.size, m.priority, m.not_before, m.created_at, m.valid_until,
                m.message_variables IS NOT NULL, 'claimed', $3, 1, now()
            FROM merged m RETURNING *
        ), kept AS (
            UPDATE pushmta_engine.delivery_part p
            SET state = 'claimed', owner = $3, fencing_token = p.fencing_token + 1, renewal = 0, claimed_at = now(),
                journal_length = 0
            WHERE p.id = ANY(ARRAY(SELECT id FROM taken WHERE parts = 1)) RETURNING *
        )
        SELECT \(Store.claimedColumns)
        FROM (SELECT * FROM made UNION ALL SELECT * FROM kept) p JOIN pushmta_engine.delivery d ON d.id = p.delivery_id
        """
    }
}
