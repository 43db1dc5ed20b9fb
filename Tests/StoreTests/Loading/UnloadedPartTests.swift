import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Parts that cannot be loaded")
struct UnloadedPartTests {
    private let column = "column m.city does not exist (SQLSTATE 42703)"

    /// Releases a part for this reason, and returns whether it waits this long.
    private func postpone(_ fixture: StoreFixture, _ part: PartToken, seconds: Int64) async throws -> Bool {
        let clock = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
        let before = try required(try await fixture.sql(clock))
        #expect(try await fixture.store.releasePart(part, problem: column))
        let after = try required(try await fixture.sql(clock))
        let notBefore = try required(
            try await fixture.sql(
                """
                SELECT floor(extract(epoch FROM not_before) * 1000)::bigint FROM pushmta_engine.delivery_part
                WHERE id = \(part.part)
                """
            )
        )
        return (before...after).contains(notBefore - seconds * 1_000)
    }

    @Test("Messages that the gateway asked to delay wait, and the others keep their place")
    func asked() async throws {
        let (fixture, first) = try await StoreFixture.withClaimedPart(messages: 10)
        let seconds = "SELECT ceil(extract(epoch FROM not_before - now()))::bigint FROM pushmta_engine.delivery_part"
        #expect(try await fixture.store.releasePart(PartToken(part: first.id, token: first.fencingToken)))
        #expect(try required(try await fixture.sql(seconds)) <= 0)
        let again = try required(try await fixture.claim().first)
        let token = PartToken(part: again.id, token: again.fencingToken)
        #expect(try await fixture.store.releasePart(token, wait: 600_000))
        #expect((500...600).contains(try required(try await fixture.sql(seconds))))
        #expect(try await fixture.claim().isEmpty)
    }

    private func comeDue(_ fixture: StoreFixture) async throws {
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET not_before = now() - interval '1 hour'")
    }

    @Test("They wait longer each time, and others of the same priority pass them at once")
    func passed() async throws {
        let (fixture, first) = try await StoreFixture.withClaimedPart(messages: 10)
        let other = try await fixture.startedDelivery()
        try await fixture.prepare()
        let store = fixture.store
        #expect(try await postpone(fixture, PartToken(part: first.id, token: 1), seconds: 5))
        #expect(try await fixture.claim(limit: 4).map(\.deliveryID) == [other])
        #expect(try await fixture.claim(limit: 4).isEmpty)

        let progress = try await store.deliveryProgress(first.deliveryID)
        #expect(progress.waitingReason == column && progress.state == .inProgress && progress.stateReason.isEmpty)
        let alarm = try required(try await fixture.alarms("delivery_waiting").first)
        #expect(
            alarm.subject == String(first.deliveryID) && alarm.text.hasPrefix("10 of its messages cannot be loaded")
        )
        #expect(alarm.text.hasSuffix(": " + column), "\(alarm)")
        #expect(try await store.alarms(delivery: first.deliveryID) == [alarm])
        #expect(try await store.alarms(delivery: other).isEmpty)
        #expect(try await fixture.assertEquation(first.deliveryID))

        for (failures, seconds) in [10, 20, 40, 60, 60].enumerated() {
            try await comeDue(fixture)
            let part = try required(try await fixture.claim().first)
            #expect(part.fencingToken == Int64(failures) + 2)
            let token = PartToken(part: part.id, token: part.fencingToken)
            #expect(try await postpone(fixture, token, seconds: Int64(seconds)))
        }
    }

    @Test("The reason is cleared once its messages are sent, or when it is released after a load")
    func cleared() async throws {
        let (fixture, first) = try await StoreFixture.withClaimedPart(messages: 10)
        let store = fixture.store
        try await store.releasePart(PartToken(part: first.id, token: 1), problem: column)
        try await comeDue(fixture)
        let second = try required(try await fixture.claim().first)
        #expect(try await store.deliveryProgress(first.deliveryID).waitingReason == column, "it is not loaded yet")
        _ = try await store.mark([PartMark(part: second.id, token: 2, through: 10)])
        #expect(try await store.deliveryProgress(first.deliveryID).waitingReason.isEmpty)
        #expect(try await fixture.alarms("delivery_waiting").isEmpty)
        // It was loaded, and is released for another reason: the next failure starts the waits from the beginning.
        try await store.releasePart(PartToken(part: first.id, token: 2))
        #expect(try await fixture.alarms("delivery_waiting").isEmpty)
        let third = try required(try await fixture.claim().first)
        #expect(try await postpone(fixture, PartToken(part: third.id, token: 3), seconds: 5))
    }

    @Test("A lost owner neither postpones the part nor sets a reason")
    func fenced() async throws {
        let (fixture, first) = try await StoreFixture.withClaimedPart(messages: 10)
        let store = fixture.store
        #expect(try await store.releasePart(PartToken(part: first.id, token: 1)))
        let second = try required(try await fixture.claim().first)
        #expect(second.fencingToken == 2)
        #expect(try await store.releasePart(PartToken(part: first.id, token: 1), problem: column) == false)
        #expect(try await fixture.alarms("delivery_waiting").isEmpty)
        #expect(try await store.partsHeld(byChild: 2) == [PartToken(part: first.id, token: 2)])
        // What an earlier owner may have sent stays recorded as well.
        let recovery = PartRecovery(ambiguous: [1, 2])
        #expect(try await store.releasePart(PartToken(part: first.id, token: 2), recovery: recovery))
        let third = try required(try await fixture.claim().first)
        #expect(try await store.releasePart(PartToken(part: first.id, token: 3), problem: column))
        try await comeDue(fixture)
        let fourth = try required(try await fixture.claim().first)
        #expect(third.fencingToken == 3 && fourth.fencingToken == 4)
        #expect(try await store.recovery(fourth).ambiguous == [1, 2])
    }

    @Test("A step back of the clock keeps none waiting")
    func clockStep() async throws {
        let (fixture, first) = try await StoreFixture.withClaimedPart(messages: 10)
        try await fixture.store.releasePart(PartToken(part: first.id, token: 1), problem: column)
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET not_before = now() + interval '1 hour'")
        _ = try await fixture.store.finishRest()
        #expect(try await fixture.claim().map(\.id) == [first.id])
    }

    @Test("A stopped delivery ends, including its waiting parts")
    func stopped() async throws {
        let (fixture, first) = try await StoreFixture.withClaimedPart(messages: 10)
        try await fixture.store.releasePart(PartToken(part: first.id, token: 1), problem: column)
        try await fixture.store.stopDelivery(first.deliveryID)
        let progress = try await fixture.store.deliveryProgress(first.deliveryID)
        #expect(progress.canceled == 10 && progress.waitingReason.isEmpty)
        #expect(try await fixture.alarms("delivery_waiting").isEmpty)
    }
}
