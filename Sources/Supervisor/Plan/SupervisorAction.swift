import Logging
import ProcessProtocol

/// What the plan wants done.
enum SupervisorAction: Sendable, Equatable {
    /// Register a child in the database and start its process.
    case spawn(generation: Int32, ChildKind)
    /// Write a command to a child's standard input.
    case command(generation: Int32, SupervisorCommand, detail: String?)
    /// Send a signal to a child.
    case signal(generation: Int32, Int32)
    /// Record a dead child's end, replay its journal, release its parts.
    case settle(generation: Int32, ChildEnd)
    /// Say something to the operator.
    case log(Logger.Level, String)
    /// Every child is gone and settled: end the supervisor.
    case finish
}
