import PostgresClient

/// A session that stands in the way of the engine with a lock, a row of `pushmta.lock_wait`.
public struct LockWait: Sendable, Hashable {
    /// The session's process at the server; 0 for a prepared transaction.
    public let pid: Int64
    /// Which session it is, what it has locked, and how many sessions of ours wait.
    public let text: String
    /// Since when its transaction lasts, or the first of ours waits; nil if that is not known.
    public let since: DatabaseTime?

    public init(pid: Int64, text: String, since: DatabaseTime? = nil) {
        self.pid = pid
        self.text = text
        self.since = since
    }
}

extension PostgresError {
    /// Whether a statement was given up because another session held a lock for too long.
    public var isLockTimeout: Bool { sqlState == "55P03" }
}

extension Store {
    /// Which sessions block us with a lock now. It reads no table, so it answers whatever is locked.
    public func lockWaits() async throws -> [LockWait] {
        let result = try await query(
            "SELECT w.pid, w.text, coalesce(w.since, w.waits_since) FROM pushmta.lock_wait w ORDER BY w.waiting DESC, w.pid"
        )
        return try all(result) { row in
            LockWait(pid: Int64(try row.int32()), text: try row.text(), since: try row.timeOrNil())
        }
    }

    /// In words, which sessions it waited for in vain; they are looked up afterwards, and may be gone by then.
    public func lockHolders() async -> String {
        let result = try? await query(Self.holdersSQL)
        let holders = result.flatMap { try? all($0) { row in try row.text() } } ?? []
        return holders.isEmpty
            ? "another transaction had locked what it reads or writes" : holders.joined(separator: "; ")
    }

    /// Tables that views of target mappings read are others', and nobody waits for them for so long that it could be seen.
    private static let holdersSQL = """
        SELECT w.holder || coalesce(', in a transaction since ' || to_char(w.since AT TIME ZONE 'UTC', 'HH24:MI:SS "UTC"'), '')
        FROM pushmta.lock_wait w
        UNION ALL
        SELECT format('session %s of %s has locked %I.%I', l.pid, coalesce(s.usename, 'an unknown role'), n.nspname, c.relname)
        FROM pg_locks l JOIN pg_class c ON c.oid = l.relation AND c.relkind IN ('r', 'p', 'm', 'v')
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname NOT IN ('pushmta', 'pushmta_engine') AND n.nspname !~ '^pg_'
        LEFT JOIN pg_stat_activity s ON s.pid = l.pid
        WHERE l.granted AND l.mode = 'AccessExclusiveLock' AND l.pid <> pg_backend_pid()
            AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
        LIMIT \(mostHolders)
        """

    /// More of them make no sentence.
    private static let mostHolders = 3
}
