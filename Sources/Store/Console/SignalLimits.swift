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

    /// As `pushmta_engine.console_make_delivery` reads it.
    var json: JSONValue {
        .object([
            JSONEntry(name: "signal", value: .string(signal)), JSONEntry(name: "target", value: .number("\(target)")),
            JSONEntry(name: "floor", value: .number("\(floor)")),
            JSONEntry(name: "ceiling", value: .number("\(ceiling)")),
        ])
    }
}
