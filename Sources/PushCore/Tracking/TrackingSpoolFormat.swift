#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The bytes of a tracking spool. All numbers are little-endian.
///
/// A file begins with `magic, version, 0, source id, created, checksum`; the checksum (CRC-32C) is over all before it. A record
/// is `length, checksum, payload`, both over the payload: its position, a count, and so many hits. Records are appended and
/// never changed; the database keeps the position of the last one that it has, in the transaction that stores its hits.
enum TrackingSpoolFormat {
    /// "PMTS".
    static let magic: UInt32 = 0x5354_4D50
    /// The only one that is read; version 1 was that of development versions.
    static let version: UInt16 = 2
    static let headerLength = 36
    /// Length and checksum before each payload.
    static let frameLength = 8
    /// A longer payload is no record: 10,000 hits, the most of a batch, with the longest texts of each.
    static let longestPayload = 16 << 20

    static let uuid: UInt8 = 1
    static let number: UInt8 = 2
}

/// The first bytes of a tracking spool: whose it is.
public struct TrackingSpoolHeader: Sendable, Hashable {
    /// The bytes that it takes.
    public static let length = TrackingSpoolFormat.headerLength

    /// Names the positions of its records in the database.
    public var source: UUID
    /// When the file was made, in microseconds of Unix time: the older file is loaded first.
    public var created: Int64

    public init(source: UUID, created: Int64) {
        self.source = source
        self.created = created
    }

    /// The bytes at the beginning of the file.
    public var bytes: [UInt8] {
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

    /// Reads the beginning of a file; nil if it is no spool of this version.
    public init?(_ bytes: [UInt8]) {
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

/// Hits that are stored together, and their place in the order of their source.
public struct TrackingSpoolRecord: Sendable, Hashable {
    /// Counts up with each record of a source; the database takes none whose position it has or has passed.
    public var position: Int64
    public var hits: [TrackingHit]

    public init(position: Int64, hits: [TrackingHit]) {
        self.position = position
        self.hits = hits
    }

    /// The bytes of the record with its frame.
    public var bytes: [UInt8] {
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

/// Reads the records of a tracking spool from a piece of the file, which may end anywhere.
public struct TrackingSpoolDecoder: Sendable {
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
