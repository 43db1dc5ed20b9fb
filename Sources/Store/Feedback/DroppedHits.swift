/// Hits that belong to none of our messages: counted, and not stored.
package struct DroppedHits: Sendable, Hashable {
    /// Requests without a tracking id.
    package var malformed: Int64
    /// Ids that no key makes.
    package var forged: Int64
    /// Genuine ids of another delivery.
    package var foreign: Int64

    /// Counts, 0 by default.
    package init(malformed: Int64 = 0, forged: Int64 = 0, foreign: Int64 = 0) {
        self.malformed = malformed
        self.forged = forged
        self.foreign = foreign
    }

    /// Whether there is nothing to report.
    package var isEmpty: Bool { malformed == 0 && forged == 0 && foreign == 0 }

    package static func += (left: inout DroppedHits, right: DroppedHits) {
        left.malformed &+= right.malformed
        left.forged &+= right.forged
        left.foreign &+= right.foreign
    }
}
