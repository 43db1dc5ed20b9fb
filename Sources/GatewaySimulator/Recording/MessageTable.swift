/// All messages that a gateway has received, by key. An index with eight bytes per slot (open addressing, linear
/// probing, load at most 0.7) refers to entries of 24 bytes. So a million messages take about 40 MB, and a new one
/// costs one cache miss.
struct MessageTable: Sendable {
    /// The record of one message, in 24 bytes.
    struct Entry: Sendable {
        var key: MessageKey
        /// From the lowest bit: answer 8 bits, accepted 12, seen 12, token hash 32.
        private var packed: UInt64

        init(key: MessageKey) {
            self.key = key
            packed = 0
        }

        var answer: UInt8 { UInt8(truncatingIfNeeded: packed) }
        var accepted: Int { Int(packed >> 8 & 0xFFF) }
        var seen: Int { Int(packed >> 20 & 0xFFF) }
        var tokenHash: UInt32 { UInt32(truncatingIfNeeded: packed >> 32) }

        /// Counts another arrival; the counts stop at 4,095.
        mutating func count(tokenHash: UInt32, answer: UInt8, isAccepted: Bool) {
            let seen = min(self.seen + 1, 0xFFF)
            let accepted = min(self.accepted + (isAccepted ? 1 : 0), 0xFFF)
            packed = UInt64(tokenHash) << 32 | UInt64(seen) << 20 | UInt64(accepted) << 8 | UInt64(answer)
        }
    }

    /// The number of entries in a chunk. Because of the chunks, growing never copies entries.
    private static let chunkSize = 16_384
    private static let firstCapacity = 65_536

    /// Upper half: the key's hash; lower half: the entry's number + 1; 0 is a free slot.
    private var index = [UInt64](repeating: 0, count: firstCapacity)
    private var chunks: [[Entry]] = []
    /// The number of distinct messages.
    private(set) var count = 0

    /// Counts a message, and returns how often it has been accepted since the table was created, including this time.
    mutating func record(_ key: MessageKey, tokenHash: UInt32, answer: UInt8, isAccepted: Bool) -> Int {
        if count &* 10 >= index.count &* 7 { grow() }
        let hash = Self.hash(key)
        var slot = Int(hash) & (index.count - 1)
        while index[slot] != 0 {
            let number = Int(UInt32(truncatingIfNeeded: index[slot])) - 1
            if UInt32(truncatingIfNeeded: index[slot] >> 32) == hash, self[number].key == key {
                chunks[number / Self.chunkSize][number % Self.chunkSize]
                    .count(tokenHash: tokenHash, answer: answer, isAccepted: isAccepted)
                return self[number].accepted
            }
            slot = (slot + 1) & (index.count - 1)
        }
        index[slot] = UInt64(hash) << 32 | UInt64(count + 1)
        var entry = Entry(key: key)
        entry.count(tokenHash: tokenHash, answer: answer, isAccepted: isAccepted)
        append(entry)
        return entry.accepted
    }

    /// The entry of a message.
    func entry(_ key: MessageKey) -> Entry? {
        let hash = Self.hash(key)
        var slot = Int(hash) & (index.count - 1)
        while index[slot] != 0 {
            let number = Int(UInt32(truncatingIfNeeded: index[slot])) - 1
            if UInt32(truncatingIfNeeded: index[slot] >> 32) == hash, self[number].key == key { return self[number] }
            slot = (slot + 1) & (index.count - 1)
        }
        return nil
    }

    /// The entry with this number, in the order of the messages' first arrival.
    subscript(number: Int) -> Entry {
        chunks[number / Self.chunkSize][number % Self.chunkSize]
    }

    private mutating func append(_ entry: Entry) {
        if count % Self.chunkSize == 0 {
            var chunk: [Entry] = []
            chunk.reserveCapacity(Self.chunkSize)
            chunks.append(chunk)
        }
        chunks[count / Self.chunkSize].append(entry)
        count += 1
    }

    /// Doubles the index. The stored hash gives the slot, so no entry is read.
    private mutating func grow() {
        var larger = [UInt64](repeating: 0, count: index.count * 2)
        for item in index where item != 0 {
            var slot = Int(item >> 32) & (larger.count - 1)
            while larger[slot] != 0 { slot = (slot + 1) & (larger.count - 1) }
            larger[slot] = item
        }
        index = larger
    }

    @inline(__always)
    private static func hash(_ key: MessageKey) -> UInt32 {
        UInt32(truncatingIfNeeded: ByteHash.mix(key.high ^ (key.low << 32 | key.low >> 32)) >> 32)
    }
}
