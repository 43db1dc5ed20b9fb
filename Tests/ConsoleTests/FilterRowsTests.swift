import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// The rows of a filter, and its text.
@Suite struct FilterRowsTests {
    private typealias Row = FilterRows.Row

    private func text(_ rows: [Row], _ join: FilterRows.Join = .all) -> String {
        var all = FilterRows()
        (all.rows, all.join) = (rows, join)
        return all.text
    }

    private func store() async throws -> Store {
        try await Store(configuration: TestDatabase.create().configuration())
    }

    /// The rows of a filter, if their text gives the same filter.
    private func rows(_ filter: TargetFilter, _ store: Store) async throws -> FilterRows? {
        guard let rows = FilterRows(filter), try await store.parseFilter(rows.text) == .success(filter) else {
            return nil
        }
        return rows
    }

    private static let sayable = [
        "locale = 'fr'", "locale != 'fr' and user_key is not null", "locale = 'fr' or locale = 'de'",
        "parameters.tier in ('gold', 'silver') and recipient.\"first name\" contains 'O''Neil'",
        "not (locale in ('fr'))", "registered_at < now - 90 days", "registered_at >= now",
        "created_at > '2026-01-31' and created_at <= '2026-01-31T10:00:30Z'", "enabled = true", "opted_out != false",
        "parameters.points >= 100", "parameters.since < date '2026-01-31'", "subscription_id in (1, 2, 3)",
        "device.model not starts with 'Pixel'", "mapping.points = 12.5 and mapping.city = 'Lyon'", "user_key is null",
        "last_error_at > now + 36 hours", "clicked delivery 4711", "not sent any within 7 days",
        "sent label 'Spring''s' within 30 days and not clicked label 'Spring''s'",
        "received category 'news' or sent any",
    ]

    @Test func whatRowsCanSayComesBack() async throws {
        let store = try await store()
        for text in Self.sayable {
            let filter = try await store.parseFilter(text).get()
            let rows = try #require(FilterRows(filter), "\(text)")
            let parsed = try await store.parseFilters([rows.text] + rows.rows.map(\.text))
            #expect(parsed[0] == .success(filter), "\(rows.text)")
            for (row, parsed) in zip(rows.rows, parsed.dropFirst()) {
                #expect(row.problem(parsed) == nil, "\(row)")
            }
            // Their text gives the same rows, so nothing else needs to be saved.
            #expect(rows.kept(parsed[0]).isEmpty)
        }
        await store.close()
    }

    /// A filter that rows would change stays text.
    @Test func whatRowsCannotSayStaysText() async throws {
        let store = try await store()
        let texts = [
            "locale = 'fr' and (user_key is null or enabled = true)", "not (locale = 'fr')", "not not (locale = 'fr')",
            "parameters.points = 100", "parameters.name < '100'", "parameters.since < '2026-01-31'",
            "parameters.since < '2026-13-31'", "locale in ('a, b')", "locale = ''", "locale = ' fr'",
            "locale = 'f\nr'", "mapping.code = '12'", "parameters.city in (1, 2)",
        ]
        for text in texts {
            let filter = try await store.parseFilter(text).get()
            #expect(try await rows(filter, store) == nil, "\(text)")
        }
        await store.close()
    }

    @Test func moreRowsThanAFormHasStayText() {
        func filter(_ count: Int) -> TargetFilter {
            .any((0..<count).map { .compare(.column(.locale), .equal, .text("x\($0)")) })
        }
        #expect(FilterRows(filter(FilterRows.maxRows)) != nil)
        #expect(FilterRows(filter(FilterRows.maxRows + 1)) == nil)
    }

    /// Any typed value gives either the test that the row shows, or an error.
    @Test func aRowIsOneTestOrNone() async throws {
        let typed = [
            "", "fr", "'", "''", "' or 1=1 --", "a' or user_key is not null or 'a' = 'a", "1 or enabled = true", "1",
            "1.5",
            "-3", "1e9", "true", "TRUE", "now", "now - 7 days", "now or enabled", "2026-01-31", "2026-13-31", "null",
            "Spring within 30 days", "or enabled = true", "within 3 days or enabled = true", "(1)", "1, 2", "a,,b", ",",
            "date '2026-01-31'", "\u{301}", "\\", "a'\u{301} or user_key is null or 'b",
        ]
        let fields =
            TargetColumn.allCases.map(\.rawValue) + [
                "", "parameters.tier", "recipient.\"first name\"", "mapping.points", "nothing", "parameters", "not",
                "null", "recipient.", "recipient.not", "recipient.in",
                "recipient.\"a\"\u{301} or locale", "locale = 'x' or user_key", "(locale", "locale)", "'locale'",
                "locale or", "not locale", "now", "clicked",
            ]
        let same = TargetFilter.compare(.column(.locale), .equal, .text("de"))
        let other = Row(field: "locale", comparison: .equal, value: "de")
        let store = try await store()
        var right = 0
        for field in fields {
            let typedRows = FilterRows.Comparison.allCases.flatMap { comparison in
                typed.map { Row(field: field, comparison: comparison, value: $0) }
            }
            // Each row alone, then before and after another one, joined in both ways.
            let ways: [(join: FilterRows.Join, isFirst: Bool)] = [
                (.all, true), (.all, false), (.any, true), (.any, false),
            ]
            let texts = typedRows.flatMap { row in
                [row.text] + ways.map { text($0.isFirst ? [row, other] : [other, row], $0.join) }
            }
            let parsed = try await store.parseFilters(texts)
            for (place, row) in typedRows.enumerated() {
                let first = place * (ways.count + 1)
                let alone = try? parsed[first].get()
                let isWrong = alone == nil && !row.isBlank
                if isWrong != (row.problem(parsed[first]) != nil) { Issue.record("\(row): \(parsed[first])") }
                for (number, way) in ways.enumerated() where !row.isBlank {
                    let joined = try? parsed[first + 1 + number].get()
                    guard let alone else {
                        if joined != nil { Issue.record("\(row) is wrong, \(texts[first + 1 + number]) is a filter") }
                        continue
                    }
                    let both = way.isFirst ? [alone, same] : [same, alone]
                    if joined != (way.join == .all ? .all(both) : .any(both)) {
                        Issue.record("\(texts[first + 1 + number]) is another filter")
                    }
                    right += 1
                }
            }
        }
        #expect(right > 1_000)
        await store.close()
    }

    /// A group without a name must not take the first word of the comparison for it.
    @Test(arguments: ["recipient.", "recipient..city", "recipient.city.", ".city", "parameters."])
    func aFieldWithoutItsNameIsWrong(field: String) async throws {
        let rows = FilterRows.Comparison.allCases.map { Row(field: field, comparison: $0, value: "a") }
        let store = try await store()
        for (row, parsed) in zip(rows, try await store.parseFilters(rows.map(\.text))) {
            #expect(row.problem(parsed) != nil, "\(row.text)")
        }
        await store.close()
    }

    @Test func aWrongRowSaysWhy() async throws {
        let cases = [
            (Row(field: "locales", comparison: .equal, value: "fr"), "did you mean locale?"),
            (Row(field: "registered_at", comparison: .less, value: "soon"), "compare it with '2026-01-31'"),
            (Row(field: "subscription_id", comparison: .equal, value: "many"), "compare it with 12.5"),
            (Row(field: "locale", comparison: .equal, value: ""), "a value is expected"),
            (Row(field: "parameters.since", comparison: .less, value: "2026-13-31"), "no day or time"),
            (Row(field: "", comparison: .equal, value: "fr"), "a field is expected"),
            (Row(field: "platform", comparison: .equal, value: "iso"), "did you mean 'ios'?"),
            (Row(field: "enabled", comparison: .contains, value: "x"), "contains no text"),
        ]
        let store = try await store()
        for ((row, words), parsed) in zip(cases, try await store.parseFilters(cases.map { $0.0.text })) {
            let problem = row.problem(parsed) ?? ""
            #expect(problem.contains(words), "\(row): \(problem)")
        }
        await store.close()
    }
}
