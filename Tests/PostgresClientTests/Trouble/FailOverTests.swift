import Foundation
import PostgresClient
import TestSupport
import Testing

/// A connection string with several servers leads to the one that can write, whatever happens to the others.
@Suite struct FailOverTests {
    @Test func aServerThatBecomesReadOnlyIsLeft() async throws {
        try await TwoClusters.run { clusters in
            let reconnecting = ReconnectingConnection(clusters.configuration())
            let first = try await reconnecting.connection()
            #expect(try await first.execute(TwoClusters.place).text(0, 0) == "first")
            try await TwoClusters.setReadOnly(clusters.first, true)
            // The session hears of the change between two statements.
            let deadline = ContinuousClock.now + .seconds(60)
            var error: PostgresError?
            while error == nil {
                try #require(ContinuousClock.now < deadline)
                do { try await first.execute(TwoClusters.write) } catch let found as PostgresError { error = found }
            }
            #expect(error?.sqlState == "25006")
            #expect(error?.isRetryable == true && error?.isReadOnlyServer == true)
            #expect(error?.isConnectionLost == false)
            #expect(reconnecting.currentConnection == nil)
            let second = try await reconnecting.connection()
            #expect(try await second.execute(TwoClusters.place).text(0, 0) == "second")
            try await second.execute(TwoClusters.write)
            await reconnecting.close()
        }
    }

    /// What was given up is told as that, and the next one as read-only until it writes.
    @Test func aServerThatBecomesReadOnlyAndWritableAgainIsToldAsSuch() async throws {
        let database = try await TestDatabase.create(.empty)
        let owner = try await database.connect()
        try await owner.run(script: "CREATE TABLE work (id bigint)")
        func setReadOnly(_ value: String) async throws {
            try await owner.run(script: "SET default_transaction_read_only = off")
            let change = "ALTER DATABASE \(database.name) SET default_transaction_read_only = \(value)"
            try await owner.run(script: change)
        }
        let write = PostgresStatement("INSERT INTO public.work VALUES (1)")
        let (events, continuation) = AsyncStream.makeStream(of: ReconnectingConnectionEvent.self)
        let name = PostgresApplicationName(role: "test", host: "localhost", pid: 1)
        let reconnecting = ReconnectingConnection(
            PostgresConfiguration(database.connectionString, applicationName: name),
            onEvent: { continuation.yield($0) }
        )
        try await setReadOnly("on")
        for _ in 0..<2 {
            let connection = try await reconnecting.connection()
            let error = try await postgresError { _ = try await connection.execute(write) }
            #expect(error.isReadOnlyServer)
        }
        try await setReadOnly("off")
        try await reconnecting.connection().execute(write)
        await reconnecting.close()
        continuation.finish()
        var told: [String] = []
        for await event in events { told.append("\(event)".prefix { $0 != "(" }.description) }
        #expect(told == ["connected", "dropped", "readOnly", "dropped", "connected", "closed"])
        await owner.close()
    }

    @Test(arguments: [true, false])
    func readOnlyIsNoticedInACopyAndInAScript(_ isCopy: Bool) async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        try await connection.run(script: "CREATE TABLE work (id bigint); SET default_transaction_read_only = on")
        let error = try await postgresError {
            if isCopy {
                try await connection.copyIn("COPY work FROM STDIN", rows: Array("1\n".utf8))
            } else {
                try await connection.run(script: "SELECT 1; INSERT INTO work VALUES (1)")
            }
        }
        #expect(error.sqlState == "25006")
        #expect(connection.isReadOnlyServer && connection.isOpen)
    }

    @Test func whileNoneCanWriteTheConnectionWaits() async throws {
        try await TwoClusters.run { clusters in
            try await TwoClusters.setReadOnly(clusters.first, true)
            try await TwoClusters.setReadOnly(clusters.second, true)
            let (events, continuation) = AsyncStream.makeStream(of: ReconnectingConnectionEvent.self)
            let reconnecting = ReconnectingConnection(clusters.configuration(), onEvent: { continuation.yield($0) })
            let waiter = Task { try await reconnecting.connection() }
            for await event in events {
                guard case .attemptFailed(let error, let attempt, _) = event else { continue }
                #expect(error.isRetryable)
                #expect(error.message.contains("read-only"))
                if attempt == 2 { break }
            }
            try await TwoClusters.setReadOnly(clusters.second, false)
            let connection = try await waiter.value
            #expect(try await connection.execute(TwoClusters.place).text(0, 0) == "second")
            await reconnecting.close()
        }
    }

    @Test func aServerThatStoppedIsPassedOver() async throws {
        try await TwoClusters.run { clusters in
            let reconnecting = ReconnectingConnection(clusters.configuration())
            let first = try await reconnecting.connection()
            try await clusters.first.stop(immediately: true)
            _ = try await postgresError { _ = try await first.nextNotification(deadline: .now + .seconds(60)) }
            let second = try await reconnecting.connection()
            #expect(try await second.execute(TwoClusters.place).text(0, 0) == "second")
            await reconnecting.close()
        }
    }

    /// A server that takes connections and says nothing, as one with a frozen disk.
    @Test func aServerThatDoesNotAnswerIsPassedOver() async throws {
        try await TwoClusters.run { clusters in
            let process = try await TwoClusters.postmaster(clusters.first)
            kill(process, SIGSTOP)
            defer { kill(process, SIGCONT) }
            let configuration = clusters.configuration("connect_timeout=2")
            let connection = try await PostgresConnection.forPeople(configuration)
            #expect(try await connection.execute(TwoClusters.place).text(0, 0) == "second")
            await connection.close()
        }
    }

    @Test func allRefusalsAreTold() async throws {
        let name = PostgresApplicationName(role: "test", host: "localhost", pid: 1)
        let string = "host=/nowhere/one,/nowhere/two port=5432 password=hunter2"
        let error = try await postgresError {
            _ = try await PostgresConnection.forPeople(PostgresConfiguration(string, applicationName: name))
        }
        #expect(error.message.contains("/nowhere/one") && error.message.contains("/nowhere/two"))
        #expect(!error.description.contains("hunter2"))
        #expect(error.isRetryable)
    }
}
