import PushCore

/// What a child serves: one application over one routing.
public struct ChildKind: Sendable, Hashable {
    /// The application.
    public let applicationID: Int32
    /// The routing.
    public let accountID: Int32
    /// The routing's connector.
    public let connector: Connector

    /// A kind of children.
    public init(applicationID: Int32, accountID: Int32, connector: Connector) {
        self.applicationID = applicationID
        self.accountID = accountID
        self.connector = connector
    }
}
