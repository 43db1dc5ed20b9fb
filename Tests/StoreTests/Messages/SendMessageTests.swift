import LaboratoryStore
import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Messages added to a continuous delivery", .timeLimit(.minutes(3)))
struct SendMessageTests {
    @Test("A message is ready at once, and it and its outcome are found by its id")
    func message() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let sent = try await fixture.send(id, variables: #"{"code": "17"}"#)
        #expect(sent.id == "\(sent.deliveryID)-1" && sent.sequence == 1 && !sent.isRepeated && sent.deliveryID != id)
        #expect(try await fixture.store.message(sent.id)?.status == .pending)
        #expect(try await fixture.store.message("\(sent.deliveryID)-2") == nil)
        for wrong in ["", "1", "x-1", "1-99999999999", "1-2147483648"] {
            #expect(try await fixture.store.message(wrong) == nil, "\(wrong)")
        }
        let part = try required(try await fixture.claim(limit: 9).first)
        #expect(part.size == 1 && part.hasVariables && part.priority == 50 && part.validUntil != nil)
        let loaded = try await fixture.store.loadPart(part, fieldNames: ["code"])
        #expect(String(decoding: loaded.fields[0][0], as: UTF8.self) == "17")
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<1, .sent)
        batch.closing = [ClosingPart(part: part.id, token: part.fencingToken)]
        _ = try await fixture.store.storeOutcomes(batch)
        let row = try required(try await fixture.store.message(sent.id))
        #expect(row.status == .sent && row.subscriptionID == sent.subscriptionID && row.loggedAt != nil)
        #expect(try await fixture.store.snapshot(delivery: sent.deliveryID).faults == [])
        #expect(try await fixture.assertEquation(sent.deliveryID))
    }

    @Test("It keeps its variables and its validity when it is sent again")
    func retry() async throws {
        let (fixture, id) = try await StoreFixture.continuous { $0.validitySeconds = 600 }
        let sent = try await fixture.send(id, variables: #"{"code": "17"}"#)
        let part = try required(try await fixture.claim(limit: 9).first)
        var batch = OutcomeBatch()
        batch.closing = [
            ClosingPart(
                part: part.id,
                token: part.fencingToken,
                retries: [RetrySet(sequences: [sent.sequence], delayMilliseconds: 0)]
            )
        ]
        #expect(try await fixture.store.storeOutcomes(batch).retryParts == 1)
        #expect(try await fixture.store.readyMessageParts().count == 1)
        let again = try required(try await fixture.claim(limit: 9).first)
        #expect(again.attempt == 2 && again.validUntil == part.validUntil)
        let loaded = try await fixture.store.loadPart(again, fieldNames: ["code"])
        #expect(String(decoding: loaded.fields[0][0], as: UTF8.self) == "17")
        #expect(try await fixture.store.snapshot(delivery: sent.deliveryID).faults == [])
        let wait = try required(part.validUntil).microsecondsSince1970 - part.claimedAt.microsecondsSince1970
        #expect((1...600_000_000).contains(wait), "ten minutes from the message, not from the day's end")
    }

    @Test("A user gets it on each device, or only on the latest")
    func users() async throws {
        let (fixture, id) = try await StoreFixture.continuous(applications: ["shop-ios", "shop-android"])
        try await fixture.store.seedSubscriptions(application: "shop-android", count: 1)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET user_key = 'ada' WHERE id <> 3")
        let all = try await fixture.store.sendMessage(NewMessage(deliveryID: id, address: .userKey("ada")))
        #expect(all.count == 3 && Set(all.map(\.sequence)) == [1, 2, 3])
        #expect(try await fixture.parts(all[0].deliveryID, "ready") == 2, "a part for each application")
        #expect(try await fixture.claim("shop-android", limit: 9).count == 1)
        let latest = try await fixture.startContinuous(["shop-ios", "shop-android"]) { $0.onePerUser = true }
        let one = try await fixture.store.sendMessage(NewMessage(deliveryID: latest, address: .userKey("ada")))
        #expect(one.count == 1 && one[0].subscriptionID == all.map(\.subscriptionID).max())
        #expect(try await fixture.assertEquation(all[0].deliveryID))
    }

    @Test("A message that cannot be sent is refused with its reason")
    func refusals() async throws {
        let (fixture, id) = try await StoreFixture.continuous(users: 5)
        let ids = try await (0..<5).asyncMap { try await fixture.subscription($0) }
        #expect(await fixture.refusal(1 << 40, .subscription(ids[0])) == "PM002")
        #expect(await fixture.refusal(id, .subscription(1 << 40)) == "PM062")
        #expect(await fixture.refusal(id, .userKey("nobody")) == "PM062")
        #expect(await fixture.refusal(id, .pushToken("nobody")) == "PM062")
        #expect(await fixture.refusal(id, .subscription(ids[0]), variables: "[]") == "PM065")
        let long = #"{"a": ""# + String(repeating: "x", count: MessageLimits.maxVariablesBytes) + #""}"#
        #expect(await fixture.refusal(id, .subscription(ids[0]), variables: long) == "PM065")
        #expect(await fixture.refusal(id, .subscription(ids[0]), key: "") == "PM065")
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET enabled = id <> \(ids[1]), opted_out = id = \(ids[2]),
                quarantine_status = CASE WHEN id = \(ids[3]) THEN 2 ELSE 0 END
            """
        )
        for place in 1...3 { #expect(await fixture.refusal(id, .subscription(ids[place])) == "PM064", "\(place)") }
        let batch = try await fixture.startedDelivery()
        #expect(await fixture.refusal(batch, .subscription(ids[0])) == "PM060")
        let open = try await fixture.send(id)
        #expect(await fixture.refusal(open.deliveryID, .subscription(ids[0])) == "PM060", "a day")
        try await fixture.store.pauseDelivery(id)
        #expect(await fixture.refusal(id, .subscription(ids[0])) == "PM061")
        try await fixture.store.resumeDelivery(id)
        #expect(await fixture.refusal(id, .subscription(ids[0])) == nil)
        try await fixture.store.stopDelivery(id)
        #expect(await fixture.refusal(id, .subscription(ids[0])) == "PM061")
    }

    @Test("The delivery's exclusion lists apply to its messages")
    func exclusions() async throws {
        let (fixture, _) = try await StoreFixture.continuous()
        try await fixture.sql("SELECT pushmta.create_exclusion_list('robinson')")
        let place = try await fixture.subscription(0)
        try await fixture.sql("SELECT pushmta.add_exclusions('robinson', subscription_ids => ARRAY[\(place)])")
        let id = try await fixture.store.createDelivery(
            {
                var delivery = NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
                delivery.isContinuous = true
                return delivery
            }()
        )
        try await fixture.sql("SELECT 1::bigint FROM pushmta.set_target(\(id), exclude => ARRAY['robinson'])")
        try await fixture.store.startDelivery(id)
        #expect(await fixture.refusal(id, .subscription(place)) == "PM064")
        #expect(await fixture.refusal(id, .subscription(try await fixture.subscription(1))) == nil)
    }

    @Test("A continuous delivery has no explicit targets, and a delivery with them cannot become continuous")
    func targets() async throws {
        let fixture = try await StoreFixture.make()
        let batch = try await fixture.startedDelivery(explicit: true)
        try await fixture.sql("INSERT INTO pushmta.delivery_target (delivery_id, user_key) VALUES (\(batch), 'ada')")
        await #expect(throws: StoreError.self) { try await fixture.store.makeContinuous(batch) }
        let other = try await fixture.startedDelivery(explicit: true)
        try await fixture.store.makeContinuous(other)
        await #expect(throws: PostgresError.self) {
            try await fixture.sql(
                "INSERT INTO pushmta.delivery_target (delivery_id, user_key) VALUES (\(other), 'ada')"
            )
        }
        try await fixture.store.startDelivery(other)
        await #expect(throws: StoreError.self) { try await fixture.store.makeContinuous(other) }
    }

    @Test("Only a sleeping host is woken")
    func wakeUps() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let listener = try await fixture.store.listen()
        try await fixture.sql("UPDATE pushmta_engine.mta_host SET asleep = false, last_heartbeat = clock_timestamp()")
        try await fixture.send(id)
        #expect(try await listener.nextWakeUp(deadline: .now) == nil)
        try await fixture.sql("UPDATE pushmta_engine.mta_host SET asleep = true, last_heartbeat = clock_timestamp()")
        try await fixture.send(id, to: 1)
        #expect(try await listener.nextWakeUp(deadline: .now + .seconds(20)) == .message)
        await listener.close()
        #expect(try await fixture.store.readyMessageParts().count == 2)
        #expect(try await fixture.claim(limit: 9).count == 2)
    }

    @Test("A wrong cached day of a delivery in a session does no harm")
    func rememberedDay() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let other = try await fixture.startContinuous()
        let place = try await fixture.subscription(0)
        let connection = try await fixture.database.connect()
        func day(of delivery: Int64, key: String? = nil) async throws -> Int64 {
            try await connection.execute(
                PostgresStatement(
                    """
                    SELECT m.delivery_id FROM pushmta.send_message($1, subscription_id => $2, idempotency_key => $3) m
                    """,
                    [.int64(delivery), .int64(place), .textOrNull(key)]
                )
            ).int64(0, 0)
        }
        // A day that is rolled back with its transaction.
        try await fixture.moveDay(1)
        try await connection.run(script: "BEGIN")
        let given = try await day(of: id)
        try await connection.run(script: "ROLLBACK")
        let first = try await day(of: id)
        let second = try await day(of: other)
        #expect(try await day(of: id, key: "k") == first && first != given && second != first)
        try await connection.run(script: "SET pushmta.day_of_\(id) = '\(second)'")
        #expect(try await day(of: id) == first, "the day of another delivery")
        try await connection.run(script: "SET pushmta.day_of_\(id) = '\(id)'")
        #expect(try await day(of: id) == first, "no day at all")
        try await fixture.moveDay(2)
        let next = try await day(of: id)
        #expect(next != first && next != second)
        #expect(try await day(of: id, key: "k") == first, "a key outlives its day")
        #expect(try await day(of: id) == next)
        try await fixture.store.stopDelivery(id)
        await #expect(throws: PostgresError.self) { try await day(of: id) }
        #expect(try await day(of: other) != second, "the other delivery has a new day too")
        await connection.close()
        for delivery in [first, second, next] {
            #expect(try await fixture.store.snapshot(delivery: delivery).faults == [])
        }
    }

    @Test("Messages come before a delivery under way, and can be claimed separately")
    func lane() async throws {
        let (fixture, id) = try await StoreFixture.continuous(users: 100)
        _ = try await fixture.startedDelivery()
        try await fixture.prepare(partSize: 50)
        for place in 0..<3 { try await fixture.send(id, to: place) }
        try await fixture.expireTogether()
        let small = try await fixture.claimMessages(limit: 2)
        #expect(small.map(\.size) == [2])
        #expect(try await fixture.claim(limit: 2).map(\.size) == [1, 50])
        let none = try await fixture.claimMessages(largest: 16)
        #expect(none.isEmpty)
    }
}
