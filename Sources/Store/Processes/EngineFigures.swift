import PostgresClient
import PushCore

/// What the database says of the engine, for metrics: no deliveries, tokens or users, so that there are as many figures as applications.
public struct EngineFigures: Sendable {
    /// Messages that wait for a child.
    public struct Queue: Sendable, Hashable {
        public let application: String
        /// Whether it is the lane of single messages.
        public let isTransactional: Bool
        /// Messages that are due, as far as they were counted.
        public let messages: Int64
        /// Messages without an outcome that a child has claimed: on their way, or waiting for a rate.
        public let claimed: Int64
        /// Since when the oldest is due, claimed or not, in seconds.
        public let oldestSeconds: Double
        /// Whether counting was stopped, so that there may be more messages.
        public let isPartial: Bool
    }

    /// A supervisor's machine.
    public struct Host: Sendable, Hashable {
        public let id: String
        public let name: String
        /// `alive`, `late`, `gone` or `stopped`, as in `pushmta.mta_host`.
        public let health: String
        /// Whether another of its name has started since its last heartbeat, with a new folder of journals.
        public let isReplaced: Bool
    }

    public struct Application: Sendable, Hashable {
        public let id: Int32
        public let name: String
        /// The connector of its account; nil without one.
        public let connector: Connector?
        /// Whether its circuit is open.
        public let isCircuitOpen: Bool
        /// How the gateway of its account stands.
        public let trouble: Trouble
        /// Whether a rate that was set for it, its account or one of its deliveries limits its messages.
        public let isRateInUse: Bool
        /// Seconds until its credential ends, negative when it has; nil if it has none or one without an end.
        public let credentialSeconds: Double?
    }

    public enum Trouble: Int, Sendable, Hashable {
        /// It takes messages.
        case none = 0
        /// It takes messages again, at a rate that grows.
        case opening = 1
        /// It takes no messages.
        case trouble = 2
    }

    /// A limit of messages a second, of all but deliveries.
    public struct Quota: Sendable, Hashable {
        /// `application`, `account` or `project`.
        public let scope: String
        public let name: String
        /// Messages a second that are allowed now.
        public let currentRate: Double
        /// Messages that were given out so far.
        public let granted: Int64
    }

    /// All hosts that ever reported, by name.
    public let hosts: [Host]
    /// Messages that wait.
    public let queues: [Queue]
    public let applications: [Application]
    /// All limits but those of deliveries.
    public let quotas: [Quota]
    /// Deliveries by state, those that failed in the last hour among them.
    public let deliveries: [(state: String, count: Int64)]
    /// Whether a feedback worker acts.
    public let isFeedbackActing: Bool
    /// Since when the oldest token event waits, in seconds; 0 if none does.
    public let tokenEventSeconds: Double
    /// Things that are held for a day before they are deleted.
    public let retentionHolds: Int64
    /// How the database itself does.
    public let database: DatabaseFigures
}

extension Store {
    /// So many parts of a kind and priority are counted, at most: a look costs the same with ten and with ten million.
    private static let mostParts: Int32 = 1_000

    /// Reads what metrics say of the engine, in some short statements.
    public func engineFigures() async throws -> EngineFigures {
        let general = try await generalFigures()
        return EngineFigures(
            hosts: try await hostFigures(),
            queues: try await queueFigures(countingAtMost: Self.mostParts),
            applications: try await applicationFigures(),
            quotas: try await quotaFigures(),
            deliveries: try await deliveryFigures(),
            isFeedbackActing: general.isActing,
            tokenEventSeconds: general.tokenEventSeconds,
            retentionHolds: general.holds,
            database: try await databaseFigures()
        )
    }

    /// The view adds counters of all children, which are many.
    private func hostFigures() async throws -> [EngineFigures.Host] {
        let result = try await query(
            """
            SELECT h.id::text, h.name, CASE WHEN h.state = 'stopped' THEN 'stopped'
                    WHEN h.last_heartbeat < clock_timestamp() - interval '15 s' THEN 'gone'
                    WHEN h.last_heartbeat < clock_timestamp() - interval '5 s' THEN 'late' ELSE 'alive' END,
                EXISTS (SELECT FROM pushmta_engine.mta_host o WHERE o.name = h.name AND o.started_at > h.last_heartbeat)
            FROM pushmta_engine.mta_host h ORDER BY h.name, h.id
            """
        )
        return try all(result) { row in
            EngineFigures.Host(
                id: try row.text(),
                name: try row.text(),
                health: try row.text(),
                isReplaced: try row.bool()
            )
        }
    }

    private static func trouble(_ state: String) -> EngineFigures.Trouble {
        state == "trouble" ? .trouble : state == "opening" ? .opening : .none
    }

    private func applicationFigures() async throws -> [EngineFigures.Application] {
        let result = try await query(
            """
            SELECT a.id, a.name, e.connector, coalesce(\(CircuitSQL.isOpen), false), coalesce(t.state, ''),
                EXISTS (SELECT FROM pushmta_engine.rate_limit r WHERE r.next_at > clock_timestamp() AND (r.application_id = a.id
                    OR r.external_account_id = a.external_account_id OR r.delivery_id IN (
                        SELECT d.delivery_id FROM pushmta_engine.delivery_application d WHERE d.application_id = a.id))),
                CASE WHEN isfinite(c.expires_at) THEN extract(epoch FROM c.expires_at - clock_timestamp())::double precision END
            FROM pushmta_engine.application a
            LEFT JOIN pushmta_engine.external_account e ON e.id = a.external_account_id
            LEFT JOIN pushmta_engine.application_health h ON h.application_id = a.id
            LEFT JOIN pushmta_engine.gateway_trouble t ON t.application_id = a.id AND t.external_account_id = a.external_account_id
            LEFT JOIN pushmta_engine.credential c ON c.id = a.credential_id
            ORDER BY a.name
            """
        )
        return try all(result) { row in
            EngineFigures.Application(
                id: try row.int32(),
                name: try row.text(),
                connector: try row.textOrNil().flatMap(Connector.init(rawValue:)),
                isCircuitOpen: try row.bool(),
                trouble: Self.trouble(try row.text()),
                isRateInUse: try row.bool(),
                credentialSeconds: try row.doubleOrNil()
            )
        }
    }

    private func quotaFigures() async throws -> [EngineFigures.Quota] {
        let result = try await query(
            """
            SELECT CASE WHEN r.application_id IS NOT NULL THEN 'application' WHEN r.external_account_id IS NOT NULL THEN 'account'
                    ELSE 'project' END, coalesce(a.name, e.name, r.project), pushmta_engine.rate_at(r, clock_timestamp()), r.granted
            FROM pushmta_engine.rate_limit r
            LEFT JOIN pushmta_engine.application a ON a.id = r.application_id
            LEFT JOIN pushmta_engine.external_account e ON e.id = r.external_account_id
            WHERE r.delivery_id IS NULL AND r.messages_per_second < 'Infinity'
            ORDER BY 1, 2
            """
        )
        return try all(result) { row in
            EngineFigures.Quota(
                scope: try row.text(),
                name: try row.text(),
                currentRate: try row.double(),
                granted: try row.int64()
            )
        }
    }

    /// A day of a continuous delivery goes as that one does.
    private func deliveryFigures() async throws -> [(state: String, count: Int64)] {
        let result = try await query(
            """
            SELECT count(*) FILTER (WHERE d.state = 'pending' AND d.wait_reason = ''),
                count(*) FILTER (WHERE d.state = 'preparing' AND d.wait_reason = ''),
                count(*) FILTER (WHERE d.state IN ('pending', 'preparing') AND d.wait_reason <> ''),
                count(*) FILTER (WHERE d.state = 'in_progress'), count(*) FILTER (WHERE d.state = 'paused'),
                (SELECT count(*) FROM pushmta_engine.delivery f
                    WHERE f.state = 'failed' AND f.finished_at > now() - interval '1 hour')
            FROM pushmta_engine.delivery d
            WHERE d.state IN ('pending', 'preparing', 'in_progress', 'paused')
                AND (d.kind <> 'continuous' OR d.parent_delivery_id IS NULL)
            """
        )
        let states = ["pending", "preparing", "waiting", "in_progress", "paused", "failed"]
        return try result.one { row in try states.map { state in (state: state, count: try row.int64()) } }
    }

    private func generalFigures() async throws -> (isActing: Bool, tokenEventSeconds: Double, holds: Int64) {
        let result = try await query(
            """
            SELECT pushmta_engine.feedback_is_acting($1 * interval '1 second'),
                coalesce(extract(epoch FROM clock_timestamp() - least(
                    (SELECT e.created_at FROM pushmta_engine.token_event e
                        WHERE e.state = 'pending' AND e.kind = 'invalid' ORDER BY e.id LIMIT 1),
                    (SELECT e.created_at FROM pushmta_engine.token_event e
                        WHERE e.state = 'pending' AND e.kind IN ('canonical', 'soft_error', 'success') ORDER BY e.id LIMIT 1)
                )), 0)::double precision,
                (SELECT count(*) FROM pushmta.retention_hold h WHERE h.held)
            """,
            [.int32(Int32(Self.feedbackSilenceSeconds))]
        )
        return try result.one { row in (try row.bool(), max(0, try row.double()), try row.int64()) }
    }
}
