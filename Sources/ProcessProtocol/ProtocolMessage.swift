// ProcessProtocol: the protocol between a supervisor and its children.
//
// WHAT IT DOES
//   Defines the child's command line, the commands and status lines between the two processes, and the reasons for a
//   child's end with their exit statuses. It also has two small helpers for tasks.
//
// HOW IT IS USED
//   The supervisor builds ChildArguments, and the child parses them. A SupervisorMessage is a line of JSON on the
//   child's standard input. A ChildMessage is a line on its standard output; a ChildStatus comes at least once a
//   second. Standard error is the log. Traces of the wire use the same pipes (TraceOrder, TraceReport), and the
//   supervisor's socket to the client of a trace (TraceRequest, TraceLine). LineEncoder writes lines, and LineParser
//   reads them. The end of standard input means that the supervisor is gone. The ChildExitReason is in the last line,
//   the exit status and mta_child. Both processes use EventSignal and withTimeout(_:_:).
//
// THREADS AND TASKS
//   Values, except EventSignal: one task waits for it, and any number may fire it.
//
// STATE AND FILES
//   None.
//
// FAILURES
//   A line is counted and kept for the log if it is not a message, longer than 64 KiB, or of a newer version of the
//   protocol. Reading continues. A torn last line counts too. Unknown keys are ignored and missing counters are 0,
//   because the two processes may differ in version during an upgrade. An invalid command line is a
//   ChildArgumentsError.
//
// SEE ALSO
//   ChildArguments.swift, ChildStatus.swift, ChildFigures.swift, ChildExitReason.swift, LineParser.swift,
//   TraceRequest.swift, EventSignal.swift, Sources/Supervisor/Children/ChildProcess.swift,
//   Sources/MTAChild/ChildService.swift

/// A message that is sent as one line of JSON.
package protocol ProtocolMessage: Codable, Sendable {
    /// The version of the protocol that the sender used.
    var version: Int { get }
}
