/// The day by which a delivery's rows are partitioned, as days since 2000-01-01 (PostgreSQL's own count of dates).
package struct LogDay: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Days since 2000-01-01; negative before it.
    package let daysSince2000: Int32

    /// A day from its count.
    package init(daysSince2000: Int32) {
        self.daysSince2000 = daysSince2000
    }

    package static func < (left: LogDay, right: LogDay) -> Bool {
        left.daysSince2000 < right.daysSince2000
    }

    /// The day as `YYYY-MM-DD`, by the proleptic Gregorian calendar (days-to-civil algorithm, exact for every Int32).
    package var description: String {
        let shifted = Int64(daysSince2000) + 730_425  // days from 0000-03-01 to 2000-01-01
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthIndex + 2) / 5 + 1
        let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
