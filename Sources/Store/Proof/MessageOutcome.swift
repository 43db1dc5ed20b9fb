import PushCore

/// What became of one message of a delivery.
public struct MessageOutcome: Sendable, Hashable {
    /// Its number within the delivery.
    public let sequence: Int32
    /// How it ended, or `pending`.
    public let status: MessageStatus
    /// The attempt that brought it there.
    public let attempt: Int16
    /// The gateway's words or ours, "" if none.
    public let reason: String

    /// An outcome.
    public init(sequence: Int32, status: MessageStatus, attempt: Int16, reason: String = "") {
        self.sequence = sequence
        self.status = status
        self.attempt = attempt
        self.reason = reason
    }
}
