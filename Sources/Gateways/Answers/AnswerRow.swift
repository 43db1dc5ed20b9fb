import PushCore

/// One row of the answer table: what an answer of a gateway means.
package struct AnswerRow: Sendable, Hashable {
    /// How the answer arrives.
    package enum Source: String, Sendable, Hashable, Codable, CaseIterable {
        /// As the response to a message.
        case response
        /// As the debug data of a GOAWAY frame; the class applies to the messages above its last stream id.
        case goAway = "goaway"
        /// There is no answer; the reason is PushMTA's own word.
        case noAnswer = "none"
        /// From the feedback service, which lists dead tokens.
        case feedback
        /// From the endpoint that issues access tokens; the class applies to the messages that wait for one.
        case tokenEndpoint = "token-endpoint"
        /// From a check before sending: the message cannot be sent to this gateway.
        case check
    }

    /// The gateway that gives this answer.
    package var gateway: AnswerGateway
    package var source: Source
    /// The HTTP status; 0 if there is none, and for every status without its own row.
    package var status: Int16
    /// The gateway's reason, verbatim; empty for every reason without its own row.
    package var reason: String
    /// A condition in addition to status and reason; empty for none.
    package var condition: String
    /// What it means for the message.
    package var outcomeClass: OutcomeClass
    /// What is at fault. It decides whether the attempt counts against the message.
    package var fault: AnswerFault
    /// What it means for the push token.
    package var token: TokenRule
    /// What it means for the connection.
    package var connection: ConnectionEffect
    /// What it means for the application.
    package var application: ApplicationEffect
    /// The shortest pause before the message is tried again when the gateway names none, in milliseconds; nil leaves it to
    /// the retry policy.
    package var delayMilliseconds: Int32?
    /// Whether a mix-up of environments, topics or keys would get every message refused like this.
    package var isDoubtful: Bool
    /// The failure type in Adobe Campaign's terms; nil if it is not a failure.
    package var failure: MessageFailure?
    /// The cause and the remedy.
    package var explanation: String

    package init(
        _ gateway: AnswerGateway,
        _ status: Int16,
        _ reason: String,
        _ outcomeClass: OutcomeClass,
        source: Source = .response,
        condition: String = "",
        fault: AnswerFault? = nil,
        token: TokenRule = .none,
        connection: ConnectionEffect = .keep,
        application: ApplicationEffect = .none,
        delay: Int32? = nil,
        doubtful: Bool? = nil,
        failure: MessageFailure? = nil,
        _ explanation: String
    ) {
        self.gateway = gateway
        self.source = source
        self.status = status
        self.reason = reason
        self.condition = condition
        self.outcomeClass = outcomeClass
        self.fault = fault ?? outcomeClass.usualFault
        self.token = token
        self.connection = connection
        self.application = application
        self.delayMilliseconds = delay
        // A gateway answers 410 or UNREGISTERED only for a token that it knew as this application's.
        isDoubtful = doubtful ?? (token.isInvalid && status != 410 && !TokenEffect.certainReasons.contains(reason))
        self.failure = failure
        self.explanation = explanation
    }

    /// Whether the message is tried again: at once, after a pause, or once its application is fixed.
    package var isRetried: Bool {
        switch outcomeClass {
        case .accepted, .permanent: false
        case .unprocessed, .retry, .stopApplication, .stopDelivery, .ambiguous: true
        }
    }

    /// What is at fault for an answer of this row, given its class, which other facts may have changed.
    package var answerFault: AnswerFault { outcomeClass.usualFault == .application ? .application : fault }

    /// The effect on the token when the answer carried the given time, in milliseconds since 1970, and the given token.
    package func tokenEffect(timestamp: Int64?, canonical: String? = nil) -> TokenEffect {
        switch token {
        case .none: .none
        case .invalid: .invalid(sinceMilliseconds: nil)
        case .invalidSinceTimestamp: .invalid(sinceMilliseconds: timestamp)
        case .replaced: canonical.map { .replaced(by: $0) } ?? .none
        case .softError: .softError
        }
    }
}

/// What an answer means for the message's push token.
package enum TokenRule: String, Sendable, Hashable, Codable {
    case none
    /// The token is dead.
    case invalid
    /// The token has been dead since the time in the answer; a later registration stands.
    case invalidSinceTimestamp = "invalid_since_timestamp"
    /// The gateway wants the token in the answer to be used instead.
    case replaced
    /// It counts as a soft error of the token once the message is given up.
    case softError = "soft_error"
}

extension TokenRule {
    /// Whether the token is dead.
    var isInvalid: Bool { self == .invalid || self == .invalidSinceTimestamp }
}

/// What an answer means for all messages of the application.
package enum ApplicationEffect: String, Sendable, Hashable, Codable {
    case none
    /// The gateway would refuse each of them: stop sending and tell the operator.
    case stop
    /// The provider token or access token has to be renewed.
    case renewToken = "renew_token"
    /// The gateway wants less traffic from the whole project: the child that gets this answer pauses the application.
    /// Other children get their own.
    case pause
}

/// What an answer means for the connection that carried it.
package enum ConnectionEffect: String, Sendable, Hashable, Codable {
    /// It stays in use.
    case keep
    /// It gets no more messages, and another connection replaces it.
    case replace
}

/// The failures in Adobe Campaign's table of push error types (Campaign v8, "Delivery failures", Push error types).
extension MessageFailure {
    /// The content is malformed.
    package static let softUndefined = MessageFailure(.soft, .undefined)
    /// The gateway refuses the message, or its sender.
    package static let softRefused = MessageFailure(.soft, .refused)
    /// The gateway is unreachable, for the connectors whose table calls that soft.
    package static let softUnreachable = MessageFailure(.soft, .unreachable)
    /// The token belongs to another user.
    package static let softUserUnknown = MessageFailure(.soft, .userUnknown)
    /// The token is dead.
    package static let hardUserUnknown = MessageFailure(.hard, .userUnknown)
    /// The gateway or the sender has a problem; this says nothing about the message.
    package static let ignoredRefused = MessageFailure(.ignored, .refused)
    /// The message is malformed; the address is not at fault.
    package static let ignoredUndefined = MessageFailure(.ignored, .undefined)
    /// The connection was lost. Adobe calls this type undefined, which has the same number.
    package static let ignoredUnreachable = MessageFailure(.ignored, .unreachable)
}
