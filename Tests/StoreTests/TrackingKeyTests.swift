import Foundation
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

/// The tracking keys that a web process knows.
@Suite struct TrackingKeyTests {
    private let keys = "SELECT count(*) FROM pushmta_engine.tracking_key"
    private let today = "SELECT ((now() AT TIME ZONE 'UTC')::date - date '2000-01-01')::bigint"

    private var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }

    /// The keys of yesterday, today and tomorrow are made ahead, once, under the role of the web process; deliveries take them.
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
        #expect(try await web.trackingKeyring().days == ring.days || before != after)
        let delivery = try await fixture.startedDelivery()
        #expect(
            try await fixture.sql(
                "SELECT d.tracking_key_id FROM pushmta_engine.delivery d WHERE d.id = \(delivery) AND d.tracking_key_id <= 3"
            ) != nil
        )
        #expect(try await fixture.sql(keys) == 3 || before != after)
        await web.close()
    }

    /// Somebody who makes a key and does not commit: nobody waits for him, and nothing is final until he has.
    @Test func aKeyThatIsBeingMadeIsWaitedForByNobody() async throws {
        let fixture = try await StoreFixture.make()
        let somebody = try await fixture.database.connect()
        try await somebody.transaction { transaction in
            try await transaction.execute(
                PostgresStatement(
                    "SELECT pushmta_engine.tracking_key_of((now() AT TIME ZONE 'UTC')::date)",
                    prepare: false
                )
            )
            let ring = try await fixture.store.trackingKeyring()
            #expect(!ring.isComplete(at: now))
        }
        await somebody.close()
        #expect(try await fixture.store.trackingKeyring().isComplete(at: now))
    }

    /// What a worker says of spools is added up, and is in its row.
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
