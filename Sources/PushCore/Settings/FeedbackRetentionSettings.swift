/// How long the feedback worker keeps things, in days; 0: forever.
public struct FeedbackRetentionSettings: Sendable, Equatable {
    /// The outcome of each message, and whom it was for.
    public var broadLogDays = 180
    /// Receipts and clicks.
    public var trackingLogDays = 180
    /// Who was left out of a delivery, and why.
    public var exclusionLogDays = 180
    /// What was said about tokens and was decided.
    public var tokenEventDays = 180
    /// Subscriptions that were disabled and not opted out (Adobe's option `NmsCleanup_AppSubscriptionRcpPurgeDelay`).
    public var disabledSubscriptionDays = 180

    /// Creates the settings with their defaults.
    public init() {}
}
