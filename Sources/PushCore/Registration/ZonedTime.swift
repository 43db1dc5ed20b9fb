/// A time with its zone, as files give it.
package struct ZonedTime: Sendable, Hashable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    package let microsecondsSince1970: Int64

    /// What is wrong with a text that is none.
    package static let words = "is not a time with its zone, such as 2026-11-28T10:00:00Z or 2026-11-28 10:00:00+01:00"

    /// Reads `YYYY-MM-DD` with `T` or a space, `hh:mm`, `:ss`, `.ffffff` and `Z` or an offset such as `+02:00`. Nil if it is something
    /// else, a day that does not exist, or a time without a zone, as its meaning is unclear.
    package init?(_ text: String) {
        // PostgreSQL writes +00, where others write +00:00.
        let isShort = text.contains(":") && text.utf8.suffix(3).first.map { "+-".utf8.contains($0) } == true
        var reader = Reader(Array((isShort ? text + ":00" : text).utf8))
        guard let year = reader.digits(4), year > 0, reader.take("-"), let month = reader.digits(2),
            (1...12).contains(month), reader.take("-"), let day = reader.digits(2),
            (1...Self.days(of: month, in: year)).contains(day), reader.take("T") || reader.take(" "),
            let time = reader.timeOfDay(), reader.isAtEnd, reader.hasZone
        else { return nil }
        let seconds = Self.daysSince1970(year, month, day) * 86_400 + time.seconds
        microsecondsSince1970 = seconds * 1_000_000 + time.microseconds
    }

    /// The days of a month in the Gregorian calendar.
    private static func days(of month: Int64, in year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1970-01-01 by the proleptic Gregorian calendar (days-from-civil algorithm); the year is 1 to 9999.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// Reads digits and signs one after the other.
    private struct Reader {
        private let bytes: [UInt8]
        private var position = 0
        /// Whether a zone was read.
        private(set) var hasZone = false

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var isAtEnd: Bool { position == bytes.count }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        /// A number of exactly so many digits.
        mutating func digits(_ count: Int) -> Int64? {
            guard position + count <= bytes.count else { return nil }
            var value: Int64 = 0
            for byte in bytes[position..<position + count] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            position += count
            return value
        }

        /// `hh:mm[:ss[.ffffff]]` and an offset, as seconds of the UTC day (outside of it near midnight).
        mutating func timeOfDay() -> (seconds: Int64, microseconds: Int64)? {
            guard let hour = digits(2), hour < 24, take(":"), let minute = digits(2), minute < 60 else { return nil }
            var seconds = hour * 3600 + minute * 60
            var microseconds: Int64 = 0
            if take(":") {
                guard let second = digits(2), second < 60 else { return nil }
                seconds += second
                if take(".") {
                    guard let fraction = fraction() else { return nil }
                    microseconds = fraction
                }
            }
            if take("Z") {
                hasZone = true
                return (seconds, microseconds)
            }
            let isEast = take("+")
            guard isEast || take("-") else { return (seconds, microseconds) }
            // PostgreSQL knows no offset of 16 hours or more.
            guard let hours = digits(2), hours < 16 else { return nil }
            _ = take(":")
            guard let minutes = digits(2), minutes < 60 else { return nil }
            hasZone = true
            let offset = hours * 3600 + minutes * 60
            return (isEast ? seconds - offset : seconds + offset, microseconds)
        }

        /// One to six digits behind the point, as microseconds.
        private mutating func fraction() -> Int64? {
            var value: Int64 = 0
            var count = 0
            while count < 6, let digit = digits(1) {
                value = value * 10 + digit
                count += 1
            }
            guard count > 0 else { return nil }
            for _ in count..<6 { value *= 10 }
            return value
        }
    }
}
