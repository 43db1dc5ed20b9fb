import ProcessProtocol
import Store

/// Everything that can happen to a supervisor.
enum SupervisorEvent: Sendable, Equatable {
    /// Time has passed; comes several times a second.
    case tick
    /// The kinds that could be asked for: enabled applications with their enabled accounts, likely ones first.
    case kinds([ChildKind])
    /// The kinds of open continuous deliveries: a message of theirs may come at any moment, and finds a child.
    case standing([ChildKind])
    /// What accounts and applications say now; children that took over something else are replaced.
    case routes(RouteVersions)
    /// An operator has put right what kept these applications from sending.
    case resumed(applications: Set<Int32>)
    /// What can be claimed now, as the last look at the database showed it.
    case work([WorkOnOffer])
    /// The database has answered, or cannot be reached.
    case databaseAvailable(Bool)
    /// Why the disk of the journals takes nothing, nil if it does; said when that changes.
    case journalDisk(trouble: String?)
    /// Messages wait for the children of their kinds.
    case messages(Set<ReadyMessagePart>)
    /// Something in the database has changed, so children should look.
    case wake(detail: String?)
    /// A child wrote a status line.
    case childStatus(generation: Int32, ChildStatus)
    /// A child's process has ended and is reaped, or could not be started.
    case childEnded(generation: Int32, ChildTermination, outOfMemoryKillSeen: Bool)
    /// A child could not be registered in the database, so it was not started.
    case childNotRegistered(generation: Int32)
    /// A dead child's exit is recorded, its journal replayed and its parts released.
    case childSettled(generation: Int32)
    /// Asked to end in order; asked again, it hurries.
    case drain
    /// The database's row of this host asks it to end in order; said again and again, and heard once.
    case drainRequested
    /// Asked to end now.
    case hurry
    /// The time of day has come at which children are replaced.
    case restartDue
    /// The settings have been read again.
    case reload(SupervisorSettings)
}
