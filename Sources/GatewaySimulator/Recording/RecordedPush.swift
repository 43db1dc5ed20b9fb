/// A push to record.
struct RecordedPush: Sendable {
    var key: MessageKey
    var tokenHash: UInt32
    /// The answer's code in the gateway's catalog.
    var answer: UInt8
    /// Whether the gateway accepted the push; an accepted one may stay unanswered.
    var isAccepted: Bool
    /// Whether the answer is sent in the same read. A later answer is recorded when it is sent.
    var isAnswered: Bool
}
