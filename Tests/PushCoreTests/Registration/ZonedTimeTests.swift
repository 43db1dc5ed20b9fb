import Foundation
import PushCore
import Testing

@Suite("Times with their zone")
struct ZonedTimeTests {
    @Test(
        arguments: [
            ("1970-01-01 00:00Z", 0), ("1970-01-01T00:00:00.000001Z", 1), ("1969-12-31 23:59:59.5Z", -500_000),
            ("2000-02-29T00:00+00:00", 951_782_400_000_000), ("2026-01-31T10:00:00+02:00", 1_769_846_400_000_000),
            ("2026-01-31T10:00-0030", 1_769_855_400_000_000), ("0001-01-01 00:00Z", -62_135_596_800_000_000),
            ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
        ] as [(String, Int64)]
    )
    func read(_ text: String, _ microseconds: Int64) {
        #expect(ZonedTime(text)?.microsecondsSince1970 == microseconds)
    }

    @Test(
        arguments: [
            "", "2026", "2026-1-1", "2026-13-01T10:00Z", "2026-00-01T10:00Z", "2026-02-29T10:00Z", "1900-02-29T10:00Z",
            "2026-04-31T10:00Z", "0000-01-01T10:00Z", "2026-01-01T", "2026-01-01T24:00Z", "2026-01-01T10:60Z",
            "2026-01-01T10:00:60Z", "2026-01-01T10:00:00.Z", "2026-01-01T10:00:00.1234567Z", "2026-01-01T10Z",
            "2026-01-01T10:00+16:00", "2026-01-01T10:00+2", "2026-01-01 ", "2026-01-01 10:00Z ", " 2026-01-01 10:00Z",
            "2026-01-01Z", "2026-01-01T10:00z", "-026-01-01T10:00Z", "２０２６-01-01T10:00Z", "2026-01-01",
            "2026-01-01T10:00",
        ]
    )
    func refuse(_ text: String) {
        #expect(ZonedTime(text) == nil)
    }

    @Test("Every day of four centuries is the day that Foundation counts")
    func days() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        var date = try #require(calendar.date(from: DateComponents(year: 1799, month: 12, day: 30)))
        for _ in 0..<146_100 {
            let parts = calendar.dateComponents([.year, .month, .day], from: date)
            let text = [(parts.year, 4), (parts.month, 2), (parts.day, 2)].map { number, width in
                let digits = String(number ?? 0)
                return String(repeating: "0", count: width - digits.count) + digits
            }.joined(separator: "-")
            let expected = Int64(date.timeIntervalSince1970) * 1_000_000
            guard ZonedTime("\(text) 00:00Z")?.microsecondsSince1970 == expected else {
                Issue.record("\(text)")
                return
            }
            date.addTimeInterval(86_400)
        }
    }
}
