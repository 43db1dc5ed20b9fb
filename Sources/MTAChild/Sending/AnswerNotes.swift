import Gateways
import PushCore
import Store

/// Answers whose decision waits for others, or that are reported only once.
struct AnswerNotes: Sendable {
    /// Limits of single devices that may turn out to be a limit of all.
    private(set) var soft: [DispatchState.HeldSoft] = []
    /// The number of answers with an undocumented reason, by delivery, since one of its messages was accepted.
    private(set) var unknownReasons: [Int64: Int] = [:]
    /// Wrong credentials stored with the gateway, in its words, that this child has found.
    private var wrongCredentials: Set<String> = []
    /// The one that is not reported yet.
    private var untoldCredential: String?
    /// Refusals in the current read because of the whole project's quota.
    private var quotaRefusals: [Outcome] = []

    // MARK: Limits of devices

    mutating func hold(_ soft: DispatchState.HeldSoft) { self.soft.append(soft) }

    /// Takes the limits that are now known to be the devices' own.
    mutating func takeSoft(_ isDecided: (DispatchState.HeldSoft) -> Bool) -> [DispatchState.HeldSoft] {
        let decided = soft.filter(isDecided)
        soft.removeAll(where: isDecided)
        return decided
    }

    /// Forgets a part's undecided messages.
    mutating func drop(_ claim: PartToken) { soft.removeAll { $0.message.claim == claim } }

    // MARK: Undocumented reasons

    mutating func unknownReason(ofDelivery delivery: Int64) { unknownReasons[delivery, default: 0] += 1 }

    /// Forgets a delivery's undocumented reasons: a message was accepted, or the delivery is held.
    mutating func forgetReasons(ofDelivery delivery: Int64) {
        if !unknownReasons.isEmpty { unknownReasons[delivery] = nil }
    }

    // MARK: Credentials stored with the gateway

    mutating func wrongCredential(_ reason: String) {
        if wrongCredentials.insert(reason).inserted { untoldCredential = reason }
    }

    mutating func rightCredential(_ reason: String) { wrongCredentials.remove(reason) }

    /// A wrong credential to report, returned once.
    mutating func takeUntoldCredential() -> String? { untoldCredential.take() }

    // MARK: The quota of the project

    mutating func hold(quotaRefusal outcome: Outcome) { quotaRefusals.append(outcome) }

    mutating func takeQuotaRefusals() -> [Outcome] {
        // This runs for each read, and there is nearly always none.
        guard !quotaRefusals.isEmpty else { return [] }
        defer { quotaRefusals = [] }
        return quotaRefusals
    }
}
