import Foundation
import Store

/// What happens now, as read from the database at one moment.
struct NowSnapshot: Sendable {
    let hosts: [HostRow]
    let children: [ChildOverview]
    let alarms: [AlarmRow]
    /// Active and recently ended alarms, for the chart.
    let history: [AlarmRecord]
    let queues: [EngineFigures.Queue]
    let deliveries: Deliveries
    let hour: OutcomeHour
    let readAt: Date
    /// The clock of the services; nil for UTC, also if they have several.
    let clock: ZoneClock?

    /// The open deliveries that are shown, and how it is about their approvals.
    struct Deliveries: Sendable {
        let rows: [DeliveryProgress]
        let standings: [Int64: ApprovalStanding]
        /// What their last analyses counted, by id, if their messages are made again.
        let lastCounts: [Int64: Int64]
    }

    /// The maximum number of alarms read for the chart.
    static let maxMarks = 50
    /// The maximum number of open deliveries shown; the list has all.
    static let maxDeliveries = 8
}
