import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

/// Deliveries that are paused because of a gateway's answers to them alone.
@Suite struct HoldTests {
    private func reason(_ fixture: StoreFixture, _ id: Int64) async throws -> String {
        try await fixture.store.deliveryProgress(id).stateReason
    }

    @Test func aHeldDeliverySaysWhyUntilItIsResumed() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        let part = try required(try await fixture.claim(limit: 1).first)
        try await fixture.store.holdDelivery(id, reason: "400 TopicDisallowed")
        let held = try await fixture.store.deliveryProgress(id)
        #expect(held.state == .paused && held.stateReason == "400 TopicDisallowed" && held.failed == 0)
        #expect(try await fixture.claim(limit: 9).isEmpty, "nothing of it is claimed")
        #expect(
            try await fixture.store.sendingState(application: 1, account: 1, deliveries: [id]).deliveries == [
                id: .paused
            ]
        )
        // Later callers find it paused, and the first reason stays.
        try await fixture.other.holdDelivery(id, reason: "another")
        #expect(try await reason(fixture, id) == "400 TopicDisallowed")
        #expect(try await fixture.store.releasePart(PartToken(part: part.id, token: part.fencingToken)))
        try await fixture.store.resumeDelivery(id)
        let resumed = try await fixture.store.deliveryProgress(id)
        #expect(resumed.state == .inProgress && resumed.stateReason.isEmpty)
        #expect(try await fixture.claim(limit: 9).count == 3)
    }

    @Test func oneThatIsPausedOrAtItsEndStaysAsItIs() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        try await fixture.store.pauseDelivery(id)
        try await fixture.store.holdDelivery(id, reason: "x")
        #expect(try await reason(fixture, id).isEmpty)
        try await fixture.store.stopDelivery(id)
        try await fixture.store.holdDelivery(id, reason: "x")
        let stopped = try await fixture.store.deliveryProgress(id)
        #expect(stopped.state == .stopped && stopped.stateReason.isEmpty)
        await #expect(throws: StoreError.self) { try await fixture.store.holdDelivery(4_711, reason: "x") }
    }

    @Test func aContinuousDeliveryIsHeldAsAWhole() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let day = try await fixture.send(id).deliveryID
        try await fixture.store.holdDelivery(day, reason: "400 TopicDisallowed")
        for one in [id, day] {
            let held = try await fixture.store.deliveryProgress(one)
            #expect(held.state == .paused && held.stateReason == "400 TopicDisallowed")
        }
        #expect(try await fixture.sendOut().isEmpty)
        try await fixture.store.resumeDelivery(id)
        for one in [id, day] {
            let resumed = try await fixture.store.deliveryProgress(one)
            #expect(resumed.state == .inProgress && resumed.stateReason.isEmpty)
        }
        #expect(try await fixture.sendOut().count == 1)
    }
}
