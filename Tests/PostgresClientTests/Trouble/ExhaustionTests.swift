import PostgresClient
import TestSupport
import Testing

/// What a server runs out of is an error that may be repeated; the connection stays, and nobody waits for ever.
@Suite struct ExhaustionTests {
    @Test func tooManyConnections() async throws {
        let cluster = try await TestCluster.start()
        let administrator = try await cluster.connect()
        try await administrator.run(script: "CREATE ROLE plain LOGIN")
        try await administrator.run(script: "ALTER SYSTEM SET max_connections = 8")
        await administrator.close()
        try await cluster.stop()
        try await cluster.launch()
        let name = PostgresApplicationName(role: "test", host: "localhost", pid: 1)
        let string = cluster.connectionString().replacing("user=postgres", with: "user=plain")
        let configuration = PostgresConfiguration(string, applicationName: name)
        var held: [PostgresConnection] = []
        var refusal: PostgresError?
        while refusal == nil {
            try #require(held.count < 8)
            do {
                held.append(try await PostgresConnection.connect(configuration))
            } catch let error as PostgresError {
                refusal = error
            }
        }
        #expect(refusal?.sqlState == "53300")
        #expect(refusal?.isRetryable == true)
        #expect(refusal?.message.contains("53300") == false)
        #expect(refusal?.message.contains("proc.c") == false)
        let (events, continuation) = AsyncStream.makeStream(of: ReconnectingConnectionEvent.self)
        let reconnecting = ReconnectingConnection(configuration, onEvent: { continuation.yield($0) })
        let waiter = Task { try await reconnecting.withConnection { $0.isOpen } }
        for await event in events {
            guard case .attemptFailed(let error, let attempt, _) = event else { continue }
            #expect(error.sqlState == "53300")
            if attempt == 2 { break }
        }
        await held.removeLast().close()
        #expect(try await waiter.value)
        await reconnecting.close()
        for connection in held { await connection.close() }
        try await cluster.stop()
    }

    /// COPY to a device that is always full fails as every write to a full disk.
    @Test func diskFull() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        let fill = PostgresStatement("COPY (SELECT generate_series(1, 100000)) TO '/dev/full'", prepare: false)
        let error = try await postgresError { try await connection.execute(fill) }
        #expect(error.sqlState == "53100")
        #expect(error.isRetryable && !error.isConnectionLost)
        #expect(try await connection.execute(PostgresStatement("SELECT 1")).int32(0, 0) == 1)
        let inTransaction = try await postgresError {
            try await connection.transaction { transaction in _ = try await transaction.execute(fill) }
        }
        #expect(inTransaction.sqlState == "53100")
        #expect(try await connection.execute(PostgresStatement("SELECT 2")).int32(0, 0) == 2)
    }

    @Test func lockTimeout() async throws {
        let database = try await TestDatabase.create(.empty)
        let (holder, waiting) = (try await database.connect(), try await database.connect())
        try await holder.run(script: "CREATE TABLE t (id bigint)")
        try await waiting.execute(PostgresStatement("SET lock_timeout = '50ms'", prepare: false))
        try await holder.transaction { transaction in
            try await transaction.execute(PostgresStatement("LOCK TABLE t"))
            // Pipelined with others that need no lock.
            async let before = waiting.execute(PostgresStatement("SELECT 1"))
            let error = try await postgresError {
                try await waiting.execute([
                    PostgresStatement("SELECT 2"), PostgresStatement("INSERT INTO t VALUES (1)"),
                ])
            }
            async let after = waiting.execute(PostgresStatement("SELECT 3"))
            #expect(error.sqlState == "55P03")
            #expect(error.statementIndex == 1)
            #expect(error.isRetryable && !error.isConnectionLost)
            #expect(try await before.int32(0, 0) == 1)
            #expect(try await after.int32(0, 0) == 3)
        }
        try await waiting.execute(PostgresStatement("INSERT INTO t VALUES (2)"))
        #expect(try await waiting.execute(PostgresStatement("SELECT id FROM t")).int64(0, 0) == 2)
    }

    @Test func statementTimeoutEndsItsTransactionOnly() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        try await connection.run(script: "CREATE TABLE t (id bigint); SET statement_timeout = '200ms'")
        let error = try await postgresError {
            try await connection.transaction { transaction in
                try await transaction.execute(PostgresStatement("INSERT INTO t VALUES (1)"))
                _ = try await transaction.execute(PostgresStatement("SELECT pg_sleep(600)"))
            }
        }
        #expect(error.sqlState == "57014")
        #expect(error.isRetryable && !error.isConnectionLost)
        #expect(try await connection.execute(PostgresStatement("SELECT count(*) FROM t")).int64(0, 0) == 0)
    }
}
