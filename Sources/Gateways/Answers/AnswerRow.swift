import PushCore

/// One row of the answer table: what an answer of a gateway means.
public struct AnswerRow: Sendable, Hashable {
    /// How the answer arrives.
    public enum Source: String, Sendable, Hashable, Codable, CaseIterable {
        /// As the response to a message.
        case response
        /// As the debug data of a GOAWAY frame; the class is that of the messages above its last stream id.
        case goAway = "goaway"
        /// Not at all; the reason is a word of ours.
        case noAnswer = "none"
        /// From the service that lists dead tokens.
        case feedback
        /// From the endpoint that gives access tokens; the class is that of the messages which wait for one.
        case tokenEndpoint = "token-endpoint"
        /// Before anything is sent: the message is not fit for the gateway.
        case check
    }

    /// The gateway that answers so.
    public var gateway: AnswerGateway
    public var source: Source
    /// The HTTP status; 0 where there is none, and for every status that has no row of its own.
    public var status: Int16
    /// The gateway's reason, word for word; empty for every reason that has no row of its own.
    public var reason: String
    /// What has to be true besides status and reason; empty for nothing.
    public var condition: String
    /// What it means for the message.
    public var outcomeClass: OutcomeClass
    /// Whose failure it is, and so whether the attempt counts against the message.
    public var fault: AnswerFault
    /// What it means for the push token.
    public var token: TokenRule
    /// What it means for the connection.
    public var connection: ConnectionEffect
    /// What it means for the application.
    public var application: ApplicationEffect
    /// The shortest pause before the message is tried again when the gateway names none, in milliseconds; nil leaves it to
    /// the retry policy.
    public var delayMilliseconds: Int32?
    /// Whether it condemns the message in a way that a mix-up of environments, topics or keys would do to every message.
    public var isDoubtful: Bool
    /// What kind of failure it is in Adobe Campaign's terms; nil for what is none.
    public var failure: MessageFailure?
    /// The cause and the way out.
    public var explanation: String

    init(
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
        // A gateway says 410 or UNREGISTERED only of a token that it has known as one of this application.
        isDoubtful = doubtful ?? (token.isInvalid && status != 410 && !TokenEffect.certainReasons.contains(reason))
        self.failure = failure
        self.explanation = explanation
    }

    /// Whether the message is tried again: at once, after a pause, or when its application is put right.
    public var isRetried: Bool {
        switch outcomeClass {
        case .accepted, .permanent: false
        case .unprocessed, .retry, .stopApplication, .stopDelivery, .ambiguous: true
        }
    }

    /// Whose failure an answer of this row is, when its class may have been changed by what is known besides.
    var answerFault: AnswerFault { outcomeClass.usualFault == .application ? .application : fault }

    /// The effect on the token when the answer carried the given time, in milliseconds since 1970, and the given token.
    func tokenEffect(timestamp: Int64?, canonical: String? = nil) -> TokenEffect {
        switch token {
        case .none: .none
        case .invalid: .invalid(sinceMilliseconds: nil)
        case .invalidSinceTimestamp: .invalid(sinceMilliseconds: timestamp)
        case .replaced: canonical.map { .replaced(by: $0) } ?? .none
        case .softError: .softError
        }
    }
}

/// The gateways whose answers the answer table knows.
public enum AnswerGateway: String, Sendable, Hashable, Codable, CaseIterable {
    /// APNs' provider API over HTTP/2.
    case apnsHTTP2 = "apns-http2"
    /// APNs' binary protocol and its feedback service.
    case apnsBinary = "apns-binary"
    /// FCM's HTTP v1 API.
    case fcmV1 = "fcm-v1"
    /// FCM's legacy HTTP API.
    case fcmLegacy = "fcm-legacy"
}

extension AnswerGateway {
    /// The gateway that takes payloads of this format.
    public init(_ format: PayloadFormat) {
        switch format {
        case .apns: self = .apnsHTTP2
        case .apnsBinary: self = .apnsBinary
        case .fcmV1: self = .fcmV1
        case .fcmLegacy: self = .fcmLegacy
        }
    }
}

/// What an answer says about the push token that it was given for.
public enum TokenRule: String, Sendable, Hashable, Codable {
    case none
    /// The token is dead.
    case invalid
    /// The token has been dead since the time in the answer; a later registration stands.
    case invalidSinceTimestamp = "invalid_since_timestamp"
    /// The gateway wants another one instead, which is in the answer.
    case replaced
    /// It counts as a soft error of the token, once the message is given up.
    case softError = "soft_error"
}

extension TokenRule {
    /// Whether the token is dead.
    var isInvalid: Bool { self == .invalid || self == .invalidSinceTimestamp }
}

/// What an answer means for all messages of the application.
public enum ApplicationEffect: String, Sendable, Hashable, Codable {
    case none
    /// Each of them would be refused: stop sending and tell the operator.
    case stop
    /// The provider token or access token has to be renewed.
    case renewToken = "renew_token"
    /// The gateway wants less of the whole project: the child that hears it sends nothing of the application for a while. Others
    /// hear it themselves.
    case pause
}

/// What an answer means for the connection that it came on.
public enum ConnectionEffect: String, Sendable, Hashable, Codable {
    /// It stays in use.
    case keep
    /// It takes no more messages, and another one takes its place.
    case replace
}

/// The failures in Adobe Campaign's table of push error types (Campaign v8, "Delivery failures", Push error types).
extension MessageFailure {
    /// The content is malformed.
    static let softUndefined = MessageFailure(.soft, .undefined)
    /// The gateway refuses the message, or its sender.
    static let softRefused = MessageFailure(.soft, .refused)
    /// The gateway cannot be reached, for the connectors whose table calls that soft.
    static let softUnreachable = MessageFailure(.soft, .unreachable)
    /// The token belongs to somebody else.
    static let softUserUnknown = MessageFailure(.soft, .userUnknown)
    /// The token is dead.
    static let hardUserUnknown = MessageFailure(.hard, .userUnknown)
    /// The gateway is in trouble, or the sender: nothing is said of the message.
    static let ignoredRefused = MessageFailure(.ignored, .refused)
    /// The message is malformed, and the address not to blame.
    static let ignoredUndefined = MessageFailure(.ignored, .undefined)
    /// The connection was lost; Adobe calls its type undefined, whose number is the same.
    static let ignoredUnreachable = MessageFailure(.ignored, .unreachable)
}
