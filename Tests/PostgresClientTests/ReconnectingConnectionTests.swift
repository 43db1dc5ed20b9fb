import PostgresClient
import PushCore
import TestSupport
import Testing

@Suite struct ReconnectingConnectionTests {
    @Test func reconnectsAfterALoss() async throws {
        let database = try await TestDatabase.create(.empty)
        let other = try await database.connect()
        let reconnecting = ReconnectingConnection(database.configuration()) { connection in
            try await connection.execute(PostgresStatement("SET search_path = prepared", prepare: false))
        }
        let first = try await reconnecting.withConnection { $0.backendPID }
        #expect(try await reconnecting.withConnection { $0.backendPID } == first)
        try await other.execute(PostgresStatement("SELECT pg_terminate_backend($1)", [.int32(first)]))
        // Until the loss is noticed the old connection may be handed out once more, and fails.
        var second = first
        while second == first {
            second =
                (try? await reconnecting.withConnection { connection in
                    try await connection.execute(PostgresStatement("SELECT pg_backend_pid()")).int32(0, 0)
                }) ?? first
        }
        let path = try await reconnecting.withConnection { connection in
            try await connection.execute(PostgresStatement("SHOW search_path", prepare: false)).text(0, 0)
        }
        #expect(path == "prepared")
        await reconnecting.close()
        await #expect(throws: PostgresError.self) { try await reconnecting.connection() }
    }

    @Test func survivesAServerRestart() async throws {
        let cluster = try await TestCluster.start()
        let name = PostgresApplicationName(role: "test", host: "localhost", pid: 1)
        let (events, continuation) = AsyncStream.makeStream(of: ReconnectingConnectionEvent.self)
        let configuration = PostgresConfiguration(cluster.connectionString(), applicationName: name)
        let reconnecting = ReconnectingConnection(configuration, onEvent: { continuation.yield($0) })
        let connection = try await reconnecting.connection()
        try await cluster.stop(immediately: true)
        let error = try await postgresError { _ = try await connection.nextNotification(deadline: .now + .seconds(60)) }
        #expect(error.isConnectionLost)
        let waiter = Task { try await reconnecting.withConnection { $0.isOpen } }
        for await event in events {
            if case .attemptFailed(let error, attempt: 1, _) = event {
                #expect(error.isRetryable)
                break
            }
        }
        try await cluster.launch()
        #expect(try await waiter.value)
        await reconnecting.close()
        try await cluster.stop()
    }

    @Test func waitingCanBeCancelled() async throws {
        let name = PostgresApplicationName(role: "test", host: "localhost", pid: 1)
        let reconnecting = ReconnectingConnection(PostgresConfiguration("host=/nowhere/at/all", applicationName: name))
        let task = Task { _ = try await reconnecting.connection() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await reconnecting.close()
    }

    @Test func delaysGrowToTheCap() {
        var backOff = ReconnectingConnection.usualBackOff
        var generator = LargestNumbers()
        let delays = (0..<10).map { _ in backOff.next(using: &generator) }
        let bounds = [100, 200, 400, 800, 1_600, 3_200, 4_000, 4_000, 4_000, 4_000]
        for (delay, bound) in zip(delays, bounds) {
            #expect(delay <= .milliseconds(bound) && delay > .milliseconds(bound - 1))
        }
        #expect(backOff.failures == 10)
        backOff.reset()
        #expect(backOff.next(using: &generator) <= .milliseconds(100))
    }

    /// A generator whose every number is the largest, so that jitter takes nothing away.
    struct LargestNumbers: RandomNumberGenerator {
        mutating func next() -> UInt64 { .max }
    }
}
