import PushCore
import Store
import Testing

@testable import Console

/// Rows of a filter and its text.
@Suite struct FilterRowsTests {
    private typealias Row = FilterRows.Row

    private func text(_ rows: [Row], _ join: FilterRows.Join = .all) -> String {
        var all = FilterRows()
        (all.rows, all.join) = (rows, join)
        return all.text
    }

    @Test(arguments: [
        "locale = 'fr'", "locale != 'fr' and user_key is not null", "locale = 'fr' or locale = 'de'",
        "parameters.tier in ('gold', 'silver') and recipient.\"first name\" contains 'O''Neil'",
        "not (locale in ('fr'))", "registered_at < now - 90 days", "registered_at >= now",
        "created_at > '2026-01-31' and created_at <= '2026-01-31T10:00:30Z'", "enabled = true", "opted_out != false",
        "parameters.points >= 100", "parameters.since < date '2026-01-31'", "subscription_id in (1, 2, 3)",
        "device.model not starts with 'Pixel'", "mapping.points = 12.5 and mapping.city = 'Lyon'", "user_key is null",
        "last_error_at > now + 36 hours",
    ])
    func whatRowsCanSayComesBack(text: String) throws {
        let filter = try TargetFilter(parsing: text)
        let rows = try #require(FilterRows(filter), "\(text)")
        #expect(rows.rows.allSatisfy { $0.problem == nil }, "\(rows)")
        #expect(try TargetFilter(parsing: rows.text) == filter, "\(rows.text)")
        // Their text says them, so that nothing else has to be kept.
        #expect(rows.kept.isEmpty)
    }

    /// What a row would say in another way stays as it is written.
    @Test(arguments: [
        "locale = 'fr' and (user_key is null or enabled = true)", "not (locale = 'fr')", "not not (locale = 'fr')",
        "parameters.points = 100", "parameters.name < '100'", "locale in ('a, b')", "locale = ''", "locale = ' fr'",
        "locale = 'f\nr'",
        "mapping.code = '12'", "parameters.city in (1, 2)",
    ])
    func whatRowsCannotSayStaysText(text: String) throws {
        #expect(FilterRows(try TargetFilter(parsing: text)) == nil)
    }

    @Test func moreRowsThanAFormHasStayText() throws {
        func filter(_ count: Int) throws -> TargetFilter {
            try TargetFilter(parsing: (0..<count).map { "locale = 'x\($0)'" }.joined(separator: " or "))
        }
        #expect(FilterRows(try filter(FilterRows.most)) != nil)
        #expect(FilterRows(try filter(FilterRows.most + 1)) == nil)
    }

    /// Whatever is typed makes the test that the row shows, or none.
    @Test func aRowIsOneTestOrNone() throws {
        let typed = [
            "", "fr", "'", "''", "' or 1=1 --", "a' or user_key is not null or 'a' = 'a", "1 or enabled = true", "1",
            "1.5",
            "-3", "1e9", "true", "TRUE", "now", "now - 7 days", "now or enabled", "2026-01-31", "2026-13-31", "null",
            "(1)", "1, 2", "a,,b", ",", "date '2026-01-31'", "\u{301}", "\\",
        ]
        let fields =
            TargetColumn.allCases.map(\.rawValue) + [
                "", "parameters.tier", "recipient.\"first name\"", "mapping.points", "nothing", "parameters", "not",
                "null",
                "locale = 'x' or user_key", "(locale", "locale)", "'locale'", "locale or", "not locale", "now",
            ]
        let same = try TargetFilter(parsing: "locale = 'de'")
        var right = 0
        for field in fields {
            for comparison in FilterRows.Comparison.allCases {
                for value in typed {
                    let row = Row(field: field, comparison: comparison, value: value)
                    let alone = try? TargetFilter(parsing: row.text)
                    if (alone == nil) != (row.problem != nil) { Issue.record("\(row): \(row.problem ?? "")") }
                    let other = Row(field: "locale", comparison: .equal, value: "de")
                    for join in FilterRows.Join.allCases {
                        for rows in [[row, other], [other, row]] where !row.isBlank {
                            let joined = try? TargetFilter(parsing: text(rows, join))
                            guard let alone else {
                                if joined != nil { Issue.record("\(row) is wrong, \(text(rows, join)) is a filter") }
                                continue
                            }
                            let both = rows[0] == row ? [alone, same] : [same, alone]
                            if joined != (join == .all ? .all(both) : .any(both)) {
                                Issue.record("\(text(rows, join)) is another filter")
                            }
                            right += 1
                        }
                    }
                }
            }
        }
        #expect(right > 1_000)
    }

    @Test func aWrongRowSaysWhy() {
        let cases = [
            (Row(field: "locales", comparison: .equal, value: "fr"), "did you mean locale?"),
            (Row(field: "registered_at", comparison: .less, value: "soon"), "compare it with '2026-01-31'"),
            (Row(field: "subscription_id", comparison: .equal, value: "many"), "compare it with 12.5"),
            (Row(field: "locale", comparison: .equal, value: ""), "a value is expected"),
            (Row(field: "", comparison: .equal, value: "fr"), "a field is expected"),
            (Row(field: "platform", comparison: .equal, value: "iso"), "did you mean 'ios'?"),
            (Row(field: "enabled", comparison: .contains, value: "x"), "contains no text"),
        ]
        for (row, words) in cases { #expect(row.problem?.contains(words) == true, "\(row): \(row.problem ?? "")") }
    }
}
