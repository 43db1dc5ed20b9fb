import PushCore

/// The delivery that has the messages of one day of a continuous delivery.
public struct DeliveryDay: Sendable {
    /// Its own id.
    public let id: Int64
    /// The day.
    public let logDay: LogDay
    /// Its state.
    public let state: DeliveryState
    /// Messages so far.
    public let target: Int64
    /// Messages by what became of them, `pending` included; one that no message has is not there.
    public let counts: [MessageStatus: Int64]

    /// A day.
    public init(id: Int64, logDay: LogDay, state: DeliveryState, target: Int64, counts: [MessageStatus: Int64]) {
        self.id = id
        self.logDay = logDay
        self.state = state
        self.target = target
        self.counts = counts
    }
}
