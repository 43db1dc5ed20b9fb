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

/// What an answer of a gateway, or its absence, means for the message.
public enum OutcomeClass: String, Sendable, Hashable, Codable, CaseIterable {
    /// The gateway never processed it: send it again for free.
    case unprocessed
    /// The gateway took it.
    case accepted
    /// It will never be taken.
    case permanent
    /// It may be taken later.
    case retry
    /// Every message of the application would be refused: keep it pending and open the circuit.
    case stopApplication = "stop_application"
    /// Every message of the delivery would be refused, and no other one: keep it pending and hold the delivery back.
    case stopDelivery = "stop_delivery"
    /// It was written and no answer came: it may have been taken.
    case ambiguous

    /// Whose failure an outcome of this class is, where its answer says nothing else.
    public var usualFault: AnswerFault {
        switch self {
        case .accepted: .none
        case .permanent: .message
        case .retry, .unprocessed: .gateway
        case .stopApplication, .stopDelivery: .application
        case .ambiguous: .ambiguous
        }
    }
}

/// Whose a failed attempt is: what an answer, or its absence, says something about.
///
/// It decides whether the attempt counts against the message (`max_retries`), and who waits for whom.
public enum AnswerFault: String, Sendable, Hashable, Codable, CaseIterable {
    case none
    /// The message's or its token's: the attempt counts.
    case message
    /// The gateway's: it says nothing about the message, which keeps its attempts and waits until the gateway is well or its validity
    /// is over.
    case gateway
    /// The gateway failed over this message (an internal error). As the gateway's, while others fail, too; a message that keeps getting it
    /// while others pass fails in the end.
    case server
    /// A credential stored with the gateway, which only some messages need, is wrong. They wait apart from all others
    /// until it is put right; nothing is said of the gateway, the application or the token.
    case credential
    /// Nobody's that is known: no gateway gives such an answer, but a proxy, a load balancer or a page in its place does. As the
    /// gateway's; a lone message that keeps getting it while others pass fails in the end.
    case foreign
    /// The gateway's own form with a reason that nobody knows. While others pass it holds its delivery when it comes often, and fails
    /// a lone message in the end.
    case unknown
    /// The application's, or its delivery's: credential, topic, address. All messages wait until it is put right.
    case application
    /// Written, and not answered: the delivery's policy decides, and each resend counts as an attempt.
    case ambiguous

    /// Whether a message keeps its attempts.
    public var sparesAttempt: Bool {
        switch self {
        case .gateway, .server, .credential, .foreign, .unknown, .application: true
        case .none, .message, .ambiguous: false
        }
    }

    /// Whether a message that keeps getting it while others pass fails in the end: then the cause is the message's own.
    public var isBounded: Bool {
        switch self {
        case .server, .foreign, .unknown: true
        case .none, .message, .gateway, .credential, .application, .ambiguous: false
        }
    }
}

/// What an answer says about the push token that it was given for.
public enum TokenEffect: Sendable, Hashable {
    case none
    /// The token is dead.
    ///
    /// `sinceMilliseconds` is the gateway's own time of the fact in milliseconds since 1970 (APNs' 410 gives one), so
    /// that a registration after it is not undone; nil when the gateway gave none.
    case invalid(sinceMilliseconds: Int64?)
    /// The token was taken, and the gateway names the one that it wants instead (FCM legacy's canonical id).
    case replaced(by: String)
    /// It counts as a soft error of the token, once the message is given up; several of them, days apart, quarantine the token.
    case softError

    /// What gateways say only of a token that they have known as one of this application: no mix-up of keys or environments causes it.
    public static let certainReasons: Set<String> = ["UNREGISTERED", "NotRegistered", "Unregistered", "ExpiredToken"]

    /// A gateway's time of a fact, in milliseconds since 1970, or nil if it lies before 1970 or after the year 9999.
    ///
    /// Such a time says nothing, a wrong unit for example; and one that the database cannot represent would keep everything that is
    /// stored with it from being stored, each time anew.
    public static func credibleTime(_ milliseconds: Int64?) -> Int64? {
        milliseconds.flatMap { (0...253_402_300_799_999).contains($0) ? $0 : nil }
    }
}

/// What kind of failure an answer is, as it is kept with the message's outcome.
public struct MessageFailure: Sendable, Hashable {
    /// How grave it is for the address.
    public var type: FailureType
    public var reason: FailureReason

    public init(_ type: FailureType, _ reason: FailureReason) {
        self.type = type
        self.reason = reason
    }

    /// Both as one number, for journals and the database: type × 256 + reason.
    public var code: Int16 { type.rawValue << 8 | reason.rawValue }

    /// The failure with a code, or nil.
    public init?(code: Int16) {
        guard let type = FailureType(rawValue: code >> 8), let reason = FailureReason(rawValue: code & 0xFF) else {
            return nil
        }
        self.init(type, reason)
    }
}

/// How grave a failure is for the address, in Adobe Campaign's words and numbers (broad log, `failureType`).
public enum FailureType: Int16, Sendable, Hashable, Codable, CaseIterable {
    /// It says nothing about the address.
    case ignored = 0
    /// It may pass; where the answer is about the address, several of them, days apart, quarantine it.
    case soft = 1
    /// The address is dead.
    case hard = 2

    /// Its name in tables and JSON.
    public var name: String {
        switch self {
        case .ignored: "ignored"
        case .soft: "soft"
        case .hard: "hard"
        }
    }
}

/// Why a message failed, in Adobe Campaign's words and numbers (broad log, `failureReason`); those that a push can have.
public enum FailureReason: Int16, Sendable, Hashable, Codable, CaseIterable {
    case undefined = 0
    case userUnknown = 1
    case unreachable = 3
    case refused = 20

    /// Its name in tables and JSON, as Adobe writes it.
    public var name: String {
        switch self {
        case .undefined: "Undefined"
        case .userUnknown: "User unknown"
        case .unreachable: "Unreachable"
        case .refused: "Refused"
        }
    }
}
