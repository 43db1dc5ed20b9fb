/// One message's answer, as it is journaled until the database has it.
public struct JournalAnswer: Sendable, Hashable {
    /// The message's sequence number in its delivery.
    public var sequence: Int32
    /// What the answer means for the message.
    public var outcomeClass: OutcomeClass
    /// The HTTP status, or the binary protocol's error code; 0 when there was none.
    public var status: Int16
    /// Which attempt this was, counted from 1.
    public var attempt: Int16
    /// When the message may be tried again, in milliseconds since 1970 of the database's clock; nil when it does not
    /// matter.
    public var notBeforeMilliseconds: Int64?
    /// The gateway's reason, word for word; empty when it gave none. What exceeds 65,535 bytes is cut off.
    public var reason: String
    /// The gateway's name for the accepted message; nil when there is none.
    public var gatewayMessageID: String?
    /// What the answer says about the push token.
    public var tokenEffect: TokenEffect
    /// What kind of failure it is; nil for what is none.
    public var failure: MessageFailure?
    /// Whether the message got through to a subscription that has soft errors.
    public var healsErrors: Bool

    /// Makes an answer; what is left out is absent.
    public init(
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
