import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Whose journals this supervisor may replay: those that children of this folder wrote for this database.
///
/// A folder may be copied to another machine, restored from a backup, or given to a supervisor of another database; what
/// its journals say would then be stored as the outcomes of messages that have nothing to do with them.
struct JournalIdentity: Sendable, Equatable {
    /// The id of the folder.
    var hostID: UUID?
    /// The running system's boot.
    var bootID: UUID?
    /// The identity of the database.
    var installationID: UUID?

    /// Judges a header by the name of its file; what either side does not know is not held against it.
    func judge(_ header: JournalHeader, ofChild child: Int64) -> JournalVerdict {
        if header.childID != child {
            return .foreign("its header names child \(header.childID)")
        }
        if let hostID, header.hostID != hostID {
            return .foreign("it is of host \(header.hostID.uuidString.lowercased())")
        }
        if let installationID, let other = header.installationID, other != installationID {
            return .foreign("it is of the database with the installation id \(other.uuidString.lowercased())")
        }
        if let bootID, let other = header.bootID, other != bootID { return .ofEarlierBoot }
        return .ours
    }
}
