import PushCore
import Testing

@Suite("The language of target filters")
struct FilterParserTests {
    private static let city = TargetField.recipient("city")

    @Test(
        "A text is read as the tree that it means",
        arguments: [
            ("recipient.city = 'Lyon'", TargetFilter.compare(city, .equal, .text("Lyon"))),
            ("recipient.city <> 'it''s'", .compare(city, .notEqual, .text("it's"))),
            ("recipient.\"city\" != ''", .compare(city, .notEqual, .text(""))),
            ("parameter.tier >= 2.50", .compare(.parameter("tier"), .greaterOrEqual, .number("2.50"))),
            ("parameters.tier < -3", .compare(.parameter("tier"), .less, .number("-3"))),
            ("parameters.tier < +3", .compare(.parameter("tier"), .less, .number("3"))),
            ("mapping.\"a \"\"b\"\"\" = TRUE", .compare(.mapping("a \"b\""), .equal, .boolean(true))),
            ("device.größe is null", .isNull(.device("größe"))),
            ("recipient.and IS NOT NULL", .not(.isNull(.recipient("and")))),
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
        ]
    )
    func trees(_ text: String, _ tree: TargetFilter) throws {
        #expect(try TargetFilter(parsing: text) == tree)
        #expect(try TargetFilter(parsing: "\n\t( \(text) )") == tree)
    }

    @Test(
        "What is no filter is refused with its place and the way out",
        arguments: [
            ("", 1, "empty"), ("   ", 4, "empty"), ("locale", 7, "comparison"), ("locale =", 9, "value"),
            ("locale = 'fr' locale", 15, "and"), ("locale = fr", 10, "value"), ("locale = 'fr", 10, "not closed"),
            ("lokale = 'fr'", 1, "did you mean locale"),
            ("tier = 'gold'", 1, "did you mean parameters.tier or recipient.tier?"),
            ("recipient = 'x'", 1, "needs a name"),
            ("person.city = 'x'", 1, "no field"), ("recipient. = 'x'", 12, "name of a field"),
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
        ]
    )
    func refusals(_ text: String, _ position: Int, _ words: String) {
        #expect {
            _ = try TargetFilter(parsing: text)
        } throws: { error in
            let error = error as? TargetFilterError
            return error?.position == position && error?.description.contains(words) == true
        }
    }

    @Test("An error has no value of the filter in it")
    func values() {
        for text in ["user_key = 'secret' 'secret'", "enabled = 'secret'", "locale in ('secret' 'secret'", "'secret'"] {
            #expect {
                _ = try TargetFilter(parsing: text)
            } throws: { "\($0)".contains("secret") == false }
        }
    }

    @Test("Length, depth, tests and lists have limits, and what is just within them is read")
    func limits() throws {
        func nested(_ depth: Int, _ open: String, _ close: String) -> String {
            String(repeating: open, count: depth) + "locale = 'a'" + String(repeating: close, count: depth)
        }
        func list(_ count: Int) -> String {
            "locale in (" + (0..<count).map { "'\($0)'" }.joined(separator: ", ") + ")"
        }
        func tests(_ count: Int) -> String { Array(repeating: "locale = 'a'", count: count).joined(separator: " or ") }
        let deep = TargetFilter.maximumDepth
        for (open, close) in [("(", ")"), ("not ", ""), ("not (", ")")] {
            let factor = open == "not (" ? 2 : 1
            _ = try TargetFilter(parsing: nested((deep - 1) / factor, open, close))
            #expect(refusal(nested(deep, open, close)) == .limit)
            #expect(refusal(nested(20_000 / open.count, open, close)) == .limit)
        }
        _ = try TargetFilter(parsing: list(TargetFilter.maximumListLength))
        #expect(refusal(list(TargetFilter.maximumListLength + 1)) == .limit)
        _ = try TargetFilter(parsing: tests(TargetFilter.maximumTests))
        #expect(refusal(tests(TargetFilter.maximumTests + 1)) == .limit)
        #expect(refusal("locale = '" + String(repeating: "x", count: TargetFilter.maximumBytes) + "'") == .limit)
        #expect(refusal("soft_errors = " + String(repeating: "9", count: 101)) == .limit)
    }

    private func refusal(_ text: String) -> TargetFilterError.Code? {
        do { _ = try TargetFilter(parsing: text) } catch { return error.code }
        return nil
    }
}
