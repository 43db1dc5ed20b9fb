import PushCore

/// The signal that a delivery is to follow, and its limits.
package struct SignalLimits: Sendable, Hashable {
    package let signal: String
    package let target: Double
    package let floor: Double
    package let ceiling: Double

    package init(signal: String, target: Double, floor: Double, ceiling: Double) {
        self.signal = signal
        self.target = target
        self.floor = floor
        self.ceiling = ceiling
    }

    /// What ``json`` says; nil if it is something else.
    package init?(_ json: JSONValue) {
        guard case .object(let entries) = json else { return nil }
        func value(_ name: String) -> JSONValue? { entries.first { $0.name == name }?.value }
        func number(_ name: String) -> Double? {
            if case .number(let digits)? = value(name) { Double(digits) } else { nil }
        }
        guard case .string(let signal)? = value("signal"), let target = number("target"),
            let floor = number("floor"), let ceiling = number("ceiling")
        else { return nil }
        self.init(signal: signal, target: target, floor: floor, ceiling: ceiling)
    }

    /// As `pushmta_engine.console_make_delivery` reads it.
    var json: JSONValue {
        .object([
            JSONEntry(name: "signal", value: .string(signal)), JSONEntry(name: "target", value: .number("\(target)")),
            JSONEntry(name: "floor", value: .number("\(floor)")),
            JSONEntry(name: "ceiling", value: .number("\(ceiling)")),
        ])
    }
}
