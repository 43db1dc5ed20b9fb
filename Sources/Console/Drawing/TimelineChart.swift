import Store

/// Counts of a delivery over time as bars, on an axis in the time zone of its service.
struct TimelineChart {
    /// What a bar adds up.
    struct Measure {
        let name: String
        /// The class of its part of a bar.
        let style: String
        let count: (DeliveryTimeline.Step) -> Int64
    }

    /// The time of a bar.
    enum Unit: Hashable {
        case minute
        case hour
        case day
        case week
    }

    private struct Column {
        /// Its place on the axis; the first bar has 0.
        let slot: Int
        /// When it begins, in the time zone.
        let begins: String
        var counts: [Int64]
    }

    let unit: Unit
    let measures: [Measure]
    /// Whether the parts of a bar stand on one another. If not, the smaller one stands before the larger one, because a
    /// message may count in both.
    let isStacked: Bool
    private let bars: [Column]

    /// A few bars are not drawn as wide as the chart.
    private static let minSlots = 12
    /// More hours than this are shown as days, and more days as weeks.
    private static let (maxHours, maxDays) = (72, 100)
    private static let (width, height) = (720.0, 100.0)

    /// A chart of steps, the first one first; nil without any count.
    ///
    /// - Parameter isByMinute: whether steps are minutes, otherwise they are hours.
    init?(_ steps: [DeliveryTimeline.Step], isByMinute: Bool, measures: [Measure], isStacked: Bool = true) {
        let shown = steps.filter { step in measures.contains { $0.count(step) > 0 } }
        guard let first = shown.first, let last = shown.last else { return nil }
        self.measures = measures
        self.isStacked = isStacked
        let unit = Self.unit(first, last, isByMinute: isByMinute)
        self.unit = unit
        var bars: [Column] = []
        for step in shown {
            let slot = Self.slot(step, after: first, unit)
            let counts = measures.map { $0.count(step) }
            if let place = bars.indices.last, bars[place].slot == slot {
                bars[place].counts = zip(bars[place].counts, counts).map { $0 + $1 }
            } else {
                bars.append(Column(slot: slot, begins: Self.begins(step, unit), counts: counts))
            }
        }
        self.bars = bars
    }

    private static func unit(_ first: DeliveryTimeline.Step, _ last: DeliveryTimeline.Step, isByMinute: Bool) -> Unit {
        if isByMinute { return .minute }
        let hours = slot(last, after: first, .hour) + 1
        guard hours > maxHours else { return .hour }
        return Int(last.day - first.day) < maxDays ? .day : .week
    }

    private static func slot(_ step: DeliveryTimeline.Step, after first: DeliveryTimeline.Step, _ unit: Unit) -> Int {
        let seconds = (step.begins.microsecondsSince1970 - first.begins.microsecondsSince1970) / 1_000_000
        let days = Int(step.day - first.day)
        return switch unit {
        case .minute: Int(seconds / 60)
        case .hour: Int(seconds / 3_600)
        case .day: days
        case .week: days / 7
        }
    }

    private static func begins(_ step: DeliveryTimeline.Step, _ unit: Unit) -> String {
        let day = Figures.day(step.local)
        return switch unit {
        case .minute, .hour: day + " " + step.local.suffix(5)
        case .day, .week: day
        }
    }

    /// The count at the top of a bar.
    private func highest(_ bar: Column) -> Int64 { isStacked ? bar.counts.reduce(0, +) : bar.counts.max() ?? 0 }

    /// The top of the scale.
    var top: Int64 { ChartScale.top(bars.map(highest).max() ?? 0) }
    /// The sum of each measure.
    var totals: [Int64] {
        measures.indices.map { place in bars.reduce(0) { $0 + $1.counts[place] } }
    }
    /// When the first and the last bar begin, in the time zone.
    var ends: (first: String, last: String) { (bars.first?.begins ?? "", bars.last?.begins ?? "") }
    /// The bars as rows: when each begins, and its counts.
    var rows: [(begins: String, counts: [Int64])] { bars.map { ($0.begins, $0.counts) } }
    /// When the highest bar begins, and its count.
    var busiest: (begins: String, count: Int64) {
        bars.map { ($0.begins, highest($0)) }.max { $0.1 < $1.1 } ?? ("", 0)
    }

    /// The drawing.
    ///
    /// - Parameter words: the chart in one sentence, for users who cannot see it.
    func markup(_ words: String) -> Markup {
        let slots = max((bars.last?.slot ?? 0) + 1, Self.minSlots)
        let step = Self.width / Double(slots)
        let scale = Self.height / Double(top)
        let drawn = bars.map { bar in
            let counts = zip(measures, bar.counts).map { "\($0.name) \(Figures.count($1))" }.joined(separator: ", ")
            var y = Self.height
            let present = zip(measures, bar.counts).filter { $1 > 0 }
            let parts = (isStacked ? present : present.sorted { $0.1 > $1.1 }).map { measure, count in
                let height = Double(count) * scale
                y = (isStacked ? y : Self.height) - height
                let x = Bar.number((Double(bar.slot) + 0.08) * step)
                return "<rect class=\"\(measure.style)\" x=\"\(x)\" y=\"\(Bar.number(y))\" "
                    + "width=\"\(Bar.number(step * 0.84))\" height=\"\(Bar.number(height))\"/>"
            }
            return "<g><title>\(Markup.escaped("\(bar.begins): \(counts)"))</title>\(parts.joined())</g>"
        }
        let lines = [0, 50, 100].map { "<line class=\"grid\" x1=\"0\" x2=\"720\" y1=\"\($0)\" y2=\"\($0)\"/>" }
        return Markup(
            trusted: "<svg class=\"chart\" viewBox=\"0 0 720 100\" preserveAspectRatio=\"none\" role=\"img\" "
                + "aria-label=\"\(Markup.escaped(words))\">\(lines.joined())\(drawn.joined())</svg>"
        )
    }
}
