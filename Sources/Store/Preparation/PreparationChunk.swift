import PostgresClient
import PushCore

/// One chunk of a delivery's preparation, inside its transaction.
struct PreparationChunk {
    let deliveryID: Int64
    /// The maximum number of messages of a part.
    let partSize: Int32
    /// The maximum number of subscriptions, or explicit targets, of a chunk.
    let limit: Int64
    /// The target of the delivery.
    let target: ChunkTarget
    /// The number of the delivery's preparation.
    let preparation: Int32
    /// The applications of the delivery.
    private let applications: [Int32]
    /// Makes what tries its messages if it is the first chunk.
    private let trial: @Sendable () -> ChunkTrial?
    /// Whether its parts are held, so that their messages are counted.
    private var isHeld = false
    /// Whether a plan decides when its parts leave.
    private var hasPlan = false
    /// Whether its messages are tried before they may leave.
    private var isTried = false

    init(
        _ job: PreparationJob,
        partSize: Int32,
        limit: Int64,
        target: ChunkTarget,
        trial: @escaping @Sendable () -> ChunkTrial? = { nil }
    ) {
        deliveryID = job.deliveryID
        preparation = job.preparation
        applications = job.applications.map(\.id)
        self.partSize = partSize
        self.limit = limit
        self.target = target
        self.trial = trial
    }

    /// A small delivery is split into at least this many parts, for as many children…
    static let spread: Int32 = 16
    /// …unless they would be smaller than this, because then a claim costs more than it gains.
    static let smallestPart: Int32 = 64

    /// A condition in SQL may fail for this many subscriptions of a chunk, or for one in ten. If more fail, the
    /// condition is at fault, not their values.
    private static let maxFailed: Int64 = 10
    /// Evaluating a condition for each subscription separately is slow, so the chunks are this many times smaller.
    private static let triedDivisor = 10

    /// To judge groups, subscriptions are read from everywhere in the table, also from disk: with 5,000,000 of them,
    /// 50,000 took 4 to 10 s, and the first message should be sent within 5 s.
    private static let groupedDivisor = 10
    /// Chunks that small are split into fewer parts.
    private static let groupedSpread: Int32 = 2

    /// A chunk that took less time continues with the delivery's next application; a small one takes some milliseconds.
    private static let quickTime = Duration.milliseconds(100)

    /// How many subscriptions, or targets, a chunk reads.
    static func limit(partSize: Int, parts: Int, _ target: ChunkTarget) -> Int64 {
        let all = max(1, partSize) * max(1, target.triesEach ? parts / triedDivisor : parts)
        return Int64(target.isGrouped ? max(1, partSize, all / groupedDivisor) : all)
    }

    /// A condition in SQL that fails for too many subscriptions.
    struct ConditionFailure: Error {
        let failed: Int64
        let all: Int64
    }

    /// The first statements of its transaction.
    var opening: [PostgresStatement] {
        let turn = PostgresStatement("SELECT pushmta_engine.yield_turn($1)", [.int64(deliveryID)])
        return [turn, PostgresStatement(Self.lockSQL, [.int64(deliveryID)]), nextApplication]
    }

    /// Creates the chunk.
    ///
    /// - Parameter opened: the results of ``opening``.
    func run(_ transaction: PostgresTransaction, opened: [PostgresResult]) async throws -> ChunkResult {
        guard let place = try opened[1].oneOrNil(Place.init) else {
            return ChunkResult(messages: 0, excluded: 0, parts: 0, done: false, busy: true)
        }
        guard place.state == .preparing || place.isHeld, place.preparation == preparation else {
            return ChunkResult(messages: 0, excluded: 0, parts: 0, done: true, busy: false)
        }
        // It is claimed again as one that starts.
        guard !place.isDue else { return ChunkResult(messages: 0, excluded: 0, parts: 0, done: false, busy: true) }
        let trial = place.isUntried ? self.trial() : nil
        if place.hasHeld {
            try await trial?.run(delivery: deliveryID, transaction)
            return try await release(transaction)
        }
        var chunk = self
        chunk.isHeld = place.isHeld
        chunk.hasPlan = place.hasPlan
        chunk.isTried = trial != nil
        var result = try await chunk.prepare(place, next: opened[2], transaction)
        result.isHeld = place.isHeld
        if result.parts > 0 { try await trial?.run(delivery: deliveryID, transaction) }
        return result
    }

    private func prepare(_ place: Place, next: PostgresResult, _ transaction: PostgresTransaction) async throws
        -> ChunkResult
    {
        if place.isPrepared {
            try await transaction.execute(end())
            return ChunkResult(messages: 0, excluded: 0, parts: 0, done: true, busy: false)
        }
        if place.kind == "explicit" {
            if place.isAtEnd { return try await finish(after: nil, transaction) }
            let end = PostgresStatement(Self.endSQL, [.int64(deliveryID)])
            let (chunk, look) = try await run(Self.explicit(target), [], limit: limit, then: end, transaction)
            let isOver = try look.one { try $0.bool() }
            return isOver ? try await finish(after: chunk, transaction) : chunk
        }
        guard let application = try Self.application(next) else {
            return try await finish(after: nil, transaction)
        }
        // The view's values were requested for one application.
        guard target.readMapping == nil || target.people?.application == application else {
            throw MappedPeople.Changed()
        }
        return try await run(from: application, transaction)
    }

    /// A chunk continues with the next application while it is small and quick, so that a delivery which fits into one
    /// chunk is prepared by it: with ten thousand small deliveries, on any number of platforms, none waits for a second
    /// turn. One whose messages are tried has some of each application.
    private func run(from first: Int32, _ transaction: PostgresTransaction) async throws -> ChunkResult {
        let filter = (target.filter?.parameters ?? []) + (target.people?.parameters ?? [])
        let began = ContinuousClock.now
        var chunk = ChunkResult(messages: 0, excluded: 0, parts: 0, done: false, busy: false)
        var next: Int32? = first
        // The view's values were requested for one application.
        var others = isTried && target.readMapping == nil ? applications.filter { $0 != first } : []
        let share = max(1, limit / Int64(1 + others.count))
        var hasToGoOn = true
        while let application = next {
            let rest = min(share, limit - chunk.messages - chunk.excluded)
            // Groups of persons are locked in one order, which the next application begins again: two deliveries could
            // wait for each other.
            let goesOn =
                target.readMapping == nil && target.caps == .none && ContinuousClock.now - began < Self.quickTime
            guard rest > 0, hasToGoOn || goesOn else { return chunk }
            let (more, left) = try await run(
                Self.subscribers(target),
                [.int32(application)] + filter,
                limit: rest,
                then: nextApplication,
                transaction
            )
            chunk = ChunkResult(
                messages: chunk.messages + more.messages,
                excluded: chunk.excluded + more.excluded,
                parts: chunk.parts + more.parts,
                done: false,
                busy: false
            )
            hasToGoOn = !others.isEmpty
            next = try others.popLast() ?? Self.application(left)
            // The chunk has read its maximum, but not all of this application.
            guard next != application else { return chunk }
        }
        return try await finish(after: chunk, transaction)
    }

    /// Releases the next held parts of a delivery that has started. Its preparation ends with the last of them: of ten
    /// thousand small deliveries that start at once, none waits for a second turn.
    private func release(_ transaction: PostgresTransaction) async throws -> ChunkResult {
        let parts = max(1, Int(limit) / max(1, Int(partSize)))
        let results = try await transaction.execute([
            PostgresStatement(
                "SELECT pushmta_engine.release_parts($1, $2)",
                [.int64(deliveryID), .int32(Int32(clamping: parts))]
            ),
            // No analysis renders them any more.
            PostgresStatement(
                "DELETE FROM pushmta_engine.delivery_longest WHERE delivery_id = $1",
                [.int64(deliveryID)]
            ),
            end(
                where: """
                    prepared AND NOT EXISTS (
                        SELECT FROM pushmta_engine.delivery_part p WHERE p.delivery_id = $1 AND p.state = 'held')
                    """
            ),
        ])
        return ChunkResult(
            messages: 0,
            excluded: 0,
            parts: try results[0].one { Int(try $0.int32()) },
            done: try results[2].oneOrNil { try $0.bool() } != nil,
            busy: false
        )
    }

    /// Counts the parts that were created, if they are held.
    private var countHeld: [PostgresStatement] {
        isHeld ? [PostgresStatement("SELECT pushmta_engine.count_held($1)", [.int64(deliveryID)])] : []
    }

    /// Applies the delivery's plan, if it has one, to the parts that were created.
    ///
    /// - Parameter isLast: the target has been read to its end, and new parts are of seed addresses.
    private func plan(isLast: Bool = false) -> [PostgresStatement] {
        let parameters: [PostgresValue] = [.int64(deliveryID), .int32(partSize), .bool(isLast)]
        return hasPlan ? [PostgresStatement("SELECT pushmta_engine.plan_parts($1, $2, $3)", parameters)] : []
    }

    private var nextApplication: PostgresStatement {
        PostgresStatement(Self.nextApplicationSQL, [.int64(deliveryID)])
    }

    private static func application(_ next: PostgresResult) throws -> Int32? {
        try next.oneOrNil { try $0.int32() }
    }

    /// Creates the messages of one statement.
    ///
    /// - Parameter look: a query to run afterwards, in the same round trip.
    /// - Returns: what was created, and the result of that query.
    private func run(
        _ sql: String,
        _ more: [PostgresValue],
        limit: Int64,
        then look: PostgresStatement,
        _ transaction: PostgresTransaction
    ) async throws -> (ChunkResult, PostgresResult) {
        let parameters: [PostgresValue] = [
            .int64(deliveryID), .int64(limit), .int32(partSize), .int32(min(Self.smallestPart, partSize)),
            .int32(target.isGrouped ? Self.groupedSpread : Self.spread),
        ]
        let statements = [PostgresStatement(sql, parameters + more), look] + plan() + countHeld
        let results = try await transaction.execute(statements)
        CrashPoint.midChunk.reached()
        let countsFailures = target.triesEach && results[0].columnCount > 4
        return (try results[0].one { row in try made(&row, countsFailures: countsFailures) }, results[1])
    }

    /// Reads the columns that all statements of chunks return, and the one that some add.
    private func made(_ row: inout RowReader, countsFailures: Bool) throws -> ChunkResult {
        let chunk = ChunkResult(
            messages: try row.int64(),
            excluded: try row.int64(),
            parts: Int(try row.int64()),
            done: false,
            busy: false
        )
        if countsFailures {
            let (failed, all) = (try row.int64(), try row.int64())
            if failed > max(Self.maxFailed, all / 10) { throw ConditionFailure(failed: failed, all: all) }
        }
        if target.people != nil, try row.int64() > 0 { throw MappedPeople.Changed() }
        return chunk
    }

    /// All messages are prepared. It returns a row if the condition on the delivery holds.
    private func end(where condition: String = "true") -> PostgresStatement {
        PostgresStatement(
            """
            UPDATE pushmta_engine.delivery SET prepared = true, changed_at = now(),
                state = CASE WHEN state = 'preparing' THEN 'in_progress' ELSE state END,
                preparing_host = CASE WHEN state = 'preparing' THEN '' ELSE preparing_host END
            WHERE id = $1 AND \(condition) RETURNING true
            """,
            [.int64(deliveryID)]
        )
    }

    private func finish(after chunk: ChunkResult?, _ transaction: PostgresTransaction) async throws -> ChunkResult {
        var (messages, parts) = (chunk?.messages ?? 0, chunk?.parts ?? 0)
        if target.hasSeeds {
            let seeds = PostgresStatement(Self.seeds(target), [.int64(deliveryID), .int32(partSize)])
            let made = try await transaction.execute([seeds] + plan(isLast: true) + countHeld + [end()])[0].one { row in
                (messages: try row.int64(), parts: Int(try row.int64()))
            }
            messages += made.messages
            parts += made.parts
        } else {
            try await transaction.execute(plan(isLast: true) + countHeld + [end()])
        }
        return ChunkResult(
            messages: messages,
            excluded: chunk?.excluded ?? 0,
            parts: parts,
            done: true,
            busy: false
        )
    }

    /// The session that holds the row creates the next chunk. Parts of the delivery can end meanwhile, because they
    /// lock only its key. A session that waits to start, pause or stop the delivery goes first.
    private static let lockSQL = """
        SELECT d.state, d.target_kind, d.prepared_through >= coalesce(d.prepare_to, 0), d.prepared,
            d.state = 'preparing' AND d.frozen_until IS NOT NULL AND EXISTS (
                SELECT FROM pushmta_engine.delivery_part p WHERE p.delivery_id = d.id AND p.state = 'held'),
            d.preparation, d.state = 'pending' AND d.start_at <= now() AND d.gate = '',
            EXISTS (SELECT FROM pushmta_engine.delivery_plan n WHERE n.delivery_id = d.id),
            d.state = 'preparing' AND NOT d.analysed AND (d.target = 0 OR d.frozen_until IS NOT NULL AND NOT EXISTS (
                SELECT FROM pushmta_engine.delivery_part p WHERE p.delivery_id = d.id AND p.state <> 'held'))
        FROM pushmta_engine.delivery d WHERE d.id = $1 FOR NO KEY UPDATE SKIP LOCKED
        """

    /// The state of the parts of a delivery `d` that are created now.
    static let partState = "CASE WHEN d.state = 'preparing' THEN 'ready' ELSE 'held' END AS part_state"

    /// How far the preparation of a delivery is.
    private struct Place {
        let state: DeliveryState
        let kind: String
        let isAtEnd: Bool
        let isPrepared: Bool
        /// Whether it has started and some of its parts are held.
        let hasHeld: Bool
        let preparation: Int32
        /// Whether it starts now.
        let isDue: Bool
        let hasPlan: Bool
        /// Whether it has started, and none of its messages was rendered.
        let isUntried: Bool

        /// Whether it is prepared before its start.
        var isHeld: Bool { state == .analysing || state == .pending }

        init(_ row: inout RowReader) throws {
            state = try row.choice()
            kind = try row.text()
            isAtEnd = try row.bool()
            isPrepared = try row.bool()
            hasHeld = try row.bool()
            preparation = try row.int32()
            isDue = try row.bool()
            hasPlan = try row.bool()
            isUntried = try row.bool()
        }
    }

    /// Whether the list of targets has been read to its end.
    private static let endSQL = """
        SELECT prepared_through >= coalesce(prepare_to, 0) FROM pushmta_engine.delivery WHERE id = $1
        """

    /// The application with the fewest messages so far, so that the platforms of a delivery start together.
    static let nextApplicationSQL = """
        SELECT application_id FROM pushmta_engine.delivery_application
        WHERE delivery_id = $1 AND NOT prepared ORDER BY messages, application_id LIMIT 1
        """
}

extension PreparationChunk {
    /// The subscribers of an application that a target selects. A subscriber that is not selected does not count as
    /// excluded.
    ///
    /// Without a filter and exclusions it reads only the index. It then needs no check for duplicates, because a token
    /// is enabled only once in an application.
    ///
    /// Parameters: $1 delivery, $2 limit, $3 size of a part, $4 smallest part, $5 spread, $6 application, those of the
    /// filter, and those of the view that it reads.
    static func subscribers(_ target: ChunkTarget) -> String {
        target.isGrouped ? groups(target) : individuals(target)
    }

    private static func individuals(_ target: ChunkTarget) -> String {
        """
        WITH delivery AS MATERIALIZED (
            SELECT d.id, d.log_day, d.priority, d.target::integer AS target, \(partState), a.application_id,
                a.external_account_id, a.prepared_through, a.prepare_to
            FROM pushmta_engine.delivery d
            JOIN pushmta_engine.delivery_application a ON a.delivery_id = d.id AND a.application_id = $6
            WHERE d.id = $1
        ), slice AS (
            SELECT \(target.sliceColumns) FROM pushmta_engine.subscription s WHERE \(range(target)) LIMIT $2
        ), \(target.filterTablesSQL)scanned AS MATERIALIZED (
            SELECT s.id, \(exclusion(target)) AS exclusion\(target.caps.scannedColumns)
            FROM slice s \(target.filterJoinsSQL) \(optOutJoin(target))
        ), \(target.caps.keptSQL), cut AS MATERIALIZED (
            SELECT least($3, greatest($4, (kept.size + $5 - 1) / $5)) AS size, kept.size * 2 >= kept.scanned AS dense FROM kept
        ), numbered AS MATERIALIZED (
            SELECT nextval(pg_get_serial_sequence('pushmta_engine.delivery_part', 'id')) AS part_id,
                from_place, kept.ids[from_place + 1 : from_place + cut.size] AS ids,
                least(cut.size, kept.size - from_place) AS size, cut.dense
            FROM kept, cut, generate_series(0, kept.size - 1, cut.size) from_place
        ), parts AS (
            INSERT INTO pushmta_engine.delivery_part (id, delivery_id, application_id, external_account_id, log_day, size,
                priority, dense, state)
            SELECT n.part_id, d.id, d.application_id, d.external_account_id, d.log_day, n.size, d.priority, n.dense, d.part_state
            FROM numbered n, delivery d
        ), targets AS (
            INSERT INTO pushmta_engine.delivery_part_target (part_id, delivery_id, log_day, first_sequence, last_sequence,
                subscription_ids)
            SELECT n.part_id, d.id, d.log_day, d.target + n.from_place + 1, d.target + n.from_place + n.size, n.ids
            FROM numbered n, delivery d
        ), excluded AS (
            INSERT INTO pushmta_engine.exclusion_log (delivery_id, subscription_id, application_id, log_day, reason)
            SELECT d.id, s.id, d.application_id, d.log_day, pushmta_engine.exclusion_name(s.exclusion)
            FROM scanned s, delivery d WHERE s.exclusion > 0 \(target.caps.exclusionRows)
        ), cursor AS (
            UPDATE pushmta_engine.delivery_application a SET prepared = kept.scanned < $2,
                prepared_through = coalesce(kept.through, a.prepared_through), messages = a.messages + kept.size
            FROM kept WHERE a.delivery_id = $1 AND a.application_id = $6
        ), counted AS (
            UPDATE pushmta_engine.delivery d SET target = d.target + kept.size,
                excluded = d.excluded + kept.excluded, changed_at = now()
            FROM kept WHERE d.id = $1
        )
        SELECT kept.size::bigint, kept.excluded, (SELECT count(*) FROM numbered)\(target.failuresSQL)\(target.unaskedSQL(of: "scanned"))
        FROM kept
        """
    }

    /// The application's subscriptions after the cursor. If more than the index is read, the row comparison leaves the
    /// planner only the index that starts with the application: by the primary key it would read those of all
    /// applications.
    static func range(_ target: ChunkTarget, application: String = "$6") -> String {
        let (cursor, end) = (
            "(SELECT prepared_through FROM delivery)", "(SELECT prepare_to FROM delivery)"
        )
        if target.isEverybody {
            return
                "s.application_id = \(application) AND s.id > \(cursor) AND s.id <= \(end) ORDER BY s.id"
        }
        return """
            (s.application_id, s.id) > (\(application), \(cursor)) AND (s.application_id, s.id) <= (\(application), \(end))
            ORDER BY s.application_id, s.id
            """
    }

    /// The opt-outs from the delivery's category as alias `o`, those of the slice in one range of the index: a third of
    /// the cost of a look-up for each subscription.
    private static func optOutJoin(_ target: ChunkTarget) -> String {
        guard var category = target.categorySQL else { return "" }
        if target.services.count > 1 {
            category = """
                (SELECT x.category_id FROM pushmta_engine.delivery_application x WHERE x.delivery_id = $1 AND x.application_id = $6)
                """
        }
        return """
            LEFT JOIN pushmta_engine.category_opt_out o ON o.category_id = \(category) AND o.subscription_id = s.id
                AND o.subscription_id > (SELECT prepared_through FROM delivery)
                AND o.subscription_id <= (SELECT max(x.id) FROM slice x)
            """
    }

    /// 0 for a subscription that gets a message, the reason for one that does not, -1 for one that is not selected.
    private static func exclusion(_ target: ChunkTarget) -> String {
        let isOptedOut = target.categorySQL == nil ? nil : "o.subscription_id IS NOT NULL"
        let cases = exclusionCases(target, own: target.exclusionSQL(of: "s", isOptedOut: isOptedOut))
        return "CASE \(cases.joined(separator: " ")) ELSE 0 END::smallint"
    }

    /// Why a subscription `s` gets no message, on its own account. One that was created for a seed address belongs to
    /// no user, so it does not count as left out.
    ///
    /// - Parameter own: its exclusion, if it is computed in a way of its own.
    static func exclusionCases(_ target: ChunkTarget, own given: String? = nil) -> [String] {
        var cases = ["WHEN s.exclusion = \(Store.seedExclusion) THEN -1"] + target.unaskedCases + target.choiceCases
        let own = given ?? target.exclusionSQL(of: "s")
        cases.append("WHEN \(own) <> 0 THEN \(own)")
        if let listed = target.exclusions.condition(subject: "s") { cases.append("WHEN \(listed) THEN 7") }
        return cases
    }
}
