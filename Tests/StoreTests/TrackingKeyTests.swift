import Foundation
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

/// The tracking keys that a web process knows.
@Suite struct TrackingKeyTests {
    private let today = "SELECT ((now() AT TIME ZONE 'UTC')::date - date '2000-01-01')::bigint"

    private var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }

    /// Keys are created with the partitions, days ahead; a web process reads those of yesterday, today and tomorrow.
    @Test func keysAreMadeAhead() async throws {
        let fixture = try await StoreFixture.make()
        let web = Store(configuration: fixture.database.configuration(), role: Store.webRole)
        let before = try await fixture.sql(today) ?? 0
        let ring = try await web.trackingKeyring()
        let after = try await fixture.sql(today) ?? 0
        let days = [1, 0, -1].map { Int32(clamping: before + $0) }
        #expect(ring.days == days || before != after, "it was midnight")
        #expect(ring.isComplete(at: now))
        #expect(!ring.isComplete(at: now + 3 * 86_400_000_000))
        await web.close()
        // If no supervisor has created them, no day is final.
        try await fixture.sql(
            "DELETE FROM pushmta_engine.tracking_key WHERE log_day >= (now() AT TIME ZONE 'UTC')::date"
        )
        #expect(try await !fixture.store.trackingKeyring().isComplete(at: now))
    }

    /// An open transaction with a start far ahead, with the first message of a day or with its numbers locks nothing
    /// that another needs.
    @Test func openTransactionsHoldNoStart() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        try await fixture.sql("UPDATE pushmta_engine.application SET message_id_format = 'int32'")
        func delivery() async throws -> Int64 {
            try await fixture.store.createDelivery(
                NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios":{"title":"Hello"}}"#)
            )
        }
        let (far, near, now, standing) = try await (delivery(), delivery(), delivery(), delivery())
        try await fixture.sql("SELECT pushmta.make_continuous(\(standing))")
        let holder = try await fixture.hold(
            """
            SELECT pushmta.start_delivery(\(far), now() + interval '12 days'), pushmta.start_delivery(\(standing), NULL);
            SELECT message_id FROM pushmta.send_message(\(standing), user_key => 'shop-ios-1')
            """
        )
        let other = try await fixture.database.connect()
        try await other.run(
            script: """
                SET lock_timeout = '1s';
                SELECT pushmta.start_delivery(\(near), now() + interval '12 days');
                SELECT pushmta.start_delivery(\(now), NULL);
                """
        )
        await other.close()
        let jobs = try await fixture.store.claimDeliveriesToPrepare(host: UUID().uuidString.lowercased())
        #expect(jobs.map(\.deliveryID) == [now])
        try await holder.run(script: "COMMIT")
        await holder.close()
        #expect(
            try await fixture.sql(
                """
                SELECT count(*) FROM pushmta_engine.message_id_range a
                JOIN pushmta_engine.message_id_range b ON b.first_id > a.first_id AND b.first_id <= a.last_id
                """
            ) == 0
        )
    }

    /// A worker's numbers about spools are added up, and are in its row.
    @Test func spoolsAreNoted() async throws {
        let fixture = try await StoreFixture.make()
        var heartbeat = FeedbackHeartbeat(worker: StoreFixture.worker, host: "one", pid: 7, version: "1")
        _ = try await fixture.store.feedbackHeartbeat(heartbeat)
        heartbeat.hitsLoaded = 5
        heartbeat.waitingSpools = 2
        heartbeat.waitingSpoolBytes = 1 << 40
        try await fixture.store.noteFeedbackSpools(heartbeat)
        heartbeat.hitsLoaded = 7
        heartbeat.waitingSpools = 1
        try await fixture.store.noteFeedbackSpools(heartbeat)
        let row = try await fixture.store.feedbackWorkers().first
        #expect(row?.hitsLoaded == 12)
        #expect(row?.waitingSpools == 1)
        #expect(row?.waitingSpoolBytes == 1 << 40)
    }
}
