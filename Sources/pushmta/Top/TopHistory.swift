import Administration
import PushCore
import Store

/// The rates of the last looks, for sparklines.
struct TopHistory: Sendable {
    /// Messages a second of everything.
    private(set) var all = TopSeries<Bool>()
    /// Messages a second of hosts, by their ids.
    private(set) var hosts = TopSeries<String>()
    /// Messages a second of applications, by their names.
    private(set) var applications = TopSeries<String>()
    /// Messages a second of children, by their ids.
    private(set) var children = TopSeries<Int64>()
    /// Messages a second of deliveries, by their ids.
    private(set) var deliveries = TopSeries<Int64>()

    /// Takes in what children say of themselves.
    mutating func add(_ hosts: [HostRow], _ children: [ChildOverview]) {
        // A child that is gone sends nothing, whatever it said last.
        let rates = children.map { (child: $0, rate: $0.health == "gone" ? 0 : max(0, $0.report.rate)) }
        all.add([true: rates.map(\.rate).reduce(0, +)])
        let none = Dictionary(hosts.map { ($0.report.id, 0.0) }, uniquingKeysWith: +)
        self.hosts.add(rates.reduce(into: none) { $0[$1.child.row.hostID, default: 0] += $1.rate })
        applications.add(rates.reduce(into: [:]) { $0[$1.child.applicationName, default: 0] += $1.rate })
        self.children.add(Dictionary(rates.map { ($0.child.id, $0.rate) }, uniquingKeysWith: +))
    }

    /// Takes in the counts of deliveries: their rates come from two looks.
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

    /// Adds a value of each thing; things without one are forgotten.
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

    /// The last values, as many as there is width, against the greatest of them; "" for a single one, and where all are zero.
    static func text(_ values: [Double], width: Int) -> String {
        let shown = values.suffix(max(0, width))
        guard shown.count > 1, let most = shown.max(), most > 0, most.isFinite else { return "" }
        return String(
            shown.map { value in
                guard value > 0 else { return bars[0] }
                // What is more than nothing is seen.
                return bars[max(1, min(bars.count - 1, Int((value / most * Double(bars.count - 1)).rounded())))]
            }
        )
    }
}
