/// A moment in a filter: a day or a time on the calendar, or a distance from the delivery's start.
public enum TargetMoment: Sendable, Hashable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    case absolute(microseconds: Int64)
    /// So many seconds before the delivery's start; negative: after it.
    case beforeStart(seconds: Int64)

    /// Reads `YYYY-MM-DD`, or that with `T` or a space, `hh:mm`, `:ss`, `.ffffff` and `Z` or an offset such as `+02:00`; without
    /// one it is UTC. Nil if it is something else, or a day that does not exist.
    public init?(_ text: String) {
        guard let read = Self.read(text) else { return nil }
        self = .absolute(microseconds: read.microseconds)
    }

    /// Microseconds since 1970-01-01 00:00 UTC, and whether the text says its zone.
    fileprivate static func read(_ text: String) -> (microseconds: Int64, hasZone: Bool)? {
        var reader = Reader(Array(text.utf8))
        guard let year = reader.digits(4), year > 0, reader.take("-"), let month = reader.digits(2),
            (1...12).contains(month), reader.take("-"), let day = reader.digits(2),
            (1...Self.days(of: month, in: year)).contains(day)
        else { return nil }
        var seconds = Self.daysSince1970(year, month, day) * 86_400
        var fraction: Int64 = 0
        if reader.take("T") || reader.take(" ") {
            guard let time = reader.timeOfDay() else { return nil }
            seconds += time.seconds
            fraction = time.microseconds
        }
        guard reader.isAtEnd else { return nil }
        return (seconds * 1_000_000 + fraction, reader.hasZone)
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

/// A time with its zone, as files give it.
public struct ZonedTime: Sendable, Hashable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    public let microsecondsSince1970: Int64

    /// What is wrong with a text that is none.
    public static let words = "is not a time with its zone, such as 2026-11-28T10:00:00Z or 2026-11-28 10:00:00+01:00"

    /// Reads what ``TargetMoment/init(_:)`` does, and refuses a time without a zone, as its meaning is unclear.
    public init?(_ text: String) {
        // PostgreSQL writes +00, where others write +00:00.
        let isShort = text.contains(":") && text.utf8.suffix(3).first.map { "+-".utf8.contains($0) } == true
        guard let read = TargetMoment.read(isShort ? text + ":00" : text), read.hasZone else { return nil }
        microsecondsSince1970 = read.microseconds
    }
}

/// A value that a filter compares a field with.
public enum TargetLiteral: Sendable, Hashable {
    case text(String)
    /// A decimal number, as it was written.
    case number(String)
    case boolean(Bool)
    case time(TargetMoment)

    public var kind: TargetKind {
        switch self {
        case .text: .text
        case .number: .number
        case .boolean: .boolean
        case .time: .time
        }
    }

    /// The literal as a field of this kind takes it: a text stands for a time where a time belongs. Nil if it does not fit.
    ///
    /// A text field takes every literal, whose kind then says how the field's text is read.
    public func fitting(_ kind: TargetKind) -> TargetLiteral? {
        switch (kind, self) {
        case (.text, _): self
        case (.time, .text(let text)): TargetMoment(text).map { .time($0) }
        default: self.kind == kind ? self : nil
        }
    }
}
