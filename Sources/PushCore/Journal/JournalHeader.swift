#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The first bytes of a journal: whose it is.
public struct JournalHeader: Sendable, Hashable {
    /// The newest version of the format; the older ones are read as well. Version 2 added boot and installation, version 3 what
    /// kind of failure an answer is and what else it says of the token.
    public static let version: UInt16 = 3
    /// The version that supervisors read which do not say what they read: they are older than version 3.
    public static let silentVersion: UInt16 = 2
    /// The bytes that a header takes as it is written now.
    public static let length = baseLength + 36
    /// The bytes that every version begins with: a whole header of version 1, so that each version can tell the others.
    static let baseLength = 44

    /// The version of its format, from ``silentVersion`` to ``version`` for one that is written.
    public var version: UInt16
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
        installationID: UUID? = nil,
        version: UInt16 = JournalHeader.version
    ) {
        self.version = version
        self.childID = childID
        self.generation = generation
        self.hostID = hostID
        self.bootID = bootID
        self.installationID = installationID
    }
}
