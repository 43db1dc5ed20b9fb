import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Identifies the journals that this supervisor may replay: those that children of this folder wrote for this database.
///
/// A folder may be copied to another machine, restored from a backup, or given to a supervisor of another database. Its
/// journals would then be stored as outcomes of unrelated messages.
struct JournalIdentity: Sendable, Equatable {
    /// The id of the folder.
    var hostID: UUID?
    /// The id of the system's boot.
    var bootID: UUID?
    /// The identity of the database.
    var installationID: UUID?

    /// Judges a header by the name of its file. A value that is unknown on either side is not compared.
    func judge(_ header: JournalHeader, ofChild child: Int64) -> JournalDecision {
        if header.childID != child {
            return .foreign("its header names child \(header.childID)")
        }
        if let hostID, header.hostID != hostID {
            return .foreign("it belongs to host \(header.hostID.uuidString.lowercased())")
        }
        if let installationID, let other = header.installationID, other != installationID {
            return .foreign("it belongs to the database with the installation id \(other.uuidString.lowercased())")
        }
        if let bootID, let other = header.bootID, other != bootID { return .ofEarlierBoot }
        return .ours
    }
}

/// What may be done with a journal, according to its header.
enum JournalDecision: Sendable, Equatable {
    /// It is complete, except for a record that was being written when its child died.
    case ours
    /// The machine has been restarted since: its content is valid, but its last records may be lost.
    case ofEarlierBoot
    /// It must not be replayed, for the given reason.
    case foreign(String)
}
