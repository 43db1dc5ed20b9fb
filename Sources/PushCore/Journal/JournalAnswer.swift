/// A message's answer, journaled until the database has it.
package struct JournalAnswer: Sendable, Hashable {
    /// The message's sequence number in its delivery.
    package var sequence: Int32
    /// What the answer means for the message.
    package var outcomeClass: OutcomeClass
    /// The HTTP status, or the binary protocol's error code; 0 when there was none.
    package var status: Int16
    /// The number of the attempt, counted from 1.
    package var attempt: Int16
    /// The earliest time of the next attempt, in milliseconds since 1970 on the database's clock; nil if it does not
    /// matter.
    package var notBeforeMilliseconds: Int64?
    /// The gateway's reason, verbatim; empty if it gave none. It is cut at 65,535 bytes.
    package var reason: String
    /// The gateway's id of the accepted message; nil if there is none.
    package var gatewayMessageID: String?
    /// What the answer says about the push token.
    package var tokenEffect: TokenEffect
    /// The kind of failure; nil if the answer is no failure.
    package var failure: MessageFailure?
    /// Whether the message got through to a subscription that has soft errors.
    package var healsErrors: Bool

    /// Makes an answer; omitted values are absent.
    package init(
        sequence: Int32,
        outcomeClass: OutcomeClass,
        status: Int16 = 0,
        attempt: Int16 = 1,
        notBeforeMilliseconds: Int64? = nil,
        reason: String = "",
        gatewayMessageID: String? = nil,
        tokenEffect: TokenEffect = .none,
        failure: MessageFailure? = nil,
        healsErrors: Bool = false
    ) {
        self.sequence = sequence
        self.outcomeClass = outcomeClass
        self.status = status
        self.attempt = attempt
        self.notBeforeMilliseconds = notBeforeMilliseconds
        self.reason = reason
        self.gatewayMessageID = gatewayMessageID
        self.tokenEffect = tokenEffect
        self.failure = failure
        self.healsErrors = healsErrors
    }
}
