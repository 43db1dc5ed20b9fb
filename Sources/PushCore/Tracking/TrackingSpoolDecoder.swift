/// Reads the records of a tracking spool from a piece of the file, which may end anywhere.
public struct TrackingSpoolDecoder: Sendable {
    /// What comes next.
    public enum Step: Sendable, Hashable {
        /// A whole record.
        case record(TrackingSpoolRecord)
        /// The piece ends, perhaps within a record; so many bytes are needed to read on, 0 if it ends after a record.
        case end(missing: Int)
        /// What is here is no record: the disk is damaged, or somebody wrote into the file.
        case damaged
    }

    private let bytes: [UInt8]
    /// How many bytes the records read so far take.
    public private(set) var offset = 0

    /// A reader of bytes that begin with a record.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next record, or why there is none; it is the same again after the end and a damage.
    public mutating func next() -> Step {
        let rest = bytes.count - offset
        guard rest > 0 else { return .end(missing: 0) }
        var frame = JournalReader(bytes: bytes, range: offset..<bytes.count)
        guard let length: UInt32 = frame.number(), let checksum: UInt32 = frame.number() else {
            return .end(missing: TrackingSpoolFormat.frameLength - rest)
        }
        guard length <= TrackingSpoolFormat.longestPayload else { return .damaged }
        guard Int(length) <= frame.remaining else { return .end(missing: Int(length) - frame.remaining) }
        let start = offset + TrackingSpoolFormat.frameLength
        let payload = start..<start + Int(length)
        guard CRC32C.checksum(bytes, payload) == checksum else { return .damaged }
        var reader = JournalReader(bytes: bytes, range: payload)
        guard let record = reader.trackingRecord(), reader.remaining == 0 else { return .damaged }
        offset = payload.upperBound
        return .record(record)
    }
}

extension JournalReader {
    mutating func trackingRecord() -> TrackingSpoolRecord? {
        // A hit has more than one byte.
        guard let position: Int64 = number(), let count: UInt32 = number(), Int(count) <= remaining else { return nil }
        var hits: [TrackingHit] = []
        hits.reserveCapacity(Int(count))
        for _ in 0..<count {
            guard let hit = trackingHit() else { return nil }
            hits.append(hit)
        }
        return TrackingSpoolRecord(position: position, hits: hits)
    }

    private mutating func trackingHit() -> TrackingHit? {
        guard let message = trackedMessage(), let tag: UInt8 = number(), let kind = TrackingKind(rawValue: Int16(tag)),
            let count: UInt8 = number()
        else { return nil }
        var deliveries: [Int64] = []
        for _ in 0..<count {
            guard let delivery: Int64 = number() else { return nil }
            deliveries.append(delivery)
        }
        guard let microseconds: Int64 = number(), let address = text(), let agent = text() else { return nil }
        return TrackingHit(
            id: TrackingID(message: message, deliveries: deliveries, kind: kind),
            microseconds: microseconds,
            address: IPAddress(address),
            userAgent: agent
        )
    }

    private mutating func trackedMessage() -> TrackedMessageID? {
        guard let form: UInt8 = number() else { return nil }
        switch form {
        case TrackingSpoolFormat.uuid:
            guard let high: UInt64 = number(), let low: UInt64 = number() else { return nil }
            return .uuid(MessageUUID(high: high, low: low))
        case TrackingSpoolFormat.number:
            guard let value: Int64 = number() else { return nil }
            return .number(value)
        default: return nil
        }
    }
}
