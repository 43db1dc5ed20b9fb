import PushCore

/// A part of a delivery that a child has claimed: about 1,000 messages and the right to decide about them.
public struct ClaimedPart: Sendable {
    public let id: Int64
    public let deliveryID: Int64
    /// The fence: counts up by one at each claim, so 1 means that nobody held the part before.
    public let fencingToken: Int64
    /// Number of messages.
    public let size: Int32
    /// The send attempt that these messages are in; 1 for the first.
    public let attempt: Int16
    /// How often these messages were refused for the gateway's sake since their last attempt that counts: 0 for never; below 0 as often as
    /// nothing said that others passed then; from 2 on once more for each time that others did.
    public let refusals: Int16
    /// The partition of its outcomes.
    public let logDay: LogDay
    /// How urgent it is; greater goes first.
    public let priority: Int16
    /// How many of its messages, in sequence order, earlier owners may have sent.
    public let dispatchMark: Int32
    /// The application of its messages.
    public let applicationID: Int32
    /// Whether its subscription ids lie close together, so that one index range reads them.
    public let isDense: Bool
    /// Whether its messages carry variables of their own (explicit targets).
    public let hasVariables: Bool
    /// What happens to an ambiguous message.
    public let ambiguityPolicy: AmbiguityPolicy
    /// The state of its delivery at the claim.
    public let deliveryState: DeliveryState
    /// Whether it was claimed to probe an open circuit: send one message of it.
    public let isProbe: Bool
    /// Whether an operator has said that refused push tokens of this part are really bad: no mix-up is looked for.
    public let believesRefusals: Bool
    /// Whether a gateway has ever taken a message of its application.
    public let isApplicationProven: Bool
    /// Whether it was given back because push tokens of it were refused: it is judged by itself.
    public let isAlone: Bool
    /// Whether it was put aside so while messages of other parts of its delivery get through, so that its own tokens are to blame.
    public let othersPass: Bool
    /// Why its messages wait apart, in the gateway's words: a credential that is stored with the gateway is wrong. One message finds out
    /// whether it was put right. Nil for nearly all.
    public let waitsFor: String?
    /// The database's clock at the claim.
    public let claimedAt: DatabaseTime
    /// Since when it was to be claimed, on that clock.
    public let dueAt: DatabaseTime
    /// Nothing of it is sent after this moment; nil if only its delivery says until when.
    public let validUntil: DatabaseTime?

    /// Whether its messages come from a part that has ended.
    public var isRetry: Bool { attempt > 1 || refusals != 0 }
    /// Whether an earlier owner may have left outcomes or sent messages: then read `knownOutcomes` and `recovery` first.
    public var mayHaveHistory: Bool { fencingToken > 1 }

    /// Whether others passed when its messages were refused, so that these refusals say nothing about the gateway.
    public var isRefusedAlone: Bool { refusals > 1 }

    /// More refusals are not counted.
    public static let mostRefusals: Int16 = 32_000

    public init(
        id: Int64,
        deliveryID: Int64,
        fencingToken: Int64,
        size: Int32,
        attempt: Int16,
        refusals: Int16 = 0,
        logDay: LogDay,
        priority: Int16,
        dispatchMark: Int32,
        applicationID: Int32,
        isDense: Bool,
        hasVariables: Bool,
        ambiguityPolicy: AmbiguityPolicy,
        deliveryState: DeliveryState = .inProgress,
        isProbe: Bool = false,
        believesRefusals: Bool = false,
        isApplicationProven: Bool = false,
        isAlone: Bool = false,
        othersPass: Bool = false,
        waitsFor: String? = nil,
        claimedAt: DatabaseTime = DatabaseTime(microsecondsSince1970: 0),
        dueAt: DatabaseTime = DatabaseTime(microsecondsSince1970: 0),
        validUntil: DatabaseTime? = nil
    ) {
        self.id = id
        self.deliveryID = deliveryID
        self.fencingToken = fencingToken
        self.size = size
        self.attempt = attempt
        self.refusals = refusals
        self.logDay = logDay
        self.priority = priority
        self.dispatchMark = dispatchMark
        self.applicationID = applicationID
        self.isDense = isDense
        self.hasVariables = hasVariables
        self.ambiguityPolicy = ambiguityPolicy
        self.deliveryState = deliveryState
        self.isProbe = isProbe
        self.believesRefusals = believesRefusals
        self.isApplicationProven = isApplicationProven
        self.isAlone = isAlone
        self.othersPass = othersPass
        self.waitsFor = waitsFor
        self.claimedAt = claimedAt
        self.dueAt = dueAt
        self.validUntil = validUntil
    }
}

/// A part together with the fencing token under which its owner holds it.
public struct PartToken: Sendable, Hashable, Comparable {
    public let part: Int64
    /// The token that the claim gave.
    public let token: Int64

    /// A part under a token.
    public init(part: Int64, token: Int64) {
        self.part = part
        self.token = token
    }

    /// By part, then by token.
    public static func < (left: Self, right: Self) -> Bool { (left.part, left.token) < (right.part, right.token) }
}
