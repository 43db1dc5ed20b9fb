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
        } catch let error as PostgresError where Self.calls4Care(error) {
            return try await storeOnConflictPath(batch, fenced: true)
        }
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
    private static func calls4Care(_ error: PostgresError) -> Bool {
        ["23505", "23514", "40P01"].contains(error.sqlState)
    }

    private func storePlainly(_ batch: OutcomeBatch) async throws -> StoreReport {
        let fences = batch.counts.sorted { $0.key.part < $1.key.part }
        let locks = PartClosing.lock(batch.closing)
        var statements = locks
        if !fences.isEmpty { statements.append(PartFence.statement(fences)) }
        statements += batch.runs.map(BroadLogInsert.run)
        if !batch.rows.isEmpty { statements.append(BroadLogInsert.rows(batch.rows)) }
        if !batch.effects.isEmpty { statements.append(TokenEventInsert.statement(batch.effects, ofHeldParts: true)) }
        statements += batch.acceptances.sorted { $0.key < $1.key }.map { SubscriptionAcceptance.noting($1, of: $0) }
        if !batch.closing.isEmpty { statements += PartClosing.statements(batch.closing) }
        let results = try await group(statements).dropFirst(locks.count)
        var report = StoreReport()
        let inserts = results.dropFirst(fences.isEmpty ? 0 : 1).prefix(batch.runs.count + (batch.rows.isEmpty ? 0 : 1))
        report.inserted = inserts.reduce(0) { $0 + $1.affectedRows }
        if !batch.closing.isEmpty, let closed = results.last { try PartClosing.read(closed, into: &report) }
        let held = fences.isEmpty ? [] : try results.first.map(PartFence.read) ?? []
        return try await finish(report, batch, held: held)
    }

    /// Sees to parts that the plain path could not serve: fenced ones, and those whose end did not add up because a late
    /// fact came in between.
    private func finish(_ report: StoreReport, _ batch: OutcomeBatch, held: Set<PartToken>) async throws -> StoreReport
    {
        var report = report
        let lost = batch.counts.keys.filter { !held.contains($0) }
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
    /// Retry parts made.
    public var retryParts: Int = 0
    /// What ended, with the token under which it did.
    var closed: Set<PartToken> = []

    /// An empty report.
    public init() {}
}

/// The update that proves, by its row lock, that the owner still holds its parts, and adds to their counters.
enum PartFence {
    static func statement(_ counts: [(key: PartToken, value: StatusCounts)]) -> PostgresStatement {
        let columns = StatusCounts.columns.indices.map { place in
            PostgresValue.int32Array(counts.map { $0.value.values[place] })
        }
        return PostgresStatement(
            sql,
            [.int64Array(counts.map(\.key.part)), .int64Array(counts.map(\.key.token))] + columns + [.heldState]
        )
    }

    /// The claims that stand.
    static func read(_ result: PostgresResult) throws -> Set<PartToken> {
        var held: Set<PartToken> = []
        for row in 0..<result.rowCount {
            held.insert(PartToken(part: try result.int64(row, 0), token: try result.int64(row, 1)))
        }
        return held
    }

    static let sql = """
        UPDATE pushmta_engine.delivery_part p
        SET \(StatusCounts.columns.map { "\($0.name) = p.\($0.name) + c.\($0.name)" }.joined(separator: ", "))
        FROM unnest($1::bigint[], $2::bigint[], \(arrays))
            c(id, token, \(StatusCounts.columns.map(\.name).joined(separator: ", ")))
        WHERE p.id = c.id AND p.id = ANY($1) AND p.fencing_token = c.token AND p.state = $\(StatusCounts.columns.count + 3)
        RETURNING p.id, p.fencing_token
        """

    private static let arrays = StatusCounts.columns.indices.map { "$\($0 + 3)::integer[]" }.joined(separator: ", ")
}
