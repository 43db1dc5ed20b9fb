/// The result of one chunk of preparation.
package struct ChunkResult: Sendable, Hashable {
    /// Messages added to the delivery.
    package let messages: Int64
    /// People excluded.
    package let excluded: Int64
    /// Parts created.
    package let parts: Int
    /// Whether preparation is complete (or the delivery is in a state in which nothing may be added).
    package let done: Bool
    /// Whether another supervisor is preparing this delivery at the moment; nothing was created.
    package let busy: Bool
    /// Whether the delivery is prepared before its start, so that its parts are held.
    package internal(set) var isHeld = false

    /// Creates the result of a chunk.
    package init(messages: Int64, excluded: Int64, parts: Int, done: Bool, busy: Bool) {
        self.messages = messages
        self.excluded = excluded
        self.parts = parts
        self.done = done
        self.busy = busy
    }
}
