import PostgresClient
import PushCore

/// Why an application cannot send to anybody.
package enum SendingObstacle: String, Sendable, CaseIterable {
    case noAccount = "no_account"
    /// Its external account is switched off.
    case inactiveAccount = "inactive_account"
    case noCredential = "no_credential"
    case expiredCredential = "expired_credential"
}

extension Store {
    /// The applications that cannot send, by name.
    package func sendingObstacles() async throws -> [String: SendingObstacle] {
        let result = try await query(
            """
            SELECT o.name, o.obstacle FROM (
                SELECT a.name, CASE WHEN e.id IS NULL THEN 'no_account' WHEN NOT e.active THEN 'inactive_account'
                    WHEN c.id IS NULL THEN 'no_credential' WHEN c.expires_at <= now() THEN 'expired_credential' END AS obstacle
                FROM pushmta_engine.application a
                LEFT JOIN pushmta_engine.external_account e ON e.id = a.external_account_id
                LEFT JOIN pushmta.credential c ON c.id = a.credential_id
            ) o WHERE o.obstacle IS NOT NULL
            """
        )
        let rows: [(String, SendingObstacle)] = try all(result) { row in (try row.text(), try row.choice()) }
        return Dictionary(rows, uniquingKeysWith: { $1 })
    }
}
