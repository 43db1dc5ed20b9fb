/// A read of a health signal that this process has to make.
package struct DueSignal: Sendable, Hashable {
    package let id: Int32
    /// The number of the read: only the last one is stored.
    package let look: Int64
    package let signal: HealthSignal
}
