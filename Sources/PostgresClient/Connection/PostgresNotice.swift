/// A notice or warning that the server sent beside its results.
public struct PostgresNotice: Sendable, Hashable {
    /// The severity in English: `WARNING`, `NOTICE`, `INFO`, `LOG` or `DEBUG`.
    public let severity: String
    /// The five-character SQLSTATE.
    public let sqlState: String
    /// The primary message.
    public let message: String
}
