/// The response field `Retry-After` (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// Longer pauses are cut to this: a day, in seconds.
    private static let maxSeconds: Int64 = 86_400

    /// The pause in milliseconds, from 0 to a day; nil for a text that is neither seconds nor an HTTP date.
    ///
    /// - Parameter now: seconds since 1970, what a date is compared with.
    package static func milliseconds(_ text: String, now: Int64) -> Int32? {
        let seconds: Int64
        if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // More digits than an integer holds are a very long pause.
            seconds = Int64(text) ?? maxSeconds
        } else if let date = date(text) {
            seconds = date - now
        } else {
            return nil
        }
        return Int32(max(0, min(maxSeconds, seconds)) * 1_000)
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Seconds since 1970 of an IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that may be sent.
    private static func date(_ text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT",
            let day = Int64(parts[1]), (1...31).contains(day),
            let monthIndex = months.firstIndex(of: String(parts[2])),
            let year = Int64(parts[3]), (1970...9999).contains(year)
        else { return nil }
        let clock = parts[4].split(separator: ":").compactMap { Int64($0) }
        guard clock.count == 3, (0..<24).contains(clock[0]), (0..<60).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        let days = daysSince1970(year: year, month: Int64(monthIndex) + 1, day: day)
        return days * 86_400 + clock[0] * 3_600 + clock[1] * 60 + clock[2]
    }

    /// Days of the Gregorian calendar, counted in years that begin in March so that the leap day comes last.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
