import PushCore
import TestSupport
import Testing

@testable import Store

/// What a webhook posts, and what becomes of it.
@Suite("Webhooks")
struct WebhookTests {
    private func secret(_ fixture: StoreFixture, _ byte: UInt8) async throws -> SealedWebhookSecret {
        SealedWebhookSecret(id: try await fixture.store.nextCredentialID(), sealKeyID: "key", sealed: [byte])
    }

    private func make(maxEvents: Int32 = 2) async throws -> StoreFixture {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 5)
        try await fixture.store.createConsumer(NewConsumer(name: "crm"))
        try await fixture.store.createWebhook(
            consumer: "crm",
            url: "https://hooks.example/x",
            maxEvents: maxEvents,
            secret: try await secret(fixture, 1)
        )
        #expect(try await fixture.heartbeat())
        return fixture
    }

    private func next(_ fixture: StoreFixture) async throws -> WebhookBatch? {
        let id = try required(try await fixture.store.activeWebhooks().first)
        return try await fixture.store.nextWebhookBatch(worker: StoreFixture.worker, consumer: id)
    }

    private func end(_ fixture: StoreFixture, _ batch: WebhookBatch, _ decision: String) async throws {
        try await fixture.store.endWebhookBatch(
            batch.id,
            decision: decision,
            status: 500,
            words: "no",
            pauseSeconds: 60
        )
    }

    @Test("A batch stays until it is accepted, with its id and body")
    func again() async throws {
        let fixture = try await make()
        #expect(try await next(fixture) == nil)
        for id in 1...3 { try await fixture.store.setOptOut(Int64(id), true) }
        let first = try required(try await next(fixture))
        #expect(first.events == 2 && first.attempts == 0 && first.url == "https://hooks.example/x")
        #expect(first.body.contains("io.pushmta.device.opted_out") && first.body.contains("shop-ios-1"))
        // The worker dies before it has recorded the answer.
        #expect(try await next(fixture) == first)
        try await end(fixture, first, "again")
        let waiting = try required(try await next(fixture))
        #expect(waiting.id == first.id && waiting.waitSeconds > 50 && waiting.attempts == 1 && waiting.body.isEmpty)
        try await fixture.store.enableWebhook(consumer: "crm", true)
        let again = try required(try await next(fixture))
        #expect(again.id == first.id && again.body == first.body && again.waitSeconds == 0)
        try await end(fixture, again, "accepted")
        #expect(try await next(fixture)?.events == 1)
        #expect(try await fixture.store.webhooks().first?.accepted == 1)
        #expect(
            try await fixture.store.nextWebhookBatch(worker: "11111111-1111-4111-8111-111111111111", consumer: 1)
                == nil,
            "another worker"
        )
        await #expect(throws: StoreError.self) { try await fixture.store.nextEvents(of: "crm", limit: 1) }
    }

    @Test("A dead letter is listed, raises an alarm, and can be sent again")
    func dead() async throws {
        let fixture = try await make()
        for id in 1...3 { try await fixture.store.setOptOut(Int64(id), true) }
        let first = try required(try await next(fixture))
        try await end(fixture, first, "dead")
        let second = try required(try await next(fixture))
        #expect(second.id != first.id && second.events == 1)
        try await end(fixture, second, "accepted")
        let letters = try await fixture.store.deadLetters(limit: 10)
        #expect(letters.map(\.id) == [first.id] && letters.first?.events == 2 && letters.first?.trouble == "no")
        #expect(try await fixture.alarms("webhook_failing").map(\.subject) == ["crm"])
        try await fixture.store.resendDeadLetter(first.id)
        #expect(try await next(fixture)?.body == first.body)
        await #expect(throws: StoreError.self) { try await fixture.store.resendDeadLetter(first.id) }
        #expect(try await fixture.alarms("webhook_failing").isEmpty)
    }

    @Test("A receiver that is gone, and one that an operator disables")
    func gone() async throws {
        let fixture = try await make()
        try await fixture.store.setOptOut(1, true)
        try await end(fixture, try required(try await next(fixture)), "gone")
        #expect(try await fixture.store.activeWebhooks().isEmpty)
        #expect(try await fixture.alarms("webhook_failing").count == 1)
        try await fixture.store.enableWebhook(consumer: "crm", true)
        #expect(try await next(fixture)?.events == 1)
        try await fixture.store.enableWebhook(consumer: "crm", false)
        #expect(try await fixture.store.activeWebhooks().isEmpty)
        #expect(try await fixture.alarms("webhook_failing").isEmpty)
        try await fixture.store.dropWebhook(consumer: "crm")
        await #expect(throws: StoreError.self) { try await fixture.store.dropWebhook(consumer: "crm") }
    }

    @Test("A webhook that is dropped gives back what was not accepted, in order")
    func dropped() async throws {
        let fixture = try await make()
        for id in 1...5 { try await fixture.store.setOptOut(Int64(id), true) }
        try await end(fixture, try required(try await next(fixture)), "dead")
        #expect(try await next(fixture)?.events == 2)
        try await fixture.store.dropWebhook(consumer: "crm")
        #expect(try await fixture.store.consumers().map(\.isBehind) == [true])
        let first = try await fixture.store.nextEvents(of: "crm", limit: 3)
        #expect(first.map(\.subscription) == [1, 2, 3])
        // Its next reader is another webhook, which also gets what a reader over HTTP has not processed.
        #expect(
            try await fixture.store.eventPage(of: "crm", limit: 1, processed: nil).events.map(\.subscription) == [4]
        )
        try await fixture.store.createWebhook(
            consumer: "crm",
            url: "https://hooks.example/y",
            maxEvents: 10,
            secret: try await secret(fixture, 2)
        )
        let waiting = try required(try await next(fixture))
        #expect(waiting.events == 1 && waiting.body.contains("shop-ios-4"))
        try await end(fixture, waiting, "accepted")
        #expect(try await next(fixture)?.body.contains("shop-ios-5") == true)
        #expect(try await fixture.store.eventGaps().isEmpty)
    }

    @Test("What a dropped webhook gave back is a gap if its day is dropped first")
    func droppedTooLate() async throws {
        let fixture = try await make()
        for id in 1...2 { try await fixture.store.setOptOut(Int64(id), true) }
        #expect(try await next(fixture)?.events == 2)
        try await fixture.store.dropWebhook(consumer: "crm")
        try await fixture.sql("UPDATE pushmta_engine.event_returned SET log_day = log_day - 1000")
        _ = try await fixture.store.keepEvents(worker: StoreFixture.worker)
        #expect(try await fixture.store.eventGaps().map { "\($0.why) \($0.lost)" } == ["age 2"])
    }

    @Test("What waits goes to a new address, and answers of the earlier receiver no longer count")
    func address() async throws {
        let fixture = try await make()
        for id in 1...3 { try await fixture.store.setOptOut(Int64(id), true) }
        let first = try required(try await next(fixture))
        try await end(fixture, first, "again")
        try await fixture.store.setWebhook(consumer: "crm", url: "https://new.example/y", maxEvents: nil)
        try await end(fixture, first, "gone")
        let moved = try required(try await next(fixture))
        #expect(moved.url == "https://new.example/y" && moved.waitSeconds == 0 && moved.attempts == 0)
        #expect(moved.body == first.body && moved.id != first.id)
        // One that its receiver has disabled is enabled, and one that an operator has disabled is not.
        try await end(fixture, moved, "gone")
        try await fixture.store.setWebhook(consumer: "crm", url: "https://new.example/z", maxEvents: 1)
        #expect(try await fixture.store.webhooks().map { "\($0.url) \($0.isActive)" } == ["https://new.example/z true"])
        try await fixture.store.enableWebhook(consumer: "crm", false)
        try await fixture.store.setWebhook(consumer: "crm", url: "https://new.example/a", maxEvents: nil)
        #expect(try await fixture.store.activeWebhooks().isEmpty)
        for url in ["http://new.example", "https://a@new.example/"] {
            await #expect(throws: StoreError.self) {
                try await fixture.store.setWebhook(consumer: "crm", url: url, maxEvents: nil)
            }
        }
        await #expect(throws: StoreError.self) {
            try await fixture.store.setWebhook(consumer: "none", url: "https://new.example/a", maxEvents: nil)
        }
    }

    @Test("Nothing is posted about a user who was forgotten after the batch was made")
    func forgotten() async throws {
        let fixture = try await make(maxEvents: 1)
        try await fixture.store.setOptOut(1, true)
        #expect(try await next(fixture)?.events == 1)
        _ = try await fixture.store.forgetUser(service: "shop", userKey: "shop-ios-1")
        let batch = try required(try await next(fixture))
        #expect(batch.events == 0 && batch.body == "[]")
    }

    @Test("Earlier secrets sign until their overlaps end; a new key reseals them")
    func secrets() async throws {
        let fixture = try await make()
        let id = try required(try await fixture.store.activeWebhooks().first)
        try await fixture.store.rotateWebhookSecret(
            consumer: "crm",
            secret: try await secret(fixture, 2),
            overlapSeconds: 3_600
        )
        #expect(try await fixture.store.webhookSecrets(consumer: id).map(\.sealed) == [[2], [1]])
        // A second rotation does not end the first one's overlap.
        try await fixture.store.rotateWebhookSecret(
            consumer: "crm",
            secret: try await secret(fixture, 4),
            overlapSeconds: 60
        )
        #expect(try await fixture.store.webhookSecrets(consumer: id).map(\.sealed) == [[4], [2], [1]])
        #expect(try await fixture.store.webhooks().count == 1)
        try await fixture.store.rotateWebhookSecret(
            consumer: "crm",
            secret: try await secret(fixture, 3),
            overlapSeconds: 0
        )
        #expect(try await fixture.store.webhookSecrets(consumer: id).map(\.sealed) == [[3]])
        let items = try await fixture.store.sealedItems().filter { $0.owner.contains("webhook") }
        #expect(items.count == 1)
        for item in items {
            #expect(try await fixture.store.reseal(item.id, from: "key", to: "new", sealed: [9]))
        }
        #expect(try await fixture.store.webhookSecrets(consumer: id).map(\.sealed) == [[9]])
    }

    @Test(
        "Addresses that are refused",
        arguments: ["http://hooks.example", "https://a@hooks.example/", "https://", "x"]
    )
    func addresses(_ url: String) async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.createConsumer(NewConsumer(name: "crm"))
        let secret = try await secret(fixture, 1)
        await #expect(throws: StoreError.self) {
            try await fixture.store.createWebhook(consumer: "crm", url: url, maxEvents: 10, secret: secret)
        }
    }
}
