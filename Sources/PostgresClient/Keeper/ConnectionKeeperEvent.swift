/// What a ``ConnectionKeeper`` tells its owner, for the log.
public enum ConnectionKeeperEvent: Sendable {
    /// A connection was made.
    case connected(backendPID: Int32)
    /// The connection was found to be gone.
    case lost
    /// An attempt failed; the next comes after the delay.
    case attemptFailed(PostgresError, attempt: Int, nextDelay: Duration)
}
