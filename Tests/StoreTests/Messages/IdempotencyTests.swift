import LaboratoryStore
import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("The same message is created once", .timeLimit(.minutes(3)))
struct IdempotencyTests {
    @Test("A repeated call returns the same message; a different message with the same key is refused")
    func repeated() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let first = try await fixture.send(id, variables: #"{"a": "1", "b": "2"}"#, key: "order-1")
        let second = try await fixture.send(id, variables: #"{"b": "2", "a": "1"}"#, key: "order-1")
        #expect(second.isRepeated && second.id == first.id && second.subscriptionID == first.subscriptionID)
        let place = try await fixture.subscription(0)
        #expect(await fixture.refusal(id, .subscription(place), key: "order-1") == "PM063")
        #expect(
            await fixture.refusal(id, .userKey("user-1"), variables: #"{"a": "1", "b": "2"}"#, key: "order-1")
                == "PM063"
        )
        let other = try await fixture.startContinuous()
        #expect(
            try await fixture.send(other, variables: "{}", key: "order-1").isRepeated == false,
            "keys are a delivery's own"
        )
        try await fixture.store.stopDelivery(id)
        let late = try await fixture.send(id, variables: #"{"a": "1", "b": "2"}"#, key: "order-1")
        #expect(late.id == first.id, "what was sent was sent, whatever became of the delivery")
        #expect(try await fixture.store.deliveryProgress(first.deliveryID).target == 1)
    }

    @Test("Of many sessions with the same key, one sends")
    func concurrent() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let address = Addressee.subscription(try await fixture.subscription(0))
        let stores = (0..<8).map { _ in Store(configuration: fixture.database.configuration()) }
        let sent = try await withThrowingTaskGroup { group in
            for (number, store) in stores.enumerated() {
                group.addTask {
                    try await (0..<20).asyncMap { round in
                        try await store.sendMessage(
                            NewMessage(deliveryID: id, address: address, idempotencyKey: "\((number + round) % 20)")
                        )
                    }.flatMap { $0 }
                }
            }
            return try await group.reduce(into: [MessageReference]()) { $0 += $1 }
        }
        for store in stores { await store.close() }
        #expect(sent.count == 160 && sent.count { !$0.isRepeated } == 20 && Set(sent.map(\.id)).count == 20)
        let day = try required(sent.first).deliveryID
        #expect(Set(sent.map(\.deliveryID)) == [day], "they agree on the day too")
        #expect(try await fixture.store.deliveryProgress(day).target == 20)
        #expect(try await fixture.store.snapshot(delivery: day).faults == [])
    }

    @Test("A key is free again after its transaction is rolled back")
    func givenUp() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        try await fixture.send(id)
        let place = try await fixture.subscription(0)
        let holder = try await fixture.hold(
            "SELECT pushmta.send_message(\(id), subscription_id => \(place), idempotency_key => 'k')"
        )
        let waiting = Task { try await fixture.send(id, key: "k") }
        try await fixture.waitForLock()
        try await holder.run(script: "ROLLBACK")
        let sent = try await waiting.value
        await holder.close()
        #expect(!sent.isRepeated)
        // The number of the rolled-back message is skipped.
        #expect(try await fixture.store.snapshot(delivery: sent.deliveryID).faults == [])
        #expect(try await fixture.store.deliveryProgress(sent.deliveryID).target == 2)
    }

    @Test("Senders do not wait for each other's transactions")
    func independent() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        try await fixture.send(id)
        let place = try await fixture.subscription(1)
        let holder = try await fixture.hold("SELECT pushmta.send_message(\(id), subscription_id => \(place))")
        #expect(try await fixture.send(id).sequence == 3)
        try await holder.run(script: "COMMIT")
        await holder.close()
        #expect(try await fixture.store.deliveryProgress(try await fixture.send(id).deliveryID).target == 4)
    }

    @Test("Keys are forgotten after two days, not before")
    func forgotten() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        for key in ["old", "new"] { try await fixture.send(id, key: key) }
        try await fixture.sql(
            """
            UPDATE pushmta_engine.message_key SET created_at = now() - CASE idempotency_key
                WHEN 'old' THEN interval '49 hours' ELSE interval '47 hours' END
            """
        )
        #expect(try await fixture.store.tendDeliveries() == 1)
        #expect(try await fixture.send(id, key: "new").isRepeated)
        #expect(try await fixture.send(id, key: "old").isRepeated == false)
    }
}
