import PostgresClient
import TestSupport
import Testing

/// Everything at once on one connection: each operation inserts a row of its own, and what it reports must be true.
@Suite struct MixedUseTests {
    enum Report: Sendable {
        case stored, refused, cancelled
    }

    struct Mistake: Error {}

    @Test func reportsAreTrue() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = TestRandom(seed: seed)
        let connection = try await TestDatabase.create(.empty).connect()
        try await connection.run(script: "CREATE TABLE t (id int PRIMARY KEY)")
        let plan = (0..<600).map { ($0, kind: Int.random(in: 0..<8, using: &random)) }
        let reports = await withTaskGroup(of: (Int, Report).self, returning: [Int: Report].self) { tasks in
            for (id, kind) in plan {
                tasks.addTask { (id, await Self.report { try await Self.insert(Int32(id), kind, connection) }) }
            }
            return await tasks.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        var stored: [Int32] = []
        let rows = try await connection.execute(PostgresStatement("SELECT id FROM t"))
        try rows.appendColumn(0, to: &stored)
        let found = Set(stored)
        for (id, kind) in plan {
            let isThere = found.contains(Int32(id))
            switch reports[id] {
            case .stored: #expect(isThere, "\(id) of kind \(kind) is missing, seed \(seed)")
            case .refused: #expect(!isThere, "\(id) of kind \(kind) was stored, seed \(seed)")
            // A cancel request may come just too late.
            case .cancelled: #expect(kind == 6, "kind \(kind) was cancelled, seed \(seed)")
            case nil: Issue.record("no report of \(id), seed \(seed)")
            }
        }
        #expect(reports.values.contains { $0 == .stored } && reports.values.contains { $0 == .refused })
    }

    private static func report(_ body: () async throws -> Void) async -> Report {
        do {
            try await body()
            return .stored
        } catch is CancellationError {
            return .cancelled
        } catch {
            return .refused
        }
    }

    private static func insert(_ id: Int32, _ kind: Int, _ connection: PostgresConnection) async throws {
        let insert = PostgresStatement("INSERT INTO t VALUES ($1)", [.int32(id)])
        switch kind {
        case 0: try await connection.execute([insert, insert])
        case 1: try await connection.transaction { _ = try await $0.execute(insert) }
        case 2:
            try await connection.transaction { transaction in
                try await transaction.execute(insert)
                throw Mistake()
            }
        case 3: try await connection.copyIn("COPY t FROM STDIN", rows: Array("\(id)\n".utf8))
        case 4: try await connection.copyIn("COPY t FROM STDIN", rows: Array("\(id)\nx\n".utf8))
        case 5: try await connection.run(script: "INSERT INTO t VALUES (\(id)); SELECT 1")
        case 6:
            let task = Task {
                try await connection.execute([insert, PostgresStatement("SELECT pg_sleep(0.001)")])
            }
            await Task.yield()
            task.cancel()
            _ = try await task.value
        default: try await connection.execute(insert)
        }
    }
}
