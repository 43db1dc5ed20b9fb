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
            return try await storeCarefully(batch, fenced: true)
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
        return try await storeCarefully(batch, fenced: false, fromJournal: fromJournal, waits: waits)
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
        let unclosed = batch.closing.filter { !report.closed.contains($0.holding) }
        guard !lost.isEmpty || !unclosed.isEmpty else { return report }
        var rest = OutcomeBatch()
        rest.take(batch, partsOf: Set(lost))
        rest.closing = unclosed
        let careful = try await storeCarefully(rest, fenced: true)
        report.add(careful)
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
