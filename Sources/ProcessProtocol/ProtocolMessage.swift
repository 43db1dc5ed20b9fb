// ProcessProtocol: what a supervisor and its children say to one another.
//
// WHAT IT DOES
//   Has the child's command line, the commands and status lines between the two processes, the reasons for which a child ends
//   with their exit statuses, and two small helpers for tasks.
//
// HOW IT IS USED
//   The supervisor builds ChildArguments, the child parses them. A SupervisorMessage is one line of JSON on the child's
//   standard input, a ChildMessage with its ChildStatus one on its standard output, at least one a second; standard error is
//   the log. Traces of the wire go the same ways (TraceOrder, TraceReport), and by lines on the supervisor's socket to people
//   (TraceRequest, TraceLine). LineEncoder writes lines, LineParser reads them. The end of standard input means that the supervisor
//   is gone. ChildExitReason is in the last line, in the exit status and in mta_child. EventSignal and withTimeout(_:_:) are used in
//   both processes.
//
// THREADS AND TASKS
//   Values, but for EventSignal, which has one task that waits and any number that fire.
//
// STATE AND FILES
//   None.
//
// FAILURES
//   A line that is no message, too long (64 KiB) or of a newer version of the protocol is counted and kept for the log, and
//   reading goes on; a torn last line counts as one. Keys that are not known are ignored and counters that are missing are 0,
//   as the two may be of different versions during an upgrade. A command line that cannot be used is a ChildArgumentsError.
//
// SEE ALSO
//   ChildArguments.swift, ChildStatus.swift, ChildFigures.swift, ChildExitReason.swift, LineParser.swift, TraceMessages.swift,
//   EventSignal.swift,
//   Sources/Supervisor/Children/ChildProcess.swift, Sources/MTAChild/ChildService.swift

/// A message that travels as one line of JSON.
public protocol ProtocolMessage: Codable, Sendable {
    /// The version of the protocol in which the sender wrote the message.
    var version: Int { get }
}

/// The version of the messages between a supervisor and its children.
///
/// Both are the same executable, except while an upgrade replaces it under a running supervisor. A new optional key does
/// not change the version, as readers ignore keys they do not know; a changed meaning does.
public enum ProtocolVersion {
    /// The version that this build writes, and the newest that it reads.
    public static let current = 1
}

/// One line from the supervisor to a child's standard input.
public struct SupervisorMessage: ProtocolMessage, Equatable {
    /// The version of the protocol.
    public var version: Int
    /// What the child is asked to do.
    public var command: SupervisorCommand
    /// The payload of the database's notification that caused a wake-up, if there was one; at most 8,000 bytes.
    public var detail: String?
    /// What is to be traced, with the command to trace.
    public var trace: TraceOrder?

    /// The detail of a wake-up for a message of a continuous delivery: nothing else has changed.
    public static let messageDetail = "message"

    /// The detail of a wake-up after an operator has resumed the child's application: it waits for nothing any more.
    public static let resumeDetail = "resume"

    /// Makes a message in the current version.
    public init(_ command: SupervisorCommand, detail: String? = nil) {
        version = ProtocolVersion.current
        self.command = command
        self.detail = detail
    }

    /// Makes the command to trace, or to end a trace.
    public init(_ order: TraceOrder) {
        self.init(.trace)
        trace = order
    }
}

/// What a supervisor asks of a child.
public enum SupervisorCommand: String, Sendable, Codable, CaseIterable {
    /// There may be new work, or the state of a delivery has changed: look at the database now instead of at the next poll.
    case wake
    /// Claim nothing more, resolve and store what is held, then exit with ``ChildExitReason/drained``.
    case drain
    /// Drain as soon as there is nothing left to claim: others wait for the place.
    case leaveWhenDone
    /// Drain without finishing parts: send nothing more, resolve what is on the wire, hand the parts back, exit.
    case fastShutdown
    /// Show what is on the wire, for so long as the order says.
    case trace
}

/// One line from a child's standard output to the supervisor; at least one a second.
public struct ChildMessage: ProtocolMessage, Equatable {
    /// The version of the protocol.
    public var version: Int
    /// How the child is doing; nil in a line about something else.
    public var status: ChildStatus?
    /// What is on the wire, if somebody asked for it.
    public var trace: TraceReport?

    /// Makes a message in the current version.
    public init(_ status: ChildStatus) {
        version = ProtocolVersion.current
        self.status = status
    }

    /// Makes a line about a trace in the current version.
    public init(_ trace: TraceReport) {
        version = ProtocolVersion.current
        self.trace = trace
    }

    /// Reads a line; one that is about nothing is none of this protocol.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        version = try values.decode(Int.self, forKey: .version)
        trace = try values.decodeIfPresent(TraceReport.self, forKey: .trace)
        status =
            trace == nil
            ? try values.decode(ChildStatus.self, forKey: .status)
            : try values.decodeIfPresent(ChildStatus.self, forKey: .status)
    }
}
