import PostgresClient
import PushCore

extension Store {
    /// Stores outcomes and ends parts, in one transaction and one round trip unless something unusual is found.
    ///
    /// The fence is the update of the part's counters under the owner's token: what belongs to a part that was taken away
    /// is stored as late outcomes, and nothing is decided about that part. Safe to repeat after a lost connection: what was
    /// committed is not stored or counted again. When it returns everything is committed. Retry parts of a delivery that is
    /// held back or at its end are held back too.
    public func storeOutcomes(_ batch: OutcomeBatch) async throws -> StoreReport {
        guard !batch.isEmpty else { return StoreReport() }
        do {
            return try await storePlainly(batch)
        } catch let error as PostgresError where Self.needsConflictPath(error) {
            return try await storeOnConflictPath(batch, fenced: true)
        }
    }

    /// Of these parts, those that cannot end now without a wait, as another session has locked their delivery.
    public func lockedParts(_ parts: Set<Int64>) async throws -> Set<Int64> {
        try Self.idSet(try await query(DeliveryLock.lockedSQL, [.int64Array(parts.sorted())]))
    }

    /// Stores what a dead child's journal says, without a fence: a gateway's answer stays true. Closings are ignored.
    ///
    /// A message that is not of the part is left out, and so is one under a token that the part has never had; a subscription
    /// id of 0 is looked up. Safe to repeat.
    ///
    /// - Parameter waits: whether to wait for locks of others as long as the session does; otherwise it throws a retryable
    ///   `PostgresError` soon.
    public func storeFacts(
        _ batch: OutcomeBatch,
        fromJournal: Bool = true,
        waits: Bool = true
    ) async throws -> StoreReport {
        guard !batch.isEmpty else { return StoreReport() }
        return try await storeOnConflictPath(batch, fenced: false, fromJournal: fromJournal, waits: waits)
    }

    /// Rows exist already (unique violation), or counters would pass the part's size because they do (check violation); or a
    /// program of an older version and this one waited for each other (deadlock).
    private static func needsConflictPath(_ error: PostgresError) -> Bool {
        ["23505", "23514", "40P01"].contains(error.sqlState)
    }

    private func storePlainly(_ batch: OutcomeBatch) async throws -> StoreReport {
        let fences = batch.counts.sorted { ($0.key.part, $0.key.token) < ($1.key.part, $1.key.token) }
        let locks = PartClosing.lock(batch.closing)
        let fence = fences.isEmpty ? [] : [PartFence.statement(fences, journalLength: batch.journalLength)]
        var last: [PostgresStatement] = []
        if !batch.effects.isEmpty { last.append(TokenEventInsert.statement(batch.effects, ofHeldParts: true)) }
        last += TokenRefusalInsert.statements(batch)
        last += batch.acceptances.sorted { $0.key < $1.key }.map { SubscriptionAcceptance.noting($1, of: $0) }
        if !batch.closing.isEmpty { last += PartClosing.statements(batch.closing) }
        var report = StoreReport()
        var held: [PartToken: PartPlacement] = [:]
        let closed: PostgresResult?
        if BroadLogCopy.suits(batch) {
            let results = try await with { connection in
                try await connection.copyIn(
                    BroadLogCopy.sql,
                    after: locks + fence,
                    rows: { try BroadLogCopy.rows(batch, held: PartFence.read($0.last)) },
                    then: last
                )
            }
            held = try PartFence.read(results.first.last)
            report.inserted = Int(results.copied)
            closed = results.last.last
        } else {
            let inserts = BroadLogInsert.statements(batch)
            let results = try await group(locks + fence + inserts + last).dropFirst(locks.count)
            held = try fence.isEmpty ? [:] : PartFence.read(results.first)
            report.inserted = results.dropFirst(fence.count).prefix(inserts.count).reduce(0) { $0 + $1.affectedRows }
            closed = results.last
        }
        if !batch.closing.isEmpty, let closed { try PartClosing.read(closed, into: &report) }
        return try await finish(report, batch, held: held)
    }

    /// Sees to parts that the plain path could not serve: fenced ones, and those whose end did not add up because a late
    /// fact came in between.
    private func finish(_ report: StoreReport, _ batch: OutcomeBatch, held: [PartToken: PartPlacement]) async throws
        -> StoreReport
    {
        var report = report
        let lost = batch.counts.keys.filter { held[$0] == nil }
        let unclosed = batch.closing.filter { !report.closed.contains($0.claim) }
        guard !lost.isEmpty || !unclosed.isEmpty else { return report }
        var rest = OutcomeBatch()
        rest.take(batch, partsOf: Set(lost))
        rest.closing = unclosed
        let conflicts = try await storeOnConflictPath(rest, fenced: true)
        report.add(conflicts)
        return report
    }
}

extension StoreReport {
    mutating func add(_ other: StoreReport) {
        inserted += other.inserted
        existed += other.existed
        fencedParts += other.fencedParts
        late += other.late
        closedParts += other.closedParts
        unbalancedParts += other.unbalancedParts
        retryParts += other.retryParts
        closed.formUnion(other.closed)
    }
}

/// What became of an outcome batch; when it is returned the transaction is committed.
public struct StoreReport: Sendable {
    /// Rows written by this call.
    public var inserted: Int = 0
    /// Rows that existed already (repeat after a lost COMMIT reply, or a fact that somebody else stored).
    public var existed: Int = 0
    /// Parts that this owner does not hold any more, one for each token that was lost: decide nothing about them, their facts are
    /// stored as late outcomes.
    public var fencedParts: [Int64] = []
    /// Rows of fenced parts that were stored as late outcomes.
    public var late: Int = 0
    /// Parts that ended with this batch (or had ended when it was repeated).
    public var closedParts: [Int64] = []
    /// Parts that were to end but whose counters do not add up to their size: release them.
    public var unbalancedParts: [Int64] = []
    public var retryParts: Int = 0
    /// What ended, with the token under which it did.
    var closed: Set<PartToken> = []

    public init() {}
}

/// What the rows of a part's outcomes take from it.
struct PartPlacement: Sendable {
    let delivery: Int64
    /// In days since 2000-01-01.
    let logDay: Int32
}

/// The update that proves, by its row lock, that the owner still holds its parts, and adds to their counters.
enum PartFence {
    static func statement(
        _ counts: [(key: PartToken, value: StatusCounts)],
        journalLength: Int64
    ) -> PostgresStatement {
        let columns = StatusCounts.columns.indices.map { place in
            PostgresValue.int32Array(counts.map { $0.value.values[place] })
        }
        return PostgresStatement(
            sql,
            [.int64Array(counts.map(\.key.part)), .int64Array(counts.map(\.key.token))] + columns
                + [.heldState, .int64(journalLength)]
        )
    }

    /// The claims that still hold.
    static func read(_ result: PostgresResult?) throws -> [PartToken: PartPlacement] {
        guard let result else { return [:] }
        var held: [PartToken: PartPlacement] = [:]
        for row in 0..<result.rowCount {
            let claim = PartToken(part: try result.int64(row, 0), token: try result.int64(row, 1))
            held[claim] = PartPlacement(delivery: try result.int64(row, 2), logDay: try result.int32(row, 3))
        }
        return held
    }

    /// The arrays are read as those of the marks are.
    static let sql = """
        UPDATE pushmta_engine.delivery_part p
        SET \(sums), journal_length = greatest(p.journal_length, $\(StatusCounts.columns.count + 4))
        WHERE p.id = ANY($1::bigint[]) AND p.fencing_token = ($2::bigint[])[width_bucket(p.id, $1)]
            AND p.state = $\(StatusCounts.columns.count + 3)
        RETURNING p.id, p.fencing_token, p.delivery_id, p.log_day - DATE '2000-01-01'
        """

    private static let sums = StatusCounts.columns.enumerated().map { place, column in
        "\(column.name) = p.\(column.name) + ($\(place + 3)::integer[])[width_bucket(p.id, $1)]"
    }.joined(separator: ", ")
}

/// Final outcomes to store in one transaction, and the parts that end with them.
///
/// Outcomes without failure whose reason says nothing or is shared by all, as those of nearly all messages are, are kept in runs of
/// equal part, status, reason and attempt, which are a few arrays each; the others are kept row by row.
public struct OutcomeBatch: Sendable {
    /// Outcomes that differ in message and subscription only.
    struct Run: Sendable {
        let key: RunKey
        var sequences: [Int32] = []
        var subscriptionIDs: [Int64] = []
        /// Empty as long as no gateway gave an id.
        var gatewayMessageIDs = ByteColumn()
    }

    /// What the outcomes of a run have in common.
    struct RunKey: Sendable, Hashable {
        var claim: PartToken
        var status: MessageStatus
        var httpStatus: Int16
        var attempt: Int16
        /// Empty for nearly all; a word that many share otherwise.
        var reason: String
        var isDecision: Bool
    }

    /// An outcome by itself.
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
        /// It counts only while the owner holds the part, whatever the status.
        var isDecision = false
    }

    /// Where parts have a message each, a run for every one would cost more than the rows it saves. At a gateway whose answers come in no order
    /// a batch is of a hundred parts and more, and most of its outcomes are of few of them.
    private static let maximumRuns = 64

    /// What an outcome says about its message's token; whose it is stands in the part.
    struct Effect: Sendable {
        var claim: PartToken
        var sequence: Int32
        var kind: TokenEventKind
        var reason = ""
        var sinceMilliseconds: Int64?
        var newToken: String?
        /// Whether no mix-up can have caused it.
        var isCertain: Bool { kind == .invalid && TokenEffect.certainReasons.contains(reason) }
    }

    /// How long the owner's journal is, see ``Store/journalLength(ofChild:)``; 0 if that is not known.
    public var journalLength: Int64 = 0
    fileprivate(set) var effects: [Effect] = []
    /// Subscriptions of each application for which a message was taken for the first time.
    private(set) var acceptances: [Int32: [Int64]] = [:]
    private(set) var runs: [Run] = []
    private(set) var rows: [Row] = []
    /// Outcomes of each part by status.
    private(set) var counts: [PartToken: StatusCounts] = [:]
    private var lastRun = 0

    /// Parts that end with this batch.
    public var closing: [ClosingPart] = []

    /// Messages that were answered before it, and not counted with a refusal of a token yet.
    public var answeredBefore = 0

    /// Refusals of tokens that are dead as the gateway says.
    public var refusedTokens: Int { effects.isEmpty ? 0 : effects.count { $0.kind == .invalid } }

    public private(set) var count = 0

    /// The parts that it is about, each with the token under which its messages were sent.
    public var claims: Set<PartToken> { Set(counts.keys).union(closing.map(\.claim)) }

    /// Whether there is nothing to store.
    public var isEmpty: Bool { count == 0 && closing.isEmpty }

    /// An empty batch; `capacity` is a hint.
    public init(capacity: Int = 1000) {
        rows.reserveCapacity(min(capacity, 64))
    }

    /// Adds the outcome of one message.
    ///
    /// - Parameters:
    ///   - subscriptionID: 0 if not known (a journal does not say it): `storeFacts` looks it up.
    ///   - status: a final status; `pending` is ignored.
    ///   - reason: the gateway's words, "" if none.
    ///   - tokenEffect: what the answer means for the token; recorded in the same transaction.
    ///   - failure: what kind of failure it is, if it is one.
    ///   - healsErrors: the message got through to a subscription with soft errors; recorded in the same transaction.
    ///   - firstOf: the application, if no message was ever taken for the subscription before; noted in the same transaction, unless
    ///     something unusual is found: then by the next one.
    ///   - isDecision: the owner decided it, and no gateway said it: an owner that has lost the part brings no such outcome, though
    ///     its status is `failed`.
    public mutating func append(
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
        // The reasons of failures are many; success has one word at most, and no gateway gives an id with it.
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
        guard runs.count < Self.maximumRuns else { return nil }
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
    /// Takes over the outcomes of some parts.
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
    /// What an answer says, nil if it says nothing.
    fileprivate init?(_ claim: PartToken, _ sequence: Int32, _ reason: String, _ effect: TokenEffect) {
        self.init(claim: claim, sequence: sequence, kind: .invalid, reason: reason)
        switch effect {
        case .none: return nil
        case .invalid(let since): sinceMilliseconds = since
        case .softError: kind = .softError
        case .replaced(let token):
            // PostgreSQL stores no NUL, and an empty token is none. One that is longer than the index takes could never be applied; it
            // may come from the journal of another version.
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

/// Numbers of outcomes by final status, in the order of a part's counters.
struct StatusCounts: Sendable, Hashable {
    private(set) var values: [Int32] = [0, 0, 0, 0, 0, 0]

    /// The counters of a part, in the order of the columns in every statement here.
    static let columns: [(status: MessageStatus, name: String)] = [
        (.sent, "sent"), (.failed, "failed"), (.ignored, "ignored"), (.notApplicable, "not_applicable"),
        (.canceled, "canceled"), (.unknown, "unknown"),
    ]

    /// The sum of a part's counters, as SQL.
    static let sumSQL = columns.map { "p.\($0.name)" }.joined(separator: " + ")

    mutating func add(_ number: Int32, _ status: MessageStatus) {
        guard let place = Self.columns.firstIndex(where: { $0.status == status }) else { return }
        values[place] += number
    }

    var total: Int32 { values.reduce(0, +) }
}
