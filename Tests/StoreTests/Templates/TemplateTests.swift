import Foundation
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Delivery templates")
struct TemplateTests {
    private func object(_ json: String) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? NSDictionary)
    }

    @Test("Two templates come with the product; they are copied, and never replaced")
    func readyMade() async throws {
        let store = try await StoreFixture.make().store
        let ready = try await store.templates()
        #expect(ready.map(\.name) == ["Deliver on Android", "Deliver on iOS"])
        #expect(ready.allSatisfy { $0.isReadyMade && !$0.label.isEmpty })
        try await store.duplicateTemplate(named: "Deliver on iOS", as: "spring sale", label: "Spring")
        let copy = try await store.template(named: "spring sale")
        #expect(copy.content == ready[1].content && copy.settings == ready[1].settings)
        #expect(copy.label == "Spring" && !copy.isReadyMade)
        for name in ["spring sale", "Deliver on iOS"] {
            await #expect { try await store.duplicateTemplate(named: name, as: name) } throws: {
                ($0 as? StoreError)?.code == .conflict
            }
        }
        await #expect {
            try await store.addTemplate(name: "Deliver on iOS", label: "", content: "{}", replacing: true)
        } throws: {
            ($0 as? StoreError)?.code == .conflict
        }
        try await store.addTemplate(name: "spring sale", label: "", content: #"{"ios":{"title":"x"}}"#, replacing: true)
        #expect(try await store.template(named: "spring sale").content == #"{"ios": {"title": "x"}}"#)
        await #expect { try await store.template(named: "winter") } throws: { ($0 as? StoreError)?.code == .notFound }
    }

    @Test("Invalid template values are refused with the reason")
    func refusals() async throws {
        let store = try await StoreFixture.make().store
        func refusal(_ content: String, _ settings: String, name: String = "x") async -> StoreError? {
            do {
                try await store.addTemplate(name: name, label: "", content: content, settings: settings)
            } catch { return error as? StoreError }
            return nil
        }
        #expect(await refusal("[]", "{}")?.message.contains("array") == true)
        #expect(await refusal("{}", "{}", name: "")?.code == .invalid)
        let wrong = [
            #"{"prio": 1}"#, #"{"priority": 101}"#, #"{"priority": "1"}"#, #"{"validity_seconds": 0}"#,
            #"{"priority": 1.5}"#, #"{"weight": 0}"#, #"{"weight": 11}"#,
            #"{"ambiguity_policy": "maybe"}"#, #"{"ambiguity_policy": null}"#, #"{"max_retries": 1001}"#,
            #"{"retry_period_seconds": 99999999}"#, #"{"one_per_user": 1}"#, #"{"all_seeds": 1}"#,
            #"{"max_retries": 99999999999999999999}"#,
            "[]",
        ]
        for settings in wrong {
            #expect(await refusal("{}", settings)?.message.contains("settings") == true, "\(settings)")
        }
        #expect(try await store.templates().count == 2)
    }

    @Test("A delivery takes what it does not set from its template; contents are merged")
    func deliveries() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        try await store.addTemplate(
            name: "sale",
            label: "",
            content:
                #"{"ios": {"title": "a", "badge": 1, "variables": {"x": "1", "y": "2"}}, "android": {"title": "b"}}"#,
            settings: """
                {"priority": 7, "validity_seconds": 3600, "one_per_user": true, "ambiguity_policy": "report", "max_retries": 2,
                "retry_period_seconds": 30, "explicit_targets": true, "weight": 3, "all_seeds": true}
                """
        )
        var delivery = DeliveryFromTemplate(template: "sale", label: "one", applications: ["shop-ios"])
        let asItIs = try await store.createDelivery(delivery)
        delivery.content = #"{"ios": {"badge": null, "variables": {"y": {"z": null, "q": 1}}}, "android": null}"#
        delivery.priority = -1
        delivery.validitySeconds = 60
        delivery.onePerUser = false
        delivery.ambiguityPolicy = .resend
        delivery.maxRetries = 9
        delivery.retryPeriodSeconds = 5
        delivery.explicitTargets = false
        let changed = try await store.createDelivery(delivery)
        // Each message names its addressee, so the template's seed addresses are left out, too.
        delivery.isContinuous = true
        let continuous = try await store.createDelivery(delivery)
        #expect(
            try await fixture.sql(
                """
                SELECT count(*) FROM pushmta_engine.delivery d WHERE d.id = \(continuous) AND d.kind = 'continuous'
                    AND d.seed_names = '{}'
                """
            ) == 1
        )
        #expect(
            try await fixture.sql(
                """
                SELECT count(*) FROM pushmta_engine.delivery d WHERE d.id = \(asItIs) AND d.priority = 7 AND d.one_per_user
                    AND d.validity = interval '1 hour' AND d.ambiguity_policy = 'report' AND d.max_retries = 2
                    AND d.retry_period_seconds = 30 AND d.target_kind = 'explicit' AND d.weight = 3 AND d.seed_names IS NULL
                """
            ) == 1
        )
        #expect(
            try await fixture.sql(
                """
                SELECT count(*) FROM pushmta_engine.delivery d WHERE d.id = \(changed) AND d.priority = -1 AND NOT d.one_per_user
                    AND d.validity = interval '1 minute' AND d.ambiguity_policy = 'resend' AND d.max_retries = 9
                    AND d.retry_period_seconds = 5 AND d.target_kind = 'subscribers'
                """
            ) == 1
        )
        let content = try await store.deliveryForPreview(changed).content
        #expect(try await store.content(ofTemplate: "sale", merging: delivery.content) == content)
        #expect(try object(content) == object(#"{"ios": {"title": "a", "variables": {"x": "1", "y": {"q": 1}}}}"#))
        var bare = DeliveryFromTemplate(template: "Deliver on iOS", label: "two", applications: ["shop-ios"])
        // The ready-made template alone shows nothing.
        await #expect { try await store.createDelivery(bare) } throws: { ($0 as? StoreError)?.sqlState == "PM020" }
        bare.content = #"{"ios": {"title": "x"}}"#
        let plain = try await store.createDelivery(bare)
        #expect(
            try await fixture.sql(
                """
                SELECT count(*) FROM pushmta_engine.delivery d WHERE d.id = \(plain) AND d.priority = 0 AND NOT d.one_per_user
                    AND d.validity = interval '5 days' AND d.ambiguity_policy = 'resend' AND d.max_retries = 5
                    AND d.retry_period_seconds IS NULL AND d.retry_schedule = 'default' AND d.target_kind = 'subscribers'
                    AND d.seed_names = '{}'
                """
            ) == 1
        )
        delivery.template = "winter"
        await #expect { try await store.createDelivery(delivery) } throws: { ($0 as? StoreError)?.code == .notFound }
    }

    @Test("A whole number may be written in any way, as in JSON Schema")
    func wholeNumbers() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.addTemplate(
            name: "whole",
            label: "",
            content: #"{"ios": {"title": "a"}}"#,
            settings: """
                {"priority": 7.0, "weight": 3.00, "validity_seconds": 36e2, "max_retries": 2.0, "retry_period_seconds": 9.0}
                """
        )
        let id = try await fixture.store.createDelivery(
            DeliveryFromTemplate(template: "whole", label: "x", applications: ["shop-ios"])
        )
        #expect(
            try await fixture.sql(
                """
                SELECT count(*) FROM pushmta_engine.delivery d WHERE d.id = \(id) AND d.priority = 7 AND d.weight = 3
                    AND d.validity = interval '1 hour' AND d.max_retries = 2 AND d.retry_period_seconds = 9
                """
            ) == 1
        )
    }

    @Test("A template's target applies where its deliveries set none, and the template can be deleted")
    func targets() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        try await store.createExclusionList(name: "staff", label: "")
        let target = TemplateTarget(
            applications: ["shop-ios"],
            filter: " locale = 'fr' ",
            excludedLists: ["staff"]
        )
        let content = #"{"ios": {"title": "a"}}"#
        try await store.addTemplate(name: "french", label: "", content: content, target: target)
        let row = try await store.template(named: "french")
        #expect(row.target.filter == "locale = 'fr'" && row.target.applications == ["shop-ios"])
        #expect(row.target.excludedLists == ["staff"] && row.services.count == 1)
        /// The filter, and then the lists.
        func targeting(_ delivery: DeliveryFromTemplate) async throws -> [String] {
            let found = try await store.targeting(ofDelivery: try await store.createDelivery(delivery))
            return [found.filter ?? ""] + found.excludedLists
        }
        var delivery = DeliveryFromTemplate(template: "french", label: "one")
        #expect(try await targeting(delivery) == ["locale = 'fr'", "staff"])
        delivery.filter = "locale = 'de'"
        delivery.excludedLists = []
        #expect(try await targeting(delivery) == ["locale = 'de'"])
        delivery.filter = ""
        #expect(try await targeting(delivery) == [""])
        delivery.filter = nil
        delivery.excludedLists = nil
        delivery.explicitTargets = true
        #expect(try await targeting(delivery) == ["", "staff"])
        try await store.duplicateTemplate(named: "french", as: "copy")
        #expect(try await store.template(named: "copy").target == row.target)
        try await store.duplicateTemplate(
            named: "Deliver on iOS",
            as: "ready",
            applications: row.target.applications,
            filter: "locale = 'de'",
            excludedLists: ["staff"]
        )
        let ready = TemplateTarget(
            applications: row.target.applications,
            filter: "locale = 'de'",
            excludedLists: ["staff"]
        )
        #expect(try await store.template(named: "ready").target == ready)
        try await store.duplicateTemplate(named: "ready", as: "open", filter: "", excludedLists: [])
        #expect(
            try await store.template(named: "open").target == TemplateTarget(applications: row.target.applications)
        )
        #expect(try await store.templateList(limit: 10).map(\.name).contains("copy"))
        let open = DeliveryFromTemplate(template: "Deliver on iOS", label: "two", content: content)
        await #expect { try await store.createDelivery(open) } throws: { ($0 as? StoreError)?.code == .invalid }
        let wrong = [
            TemplateTarget(applications: ["nothing"]), TemplateTarget(filter: "locale ="),
            TemplateTarget(excludedLists: ["nobody"]),
        ]
        for target in wrong {
            await #expect(throws: StoreError.self, "\(target)") {
                try await store.addTemplate(name: "x", label: "", content: content, target: target)
            }
        }
        await #expect {
            try await store.addTemplate(
                name: "x",
                label: "",
                content: content,
                settings: #"{"explicit_targets": true}"#,
                target: TemplateTarget(filter: "locale = 'fr'")
            )
        } throws: {
            ($0 as? StoreError)?.sqlState == "PM043"
        }
        try await store.removeTemplate(named: "copy")
        await #expect { try await store.removeTemplate(named: "copy") } throws: {
            ($0 as? StoreError)?.code == .notFound
        }
        await #expect { try await store.removeTemplate(named: "Deliver on iOS") } throws: {
            ($0 as? StoreError)?.code == .conflict
        }
        let left = try await store.templates().map(\.name)
        #expect(left == ["Deliver on Android", "Deliver on iOS", "french", "open", "ready"])
    }

    /// RFC 7396, appendix A, as far as the patch is an object.
    @Test(
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, "{}"), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#), (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
            ("[1,2]", #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
            ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ]
    )
    func mergePatch(_ base: String, _ patch: String, _ merged: String) async throws {
        let database = try await TestDatabase.create()
        let connection = try await database.connect()
        let result = try await connection.execute(
            PostgresStatement(
                "SELECT pushmta_engine.merge_json($1::text::jsonb, $2::text::jsonb) = $3::text::jsonb",
                [.text(base), .text(patch), .text(merged)]
            )
        )
        #expect(try result.bool(0, 0))
        await connection.close()
    }

    @Test("Marketing systems create and use templates, seeds and proofs; monitoring reads only proofs")
    func roles() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        let marketing = try await fixture.database.connect()
        try await marketing.run(
            script: """
                SET ROLE pushmta_marketing;
                SELECT pushmta.duplicate_template('Deliver on iOS', 'mine');
                SELECT pushmta.add_template('other', '{"ios": {}}');
                SELECT pushmta.create_delivery_from_template('mine', 'm', ARRAY['shop-ios'], '{"ios": {"title": "x"}}');
                SELECT pushmta.add_seed('boss', 'shop-ios', push_token => repeat('ab', 32));
                SELECT pushmta.proof_delivery((SELECT max(id) FROM pushmta.delivery_progress));
                SELECT pushmta.remove_seed('boss');
                SELECT pushmta.remove_template('other');
                SELECT * FROM pushmta.delivery_template, pushmta.seed, pushmta.delivery_proof;
                """
        )
        await #expect {
            try await marketing.run(script: "SELECT * FROM pushmta_engine.seed")
        } throws: {
            ($0 as? PostgresError)?.sqlState == "42501"
        }
        let monitoring = try await fixture.database.connect()
        try await monitoring.run(script: "SET ROLE pushmta_monitoring; SELECT * FROM pushmta.delivery_proof")
        for statement in [
            "SELECT * FROM pushmta.seed", "SELECT pushmta.remove_template('mine')", "SELECT pushmta.remove_seed('x')",
            "SELECT pushmta.proof_delivery(16)",
        ] {
            await #expect { try await monitoring.run(script: statement) } throws: {
                ($0 as? PostgresError)?.sqlState == "42501"
            }
        }
    }
}
