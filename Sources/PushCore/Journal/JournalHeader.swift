#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The first bytes of a journal: whose it is.
public struct JournalHeader: Sendable, Hashable {
    /// The version of the format that this code writes; it reads no other.
    public static let version: UInt16 = 1
    /// The bytes that a header takes.
    public static let length = 44

    /// The child's row in `mta_child`.
    public var childID: Int64
    /// The generation of the child's slot, counted from 1.
    public var generation: Int64
    /// The host whose journal folder it is in.
    public var hostID: UUID

    /// Makes a header.
    public init(childID: Int64, generation: Int64, hostID: UUID) {
        self.childID = childID
        self.generation = generation
        self.hostID = hostID
    }
}
