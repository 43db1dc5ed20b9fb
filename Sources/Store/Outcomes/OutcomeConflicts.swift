import PostgresClient
import PushCore

extension Store {
    /// Stores a batch of which some rows may be in the database already: after a take-over, a lost COMMIT reply, or
    /// from a journal. Counts only the rows that were really inserted, at the part where each message now lives.
    func storeOnConflictPath(
        _ batch: OutcomeBatch,
        fenced: Bool,
        fromJournal: Bool = false,
        waits: Bool = true,
        attempts: Int = 4
    ) async throws -> StoreReport {
        do {
            return try await transaction { transaction in
                try await ConflictPath(batch: batch, fenced: fenced, fromJournal: fromJournal, waits: waits).run(
                    transaction
                )
            }
        } catch let error as PostgresError
            where attempts > 1 && ["40P01", "40001", "23514"].contains(error.sqlState)
        {
            // A deadlock with another writer on the conflict path, or a part that ended between two statements: both
            // are transient.
            return try await storeOnConflictPath(
                batch,
                fenced: fenced,
                fromJournal: fromJournal,
                waits: waits,
                attempts: attempts - 1
            )
        }
    }
}

/// One transaction of the conflict path: lock, insert missing rows, count them where they belong, close.
struct ConflictPath {
    let batch: OutcomeBatch
    let fenced: Bool
    let fromJournal: Bool
    let waits: Bool

    /// How long a caller that does not wait still waits, in milliseconds: others that store at the same moment have
    /// finished by then.
    private static let shortWait = 100

    /// A part as it was found and locked.
    private struct Found {
        var token: Int64
        var state: PartState
    }

    /// A message, by the part that its outcome came from.
    private struct Message: Hashable {
        var part: Int64
        var sequence: Int32
    }

    /// A row that was really inserted.
    private struct Inserted {
        var message: Message
        var status: MessageStatus
        var subscriptionID: Int64
    }

    func run(_ transaction: PostgresTransaction) async throws -> StoreReport {
        let all = batch.allRows
        let parts = Set(all.map(\.claim.part) + batch.closing.map(\.claim.part)).sorted()
        if !waits {
            try await transaction.execute(
                PostgresStatement("SET LOCAL lock_timeout = \(Self.shortWait)", prepare: false)
            )
        }
        // A message may live in a part that is no longer held, and that a session which stops the delivery waits for.
        try await transaction.execute(DeliveryLock.statement(parts: parts))
        let found = try await lock(parts, transaction)
        let rows = all.filter { mayStore($0, found) }
        let homes = try await lockHomes(rows, found, transaction)
        let inserted = try await insert(rows, transaction)
        let late = Set(
            rows.filter { !isHeld($0.claim, found) }.map { Message(part: $0.claim.part, sequence: $0.sequence) }
        )
        try await count(inserted, homes, late, transaction)
        try await note(inserted.filter { found[$0.message.part]?.state == .done }, transaction)
        try await insertTokenEvents(inserted, transaction)
        try await tell(rows, inserted, transaction)
        var report = StoreReport()
        report.late = inserted.count { late.contains($0.message) }
        describe(all, inserted, found, &report)
        if fenced { try await close(found, transaction, &report) }
        return report
    }

    /// A gateway's answer stays true, even if the part has a new owner. An owner's own decision counts only while it holds
    /// the part: its successor may get another result for a message that this one gave up. A token that the part has
    /// not had yet is from another database, or from one that was set back.
    private func mayStore(_ row: OutcomeBatch.Row, _ found: [Int64: Found]) -> Bool {
        if !row.isDecision, row.status == .sent || row.status == .failed {
            return fenced || found[row.claim.part].map { row.claim.token <= $0.token } ?? false
        }
        return isHeld(row.claim, found) || isClosed(row.claim, found)
    }

    /// Locks the parts in the order of their ids, so that two passes do not wait for each other.
    private func lock(_ parts: [Int64], _ transaction: PostgresTransaction) async throws -> [Int64: Found] {
        let result = try await transaction.execute(
            PostgresStatement(
                """
                SELECT id, fencing_token, state FROM pushmta_engine.delivery_part
                WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE
                """,
                [.int64Array(parts)]
            )
        )
        var found: [Int64: Found] = [:]
        try result.each { row in
            let id = try row.int64()
            found[id] = Found(token: try row.int64(), state: try row.choice())
        }
        return found
    }

    /// A message of an ended part lives in the last retry part that it was handed to; finds and locks those parts.
    private func lockHomes(
        _ rows: [OutcomeBatch.Row],
        _ found: [Int64: Found],
        _ transaction: PostgresTransaction
    ) async throws -> [Int32: [Int64: Int64]] {
        let moved = rows.filter { found[$0.claim.part]?.state == .done }
        guard !moved.isEmpty else { return [:] }
        // Each round locks what the last one found; a part that ended meanwhile shows up in the next round.
        var previous: [Int32: [Int64: Int64]] = [:]
        for _ in 1...5 {
            let homes = try await self.homes(moved, transaction)
            if homes == previous { return homes }
            previous = homes
            _ = try await lock(Set(homes.values.flatMap(\.values)).sorted(), transaction)
        }
        throw StoreError(.conflict, "The parts of late outcomes keep ending; the next attempt stores them.")
    }

    private func homes(
        _ rows: [OutcomeBatch.Row],
        _ transaction: PostgresTransaction
    ) async throws -> [Int32: [Int64: Int64]] {
        let result = try await transaction.execute(
            PostgresStatement(
                Self.homesSQL,
                [.int64Array(rows.map(\.claim.part)), .int32Array(rows.map(\.sequence))]
            )
        )
        var homes: [Int32: [Int64: Int64]] = [:]
        try result.each { row in
            let (origin, sequence) = (try row.int64(), try row.int32())
            homes[sequence, default: [:]][origin] = try row.int64()
        }
        return homes
    }

    /// A retry part has a greater id than the part it came from.
    private static let homesSQL = """
        WITH RECURSIVE home AS (
            SELECT w.part_id AS origin, w.sequence, w.part_id AS part_id FROM unnest($1::bigint[], $2::integer[]) w(part_id, sequence)
            UNION
            SELECT h.origin, h.sequence, p.id
            FROM home h
            JOIN pushmta_engine.delivery_part p ON p.parent_part_id = h.part_id
            JOIN pushmta_engine.delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
            WHERE h.sequence = ANY(t.sequences)
        )
        SELECT origin, sequence, max(part_id) FROM home GROUP BY origin, sequence
        """

    private func insert(_ rows: [OutcomeBatch.Row], _ transaction: PostgresTransaction) async throws -> [Inserted] {
        guard !rows.isEmpty else { return [] }
        let result = try await transaction.execute(PostgresStatement(Self.insertSQL, BroadLogInsert.columns(rows)))
        return try result.all { row in
            let message = Message(part: try row.int64(), sequence: try row.int32())
            guard let status = MessageStatus(rawValue: try row.int16()) else {
                throw StoreError(.unexpectedAnswer, "A stored outcome has a status that this program does not know.")
            }
            return Inserted(message: message, status: status, subscriptionID: try row.int64())
        }
    }

    /// Only messages of the part are accepted, whatever a damaged journal says; the subscription is the part's.
    private static let insertSQL = """
        WITH o AS MATERIALIZED (
            SELECT * FROM unnest($1::bigint[], $2::integer[], $3::bigint[], $4::smallint[], $5::smallint[], $6::smallint[],
                $7::text[], $8::text[], $9::smallint[])
                o(part_id, sequence, subscription_id, status, http_status, attempt, reason, gateway_message_id, failure)
        ), \(PartTargets.sql(parts: "SELECT DISTINCT part_id FROM o"))
        INSERT INTO pushmta_engine.broad_log (delivery_id, subscription_id, part_id, sequence, log_day, status, http_status,
            attempt, reason, gateway_message_id, failure)
        SELECT t.delivery_id, t.subscription_ids[x.place], t.part_id, o.sequence, t.log_day, o.status, o.http_status, o.attempt,
            o.reason, o.gateway_message_id, o.failure
        FROM o
        JOIN target t ON t.part_id = o.part_id
        CROSS JOIN LATERAL (SELECT \(PartTargets.place(of: "o.sequence"))) x(place)
        WHERE x.place BETWEEN 1 AND cardinality(t.subscription_ids)
        ORDER BY t.delivery_id, o.sequence
        ON CONFLICT DO NOTHING
        RETURNING part_id, sequence, status, subscription_id
        """

    private func count(
        _ inserted: [Inserted],
        _ homes: [Int32: [Int64: Int64]],
        _ latecomers: Set<Message>,
        _ transaction: PostgresTransaction
    ) async throws {
        var counts: [Int64: StatusCounts] = [:]
        var late: [Int64: Int32] = [:]
        for row in inserted {
            let home = homes[row.message.sequence]?[row.message.part] ?? row.message.part
            counts[home, default: StatusCounts()].add(1, row.status)
            late[home, default: 0] += latecomers.contains(row.message) ? 1 : 0
        }
        guard !counts.isEmpty else { return }
        let ids = counts.keys.sorted()
        let columns = StatusCounts.columns.indices.map { place in
            PostgresValue.int32Array(ids.map { counts[$0]?.values[place] ?? 0 })
        }
        let replayed = ids.map { fromJournal ? counts[$0]?.total ?? 0 : 0 }
        try await transaction.execute(
            PostgresStatement(
                Self.countSQL,
                [.int64Array(ids), .int32Array(ids.map { late[$0] ?? 0 }), .int32Array(replayed)] + columns
            )
        )
    }

    private static let countSQL = """
        UPDATE pushmta_engine.delivery_part p
        SET late_outcomes = p.late_outcomes + c.late, journal_replayed = p.journal_replayed + c.replayed,
            \(StatusCounts.columns.map { "\($0.name) = p.\($0.name) + c.\($0.name)" }.joined(separator: ", "))
        FROM unnest($1::bigint[], $2::integer[], $3::integer[],
            \(StatusCounts.columns.indices.map { "$\($0 + 4)::integer[]" }.joined(separator: ", ")))
            c(id, late, replayed, \(StatusCounts.columns.map(\.name).joined(separator: ", ")))
        WHERE p.id = c.id AND p.id = ANY($1)
        """

    /// Whether the owner in the batch still holds the part.
    private func isHeld(_ claim: PartToken, _ found: [Int64: Found]) -> Bool {
        found[claim.part].map { $0.token == claim.token && $0.state == .claimed } ?? false
    }

    /// Whether the part ended under the owner's own token, in an earlier attempt of this batch.
    private func isClosed(_ claim: PartToken, _ found: [Int64: Found]) -> Bool {
        found[claim.part].map { $0.token == claim.token && $0.state == .done } ?? false
    }

    private func note(_ late: [Inserted], _ transaction: PostgresTransaction) async throws {
        guard !late.isEmpty else { return }
        try await transaction.execute(
            LateOutcomeInsert.statement(parts: late.map(\.message.part), sequences: late.map(\.message.sequence))
        )
    }

    private func insertTokenEvents(_ inserted: [Inserted], _ transaction: PostgresTransaction) async throws {
        let messages = Set(inserted.map(\.message))
        let effects = batch.effects.filter { messages.contains(Message(part: $0.claim.part, sequence: $0.sequence)) }
        if !effects.isEmpty { try await transaction.execute(TokenEventInsert.statement(effects, ofHeldParts: false)) }
    }

    /// Stores the events of the rows that were really inserted, if a consumer wants them.
    private func tell(
        _ rows: [OutcomeBatch.Row],
        _ inserted: [Inserted],
        _ transaction: PostgresTransaction
    ) async throws {
        guard !inserted.isEmpty else { return }
        let kinds = try await transaction.execute(PostgresStatement("SELECT \(EventInsert.kindsSQL)"))
            .one { try $0.int32() }
        guard kinds != 0 else { return }
        let stored = Dictionary(inserted.map { ($0.message, $0) }) { first, _ in first }
        var told: Set<Message> = []
        let new = rows.compactMap { row -> OutcomeBatch.Row? in
            let message = Message(part: row.claim.part, sequence: row.sequence)
            // A journal may have a message twice, and has no subscriptions.
            guard let found = stored[message], found.status == row.status, told.insert(message).inserted else {
                return nil
            }
            var row = row
            row.subscriptionID = found.subscriptionID
            return row
        }
        for statement in EventInsert.statements(new, kinds: kinds) { try await transaction.execute(statement) }
    }

    private func describe(
        _ rows: [OutcomeBatch.Row],
        _ inserted: [Inserted],
        _ found: [Int64: Found],
        _ report: inout StoreReport
    ) {
        report.inserted = inserted.count
        report.existed = rows.count { mayStore($0, found) } - inserted.count
        guard fenced else { return }
        let claims = Set(rows.map(\.claim)).union(batch.closing.map(\.claim))
        report.fencedParts = claims.filter { !isHeld($0, found) && !isClosed($0, found) }.map(\.part).sorted()
    }

    private func close(
        _ found: [Int64: Found],
        _ transaction: PostgresTransaction,
        _ report: inout StoreReport
    ) async throws {
        report.closedParts = batch.closing.map(\.claim).filter { isClosed($0, found) }.map(\.part)
        let open = batch.closing.filter { isHeld($0.claim, found) }
        guard !open.isEmpty else { return }
        let results = try await transaction.execute(PartClosing.statements(open))
        if let closed = results.last { try PartClosing.read(closed, into: &report) }
        report.unbalancedParts = open.map(\.claim.part).filter { !report.closedParts.contains($0) }
    }
}
