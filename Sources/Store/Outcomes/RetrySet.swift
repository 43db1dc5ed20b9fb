/// Messages of an ending part that go into one retry part.
public struct RetrySet: Sendable {
    /// The messages, by sequence number.
    public var sequences: [Int32]
    /// Milliseconds from now, on the database's clock, before which they are not sent.
    public var delayMilliseconds: Int64
    /// Whether the attempt counts; one that failed for the gateway's sake does not.
    public var countsAttempt: Bool

    /// A retry part to be.
    public init(sequences: [Int32], delayMilliseconds: Int64, countsAttempt: Bool = true) {
        self.countsAttempt = countsAttempt
        self.sequences = sequences
        self.delayMilliseconds = delayMilliseconds
    }
}
