/// The states of a delivery part.
package enum PartState: String, Sendable, Hashable, Codable, CaseIterable {
    /// Its delivery has not started.
    case held
    /// Its delivery's plan does not let it leave yet: its wave, its recipients' time, or the sending hours.
    case planned
    /// A child may claim it after its `not_before`.
    case ready
    /// A child holds it under a fencing token and a lease.
    case claimed
    /// It is held back because its delivery is paused.
    case waiting
    /// All its messages have an outcome or were moved to a retry part.
    case done
}
