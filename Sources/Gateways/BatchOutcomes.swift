import HTTP2
import PushCore

/// Messages of a batch with their outcomes.
public struct ResolvedBatch: Sendable {
    public var batch: GatewayRequestBatch
    /// One for each resolved message, in the order in which they were resolved.
    public var outcomes: [Outcome]
    /// For each of the outcomes the microseconds from writing the request to its end; 0 if it was never written.
    public var latencies: [UInt32]

    /// Outcomes of messages of a batch.
    public init(batch: GatewayRequestBatch, outcomes: [Outcome], latencies: [UInt32]) {
        self.batch = batch
        self.outcomes = outcomes
        self.latencies = latencies
    }
}

/// The outcomes of one read, by batch.
struct ResolvedBatches {
    private(set) var all: [ResolvedBatch] = []
    private var current = 0
    private let expected: Int

    /// - Parameter expected: how many outcomes will come at most.
    init(expected: Int) {
        self.expected = expected
    }

    mutating func add(_ outcome: consuming Outcome, _ latencyMicroseconds: UInt32, _ batch: GatewayRequestBatch) {
        // Answers of a read are mostly of the batch before; where latencies differ much they are of many.
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

/// What a gateway's answer other than 200 means, and what has to be done about it.
struct Decision {
    var outcome: Outcome
    var row: AnswerRow
    /// The gateway's text for people; empty when it gave none.
    var text = ""
    /// Requests that still wait carry a token that is no longer taken and have to be made anew.
    var makesWaitingAnew = false
}

/// What has to be done after the outcomes of one read were handed over.
struct FollowUp {
    var hasAccepted = false
    var replacesConnections = false
    var makesWaitingAnew = false
    /// One decision for each reason that concerns the application.
    private(set) var decisions: [Decision] = []
    /// What the gateway says in words of messages that it refuses for good.
    private(set) var texts: Set<RefusalText> = []
    /// More of one read say nothing new.
    private static let mostTexts = 20

    mutating func note(_ decision: Decision, of deliveryID: Int64) {
        if decision.outcome.outcomeClass == .permanent, !decision.text.isEmpty, texts.count < Self.mostTexts {
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

/// The reasons of outcomes that have no answer of the gateway, short enough to cost no memory of their own.
enum NoAnswerReason {
    static let cancelled = "NotSent"
    static let queueFull = "QueueFull"
    /// The binary gateway threw it away because of a message before it.
    static let discarded = "Discarded"

    /// The connection was lost before the message was written.
    static let notWritten = "NotWritten"
    /// An answer that looks like success and is none of the gateway's.
    static let malformed = "MalformedAnswer"

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
