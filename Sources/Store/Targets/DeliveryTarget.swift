import PostgresClient
import PushCore

/// A change of a delivery's target; nil values leave what the delivery has.
package struct DeliveryTarget: Sendable, Hashable {
    /// The filter, in the language of `TargetFilter`; an empty text selects everyone.
    package var filter: String?
    /// The saved audience whose filter is copied, in place of a filter.
    package var audience: String?
    /// The names of the exclusion lists.
    package var excludedLists: [String]?
    /// Whether a push token or an explicit target that occurs twice gets two messages.
    package var allowsDuplicates: Bool?

    package init(
        filter: String? = nil,
        audience: String? = nil,
        excludedLists: [String]? = nil,
        allowsDuplicates: Bool? = nil
    ) {
        self.filter = filter
        self.audience = audience
        self.excludedLists = excludedLists
        self.allowsDuplicates = allowsDuplicates
    }

    /// Whether it changes nothing.
    package var isEmpty: Bool {
        filter == nil && audience == nil && excludedLists == nil && allowsDuplicates == nil
    }
}

extension Store {
    /// Sets the target of a delivery before its start, through the same function that marketing systems call.
    package func setTarget(ofDelivery id: Int64, _ target: DeliveryTarget) async throws {
        try await change(
            "pushmta.set_target($1, $2::text, $3::text[], $4::boolean, $5::text)",
            [
                .int64(id), .textOrNull(target.filter), target.excludedLists.map { .textArray($0) } ?? .null,
                target.allowsDuplicates.map(PostgresValue.bool) ?? .null, .textOrNull(target.audience),
            ]
        )
    }

    /// Adds explicit targets to a delivery before its start: one message each, in this order.
    package func addTargets(_ targets: [ExplicitTarget], toDelivery id: Int64) async throws {
        try await query(
            """
            INSERT INTO pushmta.delivery_target (delivery_id, user_key, subscription_id, push_token, variables)
            SELECT $1, u.user_key, u.subscription_id, u.push_token, u.variables::jsonb
            FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[])
                WITH ORDINALITY u(user_key, subscription_id, push_token, variables, place)
            ORDER BY u.place
            """,
            [
                .int64(id), .textArray(targets.map(\.addressee.userKey)),
                .int64ArrayWithNulls(targets.map(\.addressee.subscriptionID)),
                .textArray(targets.map(\.addressee.pushToken)), .textArray(targets.map(\.variables)),
            ]
        )
    }

    /// The target of a delivery.
    package func targeting(ofDelivery id: Int64) async throws -> DeliveryTargeting {
        let result = try await query(
            """
            SELECT t.target_kind = 'explicit', t.target_filter, t.has_target_sql, t.exclusion_lists, t.seeds, t.audience
            FROM pushmta.delivery_targeting t WHERE t.delivery_id = $1
            """,
            [.int64(id)]
        )
        return try first(
            result,
            orThrow: "There is no delivery \(id).",
            hint: "pushmta delivery list shows the deliveries"
        ) { row in
            DeliveryTargeting(
                isExplicit: try row.bool(),
                filter: try row.textOrNil(),
                hasRawSQL: try row.bool(),
                excludedLists: try row.textArray(),
                seeds: try row.textArrayOrNil(),
                audience: try row.text()
            )
        }
    }
}
