import PostgresClient
import PushCore

/// A limit of messages a second, which all hosts share.
public struct RateLimit: Sendable, Hashable {
    public let id: Int64
    /// Messages a second; infinite for a project that has none.
    public let messagesPerSecond: Double
    /// The delivery that it is of, as its parts name it; nil for one of the application, the account or the project.
    public let deliveryID: Int64?
    /// Whether it is of the project, of which the gateway says when it is exceeded.
    public let isProject: Bool

    public init(id: Int64, messagesPerSecond: Double, deliveryID: Int64? = nil, isProject: Bool = false) {
        self.id = id
        self.messagesPerSecond = messagesPerSecond
        self.deliveryID = deliveryID
        self.isProject = isProject
    }
}

/// A slice of a rate: so many messages from a moment on.
public struct RateSlice: Sendable, Hashable {
    public let limit: Int64
    public let messages: Int32
    /// When the first of them may leave, from the moment of the answer on.
    public let startsIn: Duration
    /// Messages a second from then on.
    public let messagesPerSecond: Double
}

/// What of a sender's messages is limited, in the words of the database.
public struct RateScope: Sendable, Hashable {
    public var application: Int32
    public var account: Int32
    /// The project of FCM; nil for other gateways.
    public var project: String?

    /// The scope of a sender.
    public init(application: Int32, account: Int32, project: String? = nil) {
        self.application = application
        self.account = account
        self.project = project
    }
}

/// A limit as operators see it.
public struct RateLimitRow: Sendable, Hashable {
    /// `delivery`, `application`, `account` or `project`.
    public let scope: String
    /// The delivery's number, or the name of the other.
    public let name: String
    public let messagesPerSecond: Double
    /// What is allowed now: less for a while after idleness, or after the gateway's refusal.
    public let currentRate: Double
    /// Messages that were given out so far.
    public let granted: Int64
    /// Why it was halved last; empty if it never was.
    public let cutReason: String
    public let secondsSinceCut: Double?
}

/// Rates: limits of messages a second, shared by all hosts.
extension Store {
    /// The limits that hold for a sender and some deliveries. The days and proofs of a delivery share its limit.
    public func rateLimits(_ scope: RateScope, deliveries: [Int64]) async throws -> [RateLimit] {
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

    /// Makes sure that a project has a limit, Google's unless it has another.
    public func limitProject(_ project: String) async throws {
        try await query("SELECT pushmta_engine.limit_project($1)", [.text(project)])
    }

    /// Takes the next slices of some limits; of one that is gone there is none.
    public func takeRates(_ wanted: [(limit: Int64, messages: Int32)]) async throws -> [RateSlice] {
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

    /// Halves the rate of which the gateway has said that it is too high.
    public func cutRate(_ limit: Int64, reason: String) async throws {
        try await query("SELECT pushmta_engine.cut_rate($1, $2)", [.int64(limit), .text(reason)])
    }

    /// Limits a delivery, also while it is sent.
    ///
    /// - Parameter messagesPerSecond: from 0.001 to 1,000,000; nil for no limit.
    public func setDeliveryRate(_ id: Int64, messagesPerSecond: Double?) async throws {
        try await change(
            "pushmta.set_delivery_rate($1, $2)",
            [.int64(id), messagesPerSecond.map(PostgresValue.double) ?? .null]
        )
    }

    /// Gives a delivery more or fewer shares of what leaves with its priority.
    ///
    /// - Parameter weight: from 1 to 10.
    public func setDeliveryWeight(_ id: Int64, _ weight: Int) async throws {
        try await query("SELECT pushmta.set_delivery_weight($1, $2)", [.int64(id), .int32(Int32(clamping: weight))])
    }

    /// Limits an application, an external account or a project of FCM.
    ///
    /// - Parameters:
    ///   - scope: `application`, `account` or `project`.
    ///   - messagesPerSecond: from 0.001 to 1,000,000; nil for no limit, or Google's for a project; infinity for a project without one.
    public func setRate(_ scope: String, _ name: String, messagesPerSecond: Double?) async throws {
        try await query(
            "SELECT pushmta.set_rate($1, $2, $3)",
            [.text(scope), .text(name), messagesPerSecond.map(PostgresValue.double) ?? .null]
        )
    }

    /// The limits, those of deliveries last.
    public func rateLimitRows(limit: Int) async throws -> [RateLimitRow] {
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
