import PostgresClient
import PushCore

/// The state of an account's gateway for an application, if it is in trouble or just out of it.
package enum GatewayTroubleState: Sendable, Hashable {
    /// It takes nothing, and one child probes it.
    case trouble
    /// It took a message this long ago, and this many children send: they start slowly.
    case opening(since: Duration, sharers: Int)
}

/// Gateway trouble: a state of an application on an account, shared by all hosts.
extension Store {
    /// Records that the gateway takes nothing from an application; any number of children may report this at once.
    ///
    /// - Parameters:
    ///   - nextProbeIn: the pause before the first probe.
    ///   - keepsProber: whether an earlier time for the next probe is kept; false if the gateway has asked to wait.
    package func enterTrouble(
        application: Int32,
        account: Int32,
        reason: String,
        nextProbeIn pause: Duration,
        keepsProber: Bool
    ) async throws {
        try await query(
            """
            INSERT INTO pushmta_engine.gateway_trouble AS t (application_id, external_account_id, state, reason, began_at, next_probe_at)
            VALUES ($1, $2, 'trouble', $3, now(), now() + $4 * interval '1 millisecond')
            ON CONFLICT (application_id, external_account_id) DO UPDATE SET state = 'trouble', reason = excluded.reason,
                began_at = CASE WHEN \(TroubleSQL.isTrouble) THEN t.began_at ELSE excluded.began_at END,
                probes = CASE WHEN \(TroubleSQL.isTrouble) THEN t.probes ELSE 0 END,
                next_probe_at = CASE WHEN NOT \(TroubleSQL.isTrouble) THEN excluded.next_probe_at
                    WHEN $5 THEN t.next_probe_at ELSE greatest(t.next_probe_at, excluded.next_probe_at) END,
                prober = CASE WHEN \(TroubleSQL.isTrouble) THEN t.prober END,
                prober_until = CASE WHEN \(TroubleSQL.isTrouble) THEN t.prober_until END,
                opened_at = NULL, changed_at = CASE WHEN \(TroubleSQL.isTrouble) THEN t.changed_at ELSE now() END
            """,
            [
                .int32(application), .int32(account), .text(reason), .int64(pause.wholeMilliseconds),
                .bool(keepsProber),
            ]
        )
    }

    /// Takes the right to probe, if a probe is due and no child has it.
    /// - Returns: whether the child has it now.
    package func claimProber(application: Int32, account: Int32, child: Int64, lease: Duration) async throws -> Bool {
        try await query(
            """
            UPDATE pushmta_engine.gateway_trouble t
            SET prober = $3, prober_until = now() + $4 * interval '1 millisecond', next_probe_at = now(), changed_at = now()
            WHERE t.application_id = $1 AND t.external_account_id = $2 AND \(TroubleSQL.isTrouble) AND \(TroubleSQL.isDue)
            RETURNING true
            """,
            [.int32(application), .int32(account), .int64(child), .int64(lease.wholeMilliseconds)]
        ).rowCount > 0
    }

    /// Renews the right to probe, and records the result of the last probe.
    ///
    /// - Parameters:
    ///   - reason: the new reason; nil keeps the present one.
    ///   - pause: the time until the next probe, if one has failed.
    /// - Returns: whether the child still has the right.
    package func renewProber(
        application: Int32,
        account: Int32,
        child: Int64,
        lease: Duration,
        reason: String?,
        nextProbeIn pause: Duration?
    ) async throws -> Bool {
        try await query(
            """
            UPDATE pushmta_engine.gateway_trouble t
            SET prober_until = now() + $4 * interval '1 millisecond', reason = coalesce(nullif($5, ''), t.reason),
                probes = t.probes + CASE WHEN $6::bigint IS NULL THEN 0 ELSE 1 END,
                next_probe_at = coalesce(now() + $6::bigint * interval '1 millisecond', t.next_probe_at), changed_at = now()
            WHERE t.application_id = $1 AND t.external_account_id = $2 AND \(TroubleSQL.isTrouble) AND t.prober = $3
            RETURNING true
            """,
            [
                .int32(application), .int32(account), .int64(child), .int64(lease.wholeMilliseconds),
                reason.map(PostgresValue.text) ?? .null, (pause?.wholeMilliseconds).map(PostgresValue.int64) ?? .null,
            ]
        ).rowCount > 0
    }

    /// Gives up the right to probe: another child takes it when the next probe is due, in at least a second.
    package func leaveTrouble(application: Int32, account: Int32, child: Int64) async throws {
        try await query(
            """
            UPDATE pushmta_engine.gateway_trouble t SET prober = NULL, prober_until = NULL,
                next_probe_at = greatest(t.next_probe_at, now() + interval '1 second'), changed_at = now()
            WHERE t.application_id = $1 AND t.external_account_id = $2 AND \(TroubleSQL.isTrouble) AND t.prober = $3
            """,
            [.int32(application), .int32(account), .int64(child)]
        )
    }

    /// Records that a probe got through: all hosts send again, slowly at first.
    package func endTrouble(application: Int32, account: Int32) async throws {
        try await query(
            """
            WITH ended AS (
                UPDATE pushmta_engine.gateway_trouble t SET state = 'opening', opened_at = now(), prober = NULL, prober_until = NULL,
                    changed_at = now()
                WHERE t.application_id = $1 AND t.external_account_id = $2 AND \(TroubleSQL.isTrouble)
                RETURNING 1
            )
            SELECT pg_notify('pushmta_wake', 'trouble') FROM ended
            """,
            [.int32(application), .int32(account)]
        )
    }

    /// Claims one part to probe with; nil if none is ready.
    ///
    /// Prefers parts without messages that may have arrived, then parts whose messages were never refused, then the
    /// part claimed least often.
    ///
    /// - Parameter tried: deliveries to skip.
    package func claimTroubleProbe(
        application: Int32,
        account: Int32,
        child: Int64,
        except tried: Set<Int64> = []
    ) async throws -> ClaimedPart? {
        let result = try await query(
            Self.claimTroubleProbeSQL,
            [.int32(application), .int32(account), .int64(child), .int64Array(tried.sorted())]
        )
        return result.rowCount == 0 ? nil : try Self.claimedPart(result, 0)
    }

    /// A hundred parts in the order of claims.
    private static func probeCandidates(_ more: String) -> String {
        """
        SELECT p.id, p.fencing_token, p.priority, p.not_before, p.refusals FROM pushmta_engine.delivery_part p
            WHERE p.state = 'ready' AND p.application_id = $1 AND p.external_account_id = $2 AND p.not_before <= now() \(more)
                AND p.delivery_id <> ALL($4)
                AND EXISTS (SELECT FROM pushmta_engine.external_account e WHERE e.id = $2 AND e.active)
                AND \(claimableDelivery)
            ORDER BY p.priority DESC, p.not_before, p.id
            LIMIT 100
        """
    }

    /// First attempts are read separately, so that any number of urgent messages that were sent without an answer do
    /// not hide parts that were never sent.
    static let claimTroubleProbeSQL = """
        WITH first AS MATERIALIZED (
            (\(probeCandidates("AND p.attempt = 1 AND p.refusals = 0")))
            UNION
            (\(probeCandidates("")))
        ), picked AS MATERIALIZED (
            SELECT p.id FROM pushmta_engine.delivery_part p
            WHERE p.state = 'ready' AND p.id = (
                SELECT f.id FROM first f
                ORDER BY f.id = ANY(pushmta_engine.ambiguous_parts(ARRAY(SELECT a.id FROM first a))), f.refusals <> 0,
                    f.fencing_token, f.priority DESC, f.not_before, f.id
                LIMIT 1)
            FOR NO KEY UPDATE OF p SKIP LOCKED
        )
        UPDATE pushmta_engine.delivery_part p
        SET state = 'claimed', owner = $3, fencing_token = p.fencing_token + 1, renewal = 0, claimed_at = now(),
                journal_length = 0
        FROM pushmta_engine.delivery d
        WHERE p.id = ANY(ARRAY(SELECT id FROM picked)) AND d.id = p.delivery_id
        RETURNING \(claimedColumns)
        """
}

extension Duration {
    /// Milliseconds, rounded down; not negative, and at most a century.
    fileprivate var wholeMilliseconds: Int64 {
        let century: Int64 = 100 * 365 * 24 * 3600
        let (seconds, attoseconds) = components
        return min(max(seconds, 0), century) * 1000 + max(attoseconds, 0) / 1_000_000_000_000_000
    }
}
