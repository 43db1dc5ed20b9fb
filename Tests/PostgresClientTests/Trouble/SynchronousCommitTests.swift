import PostgresClient
import TestSupport
import Testing

/// A commit that the server acknowledges though its synchronous replica does not have it.
@Suite struct SynchronousCommitTests {
    /// How a change is made.
    enum Change: CaseIterable {
        case statement, transaction, script, copy
    }

    private static let insert = PostgresStatement("INSERT INTO work VALUES (1)")

    private func make(_ change: Change, _ connection: PostgresConnection) async throws {
        switch change {
        case .statement: try await connection.execute(Self.insert)
        case .transaction: _ = try await connection.transaction { try await $0.execute(Self.insert) }
        case .script: try await connection.run(script: "INSERT INTO work VALUES (1)")
        case .copy: try await connection.copyIn("COPY work FROM STDIN", rows: Array("1\n".utf8))
        }
    }

    /// Whoever believed it would throw away its own record of what a fail-over then takes from the database.
    @Test func aCommitThatIsOnThePrimaryAloneIsNotAcknowledged() async throws {
        let cluster = try await TestCluster.start()
        let other = try await cluster.connect()
        try await other.run(script: "CREATE TABLE work (id bigint)")
        try await other.run(script: "ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try await other.run(script: "SELECT pg_reload_conf()")
        try await waitUntil(other, "SELECT current_setting('synchronous_standby_names') = 'nobody'")
        for change in Change.allCases {
            let connection = try await cluster.connect()
            let task = Task { try await make(change, connection) }
            let waits = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'SyncRep')"
            try await waitUntil(other, waits, [.int32(connection.backendPID)])
            try await other.execute(
                PostgresStatement("SELECT pg_cancel_backend($1)", [.int32(connection.backendPID)])
            )
            let error = try await postgresError { try await task.value }
            #expect(error.isConnectionLost && error.isRetryable, "\(change): \(error)")
            #expect(error.message.contains("synchronous replica"), "\(change): \(error)")
            #expect(!connection.isOpen)
        }
        let rows = try await other.execute(PostgresStatement("SELECT count(*) FROM work")).int64(0, 0)
        #expect(rows == Int64(Change.allCases.count), "the server has committed them all")
        try await cluster.stop(immediately: true)
    }
}
