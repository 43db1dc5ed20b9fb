import Administration
import PushCore
import Store

/// The rates of the last readings, for sparklines.
struct TopHistory: Sendable {
    /// The total, in messages per second.
    private(set) var all = TopSeries<Bool>()
    /// The rates of hosts, by id.
    private(set) var hosts = TopSeries<String>()
    /// The rates of applications, by name.
    private(set) var applications = TopSeries<String>()
    /// The rates of children, by id.
    private(set) var children = TopSeries<Int64>()
    /// The rates of deliveries, by id.
    private(set) var deliveries = TopSeries<Int64>()

    /// Adds what children report.
    mutating func add(_ hosts: [HostRow], _ children: [ChildOverview]) {
        // A child that is gone sends nothing, whatever it last reported.
        let rates = children.map { (child: $0, rate: $0.health == "gone" ? 0 : max(0, $0.report.rate)) }
        all.add([true: rates.map(\.rate).reduce(0, +)])
        let none = Dictionary(hosts.map { ($0.report.id, 0.0) }, uniquingKeysWith: +)
        self.hosts.add(rates.reduce(into: none) { $0[$1.child.row.hostID, default: 0] += $1.rate })
        applications.add(rates.reduce(into: [:]) { $0[$1.child.applicationName, default: 0] += $1.rate })
        self.children.add(Dictionary(rates.map { ($0.child.id, $0.rate) }, uniquingKeysWith: +))
    }

    /// Adds the counts of deliveries, whose rates come from two readings.
    mutating func add(_ deliveries: [DeliveryProgress], after earlier: [DeliveryProgress]) {
        let before = Dictionary(earlier.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var rates: [Int64: Double] = [:]
        for delivery in deliveries {
            rates[delivery.id] = before[delivery.id].map { Self.rate(from: $0, to: delivery) }
        }
        self.deliveries.add(rates)
    }

    private static func rate(from old: DeliveryProgress, to new: DeliveryProgress) -> Double {
        let microseconds = new.now.microsecondsSince1970 - old.now.microsecondsSince1970
        let ended = (new.target - new.pending) - (old.target - old.pending)
        return microseconds > 0 ? Double(max(0, ended)) / (Double(microseconds) / 1_000_000) : 0
    }
}

/// The last values of many things.
struct TopSeries<Key: Hashable & Sendable>: Sendable {
    /// As many as the widest sparkline shows.
    private static var length: Int { 60 }

    private var values: [Key: [Double]] = [:]

    /// Adds a value for each thing; things without one are dropped.
    mutating func add(_ now: [Key: Double]) {
        var kept: [Key: [Double]] = [:]
        for (key, value) in now { kept[key] = (values[key] ?? []).suffix(Self.length - 1) + [value] }
        values = kept
    }

    /// The last value of a thing; nil if there is none.
    func last(_ key: Key) -> Double? { values[key]?.last }

    /// The last values of a thing as a row of bars.
    func sparkline(_ key: Key, width: Int) -> String { Sparkline.text(values[key] ?? [], width: width) }
}

/// Numbers as a row of small bars.
enum Sparkline {
    private static let bars: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// The last values, as many as fit, relative to the greatest of them; "" for a single value or if all are zero.
    static func text(_ values: [Double], width: Int) -> String {
        let shown = values.suffix(max(0, width))
        guard shown.count > 1, let highest = shown.max(), highest > 0, highest.isFinite else { return "" }
        return String(
            shown.map { value in
                guard value > 0 else { return bars[0] }
                // Any value above zero is visible.
                return bars[max(1, min(bars.count - 1, Int((value / highest * Double(bars.count - 1)).rounded())))]
            }
        )
    }
}
