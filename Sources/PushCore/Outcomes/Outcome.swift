/// The outcome of sending one message.
package struct Outcome: Sendable, Hashable {
    /// The message's index in its request batch.
    package var index: Int32
    /// What it means for the message.
    package var outcomeClass: OutcomeClass
    /// The HTTP status, or the binary protocol's error code; 0 if there was no answer.
    package var status: Int16
    /// The gateway's reason, verbatim; empty if it gave none.
    package var reason: String
    /// What the answer says about the push token.
    package var tokenEffect: TokenEffect
    /// How long the gateway asked to wait, in milliseconds; nil if it did not.
    package var retryAfterMilliseconds: Int32?
    /// Whether the pause only follows the gateway's documentation. Then it spaces the attempts of this message and
    /// affects nothing else.
    package var isPauseAdvice: Bool
    /// The gateway's id of the accepted message (FCM gives one); nil if there is none.
    package var gatewayMessageID: String?
    /// Whether the answer concerns the whole application, for example a 429 for the whole project.
    package var applicationWide: Bool
    /// Whether it is an error of the push token that a mix-up of keys, topics or environments would also cause.
    ///
    /// A single such answer disables its token. If many of an application's answers are of this kind, none of them
    /// does.
    package var isTokenDoubtful: Bool
    /// The kind of failure; nil if the outcome is no failure.
    package var failure: MessageFailure?
    package var fault: AnswerFault
    /// Whether the message was never handed to a connection, so that there was no attempt.
    package var neverLeft: Bool
    /// Whether another message was the cause and the gateway has decided about that one. Sending this message again
    /// does not count as an attempt.
    package var isCollateral: Bool
    /// Whether the gateway answered, however it does that. The guard against mass failures counts answers.
    package var isAnswer: Bool

    /// Makes an outcome; omitted values are absent.
    ///
    /// - Parameter isAnswer: nil if its class or its status shows that.
    package init(
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
        isCollateral: Bool = false,
        isAnswer: Bool? = nil
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
        self.isAnswer = isAnswer ?? (outcomeClass == .accepted || status != 0)
    }
}
