import PostgresClient
import PushCore

/// A delivery that a supervisor prepares; check its content, then call `prepareChunk` until it is done.
public struct PreparationJob: Sendable {
    /// The delivery.
    public let deliveryID: Int64
    /// Its name.
    public let label: String
    /// How urgent it was when it was claimed.
    public internal(set) var priority: Int16 = 0
    /// Its content, JSON.
    public let content: String
    /// Its target applications.
    public let applications: [ApplicationRow]
    /// The routing of each, in the same order.
    public let accounts: [AccountRow]
    /// The credential of each, in the same order; nil for one that has none.
    public let credentials: [CredentialNotice?]
    /// Whether an earlier preparation was cut short and this one resumes it.
    public internal(set) var resumed: Bool
    /// Whom it goes to, compiled by the claim.
    var target = ChunkTarget()
    /// Whether it has a reason for which its preparation was put off.
    var hasWaited = false

    /// A delivery to prepare.
    public init(
        deliveryID: Int64,
        label: String,
        content: String,
        applications: [ApplicationRow],
        accounts: [AccountRow],
        credentials: [CredentialNotice?],
        resumed: Bool = false
    ) {
        self.deliveryID = deliveryID
        self.label = label
        self.content = content
        self.applications = applications
        self.accounts = accounts
        self.credentials = credentials
        self.resumed = resumed
    }
}

extension Store {
    /// Claims a delivery whose start has come, or whose preparation was left by a host that makes no progress; nil if none.
    ///
    /// A delivery that cannot be claimed because of what it holds is put back into editing with the reason, and the next one is tried. One
    /// that holds what this program does not understand is passed over: a newer one may have written it, and may prepare it. So is one
    /// whose target mapping cannot be read: it waits until that can, or its validity is over.
    ///
    /// - Parameters:
    ///   - taken: deliveries that the host prepares already.
    ///   - least: the least priority that is wanted: more urgent ones are in hand.
    public func claimDeliveryToPrepare(
        host: String,
        except taken: [Int64] = [],
        atLeast least: Int16 = .min
    ) async throws -> PreparationJob? {
        var passed = taken
        while true {
            let picked = try await query(Self.pickSQL, [.text(host), .int64Array(passed), .int16(least)])
            guard picked.rowCount > 0 else { return nil }
            let id = try picked.int64(0, 0)
            do {
                // Read before it is owned: an owner that cannot go on would keep others away.
                var job = try await job(id)
                job.target = try await chunkTarget(of: id)
                guard let resumed = try await own(id, host: host) else { continue }
                job.resumed = resumed
                return job
            } catch {
                switch PreparationDecision(error, target: nil) {
                case .waits(let reason, let isTimeout)
                where isTimeout || (error as? PostgresError)?.isLockTimeout == true:
                    // Looking costs much.
                    passed.append(id)
                    try await postponePreparation(id, reason: await waitReason(reason, after: error))
                case .waits(let reason, isTimeout: _):
                    passed.append(id)
                    try await notePreparation(id, waitsFor: reason)
                case .fails(let reason):
                    _ = try await returnDelivery(id, reason: "Its preparation could not begin: \(reason)")
                case .passes:
                    guard (error as? StoreError)?.code == .unexpectedAnswer else { throw error }
                    passed.append(id)
                }
            }
        }
    }

    /// Freezes and marks a picked delivery; nil if another host was quicker.
    private func own(_ id: Int64, host: String) async throws -> Bool? {
        try await transaction { transaction in
            let state = try await transaction.execute(PostgresStatement(Self.ownSQL, [.text(host), .int64(id)]))
            guard state.rowCount > 0 else { return nil }
            let resumed = try state.bool(0, 0)
            if !resumed { try await self.freeze(id, transaction) }
            return resumed
        }
    }

    /// A host that prepares writes to the delivery with each chunk; after 5 s of silence another may go on, and at once with one
    /// that was paused.
    ///
    /// The look costs the same however many deliveries are to begin, are under way or start later: of each priority the first that are due
    /// are read, which are a step in an index each; locked ones are passed over, and are few. Those that were put off, and those that are
    /// being prepared, stand in indexes of their own.
    static let pickSQL = """
        WITH RECURSIVE level AS (
            (SELECT d.priority FROM pushmta_engine.delivery d WHERE d.state = 'pending' AND d.wait_until IS NULL
                ORDER BY d.priority DESC LIMIT 1)
            UNION ALL
            SELECT (SELECT d.priority FROM pushmta_engine.delivery d
                WHERE d.state = 'pending' AND d.wait_until IS NULL AND d.priority < l.priority ORDER BY d.priority DESC LIMIT 1)
            FROM level l WHERE l.priority > $3
        ), first AS MATERIALIZED (
            SELECT c.id FROM level l CROSS JOIN LATERAL (
                SELECT d.id FROM pushmta_engine.delivery d
                WHERE d.state = 'pending' AND d.wait_until IS NULL AND d.priority = l.priority AND d.start_at <= now()
                    AND d.id <> ALL($2::bigint[])
                ORDER BY d.start_at, d.id LIMIT \(looksPerPriority)) c
            UNION ALL
            (SELECT d.id FROM pushmta_engine.delivery d
                WHERE d.state = 'pending' AND d.wait_until IS NOT NULL AND d.start_at <= now() AND \(isToBeTried)
                    AND d.id <> ALL($2::bigint[])
                ORDER BY d.priority DESC, d.start_at, d.id LIMIT \(looksPerPriority))
            UNION ALL
            SELECT d.id FROM pushmta_engine.delivery d WHERE d.state = 'preparing' AND d.id <> ALL($2::bigint[])
        )
        SELECT id FROM pushmta_engine.delivery
        WHERE id = ANY(ARRAY(SELECT f.id FROM first f)) AND priority >= $3 AND \(claimable)
        ORDER BY priority DESC, start_at, id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
        """

    /// Of so many as other hosts look at in the same moment one is left.
    private static let looksPerPriority = 8

    private static let claimable = """
        (state = 'pending' AND start_at <= now()
            OR state = 'preparing' AND (preparing_host IN ($1, '') OR changed_at < now() - interval '5 seconds'))
            AND \(isToBeTried)
        """

    /// Tells whether the preparation had begun: it has a start already then.
    private static let ownSQL = """
        WITH before AS (SELECT id, started_at IS NOT NULL AS resumed FROM pushmta_engine.delivery
            WHERE id = $2 AND \(claimable) FOR NO KEY UPDATE SKIP LOCKED)
        UPDATE pushmta_engine.delivery d SET state = 'preparing', preparing_host = $1,
            started_at = coalesce(d.started_at, now()), changed_at = now()
        FROM before b WHERE d.id = b.id RETURNING b.resumed
        """

    /// Notes where preparation ends, so that what comes later is not included, and takes what else it needs. It begins at the
    /// first target, as who fills the list may number the rows, below zero too.
    private func freeze(_ id: Int64, _ transaction: PostgresTransaction) async throws {
        try await transaction.execute([
            Self.shortLockWait,
            PostgresStatement(
                """
                UPDATE pushmta_engine.delivery_application a SET prepare_to = coalesce((SELECT max(s.id)
                    FROM pushmta_engine.subscription s WHERE s.application_id = a.application_id), 0)
                WHERE a.delivery_id = $1
                """,
                [.int64(id)]
            ),
            PostgresStatement("SELECT pushmta_engine.freeze_targets($1)", [.int64(id)]),
            PostgresStatement(
                """
                SELECT pushmta_engine.ensure_partitions(log_day, log_day) FROM pushmta_engine.delivery WHERE id = $1
                """,
                [.int64(id)]
            ),
            PostgresStatement("SELECT pushmta_engine.reserve_message_ids($1)", [.int64(id)]),
        ])
    }

    /// What a delivery goes to, and its content.
    public func job(_ id: Int64) async throws -> PreparationJob {
        let results = try await group([
            PostgresStatement(
                "SELECT label, content::text, wait_reason <> '', priority FROM pushmta_engine.delivery WHERE id = $1",
                [.int64(id)]
            ),
            PostgresStatement(
                "SELECT \(ApplicationRow.columns) FROM pushmta_engine.delivery_application d"
                    + " JOIN pushmta_engine.application a ON a.id = d.application_id"
                    + " WHERE d.delivery_id = $1 ORDER BY d.application_id",
                [.int64(id)]
            ),
            PostgresStatement(
                "SELECT \(AccountRow.columns) FROM pushmta_engine.delivery_application d"
                    + " JOIN pushmta_engine.external_account e ON e.id = d.external_account_id"
                    + " WHERE d.delivery_id = $1 ORDER BY d.application_id",
                [.int64(id)]
            ),
            PostgresStatement(
                "SELECT \(CredentialNotice.columns) FROM pushmta_engine.delivery_application d"
                    + " JOIN pushmta_engine.application a ON a.id = d.application_id"
                    + " JOIN pushmta_engine.credential c ON c.id = a.credential_id WHERE d.delivery_id = $1",
                [.int64(id)]
            ),
        ])
        let applications = try all(results[1], ApplicationRow.init)
        let credentials = try all(results[3], CredentialNotice.init)
        return try first(results[0], orThrow: "There is no delivery \(id).") { rows, row in
            var job = PreparationJob(
                deliveryID: id,
                label: try rows.text(row, 0),
                content: try rows.text(row, 1),
                applications: applications,
                accounts: try all(results[2], AccountRow.init),
                credentials: applications.map { one in credentials.first { $0.id == one.credentialID } }
            )
            job.hasWaited = try rows.bool(row, 2)
            job.priority = try rows.int16(row, 3)
            return job
        }
    }

    /// Prepares the next chunk of a delivery in one transaction: parts, exclusions with their reasons, counts and cursor.
    ///
    /// Children may send the chunk's parts at once. After a crash the next caller goes on from the cursor. Where a condition in SQL fails, a
    /// smaller chunk is made, with the condition tried for each subscription by itself: those for which it cannot be computed are excluded.
    ///
    /// - Parameters:
    ///   - partSize: messages of a part at most; small deliveries get smaller parts, so that they spread over children.
    ///   - partsPerChunk: parts of a chunk at most.
    ///   - timeout: how long a statement of it may take; nil for as long as it takes.
    public func prepareChunk(
        _ job: PreparationJob,
        partSize: Int = 1000,
        partsPerChunk: Int = 50,
        timeout: Duration? = nil
    ) async throws -> ChunkResult {
        do {
            return try await prepareChunk(job, job.target, partSize, partsPerChunk, timeout)
        } catch let error as PostgresError where job.target.rawSQL != nil && PreparationDecision.isOfValues(error) {
            // Somebody registered a value that the condition fails with. Whoever else it chooses gets the message.
            var target = job.target
            target.triesEach = true
            do {
                return try await prepareChunk(job, target, partSize, partsPerChunk, timeout)
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
        _ timeout: Duration?
    ) async throws -> ChunkResult {
        let limit = PreparationChunk.limit(partSize: partSize, parts: partsPerChunk, target)
        var target = target
        var reading = 1
        while true {
            // No session waits for a lock of the delivery while a view of other people is read.
            target.people = try await mappedPeople(of: job.deliveryID, target, limit: limit, timeout)
            do {
                return try await prepareChunk(job, target, partSize, limit, timeout)
            } catch is MappedPeople.Changed where reading < Self.mostReadings {
                reading += 1
            }
        }
    }

    private func prepareChunk(
        _ job: PreparationJob,
        _ target: ChunkTarget,
        _ partSize: Int,
        _ limit: Int64,
        _ timeout: Duration?
    ) async throws -> ChunkResult {
        try await transaction { transaction in
            if let timeout { try await transaction.execute(Self.limit(timeout)) }
            let chunk = try await PreparationChunk(
                deliveryID: job.deliveryID,
                partSize: Int32(clamping: max(1, partSize)),
                limit: limit,
                target: target
            ).run(transaction)
            if job.hasWaited, !chunk.busy {
                try await transaction.execute(PostgresStatement(Self.preparesAgainSQL, [.int64(job.deliveryID)]))
            }
            return chunk
        }
    }

    /// A lock on what a preparation reads, such as a list of targets, makes that delivery wait, and others for no longer than this.
    static let shortLockWait = PostgresStatement("SELECT set_config('lock_timeout', '200ms', true)")

    /// A limit for the statements of a transaction that follow, with that of their waits for locks.
    static func limit(_ timeout: Duration) -> PostgresStatement {
        PostgresStatement(
            "SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', '200ms', true)",
            [.text(String(Int64(timeout / .milliseconds(1))))]
        )
    }

    /// Ends deliveries that are prepared and have no open part; returns their ids. It waits for nobody: one that another
    /// transaction has locked is ended by a later call, so that it does not hold up all the others.
    public func finishDeliveries() async throws -> [Int64] {
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

    /// Makes the partitions of the days ahead; any number of hosts may call it. Returns how many it made.
    @discardableResult
    public func ensurePartitions(daysAhead: Int = 7) async throws -> Int {
        Int(try await query(Migrator.partitions, [.int32(Int32(clamping: daysAhead))]).int32(0, 0))
    }
}
