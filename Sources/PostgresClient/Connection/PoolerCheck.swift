/// Detects a connection pooler that gives the connection no session of its own.
///
/// A pooler in transaction mode runs each transaction in whichever server session is free. Settings, roles, prepared
/// statements and LISTEN then leak between the sessions of different clients.
///
/// A pooler shows itself by the backend process number in its greeting, which it invents. In that case a second
/// connection is opened, and both ask in turn which session serves them. In session mode each connection always has its
/// own. In transaction mode both get whichever is free: with one session in the pool, or a pool that reuses the last
/// one, both get the same; with a pool that rotates, a connection's session changes.
extension PostgresConnection {
    /// Which of the two connections asks when. No assignment rule of a pooler gives each connection the same session
    /// every time.
    private static let turns = [0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1]

    /// If no second session comes within this time, none is free: the first one has used up a pool in session mode.
    private static let maxWait = Duration.seconds(2)

    /// The session and server that serve a statement.
    private struct Session: Hashable {
        var pid: Int32
        /// Servers that share a name may have processes with the same number.
        var serverStartedAt: Int64
    }

    /// Throws ``PostgresError/Code/pooler`` if this connection's transactions do not have a session of their own.
    func checkSession(_ configuration: PostgresConfiguration) async throws {
        guard try await session().pid != backendPID else { return }
        let other = try await Self.open(configuration)
        do {
            try await check(beside: other)
        } catch {
            await other.close()
            throw error
        }
        await other.close()
    }

    private func check(beside other: PostgresConnection) async throws {
        let own = try await session()
        guard let second = try await Self.session(of: other, orIfNoneIsFree: self) else { return }
        for turn in Self.turns {
            let (connection, expected) = turn == 0 ? (self, own) : (other, second)
            guard own != second, try await connection.session() == expected else { throw PostgresError.pooler }
        }
    }

    /// The second connection's session; nil if it waits for one while the first is served. A pooler in transaction mode
    /// would serve them in their order.
    private static func session(
        of other: PostgresConnection,
        orIfNoneIsFree first: PostgresConnection
    ) async throws -> Session? {
        try await withThrowingTaskGroup(of: Session?.self) { group in
            group.addTask { try await other.session() }
            group.addTask {
                try await Task.sleep(for: maxWait)
                _ = try await first.session()
                return nil
            }
            let answer = try await group.next() ?? nil
            // Ends the wait. Cancelling the statement instead would hang: the pooler has no session to cancel.
            if answer == nil { await other.close() }
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .success(let late?) = result { return late }
            }
            return answer
        }
    }

    private func session() async throws -> Session {
        let row = try await execute(PostgresStatement(Self.sessionSQL, prepare: false))
        return Session(pid: try row.int32(0, 0), serverStartedAt: try row.timestamp(0, 1))
    }

    /// Names are qualified, because the session's search_path is not set yet.
    private static let sessionSQL = "VALUES (pg_catalog.pg_backend_pid(), pg_catalog.pg_postmaster_start_time())"
}
