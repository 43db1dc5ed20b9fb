import PostgresClient
import PushCore

/// The experiment of a delivery, a row of `pushmta.experiment`.
package struct ExperimentRow: Sendable, Hashable {
    /// The states of an experiment.
    package enum State: String, Sendable, CaseIterable {
        /// For the start of its delivery.
        case waiting
        case running
        /// It has a winner.
        case decided
        /// Its time is over, and no variant was surely better.
        case undecided
    }

    package let deliveryID: Int64
    package let metric: ExperimentRule.Metric
    /// Seconds from the start to the decision; nil if there is none.
    package let decideAfterSeconds: Int64?
    package let isEarly: Bool
    package let certaintyPercent: Double
    package let leastSample: Int64
    package let holdOutPercent: Double
    package let ifUndecided: ExperimentRule.Undecided
    package let state: State
    /// The number and the label of the variant that the rest gets.
    package let winner: Int16?
    package let winnerLabel: String?
    /// When it is decided at the latest; nil if it is not under way.
    package let decidesAt: DatabaseTime?
    package let decidedAt: DatabaseTime?
    /// Why it was decided so, in words; "" before.
    package let decision: String
    /// When its results were counted.
    package let countedAt: DatabaseTime?

    /// The columns of a row `e`, in the order in which they are read.
    static let columns = """
        e.delivery_id, e.metric, extract(epoch FROM e.decide_after)::bigint, e.early, e.certainty_percent, e.least_sample,
        e.hold_out_percent, e.if_undecided, e.state, e.winner, e.winner_label, e.decides_at, e.decided_at, e.decision, e.counted_at
        """

    init(_ row: inout RowReader) throws {
        deliveryID = try row.int64()
        metric = try row.choice()
        decideAfterSeconds = try row.int64OrNil()
        isEarly = try row.bool()
        certaintyPercent = try row.double()
        leastSample = try row.int64()
        holdOutPercent = try row.double()
        ifUndecided = try row.choice()
        state = try row.choice()
        winner = try row.int16OrNil()
        winnerLabel = try row.textOrNil()
        decidesAt = try row.timeOrNil()
        decidedAt = try row.timeOrNil()
        decision = try row.text()
        countedAt = try row.timeOrNil()
    }
}
