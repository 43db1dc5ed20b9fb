import ProcessProtocol
import Synchronization

/// What the I/O around the plan has to remember of each child.
final class ChildRegistry: Sendable {
    /// The affairs of one child.
    struct Entry: Sendable {
        var kind: ChildKind
        var inbox = ChildInbox()
        /// The id of its row in `mta_child`, once it has one.
        var childID: Int64?
        var stderrTail = ""
        /// False once its process has ended and been reaped.
        var isAlive = true
        var residentBytes: Int64 = 0
        /// It is dead and its journal could not be read at the last attempt: its parts may be taken by their marks.
        var isJournalLost = false
    }

    /// What all of them have told for metrics.
    let totals = ChildTotals()
    /// Who looks at what they have on the wire.
    let traces = TraceDesk()
    private let entries = Mutex<[Int32: Entry]>([:])
    /// The names of applications and accounts, as the last look showed them.
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

    /// Children whose affairs this supervisor looks after itself, running or dead.
    var childIDs: Set<Int64> { entries.withLock { Set($0.values.compactMap(\.childID)) } }

    /// The inboxes of the running children of an application.
    func inboxes(ofApplication id: Int32) -> [ChildInbox] {
        entries.withLock { entries in
            entries.values.filter { $0.isAlive && $0.kind.applicationID == id }.map(\.inbox)
        }
    }

    /// Whether a child is this supervisor's: true or false for a live or a dead one, nil for somebody else's.
    func isAlive(childID: Int64) -> Bool? {
        entries.withLock { entries in entries.values.first { $0.childID == childID }?.isAlive }
    }

    /// Whether the journal of a dead child of this supervisor is out of reach.
    func isJournalLost(childID: Int64) -> Bool {
        entries.withLock { entries in entries.values.first { $0.childID == childID }?.isJournalLost ?? false }
    }

    /// Memory of all children together, as they say themselves.
    var residentBytes: Int64 { entries.withLock { $0.values.reduce(0) { $0 + $1.residentBytes } } }
}
