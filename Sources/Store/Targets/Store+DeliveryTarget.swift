import PostgresClient
import PushCore

extension Store {
    /// Says whom a delivery goes to, before its start, through the same function that marketing systems call.
    public func setTarget(ofDelivery id: Int64, _ target: DeliveryTarget) async throws {
        try await query(
            "SELECT pushmta.set_target($1, $2::text, $3::text[], $4::boolean)",
            [
                .int64(id), .textOrNull(target.filter), target.excludedLists.map { .textArray($0) } ?? .null,
                target.allowsDuplicates.map(PostgresValue.bool) ?? .null,
            ]
        )
    }

    /// Adds explicit targets to a delivery, before its start: one message each, in this order.
    public func addTargets(_ targets: [ExplicitTarget], toDelivery id: Int64) async throws {
        try await query(
            """
            INSERT INTO pushmta.delivery_target (delivery_id, user_key, subscription_id, push_token, variables)
            SELECT $1, u.user_key, u.subscription_id, u.push_token, u.variables::jsonb
            FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[])
                WITH ORDINALITY u(user_key, subscription_id, push_token, variables, place)
            ORDER BY u.place
            """,
            [
                .int64(id), .textArray(targets.map(\.userKey)), .int64ArrayWithNulls(targets.map(\.subscriptionID)),
                .textArray(targets.map(\.pushToken)), .textArray(targets.map(\.variables)),
            ]
        )
    }

    /// Whom a delivery goes to.
    public func targeting(ofDelivery id: Int64) async throws -> DeliveryTargeting {
        let result = try await query(
            """
            SELECT t.target_kind = 'explicit', t.target_filter, t.has_target_sql, t.exclusion_lists
            FROM pushmta.delivery_targeting t WHERE t.delivery_id = $1
            """,
            [.int64(id)]
        )
        return try first(
            result,
            orThrow: "There is no delivery \(id).",
            hint: "pushmta delivery list shows the deliveries"
        ) { rows, row in
            DeliveryTargeting(
                isExplicit: try rows.bool(row, 0),
                filter: try rows.textOrNil(row, 1),
                hasRawSQL: try rows.bool(row, 2),
                excludedLists: try rows.textArray(row, 3).compactMap(\.self)
            )
        }
    }
}
