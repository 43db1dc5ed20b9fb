/// A NOTIFY received on a channel that the connection listens on.
package struct PostgresNotification: Sendable, Hashable {
    package let channel: String
    /// The payload; empty if there was none.
    package let payload: String
    /// The server process that notified; equal to ``PostgresConnection/backendPID`` for the connection's own.
    package let senderPID: Int32
}
