import PostgresClient

/// The insert of what gateways said about tokens.
enum TokenEventInsert {
    static func statement(_ events: [TokenEventRow]) -> PostgresStatement {
        PostgresStatement(
            sql,
            [
                .int32Array(events.map(\.applicationID)), .int64Array(events.map(\.subscriptionID)),
                .textArray(events.map(\.kind.rawValue)), .int64Array(events.map(\.deliveryID)),
                .int32Array(events.map(\.sequence)), .textArray(events.map(\.reason)),
                .textArray(events.map(\.newToken)),
                .int64ArrayWithNulls(events.map(\.sinceMilliseconds)),
            ]
        )
    }

    /// Events of outcomes that are in the broad log by now; application, delivery and subscription are the part's.
    ///
    /// Where the gateway does not say since when, a token that was registered after the part was made is left alone: it may not
    /// be the one that was refused.
    static func statement(_ effects: [OutcomeBatch.Effect]) -> PostgresStatement {
        PostgresStatement(
            effectsSQL,
            [
                .int64Array(effects.map(\.part)), .int32Array(effects.map(\.sequence)),
                .textArray(effects.map(\.reason)),
                .int64ArrayWithNulls(effects.map(\.sinceMilliseconds)),
            ]
        )
    }

    static let effectsSQL = """
        INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, delivery_id, sequence, reason, since)
        SELECT p.application_id, b.subscription_id, 'invalid', p.delivery_id, e.sequence, e.reason,
            coalesce(to_timestamp(e.since / 1000.0), p.created_at)
        FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::bigint[]) e(part_id, sequence, reason, since)
        JOIN pushmta_engine.delivery_part p ON p.id = e.part_id
        JOIN pushmta_engine.broad_log b
            ON b.log_day = p.log_day AND b.delivery_id = p.delivery_id AND b.sequence = e.sequence
        """

    static let sql = """
        INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, delivery_id, sequence, reason,
            new_token, since)
        SELECT e.application_id, e.subscription_id, e.kind, e.delivery_id, e.sequence, e.reason, e.new_token,
            to_timestamp(e.since / 1000.0)
        FROM unnest($1::integer[], $2::bigint[], $3::text[], $4::bigint[], $5::integer[], $6::text[], $7::text[], $8::bigint[])
            e(application_id, subscription_id, kind, delivery_id, sequence, reason, new_token, since)
        """
}
