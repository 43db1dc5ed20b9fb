import PostgresClient
import PushCore

extension Store {
    /// What to do with a delivery in preparation after an error of `prepareChunk`.
    package func decision(on error: any Error, of job: PreparationJob) -> PreparationDecision {
        PreparationDecision(error, target: job.target)
    }

    /// Why a delivery waits after an error, with the holder of the lock if it waits for one.
    package func waitReason(_ reason: String, after error: any Error) async -> String {
        guard let error = error as? PostgresError, error.isLockTimeout else { return reason }
        return "\(reason): \(await lockHolders())"
    }

    /// Postpones the preparation of a delivery, for any host to continue: 5 s, doubling to a minute each time until a
    /// chunk is created. Meanwhile the delivery shows the reason.
    ///
    /// If another transaction has locked the delivery, this does not wait; the next attempt then comes at once.
    package func postponePreparation(_ id: Int64, reason: String) async throws {
        try await query(
            Self.postponeSQL(more: Self.longerWait),
            [.int64(id), .text(reason)]
        )
    }

    private static let longerWait = """
        wait_failures = least(d.wait_failures + 1, 100), preparing_host = '',
            wait_until = now() + \(LoadProblem.wait(after: "d.wait_failures"))
        """

    /// If another session has locked a table, postpones all due deliveries that read it: each would wait for it in
    /// turn, and deliveries that do not read it would wait after them. Returns their ids.
    func postponeLocked(reason: String) async throws -> [Int64] {
        try all(try await query(Self.postponeLockedSQL, [.text(reason)])) { row in try row.int64() }
    }

    /// Of the tables that other systems fill, every preparation reads the exclusions, and one with a list of targets
    /// also reads the targets.
    static let postponeLockedSQL = """
        WITH locked AS MATERIALIZED (
            SELECT l.relation = 'pushmta.delivery_exclusion'::regclass AS is_read_by_all FROM pg_locks l
            WHERE l.granted AND l.mode = 'AccessExclusiveLock'
                AND l.database = (SELECT b.oid FROM pg_database b WHERE b.datname = current_database())
                AND l.relation IN ('pushmta.delivery_exclusion'::regclass, 'pushmta.delivery_target'::regclass)
        )
        UPDATE pushmta_engine.delivery d SET wait_reason = $1, \(longerWait)
        WHERE d.id = ANY(ARRAY(SELECT f.id FROM pushmta_engine.delivery f
            WHERE f.state = 'pending' AND f.start_at <= now() AND \(isToBeTried)
                AND EXISTS (SELECT FROM locked k WHERE k.is_read_by_all OR f.target_kind = 'explicit' AND f.kind = 'batch')
            FOR NO KEY UPDATE OF f SKIP LOCKED))
        RETURNING d.id
        """

    /// Shows what a skipped delivery waits for. A look at it costs little, so the next one comes soon; but each time,
    /// the deliveries picked with it are claimed one by one.
    func notePreparation(_ id: Int64, waitsFor reason: String) async throws {
        try await query(
            Self.postponeSQL(more: "wait_until = now() + interval '5 seconds'"),
            [.int64(id), .text(reason)]
        )
    }

    /// How many chunks to create for each of some deliveries in its turn: as many as its weight says.
    ///
    /// It is 0 while the chunks of a turn are still ready and, for each application of the delivery, enough parts are
    /// ready that are sent before its own or with the same priority. So an application that makes no progress does not
    /// hold up others of the same delivery, and a slow delivery does not hold up other ones. Parts of one priority are
    /// sent in the order in which they were created. So a delivery that creates three chunks while others create one
    /// has three quarters of the sending.
    ///
    /// - Parameters:
    ///   - host: the host that prepares them. They stay with it.
    ///   - own: the number of ready parts at which a delivery of weight 1 waits.
    ///   - limit: the number of ready parts of an application and account that is enough.
    package func chunksInTurn(
        _ ids: [Int64],
        host: String,
        ofDelivery own: Int,
        ofApplication limit: Int
    ) async throws -> [Int64: Int] {
        guard !ids.isEmpty else { return [:] }
        let result = try await query(
            Self.turnsSQL,
            [.int64Array(ids), .text(host), .int32(Int32(clamping: own)), .int32(Int32(clamping: limit))]
        )
        let turns = try all(result) { row in (try row.int64(), Int(try row.int16())) }
        return Dictionary(turns) { first, _ in first }
    }

    /// A waiting delivery is updated every two seconds; otherwise another host would take over.
    static let turnsSQL = """
        WITH job AS MATERIALIZED (
            SELECT d.id, d.priority FROM pushmta_engine.delivery d
            WHERE d.id = ANY($1) AND (SELECT count(*) FROM (SELECT FROM pushmta_engine.delivery_part p
                WHERE p.delivery_id = d.id AND p.state = 'ready' LIMIT $3 * d.weight) own) >= $3 * d.weight
        ), enough AS MATERIALIZED (
            SELECT k.application_id, k.external_account_id, k.priority FROM (
                SELECT DISTINCT a.application_id, a.external_account_id, j.priority
                FROM job j JOIN pushmta_engine.delivery_application a ON a.delivery_id = j.id) k
            WHERE (SELECT count(*) FROM (SELECT FROM pushmta_engine.delivery_part p
                WHERE p.state = 'ready' AND p.application_id = k.application_id
                    AND p.external_account_id = k.external_account_id AND p.priority >= k.priority
                LIMIT $4) ready) >= $4
        ), waiting AS MATERIALIZED (
            SELECT j.id FROM job j WHERE NOT EXISTS (SELECT FROM pushmta_engine.delivery_application a
                WHERE a.delivery_id = j.id AND (a.application_id, a.external_account_id, j.priority) NOT IN (SELECT * FROM enough))
        ), seen AS (
            UPDATE pushmta_engine.delivery d SET changed_at = now() FROM waiting w
            WHERE d.id = w.id AND d.state = 'preparing' AND d.preparing_host = $2 AND d.changed_at < now() - interval '2 seconds'
        )
        SELECT d.id, CASE WHEN w.id IS NULL THEN d.weight ELSE 0::smallint END
        FROM pushmta_engine.delivery d LEFT JOIN waiting w ON w.id = d.id WHERE d.id = ANY($1)
        """

    private static func postponeSQL(more: String) -> String {
        """
        UPDATE pushmta_engine.delivery d SET wait_reason = $2, \(more)
        WHERE d.id = (SELECT f.id FROM pushmta_engine.delivery f
            WHERE f.id = $1 AND f.state IN ('analysing', 'pending', 'preparing') FOR NO KEY UPDATE SKIP LOCKED)
        """
    }

    /// A chunk was created, so the delivery no longer waits.
    static let preparesAgainSQL = """
        UPDATE pushmta_engine.delivery SET wait_reason = '', wait_failures = 0, wait_until = NULL
        WHERE id = $1 AND wait_reason <> ''
        """

    /// Whether it is time to try a delivery again. None waits longer than the longest wait: a later time was written
    /// before a step back of the clock.
    static let isToBeTried = """
        (wait_until IS NULL OR wait_until <= now() OR wait_until > now() + \(LoadProblem.maxWait + 1) * interval '1 second')
        """
}
