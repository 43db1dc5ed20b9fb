import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Names and labels")
struct NameTests {
    private static let names = [
        "", " ", "\u{A0}\u{1680}\u{2000}\u{200A}\u{202F}\u{205F}\u{3000}", "a\nb", "a\rb", "a\tb", "\u{1}",
        "x\u{1B}[2J", "\u{1F}", "\u{7F}",
        "\u{80}", "x\u{9B}2J", "\u{9F}", "a\u{85}b", "a\u{2028}b", "a\u{2029}b", "\u{200B}", "\u{FEFF}", "shop", "Été",
        "日本 🙂", "a'b\"c\\d",
        String(repeating: "é", count: 100), String(repeating: "é", count: 101), String(repeating: "🙂", count: 500),
        String(repeating: "x", count: 501), String(repeating: "k", count: 1_000), String(repeating: "k", count: 1_001),
    ]

    /// The store's refusal; nil if there is none.
    private func refusal(_ body: () async throws -> Void) async -> StoreError? {
        do { try await body() } catch { return error as? StoreError }
        return nil
    }

    @Test("The database has the rule of PushCore")
    func sameRule() async throws {
        let database = try await TestDatabase.create(.migrated)
        let connection = try await database.connect()
        for name in Self.names {
            let said = try await connection.execute(
                PostgresStatement(
                    "SELECT pushmta_engine.is_name($1), pushmta_engine.is_label($1), pushmta_engine.is_integration_key($1)",
                    [.text(name)]
                )
            )
            #expect(try said.bool(0, 0) == (NameRule.problem(name: name) == nil), "\(name.debugDescription)")
            #expect(try said.bool(0, 1) == (NameRule.problem(label: name) == nil), "\(name.debugDescription)")
            #expect(try said.bool(0, 2) == (NameRule.problem(integrationKey: name) == nil), "\(name.debugDescription)")
        }
        await connection.close()
    }

    @Test("A name with terminal control characters is refused, and the error does not repeat it")
    func makers() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        let (bad, long) = ("evil\u{1B}[31mx\nname", String(repeating: "l", count: 501))
        let new = NewApplication(service: "shop", name: bad, platform: .ios, integrationKey: "k", account: "apns")
        var unlabelled = new
        unlabelled.name = "fine"
        unlabelled.label = long
        var keyless = new
        keyless.name = "fine"
        keyless.label = ""
        keyless.integrationKey = " "
        var relabelled = ApplicationChange()
        relabelled.label = bad
        var rekeyed = ApplicationChange()
        rekeyed.integrationKey = "a\u{9B}"
        let key = NewAPIKey(
            publicID: "0123456789abcdef",
            hash: Array(repeating: 1, count: 32),
            name: bad,
            scopes: [.readDeliveries],
            applications: [],
            validDays: nil
        )
        let (one, two, three, four) = (unlabelled, keyless, relabelled, rekeyed)
        let attempts: [(String, () async throws -> Void)] = [
            ("service", { try await store.createService(name: bad, label: "") }),
            ("service label", { try await store.setService(name: "shop", label: bad) }),
            ("account", { try await store.createAccount(name: bad, connector: .iosHTTP2, host: "h", port: 1) }),
            ("application", { try await store.createApplication(new) }),
            ("application label", { try await store.createApplication(one) }),
            ("integration key", { try await store.createApplication(two) }),
            ("other label", { try await store.setApplication(name: "shop-ios", three) }),
            ("other key", { try await store.setApplication(name: "shop-ios", four) }),
            ("mapping", { try await store.createMapping(name: bad, label: "", view: "x.y", keyColumn: "k") }),
            ("template", { try await store.addTemplate(name: bad, label: "", content: "{}") }),
            ("copy", { try await store.duplicateTemplate(named: "Deliver on iOS", as: bad) }),
            ("seed", { try await store.addSeed(NewSeed(name: bad, address: .subscription(1))) }),
            ("list", { try await store.createExclusionList(name: bad) }),
            ("list label", { try await store.createExclusionList(name: "l", label: long) }),
            ("API key", { try await store.createAPIKey(key) }),
            (
                "delivery",
                {
                    _ = try await store.createDelivery(
                        NewDelivery(label: bad, applications: ["shop-ios"], content: "{}")
                    )
                }
            ),
        ]
        for (what, attempt) in attempts {
            let found = await refusal(attempt)
            #expect(found?.code == .invalid, "\(what): \(found?.description ?? "taken")")
            #expect(found?.description.contains("evil") == false && found?.hint != nil, "\(what)")
        }
    }

    @Test("SQL of other systems is subject to the same rule, through table constraints or the functions")
    func tables() async throws {
        let fixture = try await StoreFixture.make()
        let connection = try await fixture.database.connect()
        let application =
            "INSERT INTO pushmta_engine.application (service_id, name, label, platform, integration_key) VALUES"
        let statements = [
            (#"INSERT INTO pushmta_engine.service (name) VALUES (E'a\nb')"#, "service_name_form"),
            (#"UPDATE pushmta_engine.service SET label = E'a\u009bb'"#, "service_label_form"),
            (#"\#(application) (1, E'x\ty', '', 'ios', 'k')"#, "application_name_form"),
            (#"\#(application) (1, 'x', '', 'ios', ' ')"#, "application_integration_key_form"),
            ("UPDATE pushmta_engine.delivery_template SET label = repeat('x', 501)", "delivery_template_label_form"),
            ("UPDATE pushmta_engine.external_account SET name = repeat('x', 201)", "external_account_name_form"),
        ]
        for (statement, constraint) in statements {
            await #expect {
                try await connection.run(script: statement)
            } throws: {
                ($0 as? PostgresError)?.constraint == constraint
            }
        }
        let calls = [
            (#"SELECT pushmta.create_delivery(E'a\nb', ARRAY['shop-ios'], '{}')"#, "PM007"),
            (#"SELECT pushmta.add_template(E'a\nb', '{}')"#, "PM043"),
            (#"SELECT pushmta.add_template('a', '{}', repeat('x', 501))"#, "PM043"),
            (#"SELECT pushmta.create_exclusion_list(' ')"#, "PM052"),
            (#"SELECT pushmta.add_seed(E'a\x07', subscription_id => 1)"#, "PM043"),
        ]
        try await connection.run(script: "SET ROLE pushmta_marketing")
        for (call, state) in calls {
            await #expect {
                try await connection.run(script: call)
            } throws: {
                ($0 as? PostgresError)?.sqlState == state
            }
        }
        await connection.close()
    }
}
