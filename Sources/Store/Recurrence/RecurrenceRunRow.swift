import PostgresClient
import PushCore

/// What was done about a moment of a recurring delivery, a row of `pushmta.recurrence_run`.
package struct RecurrenceRunRow: Sendable, Hashable {
    /// What was done.
    package enum Outcome: String, Sendable, CaseIterable {
        case started
        /// Nothing ran at its moment.
        case skippedMissed = "skipped_missed"
        /// The run before had not ended.
        case skippedOverlap = "skipped_overlap"
        /// The run could not be made.
        case failed
    }

    package let plannedAt: DatabaseTime
    package let notedAt: DatabaseTime
    package let outcome: Outcome
    package let reason: String
    /// The run, a delivery, with its state and its messages; nil if there is none.
    package let runID: Int64?
    package let runState: DeliveryState?
    package let target: Int64?

    init(_ row: inout RowReader) throws {
        plannedAt = try row.time()
        notedAt = try row.time()
        outcome = try row.choice()
        reason = try row.text()
        runID = try row.int64OrNil()
        runState = try row.ifPresent(1) { try $0.choice() }
        target = try row.int64OrNil()
    }
}
