import ProcessProtocol
import PushCore

/// The actions that the plan requests.
enum SupervisorAction: Sendable, Equatable {
    /// Register a child in the database and start its process.
    case spawn(generation: Int32, ChildKind)
    /// Write a command to a child's standard input.
    case command(generation: Int32, SupervisorCommand, detail: String?)
    /// Send a signal to a child.
    case signal(generation: Int32, Int32)
    /// Record a dead child's end, replay its journal and release its parts.
    case recover(generation: Int32, ChildEnd)
    /// Write a line to the log.
    case log(PlanLine)
    /// Every child is gone and recovered: end the supervisor.
    case finish
}
