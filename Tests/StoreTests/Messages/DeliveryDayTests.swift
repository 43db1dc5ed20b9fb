import LaboratoryStore
import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("The days of a continuous delivery", .timeLimit(.minutes(3)))
struct DeliveryDayTests {
    @Test(
        "A new day has its own delivery; the old one ends with its last part, the continuous delivery never ends on its own"
    )
    func rollOver() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        #expect(try await fixture.store.finishDeliveries() == [])
        let first = try await fixture.send(id, key: "k")
        #expect(try await fixture.store.missingRights().grants == [], "the counter of a day needs no rights")
        try await fixture.moveDay(1)
        try await fixture.store.tendDeliveries()
        let next = try await fixture.send(id)
        #expect(next.deliveryID != first.deliveryID && next.sequence == 1)
        let days = try await fixture.store.days(ofDelivery: id)
        #expect(days.map(\.id) == [next.deliveryID, first.deliveryID])
        #expect(days[0].logDay.daysSince2000 == days[1].logDay.daysSince2000 + 1)
        #expect(days.map(\.state) == [.inProgress, .inProgress], "its message is not sent yet")
        let keys = try await [next, first].asyncMap { try await fixture.store.trackingKey(delivery: $0.deliveryID) }
        #expect(keys[0] != keys[1])
        #expect(try await fixture.sendOut().count == 2)
        try await fixture.store.tendDeliveries()
        #expect(try await fixture.store.days(ofDelivery: id).map(\.state) == [.inProgress, .finished])
        #expect(try await fixture.store.deliveryProgress(id).state == .inProgress)
        #expect(try await fixture.send(id, key: "k").id == first.id, "a key outlives its day")
        for day in days {
            #expect(try await fixture.store.snapshot(delivery: day.id).faults == [])
            #expect(try await fixture.assertEquation(day.id))
        }
        #expect(try await Self.counters(fixture) == 2, "a session may remember the day that ended")
        try await fixture.moveDay(4)
        try await fixture.store.tendDeliveries()
        #expect(try await Self.counters(fixture) == 1, "three days after its end none does")
    }

    /// The sequences that number a day's messages.
    private static func counters(_ fixture: StoreFixture) async throws -> Int64? {
        try await fixture.sql("SELECT count(*) FROM pg_class WHERE relname ~ '^message_number_[0-9]'")
    }

    @Test("A day with an open transaction does not end, and no session waits for the change of day")
    func openTransaction() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let first = try await fixture.send(id)
        let place = try await fixture.subscription(1)
        let holder = try await fixture.hold("SELECT pushmta.send_message(\(id), subscription_id => \(place))")
        try await fixture.moveDay(1)
        // Another session is changing the day.
        let changer = try await fixture.hold("SELECT pushmta_engine.open_day(\(id))")
        #expect(try await fixture.send(id).deliveryID == first.deliveryID)
        try await changer.run(script: "COMMIT")
        await changer.close()
        _ = try await fixture.sendOut()
        try await fixture.store.tendDeliveries()
        #expect(try await fixture.store.days(ofDelivery: id).map(\.state) == [.inProgress, .inProgress])
        try await holder.run(script: "COMMIT")
        await holder.close()
        #expect(try await fixture.sendOut().count == 1)
        try await fixture.store.tendDeliveries()
        let days = try await fixture.store.days(ofDelivery: id)
        #expect(days.map(\.state) == [.inProgress, .finished] && days[1].counts == [.sent: 3])
    }

    @Test("Many senders across the change of day lose and duplicate nothing")
    func storm() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let address = Addressee.subscription(try await fixture.subscription(0))
        let stores = (0..<4).map { _ in Store(configuration: fixture.database.configuration()) }
        let sent = try await withThrowingTaskGroup { group in
            for store in stores {
                group.addTask {
                    var all: [MessageReference] = []
                    for _ in 0..<40 {
                        all += try await store.sendMessage(NewMessage(deliveryID: id, address: address))
                    }
                    return all
                }
            }
            group.addTask {
                for day in 1...3 {
                    try await fixture.moveDay(day)
                    try await fixture.store.tendDeliveries()
                    _ = try await fixture.sendOut()
                }
                return []
            }
            return try await group.reduce(into: [MessageReference]()) { $0 += $1 }
        }
        for store in stores { await store.close() }
        #expect(Set(sent.map(\.id)).count == 160)
        while try await fixture.sendOut().isEmpty == false {}
        try await fixture.store.tendDeliveries()
        let days = try await fixture.store.days(ofDelivery: id)
        #expect(days.reduce(0) { $0 + $1.target } == 160)
        #expect(days.reduce(0) { $0 + $1.counts[.sent, default: 0] } == 160)
        #expect(days.dropFirst().allSatisfy { $0.state == .finished })
        for day in days { #expect(try await fixture.store.snapshot(delivery: day.id).faults == []) }
    }

    @Test("Pause, resume and stop include the days, and a day cannot be controlled separately")
    func control() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let first = try await fixture.send(id)
        try await fixture.moveDay(1)
        try await fixture.send(id)
        await #expect(throws: StoreError.self) { try await fixture.store.stopDelivery(first.deliveryID) }
        try await fixture.store.pauseDelivery(id)
        #expect(try await fixture.store.days(ofDelivery: id).map(\.state) == [.paused, .paused])
        #expect(try await fixture.claim(limit: 9).isEmpty)
        try await fixture.store.resumeDelivery(id)
        let part = try required(try await fixture.claim().first)
        try await fixture.store.stopDelivery(id)
        #expect(try await fixture.store.deliveryProgress(id).finishedAt == nil, "a child has a part of it")
        try await fixture.store.releasePart(PartToken(part: part.id, token: part.fencingToken))
        _ = try await fixture.store.finishRest()
        _ = try await fixture.store.finishRest()
        let days = try await fixture.store.days(ofDelivery: id)
        #expect(days.map(\.state) == [.stopped, .stopped] && days.allSatisfy { $0.counts == [.canceled: 1] })
        #expect(try await fixture.store.deliveryProgress(id).finishedAt != nil)
        try await fixture.moveDay(4)
        try await fixture.store.tendDeliveries()
        #expect(try await Self.counters(fixture) == 0)
        for day in days { #expect(try await fixture.store.snapshot(delivery: day.id).faults == []) }
    }

    @Test("Parts that ended long ago are folded, and the totals stay the same")
    func folding() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        for place in [0, 1, 2, 0, 1] { try await fixture.send(id, to: place) }
        let claimed = try await fixture.claim(limit: 1)
        var batch = OutcomeBatch()
        let loaded = try await fixture.store.loadPart(claimed[0], fieldNames: [])
        batch.closing = [
            ClosingPart(
                part: claimed[0].id,
                token: claimed[0].fencingToken,
                retries: [RetrySet(sequences: loaded.sequences, delayMilliseconds: 0)]
            )
        ]
        _ = try await fixture.store.storeOutcomes(batch)
        #expect(try await fixture.sendOut().count == 5)
        let last = try await fixture.send(id, to: 2)
        let before = try await fixture.store.deliveryProgress(last.deliveryID)
        #expect(before.target == 6 && before.sent == 5 && before.pending == 1)
        try await fixture.countAll()
        #expect(try await fixture.store.tendDeliveries() == 0, "an hour has not passed")
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery_part SET finished_at = now() - interval '2 hours' WHERE state = 'done'"
        )
        #expect(try await fixture.store.tendDeliveries(limit: 4) == 4)
        #expect(try await fixture.store.tendDeliveries() == 2)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery_part") == 2)
        let after = try await fixture.store.deliveryProgress(last.deliveryID)
        #expect(after.target == 6 && after.sent == 5 && after.pending == 1)
        #expect(try await fixture.store.snapshot(delivery: last.deliveryID).faults == [])
        #expect(try await fixture.store.message("\(last.deliveryID)-1")?.status == .sent)
    }

    @Test("int32 ids have a separate range each day, and another one when it is used up")
    func numbers() async throws {
        let (fixture, _) = try await StoreFixture.continuous()
        try await fixture.sql(
            "UPDATE pushmta_engine.application SET message_id_format = 'int32' WHERE name = 'shop-ios'"
        )
        let id = try await fixture.startContinuous()
        let first = try await fixture.send(id)
        try await fixture.sql("UPDATE pushmta_engine.delivery SET target = 2 WHERE id = \(first.deliveryID)")
        #expect(try await fixture.send(id).deliveryID == first.deliveryID)
        let third = try await fixture.send(id)
        #expect(third.deliveryID != first.deliveryID && third.sequence == 1)
        let bases = try await [first, third].asyncMap { one in
            try required(try await fixture.store.deliveryForSending(one.deliveryID).messageIDBase)
        }
        #expect(bases[1] == bases[0] + 1_000_000)
    }
}
