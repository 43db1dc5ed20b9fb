import PushCore

/// How many messages of a delivery have the same outcome, or were left out for the same reason.
package struct OutcomeCount: Sendable, Hashable {
    /// Their status; nil for people left out at preparation.
    package let status: MessageStatus?
    /// The reason, verbatim; "" if none.
    package let reason: String
    package let count: Int64
    /// The kind of failure; nil if it is not a failure.
    package let failure: MessageFailure?

    package init(status: MessageStatus?, reason: String, count: Int64, failure: MessageFailure? = nil) {
        self.failure = failure
        self.status = status
        self.reason = reason
        self.count = count
    }
}
