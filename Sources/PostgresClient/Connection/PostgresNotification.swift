/// A NOTIFY that arrived on a channel the connection listens to.
public struct PostgresNotification: Sendable, Hashable {
    /// The channel's name.
    public let channel: String
    /// The payload, empty when there was none.
    public let payload: String
    /// The server process that notified; compare with ``PostgresConnection/backendPID`` to find one's own.
    public let senderPID: Int32
}
