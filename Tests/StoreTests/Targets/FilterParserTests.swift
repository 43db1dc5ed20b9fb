import PushCore
import Store
import TestSupport
import Testing

@Suite("The language of target filters")
struct FilterParserTests {
    private static let city = TargetField.recipient("city")

    private static let trees: [(String, TargetFilter)] = [
        ("recipient.city = 'Lyon'", TargetFilter.compare(city, .equal, .text("Lyon"))),
        ("recipient.city <> 'it''s'", .compare(city, .notEqual, .text("it's"))),
        ("recipient.\"city\" != ''", .compare(city, .notEqual, .text(""))),
        ("parameter.tier >= 2.50", .compare(.parameter("tier"), .greaterOrEqual, .number("2.50"))),
        ("parameters.tier < -3", .compare(.parameter("tier"), .less, .number("-3"))),
        ("parameters.tier < +3", .compare(.parameter("tier"), .less, .number("3"))),
        ("mapping.\"a \"\"b\"\"\" = TRUE", .compare(.mapping("a \"b\""), .equal, .boolean(true))),
        ("device.größe is null", .isNull(.device("größe"))),
        ("recipient.and IS NOT NULL", .not(.isNull(.recipient("and")))),
        ("recipient.not not in ('a')", .not(.isIn(.recipient("not"), [.text("a")]))),
        ("recipient . city = 'Lyon'", .compare(city, .equal, .text("Lyon"))),
        ("locale in ('fr', 'de')", .isIn(.column(.locale), [.text("fr"), .text("de")])),
        ("locale not in ('fr')", .not(.isIn(.column(.locale), [.text("fr")]))),
        ("user_key contains '@' ", .contains(.column(.userKey), "@")),
        ("user_key not starts with 'x'", .not(.startsWith(.column(.userKey), "x"))),
        ("quarantine_status in ('denylisted')", .isIn(.column(.quarantineStatus), [.text("denylisted")])),
        ("platform starts with 'i'", .startsWith(.column(.platform), "i")),
        ("enabled = false", .compare(.column(.enabled), .equal, .boolean(false))),
        (
            "registered_at >= now - 7 days",
            .compare(.column(.registeredAt), .greaterOrEqual, .time(.beforeStart(seconds: 604_800)))
        ),
        (
            "registered_at<now-1 hour",
            .compare(.column(.registeredAt), .less, .time(.beforeStart(seconds: 3_600)))
        ),
        (
            "registered_at < now + 2 weeks",
            .compare(.column(.registeredAt), .less, .time(.beforeStart(seconds: -1_209_600)))
        ),
        ("created_at < now", .compare(.column(.createdAt), .less, .time(.beforeStart(seconds: 0)))),
        (
            "created_at = '1970-01-02'",
            .compare(.column(.createdAt), .equal, .time(.absolute(microseconds: 86_400_000_000)))
        ),
        (
            "recipient.born < date '1970-01-01T01:00+01:00'",
            .compare(.recipient("born"), .less, .time(.absolute(microseconds: 0)))
        ),
        (
            "locale = 'a' or locale = 'b' and not locale = 'c'",
            .any([
                .compare(.column(.locale), .equal, .text("a")),
                .all([
                    .compare(.column(.locale), .equal, .text("b")),
                    .not(.compare(.column(.locale), .equal, .text("c"))),
                ]),
            ])
        ),
        (
            "(locale = 'a' OR locale = 'b') AND (((recipient.city = 'c')))",
            .all([
                .any([
                    .compare(.column(.locale), .equal, .text("a")), .compare(.column(.locale), .equal, .text("b")),
                ]),
                .compare(city, .equal, .text("c")),
            ])
        ),
        (
            "mapping.born = '1970-01-02'",
            .compare(.mapping("born"), .equal, .textOrTime("1970-01-02", microseconds: 86_400_000_000))
        ),
        ("mapping.born in ('1970-01-32')", .isIn(.mapping("born"), [.text("1970-01-32")])),
        ("recipient.born = '1970-01-02'", .compare(.recipient("born"), .equal, .text("1970-01-02"))),
        ("device.\u{3a9}\u{301} = '\u{1F642}'", .compare(.device("\u{3a9}\u{301}"), .equal, .text("\u{1F642}"))),
        ("clicked delivery 4711", .did(TargetBehaviour(.clicked, .delivery(4_711)))),
        ("not Clicked LABEL 'it''s' Within 2 weeks", .not(.did(TargetBehaviour(.clicked, .label("it's"), days: 14)))),
        ("received category 'news' within 180 days", .did(TargetBehaviour(.received, .category("news"), days: 180))),
        (
            "sent any or recipient.sent = 'x' and sent any within 1 day",
            .any([
                .did(TargetBehaviour(.sent, .any)),
                .all([
                    .compare(.recipient("sent"), .equal, .text("x")), .did(TargetBehaviour(.sent, .any, days: 1)),
                ]),
            ])
        ),
        ("locale\u{a0}=\u{2028}'\\\"'", .compare(.column(.locale), .equal, .text("\\\""))),
    ]

    @Test("A text is read as its tree")
    func trees() async throws {
        let store = try await Store(configuration: TestDatabase.create().configuration())
        let plain = try await store.parseFilters(Self.trees.map { $0.0 })
        let inner = try await store.parseFilters(Self.trees.map { "\n\t( \($0.0) )" })
        for (place, (text, tree)) in Self.trees.enumerated() {
            #expect(plain[place] == .success(tree), "\(text)")
            #expect(inner[place] == .success(tree), "\(text)")
        }
        await store.close()
    }

    private static let refusals: [(String, Int, String)] = [
        ("", 1, "empty"), ("   ", 4, "empty"), ("locale", 7, "comparison"), ("locale =", 9, "value"),
        ("locale = 'fr' locale", 15, "and"), ("locale = fr", 10, "value"), ("locale = 'fr", 10, "not closed"),
        ("lokale = 'fr'", 1, "did you mean locale"),
        ("Language = 'fr'", 1, "did you mean locale?"),
        ("tier = 'gold'", 1, "did you mean parameters.tier or recipient.tier?"),
        ("recipient = 'x'", 1, "needs a name"),
        ("person.city = 'x'", 1, "no field"), ("recipient. = 'x'", 12, "name of a field"),
        ("recipient. not in ('a')", 12, "name of a field"), ("recipient . is null", 13, "name of a field"),
        ("'fr' = locale", 1, "field first"), ("(locale = 'fr'", 15, "close"), ("locale = 'fr')", 14, "and"),
        ("not", 4, "field"), ("locale in ('a', 1)", 17, "one kind"), ("locale in ()", 12, "value"),
        ("locale in 'a'", 11, "("), ("locale is 'a'", 11, "null"), ("locale = null", 10, "is null"),
        ("enabled < true", 11, "no order"), ("enabled = 'yes'", 11, "true or false"),
        ("registered_at > 'yesterday'", 17, "now - 7 days"), ("registered_at contains '2'", 24, "no text"),
        ("registered_at > '2026-02-29'", 17, "2026-01-31"), ("soft_errors = '1'", 15, "12.5"),
        ("locale = 12ab", 10, "letters"), ("locale = ‘fr’", 10, "straight"), ("locale ; 'x'", 8, "no meaning"),
        ("registered_at > now 7 days", 21, "and"), ("registered_at > now - 7", 24, "units"),
        ("registered_at > now - 7 years", 25, "units"), ("registered_at > now - 40000 days", 29, "hundred years"),
        ("registered_at > now - 1.5 days", 23, "hundred years"), ("locale = date '2026-13-01'", 15, "2026-01-31"),
        ("locale starts 'x'", 15, "with"), ("locale contains 1", 17, "single quotes"),
        ("quarantine_status = 'quarantined'", 21, "did you mean 'quarantine'"),
        ("quarantine_status != 'foo'", 22, "'valid', 'with_errors', 'quarantine' or 'denylisted'"),
        ("quarantine_status in ('valid', 'foo')", 32, "never that"), ("quarantine_status = 2", 21, "never that"),
        ("platform != 'androd'", 13, "did you mean 'android'"),
        ("environment = 'test'", 15, "'sandbox' or 'production'"),
        ("locale = 'a\u{0}b'", 12, "U+0000"), ("locale ! 'x'", 8, "no meaning"),
        ("locale = 'it''s", 10, "not closed"), ("recipient.\"city = 'x'", 11, "not closed"),
        ("soft_errors = 1 or lokale", 20, "did you mean locale"),
        ("user_key = 1 ) or", 14, "\"and\", \"or\" or the end"),
        ("person.city = 'x' and", 1, "no field \"person\""), ("locale in ('a' 'b')", 16, "a comma or \")\""),
        ("locale = \u{1}", 10, "U+0001"), ("registered_at = now -", 22, "the end makes no distance"),
        ("not = 'x'", 5, "\"=\" stands where a field"), ("locale not = 'x'", 12, "\"=\" stands where a comparison"),
        ("sent", 5, "delivery, label, category or any"), ("clicked = 'x'", 9, "write clicked delivery 4711"),
        ("clicked delivery 'x'", 18, "number of a delivery"), ("clicked delivery 0", 18, "number of a delivery"),
        ("clicked label Spring", 15, "label is expected"),
        ("received category within 3 days", 19, "category is expected"),
        ("sent any within days", 17, "whole number"), ("sent any within 3", 18, "\"days\" or \"weeks\""),
        ("sent any within 7 hours", 19, "whole days"), ("sent any within 181 days", 17, "180 days"),
        ("sent any within 26 weeks", 17, "180 days"), ("sent any within 0 days", 17, "180 days"),
        ("clickd any", 1, "did you mean clicked"), ("sent any 3 days", 10, "\"and\", \"or\" or the end"),
        ("locale = 'a' and soft_errors = \(String(repeating: "9", count: 101))", 32, "101 characters"),
    ]

    @Test("An invalid filter is refused with position and remedy")
    func refusals() async throws {
        let store = try await Store(configuration: TestDatabase.create().configuration())
        let parsed = try await store.parseFilters(Self.refusals.map { $0.0 })
        for ((text, position, words), parsed) in zip(Self.refusals, parsed) {
            guard case .failure(let error) = parsed else {
                Issue.record("\(text) is a filter")
                continue
            }
            #expect(error.position == position && error.description.contains(words), "\(text): \(error)")
        }
        await store.close()
    }

    @Test("An error does not contain a value of the filter")
    func values() async throws {
        let store = try await Store(configuration: TestDatabase.create().configuration())
        let texts = ["user_key = 'secret' 'secret'", "enabled = 'secret'", "locale in ('secret' 'secret'", "'secret'"]
        for parsed in try await store.parseFilters(texts) {
            guard case .failure(let error) = parsed else {
                Issue.record("\(parsed)")
                continue
            }
            #expect(!"\(error)".contains("secret"))
        }
        await store.close()
    }

    @Test("Nothing is proposed where nothing resembles what was written")
    func proposals() async throws {
        let store = try await Store(configuration: TestDatabase.create().configuration())
        let texts = ["platform = 2", "quarantine_status != 'foo'", "platform in (true)", "platform = 'iso'"]
        let remedies = try await store.parseFilters(texts).map { parsed in
            if case .failure(let error) = parsed { error.remedy } else { "" }
        }
        #expect(remedies.map { $0.contains("did you mean") } == [false, false, false, true], "\(remedies)")
        #expect(remedies[0] == "It is 'ios' or 'android'" && remedies[3].hasPrefix("did you mean 'ios'? It is "))
        await store.close()
    }

    @Test("The program and the database agree on which texts are no filter")
    func none() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await fixture.startedDelivery(explicit: true)
        for text in ["", " ", "\t\r\n ", "\r\n", "\u{A0}", "\u{B}", "x"] {
            // A delivery with explicit targets accepts no filter at all.
            var isNone = true
            do {
                try await fixture.store.setTarget(ofDelivery: id, DeliveryTarget(filter: text))
            } catch is StoreError {
                isNone = false
            }
            #expect(TargetFilter.isNone(text) == isNone, "\(text.debugDescription)")
        }
    }

    @Test("The program and the database agree on what is a letter of a name")
    func letters() async throws {
        let store = try await Store(configuration: TestDatabase.create().configuration())
        var numbers: [UInt32] = [0x301, 0x1680, 0x180E, 0x3000, 0xFEFF, 0x1F600]
        numbers += 0x1...0x17F
        numbers += 0x2000...0x206F
        let scalars = numbers.compactMap { Unicode.Scalar($0) }
        let names = scalars.flatMap { ["a\($0)", "\($0)a"] }
        let parsed = try await store.parseFilters(names.map { "device.\($0) is null" })
        for (name, parsed) in zip(names, parsed) {
            let isRead = parsed == .success(.isNull(.device(name)))
            #expect(TargetField.isWritten("device.\(name)") == isRead, "\(name.debugDescription): \(parsed)")
        }
        await store.close()
    }

    @Test("Length, depth, tests and lists have limits, and filters just within them are read")
    func limits() async throws {
        func nested(_ depth: Int, _ open: String, _ close: String) -> String {
            String(repeating: open, count: depth) + "locale = 'a'" + String(repeating: close, count: depth)
        }
        func list(_ count: Int) -> String {
            "locale in (" + (0..<count).map { "'\($0)'" }.joined(separator: ", ") + ")"
        }
        func tests(_ count: Int) -> String { Array(repeating: "locale = 'a'", count: count).joined(separator: " or ") }
        let deep = TargetFilter.maxDepth
        var right = [list(TargetFilter.maxListLength), tests(TargetFilter.maxTests)]
        // The deepest tree: each parenthesis is an `any` inside an `all`.
        right.append(String(repeating: "locale = 'b' or locale = 'c' and (", count: deep - 1))
        right[2] += "locale in ('a')" + String(repeating: ")", count: deep - 1)
        var wrong = [
            list(TargetFilter.maxListLength + 1), tests(TargetFilter.maxTests + 1),
            "locale = '" + String(repeating: "x", count: TargetFilter.maxBytes) + "'",
            "soft_errors = " + String(repeating: "9", count: TargetFilter.maxDigits + 1),
        ]
        for (open, close) in [("(", ")"), ("not ", ""), ("not (", ")")] {
            let factor = open == "not (" ? 2 : 1
            right.append(nested((deep - 1) / factor, open, close))
            wrong += [nested(deep, open, close), nested(20_000 / open.count, open, close)]
        }
        let store = try await Store(configuration: TestDatabase.create().configuration())
        for (text, parsed) in zip(right, try await store.parseFilters(right)) {
            if case .failure(let error) = parsed { Issue.record("\(text.prefix(200)): \(error)") }
        }
        for (text, parsed) in zip(wrong, try await store.parseFilters(wrong)) {
            guard case .failure(let error) = parsed, error.code == .limit else {
                Issue.record("\(text.prefix(200)): \(parsed)")
                continue
            }
        }
        await store.close()
    }
}
