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
    case forgottenLogs
    case oldDeliveryRows
    case oldChildren
    case oldForgotten

    /// The time until it is looked at again when nothing was left to do. What people wait for is looked at each second, which costs
    /// a few look-ups in indexes of what is open; late outcomes are rare; what is thrown away has been there for months, and the
    /// database counts these rounds while it holds something back (`retention_passes`).
    var interval: Duration {
        switch self {
        case .tokenEvents, .outcomes, .hits: .seconds(1)
        case .lateOutcomes: .seconds(5)
        // It begins a minute after the request.
        case .forgottenLogs: .seconds(60)
        case .partitions, .disabledSubscriptions, .oldTokenEvents, .oldTrackingSources, .oldDeliveryRows, .oldChildren,
            .oldForgotten:
            .seconds(600)
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
        case .forgottenLogs: "forgotten subscriptions taken out of a day's logs"
        case .oldDeliveryRows: "rows of old deliveries deleted"
        case .oldChildren: "old children deleted"
        case .oldForgotten: "old notes of forgotten subscriptions deleted"
        }
    }
}
