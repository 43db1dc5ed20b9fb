/// The states of a delivery part.
public enum PartState: String, Sendable, Hashable, Codable, CaseIterable {
    /// A child may claim it once its `not_before` has passed.
    case ready
    /// A child holds it under a fencing token and a lease.
    case claimed
    /// It is held back: its delivery is paused.
    case waiting
    /// All its messages have an outcome or were handed to a retry part.
    case done
}
