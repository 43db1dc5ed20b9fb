#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The format of a tracking spool. All numbers are little-endian.
///
/// A file begins with `magic, version, 0, source id, created, checksum`; the checksum (CRC-32C) covers all bytes before
/// it. A record is `length, checksum, payload`; both cover the payload, which has the record's position, a count and
/// that many hits. Records are appended and never changed. The transaction that stores the hits of a record also stores
/// its position in the database.
enum TrackingSpoolFormat {
    /// "PMTS".
    static let magic: UInt32 = 0x5354_4D50
    /// The only version that is read; version 1 was used during development.
    static let version: UInt16 = 2
    static let headerLength = 36
    /// The length of a frame in bytes: length and checksum before each payload.
    static let frameLength = 8
    /// The maximum length of a payload. 10,000 hits, the maximum of a batch, with the longest texts stay below it.
    static let maxPayloadLength = 16 << 20

    static let uuid: UInt8 = 1
    static let number: UInt8 = 2
}

/// The header of a tracking spool, which identifies its source.
package struct TrackingSpoolHeader: Sendable, Hashable {
    /// Its length in bytes.
    package static let length = TrackingSpoolFormat.headerLength

    /// The id under which the database keeps the positions of its records.
    package var source: UUID
    /// When the file was created, in microseconds of Unix time. Older files are loaded first.
    package var created: Int64

    package init(source: UUID, created: Int64) {
        self.source = source
        self.created = created
    }

    /// The bytes at the beginning of the file.
    package var bytes: [UInt8] {
        var output: [UInt8] = []
        TrackingSpoolWriter.append(TrackingSpoolFormat.magic, to: &output)
        TrackingSpoolWriter.append(TrackingSpoolFormat.version, to: &output)
        TrackingSpoolWriter.append(UInt16(0), to: &output)
        let b = source.uuid
        output += [b.0, b.1, b.2, b.3, b.4, b.5, b.6, b.7, b.8, b.9, b.10, b.11, b.12, b.13, b.14, b.15]
        TrackingSpoolWriter.append(created, to: &output)
        TrackingSpoolWriter.append(CRC32C.checksum(output, 0..<output.count), to: &output)
        return output
    }

    /// Parses the beginning of a file; nil if it is not a spool of this version.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.length else { return nil }
        var reader = JournalReader(bytes: bytes, range: 0..<Self.length)
        guard let magic: UInt32 = reader.number(), magic == TrackingSpoolFormat.magic,
            let version: UInt16 = reader.number(), version == TrackingSpoolFormat.version,
            let _: UInt16 = reader.number(), let source = reader.uuid(), let created: Int64 = reader.number(),
            let checksum: UInt32 = reader.number(), checksum == CRC32C.checksum(bytes, 0..<Self.length - 4)
        else { return nil }
        self.init(source: source, created: created)
    }
}

/// Hits that are stored together, and their position in their source.
package struct TrackingSpoolRecord: Sendable, Hashable {
    /// Increases with each record of a source. The database ignores a record whose position it has reached.
    package var position: Int64
    package var hits: [TrackingHit]

    package init(position: Int64, hits: [TrackingHit]) {
        self.position = position
        self.hits = hits
    }

    /// The bytes of the record with its frame.
    package var bytes: [UInt8] {
        var payload: [UInt8] = []
        payload.reserveCapacity(hits.count * 160)
        TrackingSpoolWriter.append(position, to: &payload)
        TrackingSpoolWriter.append(UInt32(clamping: hits.count), to: &payload)
        for hit in hits { TrackingSpoolWriter.append(hit, to: &payload) }
        var output: [UInt8] = []
        output.reserveCapacity(payload.count + TrackingSpoolFormat.frameLength)
        TrackingSpoolWriter.append(UInt32(clamping: payload.count), to: &output)
        TrackingSpoolWriter.append(CRC32C.checksum(payload, 0..<payload.count), to: &output)
        output += payload
        return output
    }
}

/// Writes the values of a tracking spool.
enum TrackingSpoolWriter {
    static func append(_ hit: TrackingHit, to output: inout [UInt8]) {
        switch hit.id.message {
        case .uuid(let uuid):
            output.append(TrackingSpoolFormat.uuid)
            append(uuid.high, to: &output)
            append(uuid.low, to: &output)
        case .number(let number):
            output.append(TrackingSpoolFormat.number)
            append(number, to: &output)
        }
        output.append(UInt8(truncatingIfNeeded: hit.id.kind.rawValue))
        output.append(UInt8(clamping: hit.id.deliveries.count))
        for delivery in hit.id.deliveries.prefix(Int(UInt8.max)) { append(delivery, to: &output) }
        append(hit.microseconds, to: &output)
        append(hit.address?.description ?? "", to: &output)
        append(hit.userAgent, to: &output)
    }

    static func append<Number: FixedWidthInteger>(_ number: Number, to output: inout [UInt8]) {
        var rest = UInt64(truncatingIfNeeded: number)
        for _ in 0..<MemoryLayout<Number>.size {
            output.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    private static func append(_ text: String, to output: inout [UInt8]) {
        let bytes = text.utf8.prefix(Int(UInt16.max))
        append(UInt16(clamping: bytes.count), to: &output)
        output.append(contentsOf: bytes)
    }
}

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
