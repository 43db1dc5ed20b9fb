import PostgresClient
import PushCore

/// A slice of a rate: this many messages from a moment on.
package struct RateSlice: Sendable, Hashable {
    package let limit: Int64
    package let messages: Int32
    /// When the first of them may be sent, from the time of the answer.
    package let startsIn: Duration
    /// Messages a second from then on.
    package let messagesPerSecond: Double
}

/// The objects whose limits apply to a sender's messages, by their database ids.
package struct RateScope: Sendable, Hashable {
    package var application: Int32
    package var account: Int32
    /// The FCM project; nil for other gateways.
    package var project: String?

    /// The scope of a sender.
    package init(application: Int32, account: Int32, project: String? = nil) {
        self.application = application
        self.account = account
        self.project = project
    }
}

/// A limit as operators see it.
package struct RateLimitRow: Sendable, Hashable {
    /// `delivery`, `application`, `account` or `project`.
    package let scope: String
    /// The delivery's id, or the object's name.
    package let name: String
    package let messagesPerSecond: Double
    /// The present rate: lower for a while after idleness, or after the gateway's refusal.
    package let currentRate: Double
    /// Messages granted so far.
    package let granted: Int64
    /// Why it was last halved; empty if it never was.
    package let cutReason: String
    package let secondsSinceCut: Double?
}

/// Rates: limits in messages a second, shared by all hosts.
extension Store {
    /// The limits of a sender and some deliveries. The days and proofs of a delivery share its limit.
    package func rateLimits(_ scope: RateScope, deliveries: [Int64]) async throws -> [RateLimit] {
        try all(
            try await query(
                Self.rateLimitsSQL,
                [
                    .int32(scope.application), .int32(scope.account), .textOrNull(scope.project),
                    .int64Array(deliveries),
                ]
            ),
            Self.rateLimit
        )
    }

    static func rateLimit(_ row: inout RowReader) throws -> RateLimit {
        RateLimit(
            id: try row.int64(),
            messagesPerSecond: try row.double(),
            deliveryID: try row.int64OrNil(),
            isProject: try row.bool()
        )
    }

    /// Ensures that a project has a limit: Google's, unless another was set.
    package func limitProject(_ project: String) async throws {
        try await query("SELECT pushmta_engine.limit_project($1)", [.text(project)])
    }

    /// Takes the next slices of some limits, without those that were deleted.
    package func takeRates(_ wanted: [(limit: Int64, messages: Int32)]) async throws -> [RateSlice] {
        let sorted = wanted.sorted { $0.limit < $1.limit }
        let result = try await query(
            "SELECT * FROM pushmta_engine.take_rates($1, $2)",
            [.int64Array(sorted.map(\.limit)), .int32Array(sorted.map(\.messages))]
        )
        return try all(result) { row in
            RateSlice(
                limit: try row.int64(),
                messages: try row.int32(),
                startsIn: .seconds(try row.double()),
                messagesPerSecond: try row.double()
            )
        }
    }

    /// Halves a rate that the gateway has refused as too high.
    package func cutRate(_ limit: Int64, reason: String) async throws {
        try await query("SELECT pushmta_engine.cut_rate($1, $2)", [.int64(limit), .text(reason)])
    }

    /// Limits a delivery, even while it is being sent.
    ///
    /// - Parameter messagesPerSecond: a value of ``DeliverySetting/rate``; nil for no limit.
    package func setDeliveryRate(_ id: Int64, messagesPerSecond: Double?) async throws {
        try await change(
            "pushmta.set_delivery_rate($1, $2)",
            [.int64(id), messagesPerSecond.map(PostgresValue.double) ?? .null]
        )
    }

    /// Sets a delivery's share among deliveries of its priority.
    ///
    /// - Parameter weight: a value of ``DeliverySetting/weight``.
    package func setDeliveryWeight(_ id: Int64, _ weight: Int) async throws {
        try await query("SELECT pushmta.set_delivery_weight($1, $2)", [.int64(id), .int32(Int32(clamping: weight))])
    }

    /// Limits an application, an external account or an FCM project.
    ///
    /// - Parameters:
    ///   - scope: `application`, `account` or `project`.
    ///   - messagesPerSecond: a value of ``DeliverySetting/rate``; nil for no limit, or Google's for a project; infinity
    ///     for a project without a limit.
    package func setRate(_ scope: String, _ name: String, messagesPerSecond: Double?) async throws {
        try await query(
            "SELECT pushmta.set_rate($1, $2, $3)",
            [.text(scope), .text(name), messagesPerSecond.map(PostgresValue.double) ?? .null]
        )
    }

    /// The limits, those of deliveries last.
    package func rateLimitRows(limit: Int) async throws -> [RateLimitRow] {
        let result = try await query(
            """
            SELECT scope, name, messages_per_second, current_rate, granted, cut_reason,
                extract(epoch FROM clock_timestamp() - cut_at)::double precision
            FROM pushmta.rate_limit ORDER BY scope = 'delivery', scope, changed_at DESC, name LIMIT $1
            """,
            [.int64(Int64(limit))]
        )
        return try all(result) { row in
            RateLimitRow(
                scope: try row.text(),
                name: try row.text(),
                messagesPerSecond: try row.double(),
                currentRate: try row.double(),
                granted: try row.int64(),
                cutReason: try row.text(),
                secondsSinceCut: try row.doubleOrNil()
            )
        }
    }

    static let rateLimitsSQL = """
        SELECT r.id, r.messages_per_second, NULL::bigint, r.project IS NOT NULL FROM pushmta_engine.rate_limit r
        WHERE r.application_id = $1 OR r.external_account_id = $2 OR r.project = $3
        UNION ALL
        SELECT r.id, r.messages_per_second, d.id, false
        FROM pushmta_engine.delivery d
        JOIN pushmta_engine.rate_limit r ON r.delivery_id = coalesce(d.parent_delivery_id, d.id)
        WHERE d.id = ANY($4)
        """
}
