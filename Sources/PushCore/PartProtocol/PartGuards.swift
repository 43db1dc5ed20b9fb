/// The measures that make the part protocol safe. Each can be left out, so that tests show what it is needed for.
public struct PartGuards: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt16

    /// Makes a set of measures.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// A decision is made only under the part's present fencing token.
    public static let token = PartGuards(rawValue: 1 << 0)
    /// A decision is made only while the part is claimed, so a repeated closing transaction does nothing.
    public static let claimedState = PartGuards(rawValue: 1 << 1)
    /// The dispatch mark is committed before a message is sent.
    public static let mark = PartGuards(rawValue: 1 << 2)
    /// The intent is journaled before a message is sent.
    public static let intent = PartGuards(rawValue: 1 << 3)
    /// The journal is cut only after the commit is acknowledged.
    public static let cutAfterCommit = PartGuards(rawValue: 1 << 4)
    /// The outcomes already known are read after the claim.
    public static let knownOutcomes = PartGuards(rawValue: 1 << 5)
    /// A second outcome row for a message is impossible.
    public static let uniqueOutcome = PartGuards(rawValue: 1 << 6)
    /// Counters grow by the rows that were really inserted.
    public static let countInserted = PartGuards(rawValue: 1 << 7)
    /// The retry part is made in the transaction that closes the part.
    public static let atomicHandOver = PartGuards(rawValue: 1 << 8)
    /// A journal is replayed only when its process is dead, which the file lock proves.
    public static let journalLock = PartGuards(rawValue: 1 << 9)
    /// What was ambiguous or refused is noted in the transaction that releases the part.
    public static let noteAtRelease = PartGuards(rawValue: 1 << 10)

    /// What may have arrived gets an outcome of its own before the rest of its part gets one for all.
    public static let settleDoubt = PartGuards(rawValue: 1 << 11)

    /// All measures: the protocol as it is.
    public static let all = PartGuards(rawValue: (1 << 12) - 1)
}
