/// A lease as a sweep saw it; lost when token and renewal stay the same for a whole lease on the observer's clock.
public struct LeaseObservation: Sendable, Hashable {
    /// The part.
    public let partID: Int64
    /// The child that holds it.
    public let owner: Int64
    /// The host of that child.
    public let hostID: String
    /// The owner's fencing token.
    public let token: Int64
    /// Counts up at each renewal.
    public let renewal: Int64

    /// A lease as seen.
    public init(partID: Int64, owner: Int64, hostID: String, token: Int64, renewal: Int64) {
        self.partID = partID
        self.owner = owner
        self.hostID = hostID
        self.token = token
        self.renewal = renewal
    }
}
