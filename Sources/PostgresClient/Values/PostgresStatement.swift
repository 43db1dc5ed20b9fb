/// One SQL statement with its parameters (`$1`, `$2`, …).
public struct PostgresStatement: Sendable {
    /// The SQL text, one statement.
    public var sql: String
    /// The parameters in order.
    public var parameters: [PostgresValue]
    /// Whether the connection keeps it prepared under its SQL text and parameter types.
    public var prepare: Bool

    /// Makes a statement.
    ///
    /// - Parameters:
    ///   - sql: one statement; values belong into parameters, never into the text.
    ///   - parameters: values for `$1`, `$2`, …
    ///   - prepare: false for statements that run once (DDL, SET), so that they take no place among the prepared.
    public init(_ sql: String, _ parameters: [PostgresValue] = [], prepare: Bool = true) {
        self.sql = sql
        self.parameters = parameters
        self.prepare = prepare
    }
}
