import PostgresClient

/// A session whose lock blocks PushMTA, a row of `pushmta.lock_wait`.
package struct LockWait: Sendable, Hashable {
    /// The session's process at the server; 0 for a prepared transaction.
    package let pid: Int64
    /// The session, what it has locked, and how many PushMTA sessions wait for it.
    package let text: String
    /// The start of its transaction, or of the first wait for it; nil if unknown.
    package let since: DatabaseTime?

    package init(pid: Int64, text: String, since: DatabaseTime? = nil) {
        self.pid = pid
        self.text = text
        self.since = since
    }
}

extension PostgresError {
    /// Whether a statement failed because another session held a lock for too long.
    package var isLockTimeout: Bool { sqlState == "55P03" }
}

extension Store {
    /// The sessions whose locks block PushMTA now. It reads no table, so it answers whatever is locked.
    package func lockWaits() async throws -> [LockWait] {
        let result = try await query(
            "SELECT w.pid, w.text, coalesce(w.since, w.waits_since) FROM pushmta.lock_wait w ORDER BY w.waiting DESC, w.pid"
        )
        return try all(result) { row in
            LockWait(pid: Int64(try row.int32()), text: try row.text(), since: try row.timeOrNil())
        }
    }

    /// Names the sessions that were waited for in vain. They are looked up afterwards, and may be gone by then.
    package func lockHolders() async -> String {
        let result = try? await query(Self.holdersSQL)
        let holders = result.flatMap { try? all($0) { row in try row.text() } } ?? []
        return holders.isEmpty
            ? "another transaction had locked what it reads or writes" : holders.joined(separator: "; ")
    }

    /// Leaves out tables that views of target mappings read: they belong to others, and waits for them are too short to
    /// be seen.
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
        LIMIT \(maxHolders)
        """

    /// The maximum number to name in a sentence.
    private static let maxHolders = 3
}
