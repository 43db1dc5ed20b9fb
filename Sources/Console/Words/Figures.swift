import Foundation
import Store

/// Formats numbers and times for people, in the language of the page.
enum Figures {
    private static var form: NumberForm { .current }

    /// The clock of the part of a page that shows times in a zone of its own; nil: UTC. It belongs to the task, so that
    /// all of its times agree.
    @TaskLocal static var zone: ZoneClock?

    /// All digits, in groups: 1,234,567.
    static func count(_ value: Int64) -> String {
        let digits = String(value.magnitude)
        var shown = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place).isMultiple(of: 3) { shown += form.group }
            shown.append(digit)
        }
        return (value < 0 ? "\u{2212}" : "") + shown
    }

    /// Three significant digits: 950, 12.3 k, 4.56 M.
    static func short(_ value: Int64) -> String {
        guard value.magnitude >= 10_000 else { return count(value) }
        let (scaled, unit) =
            value.magnitude >= 1_000_000_000
            ? (Double(value) / 1e9, form.milliard)
            : value.magnitude >= 1_000_000
                ? (Double(value) / 1e6, form.million) : (Double(value) / 1e3, form.thousand)
        return "\(threeDigits(scaled)) \(unit)"
    }

    /// Messages per second, as measured by a child.
    static func rate(_ value: Double) -> String { Int64(exactly: value.rounded()).map(short) ?? "–" }

    /// A share in percent, never rounded to 0 or 100.
    static func percent(_ part: Int64, of whole: Int64) -> String {
        guard whole > 0 else { return "–" }
        let share = Double(part) / Double(whole) * 100
        if part > 0, share < 0.1 { return "<\(oneDigit(0.1)) %" }
        if part < whole, share > 99.9 { return ">\(oneDigit(99.9)) %" }
        return "\(share == share.rounded() ? String(Int(share)) : oneDigit(share)) %"
    }

    /// A duration in its two largest units.
    static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e11 else { return "–" }
        if seconds < 10 { return "\(oneDigit(max(seconds, 0))) s" }
        let whole = Int(seconds.rounded())
        switch whole {
        case ..<60: return "\(whole) s"
        case ..<3_600: return "\(whole / 60) min \(whole % 60) s"
        case ..<86_400: return "\(whole / 3_600) h \(whole / 60 % 60) min"
        default: return "\(whole / 86_400) \(form.day) \(whole / 3_600 % 24) h"
        }
    }

    static func milliseconds(_ value: Double) -> String {
        guard value.isFinite, value > 0 else { return "–" }
        return value < 1_000 ? "\(threeDigits(value)) ms" : duration(value / 1_000)
    }

    static func bytes(_ value: Int64) -> String {
        let units = ["", "Ki", "Mi", "Gi", "Ti"]
        var (scaled, unit) = (Double(value), 0)
        while scaled >= 1_000, unit < units.count - 1 {
            scaled /= 1_024
            unit += 1
        }
        return "\(unit == 0 ? String(value) : threeDigits(scaled)) \(units[unit])\(form.byte)"
    }

    static func oneDigit(_ value: Double) -> String { written("%.1f", value) }

    static func twoDigits(_ value: Double) -> String { written("%.2f", value) }

    private static func threeDigits(_ value: Double) -> String {
        written(abs(value) >= 100 ? "%.0f" : abs(value) >= 10 ? "%.1f" : "%.2f", value)
    }

    /// String's own format uses a point in every language.
    private static func written(_ format: String, _ value: Double) -> String {
        String(format: format, value).replacing(".", with: form.decimal)
    }

    /// A time of the database with its zone: 2026-11-24 16:20:05 UTC.
    static func time(_ time: DatabaseTime) -> String { zoned(time, digits: 8) }

    /// A time to the minute, for lists.
    static func minute(_ time: DatabaseTime) -> String { zoned(time, digits: 5) }

    private static func zoned(_ time: DatabaseTime, digits: Int) -> String {
        let local = zone.flatMap { clock in clock.text(at: time).map { (text: $0, zone: clock.zone) } }
        let (text, name) = local ?? (time.internetText, "UTC")
        return day(text) + " " + text.dropFirst(11).prefix(digits) + " " + name
    }

    /// A text of the engine, which names times in UTC (2026-12-01 09:00:30 UTC), with the times of the page's zone.
    static func inZone(_ text: String) -> String {
        // Most texts name no time, and the search for one is slow.
        guard zone != nil, text.contains(" UTC") else { return text }
        return text.replacing(#/(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2})(:\d{2})? UTC/#) { match -> String in
            guard let found = Composer.moment("\(match.1)T\(match.2)\(match.3 ?? "")", isNow: false), let moment = found
            else { return String(match.0) }
            return match.3 == nil ? minute(moment) : time(moment)
        }
    }

    /// A local time such as 2026-12-01T09:00 with the name of its zone.
    static func local(_ text: String, _ zone: String) -> String {
        day(text) + " " + text.dropFirst(11).prefix(5) + " " + zone
    }

    /// A day from a text such as 2026-11-24.
    static func day(_ text: String) -> String {
        let parts = text.prefix(10).split(separator: "-")
        return parts.count == 3 ? form.date(parts[0], parts[1], parts[2]) : text
    }

    /// The name of the page's zone.
    static var zoneName: String { zone?.zone ?? ZoneMenu.utc }

    /// The time of day in the page's zone.
    static func clock(_ date: Date) -> String {
        let time = DatabaseTime(microsecondsSince1970: Int64((date.timeIntervalSince1970 * 1e6).rounded()))
        return String((zone?.text(at: time) ?? time.internetText).dropFirst(11).prefix(8))
    }
}
