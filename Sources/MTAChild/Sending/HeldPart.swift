import PushCore
import Store

/// A part that this child holds a lease on, and how far its messages are.
struct HeldPart: Sendable {
    let claimed: ClaimedPart
    private let contents: PartContents
    /// Messages that are neither decided nor handed to a retry.
    var open: Int
    /// What is not sent yet.
    var slices: ArraySlice<PreparedPart.Slice>
    /// How many of them the mark is for that is being committed, or was last.
    var slicesMarked = 0
    /// Messages on the wire, or waiting in the gateway.
    private(set) var inGateway = 0
    /// Messages for retry parts, with the time before which they are not sent, in milliseconds on the database's clock.
    var retries: [PreparedPart.Soft]
    var ambiguous: AmbiguousMessages
    /// Whether it goes back to be judged by itself, as its push tokens were refused.
    var goesAlone: Bool
    /// Why it goes back although its delivery goes on; nil if it does not.
    var refusal: String?
    /// Whether it goes back because a limit of messages a second holds it and this child leaves.
    var isLeft = false
    /// Messages that this owner sends again although the gateway may have had them, those of a retry part not included.
    var resent: Int32
    /// The number of the outcome batch with the latest outcome.
    var lastBatch: Int64 = 0
    /// The lease is lost: what the gateway answers is a fact, but nothing is decided any more.
    var isFenced = false
    /// The end of the part is in a batch for the database.
    var isClosing = false
    /// Its messages have waited apart for a credential: one of them finds out whether it is right, and no other leaves meanwhile.
    var triesCredential: Bool
    var times: PartTimes

    init(_ prepared: PreparedPart) {
        claimed = prepared.claimed
        contents = PartContents(prepared)
        open = prepared.open - prepared.softAnswers.count
        slices = prepared.slices[...]
        retries = prepared.softAnswers
        ambiguous = AmbiguousMessages(
            lost: prepared.lost,
            inherited: prepared.ambiguousRows,
            unanswered: prepared.unanswered
        )
        goesAlone = prepared.claimed.isAlone
        triesCredential = prepared.claimed.waitsFor != nil
        resent = prepared.resent
        times = PartTimes(validUntil: prepared.claimed.validUntil.map { $0.microsecondsSince1970 / 1_000 })
    }

    /// Of what was refused before this owner came, the answers to others from now on show what is to blame.
    mutating func received(at moment: Duration) {
        for index in retries.indices {
            guard case .refused = retries[index].kind else { continue }
            retries[index].kind = .refused(since: moment + Self.later, isLone: false)
        }
    }

    /// What is answered in the same read says nothing: clocks of a process are finer than this.
    static let later = Duration.milliseconds(1)

    /// Whether the part is to end for that.
    func isEnding(for cause: PartEndings.Cause) -> Bool {
        switch cause {
        case .expired: times.isExpired && !isClosing
        case .refused: refusal != nil && !isFenced
        case .left: isLeft && !isFenced
        }
    }

    /// Messages are handed to the gateway.
    mutating func submit(_ rows: Int) { inGateway += rows }

    /// The gateway has given a message back, with an answer or unsent.
    mutating func answered() { inGateway -= 1 }

    var isReported: Bool { delivery.ambiguityPolicy == .report }

    var delivery: CompiledDelivery { contents.delivery }
    var sequences: [Int32] { contents.sequences }
    var subscriptionIDs: [Int64] { contents.subscriptionIDs }

    /// What one mark is for: the slices in front that lie below the same one; nil if nothing is left to be sent.
    var nextSlices: ArraySlice<PreparedPart.Slice>? {
        guard let first = slices.first else { return nil }
        return slices.prefix { $0.markThrough == first.markThrough }
    }

    var claim: PartToken { PartToken(part: claimed.id, token: claimed.fencingToken) }

    /// Until when its messages are sent: as the delivery and the part itself say.
    var validUntilMilliseconds: Int64? {
        guard let own = times.validUntil else { return delivery.validUntilMilliseconds }
        return min(own, delivery.validUntilMilliseconds ?? own)
    }

    /// Whether nothing of it is sent any more at a moment.
    func isExpired(atMilliseconds now: Int64) -> Bool {
        delivery.isExpired(atMilliseconds: now) || times.validUntil.map { now > $0 } ?? false
    }

    /// A message has its outcome: nothing about it is ambiguous any more.
    mutating func isDecided(_ row: Int32) {
        open -= 1
        if !ambiguous.lost.isEmpty { ambiguous.lost.remove(row) }
        if !ambiguous.unanswered.isEmpty { ambiguous.unanswered.remove(row) }
    }

    /// Whether an earlier attempt may have arrived.
    func isAmbiguous(_ row: Int32) -> Bool { ambiguous.lost.contains(row) || ambiguous.inherited.contains(row) }

    /// Whether a message to the row's push token has ever been taken, before this part was loaded.
    func isProven(_ row: Int32) -> Bool { !contents.accepted.isEmpty && contents.accepted[Int(row)] }

    /// What a refusal of the row's push token says about the application.
    ///
    /// A token that never worked says nothing where others have worked: anybody may register one. A part that goes alone has said what it
    /// had to say.
    func weight(_ row: Int32) -> MassFailureGuard.Weight {
        guard !claimed.isAlone, isProven(row) || !claimed.isApplicationProven else { return .none }
        let user = contents.userHashes.isEmpty ? 0 : contents.userHashes[Int(row)]
        return user == 0 ? .one : .user(user, delivery: claimed.deliveryID)
    }

    /// Whether an outcome heals the soft errors of the message's subscription.
    func heals(_ row: Int32, _ outcome: Outcome) -> Bool {
        !contents.withErrors.isEmpty && outcome.outcomeClass == .accepted && contents.withErrors.contains(row)
    }

    /// The end with all messages decided or handed over.
    ///
    /// - Parameter passed: when the gateway last took a message of the application, on the owner's monotonic clock; nil if it took none.
    func closing(now: Int64, passed: Duration?) -> ClosingPart {
        ClosingPart(
            part: claimed.id,
            token: claimed.fencingToken,
            retries: retrySets(now: now, passed: passed),
            resentAfterAmbiguity: resent + Int32(ambiguous.unanswered.count),
            ambiguous: ambiguous.unanswered.union(ambiguous.lost).union(ambiguous.reported).map { sequences[Int($0)] }
                .sorted()
        )
    }

    /// The retry parts to make at the part's end: messages with similar waiting times go together, each not before its time.
    private func retrySets(now: Int64, passed: Duration?) -> [RetrySet] {
        struct Kind: Hashable {
            let bucket: Int
            let refusals: Int16
            let waitsFor: String
        }
        var sets: [Kind: RetrySet] = [:]
        for soft in retries {
            let delay = min(max(0, soft.notBeforeMilliseconds - now), max(0, soft.longestDelayMilliseconds))
            // A set for each doubling of the waiting time: few parts, and nobody waits more than twice as long as needed.
            let bucket = delay == 0 ? 0 : 64 - delay.leadingZeroBitCount
            let refusals = refusals(after: soft.kind, passed: passed)
            let reason: String? = if case .apart(let reason) = soft.kind { reason } else { nil }
            let kind = Kind(bucket: bucket, refusals: refusals, waitsFor: reason ?? "")
            var set =
                sets.removeValue(forKey: kind)
                ?? RetrySet(
                    sequences: [],
                    delayMilliseconds: 0,
                    countsAttempt: soft.countsAttempt,
                    refusals: refusals,
                    waitsFor: reason
                )
            set.sequences.append(sequences[Int(soft.row)])
            set.delayMilliseconds = max(set.delayMilliseconds, delay)
            sets[kind] = set
        }
        return sets.sorted {
            ($0.key.bucket, -$0.key.refusals, $0.key.waitsFor) < ($1.key.bucket, -$1.key.refusals, $1.key.waitsFor)
        }
        .map(\.value)
    }

    /// How often the messages were refused, for the part that sends them next: once more where others passed, which blames them. Where none
    /// did they are marked, so that others go first as probes.
    private func refusals(after kind: PreparedPart.Soft.Kind, passed: Duration?) -> Int16 {
        switch kind {
        case .attempt: return 0
        case .apart: return min(max(claimed.refusals, 0), ClaimedPart.mostRefusals - 1) + 1
        case .refused(let since, let isLone):
            if passed.map({ $0 >= since }) ?? false {
                return min(max(claimed.refusals, 1), ClaimedPart.mostRefusals - 1) + 1
            }
            if claimed.refusals > 0 { return claimed.refusals }
            return isLone ? max(claimed.refusals, 1 - ClaimedPart.mostRefusals) - 1 : min(claimed.refusals, -1)
        }
    }

    /// What a next owner has to know of the messages that were answered softly, or not at all.
    ///
    /// One that may have arrived stays ambiguous, whatever a later attempt was answered. What was refused for the gateway's sake is on
    /// record without an attempt, so that others go first.
    var recovery: PartRecovery {
        let soft = retries.filter { !ambiguous.unanswered.contains($0.row) && !ambiguous.lost.contains($0.row) }
        let again = retries.lazy.filter(\.countsAttempt).map(\.row)
            .filter { ambiguous.unanswered.contains($0) || ambiguous.lost.contains($0) }
        return PartRecovery(
            ambiguous: ambiguous.reported.union(again).map { sequences[Int($0)] }.sorted(),
            softAnswers: soft.map { soft in
                PartRecovery.SoftAnswer(
                    sequence: sequences[Int(soft.row)],
                    attempt: soft.countsAttempt ? claimed.attempt : 0,
                    httpStatus: 0,
                    reason: soft.kind.reason,
                    notBefore: DatabaseTime(microsecondsSince1970: soft.notBeforeMilliseconds * 1_000)
                )
            },
            notBeforeMilliseconds: times.notBefore
        )
    }
}

extension PreparedPart.Soft.Kind {
    /// The reason for which a message waits apart; empty if it does not.
    fileprivate var reason: String { if case .apart(let reason) = self { reason } else { "" } }
}

/// What of a part stays as it was loaded. One object, as a held part is copied for each answer, and each list of its own would be counted
/// each time.
private final class PartContents: Sendable {
    let delivery: CompiledDelivery
    let sequences: [Int32]
    let subscriptionIDs: [Int64]
    /// Messages to subscriptions with soft errors.
    let withErrors: Set<Int32>
    /// Whether a gateway has ever taken a message for the subscription of each row; empty if it has for none.
    let accepted: [Bool]
    /// Tells the users of the rows apart, 0 for who has no key; empty if none has.
    let userHashes: [Int32]

    init(_ prepared: PreparedPart) {
        delivery = prepared.delivery
        sequences = prepared.sequences
        subscriptionIDs = prepared.subscriptionIDs
        withErrors = prepared.withErrors
        accepted = prepared.accepted
        userHashes = prepared.userHashes
    }
}

/// Until when and from when the messages of a part may be sent, in milliseconds on the database's clock.
struct PartTimes: Sendable {
    /// Nothing is sent after this moment; nil if only the delivery says until when.
    let validUntil: Int64?
    /// Whether that moment has passed.
    var isExpired = false
    /// The gateway has asked for this of messages that go back with the part, if they do; 0 for nothing.
    private(set) var notBefore: Int64 = 0

    init(validUntil: Int64?) {
        self.validUntil = validUntil
    }

    /// The gateway has refused a message for its own sake, and may have said for how long.
    mutating func refused(_ outcome: Outcome, now: Int64) {
        guard let asked = outcome.retryAfterMilliseconds, !outcome.isPauseAdvice else { return }
        notBefore = max(notBefore, now + Int64(asked))
    }
}

/// Messages of a part that may have arrived although no answer says so.
struct AmbiguousMessages: Sendable {
    /// Without an outcome, and an earlier owner may have sent them.
    var lost: Set<Int32>
    /// Handed over as ambiguous by the part before, which stands on record there: none ends as if it had never arrived.
    let inherited: Set<Int32>
    /// Without an outcome; this owner got no answer to them, and they go to a retry part.
    var unanswered: Set<Int32> = []
    /// This owner got no answer to them, and they are `unknown`: kept on record, as those that are sent again are.
    var reported: Set<Int32> = []
}
