import PostgresClient
import PushCore

/// What a child needs to know about a delivery to send it.
package struct SendingDelivery: Sendable {
    package let id: Int64
    package let label: String
    /// Its content, JSON.
    package let content: String
    package let state: DeliveryState
    /// 16 bytes; never logged.
    package let trackingKey: [UInt8]
    /// Added to the sequence for `int32` message ids; nil if no application of the delivery uses them.
    package let messageIDBase: Int64?
    /// The key of the permutation of those numbers, 16 bytes; never logged.
    package let messageNumberKey: [UInt8]
    /// Nothing is sent after this time; nil for no limit.
    package let validUntil: DatabaseTime?
    /// What happens to an ambiguous message.
    package let ambiguityPolicy: AmbiguityPolicy
    /// The maximum number of retries after soft failures.
    package let maxRetries: Int16
    /// How its attempts are spread over time.
    package let retrySchedule: RetryPolicy.ScheduleSetting
    /// Seconds before the first retry; nil for the schedule's own.
    package let retryPeriodSeconds: Int32?
    /// Whether messages are added to it one by one.
    package let isContinuous: Bool
    /// Whether it carries one-time codes, which ignore an opt-out.
    package let isOneTimeCode: Bool
    /// The category whose opt-outs apply to it; nil if none do. It may have others in other services.
    package let category: Int32?
    /// The categories of the applications in other services.
    package let otherCategories: [Int32: Int32]
    /// The partition of its outcomes.
    package let logDay: LogDay
    /// Whether its messages have variables of their own.
    package let hasVariables: Bool
    /// Its own limit in messages a second; nil for none.
    package let rateLimit: RateLimit?

    package init(
        id: Int64,
        label: String,
        content: String,
        state: DeliveryState,
        trackingKey: [UInt8],
        messageIDBase: Int64?,
        messageNumberKey: [UInt8] = [],
        validUntil: DatabaseTime?,
        ambiguityPolicy: AmbiguityPolicy,
        maxRetries: Int16,
        retryPeriodSeconds: Int32? = nil,
        logDay: LogDay,
        hasVariables: Bool,
        retrySchedule: RetryPolicy.ScheduleSetting = .byKind,
        isContinuous: Bool = false,
        isOneTimeCode: Bool = false,
        category: Int32? = nil,
        otherCategories: [Int32: Int32] = [:],
        rateLimit: RateLimit? = nil
    ) {
        self.id = id
        self.label = label
        self.content = content
        self.state = state
        self.trackingKey = trackingKey
        self.messageIDBase = messageIDBase
        self.messageNumberKey = messageNumberKey
        self.validUntil = validUntil
        self.ambiguityPolicy = ambiguityPolicy
        self.maxRetries = maxRetries
        self.retryPeriodSeconds = retryPeriodSeconds
        self.logDay = logDay
        self.hasVariables = hasVariables
        self.retrySchedule = retrySchedule
        self.isContinuous = isContinuous
        self.isOneTimeCode = isOneTimeCode
        self.category = category
        self.otherCategories = otherCategories
        self.rateLimit = rateLimit
    }

    /// The category whose opt-outs apply to messages to an application; nil if none do.
    package func category(ofApplication id: Int32) -> Int32? { otherCategories[id] ?? category }
}

extension Store {
    /// What a child needs to know about a delivery.
    ///
    /// - Parameter variant: the variant of its content, if it is an experiment; 0 for the content itself.
    package func deliveryForSending(_ id: Int64, variant: Int16 = 0) async throws -> SendingDelivery {
        try first(
            try await query(
                Self.sendingSQL(key: "k.key", day: "d.log_day", join: "JOIN"),
                [.int64(id), .int16(variant)]
            ),
            orThrow: "There is no started delivery \(id).",
            Self.sendingDelivery
        )
    }

    /// The same for a delivery that need not be started. Without a start it has a key of zeros, so its message ids mean
    /// nothing.
    package func deliveryForPreview(_ id: Int64, variant: Int16 = 0) async throws -> SendingDelivery {
        let sql = Self.sendingSQL(
            key: "coalesce(k.key, decode(repeat('00', 16), 'hex'))",
            day: "coalesce(d.log_day, (now() AT TIME ZONE 'UTC')::date)",
            join: "LEFT JOIN"
        )
        return try first(
            try await query(sql, [.int64(id), .int16(variant)]),
            orThrow: "There is no delivery \(id).",
            hint: "pushmta delivery list shows the deliveries",
            Self.sendingDelivery
        )
    }

    private static func sendingSQL(key: String, day: String, join: String) -> String {
        """
        SELECT d.id, d.label, coalesce(v.content, d.content)::text, d.state, \(key), d.message_id_base, (SELECT n.key FROM pushmta_engine.numbered_id_key n),
            d.valid_until, d.ambiguity_policy, r.max_retries, r.retry_period_seconds, \(day), d.target_kind = 'explicit', r.retry_schedule,
            r.kind = 'continuous', d.one_time_code, CASE WHEN NOT d.one_time_code THEN d.category_id END,
            \(otherCategoriesSQL("application_id")), \(otherCategoriesSQL("category_id")), l.id, l.messages_per_second
        FROM pushmta_engine.delivery d
        -- The days and proofs of a delivery use its retry settings.
        JOIN pushmta_engine.delivery r ON r.id = coalesce(d.parent_delivery_id, d.id)
        LEFT JOIN pushmta_engine.rate_limit l ON l.delivery_id = r.id
        LEFT JOIN pushmta_engine.experiment_cell v ON v.delivery_id = d.id AND v.cell = $2 AND v.cell < 9
        \(join) pushmta_engine.tracking_key k ON k.log_day = d.log_day
        WHERE d.id = $1
        """
    }

    private static func otherCategoriesSQL(_ column: String) -> String {
        """
        ARRAY(SELECT x.\(column) FROM pushmta_engine.delivery_application x
            WHERE x.delivery_id = d.id AND x.category_id <> d.category_id AND NOT d.one_time_code ORDER BY x.application_id)
        """
    }

    private static func sendingDelivery(_ row: inout RowReader) throws -> SendingDelivery {
        let id = try row.int64()
        return SendingDelivery(
            id: id,
            label: try row.text(),
            content: try row.text(),
            state: try row.choice(),
            trackingKey: try row.bytes(),
            messageIDBase: try row.int64OrNil(),
            messageNumberKey: try row.bytesOrNil() ?? [],
            validUntil: try row.timeOrNil(),
            ambiguityPolicy: try row.choice(),
            maxRetries: try row.int16(),
            retryPeriodSeconds: try row.int32OrNil(),
            logDay: LogDay(daysSince2000: try row.date()),
            hasVariables: try row.bool(),
            retrySchedule: try row.choice(),
            isContinuous: try row.bool(),
            isOneTimeCode: try row.bool(),
            category: try row.int32OrNil(),
            otherCategories: Dictionary(uniqueKeysWithValues: zip(try row.int32Array(), try row.int32Array())),
            rateLimit: try row.ifPresent(2) {
                RateLimit(id: try $0.int64(), messagesPerSecond: try $0.double(), deliveryID: id)
            }
        )
    }

    package func databaseClock() async throws -> DatabaseTime {
        try await query("SELECT clock_timestamp()").one { try $0.time() }
    }
}
