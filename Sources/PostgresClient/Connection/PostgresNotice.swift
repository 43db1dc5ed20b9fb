/// A notice or warning that the server sent in addition to its results.
package struct PostgresNotice: Sendable, Hashable {
    /// The severity in English: `WARNING`, `NOTICE`, `INFO`, `LOG` or `DEBUG`.
    package let severity: String
    /// The five-character SQLSTATE.
    package let sqlState: String
    /// The primary message.
    package let message: String
}
