/// The messages of a connection whose fate is open, in the order in which they were written: a ring, so that its memory is
/// that of the largest window and no more.
struct SentWindow<Message: Sendable>: Sendable {
    /// A message that was written.
    struct Entry: Sendable {
        var message: Message
        /// Where its frame ends in the connection's stream of bytes.
        var end: UInt64
        /// When it was written, in nanoseconds.
        var sentAt: UInt64
    }

    private var entries: [Entry?] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The message that was written first.
    var first: Entry? { count > 0 ? entries[head] : nil }

    mutating func append(_ entry: Entry) {
        if count == entries.count { grow() }
        entries[(head + count) % entries.count] = entry
        count += 1
    }

    /// Takes the message that was written first.
    mutating func removeFirst() -> Entry? {
        guard count > 0 else { return nil }
        let entry = entries[head]
        entries[head] = nil
        head = (head + 1) % entries.count
        count -= 1
        return entry
    }

    private mutating func grow() {
        var larger: [Entry?] = []
        larger.reserveCapacity(max(64, entries.count * 2))
        for offset in 0..<count { larger.append(entries[(head + offset) % entries.count]) }
        larger.append(contentsOf: repeatElement(nil, count: max(64, entries.count * 2) - count))
        entries = larger
        head = 0
    }
}
