import PushCore
import Store

/// Decides what becomes of each message of a claimed part before anything is sent.
struct RowSorter {
    enum Verdict {
        /// It has an outcome already.
        case known
        case send
        case decided(MessageStatus, reason: String)
        /// It was answered softly before, and waits for the retry part.
        case soft(notBeforeMilliseconds: Int64)
    }

    private let policy: AmbiguityPolicy
    private let isExpired: Bool
    private let known: Set<Int32>
    private let ambiguous: Set<Int32>
    private let ambiguousThrough: Int
    private let soft: [Int32: Int64]
    /// Messages that are sent again although the gateway may have had them.
    private(set) var resent: Int32 = 0

    init(_ delivery: CompiledDelivery, known: Set<Int32>, recovery: PartRecovery, now: Int64) {
        policy = delivery.ambiguityPolicy
        isExpired = delivery.isExpired(atMilliseconds: now)
        self.known = known
        ambiguous = Set(recovery.ambiguous)
        ambiguousThrough = Int(recovery.ambiguousThrough)
        soft = Dictionary(
            recovery.softAnswers.map { ($0.sequence, $0.notBefore.map { $0.microsecondsSince1970 / 1_000 } ?? now) },
            uniquingKeysWith: { _, later in later }
        )
    }

    mutating func sort(row: Int, _ loaded: LoadedPart) -> Verdict {
        let sequence = loaded.sequences[row]
        if !known.isEmpty, known.contains(sequence) { return .known }
        if let notBefore = soft[sequence] { return .soft(notBeforeMilliseconds: notBefore) }
        let isAmbiguous = row < ambiguousThrough || ambiguous.contains(sequence)
        if isAmbiguous, policy == .report {
            return .decided(.unknown, reason: "sent by a process that died before the answer was recorded")
        }
        if isExpired { return .decided(.ignored, reason: "expired") }
        let verdict = loaded.verdicts[row]
        guard verdict == .sendable else { return .decided(.notApplicable, reason: verdict.reason) }
        if isAmbiguous { resent += 1 }
        return .send
    }
}
