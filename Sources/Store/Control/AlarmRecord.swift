/// An active or past alarm, a row of `pushmta.alarm_history`.
package struct AlarmRecord: Sendable, Hashable {
    /// The id by which it is acknowledged.
    package let id: Int64
    /// The alarm as last recorded.
    package let alarm: AlarmRow
    package let beganAt: DatabaseTime
    /// When it ended; nil while it is active.
    package let endedAt: DatabaseTime?
    /// When it was acknowledged, and by whom.
    package let acknowledgement: Acknowledgement?

    /// Who has acknowledged an alarm, and when.
    package struct Acknowledgement: Sendable, Hashable {
        package let at: DatabaseTime
        package let by: String
    }
}
