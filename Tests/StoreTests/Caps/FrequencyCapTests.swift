import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Frequency caps")
struct FrequencyCapTests {
    private static let daily = FrequencyCapRow(service: "shop", name: "day", maxMessages: 1, unit: .hours, length: 24)

    /// A fixture with three devices of one user, on two platforms, and one device without a user.
    private func made(_ caps: [FrequencyCapRow]) async throws -> StoreFixture {
        let fixture = try await StoreFixture.make()
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key)
            SELECT a.id, 'token-' || n, CASE WHEN n < 4 THEN 'ada' ELSE '' END
            FROM generate_series(1, 4) n
            JOIN pushmta_engine.application a ON a.name = CASE n WHEN 3 THEN 'shop-android' ELSE 'shop-ios' END ORDER BY n
            """
        )
        for cap in caps { try await fixture.store.setFrequencyCap(cap) }
        return fixture
    }

    private func deliver(_ fixture: StoreFixture, category: String? = "marketing") async throws -> (
        id: Int64, messages: Int64, excluded: Int64
    ) {
        let id = try await fixture.startedDelivery(["shop-ios", "shop-android"])
        let name = category.map { "'\($0)'" } ?? "NULL"
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery SET category_id = (SELECT k.id FROM pushmta_engine.category k WHERE k.name = \(name))
            WHERE id = \(id)
            """
        )
        let made = try await fixture.prepare()
        return (id, made.messages, made.excluded)
    }

    @Test("A delivery to three devices of a person counts once, and a person at the cap is left out on all of them")
    func devices() async throws {
        let fixture = try await made([
            FrequencyCapRow(service: "shop", name: "day", maxMessages: 2, unit: .hours, length: 24)
        ])
        for _ in 0..<2 { #expect(try await deliver(fixture).messages == 4) }
        let third = try await deliver(fixture)
        #expect(third.messages == 0 && third.excluded == 4)
        let logged =
            "SELECT count(*) FROM pushmta.exclusion_log WHERE delivery_id = \(third.id) AND reason = 'frequency_cap'"
        #expect(try await fixture.sql(logged) == 4)
    }

    @Test("Of two deliveries that are prepared at once only one gets the last message that a person may have")
    func atOnce() async throws {
        let fixture = try await made([Self.daily])
        let first = try await fixture.startedDelivery(["shop-ios", "shop-android"])
        let ask = """
            SELECT FROM pushmta_engine.ask_caps(\(first), 1, ARRAY(SELECT s.id FROM pushmta_engine.subscription s ORDER BY s.id),
                ARRAY(SELECT coalesce(s.person_id, s.id) FROM pushmta_engine.subscription s ORDER BY s.id), NULL)
            """
        let second = try await fixture.startedDelivery(["shop-ios", "shop-android"])
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET start_at = now() + interval '1 hour' WHERE id = \(first)"
        )
        try await fixture.during(ask) { _ = try await fixture.prepare() }
        #expect(try await fixture.sql("SELECT target FROM pushmta_engine.delivery WHERE id = \(second)") == 0)
    }

    @Test("Transactional deliveries neither ask nor count, unless a cap names them")
    func exempt() async throws {
        let fixture = try await made([Self.daily])
        for _ in 0..<2 { #expect(try await deliver(fixture, category: "transactional").messages == 4) }
        #expect(try await deliver(fixture, category: nil).messages == 4)
        #expect(try await deliver(fixture, category: "news").messages == 0)
        try await fixture.store.setFrequencyCap(
            FrequencyCapRow(
                service: "shop",
                name: "orders",
                maxMessages: 1,
                unit: .days,
                length: 7,
                categories: ["transactional"]
            )
        )
        #expect(try await deliver(fixture, category: "transactional").messages == 4)
        #expect(try await deliver(fixture, category: "transactional").messages == 0)
        #expect(try await fixture.store.frequencyCaps(ofService: "shop").map(\.categories) == [nil, ["transactional"]])
    }

    @Test("What was prepared and dropped, and what ended without having been sent, is given back")
    func givenBack() async throws {
        let fixture = try await made([Self.daily])
        let dropped = try await deliver(fixture).id
        #expect(try await deliver(fixture).messages == 0)
        try await fixture.sql("DO $$ BEGIN PERFORM pushmta_engine.drop_preparation(\(dropped)); END $$")
        #expect(try await deliver(fixture).messages == 4)
        #expect(try await deliver(fixture).messages == 0)
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery_part SET state = 'done', finished_at = now(), rest_status = 7"
        )
        while try await fixture.sql("SELECT pushmta_engine.count_parts(100)") ?? 0 > 0 {}
        #expect(try await deliver(fixture).messages == 4)
    }

    @Test("People in a hold-out may get another message, and so may those whose variant ended unsent")
    func heldOut() async throws {
        let fixture = try await made([Self.daily])
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 200)
        let id = try await fixture.store.createDelivery(
            NewDelivery(
                label: "Sale",
                applications: ["shop-ios", "shop-android"],
                content: #"{"ios": {"title": "a"}, "android": {"title": "a"}}"#
            )
        )
        try await fixture.sql(
            """
            DO $$ BEGIN
                PERFORM pushmta.set_experiment(\(id), '[{"percent": 25}, {"percent": 25}]', hold_out_percent => 50);
            END $$
            """
        )
        try await fixture.store.startDelivery(id)
        try await fixture.prepare(partSize: 10)
        let logged = "SELECT count(*) FROM pushmta.exclusion_log WHERE delivery_id = \(id) AND reason = 'hold_out'"
        let heldOut = try #require(try await fixture.sql(logged))
        #expect(heldOut > 0 && heldOut < 204)
        #expect(try await deliver(fixture).messages == heldOut)
        #expect(try await deliver(fixture).messages == 0)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery_part SET state = 'done', finished_at = now(), rest_status = 7 WHERE delivery_id = \(id)
            """
        )
        while try await fixture.sql("SELECT pushmta_engine.count_parts(100)") ?? 0 > 0 {}
        #expect(try await deliver(fixture).messages == 204 - heldOut)
    }

    @Test("A category stays as long as a cap names it")
    func named() async throws {
        let news = FrequencyCapRow(service: "shop", name: "news", maxMessages: 1, unit: .days, categories: ["news"])
        let fixture = try await made([news])
        #expect(await refusal { try await fixture.store.dropCategory("news", service: "shop") }?.sqlState == "PM151")
        try await fixture.store.dropFrequencyCap("news", ofService: "shop")
        try await fixture.store.dropCategory("news", service: "shop")
    }

    @Test("Who is forgotten leaves the history")
    func forgotten() async throws {
        let fixture = try await made([Self.daily])
        _ = try await deliver(fixture)
        let persons = "SELECT sum(bit_count(h.persons::\"bit\")) FROM pushmta_engine.cap_history h"
        #expect(try await fixture.sql("SELECT (\(persons))::bigint") == 2)
        try await fixture.sql("SELECT f.subscriptions FROM pushmta.forget_user('shop', 'ada') f")
        #expect(try await fixture.sql("SELECT (\(persons))::bigint") == 1)
    }

    @Test("Caps of 1 to 180 days count each day once, whether it is folded or in a sum of 8 or 64 days")
    func sums() async throws {
        let fixture = try await made([])
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.cap_history (service_id, block, day, category_id, delivery_id, digit, persons)
            SELECT 1, 0, date '2030-01-01' - n, 0, 0, 0, pushmta_engine.bits_at(k, (n * (k + 1) % 7 < 2)::integer)::bit varying
            FROM generate_series(5, 300) n CROSS JOIN generate_series(0, 63) k GROUP BY n
            """
        )
        try await fixture.sql("INSERT INTO pushmta_engine.cap_lock (service_id, persons) VALUES (1, 0)")
        while try await fixture.sql("SELECT pushmta_engine.sum_caps(10, '2030-01-01 12:00Z')") ?? 0 > 0 {}
        for (length, sums) in [(8, Int64(37)), (64, 5)] {
            let days = "SELECT count(DISTINCT h.day) FROM pushmta_engine.cap_history h WHERE h.delivery_id = \(-length)"
            #expect(try await fixture.sql(days) == sums, "sums of \(length) days")
        }
        // The persons of each length and limit, next to a count of the days themselves.
        let wrong = """
            SELECT count(*) FROM generate_series(1, 180) l(n) CROSS JOIN unnest(ARRAY[1, 3, 20, 45]) m(n)
            WHERE coalesce((SELECT r.persons FROM pushmta_engine.reached_persons(
                    ROW(1, '2030-01-01 12:00Z', 1, 0, '2030-01-01')::pushmta_engine.capped_delivery,
                    ARRAY[ROW(1, 1, 'cap', m.n, 'days', l.n, NULL, now(), now())::pushmta_engine.frequency_cap], ARRAY[0], NULL) r),
                pushmta_engine.no_bits()) <> (SELECT pushmta_engine.bits_at(c.k, (c.n >= m.n)::integer)::bit varying
                FROM (SELECT k, (SELECT count(*) FROM generate_series(5, l.n - 1) d WHERE d * (k + 1) % 7 < 2) AS n
                    FROM generate_series(0, 63) k) c)
            """
        let differences = try await fixture.store.query(wrong).one { try $0.int64() }
        #expect(differences == 0)
        // Who is forgotten leaves the sums, too.
        let own = "SELECT count(*) FROM pushmta_engine.cap_history h WHERE get_bit(h.persons, 1) = 1"
        #expect(try await fixture.sql("\(own) AND h.delivery_id = -64") ?? 0 > 0)
        try await fixture.sql("SELECT f.subscriptions FROM pushmta.forget_user('shop', 'ada') f")
        #expect(try await fixture.sql(own) == 0)
    }

    @Test("A wrong cap is refused in words")
    func refused() async throws {
        let fixture = try await StoreFixture.make()
        for cap in [
            FrequencyCapRow(service: "shop", name: "a", maxMessages: 0, unit: .days),
            FrequencyCapRow(service: "shop", name: "a", maxMessages: 1, unit: .hours, length: 73),
            FrequencyCapRow(service: "shop", name: "a", maxMessages: 1, unit: .days, categories: ["nothing"]),
        ] {
            #expect(await refusal { try await fixture.store.setFrequencyCap(cap) }?.sqlState == "PM310")
        }
        #expect(await refusal { try await fixture.store.dropFrequencyCap("a", ofService: "shop") }?.code == .notFound)
    }

    private func refusal(_ body: () async throws -> Void) async -> StoreError? {
        do {
            try await body()
            return nil
        } catch { return error as? StoreError }
    }

    @Test("A delivery without caps has nothing of them in its statement")
    func costsNothing() {
        for target in [ChunkTarget(), ChunkTarget(onePerUser: true)] {
            for sql in [PreparationChunk.subscribers(target), PreparationChunk.explicit(target)] {
                #expect(!sql.contains("ask_caps") && !sql.contains("person_id"))
            }
            var capped = target
            capped.caps = .persons
            #expect(PreparationChunk.subscribers(capped).contains("ask_caps"))
            #expect(PreparationChunk.explicit(capped).contains("ask_caps"))
        }
    }

    @Test("The feedback worker finds nothing to fold on the day of a delivery")
    func kept() async throws {
        let fixture = try await made([Self.daily])
        _ = try await deliver(fixture)
        #expect(try await fixture.heartbeat())
        #expect(try await fixture.store.keepCaps(worker: StoreFixture.worker, blocks: 100) == 0)
    }
}
