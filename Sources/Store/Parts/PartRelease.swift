import PostgresClient
import PushCore

extension Store {
    /// Takes a part from its owner, for others to claim, and records what is known about messages that may have been
    /// sent.
    ///
    /// A part of a delivery that is paused or has ended is held back; what a lost owner leaves of a stopped one is
    /// resolved by `finishRest`.
    ///
    /// - Parameters:
    ///   - part: the part, under the token that must still be valid.
    ///   - recovery: what the owner's journal shows, or what a draining owner hands back.
    ///   - ambiguousThroughMark: the journal is lost, so every message up to the dispatch mark without an outcome is
    ///     ambiguous.
    ///   - renewal: the renewal counter that must still be valid, if the part is taken because its owner is silent: the
    ///     owner may have renewed since, even while this call waited for the row.
    ///   - problem: why its messages cannot be loaded or sent now. Then the part waits, longer each time, and others
    ///     pass it at once.
    ///   - wait: the part is not claimed before this time has passed, in milliseconds; others pass it.
    ///   - alone: its push tokens were refused: its next owner judges it separately.
    ///   - waits: whether to wait for a session that has locked the part or its delivery: an open transaction may last
    ///     for hours.
    /// - Returns: false if the token has changed or the part has ended, or if it is locked and this call does not wait;
    ///   then nothing was changed.
    @discardableResult
    package func releasePart(
        _ part: PartToken,
        recovery: PartRecovery = PartRecovery(),
        ambiguousThroughMark: Bool = false,
        renewal: Int64? = nil,
        problem: String? = nil,
        wait: Int64 = 0,
        alone: Bool = false,
        waits: Bool = true
    ) async throws -> Bool {
        let soft = recovery.softAnswers
        let release = PostgresStatement(
            waits ? Self.releaseSQL : Self.releaseFreeSQL,
            [
                .int64(part.part), .int64(part.token), .bool(ambiguousThroughMark), .int32(recovery.ambiguousThrough),
                .int32Array(recovery.ambiguous), .int32Array(soft.map(\.sequence)), .int16Array(soft.map(\.attempt)),
                .int16Array(soft.map(\.httpStatus)), .textArray(soft.map(\.reason)),
                .int64ArrayWithNulls(soft.map { $0.notBefore?.microsecondsSince1970 }), .bool(!recovery.isEmpty),
                .int64OrNull(renewal), .textOrNull(problem), .bool(alone), .int64(max(0, wait)),
            ]
        )
        guard ambiguousThroughMark else { return try await group([release])[0].one { try $0.int64() > 0 } }
        return try await transaction { transaction in
            let released = try await transaction.execute(release).one { try $0.int64() > 0 }
            if released {
                _ = try await transaction.execute(
                    PostgresStatement(Self.listSQL, [.int64(part.part), .int64(part.token)])
                )
            }
            return released
        }
    }

    /// Lists the messages that a mark stands for: those without an outcome. It is a separate statement, because only
    /// that sees the owner's last outcomes, for which the release has waited.
    private static let listSQL = """
        UPDATE pushmta_engine.delivery_part_recovery r
        SET ambiguous_through = 0, ambiguous = ARRAY(
            SELECT u.sequence FROM unnest(r.ambiguous) u(sequence)
            UNION
            SELECT x.sequence FROM pushmta_engine.delivery_part p
            JOIN pushmta_engine.delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
            CROSS JOIN LATERAL generate_series(1, least(r.ambiguous_through, cardinality(t.subscription_ids))) n(place)
            CROSS JOIN LATERAL (SELECT coalesce(t.sequences[n.place], t.first_sequence + n.place - 1)) x(sequence)
            WHERE p.id = r.part_id AND (SELECT true FROM pushmta_engine.broad_log b
                WHERE b.log_day = p.log_day AND b.delivery_id = p.delivery_id AND b.sequence = x.sequence) IS NULL
            ORDER BY 1)
        WHERE r.part_id = $1 AND r.fencing_token = $2 AND r.ambiguous_through > 0
        """

    /// The mark restarts with the next owner; its meaning for this one is in the recovery row.
    private static let releaseSQL = releaseSQL(turn: DeliveryLock.turn(of: "its"), ifLocked: "")

    /// A caller that does not wait needs no queue, and skips locked rows.
    private static let releaseFreeSQL = releaseSQL(turn: "true", ifLocked: "SKIP LOCKED")

    private static func releaseSQL(turn: String, ifLocked: String) -> String {
        """
        WITH its AS MATERIALIZED (
            SELECT p.delivery_id AS id FROM pushmta_engine.delivery_part p WHERE p.id = $1
        ), delivery AS MATERIALIZED (
            SELECT d.id, d.state FROM pushmta_engine.delivery d
            WHERE d.id = (SELECT id FROM its) AND \(turn)
            FOR KEY SHARE \(ifLocked)
        ), before AS MATERIALIZED (
            SELECT p.id, p.dispatch_mark, \(DeliveryLock.partState(timeZone: "p.time_zone")) AS state
            FROM delivery d JOIN pushmta_engine.delivery_part p ON p.delivery_id = d.id
            WHERE p.id = $1 AND p.fencing_token = $2 AND p.state = 'claimed'
                AND ($12::bigint IS NULL OR p.renewal = $12)
            FOR NO KEY UPDATE OF p \(ifLocked)
        ), released AS (
            UPDATE pushmta_engine.delivery_part p
            SET state = b.state, owner = NULL, claimed_at = NULL, dispatch_mark = 0, closes_at = NULL, load_error = $13::text,
                alone = p.alone OR $14,
                load_failures = CASE WHEN $13::text IS NULL THEN 0 ELSE least(p.load_failures + 1, 100) END,
                not_before = CASE WHEN $13::text IS NULL AND $15 = 0 THEN p.not_before
                    WHEN $13::text IS NULL THEN greatest(p.not_before, now() + $15 * interval '1 millisecond')
                    ELSE greatest(p.not_before, now() + \(LoadProblem.wait(after: "p.load_failures"))) END
            FROM before b WHERE p.id = b.id
            RETURNING p.id
        ), kept AS (
            INSERT INTO pushmta_engine.delivery_part_recovery (part_id, fencing_token, ambiguous_through, ambiguous,
                soft_sequences, soft_attempts, soft_http_statuses, soft_reasons, soft_not_before)
            SELECT b.id, $2, greatest($4, CASE WHEN $3 THEN b.dispatch_mark ELSE 0 END), $5, $6, $7, $8, $9,
                (SELECT coalesce(array_agg(to_timestamp(u.at / 1000000.0) ORDER BY u.place), '{}')
                    FROM unnest($10::bigint[]) WITH ORDINALITY u(at, place))
            FROM before b
            WHERE $11 OR ($3 AND b.dispatch_mark > 0)
            ON CONFLICT (part_id, fencing_token) DO NOTHING
        )
        SELECT count(*) FROM released
        """
    }
}
