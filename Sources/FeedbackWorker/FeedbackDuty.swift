/// A duty that the worker repeats, one bounded piece at a time.
enum FeedbackDuty: String, Sendable, CaseIterable {
    case tokenEvents
    case outcomes
    case lateOutcomes
    case hits
    case alarms
    case events
    case partitions
    case disabledSubscriptions
    case oldTokenEvents
    case oldTrackingSources
    case oldConversions
    case forgottenLogs
    case forgottenBehaviour
    case oldDeliveryRows
    case oldChildren
    case oldForgotten
    case oldImports
    case capHistory
    case controlGroups
    case oldBehaviour

    /// The time until the next look when nothing was left to do. Duties that users wait for run every second, which
    /// costs a few index look-ups. Late outcomes are rare. Old data has existed for months, and the database counts
    /// these rounds while it holds deletions back (`retention_passes`).
    var interval: Duration {
        switch self {
        case .tokenEvents, .outcomes, .hits: .seconds(1)
        case .lateOutcomes: .seconds(5)
        // The same as in supervisors: an alarm must also be recorded when the only supervisor hangs.
        case .alarms: .seconds(10)
        // So a consumer loses little more than it has to.
        case .events: .seconds(30)
        // The first begins a minute after the request.
        case .forgottenLogs, .forgottenBehaviour: .seconds(60)
        // So a new one is soon counted.
        case .controlGroups: .seconds(60)
        case .partitions, .disabledSubscriptions, .oldTokenEvents, .oldTrackingSources, .oldConversions,
            .oldDeliveryRows, .oldChildren, .oldForgotten, .oldImports, .capHistory, .oldBehaviour:
            .seconds(600)
        }
    }

    /// The text in the log for work done.
    var words: String {
        switch self {
        case .tokenEvents: "token events applied"
        case .outcomes: "messages counted"
        case .lateOutcomes: "late outcomes counted"
        case .hits: "hits counted"
        case .alarms: "alarms recorded"
        case .events: "consumers of events that were away for too long, and days of events dropped"
        case .partitions: "partitions dropped"
        case .disabledSubscriptions: "disabled subscriptions deleted"
        case .oldTokenEvents: "old token events deleted"
        case .oldTrackingSources: "old tracking sources deleted"
        case .oldConversions: "old conversions deleted"
        case .forgottenLogs: "forgotten subscriptions removed from a day's logs"
        case .forgottenBehaviour: "forgotten persons removed from the history of behaviour"
        case .oldDeliveryRows: "rows of old deliveries deleted"
        case .oldChildren: "old children deleted"
        case .oldForgotten: "old records of forgotten subscriptions deleted"
        case .oldImports: "records of old imports deleted"
        case .capHistory: "rows of the history of frequency caps folded"
        case .controlGroups: "persons of services with a control group counted"
        case .oldBehaviour: "rows of the history of behaviour deleted"
        }
    }
}
