/// One push as it goes into the records.
struct RecordedPush: Sendable {
    var key: MessageKey
    var tokenHash: UInt32
    /// The answer's code in the gateway's catalog.
    var answer: UInt8
    /// The gateway took it; an accepted one may stay unanswered.
    var isAccepted: Bool
    /// The answer leaves with the read that brought the push; a later one is recorded when it leaves.
    var isAnswered: Bool
}
