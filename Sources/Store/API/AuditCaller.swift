import PostgresClient

/// On whose behalf a process changes something, for the origin in the audit log.
public enum AuditCaller {
    /// For people, without a secret: the name of a key and an address, say. Nil if the login says it all.
    @TaskLocal public static var current: String?
}

extension Store {
    /// Calls a function of the schema that changes something, in a transaction of its own in which the audit log knows the caller.
    @discardableResult
    func change(_ call: String, _ parameters: [PostgresValue]) async throws -> PostgresResult {
        guard let caller = AuditCaller.current else { return try await query("SELECT \(call)", parameters) }
        // Triggers read it at the end of the transaction.
        return try await query(
            "SELECT \(call) FROM (SELECT set_config('pushmta.caller', $\(parameters.count + 1), true)) named",
            parameters + [.text(caller)]
        )
    }
}
