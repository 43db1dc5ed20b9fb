import PushCore

/// The delivery with the messages of one day of a continuous delivery.
package struct DeliveryDay: Sendable {
    /// Its own id.
    package let id: Int64
    package let logDay: LogDay
    package let state: DeliveryState
    /// Messages so far.
    package let target: Int64
    /// Messages by status, `pending` included; without statuses that no message has.
    package let counts: [MessageStatus: Int64]
    /// What its messages wait for, "" if nothing.
    package let waitingReason: String

    /// Whether it is under way but its messages are held up.
    package var standsStill: Bool { state == .inProgress && !waitingReason.isEmpty }

    package init(
        id: Int64,
        logDay: LogDay,
        state: DeliveryState,
        target: Int64,
        counts: [MessageStatus: Int64],
        waitingReason: String = ""
    ) {
        self.waitingReason = waitingReason
        self.id = id
        self.logDay = logDay
        self.state = state
        self.target = target
        self.counts = counts
    }
}
