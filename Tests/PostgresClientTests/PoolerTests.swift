import TestSupport
import Testing

@testable import PostgresClient

/// Connections through a real pgbouncer: in session mode each has a session of its own, in the other modes nothing works.
@Suite struct PoolerTests {
    private func with(
        _ mode: TestPooler.Mode,
        sessions: Int = 20,
        goesRound: Bool = false,
        _ body: (_ cluster: TestCluster, PostgresConfiguration) async throws -> Void
    ) async throws {
        let cluster = try await TestCluster.shared()
        let pooler = try await cluster.pooler(mode, sessions: sessions, goesRound: goesRound)
        defer { pooler.stop() }
        let database = try await TestDatabase.create(.empty)
        let name = PostgresApplicationName(role: "pooled", host: "localhost", pid: 1)
        let string = pooler.connectionString(database: database.name)
        try await body(cluster, PostgresConfiguration(string, applicationName: name))
        try await database.drop()
    }

    private func expectRefusal(_ configuration: PostgresConfiguration) async throws {
        let error = try await #require(throws: PostgresError.self) {
            _ = try await PostgresConnection.connect(configuration)
        }
        #expect(error.code == .pooler, "\(error)")
        #expect(error.description.contains("pool_mode = session"), "\(error)")
    }

    /// A pool of one session gives each client the same, always: nothing that a client alone can see tells it from one of its own.
    @Test(arguments: [TestPooler.Mode.transaction, .statement], [1, 2, 20])
    func refusesPoolsThatShareSessions(_ mode: TestPooler.Mode, _ sessions: Int) async throws {
        for goesRound in [false, true] {
            try await with(mode, sessions: sessions, goesRound: goesRound) { cluster, configuration in
                for _ in 0..<3 { try await expectRefusal(configuration) }
                // Nothing of ours is left in sessions that others use.
                let other = try await PostgresConnection.open(configuration)
                let timeout = try await other.execute(
                    PostgresStatement("SHOW idle_in_transaction_session_timeout", prepare: false)
                )
                #expect(try timeout.text(0, 0) == "0")
                await other.close()
            }
        }
    }

    /// Others use the pool all the time, so that sessions are free and taken at random.
    @Test(arguments: [TestPooler.Mode.transaction, .statement])
    func refusesThemWhileOthersUseThem(_ mode: TestPooler.Mode) async throws {
        try await with(mode, sessions: 3) { _, configuration in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        let busy = try await PostgresConnection.open(configuration)
                        while !Task.isCancelled {
                            _ = try? await busy.execute(
                                PostgresStatement("SELECT pg_sleep(random() * 0.01)", prepare: false)
                            )
                        }
                        await busy.close()
                    }
                }
                for _ in 0..<20 { try await expectRefusal(configuration) }
                group.cancelAll()
                while await group.nextResult() != nil {}
            }
        }
    }

    @Test func worksInSessionMode() async throws {
        try await with(.session) { _, configuration in
            let connections = try await withThrowingTaskGroup(of: PostgresConnection.self) { group in
                for _ in 0..<5 { group.addTask { try await PostgresConnection.connect(configuration) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            var pids: Set<Int32> = []
            for (number, connection) in connections.enumerated() {
                try await connection.run(script: "SET pushmta.test = '\(number)'")
            }
            for (number, connection) in connections.enumerated() {
                let row = try await connection.execute(
                    PostgresStatement("SELECT pg_backend_pid(), current_setting('pushmta.test')")
                )
                pids.insert(try row.int32(0, 0))
                #expect(try row.text(0, 1) == "\(number)")
            }
            #expect(pids.count == 5)
            for connection in connections { await connection.close() }
        }
    }

    /// The last session of the pool is ours, and there is none for the second connection.
    @Test func worksWithTheLastSessionOfThePool() async throws {
        try await with(.session, sessions: 1) { _, configuration in
            let connection = try await PostgresConnection.connect(configuration)
            try await connection.run(script: "SET pushmta.test = '1'")
            let row = try await connection.execute(PostgresStatement("SELECT current_setting('pushmta.test')"))
            #expect(try row.text(0, 0) == "1")
            await connection.close()
        }
    }

    /// The connection goes on asking, as somebody may put the pooler right.
    @Test func itSaysWhatIsWrong() async throws {
        try await with(.transaction) { _, configuration in
            let (failures, continuation) = AsyncStream.makeStream(of: PostgresError.Code.self)
            let reconnecting = ReconnectingConnection(
                configuration,
                onEvent: { event in
                    if case .attemptFailed(let error, _, _) = event { continuation.yield(error.code) }
                }
            )
            let waiting = Task { try await reconnecting.connection() }
            for await code in failures.prefix(2) { #expect(code == .pooler) }
            await reconnecting.close()
            await #expect(throws: (any Error).self) { try await waiting.value }
        }
    }
}
