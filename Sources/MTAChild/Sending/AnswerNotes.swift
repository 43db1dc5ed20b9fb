import Gateways
import PushCore
import Store

/// Answers of which a decision waits for others, or which are told once.
struct AnswerNotes: Sendable {
    /// Limits of single devices that may be one of all.
    private(set) var soft: [DispatchState.HeldSoft] = []
    /// Answers with a reason that nobody knows, by delivery, since one of its messages was accepted.
    private(set) var unknownReasons: [Int64: Int] = [:]
    /// Wrong credentials that are stored with the gateway, in its words, of which this child has told.
    private var wrongCredentials: Set<String> = []
    /// The one of which it has not told yet.
    private var untoldCredential: String?
    /// Refusals of the read at hand for the quota of the whole project.
    private var quotaRefusals: [Outcome] = []

    // MARK: Limits of devices

    mutating func hold(_ soft: DispatchState.HeldSoft) { self.soft.append(soft) }

    /// Those of which it is known by now that they are the devices' own.
    mutating func takeSoft(_ isDecided: (DispatchState.HeldSoft) -> Bool) -> [DispatchState.HeldSoft] {
        let decided = soft.filter(isDecided)
        soft.removeAll(where: isDecided)
        return decided
    }

    /// Forgets what is undecided of a part.
    mutating func drop(_ claim: PartToken) { soft.removeAll { $0.message.claim == claim } }

    // MARK: Reasons that nobody knows

    mutating func unknownReason(ofDelivery delivery: Int64) { unknownReasons[delivery, default: 0] += 1 }

    /// A message of the delivery was accepted, or the delivery is held.
    mutating func forgetReasons(ofDelivery delivery: Int64) {
        if !unknownReasons.isEmpty { unknownReasons[delivery] = nil }
    }

    // MARK: Credentials that are stored with the gateway

    mutating func wrongCredential(_ reason: String) {
        if wrongCredentials.insert(reason).inserted { untoldCredential = reason }
    }

    mutating func rightCredential(_ reason: String) { wrongCredentials.remove(reason) }

    /// A wrong credential to tell of, once.
    mutating func takeUntoldCredential() -> String? { untoldCredential.take() }

    // MARK: The quota of the project

    mutating func hold(quotaRefusal outcome: Outcome) { quotaRefusals.append(outcome) }

    mutating func takeQuotaRefusals() -> [Outcome] {
        // With each read: nearly always there is none.
        guard !quotaRefusals.isEmpty else { return [] }
        defer { quotaRefusals = [] }
        return quotaRefusals
    }
}
