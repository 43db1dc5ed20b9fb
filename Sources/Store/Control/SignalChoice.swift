import PushCore

/// A health signal that a delivery can follow.
package struct SignalChoice: Sendable, Hashable {
    package let name: String
    package let kind: HealthSignal.Kind
    package let good: SignalController.Side
    /// The last value; nil if there was none.
    package let value: Double?
    package let ageSeconds: Double?
    package let isStale: Bool
    /// How many deliveries under way follow it. If none does, it is not read.
    package let deliveries: Int64
}
