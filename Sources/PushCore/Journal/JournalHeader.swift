#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The first bytes of a journal: whose it is.
public struct JournalHeader: Sendable, Hashable {
    /// The version of the format that this code writes; it reads version 1 as well, which has neither boot nor installation.
    public static let version: UInt16 = 2
    /// The bytes that a header takes as it is written now.
    public static let length = baseLength + 36
    /// The bytes that every version begins with: a whole header of version 1, so that each version can tell the others.
    static let baseLength = 44

    /// The child's row in `mta_child`.
    public var childID: Int64
    /// The generation of the child's slot, counted from 1.
    public var generation: Int64
    /// The host whose journal folder it is in.
    public var hostID: UUID
    /// The boot of the machine in which it was written; nil if that is not known.
    ///
    /// After another boot the tail of a journal may be lost, as it is not flushed to the disk for every record.
    public var bootID: UUID?
    /// The identity of the database that its parts are in; nil if that is not known.
    public var installationID: UUID?

    /// Makes a header.
    public init(
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
