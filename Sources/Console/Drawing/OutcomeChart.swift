import Foundation
import Store

/// The outcomes of the last hour, one bar per minute.
struct OutcomeChart {
    let hour: OutcomeHour
    let now: Date
    let catalogue: Catalogue
    /// Alarms that began in this hour, each marked with a line.
    var alarms: [AlarmRecord] = []

    private static let minutes = 60
    private static let height = 100.0
    private static let step = 12.0

    /// The top of the scale.
    var top: Int64 {
        ChartScale.top(hour.minutes.map { $0.sent + $0.failed + $0.other }.max() ?? 0)
    }

    /// The chart in one sentence, for users who cannot see it.
    var words: String {
        let minutes = hour.minutes
        let busiest = minutes.max { $0.sent + $0.failed + $0.other < $1.sent + $1.failed + $1.other }
        guard let busiest else { return catalogue[.chartEmpty] }
        let count = busiest.sent + busiest.failed + busiest.other
        return catalogue.text(
            .chartWords,
            count: count,
            Figures.count(count),
            minute(busiest.age)
        )
    }

    var markup: Markup {
        let scale = Self.height / Double(top)
        var bars = ""
        for minute in hour.minutes where (0..<Self.minutes).contains(minute.age) {
            let x = Double(Self.minutes - 1 - minute.age) * Self.step + 1
            var y = Self.height
            let title = catalogue.text(
                .chartBar,
                self.minute(minute.age),
                Figures.count(minute.sent),
                Figures.count(minute.failed),
                Figures.count(minute.other)
            )
            bars += "<g><title>\(Markup.escaped(title))</title>"
            for (count, style) in [(minute.sent, "s-sent"), (minute.failed, "s-failed"), (minute.other, "s-other")]
            where count > 0 {
                let height = Double(count) * scale
                y -= height
                bars +=
                    "<rect class=\"\(style)\" x=\"\(Bar.number(x))\" y=\"\(Bar.number(y))\" width=\"10\" height=\"\(Bar.number(height))\"/>"
            }
            bars += "</g>"
        }
        let lines = [0.0, 50, 100].map {
            "<line class=\"grid\" x1=\"0\" x2=\"720\" y1=\"\(Bar.number($0))\" y2=\"\(Bar.number($0))\"/>"
        }
        return Markup(
            trusted:
                "<svg class=\"chart\" viewBox=\"0 0 720 100\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"\(Markup.escaped(words))\">\(lines.joined())\(bars)\(marks)</svg>"
        )
    }

    /// A full-height line where an alarm began, with its text.
    private var marks: String {
        let minute = floor(now.timeIntervalSince1970 / 60)
        return alarms.map { record in
            let age = minute - floor(Double(record.beganAt.microsecondsSince1970) / 60_000_000)
            guard (0..<Double(Self.minutes)).contains(age) else { return "" }
            let x = Bar.number((Double(Self.minutes - 1) - age) * Self.step + Self.step / 2)
            let style = record.alarm.severity == .critical ? "onset bad" : "onset fair"
            let text = Figures.inZone(record.alarm.text)
            let words = "\(Figures.time(record.beganAt)) \(record.alarm.fullSubject): \(text)"
            return
                "<g><title>\(Markup.escaped(words))</title><line class=\"\(style)\" x1=\"\(x)\" x2=\"\(x)\" y1=\"0\" y2=\"100\"/></g>"
        }.joined()
    }

    private func minute(_ age: Int) -> String {
        "\(Figures.clock(now.addingTimeInterval(Double(-age * 60))).prefix(5)) \(Figures.zoneName)"
    }
}
