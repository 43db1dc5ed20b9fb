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
        var header = JournalHeader(childID: child, generation: generation, hostID: host, version: version)
        switch version {
        case 1: validLength = base
        case 2...JournalHeader.version:
            try Self.readIDs(&reader, bytes, into: &header)
            validLength = JournalHeader.length
        default: throw JournalError(code: .version(version))
        }
        self.header = header
        self.bytes = bytes
    }

    /// Reads what version 2 added.
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
