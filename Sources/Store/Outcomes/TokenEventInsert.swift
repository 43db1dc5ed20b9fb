import PostgresClient
import PushCore

/// The insert of what gateways said about tokens.
enum TokenEventInsert {
    /// Events of outcomes that are in the broad log by now; application, delivery and subscription are the part's.
    ///
    /// A token that was registered later is left alone, as it may not be the one that was refused: later than the claim, behind which
    /// the owner reads the tokens, or than the making of the part if it is not known which claim it was; or later than the time that
    /// the gateway gives, if that is earlier. Where it gives none the event names the part, as it says nothing of its own about when
    /// it was true; unless it is one that a mix-up cannot have caused: such an event is applied whatever becomes of the others.
    ///
    /// Of a forgotten subscription nothing is noted: an answer may name the token that is wanted instead.
    ///
    /// - Parameter ofHeldParts: only of parts that stand under the effect's token. Of a part that was lost the outcome in the log may
    ///   be the new owner's, whose message got through; those that were really inserted are known on the careful path only.
    static func statement(_ effects: [OutcomeBatch.Effect], ofHeldParts: Bool) -> PostgresStatement {
        PostgresStatement(
            sql,
            [
                .int64Array(effects.map(\.holding.part)), .int32Array(effects.map(\.sequence)),
                .textArray(effects.map(\.reason)), .int64ArrayWithNulls(effects.map(\.sinceMilliseconds)),
                .int64Array(effects.map(\.holding.token)), ofHeldParts ? .heldState : .null,
                .textArray(effects.map(\.kind.rawValue)), .textArray(effects.map(\.newToken)),
                .int16Array(effects.map { $0.isCertain ? 1 : 0 }),
            ]
        )
    }

    static let sql = """
        INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, delivery_id, sequence, reason, since, part_id,
            new_token)
        SELECT p.application_id, b.subscription_id, e.kind, p.delivery_id, e.sequence, e.reason,
            least(to_timestamp(e.since / 1000.0), coalesce(CASE WHEN $6::text IS NOT NULL THEN p.claimed_at END, p.created_at)),
            CASE WHEN e.since IS NULL AND e.certain = 0 THEN p.id END, e.new_token
        FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::bigint[], $5::bigint[], $7::text[], $8::text[],
            $9::smallint[]) e(part_id, sequence, reason, since, token, kind, new_token, certain)
        JOIN pushmta_engine.delivery_part p ON p.id = e.part_id
            AND ($6::text IS NULL OR p.fencing_token = e.token AND p.state = $6::text)
        JOIN pushmta_engine.broad_log b
            ON b.log_day = p.log_day AND b.delivery_id = p.delivery_id AND b.sequence = e.sequence
        WHERE NOT EXISTS (SELECT FROM pushmta_engine.forgotten_subscription f WHERE f.subscription_id = b.subscription_id)
        """
}
