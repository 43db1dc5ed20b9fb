/// An event of a ``ReconnectingConnection``, for the log.
package enum ReconnectingConnectionEvent: Sendable {
    case connected(backendPID: Int32)
    /// A connection was opened after one whose server had refused to write, and this server is read-only as well.
    case readOnly
    /// The connection was found to be gone.
    case lost
    /// The connection was dropped because its server refused to write.
    case dropped
    /// It was closed or released.
    case closed
    /// An attempt failed; the next one follows after the delay.
    case attemptFailed(PostgresError, attempt: Int, nextDelay: Duration)
}
