import PostgresClient
import PushCore

/// What a child needs to know of a delivery to send it.
public struct SendingDelivery: Sendable {
    public let id: Int64
    public let label: String
    /// Its content, JSON.
    public let content: String
    public let state: DeliveryState
    /// 16 bytes; never in a log.
    public let trackingKey: [UInt8]
    /// What is added to the sequence for `int32` message ids; nil if no application of the delivery has them.
    public let messageIDBase: Int64?
    /// The key of the permutation of those numbers, 16 bytes; never in a log.
    public let messageNumberKey: [UInt8]
    /// Nothing is sent after this moment; nil without limit.
    public let validUntil: DatabaseTime?
    /// What happens to an ambiguous message.
    public let ambiguityPolicy: AmbiguityPolicy
    /// Soft failures are sent again at most so often.
    public let maxRetries: Int16
    /// What it says of how its attempts are spread.
    public let retrySchedule: RetryPolicy.ScheduleSetting
    /// Seconds before the first retry; nil for the schedule's own.
    public let retryPeriodSeconds: Int32?
    /// Whether messages are added to it one by one.
    public let isContinuous: Bool
    /// Whether it brings one-time codes, which pass over an opt-out.
    public let isOneTimeCode: Bool
    /// The partition of its outcomes.
    public let logDay: LogDay
    /// Whether messages carry variables of their own.
    public let hasVariables: Bool
    /// How many of its messages may leave a second; nil without a limit of its own.
    public let rateLimit: RateLimit?

    public init(
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
        self.rateLimit = rateLimit
    }
}

extension Store {
    /// What a child needs to know of a delivery.
    public func deliveryForSending(_ id: Int64) async throws -> SendingDelivery {
        try first(
            try await query(Self.sendingSQL(key: "k.key", day: "d.log_day", join: "JOIN"), [.int64(id)]),
            orThrow: "There is no started delivery \(id).",
            Self.sendingDelivery
        )
    }

    /// The same of a delivery that need not be started: without a start it has a key of zeros, so its message ids mean nothing.
    public func deliveryForPreview(_ id: Int64) async throws -> SendingDelivery {
        let sql = Self.sendingSQL(
            key: "coalesce(k.key, decode(repeat('00', 16), 'hex'))",
            day: "coalesce(d.log_day, (now() AT TIME ZONE 'UTC')::date)",
            join: "LEFT JOIN"
        )
        return try first(
            try await query(sql, [.int64(id)]),
            orThrow: "There is no delivery \(id).",
            hint: "pushmta delivery list shows the deliveries",
            Self.sendingDelivery
        )
    }

    private static func sendingSQL(key: String, day: String, join: String) -> String {
        """
        SELECT d.id, d.label, d.content::text, d.state, \(key), d.message_id_base, (SELECT n.key FROM pushmta_engine.numbered_id_key n),
            d.valid_until, d.ambiguity_policy, r.max_retries, r.retry_period_seconds, \(day), d.target_kind = 'explicit', r.retry_schedule,
            r.kind = 'continuous', d.one_time_code, l.id, l.messages_per_second
        FROM pushmta_engine.delivery d
        -- The days and proofs of a delivery are retried as it says.
        JOIN pushmta_engine.delivery r ON r.id = coalesce(d.parent_delivery_id, d.id)
        LEFT JOIN pushmta_engine.rate_limit l ON l.delivery_id = r.id
        \(join) pushmta_engine.tracking_key k ON k.log_day = d.log_day
        WHERE d.id = $1
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
            rateLimit: try row.ifPresent(2) {
                RateLimit(id: try $0.int64(), messagesPerSecond: try $0.double(), deliveryID: id)
            }
        )
    }

    public func databaseClock() async throws -> DatabaseTime {
        try await query("SELECT clock_timestamp()").one { try $0.time() }
    }
}
