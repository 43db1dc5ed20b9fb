import PostgresClient
import PushCore

/// Figures of the engine, for metrics: none by delivery, token or user, so that their number grows only with the
/// applications.
package struct EngineFigures: Sendable {
    /// Messages that wait for a child.
    package struct Queue: Sendable, Hashable {
        package let application: String
        /// Whether it is the queue of single messages.
        package let isTransactional: Bool
        /// Messages that are due, as far as they were counted.
        package let messages: Int64
        /// Messages without an outcome that a child has claimed: on their way, or waiting for a rate.
        package let claimed: Int64
        /// The age of the oldest due message, claimed or not, in seconds.
        package let oldestSeconds: Double
        /// Whether counting stopped, so that there may be more messages.
        package let isPartial: Bool
    }

    /// A supervisor's machine.
    package struct Host: Sendable, Hashable {
        package let id: String
        package let name: String
        /// `alive`, `late`, `gone` or `stopped`, as in `pushmta.mta_host`.
        package let health: String
        /// Whether a host of the same name, with a new folder of journals, has started since its last heartbeat.
        package let isReplaced: Bool
    }

    package struct Application: Sendable, Hashable {
        package let id: Int32
        package let name: String
        /// The connector of its account; nil without one.
        package let connector: Connector?
        /// Whether its circuit is open.
        package let isCircuitOpen: Bool
        /// The state of its account's gateway.
        package let trouble: Trouble
        /// Whether a rate of the application, its account or one of its deliveries limits its messages.
        package let isRateInUse: Bool
        /// Seconds until its credential expires, negative if it has; nil if it has none or one that does not expire.
        package let credentialSeconds: Double?
    }

    package enum Trouble: Int, Sendable, Hashable {
        /// It takes messages.
        case none = 0
        /// It takes messages again, at a growing rate.
        case opening = 1
        /// It takes no messages.
        case trouble = 2
    }

    /// A limit in messages a second; without those of deliveries.
    package struct Quota: Sendable, Hashable {
        /// `application`, `account` or `project`.
        package let scope: String
        package let name: String
        /// The present rate in messages a second.
        package let currentRate: Double
        /// Messages granted so far.
        package let granted: Int64
    }

    /// All hosts that ever reported, by name.
    package let hosts: [Host]
    /// Messages that wait.
    package let queues: [Queue]
    package let applications: [Application]
    /// All limits except those of deliveries.
    package let quotas: [Quota]
    /// Deliveries by state, including those that failed in the last hour.
    package let deliveries: [(state: String, count: Int64)]
    /// Whether a feedback worker is active.
    package let isFeedbackActing: Bool
    /// How long the oldest token event has waited, in seconds; 0 if none waits.
    package let tokenEventSeconds: Double
    /// Kinds of data that are held for a day before they are deleted.
    package let retentionHolds: Int64
    /// How long ago the consumer of events that is furthest behind had read everything, in seconds; 0 if all have.
    package let eventLagSeconds: Double
    /// The figures of the database itself.
    package let database: DatabaseFigures
}

extension Store {
    /// The maximum number of parts to count for each kind and priority, so that the cost does not grow with the number
    /// of parts.
    private static let maxParts: Int32 = 1_000

    /// Reads the figures of the engine for metrics, in some short statements.
    package func engineFigures() async throws -> EngineFigures {
        let general = try await generalFigures()
        return EngineFigures(
            hosts: try await hostFigures(),
            queues: try await queueFigures(countingAtMost: Self.maxParts),
            applications: try await applicationFigures(),
            quotas: try await quotaFigures(),
            deliveries: try await deliveryFigures(),
            isFeedbackActing: general.isActing,
            tokenEventSeconds: general.tokenEventSeconds,
            retentionHolds: general.holds,
            eventLagSeconds: general.eventLagSeconds,
            database: try await databaseFigures()
        )
    }

    /// Not from the view, which adds up the counters of all children, and they are many.
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

    /// A day is not counted, because it follows its continuous delivery.
    private func deliveryFigures() async throws -> [(state: String, count: Int64)] {
        let result = try await query(
            """
            SELECT count(*) FILTER (WHERE d.state = 'analysing' AND d.wait_reason = ''),
                count(*) FILTER (WHERE d.state = 'pending' AND d.wait_reason = ''),
                count(*) FILTER (WHERE d.state = 'preparing' AND d.wait_reason = ''),
                count(*) FILTER (WHERE d.state IN ('analysing', 'pending', 'preparing') AND d.wait_reason <> ''),
                count(*) FILTER (WHERE d.state = 'in_progress'), count(*) FILTER (WHERE d.state = 'paused')
            FROM pushmta_engine.delivery d
            WHERE d.state IN ('analysing', 'pending', 'preparing', 'in_progress', 'paused')
                AND (d.kind <> 'continuous' OR d.parent_delivery_id IS NULL)
            """
        )
        let states = ["analysing", "pending", "preparing", "waiting", "in_progress", "paused"]
        return try result.one { row in try states.map { state in (state: state, count: try row.int64()) } }
    }

    private func generalFigures() async throws -> (
        isActing: Bool, tokenEventSeconds: Double, holds: Int64, eventLagSeconds: Double
    ) {
        let result = try await query(
            """
            SELECT pushmta_engine.feedback_is_acting($1 * interval '1 second'),
                coalesce(extract(epoch FROM clock_timestamp() - least(
                    (SELECT e.created_at FROM pushmta_engine.token_event e
                        WHERE e.state = 'pending' AND e.kind = 'invalid' ORDER BY e.id LIMIT 1),
                    (SELECT e.created_at FROM pushmta_engine.token_event e
                        WHERE e.state = 'pending' AND e.kind IN ('canonical', 'soft_error', 'success') ORDER BY e.id LIMIT 1)
                )), 0)::double precision,
                (SELECT count(*) FROM pushmta.retention_hold h WHERE h.held),
                (SELECT coalesce(max(c.lag_seconds), 0) FROM pushmta.event_consumer c)
            """,
            [.int32(Int32(Self.feedbackSilenceSeconds))]
        )
        return try result.one { row in (try row.bool(), max(0, try row.double()), try row.int64(), try row.double()) }
    }
}
