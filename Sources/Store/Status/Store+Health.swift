import PostgresClient

extension Store {
    /// Shows trouble that keeps an application's messages from being sent, with what to do; the messages stay pending.
    ///
    /// - Parameter account: the routing over which it was found, nil if it concerns all.
    public func reportHealth(application: Int32, account: Int32? = nil, reason: String, remedy: String) async throws {
        try await query(
            """
            INSERT INTO pushmta_engine.application_health AS h (application_id, external_account_id, state, reason, remedy, opened_at)
            VALUES ($1, $2::integer, 'open', $3, $4, now())
            ON CONFLICT (application_id) DO UPDATE SET external_account_id = excluded.external_account_id, state = 'open',
                reason = excluded.reason, remedy = excluded.remedy, opened_at = coalesce(h.opened_at, now()), changed_at = now()
            WHERE h.state <> 'open' OR h.reason <> excluded.reason OR h.remedy <> excluded.remedy
            """,
            [.int32(application), account.map(PostgresValue.int32) ?? .null, .text(reason), .text(remedy)]
        )
    }

    /// Says that an application's trouble is over.
    public func clearHealth(application: Int32) async throws {
        try await query(
            """
            UPDATE pushmta_engine.application_health SET state = 'closed', reason = '', remedy = '', opened_at = NULL,
                next_probe_at = NULL, probes = 0, changed_at = now()
            WHERE application_id = $1 AND state <> 'closed'
            """,
            [.int32(application)]
        )
    }
}
