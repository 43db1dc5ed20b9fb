#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads a journal record by record and stops at the first that is not whole.
///
/// A child writes records in order and sends nothing before its intent is written, so what a torn tail would have said
/// has not happened. No damaged byte makes a wrong record: it makes an earlier end.
public struct JournalDecoder: Sendable {
    /// Whose journal it is.
    public let header: JournalHeader
    /// Up to where the bytes read so far are whole.
    public private(set) var validLength: Int
    /// Whether bytes follow after ``validLength`` that are no whole record; known once ``next()`` has returned nil.
    public private(set) var isTorn = false
    /// Whether it ends at a record that is there in full length and wrong.
    ///
    /// A process that dies in a write leaves a record that is too short. Anything else is a damaged disk or a lost host,
    /// and then what follows may have said more.
    public private(set) var isDamaged = false
    private let bytes: [UInt8]

    /// Reads the header.
    public init(_ bytes: [UInt8]) throws(JournalError) {
        var reader = JournalReader(bytes: bytes, range: 0..<min(bytes.count, JournalHeader.length))
        guard bytes.count >= JournalHeader.length else { throw JournalError(code: .headerTooShort) }
        let checked = JournalHeader.length - 4
        guard
            let magic: UInt32 = reader.number(), magic == JournalFormat.magic,
            let version: UInt16 = reader.number(), let _: UInt16 = reader.number(),
            let child: Int64 = reader.number(), let generation: Int64 = reader.number(),
            let host = reader.uuid(),
            let checksum: UInt32 = reader.number(), checksum == CRC32C.checksum(bytes, 0..<checked)
        else { throw JournalError(code: .notAJournal) }
        guard version == JournalHeader.version else { throw JournalError(code: .version(version)) }
        header = JournalHeader(childID: child, generation: generation, hostID: host)
        validLength = JournalHeader.length
        self.bytes = bytes
    }

    /// The next record; nil at the end, and from there on.
    public mutating func next() -> JournalRecord? {
        guard !isTorn, validLength < bytes.count else { return nil }
        var frame = JournalReader(bytes: bytes, range: validLength..<bytes.count)
        guard
            let length: UInt32 = frame.number(), let checksum: UInt32 = frame.number(),
            length > JournalFormat.longestPayload || Int(length) <= frame.remaining
        else { return tear() }
        guard length <= JournalFormat.longestPayload else { return damage() }
        let start = validLength + JournalFormat.frameLength
        let payload = start..<start + Int(length)
        guard CRC32C.checksum(bytes, payload) == checksum else { return damage() }
        var reader = JournalReader(bytes: bytes, range: payload)
        guard let record = reader.record(), reader.remaining == 0 else { return damage() }
        validLength = payload.upperBound
        return record
    }

    private mutating func damage() -> JournalRecord? {
        isDamaged = true
        return tear()
    }

    private mutating func tear() -> JournalRecord? {
        isTorn = true
        return nil
    }
}
