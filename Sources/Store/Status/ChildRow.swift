import PushCore

/// A child that a supervisor is about to start.
public struct ChildRow: Sendable {
    /// The host it runs on.
    public var hostID: String
    /// Counts up with each child of a host, so that a stale status line is recognised.
    public var generation: Int32
    /// The application it serves.
    public var applicationID: Int32
    /// The routing it uses.
    public var accountID: Int32
    /// The routing's connector.
    public var connector: Connector

    /// A child to be.
    public init(hostID: String, generation: Int32, applicationID: Int32, accountID: Int32, connector: Connector) {
        self.hostID = hostID
        self.generation = generation
        self.applicationID = applicationID
        self.accountID = accountID
        self.connector = connector
    }
}
