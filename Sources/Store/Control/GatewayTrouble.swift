import PostgresClient
import PushCore

/// How an application stands with the gateway of an account, where that is not well.
public enum GatewayTroubleState: Sendable, Hashable {
    /// It takes nothing, and one child probes it.
    case trouble
    /// It has taken a message so long ago, and so many children send: they begin slowly.
    case opening(since: Duration, sharers: Int)
}

/// Pieces of SQL about `gateway_trouble`, which statements of parts share.
enum TroubleSQL {
    /// Whether nothing is sent for a row `t`.
    static let isTrouble = "t.state = 'trouble'"

    /// Whether somebody may take the right to probe.
    static let isDue = "t.next_probe_at <= now() AND (t.prober IS NULL OR t.prober_until <= now())"

    /// Whether a child of an application and account lives, which would take the right to probe.
    static func hasChild(application: String, account: String) -> String {
        """
        EXISTS (SELECT FROM pushmta_engine.mta_child c WHERE c.exited_at IS NULL AND c.application_id = \(application)
            AND c.external_account_id = \(account) AND c.state <> 'draining' AND c.last_heartbeat > now() - interval '5 seconds')
        """
    }

    /// Whether the pair of two parameters or columns is in trouble.
    static func isTrouble(application: String, account: String) -> String {
        """
        EXISTS (SELECT FROM pushmta_engine.gateway_trouble t WHERE t.application_id = \(application)
            AND t.external_account_id = \(account) AND \(isTrouble))
        """
    }
}

/// The trouble of a gateway: a state of an application on an account, shared by all hosts.
extension Store {
    /// Says that the gateway takes nothing from an application; any number of children may say so at once.
    ///
    /// - Parameters:
    ///   - nextProbeIn: the pause before the first probe.
    ///   - keepsProber: an earlier moment for the next probe stands; false where the gateway has asked to wait.
    public func enterTrouble(
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

    /// Takes the right to probe, if a probe is due and nobody has it.
    /// - Returns: whether the child has it now.
    public func claimProber(application: Int32, account: Int32, child: Int64, lease: Duration) async throws -> Bool {
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

    /// Keeps the right to probe for another while, and tells what the last probe met.
    ///
    /// - Parameters:
    ///   - reason: nil keeps the one that is there.
    ///   - pause: how long from now the next probe is, if one has failed.
    /// - Returns: whether the child has the right still.
    public func renewProber(
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

    /// Gives the right to probe back: another child takes it when the next probe is due, in a second or more.
    public func leaveTrouble(application: Int32, account: Int32, child: Int64) async throws {
        try await query(
            """
            UPDATE pushmta_engine.gateway_trouble t SET prober = NULL, prober_until = NULL,
                next_probe_at = greatest(t.next_probe_at, now() + interval '1 second'), changed_at = now()
            WHERE t.application_id = $1 AND t.external_account_id = $2 AND \(TroubleSQL.isTrouble) AND t.prober = $3
            """,
            [.int32(application), .int32(account), .int64(child)]
        )
    }

    /// A probe got through: all hosts send again, slowly at first.
    public func endTrouble(application: Int32, account: Int32) async throws {
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
    /// One without messages that may have arrived goes before one with them, one whose messages were never refused before one of which they
    /// were, and of these the one that was claimed least often.
    ///
    /// - Parameter tried: deliveries that are passed by.
    public func claimTroubleProbe(
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

    /// First attempts are looked at by themselves: urgent messages that were sent without an answer, however many, do not hide what was not.
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
