import PostgresClient
import PushCore

/// Pieces of SQL about messages that wait apart for a credential that is stored with the gateway.
enum CredentialWaitSQL {
    /// Until when a part `m` that begins to wait is not due: it is claimed only as a probe, or to end it with its own validity. Its
    /// delivery's is looked at apart from that.
    static func end(of part: String) -> String {
        "coalesce(\(part).valid_until + interval '1 second', now() + interval '10 years')"
    }

    /// Notes that messages wait, of parts to be made; the first one that waits for a reason begins it, and one that is refused after
    /// another got through begins it anew: that one was an exception, and the next probe is as far away as ever. It locks the row, so that
    /// `try_credential_waits` does not delete it before these parts can be seen; in order, as a batch may name several.
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
    /// Lets single messages find out whether credentials that are stored with gateways were put right, and lets those go that waited for
    /// one that was. Any number of hosts may call it at once; it waits for no lock.
    /// - Returns: the number of parts that became due.
    @discardableResult
    public func tryCredentialWaits() async throws -> Int {
        try await query("SELECT pushmta_engine.try_credential_waits(1000)").one { Int(try $0.int32()) }
    }

    /// A message got through that had waited for this reason: all others that did are sent.
    public func endCredentialWait(application: Int32, account: Int32, reason: String) async throws {
        try await query(
            "SELECT pushmta_engine.end_credential_wait($1, $2, $3)",
            [.int32(application), .int32(account), .text(reason)]
        )
    }
}
