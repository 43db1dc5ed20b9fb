import PostgresClient
import TestSupport
import Testing

@Suite struct TransactionTests {
    struct Mistake: Error {}

    private func table() async throws -> (PostgresConnection, TestDatabase) {
        let database = try await TestDatabase.create(.empty)
        let connection = try await database.connect()
        try await connection.run(script: "CREATE TABLE t (id int PRIMARY KEY)")
        return (connection, database)
    }

    private func count(_ connection: PostgresConnection) async throws -> Int64 {
        try await connection.execute(PostgresStatement("SELECT count(*) FROM t")).int64(0, 0)
    }

    @Test func commits() async throws {
        let (connection, _) = try await table()
        let inside = try await connection.transaction { transaction in
            try await transaction.execute(PostgresStatement("INSERT INTO t VALUES (1)"))
            return try await transaction.execute(PostgresStatement("SELECT count(*) FROM t")).int64(0, 0)
        }
        #expect(inside == 1)
        #expect(try await count(connection) == 1)
    }

    @Test func rollsBackOnError() async throws {
        let (connection, _) = try await table()
        await #expect(throws: Mistake.self) {
            try await connection.transaction { transaction in
                try await transaction.execute(PostgresStatement("INSERT INTO t VALUES (1)"))
                throw Mistake()
            }
        }
        #expect(try await count(connection) == 0)
    }

    @Test func swallowedErrorIsNoCommit() async throws {
        let (connection, _) = try await table()
        let error = try await postgresError {
            try await connection.transaction { transaction in
                try await transaction.execute(PostgresStatement("INSERT INTO t VALUES (1)"))
                _ = try? await transaction.execute(PostgresStatement("INSERT INTO t VALUES (1)"))
            }
        }
        #expect(error.sqlState == "25P02")
        #expect(try await count(connection) == 0)
    }

    @Test func savepoint() async throws {
        let (connection, _) = try await table()
        try await connection.transaction { transaction in
            try await transaction.execute(PostgresStatement("INSERT INTO t VALUES (1)"))
            try await transaction.execute(PostgresStatement("SAVEPOINT s", prepare: false))
            _ = try? await transaction.execute(PostgresStatement("INSERT INTO t VALUES (1)"))
            try await transaction.execute(PostgresStatement("ROLLBACK TO SAVEPOINT s", prepare: false))
            try await transaction.execute(PostgresStatement("INSERT INTO t VALUES (2)"))
        }
        #expect(try await count(connection) == 2)
    }

    @Test func othersWaitUntilItIsOver() async throws {
        let (connection, _) = try await table()
        let tasks = TaskBox()
        await #expect(throws: Mistake.self) {
            try await connection.transaction { transaction in
                try await transaction.execute(PostgresStatement("INSERT INTO t VALUES (0)"))
                for id: Int32 in 0..<20 {
                    tasks.add(
                        Task {
                            try await connection.execute(PostgresStatement("INSERT INTO t VALUES ($1)", [.int32(id)]))
                        }
                    )
                }
                // Had the others' statements come in between, this would have failed, and they with it.
                try await transaction.execute(PostgresStatement("INSERT INTO t SELECT generate_series(1, 19)"))
                throw Mistake()
            }
        }
        for task in tasks.all { #expect(try await task.value.affectedRows == 1) }
        #expect(try await count(connection) == 20)
    }

    @Test func concurrentTransactionsTakeTurns() async throws {
        let (connection, _) = try await table()
        try await connection.execute(PostgresStatement("INSERT INTO t VALUES (0)"))
        try await withThrowingTaskGroup { tasks in
            for _ in 0..<20 {
                tasks.addTask {
                    try await connection.transaction { transaction in
                        let id = try await transaction.execute(PostgresStatement("SELECT max(id) FROM t")).int32(0, 0)
                        try await transaction.execute(PostgresStatement("INSERT INTO t VALUES ($1)", [.int32(id + 1)]))
                    }
                }
            }
            try await tasks.waitForAll()
        }
        #expect(try await count(connection) == 21)
    }

    @Test func useAfterTheEndIsAnError() async throws {
        let (connection, _) = try await table()
        let kept = try await connection.transaction { $0 }
        let error = try await postgresError { try await kept.execute(PostgresStatement("SELECT 1")) }
        #expect(error.sqlState == "25P01")
        #expect(try await count(connection) == 0)
    }

    @Test func snapshotSeesOneState() async throws {
        let (connection, database) = try await table()
        let other = try await database.connect()
        try await connection.transaction(.snapshot) { transaction in
            let select = PostgresStatement("SELECT count(*) FROM t")
            #expect(try await transaction.execute(select).int64(0, 0) == 0)
            try await other.execute(PostgresStatement("INSERT INTO t VALUES (1)"))
            #expect(try await transaction.execute(select).int64(0, 0) == 0)
        }
        #expect(try await count(connection) == 1)
    }

    @Test func lostConnectionSaysSo() async throws {
        let (connection, database) = try await table()
        let other = try await database.connect()
        let error = try await postgresError {
            try await connection.transaction { transaction in
                try await transaction.execute(PostgresStatement("INSERT INTO t VALUES (1)"))
                let kill = PostgresStatement("SELECT pg_terminate_backend($1)", [.int32(connection.backendPID)])
                try await other.execute(kill)
                try await transaction.execute(PostgresStatement("INSERT INTO t VALUES (2)"))
            }
        }
        #expect(error.isConnectionLost)
        #expect(try await count(other) == 0)
    }
}
