/// One line from a child's standard output to the supervisor; at least one a second.
public struct ChildMessage: ProtocolMessage, Equatable {
    /// The version of the protocol.
    public var version: Int
    /// How the child is doing.
    public var status: ChildStatus

    /// Makes a message in the current version.
    public init(_ status: ChildStatus) {
        version = ProtocolVersion.current
        self.status = status
    }
}
