import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Target mappings")
struct MappingTests {
    private func make() async throws -> StoreFixture {
        let fixture = try await StoreFixture.make()
        try await fixture.sql("CREATE SCHEMA \"CRM x\"")
        try await fixture.sql(
            "CREATE TABLE \"CRM x\".\"per\"\"son\" (key text PRIMARY KEY, \"c\"\"ity\" text, age integer, extra jsonb)"
        )
        return fixture
    }

    private func refusal(_ fixture: StoreFixture, _ view: String, _ key: String) async -> String? {
        do {
            try await fixture.store.createMapping(name: "m", label: "", view: view, keyColumn: key)
        } catch { return (error as? StoreError).map { "\($0)" } ?? "other: \(error)" }
        return nil
    }

    @Test("A view is resolved with its columns and their kinds, whatever its name")
    func resolved() async throws {
        let fixture = try await make()
        let made = try await fixture.store.createMapping(
            name: "people",
            label: "People",
            view: #""CRM x"."per""son""#,
            keyColumn: "key"
        )
        #expect(made.view == #""CRM x"."per""son""# && made.keyColumn.name == "key")
        #expect(made.columns.map(\.name) == ["key", "c\"ity", "age", "extra"])
        #expect(made.columns.map(\.kind) == [.text, .text, .number, .text])
        #expect(try await fixture.store.readsWholeView(made) == false)
        #expect(try await fixture.store.targetMapping(application: 1) == nil)
        try await fixture.store.setService(name: "shop", mapping: "people")
        #expect(try await fixture.store.targetMapping(application: 1) == made)
        #expect(try await fixture.store.service(named: "shop").mapping == "people")
        try await fixture.store.setService(name: "shop", mapping: "")
        #expect(try await fixture.store.targetMapping(application: 1) == nil)
        try await fixture.sql(#"DROP TABLE "CRM x"."per""son""#)
        let listed = try await fixture.store.mappings()
        #expect(listed.count == 1 && listed[0].problem?.contains("no view") == true)
    }

    @Test("An unusable mapping is refused with the reason")
    func refused() async throws {
        let fixture = try await make()
        try await fixture.sql("CREATE TABLE doubled (key text, n integer)")
        try await fixture.sql("INSERT INTO doubled VALUES ('a', 1), ('b', 2), ('a', 3), (NULL, 4), (NULL, 5)")
        try await fixture.sql("CREATE VIEW pairs AS SELECT DISTINCT ON (key) * FROM doubled")
        #expect(await refusal(fixture, "nothing", "key")?.contains("no view nothing") == true)
        #expect(await refusal(fixture, "a.b.c.d.e", "key")?.contains("not the name of a view") == true)
        #expect(await refusal(fixture, "x; DROP TABLE doubled", "key")?.contains("not the name of a view") == true)
        // An OID from the catalog (pg_class itself), which newer servers accept as a name.
        #expect(await refusal(fixture, "1259", "key")?.contains("not the name of a view") == true)
        #expect(await refusal(fixture, "doubled", "kee")?.contains("did you mean key") == true)
        #expect(await refusal(fixture, "doubled", "key")?.contains("several rows") == true)
        for own in [
            "pushmta_engine.credential", "pushmta.subscription", "pg_catalog.pg_authid", "information_schema.tables",
        ] {
            #expect(await refusal(fixture, own, "id")?.contains("not one of your views or tables") == true)
        }
        #expect(await refusal(fixture, "pairs", "key") == nil)
        #expect(try await fixture.store.readsWholeView(try await fixture.store.mapping(named: "m")))
        #expect(await refusal(fixture, "pairs", "key")?.contains("already") == true)
        await #expect { try await fixture.store.setService(name: "shop", mapping: "x") } throws: {
            ($0 as? StoreError)?.code == .notFound
        }
    }

    @Test("An unreadable view is distinguished from a missing one")
    func rights() async throws {
        let fixture = try await make()
        try await fixture.sql("CREATE TABLE closed (key text)")
        try await fixture.sql("CREATE TABLE partly (key text, secret text)")
        try await fixture.sql("REVOKE SELECT ON closed, partly FROM pushmta_reader")
        try await fixture.sql("GRANT SELECT (key) ON partly TO pushmta_reader")
        #expect(
            await refusal(fixture, "closed", "key")?.contains(
                "GRANT USAGE ON SCHEMA public TO pushmta_reader; GRANT SELECT ON public.closed TO pushmta_reader"
            ) == true
        )
        let partly = try await fixture.store.createMapping(name: "p", label: "", view: "partly", keyColumn: "key")
        #expect(partly.columns.map(\.name) == ["key"])
    }

    @Test(
        "User keys match keys of every type, as they are written",
        arguments: [
            ("bigint", ["7", "-12", "0"], ["007", "7.0", "x", "99999999999999999999"]),
            ("smallint", ["7"], ["70000"]), ("uuid", ["6f9619ff-8b86-4011-b42d-00cf4fc964ff"], ["6f9619ff"]),
            ("text", ["7", "Ä'"], ["8"]), ("varchar(20)", ["7"], ["8"]), ("numeric", ["7.5"], ["7.50"]),
        ]
    )
    func keys(_ type: String, _ found: [String], _ missing: [String]) async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.sql("CREATE TABLE person (key \(type) PRIMARY KEY, city text)")
        for key in found {
            try await fixture.sql("INSERT INTO person VALUES ('\(key.replacing("'", with: "''"))', 'Lyon')")
        }
        let mapping = try await fixture.store.createMapping(name: "m", label: "", view: "person", keyColumn: "key")
        #expect(try await fixture.store.readsWholeView(mapping) == (type == "numeric"), "the key's index serves")
        try await fixture.store.setService(name: "shop", mapping: "m")
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: Int64(found.count + missing.count))
        for (place, key) in (found + missing).enumerated() {
            try await fixture.sql(
                "UPDATE pushmta_engine.subscription SET user_key = '\(key.replacing("'", with: "''"))' WHERE id = \(place + 1)"
            )
        }
        let id = try await fixture.filteredDelivery("mapping.city = 'Lyon'")
        try await fixture.prepare()
        #expect(try await fixture.targets(id) == Set(found.indices.map { Int64($0) + 1 }))
        let others = try await fixture.filteredDelivery("mapping.key is null")
        try await fixture.prepare()
        #expect(try await fixture.targets(others).count == missing.count)
    }

    @Test("Rows that a view later has twice send nothing twice; a missing column or view makes the delivery wait")
    func changes() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.sql("CREATE TABLE person (key text, city text)")
        try await fixture.store.createMapping(name: "m", label: "", view: "person", keyColumn: "key")
        try await fixture.store.setService(name: "shop", mapping: "m")
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 10)
        try await fixture.sql(
            "INSERT INTO person SELECT user_key, 'Lyon' FROM pushmta_engine.subscription, generate_series(1, 3)"
        )
        let id = try await fixture.filteredDelivery("mapping.city = 'Lyon'", onePerUser: true)
        #expect(try await fixture.prepare().messages == 10)
        #expect(try await fixture.assertEquation(id))
        try await fixture.sql("ALTER TABLE person RENAME city TO town")
        let column = try await fixture.filteredDelivery("mapping.city = 'Lyon'")
        try await fixture.sql("UPDATE pushmta_engine.delivery SET priority = 1 WHERE id = \(column)")
        let town = try await fixture.filteredDelivery("mapping.town = 'Lyon' and mapping.town in ('Lyon')")
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        #expect(job.deliveryID == town)
        let waiting = try await fixture.store.deliveryProgress(column)
        #expect(waiting.state == .pending && waiting.waitingReason.contains("no column \"city\""))
        let problem = try await fixture.store.mappings().first?.problem
        #expect(problem?.contains("\"city\" (delivery \(column) uses it)") == true)
        // Between two chunks.
        try await fixture.sql("DROP TABLE person")
        await #expect { try await fixture.store.prepareChunk(job) } throws: {
            ($0 as? StoreError)?.code == .unavailable && "\($0)".contains("42P01")
        }
    }

    @Test("A filter over a mapping accepts only one service")
    func services() async throws {
        let fixture = try await make()
        try await fixture.makePeople()
        try await fixture.store.createService(name: "other", label: "")
        try await fixture.store.createApplication(
            NewApplication(service: "other", name: "other-ios", platform: .ios, integrationKey: "o", account: "apns")
        )
        let names = ["shop-ios", "other-ios"]
        try await fixture.store.checkFilter("locale = 'fr'", applications: names)
        await #expect {
            try await fixture.store.checkFilter("mapping.age > 3", applications: names)
        } throws: { "\($0)".contains("other-ios") }
        try await fixture.sql("CREATE VIEW others AS SELECT * FROM crm.person")
        try await fixture.store.createMapping(name: "others", label: "", view: "others", keyColumn: "key")
        try await fixture.store.setService(name: "other", mapping: "others")
        await #expect {
            try await fixture.store.checkFilter("mapping.age > 3", applications: names)
        } throws: { "\($0)".contains("different ones") }
        await #expect {
            try await fixture.store.checkFilter("mapping.age = 'three'", applications: ["shop-ios"])
        } throws: { "\($0)".contains("mapping.age is a number") }
        await #expect {
            try await fixture.store.checkFilter("mapping.born contains '2'", applications: ["shop-ios"])
        } throws: { "\($0)".contains("contains no text") }
    }
}
