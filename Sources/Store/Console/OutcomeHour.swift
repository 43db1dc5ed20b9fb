/// Outcomes of the last hour, by the minute in which their part ended.
package struct OutcomeHour: Sendable, Hashable {
    /// Minutes with outcomes, newest first.
    package let minutes: [OutcomeMinute]
    /// Whether there were more parts than are counted.
    package let isPartial: Bool

    package init(minutes: [OutcomeMinute], isPartial: Bool) {
        self.minutes = minutes
        self.isPartial = isPartial
    }
}
