import PostgresClient
import TestSupport
import Testing

@Suite struct PipelineTests {
    @Test func groupIsOneTransaction() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        try await connection.run(script: "CREATE TABLE t (id int PRIMARY KEY)")
        let error = try await postgresError {
            try await connection.execute([
                PostgresStatement("INSERT INTO t VALUES ($1)", [.int32(1)]),
                PostgresStatement("INSERT INTO t VALUES ($1)", [.int32(1)]),
                PostgresStatement("INSERT INTO t VALUES ($1)", [.int32(2)]),
            ])
        }
        #expect(error.code == .sqlState("23505"))
        #expect(error.isUniqueViolation)
        #expect(error.constraint == "t_pkey")
        #expect(error.statementIndex == 1)
        #expect(try await connection.execute(PostgresStatement("SELECT count(*) FROM t")).int64(0, 0) == 0)
    }

    @Test func errorInTheMiddleLeavesOtherGroupsUntouched() async throws {
        let database = try await TestDatabase.create(.empty)
        let connection = try await database.connect()
        try await connection.run(script: "CREATE TABLE t (id int PRIMARY KEY)")
        // The lock holds the first group back, so that the others pile up behind it in the pipeline.
        let other = try await database.connect()
        try await other.execute(PostgresStatement("SELECT pg_advisory_lock(1)"))
        async let first = connection.execute(PostgresStatement("SELECT pg_advisory_lock(1)"))
        try await waitUntilBlocked(connection.backendPID, seenBy: other)
        let outcomes = await withTaskGroup(of: (Int, Bool).self, returning: [Int: Bool].self) { tasks in
            for id in 0..<200 {
                tasks.addTask {
                    // Every tenth group fails in its second statement.
                    let second: Int32 = id % 10 == 3 ? Int32(id) : Int32(id + 1_000)
                    let results = try? await connection.execute([
                        PostgresStatement("INSERT INTO t VALUES ($1)", [.int32(Int32(id))]),
                        PostgresStatement("INSERT INTO t VALUES ($1)", [.int32(second)]),
                    ])
                    return (id, results?.map(\.affectedRows) == [1, 1])
                }
            }
            tasks.addTask {
                _ = try? await other.execute(PostgresStatement("SELECT pg_advisory_unlock(1)"))
                return (-1, true)
            }
            return await tasks.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        _ = try await first
        for id in 0..<200 { #expect(outcomes[id] == (id % 10 != 3), "group \(id)") }
        #expect(try await connection.execute(PostgresStatement("SELECT count(*) FROM t")).int64(0, 0) == 360)
    }

    @Test func failedPreparationIsNotRemembered() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        let select = PostgresStatement("SELECT id FROM later")
        let error = try await postgresError { try await connection.execute(select) }
        #expect(error.code == .sqlState("42P01"))
        #expect(error.statement == "SELECT id FROM later")
        // In one group the table is there when the insert is prepared.
        try await connection.execute([
            PostgresStatement("CREATE TABLE later (id bigint)", prepare: false),
            PostgresStatement("INSERT INTO later VALUES ($1)", [.int64(5)]),
        ])
        #expect(try await connection.execute(select).int64(0, 0) == 5)
        #expect(try await connection.execute(select).int64(0, 0) == 5)
    }

    @Test func skippedPreparationIsNotRemembered() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        let second = PostgresStatement("SELECT 7::bigint")
        await #expect(throws: PostgresError.self) {
            try await connection.execute([PostgresStatement("SELECT 1 / $1", [.int32(0)]), second])
        }
        #expect(try await connection.execute(second).int64(0, 0) == 7)
    }

    @Test func statementWhoseResultTypeChangedWorksAgain() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        try await connection.run(script: "CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
        let select = PostgresStatement("SELECT * FROM t")
        #expect(try await connection.execute(select).columnCount == 1)
        try await connection.run(script: "ALTER TABLE t ADD b int")
        // PostgreSQL refuses the old plan once; the connection prepares it anew.
        let error = try await postgresError { try await connection.execute(select) }
        #expect(error.sqlState == "0A000")
        #expect(try await connection.execute(select).columnCount == 2)
    }

    @Test func moreStatementsThanTheCacheHolds() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        for round in 0..<2 {
            for number in 0..<250 {
                let statement = PostgresStatement("SELECT $1 + \(number)", [.int64(Int64(round))])
                #expect(try await connection.execute(statement).int64(0, 0) == Int64(number + round))
            }
        }
        let count = PostgresStatement("SELECT count(*) FROM pg_prepared_statements", prepare: false)
        #expect(try await connection.execute(count).int64(0, 0) == 200)
    }

    @Test func oneGroupOfMoreStatementsThanTheCacheHolds() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        let group = (0..<300).map { PostgresStatement("SELECT \($0)::bigint") }
        for _ in 0..<2 {
            let results = try await connection.execute(group)
            #expect(try results.map { try $0.int64(0, 0) } == (0..<300).map { Int64($0) })
        }
    }

    @Test func sameTextWithOtherTypes() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        let sql = "SELECT pg_typeof($1)::text"
        for _ in 0..<2 {
            #expect(try await connection.execute(PostgresStatement(sql, [.int64(1)])).text(0, 0) == "bigint")
            #expect(try await connection.execute(PostgresStatement(sql, [.text("x")])).text(0, 0) == "text")
        }
    }

    @Test func largeGroupsInBothDirections() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        let block = [UInt8](repeating: 7, count: 3_000_000)
        try await withThrowingTaskGroup(of: Bool.self) { tasks in
            for _ in 0..<8 {
                tasks.addTask {
                    let result = try await connection.execute(PostgresStatement("SELECT $1::bytea", [.bytes(block)]))
                    return try result.bytes(0, 0) == block
                }
            }
            for try await isEqual in tasks { #expect(isEqual) }
        }
    }

    @Test func noticeFlood() async throws {
        let database = try await TestDatabase.create(.empty)
        let (stream, continuation) = AsyncStream.makeStream(of: PostgresNotice.self)
        var configuration = database.configuration()
        configuration.onNotice = { continuation.yield($0) }
        let connection = try await PostgresConnection.connect(configuration)
        try await connection.run(
            script: "DO $$ BEGIN FOR i IN 1..20000 LOOP RAISE WARNING 'number %', i; END LOOP; END $$"
        )
        continuation.finish()
        let count = await stream.reduce(0) { $1.severity == "WARNING" && $1.sqlState == "01000" ? $0 + 1 : $0 }
        #expect(count == 20_000)
        #expect(try await connection.execute(PostgresStatement("SELECT 1::int8")).int64(0, 0) == 1)
    }

    @Test func noticeFloodWhileSendingMuch() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        try await connection.run(
            script: """
                CREATE FUNCTION shout(bytea) RETURNS bigint LANGUAGE plpgsql AS $$
                BEGIN
                    FOR i IN 1..5000 LOOP RAISE WARNING 'a warning that fills the socket %', i; END LOOP;
                    RETURN 1;
                END $$
                """
        )
        let block = [UInt8](repeating: 1, count: 2_000_000)
        let group = (0..<8).map { _ in PostgresStatement("SELECT shout($1)", [.bytes(block)]) }
        #expect(try await connection.execute(group).count == 8)
    }

    @Test func emptyGroupAndEmptyStatement() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        #expect(try await connection.execute([]).isEmpty)
        #expect(try await connection.execute(PostgresStatement("")).rowCount == 0)
    }

    @Test func copyAsAStatementClosesTheConnection() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        let error = try await postgresError {
            try await connection.execute(PostgresStatement("COPY (SELECT 1) TO STDOUT", prepare: false))
        }
        #expect(error.isConnectionLost)
        #expect(!connection.isOpen)
    }
}
