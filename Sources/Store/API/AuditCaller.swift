import PostgresClient

/// For whom a process makes a change: part of the origin in the audit log.
package enum AuditCaller {
    /// As shown to people, without a secret, such as the name of a key and an address. Nil if the login is enough.
    @TaskLocal package static var current: String?
    /// The name of the API key; nil if there is none. Nobody approves with another key what the same person made.
    @TaskLocal package static var key: String?
}

extension Store {
    /// Calls a function of the schema that changes something, in a transaction of its own in which the audit log knows
    /// the caller.
    @discardableResult
    func change(_ call: String, _ parameters: [PostgresValue]) async throws -> PostgresResult {
        let statement = Self.statement(changing: call, parameters)
        return try await with { try await $0.execute(statement) }
    }

    /// The same as a statement of a larger transaction.
    static func statement(changing call: String, _ parameters: [PostgresValue]) -> PostgresStatement {
        guard let caller = AuditCaller.current else { return PostgresStatement("SELECT \(call)", parameters) }
        // The function reads the key; triggers read the caller at the end of the transaction.
        let (first, second) = (parameters.count + 1, parameters.count + 2)
        return PostgresStatement(
            """
            SELECT \(call)
            FROM (SELECT set_config('pushmta.caller', $\(first), true), set_config('pushmta.api_key', $\(second), true)) named
            """,
            parameters + [.text(caller), .text(AuditCaller.key ?? "")]
        )
    }
}
