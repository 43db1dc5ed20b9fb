import ProcessProtocol
import PushCore
import Synchronization

/// The state of each child that the I/O around the plan needs.
final class ChildRegistry: Sendable {
    /// The state of one child.
    struct Entry: Sendable {
        var kind: ChildKind
        var inbox = ChildInbox()
        /// The id of its row in `mta_child`, once it has one.
        var childID: Int64?
        var stderrTail = ""
        /// False once its process has ended and been reaped.
        var isAlive = true
        var residentBytes: Int64 = 0
        /// It is dead and the last attempt could not read its journal: its parts may be released by their marks.
        var isJournalLost = false
    }

    /// The metrics of all children.
    let totals = ChildTotals()
    /// The open traces.
    let traces = TraceDesk()
    private let entries = Mutex<[Int32: Entry]>([:])
    /// The names of applications and accounts at the last look.
    let names = Mutex(RouteNames())

    func add(_ generation: Int32, _ kind: ChildKind) -> Entry {
        let entry = Entry(kind: kind)
        entries.withLock { $0[generation] = entry }
        return entry
    }

    func remove(_ generation: Int32) {
        entries.withLock { _ = $0.removeValue(forKey: generation) }
    }

    subscript(_ generation: Int32) -> Entry? { entries.withLock { $0[generation] } }

    func update(_ generation: Int32, _ change: (inout Entry) -> Void) {
        entries.withLock { entries in
            guard var entry = entries[generation] else { return }
            change(&entry)
            entries[generation] = entry
        }
    }

    /// Children that this supervisor handles itself, running or dead.
    var childIDs: Set<Int64> { entries.withLock { Set($0.values.compactMap(\.childID)) } }

    /// The inboxes of the running children of an application.
    func inboxes(ofApplication id: Int32) -> [ChildInbox] {
        entries.withLock { entries in
            entries.values.filter { $0.isAlive && $0.kind.applicationID == id }.map(\.inbox)
        }
    }

    /// True for a live child of this supervisor, false for a dead one, nil for any other.
    func isAlive(childID: Int64) -> Bool? {
        entries.withLock { entries in entries.values.first { $0.childID == childID }?.isAlive }
    }

    /// Whether the journal of a dead child of this supervisor cannot be read.
    func isJournalLost(childID: Int64) -> Bool {
        entries.withLock { entries in entries.values.first { $0.childID == childID }?.isJournalLost ?? false }
    }

    /// The resident memory of all children, as they report it.
    var residentBytes: Int64 { entries.withLock { $0.values.reduce(0) { $0 + $1.residentBytes } } }
}
