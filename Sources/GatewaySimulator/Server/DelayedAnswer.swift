/// An answer that waits for its time.
struct DelayedAnswer<Rules: GatewayRules> {
    /// When it is due, in nanoseconds of the event loop's clock.
    var due: UInt64
    /// Keeps answers of the same moment in order.
    var number: UInt64
    var connection: GatewayConnection<Rules>
    var streamID: Int32
    var judgement: Judgement
    /// The sender's id.
    var id: [UInt8]
    /// The push was recorded when it came; otherwise it is only now, if its connection is still there.
    var isTaken: Bool

    func isBefore(_ other: DelayedAnswer) -> Bool {
        due != other.due ? due < other.due : number < other.number
    }
}
