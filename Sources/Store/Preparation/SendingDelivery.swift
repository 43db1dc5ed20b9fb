import PushCore

/// What a child needs to know of a delivery to send it.
public struct SendingDelivery: Sendable {
    /// The delivery.
    public let id: Int64
    /// Its name.
    public let label: String
    /// Its content, JSON.
    public let content: String
    /// Its state now.
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
    /// How its attempts are spread.
    public let retrySchedule: RetryPolicy.Schedule
    /// Seconds before the first retry; with the daily schedule it is an hour at least.
    public let retryPeriodSeconds: Int32
    /// The partition of its outcomes.
    public let logDay: LogDay
    /// Whether messages carry variables of their own.
    public let hasVariables: Bool

    /// A delivery to send.
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
        retryPeriodSeconds: Int32,
        logDay: LogDay,
        hasVariables: Bool,
        retrySchedule: RetryPolicy.Schedule = .daily
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
    }
}
