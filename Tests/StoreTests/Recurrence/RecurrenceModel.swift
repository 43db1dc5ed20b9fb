import Foundation
import PushCore
import Store
import TestSupport

/// The moments of a rule, found by walking through all quarters of an hour of a zone.
struct RecurrenceModel {
    /// All changes of the clock, and all times of the tests, are on a quarter.
    private static let step = 900
    private static let day = 86_400

    let rule: RecurrenceRule
    private let zone: TimeZone
    private let firstDay: Int

    /// The rule must have all its values.
    init(_ rule: RecurrenceRule) throws {
        self.rule = rule
        zone = try required(TimeZone(identifier: rule.timeZone))
        firstDay = try Self.days(try required(rule.startsOn))
    }

    /// The days from 1970-01-01 to a date.
    static func days(_ date: String) throws -> Int {
        Int(try required(ZonedTime("\(date)T00:00:00Z")).microsecondsSince1970 / 1_000_000) / day
    }

    static func date(_ days: Int) -> String { LogDay(daysSince2000: Int32(days - 10_957)).description }

    /// The moments in a range, in seconds since 1970.
    func moments(_ range: Range<Int>) -> [Int] {
        guard rule.unit == .hours else { return moments(range, isRun) }
        let anchor = moments((firstDay - 2) * Self.day..<(firstDay + 2) * Self.day) { day, time in
            day == firstDay && isTime(time)
        }
        guard let first = anchor.first else { return [] }
        return stride(from: first, to: range.upperBound, by: Int(rule.every) * 3_600).filter { moment in
            let date = Self.date((moment + offset(moment)) / Self.day)
            return moment >= range.lowerBound && !rule.exceptDates.contains(date) && date <= rule.endsOn ?? date
        }
    }

    private func offset(_ moment: Int) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(moment)))
    }

    private func moments(_ range: Range<Int>, _ isWanted: (_ day: Int, _ time: Int) -> Bool) -> [Int] {
        var found: Set<Int> = []
        let begin = range.lowerBound / Self.step * Self.step - 3 * Self.day
        var before = offset(begin)
        var latest = Int.min
        for moment in stride(from: begin, to: range.upperBound, by: Self.step) {
            let now = offset(moment)
            // Local times that the clock skips.
            for local in stride(from: moment + before, to: moment + now, by: Self.step)
            where isWanted(local / Self.day, local % Self.day) {
                found.insert(local - before)
            }
            let local = moment + now
            if local > latest, isWanted(local / Self.day, local % Self.day) { found.insert(moment) }
            latest = max(latest, local)
            before = now
        }
        return found.filter(range.contains).sorted()
    }

    private func isTime(_ time: Int) -> Bool {
        rule.times?.contains { text in
            let parts = text.split(separator: ":").compactMap { Int($0) }
            return parts.count == 2 && parts[0] * 3_600 + parts[1] * 60 == time
        } == true
    }

    private func isRun(_ day: Int, _ time: Int) -> Bool {
        guard day >= firstDay, isTime(time) else { return false }
        let date = Self.date(day)
        guard date <= rule.endsOn ?? date, !rule.exceptDates.contains(date) else { return false }
        let every = Int(rule.every)
        switch rule.unit {
        case .hours: return false
        case .days: return (day - firstDay) % every == 0
        case .weeks:
            let weeks = (day - Self.weekday(day)) / 7 - (firstDay - Self.weekday(firstDay)) / 7
            return weeks % every == 0 && rule.weekdays?.contains(Int32(Self.weekday(day))) == true
        case .months:
            let months = Self.months(date) - Self.months(Self.date(firstDay))
            guard months % every == 0 else { return false }
            var last = day
            while Self.months(Self.date(last + 1)) == Self.months(date) { last += 1 }
            let ofMonth = Int32(date.suffix(2)) ?? 0
            return rule.monthDays?.contains { $0 == ofMonth || $0 == Int32(day - last - 1) } == true
        }
    }

    /// 1 for Monday; 1970-01-01 was a Thursday.
    private static func weekday(_ day: Int) -> Int { (day + 3) % 7 + 1 }

    private static func months(_ date: String) -> Int {
        let parts = date.split(separator: "-").compactMap { Int($0) }
        return parts[0] * 12 + parts[1]
    }
}
