import Content
import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// Content that can never be sent is refused when it is written, even by plain SQL.
@Suite("Checks of contents and filters in the database")
struct InputCheckTests {
    /// Runs a statement and returns its rows as texts, or the SQLSTATE and message of its refusal.
    private static func run(_ fixture: StoreFixture, _ sql: String) async throws -> (
        rows: [[String]], error: PostgresError?
    ) {
        let connection = try await fixture.database.connect()
        defer { Task { await connection.close() } }
        do {
            let result = try await connection.execute(PostgresStatement(sql, prepare: false))
            let rows = try (0..<result.rowCount).map { row in
                try (0..<result.columnCount).map { try result.textOrNil(row, $0) ?? "" }
            }
            return (rows, nil)
        } catch let error as PostgresError {
            return ([], error)
        }
    }

    private static func create(_ content: String, label: String = "'x'", applications: String = "{shop-ios}") -> String
    {
        "SELECT pushmta.create_delivery(\(label), '\(applications)', $c$\(content)$c$)::text"
    }

    @Test("A content that can never be sent is refused when the delivery is created, with place and SQLSTATE")
    func contents() async throws {
        let fixture = try await StoreFixture.make()
        let cases = [
            (#"{"ios": {"titel": "x"}}"#, "/ios/titel", "unknown"), (#"{"ios": {"badge": -1}}"#, "/ios/badge", "range"),
            (#"{"ios": {"title": 5}}"#, "/ios/title", "number"),
            (#"{"android": {"title": "x"}}"#, "/ios", "no section"),
            (#"{"ios": null, "android": {"title": "x"}}"#, "/ios", "no section"), ("{}", "/ios", "no section"),
            (#"{"ios": {"title": "x"}, "andriod": {}}"#, "/andriod", "unknown"),
            (#"{"ios": {"title": "x", "variables": {"_mId": "1"}}}"#, "/ios/variables/_mId", "name"),
            (#"{"ios": {"a~/b": 1}}"#, "/ios/a~0~1b", "unknown"),
            (
                #"{"ios": {"title": "x"}, "locales": {"fr": {"ios": {"titel": "x"}}}}"#, "/locales/fr/ios/titel",
                "unknown"
            ),
            (
                #"{"ios": {"title": "x", "body": "y", "template": {"type": "carousel", "items": [{"uri": "u"}, {}]}}}"#,
                "/ios/template/items/0/image", "missing"
            ),
        ]
        for (content, pointer, word) in cases + Self.contradictions {
            for sql in [Self.create(content), Self.create(content).replacing("$c$)", with: "$c$::jsonb)")] {
                let error = try await Self.run(fixture, sql).error
                #expect(error?.sqlState == "PM020", "\(content): \(String(describing: error))")
                #expect(error?.message.contains("\"\(pointer)\": ") == true && error?.message.contains(word) == true)
            }
        }
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery") == 0)
        let both = try await Self.run(
            fixture,
            Self.create(#"{"ios": {"title": "x"}}"#, applications: "{shop-ios,shop-android}")
        )
        #expect(both.error?.sqlState == "PM020" && both.error?.message.contains("\"/android\": ") == true)
        // A null counts as an absent key, but an unknown key stays unknown.
        #expect(try await Self.run(fixture, Self.create(#"{"ios": {"title": "x", "subtitle": null}}"#)).error == nil)
        let unknown = try await Self.run(fixture, Self.create(#"{"ios": {"title": "x", "foo": null}}"#)).error
        #expect(unknown?.sqlState == "PM020" && unknown?.message.contains("\"/ios/foo\": ") == true)
        let template = """
            SELECT pushmta.create_delivery_from_template('Deliver on iOS', 'x', '{shop-ios}', '{"ios": {"titel": "x"}}')
            """
        #expect(try await Self.run(fixture, template).error?.sqlState == "PM020")
    }

    /// Problems that no single key has.
    private static let contradictions = [
        (#"{"ios": {"title": "{{a"}}"#, "/ios/title", "never closed"),
        (
            #"{"ios": {"title": "x", "variables": {"a": [{"b~/": "{{b}} and {{c"}]}}}"#, "/ios/variables/a/0/b~0~1",
            "never closed"
        ),
        (
            #"{"ios": {"title": "x"}, "locales": {"fr": {"ios": {"body": "{{a}"}}}}"#, "/locales/fr/ios/body",
            "never closed"
        ),
        (#"{"ios": {}}"#, "/ios", "nothing to show"), (#"{"ios": {"title": null}}"#, "/ios", "nothing to show"),
        (#"{"ios": {"category": "x"}}"#, "/ios", "nothing to show"),
        (#"{"ios": {"title": "x", "push_type": "background"}}"#, "/ios/push_type", "shows nothing"),
        (#"{"ios": {"push_type": "background"}}"#, "/ios/push_type", "wake"),
        (#"{"ios": {"title": "x", "silent": true}}"#, "/ios/silent", "shows nothing"),
        (#"{"ios": {"title": "x"}, "android": {}}"#, "/android", "nothing to show"),
        (#"{"ios": {"title": "x"}, "android": {"kind": "notification"}}"#, "/android/kind", "shows nothing"),
        (
            #"{"ios": {"title": "x"}, "android": {"kind": "data", "title": "x", "variables": {"title": "y"}}}"#,
            "/android/variables/title", "has this name"
        ),
    ]

    @Test("Allowed combinations of keys are accepted")
    func combinations() async throws {
        let fixture = try await StoreFixture.make()
        for content in [
            #"{"ios": {"title": "\\{{ and \\{{{a}} {{!}} {{{b}}}"}}"#, #"{"ios": {"content_available": true}}"#,
            #"{"ios": {"push_type": "background", "content_available": true}}"#, #"{"ios": {"aps": {"alert": "x"}}}"#,
            #"{"ios": {"badge": 1}}"#, #"{"ios": {"title": "x"}, "android": {"kind": "data"}}"#,
            #"{"ios": {"badge": 5.0, "priority": 1e1, "expiration_seconds": 60.0}}"#,
            #"{"ios": {"title": "x"}, "android": {"variables": {"a": "b"}}}"#,
            #"{"ios": {"title": "x"}, "android": {"kind": "data", "title": "x", "variables": {"sub": "y"}}}"#,
        ] {
            #expect(PushContent.validate(json: content).isEmpty, "\(content)")
            let error = try await Self.run(fixture, Self.create(content)).error
            #expect(error == nil, "\(content): \(String(describing: error))")
        }
    }

    @Test("A template's own keys are checked; what is missing comes from its user")
    func templates() async throws {
        let fixture = try await StoreFixture.make()
        for (content, pointer) in [
            (#"{"ios": {"titel": "x"}}"#, "/ios/titel"), (#"{"ios": {"title": "{{a"}}"#, "/ios/title"),
            (#"{"locales": {"fr": {"ios": {"badge": -1}}}}"#, "/locales/fr/ios/badge"),
        ] {
            let error = try await Self.run(fixture, "SELECT pushmta.add_template('mine', $c$\(content)$c$)").error
            #expect(error?.sqlState == "PM020" && error?.message.contains("\"\(pointer)\": ") == true, "\(content)")
        }
        let part = #"{"ios": {"category": "x"}, "android": {}}"#
        let error = try await Self.run(fixture, "SELECT pushmta.add_template('mine', $c$\(part)$c$)::text").error
        #expect(error == nil, "\(String(describing: error))")
    }

    @Test("A filter by fields of a mapping needs a service with a mapping, and a start must be in the future")
    func mappings() async throws {
        let fixture = try await StoreFixture.make()
        let id = try #require(
            Int64(try await Self.run(fixture, Self.create(#"{"ios": {"title": "x"}}"#)).rows.first?.first ?? "")
        )
        let filter = try await Self.run(fixture, "SELECT pushmta.set_target(\(id), 'mapping.city = ''Lyon''')").error
        #expect(filter?.sqlState == "PM021" && filter?.message.contains("has none") == true)
        #expect(try await Self.run(fixture, "SELECT pushmta.set_target(\(id), 'locale = ''mapping.x''')").error == nil)
        let never = try await Self.run(fixture, "SELECT pushmta.start_delivery(\(id), 'infinity')").error
        #expect(never?.sqlState == "PM007", "\(String(describing: never))")
        #expect(try await fixture.store.deliveryProgress(id).state == .editing)
    }

    @Test("The report of problems is bounded, however many there are")
    func bounds() async throws {
        let fixture = try await StoreFixture.make()
        let many = "(SELECT jsonb_object_agg('key' || n, n) FROM generate_series(1, 50000) n)"
        let sql = "SELECT count(*)::text FROM pushmta.check_content(jsonb_build_object('ios', \(many)))"
        #expect(try await Self.run(fixture, sql).rows == [["100"]])
    }

    @Test("A delivery without a label is refused like one with a blank label")
    func labels() async throws {
        let fixture = try await StoreFixture.make()
        for label in ["NULL", "''", "' '", "E'\\t'", "U&'\\200B'", "U&'\\200B \\FEFF'"] {
            let error = try await Self.run(fixture, Self.create(#"{"ios": {"title": "x"}}"#, label: label)).error
            #expect(error?.sqlState == "PM007", "\(label): \(String(describing: error))")
        }
    }

    @Test("An invalid filter is refused when it is set, or at the latest when the delivery is started")
    func filtersAndStarts() async throws {
        let fixture = try await StoreFixture.make()
        let id = try #require(
            Int64(try await Self.run(fixture, Self.create(#"{"ios": {"title": "x"}}"#)).rows.first?.first ?? "")
        )
        for filter in ["lokale = 'fr'", "locale = fr", "locale = 'fr' or", "enabled = 'yes'", "(locale = 'x'"] {
            let error = try await Self.run(fixture, "SELECT pushmta.set_target(\(id), $f$\(filter)$f$)").error
            #expect(error?.sqlState == "PM021" && error?.message.contains("character ") == true, "\(filter)")
        }
        #expect(try await Self.run(fixture, "SELECT pushmta.set_target(\(id), 'locale = ''fr''')").error == nil)
        try await fixture.sql("UPDATE pushmta_engine.delivery SET target_filter = 'x' WHERE id = \(id)")
        let filter = try await Self.run(fixture, "SELECT pushmta.start_delivery(\(id))").error
        #expect(filter?.sqlState == "PM021")
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET target_filter = NULL, content = '{\"ios\": {\"x\": 1}}' WHERE id = \(id)"
        )
        let content = try await Self.run(fixture, "SELECT pushmta.start_delivery(\(id))").error
        #expect(content?.sqlState == "PM020" && content?.message.contains("/ios/x") == true)
        #expect(try await fixture.store.deliveryProgress(id).state == .editing)
    }

    @Test("check_content and check_delivery report everything at once, to marketing systems too")
    func checks() async throws {
        let fixture = try await StoreFixture.make()
        let content = #"{"ios": {"titel": "x", "badge": -1}, "android": {"color": "red"}}"#
        let found = try await Self.run(fixture, "SELECT pointer FROM pushmta.check_content('\(content)') ORDER BY 1")
        #expect(found.rows == [["/android/color"], ["/ios/badge"], ["/ios/titel"]])
        let empty = try await Self.run(fixture, "SELECT problem FROM pushmta.check_content('{\"missing\": \"empty\"}')")
        #expect(empty.rows == [["it says nothing for any platform"]])
        let good = #"{"ios": {"title": "x"}}"#
        #expect(try await Self.run(fixture, "SELECT pointer FROM pushmta.check_content('\(good)')").rows.isEmpty)
        let other = "SELECT pointer FROM pushmta.check_content('\(good)', '{shop-android}')"
        #expect(try await Self.run(fixture, other).rows == [["/android"]])
        let nobody = try await Self.run(fixture, "SELECT pushmta.check_content('\(good)', '{nobody}')")
        #expect(nobody.error?.sqlState == "PM001")
        let id = try await fixture.startedDelivery(explicit: true)
        try await fixture.sql("UPDATE pushmta_engine.delivery SET target_filter = 'x', content = '{}' WHERE id = \(id)")
        let rows = try await Self.run(fixture, "SELECT subject, pointer FROM pushmta.check_delivery(\(id))").rows
        #expect(rows == [["content", "/ios"], ["filter", ""], ["application", ""], ["target", ""]])
        #expect(try await Self.run(fixture, "SELECT pushmta.check_delivery(99)").error?.sqlState == "PM002")
        let marketing = try await fixture.database.connect()
        try await marketing.run(
            script: """
                SET ROLE pushmta_marketing;
                SELECT * FROM pushmta.check_delivery(\(id)), pushmta.check_content('{}');
                SELECT * FROM pushmta.exclusion_log;
                """
        )
        await marketing.close()
    }

    @Test("A view lists the excluded people, with the reason and the target row that named them")
    func exclusions() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET opted_out = true WHERE id = 1")
        let id = try await fixture.startedDelivery(explicit: true)
        try await fixture.sql(
            """
            INSERT INTO pushmta.delivery_target (delivery_id, subscription_id, user_key, variables)
            VALUES (\(id), 1, NULL, '{"a": 1}'), (\(id), NULL, 'nobody', NULL), (\(id), 2, NULL, NULL)
            """
        )
        try await fixture.store.startDelivery(id)
        try await fixture.prepare()
        let rows = try await Self.run(
            fixture,
            """
            SELECT application, reason, subscription_id::text, target_user_key, target_variables::text,
                (target_id IN (SELECT t.id FROM pushmta.delivery_target t WHERE t.delivery_id = x.delivery_id))::text
            FROM pushmta.exclusion_log x WHERE delivery_id = \(id) ORDER BY target_id
            """
        ).rows
        #expect(
            rows == [
                ["shop-ios", "opted_out", "1", "", "{\"a\": 1}", "true"],
                ["", "unknown_subscription", "", "nobody", "", "true"],
            ]
        )
    }

    @Test("migrate stores the program's rules, and writes nothing if they are already stored")
    func rules() async throws {
        let fixture = try await StoreFixture.make()
        let version = "SELECT string_agg(xmin::text, ',' ORDER BY name) FROM pushmta_engine.input_rule"
        let before = try await Self.run(fixture, version).rows
        try await Store.migrate(fixture.database.configuration())
        #expect(try await Self.run(fixture, version).rows == before)
        try await fixture.sql("UPDATE pushmta_engine.input_rule SET document = '{}'")
        try await Store.migrate(fixture.database.configuration())
        let content = Self.create(#"{"ios": {"titel": "x"}}"#)
        #expect(try await Self.run(fixture, content).error?.sqlState == "PM020")
    }
}
