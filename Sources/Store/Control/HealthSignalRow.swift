/// A health signal as people see it.
package struct HealthSignalRow: Sendable, Hashable {
    package let signal: HealthSignal
    /// The last value; nil if there was none.
    package let value: Double?
    package let ageSeconds: Double?
    package let isStale: Bool
    /// Why the last read failed; empty if it did not.
    package let error: String
    /// How many deliveries under way follow it. If none does, it is not read.
    package let deliveries: Int64
}
