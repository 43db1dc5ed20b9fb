import PostgresClient
import PushCore

/// A delivery that a supervisor prepares; check its content, then call `prepareChunk` until it is done.
public struct PreparationJob: Sendable {
    public let deliveryID: Int64
    public let label: String
    /// How urgent it was when it was claimed.
    public internal(set) var priority: Int16 = 0
    /// Its content, JSON.
    public let content: String
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
        let part = PreparationChunk(
            deliveryID: job.deliveryID,
            partSize: Int32(clamping: max(1, partSize)),
            limit: limit,
            target: target
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
        try await query(Migrator.partitions, [.int32(Int32(clamping: daysAhead))]).one { Int(try $0.int32()) }
    }
}
