/// Reads the records of a tracking spool from a piece of the file, which may end within a record.
package struct TrackingSpoolDecoder: Sendable {
    package enum Step: Sendable, Hashable {
        /// A whole record.
        case record(TrackingSpoolRecord)
        /// The piece ends, perhaps within a record. `missing` is the number of bytes needed to continue, 0 if it ends
        /// after a record.
        case end(missing: Int)
        /// The bytes are not a record: the disk is damaged, or another program wrote into the file.
        case damaged
    }

    private let bytes: [UInt8]
    /// The length of the records read so far, in bytes.
    package private(set) var offset = 0

    /// Makes a decoder for bytes that begin with a record.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next record, or why there is none. After the end or damage it returns the same result again.
    package mutating func next() -> Step {
        let rest = bytes.count - offset
        guard rest > 0 else { return .end(missing: 0) }
        var frame = JournalReader(bytes: bytes, range: offset..<bytes.count)
        guard let length: UInt32 = frame.number(), let checksum: UInt32 = frame.number() else {
            return .end(missing: TrackingSpoolFormat.frameLength - rest)
        }
        guard length <= TrackingSpoolFormat.maxPayloadLength else { return .damaged }
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
