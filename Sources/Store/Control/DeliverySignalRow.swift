import PushCore

/// The signal that a delivery follows, and its rate.
package struct DeliverySignalRow: Sendable, Hashable {
    package let signal: String
    package let good: SignalController.Side
    package let target: Double
    package let floor: Double
    package let ceiling: Double
    /// The signal's last value; nil if there was none.
    package let value: Double?
    package let ageSeconds: Double?
    /// Messages a second now.
    package let rate: Double
    /// A state of ``SignalController``, or `idle` while the delivery is not under way.
    package let state: String
    /// Why the rate is what it is.
    package let reason: String
}
