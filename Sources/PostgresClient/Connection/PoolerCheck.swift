/// Finds out whether the connection has a session of its own.
///
/// A connection pooler in transaction mode gives each transaction whatever session of the server is free: settings, roles, prepared
/// statements, session settings and LISTEN then land in sessions of other clients, and theirs in ours. A pooler gives itself away by
/// the number of the server process that it tells at the start, which is its own invention. Then a second connection is made, and
/// both ask in turn which session serves them. In session mode each has its own, always. In transaction mode both get what is free:
/// with one session in the pool, or a pool that hands out the one that was used last, it is the same; with one that goes round,
/// it changes.
extension PostgresConnection {
    /// Which of the two asks when: no rule that a pooler goes by gives the same two answers to all of them.
    private static let turns = [0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1]

    /// A second session that does not come within this time is not free: a pool in session mode is used up by the first.
    private static let longestWait = Duration.seconds(2)

    /// Which session of which server serves a statement.
    private struct Session: Hashable {
        var pid: Int32
        /// Servers behind one name may have processes of the same number.
        var serverStartedAt: Int64
    }

    /// Throws ``PostgresError/Code/pooler`` if transactions of this connection get different sessions.
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

    /// The second connection's session; nil if it waits for one while the first is served: a pooler in transaction mode serves
    /// them in the order in which they came.
    private static func session(
        of other: PostgresConnection,
        orIfNoneIsFree first: PostgresConnection
    ) async throws -> Session? {
        try await withThrowingTaskGroup(of: Session?.self) { group in
            group.addTask { try await other.session() }
            group.addTask {
                try await Task.sleep(for: longestWait)
                _ = try await first.session()
                return nil
            }
            let answer = try await group.next() ?? nil
            // Ends the wait; cancelling the statement would wait for a pooler that has nobody to cancel.
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

    /// With the schema of each name, as the session has not set yet where names are looked up.
    private static let sessionSQL = "VALUES (pg_catalog.pg_backend_pid(), pg_catalog.pg_postmaster_start_time())"
}
