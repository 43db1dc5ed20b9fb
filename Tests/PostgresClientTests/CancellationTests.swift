import PostgresClient
import TestSupport
import Testing

@Suite struct CancellationTests {
    private let lock = PostgresStatement("SELECT pg_advisory_lock(1)")

    private func connections() async throws -> (PostgresConnection, other: PostgresConnection, TestDatabase) {
        let database = try await TestDatabase.create(.empty)
        let other = try await database.connect()
        try await other.execute(lock)
        return (try await database.connect(), other, database)
    }

    @Test func cancellingTheTaskCancelsTheStatement() async throws {
        let (connection, other, _) = try await connections()
        let task = Task { [lock] in try await connection.execute(lock) }
        try await waitUntilBlocked(connection.backendPID, seenBy: other)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await connection.execute(PostgresStatement("SELECT 1::int8")).int64(0, 0) == 1)
    }

    @Test func cancellingFromOutside() async throws {
        let (connection, other, _) = try await connections()
        let task = Task { [lock] in try await connection.execute(lock) }
        try await waitUntilBlocked(connection.backendPID, seenBy: other)
        connection.cancel()
        let error = try await postgresError { _ = try await task.value }
        #expect(error.sqlState == "57014")
        #expect(connection.isOpen)
        connection.cancel()
        #expect(try await connection.execute(PostgresStatement("SELECT 1::int8")).int64(0, 0) == 1)
    }

    @Test func cancelledTaskSendsNothing() async throws {
        let (connection, _, _) = try await connections()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await connection.execute(PostgresStatement("CREATE TABLE never (id int)"))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        let result = try await connection.execute(PostgresStatement("SELECT to_regclass('never') IS NULL"))
        #expect(try result.bool(0, 0))
    }

    @Test func othersInThePipelineArriveAllTheSame() async throws {
        let (connection, other, _) = try await connections()
        try await connection.run(script: "CREATE TABLE t (id int PRIMARY KEY)")
        let first = Task { [lock] in try await connection.execute(lock) }
        try await waitUntilBlocked(connection.backendPID, seenBy: other)
        let rest = (0..<50).map { id in
            Task { try await connection.execute(PostgresStatement("INSERT INTO t VALUES ($1)", [.int32(Int32(id))])) }
        }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        for task in rest { #expect(try await task.value.affectedRows == 1) }
        #expect(try await connection.execute(PostgresStatement("SELECT count(*) FROM t")).int64(0, 0) == 50)
    }

    @Test func oneInTheMiddleIsCancelledWhenItsTurnComes() async throws {
        let (connection, other, database) = try await connections()
        let observer = try await database.connect()
        try await observer.execute(PostgresStatement("SELECT pg_advisory_lock(2)"))
        let first = Task { [lock] in try await connection.execute(lock) }
        try await waitUntilBlocked(connection.backendPID, seenBy: other)
        let second = Task { try await connection.execute(PostgresStatement("SELECT pg_advisory_lock(2)")) }
        let third = Task { try await connection.execute(PostgresStatement("SELECT 3::int8")) }
        second.cancel()
        try await other.execute(PostgresStatement("SELECT pg_advisory_unlock(1)"))
        _ = try await first.value
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(try await third.value.int64(0, 0) == 3)
    }

    @Test func transactionIsRolledBack() async throws {
        let (connection, other, _) = try await connections()
        try await connection.run(script: "CREATE TABLE t (id int)")
        let task = Task { [lock] in
            try await connection.transaction { transaction in
                try await transaction.execute(PostgresStatement("INSERT INTO t VALUES (1)"))
                try await transaction.execute(lock)
            }
        }
        try await waitUntilBlocked(connection.backendPID, seenBy: other)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await connection.execute(PostgresStatement("SELECT count(*) FROM t")).int64(0, 0) == 0)
    }

    @Test func script() async throws {
        let (connection, other, _) = try await connections()
        let task = Task { try await connection.run(script: "SELECT 1; SELECT pg_advisory_lock(1)") }
        try await waitUntilBlocked(connection.backendPID, seenBy: other)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await connection.execute(PostgresStatement("SELECT 1::int8")).int64(0, 0) == 1)
    }

    @Test func manyCancellationsInTurn() async throws {
        let (connection, other, _) = try await connections()
        for _ in 0..<20 {
            let task = Task { [lock] in try await connection.execute(lock) }
            try await waitUntilBlocked(connection.backendPID, seenBy: other)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await connection.execute(PostgresStatement("SELECT 1::int8")).int64(0, 0) == 1)
        }
    }
}
