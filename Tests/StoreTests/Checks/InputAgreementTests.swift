import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import Content
@testable import PushCore
@testable import Store

/// The database's checks agree with the program's on any input, and filters are read as written.
@Suite("Checks in the database against those of the program")
struct InputAgreementTests {
    private static let words = [
        "recipient", "recipient.city", "parameters.tier", "mapping.\"a b\"", "mapping . x", "locale", "registered_at",
        "enabled",
        "soft_errors", "platform", "quarantine_status", "and", "or", "not", "in", "is", "null", "contains", "starts",
        "with", "true",
        "false", "now", "date", "timestamp", "day", "weeks", "=", "!=", "<", "<=", ">", ">=", "<>", "(", ")", ",", ".",
        "+", "-",
        "'Lyon'", "'it''s'", "''", "'ios'", "'2026-01-31'", "'2026-02-30'", "7", "-1.5", "+3", "-0",
        "99999999999999999999", "\"", "'",
        "!", ";", "--", "/*", "\\", "$1", "é", "日本", "\u{A0}", "\u{2028}", "‘", "\n", "\t", "x",
    ]

    private static func random(_ name: String) -> FilterGenerator {
        let given = ProcessInfo.processInfo.environment["PUSHMTA_TEST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: .min ... .max)
        print("\(name): PUSHMTA_TEST_SEED=\(seed)")
        return FilterGenerator(seed: seed)
    }

    /// A filter, one with a typing error, or words in random order.
    private static func filter(_ random: inout FilterGenerator) -> String {
        if random.below(3) == 0 {
            var picked: [String] = []
            for _ in 0..<random.below(12) { picked.append(random.pick(words)) }
            return picked.joined(separator: random.below(3) == 0 ? "" : " ")
        }
        var scalars = Array(FilterWriter.text(random.filter(depth: 4)).unicodeScalars)
        for _ in 0..<random.below(3) where !scalars.isEmpty {
            let place = random.below(scalars.count)
            switch random.below(4) {
            case 0: scalars.remove(at: place)
            case 1: scalars.insert(Unicode.Scalar(UInt8(1 + random.below(127))), at: place)
            case 2: scalars[place] = scalars[random.below(scalars.count)]
            default: scalars.insert(contentsOf: Array(random.pick(words).unicodeScalars), at: place)
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    @Test("The database reads a filter as the tree from which it was written, and no typing error aborts the statement")
    func filters() async throws {
        let store = try await Store(configuration: TestDatabase.create().configuration())
        var random = Self.random("filters in the database")
        var wrong = 0
        for _ in 0..<10 {
            let trees = (0..<300).map { _ in random.filter(depth: 4) }
            let written = trees.map(FilterWriter.text)
            for (place, parsed) in try await store.parseFilters(written).enumerated() {
                if parsed != .success(trees[place]) { Issue.record("\(written[place]): \(parsed)") }
            }
            let slips = (0..<500).map { _ in Self.filter(&random) }
            for (text, parsed) in zip(slips, try await store.parseFilters(slips)) {
                guard case .failure(let error) = parsed else { continue }
                wrong += 1
                let isInside = (1...text.unicodeScalars.count + 1).contains(error.position ?? 0)
                if !isInside || error.cause.isEmpty || error.remedy.isEmpty {
                    Issue.record("\(text.debugDescription): \(error)")
                }
            }
        }
        #expect(wrong > 500)
        await store.close()
    }

    @Test("A filter just within the limits is accepted, and one just beyond them is refused")
    func limits() async throws {
        let store = try await Store(configuration: TestDatabase.create().configuration())
        let parsed = try await store.parseFilters(Self.limits.map(\.text))
        for (limit, parsed) in zip(Self.limits, parsed) {
            let isRight = if case .success = parsed { true } else { false }
            #expect(isRight == limit.isRight, "\(limit.text.prefix(500))")
        }
        await store.close()
    }

    /// Just within the limits, and just beyond them.
    private static let limits: [(text: String, isRight: Bool)] = {
        var texts = [
            ("registered_at > now - 36600 days", true), ("registered_at > now - 36601 days", false), ("", false),
            (" ", false), ("locale = 'it''s", false), ("locale = 12ab", false),
        ]
        for more in [0, 1] {
            let deep = TargetFilter.maxDepth - 1 + more
            for (open, close) in [("(", ")"), ("not ", "")] {
                let (before, after) = (String(repeating: open, count: deep), String(repeating: close, count: deep))
                texts.append(("\(before)locale = 'a'\(after)", more == 0))
            }
            let list = Array(repeating: "'x'", count: TargetFilter.maxListLength + more)
            texts.append(("locale in (\(list.joined(separator: ", ")))", more == 0))
            let tests = Array(repeating: "locale = 'a'", count: TargetFilter.maxTests + more)
            texts.append((tests.joined(separator: " or "), more == 0))
            let digits = String(repeating: "9", count: TargetFilter.maxDigits + more)
            texts.append(("soft_errors = \(digits)", more == 0))
            let text = String(repeating: "x", count: TargetFilter.maxBytes - 11 + more)
            texts.append(("locale = '\(text)'", more == 0))
        }
        return texts.map { (text: $0.0, isRight: $0.1) }
    }()

    @Test(
        "The database refuses no content that the program accepts, and finds problems of single keys at the same place"
    )
    func contents() async throws {
        let database = try await TestDatabase.create()
        let connection = try await database.connect()
        var sketch = ContentSketch(random: Self.random("contents in the database"))
        var (right, wrong, contradicting) = (0, 0, 0)
        for _ in 0..<10 {
            let result = try await connection.execute(
                PostgresStatement(
                    """
                    SELECT c.content::text, array_to_string(ARRAY(SELECT p.pointer FROM pushmta_engine.content_problems(c.content,
                        ARRAY(SELECT k FROM unnest(ARRAY['ios', 'android']) k WHERE jsonb_typeof(c.content -> k) <> 'null')) p), E'\\n')
                    FROM (SELECT u.text::jsonb AS content FROM unnest($1::text[]) u(text)) c
                    """,
                    [.textArray((0..<200).map { _ in JSONText.compact(sketch.content()) })]
                )
            )
            for row in 0..<result.rowCount {
                let json = try result.text(row, 0)
                let pointers = try result.text(row, 1).split(separator: "\n").map(String.init)
                let problems = PushContent.validate(json: json)
                if problems.isEmpty {
                    right += 1
                    if !pointers.isEmpty {
                        Issue.record("the program takes \(json), the database does not: \(pointers)")
                    }
                }
                if problems.allSatisfy(Self.isOfSeveralKeys) {
                    contradicting += problems.count
                    for place in problems.map({ Self.pointer($0.key) }) where !pointers.contains(place) {
                        Issue.record("\(json): the database does not see what is wrong at \(place), but \(pointers)")
                    }
                }
                for problem in problems where Self.isOfOneKey(problem) && problems.count < 100 {
                    wrong += 1
                    let place = Self.pointer(problem.key)
                    if !pointers.contains(where: { $0 == place || $0.hasPrefix(place + "/") }) {
                        Issue.record("\(json): the database does not see \(problem) at \(place), but \(pointers)")
                    }
                }
            }
        }
        #expect(
            // Random contents rarely contradict themselves: some hundred do, of 2,000.
            right > 100 && wrong > 100 && contradicting > 30,
            "\(right) right ones, \(wrong) problems of single keys, \(contradicting) of several"
        )
        await connection.close()
    }

    /// Problems of a key's own rule; everything else is checked when a delivery is prepared.
    private static func isOfOneKey(_ problem: ContentProblem) -> Bool {
        let causes = [
            "this key is unknown", "is not allowed", "is out of range", "it is missing", "is not a color",
            "is not a label",
            "is not a package name", "is not such a duration", "the name is reserved", "entries",
        ]
        let kinds = ["it is a ", "it is an ", "it is true", "it is false"]
        // The requirements of a Live Activity on the raw payload are not rules of a key.
        return !problem.key.contains(".aps.")
            && (causes.contains { problem.cause.contains($0) } || kinds.contains { problem.cause.hasPrefix($0) })
    }

    /// Problems of a combination of keys in a main section.
    private static func isOfSeveralKeys(_ problem: ContentProblem) -> Bool {
        Platform.allCases.contains { platform in
            ContentRule.rules(platform).contains { rule in
                rule.problem.cause == problem.cause
                    && problem.key == ([platform.rawValue] + rule.path).joined(separator: ".")
            }
        }
    }

    /// Pieces for texts with closed and open tags.
    private static let tagPieces = [
        "{", "{{", "{{{", "}", "}}", "}}}", "\\", "\\{{", "a", "{{a}}", "{{{a}}}", "{{! x }}", " ", "\n", "é", "👍🏽",
        "{{a|b}}",
    ]

    @Test("Database and program agree on which texts have an open tag")
    func tags() async throws {
        let database = try await TestDatabase.create()
        let connection = try await database.connect()
        var random = Self.random("tags in the database")
        let texts = (0..<5_000).map { _ in (0..<random.below(9)).map { _ in random.pick(Self.tagPieces) }.joined() }
        let result = try await connection.execute(
            PostgresStatement(
                "SELECT u.text ~ $2 FROM unnest($1::text[]) WITH ORDINALITY u(text, n) ORDER BY u.n",
                [.textArray(texts), .text(TextTemplate.closedPattern)]
            )
        )
        var open = 0
        for (row, text) in texts.enumerated() {
            let isClosed = try result.bool(row, 0)
            do throws(TextTemplate.SyntaxError) {
                _ = try TextTemplate(text)
                #expect(isClosed, "\(text.debugDescription)")
            } catch  where error == TextTemplate.openTag {
                open += 1
                #expect(!isClosed, "\(text.debugDescription)")
            } catch {
                // Another problem is found first.
            }
        }
        #expect(open > 500)
        await connection.close()
    }

    private static func pointer(_ key: String) -> String {
        "/" + key.replacing(".", with: "/").replacing("[", with: "/").replacing("]", with: "")
    }
}

/// Creates random contents from the tables of keys; about every tenth value has a random type.
struct ContentSketch {
    var random: FilterGenerator

    mutating func content() -> JSONValue {
        var entries = Platform.allCases.filter { _ in random.below(4) > 0 }.map { section($0) }
        if random.below(3) == 0 {
            let inner = entries.map { section(Platform(rawValue: $0.name) ?? .ios) }
            entries.append(JSONEntry(name: "locales", value: .object([JSONEntry(name: "fr", value: .object(inner))])))
        }
        if random.below(6) == 0 { entries.append(JSONEntry(name: "missing", value: .string("empty"))) }
        // An unknown key with null counts as absent in a section, and everywhere for the database.
        if random.below(20) == 0 { entries.append(JSONEntry(name: "unheard", value: .string("x"))) }
        return .object(entries)
    }

    private mutating func section(_ platform: Platform) -> JSONEntry {
        var entries = [
            JSONEntry(name: "title", value: .string("Hello {{name}}")), JSONEntry(name: "body", value: .string("b")),
        ]
        for key in ContentKey.keys(platform) where random.below(14) == 0 && !["title", "body"].contains(key.name) {
            entries.append(JSONEntry(name: key.name, value: value(key.kind)))
        }
        if random.below(20) == 0 { entries.append(JSONEntry(name: "unheard", value: anything())) }
        return JSONEntry(name: platform.rawValue, value: random.below(40) == 0 ? anything() : .object(entries))
    }

    private mutating func anything() -> JSONValue {
        random.pick([
            .null, .boolean(true), .number("5"), .number("-5"), .number("0.5"), .number("1e20"), .string(""),
            .string("x"),
            .string("#12345g"), .array([]), .array([.string("x")]), .array([.number("1")]), .object([]),
            .object([JSONEntry(name: "unheard", value: .string("x"))]),
        ])
    }

    private mutating func value(_ kind: ContentKey.Kind) -> JSONValue {
        if random.below(8) == 0 { return anything() }
        let field = JSONValue.string("{{a|1}}")
        switch kind {
        case .text: return .string("text")
        case .texts: return .array([.string("a"), field])
        case .boolean: return .boolean(random.below(2) == 0)
        case .integer(let range), .personalisedInteger(let range):
            return random.pick([
                .number("\(range.lowerBound)"), .number("\(range.upperBound)"), .number("\(range.upperBound + 1)"),
            ])
        case .number(let range):
            return random.pick([.number("\(range.lowerBound)"), .number("\(range.upperBound + 1)")])
        case .seconds: return random.pick([.number("1.5"), .number("-1")])
        case .secondsList: return .array([.number("0.25")])
        case .choice(let words), .word(let words): return .string(random.pick(words + ["unheard"]))
        case .integerChoice(let numbers): return .number("\(random.pick(numbers + [7]))")
        case .color, .lightColor: return .string(random.pick(["#a0B1c2", "#12345", "red"]))
        case .time: return random.pick([.string("2030-01-31T12:00:00Z"), field])
        case .label: return .string(random.pick(["sale-1", "has space", "{{a}}"]))
        case .duration: return .string(random.pick(["3.5s", "60", "{{a}}s"]))
        case .durations: return .array([.string(random.pick(["1s", "2"]))])
        case .packageName: return .string(random.pick(["com.example.app", "example", "{{a}}"]))
        case .strings: return .object([JSONEntry(name: "k", value: random.pick([.string("v"), .number("5"), .null]))])
        case .message: return .object(group(ContentKey.fcmMessage.filter { $0.name != "notification" }))
        case .variables:
            let names = ["k", "aps", "_mId", "from", "message_type", "Aps"]
            return .object([
                JSONEntry(name: random.pick(names), value: random.pick([.string("v"), .number("1"), .object([])]))
            ])
        case .object: return .object([JSONEntry(name: "k", value: .string("v"))])
        case .group(let keys): return .object(group(keys))
        case .textOrGroup(let keys): return random.below(2) == 0 ? .string("text") : .object(group(keys))
        case .items(let keys, let count):
            return .array((0..<(count.lowerBound + random.below(count.count + 1))).map { _ in .object(group(keys)) })
        case .template(let platform):
            let kind = random.pick(RichTemplateKind.all(platform))
            return .object([JSONEntry(name: "type", value: .string(kind.rawValue))] + group(kind.keys(platform)))
        }
    }

    private mutating func group(_ keys: [ContentKey]) -> [JSONEntry] {
        keys.compactMap { key in
            let isThere = key.isRequired ? random.below(20) > 0 : random.below(3) == 0
            return isThere ? JSONEntry(name: key.name, value: value(key.kind)) : nil
        }
    }
}
