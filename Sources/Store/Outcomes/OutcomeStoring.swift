import PostgresClient
import PushCore
import Synchronization

extension Store {
    /// Stores outcomes and ends parts, in one transaction and, in normal cases, in one round trip.
    ///
    /// The fence is the update of the part's counters under the owner's token. Outcomes of a part that the owner has
    /// lost are stored as late outcomes, and nothing is decided about that part. Safe to repeat after a lost
    /// connection: what was committed is not stored or counted again. When it returns, everything is committed. Retry
    /// parts of a delivery that is paused or has ended are held back, too.
    package func storeOutcomes(_ batch: OutcomeBatch) async throws -> StoreReport {
        guard !batch.isEmpty else { return StoreReport() }
        do {
            return try await storePlainly(batch)
        } catch let error as PostgresError where Self.needsConflictPath(error) {
            return try await storeOnConflictPath(batch, fenced: true)
        }
    }

    /// Those of these parts that cannot end now without waiting, because another session has locked their delivery.
    package func lockedParts(_ parts: Set<Int64>) async throws -> Set<Int64> {
        try Self.idSet(try await query(DeliveryLock.lockedSQL, [.int64Array(parts.sorted())]))
    }

    /// Stores the answers in a dead child's journal, without a fence: a gateway's answer stays true. Closings are
    /// ignored.
    ///
    /// A message that does not belong to the part is left out, and so is one under a token that the part has never had;
    /// a subscription id of 0 is looked up. Safe to repeat.
    ///
    /// - Parameter waits: whether to wait for locks of others as long as the session allows; otherwise it soon throws a
    ///   retryable `PostgresError`.
    package func storeFacts(
        _ batch: OutcomeBatch,
        fromJournal: Bool = true,
        waits: Bool = true
    ) async throws -> StoreReport {
        guard !batch.isEmpty else { return StoreReport() }
        return try await storeOnConflictPath(batch, fenced: false, fromJournal: fromJournal, waits: waits)
    }

    /// Rows exist already (unique violation), or counters would exceed the part's size because they do (check
    /// violation); or a program of an older version and this one waited for each other (deadlock).
    private static func needsConflictPath(_ error: PostgresError) -> Bool {
        ["23505", "23514", "40P01"].contains(error.sqlState)
    }

    private func storePlainly(_ batch: OutcomeBatch) async throws -> StoreReport {
        let fences = batch.counts.sorted { ($0.key.part, $0.key.token) < ($1.key.part, $1.key.token) }
        let locks = PartClosing.lock(batch.closing)
        let fence = fences.isEmpty ? [] : [PartFence.statement(fences, journalLength: batch.journalLength)]
        // Before the parts end.
        var last = EventInsert.statements(batch, kinds: try await wantedEventKinds())
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
            try noteEventKinds(results.first.last)
            report.inserted = Int(results.copied)
            closed = results.last.last
        } else {
            let inserts = BroadLogInsert.statements(batch)
            let results = try await group(locks + fence + inserts + last).dropFirst(locks.count)
            held = try fence.isEmpty ? [:] : PartFence.read(results.first)
            if !fence.isEmpty { try noteEventKinds(results.first) }
            report.inserted = results.dropFirst(fence.count).prefix(inserts.count).reduce(0) { $0 + $1.affectedRows }
            closed = results.last
        }
        if !batch.closing.isEmpty, let closed { try PartClosing.read(closed, into: &report) }
        return try await finish(report, batch, held: held)
    }

    /// The kinds of events to store with outcomes. While there are many, each batch says what the next one needs.
    private func wantedEventKinds() async throws -> Int32 {
        if let known = wantedEvents.withLock({ $0 }), known.isFresh { return known.kinds }
        let kinds = try await query("SELECT \(EventInsert.kindsSQL)").one { try $0.int32() }
        wantedEvents.withLock { $0 = WantedEvents(kinds: kinds) }
        return kinds
    }

    private func noteEventKinds(_ fence: PostgresResult?) throws {
        guard let kinds = try PartFence.eventKinds(fence) else { return }
        wantedEvents.withLock { $0 = WantedEvents(kinds: kinds) }
    }

    /// Handles parts that the plain path could not: fenced ones, and those whose end did not add up because a late fact
    /// came in between.
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

/// What the rows of a part's outcomes need from the part.
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

    /// The kinds of events that consumers want, a bit for each; nil if no claim holds.
    static func eventKinds(_ result: PostgresResult?) throws -> Int32? {
        guard let result, result.rowCount > 0 else { return nil }
        return try result.int32(0, 4)
    }

    /// The arrays are read as in the statement of the marks.
    static let sql = """
        UPDATE pushmta_engine.delivery_part p
        SET \(sums), journal_length = greatest(p.journal_length, $\(StatusCounts.columns.count + 4))
        WHERE p.id = ANY($1::bigint[]) AND p.fencing_token = ($2::bigint[])[width_bucket(p.id, $1)]
            AND p.state = $\(StatusCounts.columns.count + 3)
        RETURNING p.id, p.fencing_token, p.delivery_id, p.log_day - DATE '2000-01-01', \(EventInsert.kindsSQL)
        """

    private static let sums = StatusCounts.columns.enumerated().map { place, column in
        "\(column.name) = p.\(column.name) + ($\(place + 3)::integer[])[width_bucket(p.id, $1)]"
    }.joined(separator: ", ")
}
