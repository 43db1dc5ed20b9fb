#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads a journal record by record and stops at the first record that is not whole.
///
/// A child writes records in order and sends nothing before its intent is written. So whatever a torn tail would have
/// recorded has not happened. A damaged byte never yields a wrong record, only an earlier end.
package struct JournalDecoder: Sendable {
    package let header: JournalHeader
    /// The length of the whole records read so far, in bytes.
    package private(set) var validLength: Int
    /// The bytes that cuts have removed before this point.
    private var cutBytes: Int64 = 0
    /// The bytes that the child had written up to this point, including those that were cut off. It only grows.
    package var writtenLength: Int64 { cutBytes + Int64(validLength) }
    /// Whether bytes after ``validLength`` form no whole record; known once ``next()`` has returned nil.
    package private(set) var isTorn = false
    /// Whether it ends at a record that has its full length but is corrupt.
    ///
    /// A process that dies while writing leaves a record that is too short. Any other damage comes from a bad disk or a
    /// lost host; then records may be missing after it.
    package private(set) var isDamaged = false
    private let bytes: [UInt8]

    /// Reads the header.
    package init(_ bytes: [UInt8]) throws(JournalError) {
        let base = JournalHeader.baseLength
        guard bytes.count >= base else { throw JournalError(code: .headerTooShort) }
        var reader = JournalReader(bytes: bytes, range: 0..<bytes.count)
        guard
            let magic: UInt32 = reader.number(), magic == JournalFormat.magic,
            let version: UInt16 = reader.number(), let _: UInt16 = reader.number(),
            let child: Int64 = reader.number(), let generation: Int64 = reader.number(),
            let host = reader.uuid(),
            let checksum: UInt32 = reader.number(), checksum == CRC32C.checksum(bytes, 0..<base - 4)
        else { throw JournalError(code: .notAJournal) }
        guard version == JournalHeader.version else { throw JournalError(code: .version(version)) }
        var header = JournalHeader(childID: child, generation: generation, hostID: host)
        try Self.readIDs(&reader, bytes, into: &header)
        validLength = JournalHeader.length
        self.header = header
        self.bytes = bytes
    }

    /// Reads the rest of the header, after the bytes that every version shares.
    private static func readIDs(
        _ reader: inout JournalReader,
        _ bytes: [UInt8],
        into header: inout JournalHeader
    ) throws(JournalError) {
        let end = JournalHeader.length
        guard bytes.count >= end else { throw JournalError(code: .headerTooShort) }
        guard
            let boot = reader.uuid(), let installation = reader.uuid(),
            let checksum: UInt32 = reader.number(), checksum == CRC32C.checksum(bytes, 0..<end - 4)
        else { throw JournalError(code: .notAJournal) }
        header.bootID = boot == JournalFormat.unknownID ? nil : boot
        header.installationID = installation == JournalFormat.unknownID ? nil : installation
    }

    /// The next record; nil at the end and on every call after it.
    package mutating func next() -> JournalRecord? {
        guard !isTorn, validLength < bytes.count else { return nil }
        var frame = JournalReader(bytes: bytes, range: validLength..<bytes.count)
        guard
            let length: UInt32 = frame.number(), let checksum: UInt32 = frame.number(),
            length > JournalFormat.maxPayloadLength || Int(length) <= frame.remaining
        else { return tear() }
        guard length <= JournalFormat.maxPayloadLength else { return damage() }
        let start = validLength + JournalFormat.frameLength
        let payload = start..<start + Int(length)
        guard CRC32C.checksum(bytes, payload) == checksum else { return damage() }
        var reader = JournalReader(bytes: bytes, range: payload)
        if let cut = reader.cut() {
            cutBytes = cut
            validLength = payload.upperBound
            return next()
        }
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
