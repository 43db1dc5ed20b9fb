/// One SQL statement with its parameters (`$1`, `$2`, …).
package struct PostgresStatement: Sendable {
    /// The SQL text, one statement.
    package var sql: String
    package var parameters: [PostgresValue]
    /// Whether the connection keeps the statement prepared, by SQL text and parameter types.
    package var prepare: Bool

    /// Makes a statement.
    ///
    /// - Parameters:
    ///   - sql: one statement; values belong in parameters, never in the text.
    ///   - parameters: values for `$1`, `$2`, …
    ///   - prepare: false for statements that run once (DDL, SET), so that they take no room in the cache of prepared
    ///     ones.
    package init(_ sql: String, _ parameters: [PostgresValue] = [], prepare: Bool = true) {
        self.sql = sql
        self.parameters = parameters
        self.prepare = prepare
    }
}
