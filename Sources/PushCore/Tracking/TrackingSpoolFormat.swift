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
