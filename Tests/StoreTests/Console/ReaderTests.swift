import PushCore
import Store
import TestSupport
import Testing

/// A preview in the console uses the same values that a child reads for a message.
@Suite("Readers of a preview")
struct ReaderTests {
    private static let names = [
        "city", "points", "recipient.city", "parameters.tier", "locale", "user_key", "mapping.city", "mapping.amount",
        "none",
    ]

    /// Subscriptions 1 to 3 of users `user-1` to `user-3`; the view has the first two.
    private func world() async throws -> StoreFixture {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET user_key = 'user-' || id, locale = 'nb', recipient = '{"city": "Bergen", "points": 12}',
                parameters = '{"tier": "gold"}'
            """
        )
        try await fixture.sql("CREATE TABLE person (key text PRIMARY KEY, city text, amount numeric)")
        try await fixture.sql("INSERT INTO person VALUES ('user-1', 'Oslo', 1.50), ('user-2', NULL, 2)")
        try await fixture.store.createMapping(name: "m", label: "", view: "person", keyColumn: "key")
        try await fixture.store.setService(name: "shop", mapping: "m")
        return fixture
    }

    /// A store with the rights of the console.
    private func console(_ fixture: StoreFixture) -> Store {
        Store(configuration: fixture.database.configuration(), role: Store.consoleRole)
    }

    private func address(_ id: Int64, _ store: Store, _ actor: ConsoleActor) async throws -> PreviewAddress {
        let applications = try await store.applications().map(\.id)
        return try await store.consoleReader(seed: nil, subscription: id, applications: applications, by: actor)
    }

    @Test("The console reads the same as a child, including columns of the mapping's view")
    func values() async throws {
        let fixture = try await world()
        let (store, oda) = (console(fixture), try await fixture.actor(.operate))
        let fields = try await fixture.store.resolve(
            MessageFields(names: Self.names, withLocale: true),
            application: try await fixture.store.application(named: "shop-ios")
        )
        for id in 1...3 {
            let loaded = try await fixture.store.loadSubscription(Int64(id), fields)
            var expected: [String: String] = [:]
            for (place, name) in Self.names.enumerated() where !loaded.fields[place].isNull(0) {
                expected[name] = loaded.fields[place].string(0)
            }
            let read = try await store.readerValues(
                address(Int64(id), store, oda),
                fields: Self.names,
                by: oda
            )
            #expect(read.values == expected && read.locale == "nb" && read.decision == .sendable, "\(id)")
            #expect(read.viewProblem == nil)
            #expect(read.values["mapping.city"] == (id == 1 ? "Oslo" : nil), "\(id)")
            #expect(read.values["points"] == "12" && read.values["user_key"] == "user-\(id)")
        }
        await store.close()
    }

    @Test(
        "A seed address's own values come first; users without the right see shortened user keys; look-ups are logged"
    )
    func seeds() async throws {
        let fixture = try await world()
        let (store, mia) = (console(fixture), try await fixture.actor(.marketing))
        try await fixture.store.addSeed(
            NewSeed(name: "me", address: .subscription(2), variables: #"{"mapping.city": "Hamar", "points": "own"}"#)
        )
        let applications = try await store.applications().map(\.id)
        let seed = try await store.consoleReader(seed: "me", subscription: nil, applications: applications, by: mia)
        let read = try await store.readerValues(seed, fields: Self.names, by: mia)
        #expect(read.values["mapping.city"] == "Hamar" && read.values["points"] == "own")
        #expect(read.values["mapping.amount"] == "2" && read.values["user_key"] == "us…")
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.audit_log WHERE action = 'subscription.preview' AND subject = '2' AND who = 'marketing'"
            ) == 1
        )
        await #expect {
            try await store.consoleReader(seed: "you", subscription: 1, applications: applications, by: mia)
        } throws: { ($0 as? StoreError)?.code == .notFound }
        await #expect { try await store.consoleReader(seed: nil, subscription: 1, applications: [], by: mia) } throws: {
            ($0 as? StoreError)?.code == .notFound
        }
        let reader = try await fixture.actor(.read)
        await #expect(throws: StoreError.self) { try await address(1, store, reader) }
        // Not by the number alone either.
        let refused = try await store.readerValues(seed, fields: ["mapping.amount"], by: reader)
        #expect(refused.values.isEmpty && refused.viewProblem != nil)
        await store.close()
    }

    @Test("A view that cannot be read, or does not answer in time, is reported as a problem")
    func problems() async throws {
        let fixture = try await world()
        let store: Store = console(fixture)
        let oda: ConsoleActor = try await fixture.actor(.operate)
        let person: PreviewAddress = try await address(1, store, oda)
        let problem = { @Sendable (column: String, timeout: Duration?) async throws -> LoadProblem? in
            let values = try await store.readerValues(
                person,
                fields: ["city", "mapping.\(column)"],
                by: oda,
                timeout: timeout
            )
            return values.viewProblem
        }
        #expect(try await problem("town", nil)?.text.contains("town") == true)
        try await fixture.sql("ALTER TABLE person RENAME TO people")
        try await fixture.sql(
            """
            CREATE VIEW person AS SELECT key, city, 1 / (amount - 1.5) AS broken FROM people
            """
        )
        #expect(try await problem("city", nil) == nil)
        #expect(try await problem("broken", nil)?.text.contains("22012") == true)
        try await fixture.sql(
            "CREATE OR REPLACE VIEW person AS SELECT key, city, 1 / (amount - 1.5) AS broken, pg_sleep(600)::text AS slow FROM people"
        )
        let slow = try await problem("slow", .milliseconds(50))
        #expect(slow?.isTimeout == true)
        try await fixture.sql("DROP VIEW person")
        #expect(try await problem("city", nil)?.text.contains("there is no view") == true)
        try await fixture.store.setService(name: "shop", mapping: "")
        #expect(try await problem("city", nil)?.text.contains("no target mapping") == true)
        await store.close()
    }
}
