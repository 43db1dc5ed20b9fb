import PostgresClient
import PushCore

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
