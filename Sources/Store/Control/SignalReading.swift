/// What a read of a health signal gave.
package enum SignalReading: Sendable, Hashable {
    case value(Double)
    /// Why there is none.
    case failure(String)
}
