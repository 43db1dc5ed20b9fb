import PostgresClient
import PushCore

public struct NewDelivery: Sendable {
    public var label: String
    /// Names of the applications whose subscribers it goes to, each over its own account unless `accounts` says otherwise.
    public var applications: [String]
    /// Its content, JSON.
    public var content: String
    /// Whether its target is what stands in `pushmta.delivery_target` instead of all subscribers.
    public var explicitTargets: Bool
    /// Greater goes first; 0 is normal.
    public var priority: Int16
    /// Seconds from its start in which messages are sent.
    public var validitySeconds: Int64
    /// What happens to an ambiguous message.
    public var ambiguityPolicy: AmbiguityPolicy
    /// Whether a user gets it on the newest of their subscriptions only.
    public var onePerUser: Bool
    /// Soft failures are sent again at most so often, 0 to 1,000.
    public var maxRetries: Int32
    /// Seconds before the first retry, 1 to 31,536,000; nil for the schedule's own.
    public var retryPeriodSeconds: Int32?
    /// How its attempts are spread.
    public var retrySchedule: RetryPolicy.ScheduleSetting
    /// So many of its messages leave a second at most, from 0.001 to 1,000,000; nil without a limit.
    public var messagesPerSecond: Double?
    /// Whether messages are added to it after its start; then its validity counts for each of them.
    public var isContinuous = false
    /// Whether it brings a code that somebody has asked for, and so goes to those who opted out, too.
    public var isOneTimeCode = false

    /// A delivery to all subscribers of the applications.
    public init(
        label: String,
        applications: [String],
        content: String,
        explicitTargets: Bool = false,
        priority: Int16 = 0,
        validitySeconds: Int64 = 432_000,
        ambiguityPolicy: AmbiguityPolicy = .resend,
        onePerUser: Bool = false,
        maxRetries: Int32 = 5,
        retryPeriodSeconds: Int32? = nil,
        retrySchedule: RetryPolicy.ScheduleSetting = .byKind
    ) {
        self.label = label
        self.applications = applications
        self.content = content
        self.explicitTargets = explicitTargets
        self.priority = priority
        self.validitySeconds = validitySeconds
        self.ambiguityPolicy = ambiguityPolicy
        self.onePerUser = onePerUser
        self.maxRetries = maxRetries
        self.retryPeriodSeconds = retryPeriodSeconds
        self.retrySchedule = retrySchedule
    }
}

extension Store {
    /// Creates a delivery, through the same function that marketing systems call.
    public func createDelivery(_ delivery: NewDelivery) async throws -> Int64 {
        try NameCheck.label(delivery.label, of: "delivery")
        try NameCheck.validity(delivery.validitySeconds)
        let result = try await query(
            """
            SELECT CASE WHEN $11 THEN pushmta.make_continuous(k.id) ELSE k.id END
            FROM pushmta.create_delivery(label => $1, applications => $2, content => $3::text, priority => $4::integer,
                validity => make_interval(secs => $5::double precision), explicit_targets => $6, one_per_user => $7,
                ambiguity_policy => $8, max_retries => $9, retry_period_seconds => $10::integer, retry_schedule => $12,
                messages_per_second => $13) c(id)
            CROSS JOIN LATERAL (SELECT CASE WHEN $14 THEN (SELECT c.id FROM pushmta.set_one_time_code(c.id)) ELSE c.id END AS id) k
            """,
            [
                .text(delivery.label), .textArray(delivery.applications), .text(delivery.content),
                .int32(Int32(delivery.priority)), .double(Double(delivery.validitySeconds)),
                .bool(delivery.explicitTargets),
                .bool(delivery.onePerUser), .text(delivery.ambiguityPolicy.rawValue), .int32(delivery.maxRetries),
                delivery.retryPeriodSeconds.map(PostgresValue.int32) ?? .null, .bool(delivery.isContinuous),
                .text(delivery.retrySchedule.rawValue), delivery.messagesPerSecond.map(PostgresValue.double) ?? .null,
                .bool(delivery.isOneTimeCode),
            ]
        )
        return try result.one { try $0.int64() }
    }

    /// Says, before its start, whether a delivery brings one-time codes.
    public func setOneTimeCode(_ id: Int64, _ isCode: Bool) async throws {
        try await change("pushmta.set_one_time_code($1, $2)", [.int64(id), .bool(isCode)])
    }

    public func startDelivery(_ id: Int64) async throws {
        try await change("pushmta.start_delivery($1)", [.int64(id)])
    }
}
