import PushCore
import Store

/// A part that this child holds a lease on, and the progress of its messages.
struct HeldPart: Sendable {
    let claimed: ClaimedPart
    private let contents: PartContents
    /// Messages that are neither decided nor handed to a retry.
    var open: Int
    /// The unsent slices.
    var slices: ArraySlice<PreparedPart.Slice>
    /// How many slices the mark covers that is being committed, or was committed last.
    var slicesMarked = 0
    /// Messages on the wire, or waiting in the gateway.
    private(set) var inGateway = 0
    /// Messages for retry parts, each with its earliest time to be sent, in milliseconds on the database's clock.
    var retries: [PreparedPart.Soft]
    var ambiguous: AmbiguousMessages
    /// Whether the part goes back to be sent alone, because its push tokens were refused.
    var goesAlone: Bool
    /// Why the part goes back although its delivery continues; nil if it does not.
    var refusal: String?
    /// Whether the part goes back because a limit of messages a second holds it and this child drains.
    var isLeft = false
    /// Messages that this owner resends although the gateway may have received them, except those of a retry part.
    var resent: Int32
    /// The number of the outcome batch with the latest outcome.
    var lastBatch: Int64 = 0
    /// The lease is lost: the gateway's answers are facts, but this owner decides nothing more.
    var isFenced = false
    /// Whether the end of the part is in a batch for the database.
    var isClosing = false
    /// Whether its messages waited apart for a credential: one of them tests the credential, and no other leaves until
    /// then.
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
        times = PartTimes(prepared.claimed)
    }

    /// For messages refused before this owner took the part, the answers to others from now on show what is to blame.
    mutating func received(at moment: Duration) {
        for index in retries.indices {
            guard case .refused = retries[index].kind else { continue }
            retries[index].kind = .refused(since: moment + Self.later, isLone: false)
        }
    }

    /// Answers of the same read prove nothing; a process's clock is finer than this.
    static let later = Duration.milliseconds(1)

    /// Whether the part has to end for the cause.
    func isEnding(for cause: PartEndings.Cause) -> Bool {
        switch cause {
        case .expired: times.isExpired && !isClosing
        case .closed: times.isClosed && !isFenced
        case .refused: refusal != nil && !isFenced
        case .left: isLeft && !isFenced
        }
    }

    /// Counts messages handed to the gateway.
    mutating func submit(_ rows: Int) { inGateway += rows }

    /// Counts a message that the gateway gave back, with an answer or unsent.
    mutating func answered() { inGateway -= 1 }

    var isReported: Bool { delivery.ambiguityPolicy == .report }

    var delivery: CompiledDelivery { contents.delivery }
    var sequences: [Int32] { contents.sequences }
    var subscriptionIDs: [Int64] { contents.subscriptionIDs }

    /// The slices that the next mark covers: the first ones with the same mark; nil if nothing is left to send.
    var nextSlices: ArraySlice<PreparedPart.Slice>? {
        guard let first = slices.first else { return nil }
        return slices.prefix { $0.markThrough == first.markThrough }
    }

    var claim: PartToken { PartToken(part: claimed.id, token: claimed.fencingToken) }

    /// Until when its messages are sent: the earlier end of the delivery and the part, in milliseconds on the
    /// database's clock.
    var validUntilMilliseconds: Int64? {
        guard let own = times.validUntil else { return delivery.validUntilMilliseconds }
        return min(own, delivery.validUntilMilliseconds ?? own)
    }

    /// Whether its validity or its sending hours have passed at a moment, so that nothing of it may leave.
    func isOver(atMilliseconds now: Int64) -> Bool {
        delivery.isExpired(atMilliseconds: now) || times.validUntil.map { now > $0 } ?? false
            || times.closesAt.map { now >= $0 } ?? false
    }

    /// Notes that a message has its outcome: it is no longer ambiguous.
    mutating func isDecided(_ row: Int32) {
        open -= 1
        if !ambiguous.lost.isEmpty { ambiguous.lost.remove(row) }
        if !ambiguous.unanswered.isEmpty { ambiguous.unanswered.remove(row) }
    }

    /// Whether an earlier attempt may have arrived.
    func isAmbiguous(_ row: Int32) -> Bool { ambiguous.lost.contains(row) || ambiguous.inherited.contains(row) }

    /// Whether a message to the row's push token had been accepted before this part was loaded.
    func isProven(_ row: Int32) -> Bool { !contents.accepted.isEmpty && contents.accepted[Int(row)] }

    /// How much a refusal of the row's push token counts against the application.
    ///
    /// A token that never worked says nothing if others have worked, because anyone may register one. A part that goes
    /// alone has already been counted.
    func weight(_ row: Int32) -> MassFailureGuard.Weight {
        guard !claimed.isAlone, isProven(row) || !claimed.isApplicationProven else { return .none }
        let user = contents.userHashes.isEmpty ? 0 : contents.userHashes[Int(row)]
        return user == 0 ? .one : .user(user, delivery: claimed.deliveryID)
    }

    /// Whether an outcome clears the soft errors of the message's subscription.
    func heals(_ row: Int32, _ outcome: Outcome) -> Bool {
        !contents.withErrors.isEmpty && outcome.outcomeClass == .accepted && contents.withErrors.contains(row)
    }

    /// The part's end, with all messages decided or handed to retry parts.
    ///
    /// - Parameter passed: when the gateway last accepted a message of the application, on the owner's monotonic clock;
    ///   nil if never.
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

    /// The retry parts to create at the part's end. Messages with similar waiting times share one, and none is sent
    /// before its time.
    private func retrySets(now: Int64, passed: Duration?) -> [RetrySet] {
        struct Kind: Hashable {
            let bucket: Int
            let refusals: Int16
            let waitsFor: String
        }
        var sets: [Kind: RetrySet] = [:]
        for soft in retries {
            let delay = min(max(0, soft.notBeforeMilliseconds - now), max(0, soft.maxDelayMilliseconds))
            // One set for each doubling of the waiting time: few parts, and no message waits more than twice as long as
            // needed.
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

    /// The refusal count for the part that sends the messages next. It grows by one if others passed, which puts the
    /// blame on these messages. Otherwise the messages are marked, so that others go first as probes.
    private func refusals(after kind: PreparedPart.Soft.Kind, passed: Duration?) -> Int16 {
        switch kind {
        case .attempt: return 0
        case .apart: return min(max(claimed.refusals, 0), ClaimedPart.maxRefusals - 1) + 1
        case .refused(let since, let isLone):
            if passed.map({ $0 >= since }) ?? false {
                return min(max(claimed.refusals, 1), ClaimedPart.maxRefusals - 1) + 1
            }
            if claimed.refusals > 0 { return claimed.refusals }
            return isLone ? max(claimed.refusals, 1 - ClaimedPart.maxRefusals) - 1 : min(claimed.refusals, -1)
        }
    }

    /// What the next owner has to know about messages with a soft answer, or with none.
    ///
    /// A message that may have arrived stays ambiguous, whatever a later attempt was answered. Messages refused because
    /// of the gateway are recorded without an attempt, so that others go first.
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
    /// The reason why a message waits apart; empty if it does not.
    fileprivate var reason: String { if case .apart(let reason) = self { reason } else { "" } }
}

/// The unchanging data of a loaded part. It is one object because a held part is copied for each answer, and each list
/// would cost a reference count each time.
private final class PartContents: Sendable {
    let delivery: CompiledDelivery
    let sequences: [Int32]
    let subscriptionIDs: [Int64]
    /// Messages to subscriptions with soft errors.
    let withErrors: Set<Int32>
    /// Whether a gateway has ever accepted a message for each row's subscription; empty if for none.
    let accepted: [Bool]
    /// Distinguishes the rows' users; 0 for a user without a key, empty if no user has one.
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

/// When the messages of a part may be sent, in milliseconds on the database's clock.
struct PartTimes: Sendable {
    /// Nothing is sent after this moment; nil if only the delivery sets an end.
    let validUntil: Int64?
    /// Whether that moment has passed.
    var isExpired = false
    /// When its sending hours end; nil if it has none.
    let closesAt: Int64?
    /// Whether they have ended.
    var isClosed = false
    /// The earliest time that the gateway asked for, for messages that go back with the part; 0 for none.
    private(set) var notBefore: Int64 = 0

    init(_ part: ClaimedPart) {
        validUntil = part.validUntil.map { $0.microsecondsSince1970 / 1_000 }
        closesAt = part.closesAt.map { $0.microsecondsSince1970 / 1_000 }
    }

    /// Notes that the gateway refused a message because of the gateway's own state, perhaps with a pause.
    mutating func refused(_ outcome: Outcome, now: Int64) {
        guard let asked = outcome.retryAfterMilliseconds, !outcome.isPauseAdvice else { return }
        notBefore = max(notBefore, now + Int64(asked))
    }
}

/// Messages of a part that may have arrived although no answer says so.
struct AmbiguousMessages: Sendable {
    /// Messages without an outcome that an earlier owner may have sent.
    var lost: Set<Int32>
    /// Messages that the previous part handed over as ambiguous and that are recorded there: none may end as if it had
    /// never arrived.
    let inherited: Set<Int32>
    /// Messages without an outcome that this owner got no answer to; they go to a retry part.
    var unanswered: Set<Int32> = []
    /// Messages that this owner got no answer to and that ended as `unknown`: recorded as the resent ones are.
    var reported: Set<Int32> = []
}
