import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// The page of events, for operators.
@Suite struct EventsPageTests {
    @Test func consumersWebhooksAndWhatWasLost() async throws {
        let site = try await ConsoleSite.start()
        let oda = try await site.session(.operate, name: "oda")
        #expect(try await oda.get("/events").text.contains("There are no consumers"))
        #expect(try await oda.get("/hosts").text.contains(#"href="/events""#))
        try await site.admin.createConsumer(NewConsumer(name: "<crm>", kinds: ["message.failed"]))
        try await site.admin.createConsumer(NewConsumer(name: "hooks"))
        try await site.admin.createWebhook(
            consumer: "hooks",
            url: "https://hooks.example/secret",
            maxEvents: 10,
            secret: SealedWebhookSecret(
                id: try await site.admin.nextCredentialID(),
                sealKeyID: "key",
                sealed: [1]
            )
        )
        try await site.sql(
            """
            INSERT INTO pushmta_engine.webhook_batch (consumer_id, slices, dead_at, http_status, trouble)
            SELECT consumer_id, ARRAY[ROW(current_date, 1, 1, 7)::pushmta_engine.event_slice], now(), 500, 'the receiver answered 500'
            FROM pushmta_engine.webhook;
            INSERT INTO pushmta_engine.event_gap (consumer_id, why, from_id, through_id, from_at, through_at, lost)
            SELECT id, 'size', 1, 2, now(), now(), 1234 FROM pushmta_engine.event_consumer WHERE name = '<crm>'
            """
        )
        let page = try await oda.get("/events")
        #expect(page.status == .ok)
        for words in ["&lt;crm&gt;", "message.failed", "hooks", "the receiver answered 500", "1,234", "too far behind"]
        {
            #expect(page.text.contains(words), "\(words)")
        }
        #expect(!page.text.contains("hooks.example"), "an address may hold a secret")
        #expect(try await site.session(.read, name: "rea").get("/events").status == .forbidden)
        let audit = try await site.session(.admin).get("/audit").text
        #expect(audit.contains("a webhook") && audit.contains("a consumer of events"))
        await site.close()
    }
}
