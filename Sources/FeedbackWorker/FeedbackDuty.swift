/// Something that the worker does again and again, a bounded piece at a time.
enum FeedbackDuty: String, Sendable, CaseIterable {
    case tokenEvents
    case outcomes
    case lateOutcomes
    case hits
    case partitions
    case disabledSubscriptions
    case oldTokenEvents
    case oldTrackingSources

    /// The time until it is looked at again when nothing was left to do. What people wait for is looked at each second, which costs
    /// a few look-ups in indexes of what is open; late outcomes are rare; what is thrown away has been there for months, and the
    /// database counts these rounds while it holds something back (`retention_passes`).
    var interval: Duration {
        switch self {
        case .tokenEvents, .outcomes, .hits: .seconds(1)
        case .lateOutcomes: .seconds(5)
        case .partitions, .disabledSubscriptions, .oldTokenEvents, .oldTrackingSources: .seconds(600)
        }
    }

    /// What the log calls that which it has done.
    var words: String {
        switch self {
        case .tokenEvents: "token events applied"
        case .outcomes: "messages counted"
        case .lateOutcomes: "late outcomes counted"
        case .hits: "hits counted"
        case .partitions: "partitions dropped"
        case .disabledSubscriptions: "disabled subscriptions deleted"
        case .oldTokenEvents: "old token events deleted"
        case .oldTrackingSources: "old tracking sources deleted"
        }
    }
}
