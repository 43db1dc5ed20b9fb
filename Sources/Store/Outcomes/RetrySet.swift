/// Messages of an ending part that go into one retry part.
public struct RetrySet: Sendable {
    /// The messages, by sequence number.
    public var sequences: [Int32]
    /// Milliseconds from now, on the database's clock, before which they are not sent.
    public var delayMilliseconds: Int64

    /// A retry part to be.
    public init(sequences: [Int32], delayMilliseconds: Int64) {
        self.sequences = sequences
        self.delayMilliseconds = delayMilliseconds
    }
}
