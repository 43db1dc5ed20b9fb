import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Filters that know what people did")
struct BehaviourTests {
    /// A fixture whose service keeps a history, with so many subscribers.
    private func made(_ subscribers: Int64 = 40) async throws -> StoreFixture {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: subscribers)
        try await fixture.store.keepBehaviour(ofService: "shop")
        return fixture
    }

    /// A delivery that reached all subscribers except those with these ids, whose messages failed.
    private func sent(_ fixture: StoreFixture, failed: String = "0") async throws -> Int64 {
        let id = try await fixture.startedDelivery()
        try await fixture.prepare()
        try await fixture.end(id, failed: failed)
        try await fixture.countAll()
        return id
    }

    /// Who gets a delivery with a filter.
    private func reached(_ fixture: StoreFixture, _ filter: String, onePerUser: Bool = false) async throws -> Set<Int64>
    {
        let id = try await fixture.filteredDelivery(filter, onePerUser: onePerUser)
        try await fixture.prepare(partSize: 7, partsPerChunk: 2)
        return try await fixture.targets(id)
    }

    @Test("Filters select by what was sent, received and clicked: of a delivery, a label, a category or any")
    func kinds() async throws {
        let fixture = try await made()
        let first = try await sent(fixture, failed: "1, 2")
        let second = try await sent(fixture)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery SET label = 'Spring', category_id = (SELECT k.id FROM pushmta_engine.category k
                WHERE k.name = 'news') WHERE id = \(first)
            """
        )
        // The first ten have the sequences 1 to 10 in the second delivery.
        let received = (1...10).map { (sequence: Int32($0), kind: TrackingKind.received) }
        let clicked = (1...3).map { (sequence: Int32($0), kind: TrackingKind.clicked) }
        try await fixture.hit(second, received + clicked, position: 1)
        try await fixture.countAll()
        let all = Set(Int64(1)...40)
        #expect(try await reached(fixture, "sent any") == all)
        #expect(try await reached(fixture, "sent delivery \(first)") == all.subtracting([1, 2]))
        #expect(try await reached(fixture, "not sent label 'Spring' within 2 days") == [1, 2])
        #expect(try await reached(fixture, "sent category 'news'") == all.subtracting([1, 2]))
        #expect(try await reached(fixture, "received any within 1 week") == Set(1...10))
        #expect(try await reached(fixture, "received delivery \(first)") == [])
        #expect(try await reached(fixture, "received any and not clicked delivery \(second)") == Set(4...10))
        #expect(try await reached(fixture, "clicked any or subscription_id = 20", onePerUser: true) == [1, 2, 3, 20])
    }

    @Test("A continuous delivery is asked with its days, a recurring one with its runs")
    func parents() async throws {
        let fixture = try await made()
        let first = try await sent(fixture, failed: "1, 2")
        for change in [
            "kind = 'continuous', parent_delivery_id", "kind = 'batch', parent_delivery_id = NULL, recurrence_of",
        ] {
            let whole = try await fixture.store.createDelivery(
                NewDelivery(label: "Whole", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
            )
            #expect(try await reached(fixture, "sent delivery \(whole)") == [])
            try await fixture.sql("UPDATE pushmta_engine.delivery SET \(change) = \(whole) WHERE id = \(first)")
            #expect(try await reached(fixture, "not sent delivery \(whole)") == [1, 2], "\(change)")
        }
        // Of a recurring delivery whose first run was before the history, half would be missing.
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET started_at = started_at - interval '1 day' WHERE id = \(first)"
        )
        let whole = try required(
            try await fixture.sql("SELECT recurrence_of FROM pushmta_engine.delivery WHERE id = \(first)")
        )
        await #expect(throws: StoreError.self) {
            _ = try await fixture.filteredDelivery("not sent delivery \(whole)")
        }
    }

    @Test("A day that is too long ago does not count")
    func days() async throws {
        let fixture = try await made(10)
        let id = try await sent(fixture)
        try await fixture.sql("UPDATE pushmta_engine.behaviour SET day = day - 5")
        #expect(try await reached(fixture, "sent delivery \(id) within 4 days") == [])
        #expect(try await reached(fixture, "sent delivery \(id) within 5 days").count == 10)
        #expect(try await reached(fixture, "sent any").count == 10)
    }

    @Test("All devices of a user are one person")
    func persons() async throws {
        let fixture = try await made(0)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key)
            SELECT a.id, 'token-' || n, CASE WHEN n < 4 THEN 'ada' ELSE '' END
            FROM generate_series(1, 4) n
            JOIN pushmta_engine.application a ON a.name = CASE n WHEN 3 THEN 'shop-android' ELSE 'shop-ios' END ORDER BY n
            """
        )
        let id = try await sent(fixture)
        try await fixture.hit(id, [(2, .clicked)], position: 1)
        try await fixture.countAll()
        let both = try await fixture.store.createDelivery(
            NewDelivery(
                label: "Both",
                applications: ["shop-ios", "shop-android"],
                content: #"{"ios": {"title": "a"}, "android": {"title": "a"}}"#
            )
        )
        try await fixture.store.setTarget(ofDelivery: both, DeliveryTarget(filter: "clicked any"))
        try await fixture.store.startDelivery(both)
        try await fixture.prepare()
        #expect(try await fixture.targets(both).count == 3)
    }

    @Test("An outcome and a hit that come late are in the history")
    func late() async throws {
        let fixture = try await made(5)
        let id = try await fixture.startedDelivery()
        try await fixture.prepare()
        try await fixture.end(id, failed: "1")
        // The hit is committed while outcomes are counted.
        let hit = "INSERT INTO pushmta_engine.tracking_log (delivery_id, subscription_id, sequence, log_day, kind)"
        let connection = try await fixture.database.connect()
        try await connection.run(
            script: "BEGIN; \(hit) SELECT \(id), 3, 3, d.log_day, 2 FROM pushmta_engine.delivery d WHERE d.id = \(id)"
        )
        try await fixture.countAll()
        #expect(try await reached(fixture, "clicked any") == [])
        try await connection.run(script: "COMMIT")
        await connection.close()
        // One of the outcomes arrives after its part was counted.
        try await fixture.sql(
            """
            WITH b AS (UPDATE pushmta_engine.broad_log SET status = 1 WHERE delivery_id = \(id) AND subscription_id = 1
                RETURNING delivery_id, part_id, log_day, sequence)
            INSERT INTO pushmta_engine.late_outcome (delivery_id, part_id, log_day, sequence)
            SELECT b.delivery_id, b.part_id, b.log_day, b.sequence FROM b
            """
        )
        #expect(try await reached(fixture, "sent any") == [2, 3, 4, 5])
        try await fixture.countAll()
        #expect(try await reached(fixture, "sent any") == [1, 2, 3, 4, 5])
        #expect(try await reached(fixture, "clicked any") == [3])
    }

    @Test("Who is forgotten leaves the history, and does not come back with a hit")
    func forgotten() async throws {
        let fixture = try await made(3)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET user_key = 'ada' WHERE id = 2")
        let id = try await sent(fixture)
        #expect(try await bits(fixture) == 3)
        // A hit of before waits to be counted.
        try await fixture.hit(id, [(1, .clicked), (2, .clicked)], position: 1)
        try await fixture.sql("SELECT f.subscriptions FROM pushmta.forget_user('shop', 'ada') f")
        try await fixture.countAll()
        #expect(try await fixture.store.clearForgotten(worker: StoreFixture.worker, limit: 10) == 1)
        #expect(try await bits(fixture) == 3, "two who were sent it, one who clicked")
        #expect(try await fixture.store.clearForgotten(worker: StoreFixture.worker, limit: 10) == 0)
        #expect(try await fixture.store.clearForgotten(worker: StoreFixture.otherWorker, limit: 10) == nil)
    }

    private func bits(_ fixture: StoreFixture) async throws -> Int64? {
        try await fixture.sql(
            "SELECT coalesce(sum(bit_count(h.persons::\"bit\")), 0)::bigint FROM pushmta_engine.behaviour h"
        )
    }

    @Test("Days beyond 180 go, and all of a service that no longer keeps a history")
    func purged() async throws {
        let fixture = try await made(3)
        _ = try await sent(fixture)
        try await fixture.sql("UPDATE pushmta_engine.behaviour SET day = day - 181")
        #expect(try await fixture.store.purgeBehaviour(worker: StoreFixture.worker, limit: 10) == 0)
        try await fixture.sql("UPDATE pushmta_engine.behaviour SET day = day - 1")
        #expect(try await fixture.store.purgeBehaviour(worker: StoreFixture.worker, limit: 10) == 1)
        _ = try await sent(fixture)
        try await fixture.store.keepBehaviour(ofService: "shop", false)
        await #expect(throws: StoreError.self) { try await fixture.store.keepBehaviour(ofService: "shop") }
        let refusal = await #expect(throws: StoreError.self) {
            try await fixture.store.checkFilter("not sent any", applications: ["shop-ios"])
        }
        #expect(refusal?.hint?.contains("pushmta behaviour keep shop") == true)
        #expect(try await fixture.store.purgeBehaviour(worker: StoreFixture.worker, limit: 10) == 1)
        try await fixture.store.keepBehaviour(ofService: "shop")
        let row = try await fixture.store.behaviour(ofService: "shop").first
        #expect(row?.isKept == true && row?.deliveries == 0 && row?.since != nil)
    }

    @Test(
        "What the history cannot know is refused with the reason",
        arguments: [
            ("clicked delivery 999", "does not exist"), ("not clicked label 'Sprng'", "which no delivery has"),
            ("sent category 'nothing'", "do not have"),
        ]
    )
    func refused(_ filter: String, _ words: String) async throws {
        let fixture = try await made(1)
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        let refusal = await #expect(throws: StoreError.self) {
            try await fixture.store.setTarget(ofDelivery: id, DeliveryTarget(filter: filter))
        }
        #expect(refusal?.sqlState == "PM021" && refusal?.message.contains(words) == true, "\(refusal as Any)")
    }

    @Test("A service that keeps no history has nothing written, and a filter over it is refused")
    func off() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        _ = try await sent(fixture)
        #expect(try await bits(fixture) == 0)
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        let refusal = await #expect(throws: StoreError.self) {
            try await fixture.store.setTarget(ofDelivery: id, DeliveryTarget(filter: "not clicked any"))
        }
        #expect(refusal?.hint?.contains("pushmta behaviour keep shop") == true, "\(refusal as Any)")
        // If the history ends after that, the delivery does not go to all.
        try await fixture.store.keepBehaviour(ofService: "shop")
        try await fixture.store.setTarget(ofDelivery: id, DeliveryTarget(filter: "not clicked any"))
        try await fixture.store.keepBehaviour(ofService: "shop", false)
        await #expect(throws: StoreError.self) { try await fixture.store.startDelivery(id) }
    }

    @Test("A saved audience with such a filter is counted, and has a sample")
    func audience() async throws {
        let fixture = try await made()
        let first = try await sent(fixture, failed: "1, 2, 3")
        let store = fixture.store
        try await store.saveAudience("missed", ofService: "shop", filter: "not sent delivery \(first)")
        try await store.askAudienceCount("missed", ofService: "shop")
        #expect(try await store.countAskedAudience())
        let row = try required(try await store.audiences().first)
        #expect(row.problem.isEmpty && row.subscriptions == 3)
        #expect(try await Set(store.audienceSample("missed", ofService: "shop").map(\.subscriptionID)) == [1, 2, 3])
        // Without a history it says so.
        try await store.keepBehaviour(ofService: "shop", false)
        try await fixture.sql("UPDATE pushmta_engine.audience SET counted_at = NULL")
        try await store.askAudienceCount("missed", ofService: "shop")
        #expect(try await store.countAskedAudience())
        #expect(try await store.audiences().first?.problem.contains("keeps no history") == true)
    }

    @Test("A count asks only for blocks of which the history has something: ids have large gaps after a restore")
    func gaps() async throws {
        let fixture = try await made()
        try await fixture.sql(
            """
            SELECT setval(pg_get_serial_sequence('pushmta_engine.subscription', 'id'), 1000000000) FROM pushmta_engine.service LIMIT 1
            """
        )
        try await fixture.store.seedSubscriptions(application: "shop-android", count: 20)
        let first = try await fixture.store.createDelivery(
            NewDelivery(
                label: "First",
                applications: ["shop-ios", "shop-android"],
                content: #"{"ios": {"title": "a"}, "android": {"title": "a"}}"#
            )
        )
        try await fixture.store.startDelivery(first)
        try await fixture.prepare()
        try await fixture.end(first)
        try await fixture.countAll()
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-android"], content: #"{"android": {"title": "a"}}"#)
        )
        try await fixture.store.setTarget(ofDelivery: id, DeliveryTarget(filter: "sent delivery \(first)"))
        // The ids 1 to 40, and those above 1,000,000,000.
        let known: [Int32] = [0, 244_140]
        for asks in [true, false] {
            let subject = try await fixture.store.query(CountSubject.sql, [.int64(id), .bool(asks)])
                .one(CountSubject.init)
            #expect(subject.behaviourBlocks == (asks ? known : []))
        }
        let counts = try await fixture.store.countTarget(ofDelivery: id)
        #expect(counts == [TargetCount(application: "shop-android", messages: 20, excluded: 0)])
    }

    @Test("The console and count_target count such a filter as the preparation does")
    func counted() async throws {
        let fixture = try await made()
        let first = try await sent(fixture, failed: "1, 2, 3")
        let filter = "not sent delivery \(first)"
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        try await fixture.store.setTarget(ofDelivery: id, DeliveryTarget(filter: filter))
        let counts = try await fixture.store.countTarget(ofDelivery: id)
        #expect(counts == [TargetCount(application: "shop-ios", messages: 3, excluded: 0)])
        let application = try await fixture.store.application(named: "shop-ios").id
        let parsed = try await fixture.store.parseFilter(filter).get()
        for limit in [Duration.seconds(60), .zero] {
            let audience = try await fixture.store.countAudience(parsed, applications: [application], within: limit)
            #expect(audience.count == 3)
        }
        // The sample of a target that is too large to count.
        let behaviour = BehaviourScope(services: [try await fixture.service()], of: "looked")
        let start = try await fixture.store.databaseClock()
        let sampled = try FilterSQL(parsed, firstParameter: 4, mapping: nil, start: start, behaviour: behaviour)
        let rows = try await fixture.store.query(
            AudienceCounter.sampleSQL(sampled),
            [.int32Array([application]), .int64Array([1]), .int64(250)] + sampled.parameters
        )
        let chosen = try rows.one { row in
            _ = try row.int32()
            let chosen = try row.int64()
            _ = try row.int64()
            return chosen
        }
        #expect(chosen == 3)
    }
}

extension StoreFixture {
    /// The number of service shop.
    func service() async throws -> Int32 {
        Int32(try required(try await sql("SELECT id FROM pushmta_engine.service WHERE name = 'shop'")))
    }

    /// Ends the messages of a delivery: they were sent, except those to these ids, which failed.
    func end(_ delivery: Int64, failed: String = "0") async throws {
        try await sql(
            """
            WITH message AS (
                INSERT INTO pushmta_engine.broad_log (delivery_id, subscription_id, part_id, sequence, log_day, status, logged_at)
                SELECT t.delivery_id, u.id, t.part_id, t.first_sequence + u.n - 1, t.log_day, CASE WHEN u.id IN (\(failed)) THEN 2 ELSE 1 END,
                    clock_timestamp()
                FROM pushmta_engine.delivery_part_target t
                CROSS JOIN LATERAL unnest(t.subscription_ids) WITH ORDINALITY u(id, n) WHERE t.delivery_id = \(delivery)
                RETURNING part_id, status
            ), count AS (
                SELECT m.part_id, count(*) FILTER (WHERE m.status = 1) AS sent, count(*) FILTER (WHERE m.status = 2) AS failed
                FROM message m GROUP BY m.part_id
            )
            UPDATE pushmta_engine.delivery_part p SET state = 'done', finished_at = clock_timestamp(), sent = c.sent, failed = c.failed
            FROM count c WHERE p.id = c.part_id
            """
        )
    }
}
