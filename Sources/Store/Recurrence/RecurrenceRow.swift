import PostgresClient

/// A recurring delivery, a row of `pushmta.recurrence`.
package struct RecurrenceRow: Sendable, Hashable {
    /// The states of a recurrence.
    package enum State: String, Sendable, CaseIterable {
        case editing
        case active
        case paused
        case finished
    }

    package let deliveryID: Int64
    package let label: String
    package let state: State
    /// Why PushMTA paused or finished it; "" if a user did, or it has run to its end.
    package let reason: String
    /// The rule, with everything filled in.
    package let rule: RecurrenceRule
    /// The next planned moment; nil unless it is active.
    package let nextRun: DatabaseTime?
    /// The last run, a delivery.
    package let lastRun: Int64?
    /// The run that has to end before the due one starts.
    package let waitsFor: Int64?

    /// The columns of a row `r`, in the order in which they are read.
    static let columns = """
        r.delivery_id, r.label, r.state, r.reason, r.unit, r.time_zone, r.every,
        ARRAY(SELECT to_char(t.time, 'HH24:MI') FROM unnest(r.times) t(time)), r.weekdays, r.month_days, r.starts_on::text,
        r.ends_on::text, r.except_dates::text[], r.missed, r.next_run, r.last_run, r.waits_for
        """

    init(_ row: inout RowReader) throws {
        deliveryID = try row.int64()
        label = try row.text()
        state = try row.choice()
        reason = try row.text()
        var rule = RecurrenceRule(unit: try row.choice(), timeZone: try row.text())
        rule.every = try row.int32()
        rule.times = try row.textArray()
        rule.weekdays = try row.int32Array()
        rule.monthDays = try row.int32Array()
        rule.startsOn = try row.text()
        rule.endsOn = try row.textOrNil()
        rule.exceptDates = try row.textArray()
        rule.missed = try row.choice()
        self.rule = rule
        nextRun = try row.timeOrNil()
        lastRun = try row.int64OrNil()
        waitsFor = try row.int64OrNil()
    }
}
