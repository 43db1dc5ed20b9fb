import PushCore

/// How many messages of a delivery ended the same way, or were left out for the same reason.
public struct OutcomeCount: Sendable, Hashable {
    /// How they ended; nil for those left out at preparation.
    public let status: MessageStatus?
    /// The reason, verbatim; "" if none.
    public let reason: String
    /// How many.
    public let count: Int64
    /// What kind of failure it is; nil for what is none.
    public let failure: MessageFailure?

    /// A count of messages.
    public init(status: MessageStatus?, reason: String, count: Int64, failure: MessageFailure? = nil) {
        self.failure = failure
        self.status = status
        self.reason = reason
        self.count = count
    }
}
