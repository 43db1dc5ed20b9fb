import PostgresClient
import TestSupport
import Testing

@Suite struct ConnectionTests {
    @Test func tellsWhoItIs() async throws {
        let database = try await TestDatabase.create(.empty)
        var configuration = database.configuration()
        configuration.applicationName = PostgresApplicationName(role: "mta-child", host: "host.example", pid: 4711)
        let connection = try await PostgresConnection.connect(configuration)
        let result = try await connection.execute(
            PostgresStatement(
                "SELECT application_name, current_setting('client_encoding') FROM pg_stat_activity WHERE pid = $1",
                [.int32(connection.backendPID)]
            )
        )
        #expect(try result.text(0, 0) == "pushmta/mta-child/host.example/4711")
        #expect(try result.text(0, 1) == "UTF8")
        #expect(connection.serverVersion >= 150_000)
        #expect(connection.isOpen)
    }

    @Test func longHostNamesAreShortened() {
        let name = PostgresApplicationName(role: "supervisor", host: String(repeating: "h", count: 100), pid: 123_456)
        #expect(name.text.utf8.count == 63)
        #expect(name.text.hasPrefix("pushmta/supervisor/hhh"))
        #expect(name.text.hasSuffix("h/123456"))
    }

    @Test func statementTimeout() async throws {
        let database = try await TestDatabase.create(.empty)
        var configuration = database.configuration()
        configuration.statementTimeoutMilliseconds = 10
        let connection = try await PostgresConnection.connect(configuration)
        let error = try await postgresError { try await connection.execute(PostgresStatement("SELECT pg_sleep(600)")) }
        #expect(error.sqlState == "57014")
        #expect(error.isRetryable)
        #expect(connection.isOpen)
    }

    /// A client that says nothing more in a transaction loses it, and with it the locks that others wait for.
    @Test func aSessionThatIsLeftBehindEnds() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        let settings = PostgresStatement(
            """
            SELECT current_setting('idle_in_transaction_session_timeout'), \
            current_setting('client_connection_check_interval')
            """
        )
        let result = try await connection.execute(settings)
        #expect(try result.text(0, 0) == "5s")
        #expect(try result.text(0, 1) == "5s")
        try await connection.execute(
            PostgresStatement("SET idle_in_transaction_session_timeout = '20ms'", prepare: false)
        )
        let error = try await postgresError {
            try await connection.transaction { transaction in
                _ = try await connection.nextNotification(deadline: .now + .seconds(60))
                _ = try await transaction.execute(PostgresStatement("SELECT 1"))
            }
        }
        #expect(error.isConnectionLost && error.isRetryable)
    }

    @Test func unreachableServerIsAnError() async throws {
        let name = PostgresApplicationName(role: "test", host: "localhost", pid: 1)
        let string = "host=/nowhere/at/all user=postgres password=hunter2"
        let error = try await postgresError {
            _ = try await PostgresConnection.connect(PostgresConfiguration(string, applicationName: name))
        }
        #expect(error.isConnectionLost)
        #expect(error.isRetryable)
        #expect(error.description.contains("/nowhere/at/all"))
        #expect(!error.description.contains("hunter2"))
    }

    @Test func malformedConnectionStringIsAnError() async throws {
        let name = PostgresApplicationName(role: "test", host: "localhost", pid: 1)
        for string in ["nonsense = = =", "postgresql://[::1", "unknown_keyword=1 password=hunter2"] {
            let configuration = PostgresConfiguration(string, applicationName: name)
            let error = try await postgresError { _ = try await PostgresConnection.connect(configuration) }
            #expect(error.code == .connection)
            #expect(!error.description.contains("hunter2"))
        }
    }

    @Test func unknownDatabaseIsAnError() async throws {
        let cluster = try await TestCluster.shared()
        let error = try await postgresError { _ = try await cluster.connect(database: "nothing_here") }
        #expect(error.description.contains("nothing_here"))
    }

    @Test func connectingCanBeCancelled() async throws {
        let database = try await TestDatabase.create(.empty)
        let configuration = database.configuration()
        let task = Task { _ = try await PostgresConnection.connect(configuration) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func closingFailsWhatWaits() async throws {
        let database = try await TestDatabase.create(.empty)
        let connection = try await database.connect()
        let other = try await database.connect()
        try await other.execute(PostgresStatement("SELECT pg_advisory_lock(1)"))
        let task = Task { try await connection.execute(PostgresStatement("SELECT pg_advisory_lock(1)")) }
        try await waitUntilBlocked(connection.backendPID, seenBy: other)
        await connection.close()
        let running = try await postgresError { _ = try await task.value }
        #expect(running.code == .closed)
        let later = try await postgresError { try await connection.execute(PostgresStatement("SELECT 1")) }
        #expect(later.code == .closed)
        await connection.close()
    }

    @Test func lettingGoClosesTheConnection() async throws {
        let database = try await TestDatabase.create(.empty)
        let other = try await database.connect()
        let pid = try await database.connect().backendPID
        try await waitUntil(other, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)", [.int32(pid)])
    }

    @Test func terminatedBackendFailsEveryWaiter() async throws {
        let database = try await TestDatabase.create(.empty)
        let connection = try await database.connect()
        let other = try await database.connect()
        try await other.execute(PostgresStatement("SELECT pg_advisory_lock(1)"))
        let first = Task { try await connection.execute(PostgresStatement("SELECT pg_advisory_lock(1)")) }
        try await waitUntilBlocked(connection.backendPID, seenBy: other)
        let rest = (0..<100).map { _ in
            Task { try await connection.execute(PostgresStatement("SELECT pg_advisory_lock(1)")) }
        }
        let listener = Task { try await connection.nextNotification(deadline: .now + .seconds(600)) }
        try await other.execute(PostgresStatement("SELECT pg_terminate_backend($1)", [.int32(connection.backendPID)]))
        let error = try await postgresError { _ = try await first.value }
        #expect(error.isConnectionLost)
        #expect(error.sqlState == "57P01", "\(error)")
        for task in rest {
            let error = try await postgresError { _ = try await task.value }
            #expect(error.code == .connection)
        }
        let notification = try await postgresError { _ = try await listener.value }
        #expect(notification.code == .connection)
        #expect(!connection.isOpen)
    }

    @Test func terminationOfAnIdleBackendIsNoticed() async throws {
        let database = try await TestDatabase.create(.empty)
        let connection = try await database.connect()
        let other = try await database.connect()
        let waiter = Task { try await connection.nextNotification(deadline: .now + .seconds(600)) }
        try await other.execute(PostgresStatement("SELECT pg_terminate_backend($1)", [.int32(connection.backendPID)]))
        let error = try await postgresError { _ = try await waiter.value }
        #expect(error.isConnectionLost)
        #expect(error.sqlState == "57P01")
        #expect(!connection.isOpen)
    }
}
