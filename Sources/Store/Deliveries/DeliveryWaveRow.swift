import PostgresClient
import PushCore

/// A wave of a delivery, and what has become of its messages.
package struct DeliveryWaveRow: Sendable, Hashable {
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// It has not begun.
        case waiting
        case open
        /// It kept to its guards, or a person let the delivery go on.
        case passed
        /// It did not keep to its guards: the delivery is paused.
        case held
    }

    /// 1 for the first.
    package let number: Int16
    /// Its share of all messages in percent; nil if it has none.
    package let percent: Double?
    /// Its number of messages as it was set; nil if it has none.
    package let count: Int64?
    package let startsAt: DatabaseTime?
    package let afterSeconds: Double?
    package let maxFailed: Double?
    package let maxTokenErrors: Double?
    package let maxOptOuts: Double?
    /// How many messages it has so far.
    package let messages: Int64
    package let state: State
    package let openedAt: DatabaseTime?
    package let sent: Int64
    package let failed: Int64
    package let unknown: Int64
    /// When it did not keep to its guards; nil if it did.
    package let heldAt: DatabaseTime?
    /// Its messages that wait for their time, such as one on the recipient's clock, while it is open.
    package let planned: Int64
    /// When the last of these leave.
    package let lastAt: DatabaseTime?
    /// Its messages whose push token the gateway refused; 0 without a guard against them.
    package let tokenErrors: Int64

    init(_ row: inout RowReader) throws {
        number = try row.int16()
        percent = try row.doubleOrNil()
        count = try row.int64OrNil()
        startsAt = try row.timeOrNil()
        afterSeconds = try row.doubleOrNil()
        maxFailed = try row.doubleOrNil()
        maxTokenErrors = try row.doubleOrNil()
        maxOptOuts = try row.doubleOrNil()
        messages = try row.int64()
        state = try row.choice()
        openedAt = try row.timeOrNil()
        sent = try row.int64()
        failed = try row.int64()
        unknown = try row.int64()
        heldAt = try row.timeOrNil()
        planned = try row.int64()
        lastAt = try row.timeOrNil()
        tokenErrors = try row.int64()
    }

    static let columns = """
        w.number, w.percent::double precision, w.count, w.starts_at, extract(epoch FROM w.starts_after)::double precision, w.max_failed,
            w.max_token_errors, w.max_opt_outs, w.messages, w.state, w.opened_at, w.sent, w.failed, w.unknown,
            w.held_at, w.planned, w.last_at, w.token_errors
        """

    /// What was set.
    var wave: DeliveryPlan.Wave {
        var wave = DeliveryPlan.Wave(
            percent.map(DeliveryPlan.Wave.Size.percent) ?? count.map(DeliveryPlan.Wave.Size.messages) ?? .rest
        )
        wave.startsAt = startsAt?.internetText
        wave.afterSeconds = afterSeconds.map { Int64($0) }
        wave.maxFailed = maxFailed
        // Without a number, the first wave would get the default again.
        wave.maxTokenErrors = maxTokenErrors ?? (number == 1 ? DeliveryPlan.shares.upperBound : nil)
        wave.maxOptOuts = maxOptOuts
        return wave
    }
}
