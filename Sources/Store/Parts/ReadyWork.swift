import PushCore

/// Parts that wait for a child of one kind, now due.
public struct ReadyWork: Sendable, Hashable {
    /// The application.
    public let applicationID: Int32
    /// The routing.
    public let accountID: Int32
    /// The connector of that routing.
    public let connector: Connector
    /// Number of parts that may be claimed now.
    public let readyParts: Int
    /// Messages in them.
    public let readyMessages: Int64
    /// The greatest priority among them.
    public let highestPriority: Int16
    /// Seconds since the oldest of them became due.
    public let oldestSeconds: Double

    /// Work of one kind.
    public init(
        applicationID: Int32,
        accountID: Int32,
        connector: Connector,
        readyParts: Int,
        readyMessages: Int64,
        highestPriority: Int16,
        oldestSeconds: Double
    ) {
        self.applicationID = applicationID
        self.accountID = accountID
        self.connector = connector
        self.readyParts = readyParts
        self.readyMessages = readyMessages
        self.highestPriority = highestPriority
        self.oldestSeconds = oldestSeconds
    }
}
