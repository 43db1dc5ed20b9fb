/// Hits that are of no message of ours: counted, and not stored.
public struct DroppedHits: Sendable, Hashable {
    /// Requests without a tracking id.
    public var malformed: Int64
    /// Ids that no key makes.
    public var forged: Int64
    /// Genuine ids with another delivery's.
    public var foreign: Int64

    /// Counts, 0 each unless given.
    public init(malformed: Int64 = 0, forged: Int64 = 0, foreign: Int64 = 0) {
        self.malformed = malformed
        self.forged = forged
        self.foreign = foreign
    }

    /// Whether there is nothing to report.
    public var isEmpty: Bool { malformed == 0 && forged == 0 && foreign == 0 }

    /// Adds other counts.
    public static func += (left: inout DroppedHits, right: DroppedHits) {
        left.malformed &+= right.malformed
        left.forged &+= right.forged
        left.foreign &+= right.foreign
    }
}
