import PostgresClient
import PushCore

/// When a delivery recurs.
package struct RecurrenceRule: Sendable, Hashable {
    /// What `every` counts.
    package enum Unit: String, Sendable, CaseIterable {
        /// As they pass, whatever the clock shows.
        case hours
        case days
        case weeks
        case months
    }

    /// What follows after a moment at which no run could be made.
    package enum Missed: String, Sendable, CaseIterable {
        /// The next one.
        case skip
        /// One run, as soon as possible.
        case once
    }

    package var unit: Unit
    /// 2 is every second one.
    package var every: Int32 = 1
    /// Local times such as `09:00`. For hours the one from which they are counted on the first day; nil for midnight.
    package var times: [String]?
    /// A name such as Europe/Berlin.
    package var timeZone: String
    /// Of weeks: 1 is Monday, 7 is Sunday; nil for that of the first day.
    package var weekdays: [Int32]?
    /// Of months: 1 to 31, or -1 for the last day; nil for that of the first day.
    package var monthDays: [Int32]?
    /// The first local date; nil for today.
    package var startsOn: String?
    /// The last local date; nil for no end.
    package var endsOn: String?
    /// Local dates without a run.
    package var exceptDates: [String] = []
    package var missed: Missed = .skip

    package init(unit: Unit, timeZone: String) {
        self.unit = unit
        self.timeZone = timeZone
    }

    /// The numbers that `every` may have.
    package static let everyRange: ClosedRange<Int32> = 1...720
    /// How many times of a day, and how many dates without a run, there may be.
    package static let maxTimes = 48
    package static let maxExceptDates = 200

    /// Whether a text is a time of a day, such as `09:00`.
    package static func isTime(_ text: String) -> Bool {
        text.utf8.count == 5 && ZonedTime("2000-01-01T\(text):00Z") != nil
    }

    /// Whether a text is a date that exists, such as `2028-02-29`.
    package static func isDate(_ text: String) -> Bool {
        text.utf8.count == 10 && ZonedTime("\(text)T00:00:00Z") != nil
    }

    /// The arguments of `set_recurrence` after the delivery, with parameters from this number on.
    static func arguments(from first: Int) -> String {
        let types = [
            "text", "text", "text[]::time[]", "integer", "integer[]", "integer[]", "text::date", "text::date",
            "text[]::date[]", "text",
        ]
        return types.enumerated().map { "$\(first + $0.offset)::\($0.element)" }.joined(separator: ", ")
    }

    /// The values of these arguments.
    var values: [PostgresValue] {
        [
            .text(unit.rawValue), .text(timeZone), times.map { .textArray($0) } ?? .null, .int32(every),
            weekdays.map { .int32Array($0) } ?? .null, monthDays.map { .int32Array($0) } ?? .null,
            .textOrNull(startsOn), .textOrNull(endsOn), .textArray(exceptDates), .text(missed.rawValue),
        ]
    }
}
