import PostgresClient
import PushCore

/// Final outcomes to store in one transaction, and the parts that end with them.
///
/// Outcomes without failure and with no reason, or one that all share, are kept in runs: nearly all messages are. A run
/// has equal part, status, reason and attempt, and consists of a few arrays. All others are kept row by row.
package struct OutcomeBatch: Sendable {
    /// Outcomes that differ only in message and subscription.
    struct Run: Sendable {
        let key: RunKey
        var sequences: [Int32] = []
        var subscriptionIDs: [Int64] = []
        /// Empty until a gateway gives an id.
        var gatewayMessageIDs = ByteColumn()
    }

    /// What the outcomes of a run have in common.
    struct RunKey: Sendable, Hashable {
        var claim: PartToken
        var status: MessageStatus
        var httpStatus: Int16
        var attempt: Int16
        /// Empty for nearly all, otherwise a word that many share.
        var reason: String
        var isDecision: Bool
    }

    /// A single outcome.
    struct Row: Sendable {
        var claim: PartToken
        var sequence: Int32
        var subscriptionID: Int64
        var status: MessageStatus
        var httpStatus: Int16
        var attempt: Int16
        var reason: String?
        var gatewayMessageID: String?
        var failure: MessageFailure?
        /// Whether it counts only while the owner holds the part, whatever the status.
        var isDecision = false
    }

    /// If parts have one message each, a run for each would cost more than the rows it saves. With a gateway that
    /// answers in no order, a batch spans a hundred parts or more, but most of its outcomes belong to a few of them.
    private static let maxRuns = 64

    /// What an outcome says about its message's token; the part has the subscription.
    struct Effect: Sendable {
        var claim: PartToken
        var sequence: Int32
        var kind: TokenEventKind
        var reason = ""
        var sinceMilliseconds: Int64?
        var newToken: String?
        /// Whether no mix-up can cause it.
        var isCertain: Bool { kind == .invalid && TokenEffect.certainReasons.contains(reason) }
    }

    /// The length of the owner's journal, see ``Store/journalLength(ofChild:)``; 0 if unknown.
    package var journalLength: Int64 = 0
    fileprivate(set) var effects: [Effect] = []
    /// Subscriptions of each application that accepted a message for the first time.
    private(set) var acceptances: [Int32: [Int64]] = [:]
    private(set) var runs: [Run] = []
    private(set) var rows: [Row] = []
    /// Outcomes of each part by status.
    private(set) var counts: [PartToken: StatusCounts] = [:]
    private var lastRun = 0

    /// Parts that end with this batch.
    package var closing: [ClosingPart] = []

    /// Messages that were answered before this batch, and not yet counted with a refusal of a token.
    package var answeredBefore = 0

    /// Refusals of tokens that the gateway calls dead.
    package var refusedTokens: Int { effects.isEmpty ? 0 : effects.count { $0.kind == .invalid } }

    package private(set) var count = 0

    /// The parts in this batch, each with the token under which its messages were sent.
    package var claims: Set<PartToken> { Set(counts.keys).union(closing.map(\.claim)) }

    /// Whether there is nothing to store.
    package var isEmpty: Bool { count == 0 && closing.isEmpty }

    /// An empty batch; `capacity` is a hint.
    package init(capacity: Int = 1000) {
        rows.reserveCapacity(min(capacity, 64))
    }

    /// Adds the outcome of one message.
    ///
    /// - Parameters:
    ///   - subscriptionID: 0 if unknown (a journal does not have it): `storeFacts` looks it up.
    ///   - status: a final status; `pending` is ignored.
    ///   - reason: the gateway's text, "" if none.
    ///   - tokenEffect: what the answer means for the token; recorded in the same transaction.
    ///   - failure: the kind of failure, if it is one.
    ///   - healsErrors: the message got through to a subscription with soft errors; recorded in the same transaction.
    ///   - firstOf: the application, if no message was accepted for the subscription before. Recorded in the same
    ///     transaction, or with the next message if the batch takes the conflict path.
    ///   - isDecision: the owner decided it, not a gateway. An owner that has lost the part stores no such outcome,
    ///     although its status is `failed`.
    package mutating func append(
        part: Int64,
        token: Int64,
        sequence: Int32,
        subscriptionID: Int64,
        status: MessageStatus,
        httpStatus: Int16 = 0,
        reason: String = "",
        gatewayMessageID: String? = nil,
        attempt: Int16 = 1,
        tokenEffect: TokenEffect = .none,
        failure: MessageFailure? = nil,
        healsErrors: Bool = false,
        firstOf application: Int32? = nil,
        isDecision: Bool = false
    ) {
        guard status != .pending else { return }
        if let application, status == .sent { acceptances[application, default: []].append(subscriptionID) }
        let claim = PartToken(part: part, token: token)
        if let effect = Effect(claim, sequence, reason, tokenEffect) { effects.append(effect) }
        if healsErrors { effects.append(Effect(claim: claim, sequence: sequence, kind: .success)) }
        count += 1
        counts[claim, default: StatusCounts()].add(1, status)
        // Reasons of failures are many; a success has one reason at most, and no gateway gives an id with it.
        if failure == nil, reason.isEmpty || status == .sent && gatewayMessageID == nil {
            let key = RunKey(
                claim: claim,
                status: status,
                httpStatus: httpStatus,
                attempt: attempt,
                reason: reason,
                isDecision: isDecision
            )
            if let run = runIndex(key) {
                runs[run].append(sequence, subscriptionID, gatewayMessageID)
                return
            }
        }
        rows.append(
            Row(
                claim: claim,
                sequence: sequence,
                subscriptionID: subscriptionID,
                status: status,
                httpStatus: httpStatus,
                attempt: attempt,
                reason: reason.isEmpty ? nil : reason,
                gatewayMessageID: gatewayMessageID,
                failure: failure,
                isDecision: isDecision
            )
        )
    }

    private mutating func runIndex(_ key: RunKey) -> Int? {
        if lastRun < runs.count, runs[lastRun].key == key { return lastRun }
        if let run = runs.firstIndex(where: { $0.key == key }) {
            lastRun = run
            return run
        }
        guard runs.count < Self.maxRuns else { return nil }
        runs.append(Run(key: key))
        lastRun = runs.count - 1
        return lastRun
    }

    /// All outcomes, row by row.
    var allRows: [Row] { rows(withRunsFrom: 0) }

    /// What is kept row by row, and the outcomes of the runs from this one on.
    func rows(withRunsFrom first: Int) -> [Row] {
        rows
            + runs.dropFirst(first).flatMap { run in
                run.sequences.indices.map { index in
                    Row(
                        claim: run.key.claim,
                        sequence: run.sequences[index],
                        subscriptionID: run.subscriptionIDs[index],
                        status: run.key.status,
                        httpStatus: run.key.httpStatus,
                        attempt: run.key.attempt,
                        reason: run.key.reason.isEmpty ? nil : run.key.reason,
                        gatewayMessageID: run.gatewayMessageID(index),
                        isDecision: run.key.isDecision
                    )
                }
            }
    }
}

extension OutcomeBatch {
    /// Takes the outcomes of some parts from another batch.
    mutating func take(_ other: OutcomeBatch, partsOf wanted: Set<PartToken>) {
        guard !wanted.isEmpty else { return }
        for row in other.allRows where wanted.contains(row.claim) {
            append(
                part: row.claim.part,
                token: row.claim.token,
                sequence: row.sequence,
                subscriptionID: row.subscriptionID,
                status: row.status,
                httpStatus: row.httpStatus,
                reason: row.reason ?? "",
                gatewayMessageID: row.gatewayMessageID,
                attempt: row.attempt,
                failure: row.failure,
                isDecision: row.isDecision
            )
        }
        effects = other.effects.filter { wanted.contains($0.claim) }
    }
}

extension OutcomeBatch.Effect {
    /// The token effect of an answer, nil if it has none.
    fileprivate init?(_ claim: PartToken, _ sequence: Int32, _ reason: String, _ effect: TokenEffect) {
        self.init(claim: claim, sequence: sequence, kind: .invalid, reason: reason)
        switch effect {
        case .none: return nil
        case .invalid(let since): sinceMilliseconds = since
        case .softError: kind = .softError
        case .replaced(let token):
            // PostgreSQL stores no NUL, and an empty token is not one. A token longer than the index allows could never
            // be applied; it may come from the journal of another version.
            guard !token.isEmpty, token.utf8.count <= PushTokenForm.androidLength.upperBound, !token.utf8.contains(0)
            else { return nil }
            kind = .canonical
            newToken = token
        }
    }
}

extension OutcomeBatch.Run {
    mutating func append(_ sequence: Int32, _ subscriptionID: Int64, _ gatewayMessageID: String?) {
        if let gatewayMessageID {
            while gatewayMessageIDs.count < sequences.count { gatewayMessageIDs.appendNull() }
            gatewayMessageIDs.append(gatewayMessageID.utf8)
        } else if !gatewayMessageIDs.isEmpty {
            gatewayMessageIDs.appendNull()
        }
        sequences.append(sequence)
        subscriptionIDs.append(subscriptionID)
    }

    func gatewayMessageID(_ index: Int) -> String? {
        gatewayMessageIDs.isEmpty || gatewayMessageIDs.isNull(index) ? nil : gatewayMessageIDs.string(index)
    }
}
