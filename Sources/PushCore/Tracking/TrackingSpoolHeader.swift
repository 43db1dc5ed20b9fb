#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
