import ProcessProtocol
import PushCore
import Store

/// All events of a supervisor.
enum SupervisorEvent: Sendable, Equatable {
    /// Time has passed; comes several times a second.
    case tick
    /// All possible kinds: enabled applications with their enabled accounts, the most likely first.
    case kinds([ChildKind])
    /// The kinds of open continuous deliveries, which keep a child: a message may come at any moment.
    case standing([ChildKind])
    /// The current versions of accounts and applications; children started with other versions are replaced.
    case routes(RouteVersions)
    /// An operator has resumed these applications.
    case resumed(applications: Set<Int32>)
    /// What could be claimed at the last look.
    case work([ReadyWorkOffer])
    /// The database server's connections at the last look.
    case connections(ConnectionRoom)
    /// Whether the database has answered or is unreachable.
    case databaseAvailable(Bool)
    /// Sent on a change: why the disk of the journals cannot be written, nil if it can.
    case journalDisk(trouble: String?)
    /// Messages wait for the children of their kinds.
    case messages(Set<ReadyMessagePart>)
    /// Something in the database has changed, so children should look.
    case wake(detail: String?)
    /// A child has its row in the database.
    case childRegistered(generation: Int32, id: Int64)
    /// A child wrote a status line.
    case childStatus(generation: Int32, ChildStatus)
    /// A child's process has ended and is reaped, or could not be started.
    case childEnded(generation: Int32, ChildTermination, outOfMemoryKillSeen: Bool)
    /// A child could not be registered in the database, so it was not started.
    case childNotRegistered(generation: Int32)
    /// A dead child's exit is recorded, its journal replayed and its parts released.
    case childRecovered(generation: Int32)
    /// A request to end in order; a second one shuts down fast.
    case drain
    /// The row of this host requests an orderly end. It arrives repeatedly and is handled once.
    case drainRequested
    /// Rows of children request their replacement. It arrives repeatedly until they are gone, and is handled once.
    case recycleRequested(Set<Int64>)
    /// A request to end now.
    case fastShutdown
    /// The daily time for replacing children has come.
    case restartDue
    /// The settings have been read again.
    case reload(SupervisorSettings)
}
