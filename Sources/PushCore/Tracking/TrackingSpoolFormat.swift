/// The bytes of a tracking spool. All numbers are little-endian.
///
/// A file begins with `magic, version, 0, source id, created, checksum`; the checksum (CRC-32C) is over all before it. A record
/// is `length, checksum, payload`, both over the payload: its position, a count, and so many hits. Records are appended and
/// never changed; the database keeps the position of the last one that it has, in the transaction that stores its hits.
enum TrackingSpoolFormat {
    /// "PMTS".
    static let magic: UInt32 = 0x5354_4D50
    static let version: UInt16 = 1
    static let headerLength = 36
    /// Length and checksum before each payload.
    static let frameLength = 8
    /// A longer payload is no record: 10,000 hits, the most of a batch, with the longest texts of each.
    static let longestPayload = 16 << 20

    static let uuid: UInt8 = 1
    static let number: UInt8 = 2
}
