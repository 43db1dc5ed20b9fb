/// One line from the supervisor to a child's standard input.
public struct SupervisorMessage: ProtocolMessage, Equatable {
    /// The version of the protocol.
    public var version: Int
    /// What the child is asked to do.
    public var command: SupervisorCommand
    /// The payload of the database's notification that caused a wake-up, if there was one; at most 8,000 bytes.
    public var detail: String?

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
}
