import PushCore
import Store

/// The body of setRecurrence.
struct RecurrenceBody: Sendable {
    let rule: RecurrenceRule

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        let unit = reader.choice("unit", of: RecurrenceRule.Unit.self)
        let timeZone = reader.text("timeZone", required: true, as: .deviceSetting, mayBeEmpty: false)
        var rule = RecurrenceRule(unit: unit ?? .days, timeZone: timeZone ?? "")
        if let every = reader.integer("every", RecurrenceRule.everyRange) { rule.every = every }
        rule.times = reader.textList("times", 1...RecurrenceRule.maxTimes, as: .word)
        rule.weekdays = Self.integers("weekdays", 1...7, 7, &reader)
        rule.monthDays = Self.integers("monthDays", -31...31, 62, &reader)
        rule.startsOn = Self.date("startsOn", &reader)
        rule.endsOn = Self.date("endsOn", &reader)
        rule.exceptDates = reader.textList("exceptDates", 0...RecurrenceRule.maxExceptDates, as: .word) ?? []
        if let missed = reader.choice("missed", of: RecurrenceRule.Missed.self) { rule.missed = missed }
        for (place, time) in (rule.times ?? []).enumerated() where !RecurrenceRule.isTime(time) {
            reader.note("times", place, "a time such as 09:00 is expected")
        }
        for (place, date) in rule.exceptDates.enumerated() where !RecurrenceRule.isDate(date) {
            reader.note("exceptDates", place, "a date such as 2028-02-29 is expected")
        }
        var faults = reader.finish()
        if unit == nil, !faults.contains(where: { $0.path == "/unit" }) {
            faults.append(APIProblem.Fault(path: "/unit", problem: "it is missing"))
        }
        if !faults.isEmpty { throw .invalid(faults) }
        self.rule = rule
    }

    private static func date(_ name: String, _ reader: inout JSONReader) -> String? {
        guard let text = reader.text(name, as: .word) else { return nil }
        if !RecurrenceRule.isDate(text) { reader.note(name, "a date such as 2028-02-29 is expected") }
        return text
    }

    /// A list of whole numbers in a range.
    private static func integers(
        _ name: String,
        _ range: ClosedRange<Int32>,
        _ maxCount: Int,
        _ reader: inout JSONReader
    ) -> [Int32]? {
        guard let elements = reader.list(name, 1...maxCount) else { return nil }
        return elements.enumerated().map { place, element in
            if case .number(let digits) = element,
                let number = JSONNumber.whole(digits).flatMap({ Int32(exactly: $0) }), number != 0,
                range.contains(number)
            {
                return number
            }
            let words = "a whole number from \(range.lowerBound) to \(range.upperBound), not 0, is expected"
            reader.note(name, place, words)
            return 0
        }
    }
}
