import LaboratoryStore
import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Single messages that are claimed together", .timeLimit(.minutes(3)))
struct MessageClaimTests {
    @Test("They become one part, with the variables of each, and are sent like any other")
    func merged() async throws {
        let (fixture, id) = try await StoreFixture.continuous(users: 4)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET user_key = 'ada' WHERE id <= 2")
        let day = try await fixture.send(id, to: 2, variables: #"{"code": "a"}"#).deliveryID
        _ = try await fixture.store.sendMessage(
            NewMessage(deliveryID: id, address: .userKey("ada"), variables: #"{"code": "b"}"#)
        )
        try await fixture.send(id, to: 3)
        #expect(try await fixture.parts(day, "ready") == 3)
        try await fixture.expireTogether()
        let parts = try await fixture.claimMessages()
        let part = try required(parts.first)
        #expect(
            parts.count == 1 && part.size == 4 && part.hasVariables && part.fencingToken == 1 && part.priority == 50
        )
        #expect(!part.mayHaveHistory && part.validUntil != nil)
        let (ready, claimed) = (try await fixture.parts(day, "ready"), try await fixture.parts(day, "claimed"))
        #expect(ready == 0 && claimed == 1)

        let loaded = try await fixture.store.loadPart(part, fieldNames: ["code"])
        try #require(loaded.sequences == [1, 2, 3, 4])
        let codes = (0..<4).map { String(decoding: loaded.fields[0][$0], as: UTF8.self) }
        #expect(codes == ["a", "b", "b", ""])
        #expect(try await fixture.store.message("\(day)-3")?.status == .pending)
        #expect(try await fixture.store.snapshot(delivery: day).faults == [])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<4, .sent)
        batch.closing = [ClosingPart(part: part.id, token: part.fencingToken)]
        #expect(try await fixture.store.storeOutcomes(batch).closedParts == [part.id])
        #expect(try await fixture.store.message("\(day)-4")?.status == .sent)
        #expect(try await fixture.store.snapshot(delivery: day).faults == [])
        #expect(try await fixture.assertEquation(day))
    }

    @Test("A lost owner leaves one part behind, with all of its messages")
    func lost() async throws {
        let (fixture, id) = try await StoreFixture.continuous(users: 3)
        let days = try await (0..<3).asyncMap { try await fixture.send(id, to: $0).deliveryID }
        try await fixture.expireTogether()
        let part = try required(try await fixture.claimMessages().first)
        #expect(try await fixture.store.releasePart(PartToken(part: part.id, token: part.fencingToken)))
        // It has had an owner, so it stays unchanged, and later messages form a separate part.
        try await fixture.send(id, to: 0)
        let again = try await fixture.claimMessages()
        #expect(again.map(\.size) == [3, 1] && again.first?.id == part.id && again.first?.fencingToken == 2)
        #expect(try await fixture.store.snapshot(delivery: days[0]).faults == [])
    }

    @Test("Messages of other deliveries, with other expiry times or with a history stay separate")
    func apart() async throws {
        let (fixture, id) = try await StoreFixture.continuous(users: 6)
        let other = try await fixture.startContinuous(["shop-ios"]) { $0.validitySeconds = 600 }
        for place in 0..<4 { try await fixture.send(id, to: place) }
        for place in 0..<2 { try await fixture.send(other, to: place) }
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery_part SET valid_until = '2100-01-01 10:00:00.9' WHERE state = 'ready' AND valid_until IS NOT NULL
            """
        )
        let first = try required(
            try await fixture.sql("SELECT min(id) FROM pushmta_engine.delivery_part WHERE state = 'ready'")
        )
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery_part SET valid_until = '2100-01-01 10:00:01.1' WHERE id = \(first) + 1"
        )
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET refusals = 1 WHERE id = \(first)")
        #expect(try await fixture.claimMessages().map(\.size).sorted() == [1, 1, 2, 2])
    }

    @Test("At midnight the messages of the ending day are claimed too, each separately")
    func midnight() async throws {
        let (fixture, id) = try await StoreFixture.continuous(users: 3)
        for place in 0..<2 { try await fixture.send(id, to: place) }
        try await fixture.moveDay(1)
        try await fixture.store.ensurePartitions()
        _ = try await fixture.store.tendDeliveries()
        for place in 0..<3 { try await fixture.send(id, to: place) }
        try await fixture.expireTogether()
        #expect(try await fixture.claimMessages().map(\.size).sorted() == [1, 1, 3])
    }

    @Test("At most the requested number is claimed, a part is no larger than others, and the most urgent come first")
    func bounds() async throws {
        let (fixture, id) = try await StoreFixture.continuous(users: 30)
        try await fixture.sql(
            """
            SELECT 1::bigint FROM generate_series(1, 80) n
            CROSS JOIN LATERAL pushmta.send_messages(\(id) + 0 * n, ARRAY(SELECT s.id FROM pushmta_engine.subscription s ORDER BY s.id))
            """
        )
        try await fixture.expireTogether()
        let claimed = try await fixture.claimMessages(messages: 2_100)
        #expect(
            claimed.map(\.size).reduce(0, +) == 2_100 && claimed.allSatisfy { $0.size <= 1_029 } && claimed.count == 3
        )
        #expect(try await fixture.claimMessages(messages: 1).map(\.size) == [30], "one, however large")
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery_part SET priority = 60 WHERE id = (SELECT max(id) FROM pushmta_engine.delivery_part WHERE state = 'ready')"
        )
        #expect(try await fixture.claimMessages(limit: 2).map(\.priority) == [60, 50])
    }

    @Test("A pause that waits for the claim finds the messages claimed; a pause that comes first holds them back")
    func pause() async throws {
        let (fixture, id) = try await StoreFixture.continuous(users: 3)
        for place in 0..<3 { try await fixture.send(id, to: place) }
        try await fixture.expireTogether()
        try await fixture.store.pauseDelivery(id)
        #expect(try await fixture.claimMessages().isEmpty)
        try await fixture.store.resumeDelivery(id)
        #expect(try await fixture.claimMessages().map(\.size) == [3])
    }
}
