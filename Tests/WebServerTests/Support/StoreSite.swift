import Foundation
import PostgresClient
import Store
import TestSupport

/// A migrated database and its store, without a web process.
struct StoreSite {
    let database: TestDatabase
    let store: Store

    static func make() async throws -> StoreSite {
        let database = try await TestDatabase.create(.migrated)
        // Applications 1 and 2.
        let admin = Store(configuration: database.configuration())
        try await WebSite.fill(admin)
        await admin.close()
        return StoreSite(database: database, store: Store(configuration: database.configuration(), role: Store.webRole))
    }

    func value(_ sql: String) async throws -> String? {
        let connection = try await database.connect()
        defer { Task { await connection.close() } }
        let result = try await connection.execute(PostgresStatement("SELECT (\(sql))::text", prepare: false))
        return try result.textOrNil(0, 0)
    }

    func run(_ sql: String) async throws {
        let connection = try await database.connect()
        try await connection.run(script: sql)
        await connection.close()
    }
}

/// A small seeded generator (SplitMix64), so that a failing random test can be repeated.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// The seed of a random test: `PUSHMTA_TEST_SEED`, or a random one; it is printed.
enum TestSeed {
    static func next(_ test: String) -> UInt64 {
        let given = ProcessInfo.processInfo.environment["PUSHMTA_TEST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: .min ... .max)
        print("\(test): PUSHMTA_TEST_SEED=\(seed)")
        return seed
    }
}
