/// What one chunk of preparation made.
public struct ChunkResult: Sendable, Hashable {
    /// Messages added to the delivery.
    public let messages: Int64
    /// People left out.
    public let excluded: Int64
    /// Parts made.
    public let parts: Int
    /// Whether preparation is complete (or the delivery is in a state where nothing may be added).
    public let done: Bool
    /// Whether another supervisor is at this delivery just now; nothing was made.
    public let busy: Bool

    /// The result of a chunk.
    public init(messages: Int64, excluded: Int64, parts: Int, done: Bool, busy: Bool) {
        self.messages = messages
        self.excluded = excluded
        self.parts = parts
        self.done = done
        self.busy = busy
    }
}
