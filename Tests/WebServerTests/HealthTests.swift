import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import WebServer

@Suite struct HealthTests {
    @Test func healthTellsReasons() async throws {
        let cluster = try await TestCluster.start()
        let site = try await WebSite.start(database: try await TestDatabase.create(.migrated, in: cluster))
        #expect(try await site.get("/health/live").status == 200)
        let ready = try await site.get("/health/ready")
        #expect(ready.status == 200)
        let object = try JSONSerialization.jsonObject(with: Data(ready.body.utf8)) as? [String: Any]
        #expect(object?["ready"] as? Bool == true)
        #expect(object?["database"] as? String == "connected")
        try await cluster.stop(immediately: true)
        try await eventually("the loss is noticed") { try await site.get("/health/ready").status == 503 }
        #expect(try await site.get("/health/ready").body.contains("the database is unreachable"))
        // Hits are still accepted, and restarting the process would not restore the database.
        #expect(try await site.get("/health/ready?for=tracking").status == 200)
        #expect(try await site.get("/health/live").status == 200)
        try await cluster.launch()
        try await site.waitUntilReady()
        try await site.drain()
    }

    /// A standby before its promotion answers queries, but accepts no writes.
    @Test func aDatabaseThatTakesNoWritesIsAReason() async throws {
        let cluster = try await TestCluster.start()
        let site = try await WebSite.start(database: try await TestDatabase.create(.migrated, in: cluster))
        func turn(_ value: String) async throws {
            let owner = try await site.database.connect()
            try await owner.run(script: "SET default_transaction_read_only = off")
            try await owner.run(
                script: "ALTER DATABASE \(site.database.name) SET default_transaction_read_only = \(value)"
            )
            try await owner.run(
                script: """
                    SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a
                    WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
                    """
            )
            await owner.close()
        }
        try await turn("on")
        try await eventually("it is noticed") {
            try await site.get("/health/ready").body.contains("the database accepts no writes")
        }
        #expect(try await site.get("/health/ready").status == 503)
        #expect(try await site.get("/health/ready?for=tracking").status == 200)
        #expect(site.server.metricsPage().contains("pushmta_database_up 0"))
        try await turn("off")
        try await site.waitUntilReady()
        #expect(site.server.metricsPage().contains("pushmta_database_up 1"))
        try await site.drain()
    }

    @Test func anOlderSchemaIsAReason() async throws {
        let site = try await WebSite.start()
        try await site.run("DELETE FROM pushmta_engine.schema_version")
        let second = try await WebSite.start(database: site.database, waits: false)
        try await eventually("the schema is checked") {
            try await second.get("/health/ready").body.contains("Run: pushmta migrate")
        }
        try await second.drain()
        try await site.drain()
    }
}
