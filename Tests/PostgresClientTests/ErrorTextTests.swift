import PostgresClient
import PushCore
import TestSupport
import Testing

@Suite struct ErrorTextTests {
    @Test func valuesAreHidden() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        try await connection.run(
            script: """
                CREATE TABLE t (token text PRIMARY KEY CHECK (length(token) < 20), n smallint NOT NULL);
                CREATE TYPE colour AS ENUM ('red');
                INSERT INTO t VALUES ('hunter2', 1)
                """
        )
        let secret = PostgresValue.text("hunter2")
        let long = PostgresValue.text("hunter2hunter2hunter2")
        let failures: [(String, [PostgresValue], String)] = [
            ("INSERT INTO t VALUES ($1, 1)", [secret], "23505"), ("INSERT INTO t VALUES ($1, 1)", [long], "23514"),
            ("INSERT INTO t VALUES ($1, NULL)", [.text("hunter2x")], "23502"),
            ("SELECT $1::text::bigint", [secret], "22P02"), ("SELECT $1::text::jsonb", [secret], "22P02"),
            ("SELECT $1::text::timestamptz", [secret], "22007"), ("SELECT $1::text::uuid", [secret], "22P02"),
            ("SELECT $1::text::colour", [secret], "22P02"),
            ("SELECT $1::text::bigint", [.text("\"hunter2\" and \"more\"")], "22P02"),
            ("SELECT $1::text::smallint", [.text("987654321")], "22003"),
            ("SELECT $1::text::inet", [secret], "22P02"), ("SELECT $1::text::bytea", [.text("\\xhunter2")], "22023"),
        ]
        for (sql, parameters, state) in failures {
            let error = try await postgresError { try await connection.execute(PostgresStatement(sql, parameters)) }
            #expect(error.sqlState == state, "\(sql)")
            let words = error.description
            #expect(!words.contains("hunter2") && !words.contains("987654321"), "\(words)")
        }
    }

    @Test func invalidUTF8IsHidden() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        var bytes = ByteColumn()
        bytes.append([0xC3, 0x28])
        let column = PostgresValue.textColumn(bytes)
        let error = try await postgresError {
            try await connection.execute(PostgresStatement("SELECT $1::text[]", [column]))
        }
        #expect(error.sqlState == "22021")
        #expect(!error.description.contains("c3"))
    }

    @Test func descriptionTellsWhatAndWhere() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        let error = try await postgresError {
            try await connection.execute(PostgresStatement("SELECT *\n  FROM   nothing WHERE a = $1", [.int32(1)]))
        }
        let expected =
            #"PostgreSQL: relation "nothing" does not exist (SQLSTATE 42P01) in: SELECT * FROM nothing WHERE a = $1"#
        #expect(error.description == expected)
    }

    @Test func configurationHidesThePassword() {
        let name = PostgresApplicationName(role: "test", host: "h", pid: 1)
        let configuration = PostgresConfiguration("postgresql://u:hunter2@h/d", applicationName: name)
        #expect(!"\(configuration)".contains("hunter2"))
    }
}
