import PushCore

/// An external account: the routing of deliveries to a gateway.
public struct AccountRow: Sendable, Hashable {
    /// Its id.
    public let id: Int32
    /// Its name in commands, unique.
    public let name: String
    /// What speaks to the gateway.
    public let connector: Connector
    /// Gateway host, or where a stand-in is.
    public let host: String
    /// Gateway port.
    public let port: Int32
    /// Connector options, a flat JSON object (connections, CA file, token URI…).
    public let options: String
    /// Whether parts may be claimed over it.
    public let active: Bool

    /// An external account.
    public init(id: Int32, name: String, connector: Connector, host: String, port: Int32, options: String, active: Bool)
    {
        self.id = id
        self.name = name
        self.connector = connector
        self.host = host
        self.port = port
        self.options = options
        self.active = active
    }
}
