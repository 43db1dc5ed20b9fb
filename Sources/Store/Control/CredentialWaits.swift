import PostgresClient
import PushCore

/// SQL about messages that wait separately for a credential stored with the gateway.
enum CredentialWaitSQL {
    /// The end of the wait of a part `m` that begins to wait. Until then it is claimed only as a probe, or when its own
    /// validity ends. The validity of its delivery is checked separately.
    static func end(of part: String) -> String {
        "coalesce(\(part).valid_until + interval '1 second', now() + interval '10 years')"
    }

    /// Records that messages of new parts wait. The first message to wait for a reason begins the wait. A refusal after
    /// another message got through begins it again: that message was an exception, and the next probe is as far away as
    /// at first. The statement locks the row, so that `try_credential_waits` does not delete it before these parts are
    /// visible; in order, because a batch may name several.
    static func begin(of parts: String) -> String {
        """
        INSERT INTO pushmta_engine.credential_wait AS w (application_id, external_account_id, reason)
            SELECT DISTINCT m.application_id, m.external_account_id, m.waits_for FROM \(parts) m WHERE m.waits_for IS NOT NULL
            ORDER BY m.application_id, m.external_account_id, m.waits_for
            ON CONFLICT (application_id, external_account_id, reason) DO UPDATE SET ended_at = NULL, began_at = excluded.began_at,
                next_probe_at = excluded.next_probe_at, probes = 0
            WHERE w.ended_at IS NOT NULL
        """
    }
}

extension Store {
    /// Lets single messages test whether credentials stored with gateways were corrected, and releases those that
    /// waited for a corrected one. Any number of hosts may call it at once; it never waits for a lock.
    /// - Returns: the number of parts that became due.
    @discardableResult
    package func tryCredentialWaits() async throws -> Int {
        try await query("SELECT pushmta_engine.try_credential_waits(1000)").one { Int(try $0.int32()) }
    }

    /// Records that a message which had waited for this reason got through: all others that wait for it are sent.
    package func endCredentialWait(application: Int32, account: Int32, reason: String) async throws {
        try await query(
            "SELECT pushmta_engine.end_credential_wait($1, $2, $3)",
            [.int32(application), .int32(account), .text(reason)]
        )
    }
}
