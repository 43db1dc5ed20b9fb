import Foundation
import PostgresClient
import Store
import TestSupport
import Testing

@Suite("Days and times of filters")
struct FilterTimeTests {
    /// The times that the database reads from texts, in microseconds since 1970; nil for a text that is not a time.
    private func read(_ texts: [String]) async throws -> [Int64?] {
        let store = try await Store(configuration: TestDatabase.create().configuration())
        let moments = try await store.query(
            """
            SELECT pushmta_engine.filter_microseconds(pushmta_engine.filter_time(u.text))
            FROM unnest($1::text[]) WITH ORDINALITY u(text, n) ORDER BY u.n
            """,
            [.textArray(texts)]
        ).all { row in try row.int64OrNil() }
        await store.close()
        return moments
    }

    @Test("A text is read as a time, in UTC unless it has a zone")
    func moments() async throws {
        let times: [(String, Int64)] = [
            ("1970-01-01", 0), ("1970-01-01T00:00:00.000001Z", 1), ("1969-12-31 23:59:59.5", -500_000),
            ("2000-02-29", 951_782_400_000_000), ("2026-01-31T10:00:00+02:00", 1_769_846_400_000_000),
            ("2026-01-31T10:00-0030", 1_769_855_400_000_000), ("0001-01-01", -62_135_596_800_000_000),
            ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
        ]
        let found = try await read(times.map { $0.0 })
        let expected: [Int64?] = times.map { $0.1 }
        #expect(found == expected)
    }

    @Test("An invalid time, or a day that does not exist, is refused")
    func none() async throws {
        let texts = [
            "", "2026", "2026-1-1", "2026-13-01", "2026-00-01", "2026-02-29", "1900-02-29", "2026-04-31", "0000-01-01",
            "2026-01-01T", "2026-01-01T24:00", "2026-01-01T10:60", "2026-01-01T10:00:60", "2026-01-01T10:00:00.",
            "2026-01-01T10:00:00.1234567", "2026-01-01T10", "2026-01-01T10:00+16:00", "2026-01-01T10:00+2",
            "2026-01-01 ", " 2026-01-01", "2026-01-01Z", "2026-01-01T10:00z", "-026-01-01", "２０２６-01-01",
        ]
        for (text, moment) in zip(texts, try await read(texts)) { #expect(moment == nil, "\(text)") }
    }

    @Test("Every day of four centuries is the same as Foundation's")
    func days() async throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        var date = try #require(calendar.date(from: DateComponents(year: 1799, month: 12, day: 30)))
        var days: [(text: String, microseconds: Int64)] = []
        for _ in 0..<146_100 {
            let parts = calendar.dateComponents([.year, .month, .day], from: date)
            let text = [(parts.year, 4), (parts.month, 2), (parts.day, 2)].map { number, width in
                let digits = String(number ?? 0)
                return String(repeating: "0", count: width - digits.count) + digits
            }.joined(separator: "-")
            days.append((text, Int64(date.timeIntervalSince1970) * 1_000_000))
            date.addTimeInterval(86_400)
        }
        let moments = try await read(days.map(\.text))
        let isWrong = zip(days, moments).contains { day, moment in day.microseconds != moment }
        #expect(!isWrong && moments.count == days.count)
    }
}
