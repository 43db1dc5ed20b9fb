/// One line from the supervisor to a child's standard input.
package struct SupervisorMessage: ProtocolMessage, Equatable {
    /// The version of the protocol.
    package var version: Int
    /// The command.
    package var command: SupervisorCommand
    /// The payload of the database notification that caused a wake-up, if any; at most 8,000 bytes.
    package var detail: String?
    /// What to trace, for the command to trace.
    package var trace: TraceOrder?

    /// The detail of a wake-up for a message of a continuous delivery: nothing else has changed.
    package static let messageDetail = "message"

    /// The detail of a wake-up after an operator has resumed the child's application: the child stops waiting.
    package static let resumeDetail = "resume"

    /// Creates a message in the current version.
    package init(_ command: SupervisorCommand, detail: String? = nil) {
        version = ProtocolVersion.current
        self.command = command
        self.detail = detail
    }

    /// Creates the command to trace, or to end a trace.
    package init(_ order: TraceOrder) {
        self.init(.trace)
        trace = order
    }
}
