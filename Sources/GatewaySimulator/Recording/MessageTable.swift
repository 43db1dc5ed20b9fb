import PushCore

/// Every message that a gateway has seen, by its key: an index of eight bytes a slot (open addressing, linear probing, load
/// at most 0.7) into entries of 24 bytes, so that a million messages take about 40 MB and a new one costs one cache miss.
struct MessageTable: Sendable {
    /// What is known of one message, in 24 bytes.
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

        /// Counts once more; the counts stop at 4,095.
        mutating func count(tokenHash: UInt32, answer: UInt8, isAccepted: Bool) {
            let seen = min(self.seen + 1, 0xFFF)
            let accepted = min(self.accepted + (isAccepted ? 1 : 0), 0xFFF)
            packed = UInt64(tokenHash) << 32 | UInt64(seen) << 20 | UInt64(accepted) << 8 | UInt64(answer)
        }
    }

    /// Entries come in chunks of this many, so that growing never copies them.
    private static let chunkSize = 16_384
    private static let firstCapacity = 65_536

    /// Upper half: the key's hash; lower half: the entry's number + 1; 0 is a free slot.
    private var index = [UInt64](repeating: 0, count: firstCapacity)
    private var chunks: [[Entry]] = []
    /// How many different messages there are.
    private(set) var count = 0

    /// Counts a message and returns how often it has been accepted since the table was made, this time included.
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

    /// What is known of that message.
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

    /// The entry of that number, in the order in which the messages came first.
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

    /// Doubles the index. The slot comes from the stored hash, so no entry is looked at.
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

/// The 16 bytes by which a gateway knows a message: its UUID, a number, or a hash when it has neither.
struct MessageKey: Hashable, Sendable {
    var high: UInt64
    var low: UInt64

    /// Marks the key of a decimal number ("decimal:" in ASCII); a random UUID has this half once in 2^64.
    private static let decimalMark: UInt64 = 0x6465_6369_6D61_6C3A

    /// The key of a request in which no message could be found.
    static let none = MessageKey(high: 0, low: 0)

    /// The key of a UUID's two halves.
    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The key of an id in the bytes of a buffer: UUID, decimal number, or anything else, hashed.
    init(id bytes: [UInt8], _ range: Range<Int>) {
        self = Self(uuid: bytes, range) ?? Self(decimal: bytes, range) ?? Self(hashOf: bytes, range)
    }

    /// The key of an id's text.
    init(id text: String) {
        let bytes = Array(text.utf8)
        self.init(id: bytes, bytes.indices)
    }

    /// The key of a canonical UUID, 8-4-4-4-12 digits of either case; nil when the bytes are anything else.
    @inline(__always)
    init?(uuid bytes: [UInt8], _ range: Range<Int>) {
        guard range.count == MessageUUID.textLength, range.upperBound <= bytes.count else { return nil }
        let start = range.lowerBound
        let hyphen = UInt8(ascii: "-")
        guard bytes[start + 8] == hyphen, bytes[start + 13] == hyphen, bytes[start + 18] == hyphen,
            bytes[start + 23] == hyphen,
            let first = Words.hexadecimal(Words.load(bytes, start)),
            let second = Words.hexadecimal(Words.loadHalf(bytes, start + 9) | Words.loadHalf(bytes, start + 14) << 32),
            let third = Words.hexadecimal(Words.loadHalf(bytes, start + 19) | Words.loadHalf(bytes, start + 24) << 32),
            let fourth = Words.hexadecimal(Words.load(bytes, start + 28))
        else { return nil }
        self.init(high: UInt64(first) << 32 | UInt64(second), low: UInt64(third) << 32 | UInt64(fourth))
    }

    private init?(decimal bytes: [UInt8], _ range: Range<Int>) {
        // 19 digits always fit into 64 bits.
        guard (1...19).contains(range.count), bytes[range.lowerBound] != UInt8(ascii: "0") else { return nil }
        var value: UInt64 = 0
        for index in range {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + UInt64(digit)
        }
        self.init(high: Self.decimalMark, low: value)
    }

    /// The key of arbitrary bytes: two independent 64-bit hashes.
    init(hashOf bytes: [UInt8], _ range: Range<Int>) {
        self.init(
            high: ByteHash.hash(bytes, range, seed: 0xCBF2_9CE4_8422_2325),
            low: ByteHash.hash(bytes, range, seed: 0x9AE1_6A3B_2F90_404F)
        )
    }

    /// The id as people write it.
    var text: String {
        if self == .none { return "" }
        return high == Self.decimalMark ? String(low) : MessageUUID(high: high, low: low).description
    }
}
