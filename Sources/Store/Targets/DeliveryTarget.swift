import PostgresClient
import PushCore

/// Whom of the subscribers of its applications a delivery goes to; nil leaves what the delivery has.
public struct DeliveryTarget: Sendable, Hashable {
    /// Who is chosen, in the language of `TargetFilter`; an empty text is everybody.
    public var filter: String?
    /// Names of the exclusion lists whose people get nothing.
    public var excludedLists: [String]?
    /// Whether a push token, or a row of explicit targets, that is there twice gets two messages.
    public var allowsDuplicates: Bool?

    public init(filter: String? = nil, excludedLists: [String]? = nil, allowsDuplicates: Bool? = nil) {
        self.filter = filter
        self.excludedLists = excludedLists
        self.allowsDuplicates = allowsDuplicates
    }

    /// Whether it changes nothing.
    public var isEmpty: Bool { filter == nil && excludedLists == nil && allowsDuplicates == nil }
}

/// Whom a delivery goes to, as it is set.
public struct DeliveryTargeting: Sendable, Hashable {
    /// Whether it goes to the rows of `pushmta.delivery_target`.
    public let isExplicit: Bool
    /// Who of the subscribers is chosen; nil: everybody.
    public let filter: String?
    /// Whether a condition in SQL chooses too.
    public let hasRawSQL: Bool
    /// Names of its exclusion lists.
    public let excludedLists: [String]
    /// Names of the seed addresses that get it, too; nil: all of its applications.
    public let seeds: [String]?

    public init(
        isExplicit: Bool,
        filter: String?,
        hasRawSQL: Bool,
        excludedLists: [String],
        seeds: [String]? = []
    ) {
        self.seeds = seeds
        self.isExplicit = isExplicit
        self.filter = filter
        self.hasRawSQL = hasRawSQL
        self.excludedLists = excludedLists
    }
}

/// One message of a delivery with explicit targets, and whom it goes to.
public struct ExplicitTarget: Sendable, Hashable {
    /// Whom it goes to, by exactly one of these.
    public enum Addressee: Sendable, Hashable {
        /// A user, on all their subscriptions.
        case user(String)
        case subscription(Int64)
        case pushToken(String)
    }

    public let addressee: Addressee
    /// Values for the fields of the content, a JSON object; nil if it has none of its own.
    public let variables: String?

    public init(_ addressee: Addressee, variables: String? = nil) {
        self.addressee = addressee
        self.variables = variables
    }

    var userKey: String? { if case .user(let key) = addressee { key } else { nil } }
    var subscriptionID: Int64? { if case .subscription(let id) = addressee { id } else { nil } }
    var pushToken: String? { if case .pushToken(let token) = addressee { token } else { nil } }
}

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
            SELECT t.target_kind = 'explicit', t.target_filter, t.has_target_sql, t.exclusion_lists, t.seeds
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
                seeds: try row.textArrayOrNil()
            )
        }
    }
}
