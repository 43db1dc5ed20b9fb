import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Deliveries with a filter")
struct FilterPreparationTests {
    @Test(
        "A chunk is bounded by the rows it reads; unselected subscribers are not exclusions; a crash resumes from the cursor"
    )
    func chunks() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 1_000)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET opted_out = true WHERE id % 100 = 0")
        let id = try await fixture.filteredDelivery("recipient.city = 'Lyon' and subscription_id <= 500")
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        let first = try await fixture.store.prepareChunk(job, partSize: 10, partsPerChunk: 10)
        // 100 were read: every seventh lives in Lyon, beginning with the seventh.
        #expect(first == ChunkResult(messages: 14, excluded: 0, parts: 2, done: false, busy: false))
        try await fixture.sql("UPDATE pushmta_engine.delivery SET changed_at = now() - interval '1 minute'")
        let taken = try required(try await fixture.other.claimDeliveriesToPrepare(host: "b").first)
        #expect(taken.resumed)
        while try await !fixture.other.prepareChunk(taken, partSize: 10, partsPerChunk: 10).done {}
        let expected = Set((1...500).filter { $0 % 7 == 0 && $0 % 100 != 0 }.map(Int64.init))
        #expect(try await fixture.targets(id) == expected)
        let progress = try await fixture.store.deliveryProgress(id)
        // None of the hundreds up to 500 is a multiple of 7.
        #expect(progress.target == Int64(expected.count) && progress.excluded == 0)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.exclusion_log") == 0)
        let dense = try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery_part WHERE dense")
        #expect(dense == 0, "an index range over all would read seven times too much")
        #expect(try await fixture.assertEquation(id))
    }

    @Test("now is the time of the start, however late a chunk is created")
    func now() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 20)
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET registered_at = now() - interval '1 hour' WHERE id <= 15"
        )
        let id = try await fixture.filteredDelivery("registered_at < now - 30 minutes")
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        _ = try await fixture.store.prepareChunk(job, partSize: 5, partsPerChunk: 2)
        // The next host continues an hour later, by the database's clock.
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET filter_now = now() - interval '1 hour', changed_at = now() - interval '1 hour'"
        )
        let taken = try required(try await fixture.other.claimDeliveriesToPrepare(host: "b").first)
        while try await !fixture.other.prepareChunk(taken, partSize: 5, partsPerChunk: 2).done {}
        #expect(
            try await fixture.targets(id) == Set(1...10),
            "those were chosen before, and nobody is an hour and a half old"
        )
    }

    @Test(
        "An unusable filter returns the delivery to editing with the reason, and the next one is prepared",
        arguments: [
            ("recipient.city = ", "a value is expected"), ("lokale = 'fr'", "did you mean locale"),
            ("mapping.city = 'Lyon'", "has none"), ("1 = 1; DROP TABLE pushmta_engine.delivery", "field"),
        ]
    )
    func refused(_ filter: String, _ words: String) async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 5)
        let bad = try await fixture.uncheckedDelivery(filter)
        let good = try await fixture.filteredDelivery("subscription_id = 3")
        #expect(try await fixture.store.claimDeliveriesToPrepare(host: "a").first?.deliveryID == good)
        let progress = try await fixture.store.deliveryProgress(bad)
        #expect(progress.state == .editing && progress.stateReason.contains(words), "\(progress.stateReason)")
        await #expect { try await fixture.store.checkFilter(filter, applications: ["shop-ios"]) } throws: {
            ($0 as? StoreError)?.code == .invalid && "\($0)".contains(words)
        }
    }

    @Test("Names and values of a filter are never SQL, whatever they contain")
    func injection() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 5)
        let evil = [
            "') OR true --", "'; DROP TABLE pushmta_engine.subscription; --", "$7", "\\'", "\" OR \"\"=\"",
            "x' OR '1'='1",
            "{\"a\": 1}", "%", "\u{2019}", "E'\\x'", "/*",
        ]
        for text in evil {
            let quoted = "'" + text.replacing("'", with: "''") + "'"
            let name = "\"" + text.replacing("\"", with: "\"\"") + "\""
            for filter in [
                "recipient.city = \(quoted)", "recipient.\(name) = \(quoted)", "parameters.\(name) contains \(quoted)",
                "user_key in (\(quoted), 'y')", "user_key starts with \(quoted)", "locale = \(quoted)",
            ] {
                let id = try await fixture.filteredDelivery(filter)
                #expect(try await fixture.prepare().messages == 0, "\(filter)")
                #expect(try await fixture.store.deliveryProgress(id).state == .inProgress)
            }
        }
        #expect(try await fixture.store.subscriptionCount(application: "shop-ios") == 5)
    }

    @Test("A target can only be set before the start, and explicit targets have no filter")
    func states() async throws {
        let fixture = try await StoreFixture.make()
        func refusal(_ id: Int64, _ target: DeliveryTarget) async -> StoreError.Code? {
            do { try await fixture.store.setTarget(ofDelivery: id, target) } catch {
                return (error as? StoreError)?.code
            }
            return nil
        }
        let started = try await fixture.startedDelivery()
        let explicit = try await fixture.startedDelivery(explicit: true)
        #expect(await refusal(started, DeliveryTarget(filter: "locale = 'fr'")) == .conflict)
        #expect(await refusal(explicit, DeliveryTarget(filter: "locale = 'fr'")) == .invalid)
        #expect(
            await refusal(explicit, DeliveryTarget(filter: String(repeating: " ", count: 70_000))) == nil,
            "it is none"
        )
        #expect(await refusal(explicit, DeliveryTarget(excludedLists: ["nothing"])) == .notFound)
        #expect(await refusal(99, DeliveryTarget(filter: "x")) == .notFound)
        let editing = try await fixture.store.createDelivery(
            NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        #expect(await refusal(editing, DeliveryTarget(filter: String(repeating: "x", count: 65_537))) == .invalid)
        try await fixture.store.setTarget(ofDelivery: editing, DeliveryTarget(filter: " locale = 'fr'\n"))
        #expect(try await fixture.store.targeting(ofDelivery: editing).filter == "locale = 'fr'")
        try await fixture.store.setTarget(ofDelivery: editing, DeliveryTarget(allowsDuplicates: true))
        #expect(
            try await fixture.store.targeting(ofDelivery: editing).filter == "locale = 'fr'",
            "what is not given stays"
        )
        try await fixture.store.setTarget(ofDelivery: editing, DeliveryTarget(filter: ""))
        #expect(try await fixture.store.targeting(ofDelivery: editing).filter == nil)
    }

    @Test("One per user chooses among the subscriptions that the filter selects")
    func onePerUser() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.makePeople()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 40)
        try await fixture.store.seedSubscriptions(application: "shop-android", count: 40)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET user_key = 'u' || id % 10, registered_at = now() - interval '1 day' + id * interval '1 s',
                locale = CASE WHEN id <= 60 THEN 'fr' ELSE 'de' END, parameters = jsonb_build_object('n', id)
            """
        )
        try await fixture.sql("INSERT INTO crm.person (key, age) SELECT 'u' || n, n FROM generate_series(0, 9) n")
        let both = ["shop-ios", "shop-android"]
        let byLocale = try await fixture.filteredDelivery("locale = 'fr'", both, onePerUser: true)
        #expect(try await fixture.prepare() == (10, 50, 1))
        #expect(try await fixture.targets(byLocale) == Set(51...60), "their newest registrations speak German")
        let byPerson = try await fixture.filteredDelivery(
            "mapping.age < 5 and parameters.n <= 20",
            both,
            onePerUser: true
        )
        #expect(try await fixture.prepare() == (5, 5, 1))
        #expect(try await fixture.targets(byPerson) == Set([11, 12, 13, 14, 20]))
        for id in [byLocale, byPerson] { #expect(try await fixture.assertEquation(id)) }
    }
}
