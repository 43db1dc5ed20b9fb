import PostgresClient
import Store
import SystemPackage
import Testing

@testable import Supervisor

@Suite struct TokenEventDutyTests {
    @Test func aSupervisorAppliesThemOnlyWhileNoFeedbackWorkerActs() async throws {
        let site = try await SupervisorSite.make(subscriptions: 1)
        let folder = try HostFolder.open(site.folder.path.appending("host"), owner: "test")
        defer { folder.release() }
        let loop = SupervisorLoop(site.supervisor(), folder: folder, executable: "/bin/true", tell: { _ in })
        try await site.connection.run(
            script:
                "INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind) VALUES (1, 1, 'invalid')"
        )
        let enabled = "SELECT count(*) FROM pushmta_engine.subscription WHERE enabled"
        let heartbeat = FeedbackHeartbeat(
            worker: "11111111-8b86-4011-b42d-00cf4fc964ff",
            host: "one",
            pid: 1,
            version: "1"
        )
        #expect(try await site.store.feedbackHeartbeat(heartbeat))
        #expect(try await loop.applyTokenEvents(site.store) == SupervisorLoop.tokenInterval)
        #expect(try await site.value(enabled) == "1")
        try await site.connection.run(
            script: "UPDATE pushmta_engine.feedback_worker SET last_heartbeat = last_heartbeat - interval '31 seconds'"
        )
        _ = try await loop.applyTokenEvents(site.store)
        #expect(try await site.value(enabled) == "0")
    }
}
