import PostgresClient
import PushCore

extension Store {
    /// Prepares the next chunk of a delivery in one transaction: parts, exclusions with their reasons, counts and
    /// cursor.
    ///
    /// Children may send the chunk's parts at once. After a crash the next caller continues from the cursor. If a
    /// condition in SQL fails, a smaller chunk is created, in which the condition is evaluated for each subscription
    /// separately: those for which it cannot be computed are excluded.
    ///
    /// - Parameters:
    ///   - partSize: the maximum number of messages of a part. Small deliveries get smaller parts, so that they spread
    ///     over children.
    ///   - partsPerChunk: the maximum number of parts of a chunk.
    ///   - timeout: the time limit of each of its statements; nil for none.
    ///   - trial: what tries messages of the first chunk of a delivery that was not analysed, before any may leave; nil if
    ///     its content needs no trial.
    ///
    /// Throws ``ChunkTrial/Refusal`` if they must not leave; then nothing was created.
    package func prepareChunk(
        _ job: PreparationJob,
        partSize: Int = 1000,
        partsPerChunk: Int = 50,
        timeout: Duration? = nil,
        trial: @escaping @Sendable (PreparationJob) -> ChunkTrial? = { _ in nil }
    ) async throws -> ChunkResult {
        do {
            return try await prepareChunk(job, job.target, partSize, partsPerChunk, timeout, trial)
        } catch let error as PostgresError where job.target.rawSQL != nil && PreparationDecision.isOfValues(error) {
            // A registered value makes the condition fail. The other subscriptions that it selects still get the
            // message.
            var target = job.target
            target.triesEach = true
            do {
                return try await prepareChunk(job, target, partSize, partsPerChunk, timeout, trial)
            } catch let failure as PreparationChunk.ConditionFailure {
                throw StoreError(
                    .unavailable,
                    "its condition in SQL cannot be computed for \(failure.failed) of \(failure.all) subscriptions: "
                        + LoadProblem.text(error)
                )
            }
        }
    }

    private func prepareChunk(
        _ job: PreparationJob,
        _ target: ChunkTarget,
        _ partSize: Int,
        _ partsPerChunk: Int,
        _ timeout: Duration?,
        _ trial: @escaping @Sendable (PreparationJob) -> ChunkTrial?
    ) async throws -> ChunkResult {
        let limit = PreparationChunk.limit(partSize: partSize, parts: partsPerChunk, target)
        var target = target
        var reading = 1
        while true {
            // The view is read before the delivery is locked, so that no session waits for that lock while a slow view
            // is read.
            target.people = try await mappedPeople(of: job.deliveryID, target, limit: limit, timeout)
            do {
                return try await prepareChunk(job, target, partSize, limit, timeout, trial)
            } catch is MappedPeople.Changed where reading < Self.maxReadings {
                reading += 1
            }
        }
    }

    private func prepareChunk(
        _ job: PreparationJob,
        _ target: ChunkTarget,
        _ partSize: Int,
        _ limit: Int64,
        _ timeout: Duration?,
        _ trial: @escaping @Sendable (PreparationJob) -> ChunkTrial?
    ) async throws -> ChunkResult {
        let part = PreparationChunk(
            job,
            partSize: Int32(clamping: max(1, partSize)),
            limit: limit,
            target: target,
            trial: { trial(job) }
        )
        let limits = timeout.map { [Self.limit($0)] } ?? []
        return try await transaction(first: limits + part.opening) { transaction, results in
            let chunk = try await part.run(transaction, opened: Array(results.dropFirst(limits.count)))
            if job.hasWaited, !chunk.busy {
                try await transaction.execute(PostgresStatement(Self.preparesAgainSQL, [.int64(job.deliveryID)]))
            }
            return chunk
        }
    }

    /// A preparation waits at most this long for a lock, for example on a list of targets. Then the delivery is
    /// postponed, so that it does not hold up others.
    static let shortLockWait = PostgresStatement("SELECT set_config('lock_timeout', '200ms', true)")

    /// A time limit for the following statements of a transaction, with a limit for their waits for locks.
    static func limit(_ timeout: Duration) -> PostgresStatement {
        PostgresStatement(
            "SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', '200ms', true)",
            [.text(String(Int64(timeout / .milliseconds(1))))]
        )
    }

    /// Ends deliveries that are prepared and have no open part; returns their ids. It never waits: a delivery that
    /// another transaction has locked is ended by a later call, so that it does not hold up the others.
    package func finishDeliveries() async throws -> [Int64] {
        let result = try await query(
            """
            UPDATE pushmta_engine.delivery d SET state = 'finished', finished_at = now(), changed_at = now()
            WHERE d.state = 'in_progress' AND d.prepared AND d.id = ANY(ARRAY(
                SELECT f.id FROM pushmta_engine.delivery f
                WHERE f.state = 'in_progress' AND f.prepared AND f.kind = 'batch' AND NOT EXISTS (
                    SELECT FROM pushmta_engine.delivery_part p WHERE p.delivery_id = f.id AND p.state <> 'done')
                FOR NO KEY UPDATE OF f SKIP LOCKED))
            RETURNING d.id
            """
        )
        return try Self.idSet(result).sorted()
    }

    /// Creates the partitions of the coming days; any number of hosts may call it. Returns how many it created.
    @discardableResult
    package func ensurePartitions(daysAhead: Int = 7) async throws -> Int {
        try await query(Migrator.partitions, [.int32(Int32(clamping: daysAhead))]).one { Int(try $0.int32()) }
    }
}
