import PostgresClient
import PushCore
import TestSupport
import Testing

@Suite struct CopyTests {
    struct Mistake: Error {}

    private func table() async throws -> PostgresConnection {
        let connection = try await TestDatabase.create(.empty).connect()
        try await connection.run(script: "CREATE TABLE t (id int PRIMARY KEY, name text)")
        return connection
    }

    private func count(_ connection: PostgresConnection) async throws -> Int64 {
        try await connection.execute(PostgresStatement("SELECT count(*) FROM t")).int64(0, 0)
    }

    @Test func inAndOut() async throws {
        let connection = try await table()
        let lines = (0..<100_000).map { "\($0)\tname \($0)\n" }
        let chunks = AsyncStream<[UInt8]> { continuation in
            // Chunks that cut rows anywhere.
            let bytes = lines.flatMap { Array($0.utf8) }
            for start in stride(from: 0, to: bytes.count, by: 70_001) {
                continuation.yield(Array(bytes[start..<min(start + 70_001, bytes.count)]))
            }
            continuation.finish()
        }
        #expect(try await connection.copyIn("COPY t FROM STDIN", rows: chunks) == 100_000)
        #expect(try await count(connection) == 100_000)
        var copied: [UInt8] = []
        for try await chunk in connection.copyOut("COPY (SELECT * FROM t ORDER BY id) TO STDOUT") {
            #expect(chunk.last == UInt8(ascii: "\n"))
            copied += chunk
        }
        #expect(String(decoding: copied, as: UTF8.self) == lines.joined())
        #expect(try await count(connection) == 100_000)
    }

    @Test func othersWait() async throws {
        let connection = try await table()
        let tasks = TaskBox()
        let chunks = AsyncThrowingStream<[UInt8], any Error> { continuation in
            tasks.add(Task { try await connection.execute(PostgresStatement("INSERT INTO t VALUES (0)")) })
            for id in 1...10 { continuation.yield(Array("\(id)\tx\n".utf8)) }
            continuation.finish()
        }
        #expect(try await connection.copyIn("COPY t FROM STDIN", rows: chunks) == 10)
        for task in tasks.all { #expect(try await task.value.affectedRows == 1) }
        #expect(try await count(connection) == 11)
    }

    @Test func malformedRowIsAnErrorWithoutItsValues() async throws {
        let connection = try await table()
        let error = try await postgresError {
            try await connection.copyIn("COPY t FROM STDIN", rows: Array("1\ta\nsecret\tb\n".utf8))
        }
        #expect(error.sqlState == "22P02")
        #expect(!error.description.contains("secret"))
        #expect(try await count(connection) == 0)
    }

    @Test func errorOfTheSourceStoresNothing() async throws {
        let connection = try await table()
        let chunks = AsyncThrowingStream<[UInt8], any Error> { continuation in
            continuation.yield(Array("1\ta\n".utf8))
            continuation.finish(throwing: Mistake())
        }
        await #expect(throws: Mistake.self) { try await connection.copyIn("COPY t FROM STDIN", rows: chunks) }
        #expect(try await count(connection) == 0)
    }

    @Test func insideATransaction() async throws {
        let connection = try await table()
        let copied = try await connection.transaction { transaction in
            try await transaction.execute(PostgresStatement("CREATE TEMP TABLE staging (LIKE t) ON COMMIT DROP"))
            let rows = try await transaction.copyIn("COPY staging FROM STDIN", rows: Array("1\ta\n2\tb\n".utf8))
            try await transaction.execute(PostgresStatement("INSERT INTO t SELECT * FROM staging"))
            return rows
        }
        #expect(copied == 2)
        #expect(try await count(connection) == 2)
        let error = try await postgresError {
            try await connection.transaction { transaction in
                try await transaction.execute(PostgresStatement("INSERT INTO t VALUES (3)"))
                _ = try await transaction.copyIn("COPY t FROM STDIN", rows: Array("1\ta\n".utf8))
            }
        }
        #expect(error.isUniqueViolation)
        #expect(try await count(connection) == 2)
    }

    /// Columns of every kind, with what is empty, NULL or at its limit.
    @Test func rowsInBinaryForm() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        try await connection.run(
            script:
                "CREATE TABLE t (a bigint, b smallint, c text, d smallint, e int, day date, f text, g bigint, h text, i text)"
        )
        var rows = CopyRows()
        try rows.append(rows: 0, columns: [.int64([])])
        try rows.append(
            rows: 3,
            columns: [
                .int64([.min, 0, .max]), .int16([.min, 0, .max]), .text(["", nil, "é\t\\"]),
                .int16OrNull([nil, 1, nil]),
                .int32([.min, 0, .max]), .int32([0, 9_824, -1]), .same(.text("same")), .same(.int64(7)), .same(.null),
                .textColumn(ByteColumn(["", "é", nil])),
            ]
        )
        #expect(rows.count == 3)
        let stored = try await connection.copyIn("COPY t FROM STDIN (FORMAT binary)", rows: rows.stream)
        #expect(stored == 3)
        let texts = try await connection.execute(PostgresStatement("SELECT t::text FROM t ORDER BY a"))
        #expect(
            try (0..<3).map { try texts.text($0, 0) } == [
                #"(-9223372036854775808,-32768,"",,-2147483648,2000-01-01,same,7,,"")"#,
                "(0,0,,1,0,2026-11-24,same,7,,é)",
                "(9223372036854775807,32767,\"é\t\\\\\",,2147483647,1999-12-31,same,7,,)",
            ]
        )
        #expect(throws: PostgresError.self) { try rows.append(rows: 2, columns: [.int64([1])]) }
    }

    /// Rows that go to a table which keeps none do not count.
    @Test(arguments: [1, 3, 4, 10]) func rowsThatMakeTheServerWrite(every interval: Int) async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        try await connection.run(
            script: """
                CREATE TABLE t (id int, name text) PARTITION BY RANGE (id);
                CREATE TABLE t_rows PARTITION OF t FOR VALUES FROM (0) TO (100);
                CREATE TABLE t_flush PARTITION OF t FOR VALUES FROM (100) TO (101);
                CREATE FUNCTION count_and_drop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    PERFORM nextval('flushes'); RETURN NULL; END $$;
                CREATE SEQUENCE flushes MINVALUE 0;
                CREATE TRIGGER drop BEFORE INSERT ON t_flush FOR EACH ROW EXECUTE FUNCTION count_and_drop();
                """
        )
        var rows = CopyRows(flush: [.int32(100), .null], every: interval)
        try rows.append(rows: 3, columns: [.int32([0, 1, 2]), .same(.text("a"))])
        try rows.append(rows: 5, columns: [.int32([3, 4, 5, 6, 7]), .text([nil, "b", nil, "c", ""])])
        #expect(rows.count == 8)
        let stored = try await connection.copyIn("COPY t FROM STDIN (FORMAT binary)", rows: rows.stream)
        #expect(stored == 8)
        #expect(try await count(connection) == 8)
        let flushes = try await connection.execute(PostgresStatement("SELECT nextval('flushes')")).int64(0, 0)
        #expect(flushes == Int64(7 / interval))
    }

    @Test func betweenStatementsOfOneTransaction() async throws {
        let connection = try await table()
        @discardableResult
        func copy(
            _ ids: [Int32],
            first: String = "INSERT INTO t VALUES (0) RETURNING id",
            last: String = "INSERT INTO t VALUES (9)"
        )
            async throws -> Int64
        {
            try await connection.copyIn(
                "COPY t (id) FROM STDIN (FORMAT binary)",
                after: [PostgresStatement(first)],
                rows: { answers in
                    #expect(try answers[0].int32(0, 0) == 0)
                    var rows = CopyRows()
                    try rows.append(rows: ids.count, columns: [.int32(ids)])
                    return rows
                },
                then: [PostgresStatement(last)]
            ).copied
        }
        // Whatever fails, nothing is stored and the connection serves the next one.
        #expect(try await postgresError { try await copy([1, 0]) }.isUniqueViolation)
        #expect(try await postgresError { try await copy([1, 9]) }.isUniqueViolation)
        #expect(try await postgresError { try await copy([1], first: "SELECT 1/0") }.sqlState == "22012")
        #expect(try await postgresError { try await copy([1], last: "SELECT 1/0") }.sqlState == "22012")
        #expect(try await count(connection) == 0)
        #expect(try await copy([1, 2, 3]) == 3)
        #expect(try await count(connection) == 5)
        try await connection.execute(PostgresStatement("DELETE FROM t"))
        #expect(try await copy([]) == 0)
        #expect(try await count(connection) == 2)
        await #expect(throws: Mistake.self) {
            try await connection.copyIn(
                "COPY t (id) FROM STDIN (FORMAT binary)",
                after: [PostgresStatement("INSERT INTO t VALUES (5)")],
                rows: { _ in throw Mistake() },
                then: []
            )
        }
        #expect(try await count(connection) == 2)
    }

    @Test func wrongStatementsAreErrors() async throws {
        let connection = try await table()
        let select = try await postgresError { try await connection.copyIn("SELECT 1", rows: []) }
        #expect(select.code == .type)
        let missing = try await postgresError { try await connection.copyIn("COPY missing FROM STDIN", rows: []) }
        #expect(missing.sqlState == "42P01")
        let out = try await postgresError { for try await _ in connection.copyOut("COPY missing TO STDOUT") {} }
        #expect(out.sqlState == "42P01")
        #expect(try await count(connection) == 0)
    }

    @Test func readerThatLeavesEarly() async throws {
        let connection = try await table()
        for _ in 0..<3 {
            var chunks = 0
            for try await _ in connection.copyOut("COPY (SELECT generate_series(1, 100000000)) TO STDOUT") {
                chunks += 1
                if chunks == 3 { break }
            }
            #expect(try await count(connection) == 0)
        }
    }

    @Test func cancelledReader() async throws {
        let connection = try await table()
        let task = Task {
            var bytes = 0
            for try await chunk in connection.copyOut("COPY (SELECT generate_series(1, 100000000)) TO STDOUT") {
                bytes += chunk.count
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return bytes
        }
        _ = try? await task.value
        #expect(try await count(connection) == 0)
    }

    @Test func emptyCopies() async throws {
        let connection = try await table()
        #expect(try await connection.copyIn("COPY t FROM STDIN", rows: []) == 0)
        var chunks = 0
        for try await _ in connection.copyOut("COPY t TO STDOUT") { chunks += 1 }
        #expect(chunks == 0)
        #expect(try await count(connection) == 0)
    }

    @Test func scriptErrorTellsTheLine() async throws {
        let connection = try await table()
        let error = try await postgresError {
            try await connection.run(
                script: "INSERT INTO t VALUES (1, 'x');\n\nINSERT INTO missing VALUES ('hunter2');"
            )
        }
        #expect(error.sqlState == "42P01")
        #expect(error.description.contains("line 3"))
        #expect(!error.description.contains("hunter2"))
        #expect(try await count(connection) == 0)
    }
}
