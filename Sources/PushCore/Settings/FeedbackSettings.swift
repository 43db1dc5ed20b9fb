/// The feedback worker: token events, statistics, retention.
public struct FeedbackSettings: Sendable, Equatable {
    /// How much of the time it works while messages are sent, in percent of one processor.
    public var shareWhileSendingPercent = 20
    /// How long things are kept.
    public var retention = FeedbackRetentionSettings()

    /// Creates the settings with their defaults.
    public init() {}
}
