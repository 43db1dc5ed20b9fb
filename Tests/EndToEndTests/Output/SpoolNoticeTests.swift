import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// Waiting spools cause an alarm in `pushmta status` and a warning in `pushmta doctor`.
@Suite struct SpoolNoticeTests {
    @Test func spoolsThatWaitAreTold() async throws {
        let database = try await TestDatabase.create(.migrated)
        let store = try await Store.connect(database.configuration())
        var heartbeat = FeedbackHeartbeat(
            worker: "6f9619ff-8b86-4011-b42d-00cf4fc964ff",
            host: "tracking-1",
            pid: 1,
            version: "1"
        )
        _ = try await store.feedbackHeartbeat(heartbeat)
        try await store.noteFeedbackSpools(heartbeat)
        #expect(try await store.alarms().isEmpty)
        heartbeat.waitingSpools = 2
        try await store.noteFeedbackSpools(heartbeat)
        let snapshot = try await StatusSnapshot(store: store, includeEnded: false)
        let alarms = try #require(snapshot.tables.first { $0.name == "alarms" }).table
        #expect(alarms.text.contains("tracking-1"))
        let results = await FeedbackCheck.results(store)
        #expect(results.contains { $0.result == .warning && $0.subject.contains("tracking-1") })
        // The report of a worker that has ended no longer counts.
        try await store.feedbackStop(worker: heartbeat.worker)
        #expect(try await store.alarms().isEmpty)
        await store.close()
    }
}
