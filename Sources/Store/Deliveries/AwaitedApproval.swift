import PostgresClient
import PushCore

/// A delivery that waits for an approval.
package struct AwaitedApproval: Sendable, Hashable {
    package let deliveryID: Int64
    package let label: String
    package let state: DeliveryState
    package let service: String
    /// The size above which its service asks for approvals.
    package let above: Int64
    package let messages: Int64
    /// When it is to start; nil if it has no start yet, or starts as soon as it is approved.
    package let startAt: DatabaseTime?
    /// What is missing.
    package let problem: String
    /// Who created and changed it.
    package let makers: [String]
    /// When its messages leave, by the recipient's clock, such as `2026-12-01T09:00`; nil if it does not go by that.
    package let localTime: String?
    /// Whether it starts as soon as it is approved.
    package let startsApproved: Bool
    /// Who requested the approval and said when it starts: a login, an API key or a user of the console; nil if nobody
    /// did.
    package let requestedBy: String?
    /// What an approval expects: it changes with everything that is approved.
    package let version: String
    /// Whether it has an approval, which no longer covers it.
    package let wasApproved: Bool
    /// How many of its messages would never be sent, because the local time of their recipients is over at its start.
    package let late: Int64
    /// Whether it recurs: it has no start of its own, and the approval is for its runs.
    package let recurs: Bool

    /// Whether somebody is asked to approve it. It has its start then, or gets it with the approval; the author of one
    /// that is only analysed has not asked yet, unless it recurs.
    package var isRequested: Bool { state != .ready || recurs }

    init(_ row: inout RowReader) throws {
        deliveryID = try row.int64()
        label = try row.text()
        state = try row.choice()
        service = try row.text()
        above = try row.int64()
        messages = try row.int64()
        startAt = try row.timeOrNil()
        problem = try row.text()
        makers = try row.textArray()
        localTime = try row.textOrNil()
        startsApproved = try row.bool()
        requestedBy = try row.textOrNil()
        version = try row.text()
        wasApproved = try row.bool()
        late = try row.int64()
        recurs = try row.bool()
    }
}
