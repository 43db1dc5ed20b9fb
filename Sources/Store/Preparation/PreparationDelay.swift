import PostgresClient
import PushCore

/// What becomes of a delivery whose preparation met an error.
public enum PreparationDecision: Sendable, Hashable {
    /// Repeating it brings the same, by what the program itself knows: the delivery goes back to its author, with this reason. No error of
    /// the database says that.
    case fails(String)
    /// An administrator of the database, or of the data that the target reads, may fix it: the delivery waits, and shows this reason.
    ///
    /// - Parameter isTimeout: whether a statement was given up for its time limit.
    case waits(String, isTimeout: Bool = false)
    /// It is the database's own trouble and passes.
    case passes

    /// Judges an error.
    ///
    /// A part whose messages cannot be loaded waits as well. There a single person is left out for whom the view cannot be read; here
    /// nobody would know whether the filter chooses that person, so the delivery waits until the view can be read for all. A condition in
    /// SQL was tried for each by itself before (``isOfValues(_:)``), as what it reads is what anybody may have registered.
    ///
    /// - Parameter target: whom the delivery goes to, if what failed reads the data of its target.
    init(_ error: any Error, target: ChunkTarget?) {
        switch error {
        case let error as StoreError:
            switch error.code {
            case .unavailable: self = .waits("\(error)")
            case .notFound, .invalid, .conflict: self = .fails("\(error)")
            case .schema, .unbalancedPart, .unexpectedAnswer: self = .passes
            }
        case let error as PostgresError:
            let state = error.sqlState ?? ""
            let text = LoadProblem.text(error)
            let isOf = { (classes: [String]) in classes.contains { state.hasPrefix($0) } }
            if error.isConnectionLost {
                self = .passes
            } else if LoadProblem.isTimeout(error) {
                let subject =
                    target?.readMapping?.viewText ?? (target?.rawSQL == nil ? "the target" : "its condition in SQL")
                self = .waits("\(subject) does not answer in time: \(text)", isTimeout: true)
            } else if target?.rawSQL != nil, isOf(Self.ofConditions) {
                self = .waits("its condition in SQL cannot be computed now, for somebody at least: \(text)")
            } else if error.isLockTimeout {
                // It concerns only deliveries that read what is locked: others are prepared meanwhile.
                self = .waits("what it reads or writes is locked")
            } else if isOf(Self.ofDeliveries) {
                // It may also be a setting of the database or a lack of rights, which can be corrected.
                self = .waits(text)
            } else {
                self = .passes
            }
        default: self = .passes
        }
    }

    /// Whether it is the kind of error that single values bring about: tried by themselves, the others may well be computed.
    static func isOfValues(_ error: PostgresError) -> Bool {
        guard let state = error.sqlState else { return false }
        return state != "55P03" && ofConditions.contains { state.hasPrefix($0) }
    }

    /// The same of a condition in SQL, without what it says when it is wrong whatever the data are.
    private static let ofConditions = ["21", "22", "38", "39", "54", "55P03", "P0"]

    /// Bad data, a violated constraint, a condition that cannot be used, or a refusal of the schema's functions.
    private static let ofDeliveries = ["22", "23", "42", "P0"]
}

extension Store {
    /// What becomes of a delivery in preparation after an error of `prepareChunk`.
    public func decision(on error: any Error, of job: PreparationJob) -> PreparationDecision {
        PreparationDecision(error, target: job.target)
    }

    /// The reason for which a delivery waits after an error, with who holds the lock if that is what it is.
    public func waitReason(_ reason: String, after error: any Error) async -> String {
        guard let error = error as? PostgresError, error.isLockTimeout else { return reason }
        return "\(reason): \(await lockHolders())"
    }

    /// Puts the preparation of a delivery off, for any host to go on with: 5 s, doubling to a minute each time until a chunk is made.
    /// The delivery shows the reason meanwhile.
    ///
    /// Another transaction that has locked the delivery is not waited for: then the next attempt comes at once.
    public func postponePreparation(_ id: Int64, reason: String) async throws {
        try await query(
            Self.postponeSQL(more: Self.longerWait),
            [.int64(id), .text(reason)]
        )
    }

    private static let longerWait = """
        wait_failures = least(d.wait_failures + 1, 100), preparing_host = '',
            wait_until = now() + \(LoadProblem.wait(after: "d.wait_failures"))
        """

    /// Puts off all that are to begin and read a table that somebody has locked, if a table is what is locked: each would wait for it by
    /// itself, and what reads none of it would wait behind them. Returns which.
    func postponeLocked(reason: String) async throws -> [Int64] {
        try all(try await query(Self.postponeLockedSQL, [.text(reason)])) { row in try row.int64() }
    }

    /// Of the tables that outsiders fill every preparation reads the one of exclusions, and who begins with a list of targets reads that.
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

    /// Shows what a delivery waits for that is passed over. A look at it costs little, so the next comes soon; but with each of them those
    /// that were picked with it are claimed one by one.
    func notePreparation(_ id: Int64, waitsFor reason: String) async throws {
        try await query(
            Self.postponeSQL(more: "wait_until = now() + interval '5 seconds'"),
            [.int64(id), .text(reason)]
        )
    }

    /// How many chunks of each of some deliveries are to be made in its turn: as many as its weight says.
    ///
    /// It is none while a turn's chunks are ready, and of each application that the delivery goes to so many parts that go before its own or
    /// together with them. One application that stands still holds up no others of the same delivery, nor one delivery that is sent slowly
    /// the other ones. Parts of one priority leave in the order in which they were made, so that who makes three chunks where others make
    /// one has three quarters of what leaves.
    ///
    /// - Parameters:
    ///   - host: who prepares them. They stay with it.
    ///   - own: ready parts of a delivery of weight 1 that are enough for it to wait.
    ///   - most: ready parts of an application and account that are enough.
    public func chunksInTurn(
        _ ids: [Int64],
        host: String,
        ofDelivery own: Int,
        ofApplication most: Int
    ) async throws -> [Int64: Int] {
        guard !ids.isEmpty else { return [:] }
        let result = try await query(
            Self.turnsSQL,
            [.int64Array(ids), .text(host), .int32(Int32(clamping: own)), .int32(Int32(clamping: most))]
        )
        let turns = try all(result) { row in (try row.int64(), Int(try row.int16())) }
        return Dictionary(turns) { first, _ in first }
    }

    /// Who waits is seen to be alive every two seconds, or another host would take over.
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
            WHERE f.id = $1 AND f.state IN ('pending', 'preparing') FOR NO KEY UPDATE SKIP LOCKED)
        """
    }

    /// A chunk was made: nothing is waited for any more.
    static let preparesAgainSQL = """
        UPDATE pushmta_engine.delivery SET wait_reason = '', wait_failures = 0, wait_until = NULL
        WHERE id = $1 AND wait_reason <> ''
        """

    /// Whether the time has come to try a delivery again. Nobody waits longer than the longest wait: a later time stems from before
    /// a step back of the clock.
    static let isToBeTried = """
        (wait_until IS NULL OR wait_until <= now() OR wait_until > now() + \(LoadProblem.longestWait + 1) * interval '1 second')
        """
}
