import PushCore

/// A part of a delivery that a child has claimed: about 1,000 messages, and the right to decide about them.
package struct ClaimedPart: Sendable {
    package let id: Int64
    package let deliveryID: Int64
    /// The fencing token. It increases by one with each claim, so 1 means that the part was never held before.
    package let fencingToken: Int64
    /// Number of messages.
    package let size: Int32
    /// The present attempt of these messages; 1 for the first.
    package let attempt: Int16
    /// How often the gateway refused these messages for reasons of its own since the last attempt that counts: 0 for
    /// never. Below 0: that many refusals while there was no sign that other messages passed. From 2 on: one more for
    /// each refusal while others passed.
    package let refusals: Int16
    /// The partition of its outcomes.
    package let logDay: LogDay
    /// Its urgency; the greater goes first.
    package let priority: Int16
    /// How many of its messages, in sequence order, earlier owners may have sent.
    package let dispatchMark: Int32
    /// The application of its messages.
    package let applicationID: Int32
    /// Whether its subscription ids lie close together, so that one index range reads them.
    package let isDense: Bool
    /// Whether its messages carry variables of their own (explicit targets).
    package let hasVariables: Bool
    /// What happens to an ambiguous message.
    package let ambiguityPolicy: AmbiguityPolicy
    /// The state of its delivery at the claim.
    package let deliveryState: DeliveryState
    /// Whether it was claimed to probe an open circuit: send one of its messages.
    package let isProbe: Bool
    /// Whether an operator has confirmed that refused push tokens of this part really are bad: no mix-up is suspected.
    package let believesRefusals: Bool
    /// Whether a gateway has ever accepted a message of its application.
    package let isApplicationProven: Bool
    /// Whether it was returned because its push tokens were refused: it is judged separately.
    package let isAlone: Bool
    /// Whether it was set aside in this way while messages of other parts of its delivery get through, so that its own
    /// tokens are at fault.
    package let othersPass: Bool
    /// Why its messages wait separately, in the gateway's text: a credential stored with the gateway is wrong. One
    /// message tests whether it was corrected. Nil for nearly all.
    package let waitsFor: String?
    /// The database's clock at the claim.
    package let claimedAt: DatabaseTime
    /// Since when it was due, on that clock.
    package let dueAt: DatabaseTime
    /// Nothing of it is sent after this time; nil if only its delivery has a limit.
    package let validUntil: DatabaseTime?
    /// When its sending hours end: what has not left then goes back. Nil if it has none.
    package let closesAt: DatabaseTime?
    /// The variant of its delivery's content that its messages show; 0 for the content itself.
    package let variant: Int16

    /// Whether its messages come from a part that has ended.
    package var isRetry: Bool { attempt > 1 || refusals != 0 }
    /// Whether an earlier owner may have left outcomes or sent messages. If so, read `knownOutcomes` and `recovery`
    /// first.
    package var mayHaveHistory: Bool { fencingToken > 1 }

    /// Whether others passed when its messages were refused, so that these refusals say nothing about the gateway.
    package var isRefusedAlone: Bool { refusals > 1 }

    /// The maximum that is counted.
    package static let maxRefusals: Int16 = 32_000

    package init(
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
        validUntil: DatabaseTime? = nil,
        closesAt: DatabaseTime? = nil,
        variant: Int16 = 0
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
        self.closesAt = closesAt
        self.variant = variant
    }
}
