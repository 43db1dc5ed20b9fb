import Logging
import PostgresClient
import PushCore
import Store
import TestSupport

@testable import FeedbackWorker

/// A migrated database with an application, for workers.
struct FeedbackSite {
    let database: TestDatabase
    let store: Store

    static func make(in cluster: TestCluster? = nil) async throws -> FeedbackSite {
        let database =
            if let cluster { try await TestDatabase.create(.migrated, in: cluster) } else {
                try await TestDatabase.create(.migrated)
            }
        let store = try await Store.connect(database.configuration())
        try await store.createService(name: "shop", label: "Shop")
        try await store.createAccount(name: "apns", connector: .iosHTTP2, host: "localhost", port: 443)
        try await store.createApplication(
            NewApplication(
                service: "shop",
                name: "shop-ios",
                platform: .ios,
                integrationKey: "ios-key",
                bundleID: "com.shop",
                account: "apns"
            )
        )
        return FeedbackSite(database: database, store: store)
    }

    func worker(_ change: (inout FeedbackSetup) -> Void = { _ in }) -> FeedbackWorker {
        let logger = Logger(label: "feedback", factory: { _ in SwiftLogNoOpLogHandler() })
        let database = database
        var setup = FeedbackSetup(
            settings: Settings(),
            connect: { role in try await Store.connect(database.configuration(role: role)) },
            hostName: "one",
            version: "1",
            logger: logger
        )
        change(&setup)
        return FeedbackWorker(setup)
    }

    /// Puts dead tokens into the list, one for each of so many new subscriptions.
    func addDeadTokens(_ count: Int64) async throws {
        try await store.seedSubscriptions(application: "shop-ios", count: count)
        try await run(
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, reason)
            SELECT 1, s.id, 'invalid', 'Unregistered' FROM pushmta_engine.subscription s WHERE s.enabled
            """
        )
    }

    func number(_ sql: String) async throws -> Int64 {
        let connection = try await database.connect()
        do {
            let value = try await connection.execute(PostgresStatement("SELECT (\(sql))::bigint", prepare: false))
                .int64(0, 0)
            await connection.close()
            return value
        } catch {
            await connection.close()
            throw error
        }
    }

    func run(_ sql: String) async throws {
        let connection = try await database.connect()
        try await connection.run(script: sql)
        await connection.close()
    }

    /// Waits until a number is there, a minute at most; the database may be away meanwhile.
    func wait(for wanted: Int64, _ sql: String) async throws -> Bool {
        try await eventually("\(wanted) from '\(sql)'") { (try? await number(sql)) == wanted }
        return true
    }
}
