import HTTP2
import PushCore

/// Messages of a batch with their outcomes.
package struct ResolvedBatch: Sendable {
    package var batch: GatewayRequestBatch
    /// One for each resolved message, in the order in which they were resolved.
    package var outcomes: [Outcome]
    /// For each outcome, the microseconds from writing the request to its end; 0 if it was never written.
    package var latencies: [UInt32]

    /// Outcomes of messages of a batch.
    package init(batch: GatewayRequestBatch, outcomes: [Outcome], latencies: [UInt32]) {
        self.batch = batch
        self.outcomes = outcomes
        self.latencies = latencies
    }
}

/// The outcomes of one read, by batch.
package struct ResolvedBatches: Sendable {
    package private(set) var all: [ResolvedBatch] = []
    private var current = 0
    private let expected: Int

    /// - Parameter expected: the maximum number of outcomes that will come.
    package init(expected: Int) {
        self.expected = expected
    }

    package mutating func add(_ outcome: consuming Outcome, _ latencyMicroseconds: UInt32, _ batch: GatewayRequestBatch)
    {
        // Answers of one read mostly belong to the same batch; where latencies differ widely they belong to many.
        if current >= all.count || all[current].batch !== batch { current = position(of: batch) }
        all[current].outcomes.append(outcome)
        all[current].latencies.append(latencyMicroseconds)
    }

    private mutating func position(of batch: GatewayRequestBatch) -> Int {
        if let known = all.firstIndex(where: { $0.batch === batch }) { return known }
        var batch = ResolvedBatch(batch: batch, outcomes: [], latencies: [])
        if all.isEmpty {
            batch.outcomes.reserveCapacity(expected)
            batch.latencies.reserveCapacity(expected)
        }
        all.append(batch)
        return all.count - 1
    }
}

/// What a gateway's answer other than 200 means, and what to do about it.
package struct Decision: Sendable {
    package var outcome: Outcome
    package var row: AnswerRow
    /// The gateway's text for people; empty when it gave none.
    package var text: String
    /// Waiting requests carry a token that is no longer accepted, so they have to be built again.
    package var makesWaitingAnew: Bool

    package init(outcome: Outcome, row: AnswerRow, text: String = "", makesWaitingAnew: Bool = false) {
        self.outcome = outcome
        self.row = row
        self.text = text
        self.makesWaitingAnew = makesWaitingAnew
    }
}

/// What to do after the outcomes of one read were handed over.
package struct FollowUp: Sendable {
    package var hasAccepted = false
    package var replacesConnections = false
    package var makesWaitingAnew = false
    /// One decision per reason that concerns the application.
    package private(set) var decisions: [Decision] = []
    /// The gateway's explanations of final refusals.
    package private(set) var texts: Set<RefusalText> = []
    /// Further ones from the same read add nothing new.
    private static let maxTexts = 20

    package init() {}

    package mutating func note(_ decision: Decision, of deliveryID: Int64) {
        if decision.outcome.outcomeClass == .permanent, !decision.text.isEmpty, texts.count < Self.maxTexts {
            texts.insert(
                RefusalText(deliveryID: deliveryID, reason: decision.outcome.reason, words: decision.text)
            )
        }
        if decision.row.connection == .replace { replacesConnections = true }
        if decision.makesWaitingAnew { makesWaitingAnew = true }
        guard decision.row.application == .stop || decision.row.application == .pause else { return }
        if decisions.contains(where: { $0.row == decision.row }) { return }
        decisions.append(decision)
    }
}

/// The reasons of outcomes without a gateway's answer, short enough for Swift to store without an allocation.
package enum NoAnswerReason {
    package static let cancelled = "NotSent"
    package static let queueFull = "QueueFull"
    /// The gateway discarded it because of an earlier message.
    package static let discarded = "Discarded"

    /// The connection was lost before the message was written.
    package static let notWritten = "NotWritten"
    /// An answer that looks like success and does not come from the gateway.
    package static let malformed = "MalformedAnswer"

    static func text(_ cause: HTTP2Failure.Cause, isWritten: Bool) -> String {
        switch cause {
        case .reset(.refusedStream): "REFUSED_STREAM"
        case .reset(let code): code.description
        case .malformed(let what): "\(malformed): \(what)"
        case .goAway: "GOAWAY"
        case .connectionClosed: isWritten ? "ConnectionLost" : notWritten
        case .timeout: AnswerTable.timeout
        case .cancelled: cancelled
        }
    }
}
