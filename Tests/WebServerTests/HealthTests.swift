import Foundation
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
        #expect(try await site.get("/health/ready").body.contains("the database is away"))
        // Hits are taken all the same, and ending the process would not bring the database back.
        #expect(try await site.get("/health/ready?for=tracking").status == 200)
        #expect(try await site.get("/health/live").status == 200)
        try await cluster.launch()
        try await site.waitUntilReady()
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
