import PushCore
import Store
import TestSupport
import Testing

@testable import WebServer

/// A web process that starts while the database is unreachable.
@Suite struct StartOutageTests {
    private static func registration(_ device: Int = 10) -> String {
        "registrationToken=70757368546f6b65\(device)&mobileAppUuid=integrationKey"
    }

    /// Devices do not register again on their own, and a failover is soon over.
    @Test func registrationsWaitForTheFirstConnection() async throws {
        let (cluster, database) = try await away()
        let site = try await WebSite.start(database: database, waits: false) { $0.registration.timeoutSec = 60 }
        async let answers = withThrowingTaskGroup(of: Int.self) { group in
            for device in 10..<30 {
                group.addTask { try await site.registerIOS(Self.registration(device)).status }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try await cluster.launch()
        #expect(try await answers == Array(repeating: 200, count: 20))
        #expect(try await site.value("SELECT count(*) FROM pushmta_engine.subscription") == "20")
        try await site.drain()
    }

    @Test func theyWaitNoLongerThanTheSettingSays() async throws {
        let (_, database) = try await away()
        let site = try await WebSite.start(database: database, waits: false) { $0.registration.timeoutSec = 1 }
        let answer = try await site.registerIOS(Self.registration())
        #expect(answer.status == 503)
        #expect(answer.headers["retry-after"] != nil)
        try await site.drain()
    }

    /// A stopped cluster with a database.
    private func away() async throws -> (TestCluster, TestDatabase) {
        let cluster = try await TestCluster.start()
        let database = try await TestDatabase.create(.migrated, in: cluster)
        let store = Store(configuration: database.configuration())
        try await WebSite.fill(store)
        await store.close()
        try await cluster.stop(immediately: true)
        return (cluster, database)
    }
}
