import PushCore
import Store

/// Decides what becomes of each message of a claimed part before anything is sent.
struct RowSorter {
    enum Decision {
        /// It already has an outcome.
        case known
        case send
        case decided(MessageStatus, reason: String)
        /// It got a soft answer before, and waits for the retry part.
        case soft(notBeforeMilliseconds: Int64, maxDelayMilliseconds: Int64, PreparedPart.Soft.Kind)
    }

    private let sendsLost: Bool
    private let known: Set<Int32>
    private let ambiguous: Set<Int32>
    private let heldSince: Set<Int32>
    private let ambiguousThrough: Int
    private let soft: [Int32: PartRecovery.SoftAnswer]
    private let inherited: Set<Int32>
    private let now: Int64
    /// Rows of messages to send although an earlier owner may have sent them.
    private(set) var lost: Set<Int32> = []
    /// Rows of messages to send although the previous part's attempt may have arrived.
    private(set) var ambiguousRows: Set<Int32> = []
    /// Rows with a soft answer that an earlier owner also sent without getting an answer.
    private(set) var unanswered: Set<Int32> = []
    /// Rows of messages to send to subscriptions with soft errors.
    private(set) var withErrors: Set<Int32> = []
    /// The number of messages resent, by this or a lost owner, although the gateway may have received them.
    private(set) var resent: Int32 = 0

    /// - Parameters:
    ///   - sendsLost: whether a message that an earlier owner may have sent is resent.
    ///   - inherited: messages that the previous part handed over as ambiguous; they are recorded and counted there.
    init(sendsLost: Bool, known: Set<Int32>, recovery: PartRecovery, inherited: Set<Int32> = [], now: Int64) {
        self.sendsLost = sendsLost
        self.inherited = inherited
        self.now = now
        self.known = known
        ambiguous = Set(recovery.ambiguous)
        heldSince = recovery.heldSince
        ambiguousThrough = Int(recovery.ambiguousThrough)
        soft = Dictionary(recovery.softAnswers.map { ($0.sequence, $0) }, uniquingKeysWith: { _, later in later })
    }

    mutating func sort(row: Int, _ loaded: LoadedPart) -> Decision {
        let sequence = loaded.sequences[row]
        let isListed = !ambiguous.isEmpty && ambiguous.contains(sequence)
        if !known.isEmpty, known.contains(sequence) {
            // A second owner, since lost with its count, has resent what the first one left ambiguous.
            if sendsLost, !heldSince.isEmpty, heldSince.contains(sequence) { resent += 1 }
            return .known
        }
        let isAmbiguous = isListed || row < ambiguousThrough
        if !soft.isEmpty, let answer = soft[sequence] {
            if isAmbiguous { unanswered.insert(Int32(row)) }
            return .soft(
                notBeforeMilliseconds: answer.notBefore.map { $0.microsecondsSince1970 / 1_000 } ?? now,
                maxDelayMilliseconds: answer.maxDelayMilliseconds ?? .max,
                // The part's next owner sets the moment; the answers to later messages show what is to blame.
                !answer.isRefusal
                    ? .attempt
                    : answer.reason.isEmpty ? .refused(since: .zero, isLone: false) : .apart(reason: answer.reason)
            )
        }
        if isAmbiguous, !sendsLost {
            return .decided(.unknown, reason: "sent by a process that died before the answer was recorded")
        }
        let isInherited = !inherited.isEmpty && inherited.contains(sequence)
        let decision = loaded.decisions[row]
        guard decision.isSendable else {
            if isAmbiguous {
                return .decided(.unknown, reason: "sent by a process that died, and now: \(decision.reason)")
            }
            return isInherited
                ? .decided(.unknown, reason: "sent before, without an answer, and now: \(decision.reason)")
                : .decided(.notApplicable, reason: decision.reason)
        }
        if !loaded.unreadable.isEmpty, let reason = loaded.unreadable[row] {
            return isAmbiguous || isInherited
                ? .decided(.unknown, reason: "sent before, without an answer, and now: \(reason)")
                : .decided(.failed, reason: reason)
        }
        if isAmbiguous {
            lost.insert(Int32(row))
            resent += 1
        } else if isInherited {
            ambiguousRows.insert(Int32(row))
        }
        if decision == .sendableWithErrors { withErrors.insert(Int32(row)) }
        return .send
    }
}
