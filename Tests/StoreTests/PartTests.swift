import PushCore
import Store
import TestSupport
import Testing

@Suite("Parts")
struct PartTests {
    @Test("No part is claimed twice, however many sessions claim in parallel")
    func contention() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2000)
        _ = try await fixture.startedDelivery()
        let parts = try await fixture.prepare(partSize: 20).parts
        let application = try await fixture.store.application(named: "shop-ios")
        let account = try required(application.accountID)
        let database = fixture.database
        let claimed = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for child in 1...6 {
                group.addTask {
                    let store = Store(configuration: database.configuration())
                    var mine: [Int64] = []
                    while true {
                        let parts = try await store.claimParts(
                            application: application.id,
                            account: account,
                            child: Int64(child),
                            limit: 3
                        )
                        if parts.isEmpty { break }
                        mine += parts.map(\.id)
                    }
                    await store.close()
                    return mine
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(claimed.count == parts && Set(claimed).count == parts)
    }

    @Test("Higher priorities come first, then parts that have been due longest; parts that are not due stay")
    func order() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 400)
        _ = try await fixture.startedDelivery()
        try await fixture.prepare(partSize: 100)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery_part SET priority = CASE WHEN id % 4 = 0 THEN 5 ELSE 0 END,
                not_before = now() + CASE WHEN id % 4 = 1 THEN interval '1 hour' WHEN id % 4 = 2 THEN interval '-1 hour' ELSE interval '-1 s' END
            """
        )
        let claimed = try await fixture.claim(limit: 10)
        #expect(claimed.map { $0.id % 4 }.prefix(2) == [0, 0] || claimed.first?.priority == 5)
        #expect(claimed.map(\.priority) == claimed.map(\.priority).sorted(by: >))
        #expect(!claimed.contains { $0.id % 4 == 1 })
        #expect(claimed.allSatisfy { $0.fencingToken == 1 && !$0.mayHaveHistory })
    }

    @Test("A part is loaded in sequence order with fresh tokens and decisions", arguments: [true, false])
    func load(dense: Bool) async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 100)
        let id = try await fixture.startedDelivery()
        try await fixture.prepare()
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET dense = \(dense)")
        try await fixture.sql("UPDATE pushmta_engine.subscription SET push_token = 'fresh' || id")
        try await fixture.sql("UPDATE pushmta_engine.subscription SET enabled = false WHERE id = 3")
        try await fixture.sql("UPDATE pushmta_engine.subscription SET opted_out = true WHERE id = 4")
        try await fixture.sql("UPDATE pushmta_engine.subscription SET quarantine_status = 3 WHERE id = 5")
        try await fixture.sql("DELETE FROM pushmta_engine.subscription WHERE id = 6")
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET parameters = '{\"city\": \"Bern\", \"n\": 7}' WHERE id = 7"
        )
        let part = try required(try await fixture.claim().first)
        #expect(part.deliveryID == id && part.size == 64 && part.isDense == dense)
        let loaded = try await fixture.store.loadPart(part, fieldNames: ["city", "n", "nothing"])
        #expect(loaded.sequences == Array(1...64) && loaded.subscriptionIDs == Array(1...64))
        #expect(
            Array(loaded.decisions.prefix(8)) == [
                .sendable, .sendable, .disabled, .optedOut, .quarantined, .missing, .sendable, .sendable,
            ]
        )
        #expect(loaded.tokens.string(0) == "fresh1" && loaded.tokens.isNull(5) && loaded.tokens.string(63) == "fresh64")
        #expect(loaded.fields[0].string(6) == "Bern" && loaded.fields[1].string(6) == "7" && loaded.fields[1].isNull(7))
        #expect(!loaded.fields[0].isNull(0) && loaded.fields[2].isNull(0) && loaded.fields[0].count == 64)
    }

    @Test("Only the owner of the fencing token marks and renews")
    func fence() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart()
        let store = fixture.store
        let owner = try required(try await store.leases().first).owner
        #expect(try await store.mark([PartMark(part: part.id, token: 1, through: 50)]) == [part.id])
        #expect(try await store.mark([PartMark(part: part.id, token: 2, through: 60)]).isEmpty)
        #expect(try await store.renewLeases(child: owner, [PartToken(part: part.id, token: 1)]) == [part.id])
        #expect(try await store.renewLeases(child: owner + 1, [PartToken(part: part.id, token: 1)]).isEmpty)
        let lease = try required(try await store.leases().first)
        #expect(lease.token == 1 && lease.renewal == 2 && lease.hostID == fixture.host)
        #expect(try await store.partsHeld(byChild: owner) == [PartToken(part: part.id, token: 1)])
    }

    @Test("A claim returns the database's time")
    func claimedAt() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart()
        let now = try await fixture.store.databaseClock()
        #expect(part.claimedAt <= now && part.claimedAt > now.advanced(byMilliseconds: -600_000))
    }

    @Test("The newest of several claims and marks of a part counts, whatever the order of the parts")
    func newest() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 300)
        let store = fixture.store
        #expect(try await store.releasePart(PartToken(part: part.id, token: 1)))
        let parts = try await fixture.claim(limit: 9)
        #expect(parts.count > 1 && parts.contains { $0.id == part.id && $0.fencingToken == 2 })
        let owner = try required(try await store.leases().first).owner
        var marks = parts.flatMap { one in
            [
                PartMark(part: one.id, token: one.fencingToken, through: 4),
                PartMark(part: one.id, token: one.fencingToken, through: 7),
            ]
        }
        marks.append(PartMark(part: part.id, token: 1, through: 9))
        marks.append(PartMark(part: 1 << 40, token: 1, through: 9))
        #expect(try await store.mark(marks.reversed()) == Set(parts.map(\.id)))
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery_part WHERE dispatch_mark = 7")
                == Int64(parts.count)
        )
        let tokens = parts.map { PartToken(part: $0.id, token: $0.fencingToken) } + [PartToken(part: part.id, token: 1)]
        #expect(try await store.renewLeases(child: owner, tokens.reversed()) == Set(parts.map(\.id)))
    }

    @Test("A released part is claimed with the next fencing token and knows what may have been sent")
    func release() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart()
        let store = fixture.store
        _ = try await store.mark([PartMark(part: part.id, token: 1, through: 40)])
        let answer = PartRecovery.SoftAnswer(
            sequence: 9,
            attempt: 1,
            httpStatus: 503,
            reason: "later",
            notBefore: DatabaseTime(microsecondsSince1970: 1_900_000_000_123_456)
        )
        let recovery = PartRecovery(ambiguous: [3, 4], softAnswers: [answer])
        #expect(try await store.releasePart(PartToken(part: part.id, token: 7), recovery: recovery) == false)
        #expect(try await store.releasePart(PartToken(part: part.id, token: 1), recovery: recovery))
        #expect(try await store.releasePart(PartToken(part: part.id, token: 1), recovery: recovery) == false)
        #expect(
            try await store.mark([PartMark(part: part.id, token: 1, through: 60)]).isEmpty,
            "released: the old owner is fenced"
        )
        let second = try required(try await fixture.claim(limit: 9).first { $0.id == part.id })
        #expect(second.fencingToken == 2 && second.mayHaveHistory && second.dispatchMark == 0)
        let known = try await store.recovery(second)
        #expect(known.ambiguous == [3, 4] && known.ambiguousThrough == 0 && known.softAnswers.count == 1)
        #expect(known.heldSince.isEmpty, "nobody had it since")
        let found = try required(known.softAnswers.first)
        #expect(found.sequence == 9 && found.attempt == 1 && found.httpStatus == 503 && found.reason == "later")
        #expect(found.notBefore == answer.notBefore && (found.maxDelayMilliseconds ?? 0) > 0)
        _ = try await store.mark([PartMark(part: part.id, token: 2, through: 20)])
        #expect(try await store.releasePart(PartToken(part: part.id, token: 2), ambiguousThroughMark: true))
        let third = try required(try await fixture.claim(limit: 9).first { $0.id == part.id })
        let all = try await store.recovery(third)
        #expect(all.ambiguousThrough == 0 && all.ambiguous == Array(1...20) && all.softAnswers == [found])
        #expect(all.heldSince == [3, 4], "the second owner may have sent these again")
    }

    @Test("The mark of a lost owner covers the messages without an outcome")
    func lostMark() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart()
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        _ = try await fixture.store.mark([PartMark(part: part.id, token: 1, through: 10)])
        var batch = OutcomeBatch()
        for row in [1, 4, 20] {
            batch.append(
                part: part.id,
                token: 1,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: .sent
            )
        }
        _ = try await fixture.store.storeOutcomes(batch)
        #expect(try await fixture.other.releasePart(PartToken(part: part.id, token: 1), ambiguousThroughMark: true))
        let second = try required(try await fixture.claim(limit: 9).first { $0.id == part.id })
        let ambiguousRows = try await fixture.store.recovery(second).ambiguous
        #expect(ambiguousRows == [0, 2, 3, 5, 6, 7, 8, 9].map { loaded.sequences[$0] })
    }

    @Test("Nothing is claimed over an account that is not active")
    func inactiveAccount() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await !fixture.store.hasOpenDeliveries())
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 64)
        _ = try await fixture.startedDelivery()
        try await fixture.prepare()
        #expect(try await fixture.store.hasOpenDeliveries())
        try await fixture.store.setAccount(name: "apns", active: false)
        #expect(try await fixture.claim().isEmpty)
        #expect(try await fixture.store.readyWork().isEmpty)
        try await fixture.store.setAccount(name: "apns", active: true)
        #expect(try await fixture.claim().count == 1)
    }

    @Test("start_delivery wakes listeners")
    func wakeUp() async throws {
        let fixture = try await StoreFixture.make()
        let listener = try await fixture.store.listen()
        _ = try await fixture.startedDelivery()
        #expect(try await listener.next(deadline: .now + .seconds(20)))
        #expect(try await listener.next(deadline: .now) == false)
        await listener.close()
    }
}
