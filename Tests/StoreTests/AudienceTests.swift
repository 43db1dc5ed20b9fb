import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Saved audiences", .timeLimit(.minutes(3)))
struct AudienceTests {
    private static let german = "locale = 'de'"

    /// Forty subscribers on iOS, half of them German; every fifth has opted out.
    private func fixture() async throws -> StoreFixture {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 40)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET opted_out = id % 5 = 0, locale = CASE WHEN id % 2 = 0 THEN 'de' ELSE 'fr' END
            """
        )
        return fixture
    }

    private func delivery(_ fixture: StoreFixture) async throws -> Int64 {
        try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "Hi"}}"#)
        )
    }

    @Test("An audience is saved, changed and removed, and the log says who did it")
    func saved() async throws {
        let fixture = try await fixture()
        let store = fixture.store
        #expect(try await store.saveAudience("german", ofService: "shop", filter: " \(Self.german) "))
        #expect(try await !store.saveAudience("german", ofService: "shop", filter: Self.german))
        let row = try required(try await store.audiences(ofService: "shop").first)
        #expect(row.name == "german" && row.filter == Self.german && row.subscriptions == nil && !row.isBeingCounted)
        #expect(row.madeBy.hasPrefix("login ") && row.changedBy == row.madeBy)
        #expect(try await store.saveAudience("german", ofService: "shop", filter: "locale = 'at'"))
        #expect(try await store.audiences().map(\.filter) == ["locale = 'at'"])
        try await store.removeAudience("german", ofService: "shop")
        #expect(try await store.audiences().isEmpty)
        let logged =
            "SELECT count(*) FROM pushmta_engine.audit_log WHERE subject = 'shop/german' AND action = 'audience."
        #expect(try await fixture.sql(logged + "save'") == 2)
        #expect(try await fixture.sql(logged + "remove'") == 1)
        // The filter may name people.
        #expect(try await fixture.sql(logged + "save' AND detail <> ''") == 0)
    }

    @Test("What cannot be an audience is refused, with the reason")
    func refused() async throws {
        let fixture = try await fixture()
        for (name, filter, code) in [
            ("", Self.german, nil), ("none", "  ", "PM350"), ("wrong", "locale =", "PM021"),
            ("mapped", "mapping.city = 'Ulm'", "PM021"),
        ] as [(String, String, String?)] {
            let error = await #expect(throws: StoreError.self) {
                try await fixture.store.saveAudience(name, ofService: "shop", filter: filter)
            }
            #expect(code == nil || error?.sqlState == code, "\(name)")
        }
        let unknown = await #expect(throws: StoreError.self) {
            try await fixture.store.removeAudience("nobody", ofService: "shop")
        }
        #expect(unknown?.code == .notFound)
        let elsewhere = await #expect(throws: StoreError.self) {
            try await fixture.store.saveAudience("german", ofService: "nowhere", filter: Self.german)
        }
        #expect(elsewhere?.code == .notFound)
    }

    @Test("A delivery gets a copy of the filter, and shows its name until it has another one")
    func copied() async throws {
        let fixture = try await fixture()
        let store = fixture.store
        try await store.saveAudience("german", ofService: "shop", filter: Self.german)
        let id = try await delivery(fixture)
        try await store.setTarget(ofDelivery: id, DeliveryTarget(audience: "german"))
        try await store.saveAudience("german", ofService: "shop", filter: "locale = 'at'")
        let copy = try await store.copyDelivery(id)
        for delivery in [id, copy] {
            let targeting = try await store.targeting(ofDelivery: delivery)
            #expect(targeting.filter == Self.german && targeting.audience == "german")
        }
        try await store.removeAudience("german", ofService: "shop")
        #expect(try await store.targeting(ofDelivery: id).audience == "german")
        try await store.setTarget(ofDelivery: id, DeliveryTarget(allowsDuplicates: false))
        #expect(try await store.targeting(ofDelivery: id).audience == "german")
        try await store.setTarget(ofDelivery: id, DeliveryTarget(filter: ""))
        #expect(try await store.targeting(ofDelivery: id).audience == "")
        try await store.saveAudience("german", ofService: "shop", filter: Self.german)
        try await fixture.sql("DO $$ BEGIN PERFORM pushmta.update_delivery(\(copy), audience => 'german'); END $$")
        #expect(try await store.targeting(ofDelivery: copy).filter == Self.german)
        let made = try await fixture.sql(
            "SELECT pushmta.create_delivery('a', ARRAY['shop-ios'], '{\"ios\": {\"title\": \"a\"}}', audience => 'german')"
        )
        #expect(try await store.targeting(ofDelivery: try required(made)).audience == "german")
        for wrong in [
            DeliveryTarget(audience: "nobody"), DeliveryTarget(filter: Self.german, audience: "german"),
        ] {
            await #expect(throws: StoreError.self) { try await store.setTarget(ofDelivery: id, wrong) }
        }
    }

    @Test("Applications of several services have no audience in common")
    func services() async throws {
        let fixture = try await fixture()
        let store = fixture.store
        try await store.createService(name: "bank", label: "Bank")
        try await store.createApplication(
            NewApplication(
                service: "bank",
                name: "bank-ios",
                platform: .ios,
                integrationKey: "bank-key",
                account: "apns"
            )
        )
        try await store.saveAudience("german", ofService: "shop", filter: Self.german)
        for applications in [["bank-ios"], ["bank-ios", "shop-ios"]] {
            let id = try await store.createDelivery(
                NewDelivery(label: "d", applications: applications, content: #"{"ios": {"title": "a"}}"#)
            )
            await #expect(throws: StoreError.self, "\(applications)") {
                try await store.setTarget(ofDelivery: id, DeliveryTarget(audience: "german"))
            }
        }
    }

    @Test("A call asks, a supervisor counts, and the sample has no more than the role may see")
    func counted() async throws {
        let fixture = try await fixture()
        let store = fixture.store
        try await store.saveAudience("german", ofService: "shop", filter: Self.german)
        #expect(try await !store.countAskedAudience())
        try await store.askAudienceCount("german", ofService: "shop")
        #expect(try await store.audiences().map(\.isBeingCounted) == [true])
        #expect(try await fixture.other.countAskedAudience())
        let row = try required(try await store.audiences().first)
        // Those of id 10, 20, 30 and 40 have opted out.
        #expect(row.subscriptions == 16 && row.excluded == 4 && row.margin == nil && row.countedAt != nil)
        #expect(!row.isBeingCounted && row.problem.isEmpty)
        // Not again within a minute.
        try await store.askAudienceCount("german", ofService: "shop")
        #expect(try await !store.countAskedAudience())
        let sample = try await store.audienceSample("german", ofService: "shop")
        #expect(sample.count == 10 && sample.allSatisfy { $0.locale == "de" && $0.application == "shop-ios" })
        let actor = try await fixture.actor(.marketing)
        #expect(
            try await store.sample(ofAudience: "german", ofService: "shop", by: actor).map(\.id)
                == sample.map(\.subscriptionID)
        )
        let reader = try await fixture.actor(.read)
        await #expect(throws: StoreError.self) {
            _ = try await store.sample(ofAudience: "german", ofService: "shop", by: reader)
        }
        // A person who is forgotten is in no sample, and another filter has no count.
        let first = try required(sample.first)
        try await fixture.sql(
            """
            SELECT count(*) FROM pushmta.forget_user('shop',
                (SELECT s.user_key FROM pushmta_engine.subscription s WHERE s.id = \(first.subscriptionID)))
            """
        )
        #expect(try await store.audienceSample("german", ofService: "shop").isEmpty)
        try await store.saveAudience("german", ofService: "shop", filter: "locale = 'fr'")
        #expect(try await store.audiences().first?.countedAt == nil)
    }

    @Test("A session that holds an audience does not hold up those who count")
    func held() async throws {
        let fixture = try await fixture()
        let store = fixture.store
        try await store.saveAudience("german", ofService: "shop", filter: Self.german)
        try await store.askAudienceCount("german", ofService: "shop")
        let id = try await store.query("SELECT t.id FROM pushmta_engine.take_audience_count() t").one {
            try $0.int32()
        }
        func keep() async throws {
            try await store.keep(nil, sample: [], problem: "too slow", ofAudience: id, filter: Self.german)
        }
        let connection = try await fixture.database.connect()
        try await connection.run(script: "BEGIN; SELECT pushmta.remove_audience('shop', 'german')")
        // Waiting for the session would take until the time limit.
        try await keep()
        #expect(try await !store.countAskedAudience())
        try await connection.run(script: "ROLLBACK")
        await connection.close()
        #expect(try await store.audiences().map(\.isBeingCounted) == [true])
        try await keep()
        #expect(try await store.audiences().map(\.problem) == ["too slow"])
    }

    @Test("A user of the console saves and removes an audience under the user's name")
    func console() async throws {
        let fixture = try await fixture()
        let store = fixture.store
        let actor = try await fixture.actor(.marketing)
        try await store.saveAudience("german", ofService: "shop", filter: Self.german, by: actor)
        #expect(try await store.audiences().first?.madeBy.hasPrefix("user ") == true)
        try await store.removeAudience("german", ofService: "shop", by: actor)
        #expect(try await store.audiences().isEmpty)
        let reader = try await fixture.actor(.read)
        await #expect(throws: StoreError.self) {
            try await store.saveAudience("german", ofService: "shop", filter: Self.german, by: reader)
        }
    }

    @Test("The roles of marketing and the console read audiences, and nobody reads push tokens or user keys in them")
    func rights() async throws {
        let fixture = try await fixture()
        try await fixture.store.saveAudience("german", ofService: "shop", filter: Self.german)
        let connection = try await fixture.database.connect()
        defer { Task { await connection.close() } }
        try await connection.run(script: "SET ROLE pushmta_marketing")
        try await connection.run(
            script: "SELECT * FROM pushmta.audience; SELECT * FROM pushmta.audience_sample('shop', 'german')"
        )
        await #expect(throws: PostgresError.self) {
            try await connection.run(script: "SELECT sample FROM pushmta_engine.audience")
        }
    }
}
