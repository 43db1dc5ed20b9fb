import PostgresClient
import PushCore

/// How an application stands with the gateway of an account, where that is not well.
public enum GatewayTroubleState: Sendable, Hashable {
    /// It takes nothing, and one child probes it.
    case trouble
    /// It has taken a message so long ago, and so many children send: they begin slowly.
    case opening(since: Duration, sharers: Int)
}

/// A gateway that takes nothing from an application, as monitoring sees it.
public struct GatewayTroubleRow: Sendable, Hashable {
    /// The application's name.
    public let application: String
    /// The account's name.
    public let account: String
    /// What the last attempt met.
    public let reason: String
    /// Since when, in seconds.
    public let seconds: Double
    /// Probes so far.
    public let probes: Int32
    /// Seconds until the next probe, negative when it is due.
    public let nextProbeInSeconds: Double
    /// Messages that are ready to be sent and wait.
    public let waiting: Int64

    /// Since when, in words.
    public var text: String {
        "the gateway of account \(account) has taken nothing for \(Int(seconds)) s (\(reason)): \(waiting) messages wait and keep their "
            + "attempts, \(probes) probes were sent; sending goes on by itself when one is taken"
    }
}

/// Messages of an application that failed for one and the same reason, and are more than a share of all that ended lately.
public struct MassFailureRow: Sendable, Hashable {
    /// The application's name.
    public let application: String
    /// The gateway's reason, or ours.
    public let reason: String
    /// How many failed for it.
    public let failed: Int64
    /// How many messages ended in the same time.
    public let ended: Int64

    /// More than one in so many is no accident: what the guard against mix-ups of environments takes, too.
    public static let share = 5
    /// So few say nothing.
    public static let fewest = 20

    /// What happened, in words.
    public var text: String {
        "\(failed) of the last \(ended) messages failed for one reason: \(reason.isEmpty ? "none was given" : reason). "
            + "pushmta answers says what it means"
    }
}

/// Pieces of SQL about `gateway_trouble`, which statements of parts share.
enum TroubleSQL {
    /// Whether nothing is sent for a row `t`.
    static let isTrouble = "t.state = 'trouble'"

    /// Whether somebody may take the right to probe.
    static let isDue = "t.next_probe_at <= now() AND (t.prober IS NULL OR t.prober_until <= now())"

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

    /// Ends an application's trouble with all gateways because an operator says so: sending begins again at once, slowly at first.
    /// - Returns: the names of the accounts.
    public func resumeTroubles(application: Int32) async throws -> [String] {
        let result = try await query(
            """
            WITH ended AS (
                UPDATE pushmta_engine.gateway_trouble t SET state = 'opening', opened_at = now(), prober = NULL, prober_until = NULL,
                    changed_at = now()
                WHERE t.application_id = $1 AND \(TroubleSQL.isTrouble)
                RETURNING t.external_account_id
            ), woken AS MATERIALIZED (
                SELECT pg_notify('pushmta_wake', 'trouble') FROM ended
            )
            SELECT e.name FROM ended d JOIN pushmta_engine.external_account e ON e.id = d.external_account_id
            WHERE (SELECT count(*) FROM woken) >= 0 ORDER BY e.name
            """,
            [.int32(application)]
        )
        return try all(result) { rows, row in try rows.text(row, 0) }
    }

    /// Claims one part to probe with; nil if none is ready.
    ///
    /// One without messages that may have arrived goes before one with them, and of these the one that was claimed least often.
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
        SELECT p.id, p.fencing_token, p.priority, p.not_before FROM pushmta_engine.delivery_part p
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
            (\(probeCandidates("AND p.attempt = 1")))
            UNION
            (\(probeCandidates("")))
        ), picked AS MATERIALIZED (
            SELECT p.id FROM pushmta_engine.delivery_part p
            WHERE p.state = 'ready' AND p.id = (
                SELECT f.id FROM first f
                ORDER BY f.id = ANY(pushmta_engine.ambiguous_parts(ARRAY(SELECT a.id FROM first a))), f.fencing_token,
                    f.priority DESC, f.not_before, f.id
                LIMIT 1)
            FOR NO KEY UPDATE OF p SKIP LOCKED
        )
        UPDATE pushmta_engine.delivery_part p
        SET state = 'claimed', owner = $3, fencing_token = p.fencing_token + 1, renewal = 0, claimed_at = now()
        FROM pushmta_engine.delivery d
        WHERE p.id = ANY(ARRAY(SELECT id FROM picked)) AND d.id = p.delivery_id
        RETURNING \(claimedColumns)
        """

    /// The gateways that take nothing now while messages wait for them: where none does, nobody probes, and nobody has to know.
    public func gatewayTroubles() async throws -> [GatewayTroubleRow] {
        let result = try await query(
            """
            SELECT application, account, reason, seconds, probes, next_probe_in_seconds, waiting FROM pushmta.gateway_trouble
            WHERE state = 'trouble' AND waiting > 0 ORDER BY application, account
            """
        )
        return try all(result) { rows, row in
            GatewayTroubleRow(
                application: try rows.text(row, 0),
                account: try rows.text(row, 1),
                reason: try rows.text(row, 2),
                seconds: try rows.double(row, 3),
                probes: try rows.int32(row, 4),
                nextProbeInSeconds: try rows.double(row, 5),
                waiting: try rows.int64(row, 6)
            )
        }
    }
}

extension Store {
    /// The reasons for which more than a share of an application's messages failed in this hour and the one before, in deliveries that are
    /// under way or ended in that time.
    public func massFailures() async throws -> [MassFailureRow] {
        let result = try await query(
            """
            WITH ended AS MATERIALIZED (
                SELECT s.application_id, s.measure, s.reason, sum(s.n)::bigint AS n
                FROM pushmta_engine.delivery d JOIN pushmta_engine.delivery_statistic s ON s.delivery_id = d.id
                    AND s.hour >= date_trunc('hour', now()) - interval '1 hour'
                WHERE (d.state IN ('preparing', 'in_progress', 'paused') OR d.finished_at > now() - interval '2 hours')
                    AND s.measure IN (1, 2, 9)
                GROUP BY s.application_id, s.measure, s.reason
            )
            SELECT a.name, e.reason, e.n, t.n::bigint
            FROM ended e
            JOIN (SELECT application_id, sum(n) AS n FROM ended GROUP BY application_id) t ON t.application_id = e.application_id
            JOIN pushmta_engine.application a ON a.id = e.application_id
            WHERE e.measure = 2 AND e.n >= $1 AND e.n * $2 > t.n
            ORDER BY a.name, e.n DESC
            """,
            [.int64(Int64(MassFailureRow.fewest)), .int64(Int64(MassFailureRow.share))]
        )
        return try all(result) { rows, row in
            MassFailureRow(
                application: try rows.text(row, 0),
                reason: try rows.text(row, 1),
                failed: try rows.int64(row, 2),
                ended: try rows.int64(row, 3)
            )
        }
    }
}

extension Duration {
    /// Milliseconds, rounded down; not negative, and at most a century.
    fileprivate var wholeMilliseconds: Int64 {
        let century: Int64 = 100 * 365 * 24 * 3600
        let (seconds, attoseconds) = components
        return min(max(seconds, 0), century) * 1000 + max(attoseconds, 0) / 1_000_000_000_000_000
    }
}
