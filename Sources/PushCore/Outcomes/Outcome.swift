/// What became of one message at the gateway.
public struct Outcome: Sendable, Hashable {
    /// The message's index in its request batch.
    public var index: Int32
    /// What it means for the message.
    public var outcomeClass: OutcomeClass
    /// The HTTP status, or the binary protocol's error code; 0 when there was no answer.
    public var status: Int16
    /// The gateway's reason, word for word; empty when it gave none.
    public var reason: String
    /// What it says about the push token.
    public var tokenEffect: TokenEffect
    /// How long the gateway asked to wait, in milliseconds; nil when it did not ask.
    public var retryAfterMilliseconds: Int32?
    /// Whether the pause is only what the gateway's documents advise: it spaces the attempts of one message, and no more.
    public var isPauseAdvice: Bool
    /// The gateway's name for the accepted message (FCM gives one); nil when there is none.
    public var gatewayMessageID: String?
    /// Whether the answer concerns the whole application, for example a 429 for the whole project.
    public var applicationWide: Bool
    /// Whether it is an error of the push token that a mix-up of keys, topics or environments would cause as well.
    ///
    /// One such answer condemns its token; when many of an application's answers are of this kind, none of them does.
    public var isTokenDoubtful: Bool
    /// What kind of failure it is; nil for what is none.
    public var failure: MessageFailure?
    /// Whose failure it is.
    public var fault: AnswerFault
    /// Whether the message was not handed to a connection at all, so that nothing was tried.
    public var neverLeft: Bool
    /// Whether another message was the cause, about which the gateway has decided: sending this one again is no further attempt.
    public var isCollateral: Bool

    /// Makes an outcome; what is left out is absent.
    public init(
        index: Int32,
        outcomeClass: OutcomeClass,
        status: Int16 = 0,
        reason: String = "",
        tokenEffect: TokenEffect = .none,
        retryAfterMilliseconds: Int32? = nil,
        isPauseAdvice: Bool = false,
        gatewayMessageID: String? = nil,
        applicationWide: Bool = false,
        isTokenDoubtful: Bool = false,
        failure: MessageFailure? = nil,
        fault: AnswerFault? = nil,
        neverLeft: Bool = false,
        isCollateral: Bool = false
    ) {
        self.index = index
        self.outcomeClass = outcomeClass
        self.status = status
        self.reason = reason
        self.tokenEffect = tokenEffect
        self.retryAfterMilliseconds = retryAfterMilliseconds
        self.isPauseAdvice = isPauseAdvice
        self.gatewayMessageID = gatewayMessageID
        self.applicationWide = applicationWide
        self.isTokenDoubtful = isTokenDoubtful
        self.failure = failure
        self.fault = fault ?? outcomeClass.usualFault
        self.neverLeft = neverLeft
        self.isCollateral = isCollateral
    }
}
