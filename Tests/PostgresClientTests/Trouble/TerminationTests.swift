import PostgresClient
import Synchronization
import TestSupport
import Testing

/// Backends that are terminated in the middle of a pipeline: every caller hears of it, and what was said to be done is done.
@Suite struct TerminationTests {
    private static func insert(_ id: Int64) -> PostgresStatement {
        PostgresStatement("INSERT INTO public.t VALUES ($1)", [.int64(id)])
    }

    @Test func everyCallerOfAPipelineHearsOfIt() async throws {
        let database = try await TestDatabase.create(.empty)
        let (connection, other) = (try await database.connect(), try await database.connect())
        try await other.run(script: "CREATE TABLE public.t (id bigint PRIMARY KEY)")
        let outcomes = await withTaskGroup(of: (Int64, PostgresError?).self) { group in
            for id in 0..<2_000 as Range<Int64> {
                group.addTask {
                    do {
                        // The hundredth waits for a lock that nobody gives up, so that the pipeline stands.
                        if id == 100 { try await connection.execute(PostgresStatement("SELECT pg_sleep(600)")) }
                        try await connection.execute(Self.insert(id))
                        return (id, nil)
                    } catch {
                        return (id, error as? PostgresError ?? PostgresError(code: .type, message: "\(error)"))
                    }
                }
            }
            group.addTask {
                let sleeps = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND query LIKE '%pg_sleep%')"
                try? await waitUntil(other, sleeps, [.int32(connection.backendPID)])
                _ = try? await other.execute(
                    PostgresStatement("SELECT pg_terminate_backend($1)", [.int32(connection.backendPID)])
                )
                return (-1, nil)
            }
            return await group.reduce(into: [Int64: PostgresError?]()) { $0[$1.0] = $1.1 }
        }
        #expect(outcomes.count == 2_001)
        let failures = outcomes.values.compactMap { $0 }
        #expect(!failures.isEmpty)
        #expect(failures.contains { $0.sqlState == "57P01" })
        for failure in failures { #expect(failure.isConnectionLost && failure.isRetryable) }
        #expect(!connection.isOpen)
        let rows = try await other.execute(PostgresStatement("SELECT id FROM public.t"))
        let stored = Set(try (0..<rows.rowCount).map { try rows.int64($0, 0) })
        for (id, error) in outcomes where id >= 0 && error == nil { #expect(stored.contains(id)) }
    }

    /// Repeating what failed, on the connection of that moment, brings all work to its end.
    @Test func workGoesOnWhileBackendsAreTerminated() async throws {
        let database = try await TestDatabase.create(.empty)
        let other = try await database.connect(role: "administrator")
        try await other.run(script: "CREATE TABLE public.t (id bigint PRIMARY KEY)")
        let losses = Mutex(0)
        let reconnecting = ReconnectingConnection(
            database.configuration(role: "worker"),
            onEvent: { event in
                if case .lost = event { losses.withLock { $0 += 1 } }
            }
        )
        let terminator = Task {
            let all = PostgresStatement(
                """
                SELECT count(pg_terminate_backend(pid))::int FROM pg_stat_activity \
                WHERE application_name LIKE 'pushmta/worker/%' AND datname = current_database()
                """
            )
            for rows in stride(from: Int64(100), through: 2_300, by: 200) {
                try await waitUntil(other, "SELECT count(*) >= $1 FROM public.t", [.int64(rows)])
                try await other.execute(all)
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<8 as Range<Int64> {
                group.addTask {
                    for number in 0..<300 as Range<Int64> {
                        try await Self.repeatUntilDone(reconnecting, worker * 300 + number)
                    }
                }
            }
            try await group.waitForAll()
        }
        try await terminator.value
        #expect(losses.withLock { $0 } > 0)
        #expect(try await other.execute(PostgresStatement("SELECT count(*) FROM public.t")).int64(0, 0) == 2_400)
        await reconnecting.close()
    }

    private static func repeatUntilDone(_ reconnecting: ReconnectingConnection, _ id: Int64) async throws {
        let statement = PostgresStatement("INSERT INTO public.t VALUES ($1) ON CONFLICT DO NOTHING", [.int64(id)])
        while true {
            do {
                try await reconnecting.withConnection { _ = try await $0.execute(statement) }
                return
            } catch let error as PostgresError where error.isRetryable {
                continue
            }
        }
    }
}
