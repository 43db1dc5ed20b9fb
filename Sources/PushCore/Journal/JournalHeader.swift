#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The header of a journal, which identifies its child, host and database.
package struct JournalHeader: Sendable, Hashable {
    /// The format version, the only one that is read. Earlier ones were used during development.
    package static let version: UInt16 = 4
    /// The length of a header, in bytes.
    package static let length = baseLength + 36
    /// The suffix of the file into which a shorter copy of a journal is written before it replaces the journal. A
    /// process that dies meanwhile leaves this file behind.
    package static let cutSuffix = ".cut"
    /// The length of the beginning that all versions share, in bytes. It lets each version recognise the others.
    static let baseLength = 44

    /// The child's row in `mta_child`.
    package var childID: Int64
    /// The generation of the child's slot, counted from 1.
    package var generation: Int64
    /// The host whose journal folder the file is in.
    package var hostID: UUID
    /// The boot id of the machine when the journal was written; nil if unknown.
    ///
    /// After a reboot the tail of a journal may be lost, as it is not flushed to disk for every record.
    package var bootID: UUID?
    /// The identity of the database that holds its parts; nil if unknown.
    package var installationID: UUID?

    package init(
        childID: Int64,
        generation: Int64,
        hostID: UUID,
        bootID: UUID? = nil,
        installationID: UUID? = nil
    ) {
        self.childID = childID
        self.generation = generation
        self.hostID = hostID
        self.bootID = bootID
        self.installationID = installationID
    }
}
