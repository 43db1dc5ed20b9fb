import PostgresClient
import PushCore

package struct OutcomeMinute: Sendable, Hashable {
    /// The age in minutes of the clock: 0 is the present, unfinished minute.
    package let age: Int
    /// Messages that the gateway accepted.
    package let sent: Int64
    /// Messages refused permanently.
    package let failed: Int64
    /// All others: ignored, not applicable, canceled, unknown.
    package let other: Int64

    package init(age: Int, sent: Int64, failed: Int64, other: Int64) {
        self.age = age
        self.sent = sent
        self.failed = failed
        self.other = other
    }
}

/// What devices reported about a delivery's messages.
package struct DeliveryFunnel: Sendable, Hashable {
    /// Messages that a device reported as received.
    package let received: Int64
    /// Messages that a user clicked on.
    package let clicked: Int64
}

/// The outcomes of a delivery's messages to one application, and what its devices reported.
package struct ApplicationOutcomes: Sendable, Hashable {
    /// The application's name; "" if no longer known.
    package let application: String
    /// Messages that the gateway accepted.
    package let sent: Int64
    /// Messages refused permanently.
    package let failed: Int64
    /// All others that have ended.
    package let other: Int64
    /// Messages that a device has received.
    package let received: Int64
    /// Messages that a user clicked on.
    package let clicked: Int64
}

/// Messages of a delivery with the same outcome and reason.
package struct FailureCount: Sendable, Hashable {
    /// The application's name; "" if no longer known.
    package let application: String
    package let status: String
    /// The kind of failure, in Adobe Campaign's terms; "" if it is not a failure.
    package let kind: String
    /// The reason, verbatim; "" if none was given.
    package let reason: String
    package let count: Int64
}

extension Store {
    /// The maximum number of parts counted for the chart: about 100 milliseconds, the parts of 50 million messages.
    private static let maxParts: Int64 = 50_000
    /// The maximum number of exclusions counted: about 20 milliseconds.
    private static let maxExclusions: Int64 = 50_000

    /// The outcomes of the last hour, of deliveries that are open or ended in that hour.
    package func outcomesOfLastHour() async throws -> OutcomeHour {
        let result = try await query(
            """
            SELECT count(*), (extract(epoch FROM date_trunc('minute', now()) - date_trunc('minute', c.finished_at)) / 60)::integer,
                coalesce(sum(c.sent), 0)::bigint, coalesce(sum(c.failed), 0)::bigint, coalesce(sum(c.other), 0)::bigint
            FROM (
                SELECT p.finished_at, p.sent, p.failed + CASE WHEN p.rest_status = 2 THEN p.size - p.handed_over - p.sent - p.failed
                        - p.ignored - p.not_applicable - p.canceled - p.unknown ELSE 0 END AS failed,
                    p.ignored + p.not_applicable + p.canceled + p.unknown + CASE WHEN p.rest_status IN (0, 7, 8, 9) THEN p.size
                        - p.handed_over - p.sent - p.failed - p.ignored - p.not_applicable - p.canceled - p.unknown ELSE 0 END AS other
                FROM (
                    SELECT d.id FROM pushmta_engine.delivery d WHERE d.state IN ('preparing', 'in_progress', 'paused')
                    UNION
                    SELECT d.id FROM pushmta_engine.delivery d WHERE d.finished_at > now() - interval '1 hour'
                ) d
                JOIN pushmta_engine.delivery_part p ON p.delivery_id = d.id AND p.state = 'done'
                    AND p.finished_at >= date_trunc('minute', now()) - interval '59 minutes' AND NOT p.folded
                LIMIT $1
            ) c
            GROUP BY 2 ORDER BY 2
            """,
            [.int64(Self.maxParts)]
        )
        var parts: Int64 = 0
        let minutes = try all(result) { row in
            parts += try row.int64()
            return OutcomeMinute(
                age: Int(try row.int32()),
                sent: try row.int64(),
                failed: try row.int64(),
                other: try row.int64()
            )
        }
        return OutcomeHour(minutes: minutes, isPartial: parts >= Self.maxParts)
    }

    /// Messages that are due and wait, by application, with the age of the oldest; counted as far as that is cheap.
    package func waitingMessages() async throws -> [EngineFigures.Queue] {
        try await queueFigures(countingAtMost: 1_000)
    }

    /// Deliveries that were started and have not ended, and those being analysed, in the order in which they are served.
    package func openDeliveries(limit: Int) async throws -> [DeliveryProgress] {
        let found = try await query(
            """
            SELECT d.id FROM pushmta_engine.delivery d
            WHERE d.state IN ('analysing', 'pending', 'preparing', 'in_progress', 'paused') AND d.parent_delivery_id IS NULL
            ORDER BY d.priority DESC, d.start_at, d.id LIMIT $1
            """,
            [.int64(Int64(limit))]
        )
        return try await pageRows(try all(found) { row in try row.int64() }).rows
    }

    /// Deliveries, the highest id first, and the names of the applications of each.
    func pageRows(_ ids: [Int64]) async throws -> (rows: [DeliveryProgress], applications: [Int64: [String]]) {
        let rows = try await query(
            "SELECT \(Self.progressColumns) FROM pushmta.delivery_progress p WHERE p.id = ANY($1) ORDER BY p.id DESC",
            [.int64Array(ids)]
        )
        return (try all(rows, Self.progress), try await applicationNames(ofDeliveries: ids))
    }

    /// The names of each delivery's applications.
    package func applicationNames(ofDeliveries ids: [Int64]) async throws -> [Int64: [String]] {
        let result = try await query(
            """
            SELECT x.delivery_id, a.name FROM pushmta_engine.delivery_application x
            JOIN pushmta_engine.application a ON a.id = x.application_id WHERE x.delivery_id = ANY($1) ORDER BY 1, 2
            """,
            [.int64Array(ids)]
        )
        var names: [Int64: [String]] = [:]
        try result.each { row in
            let delivery = try row.int64()
            names[delivery, default: []].append(try row.text())
        }
        return names
    }

    /// The names of all applications.
    package func applicationNames() async throws -> [String] {
        try all(try await query("SELECT a.name FROM pushmta_engine.application a ORDER BY a.name")) { row in
            try row.text()
        }
    }

    /// Why people were left out of a delivery, most frequent reason first; counted up to a limit.
    ///
    /// - Returns: the counts, and whether there may be more.
    package func boundedExclusions(delivery id: Int64) async throws -> (counts: [BoundedCount], isPartial: Bool) {
        let result = try await query(
            """
            SELECT c.reason, count(*) FROM (
                SELECT e.reason FROM pushmta_engine.delivery d
                JOIN pushmta_engine.exclusion_log e ON e.log_day = d.log_day AND e.delivery_id = d.id WHERE d.id = $1 LIMIT $2
            ) c GROUP BY 1 ORDER BY 2 DESC, 1
            """,
            [.int64(id), .int64(Self.maxExclusions)]
        )
        let counts = try all(result) { row in
            BoundedCount(name: try row.text(), count: try row.int64())
        }
        return (counts, counts.reduce(0) { $0 + $1.count } >= Self.maxExclusions)
    }
}

extension Store {
    /// What devices reported about some deliveries together: one, or a continuous one with its days.
    package func funnel(deliveries ids: [Int64]) async throws -> DeliveryFunnel {
        let result = try await query(
            """
            SELECT coalesce(sum(s.received_unique), 0)::bigint, coalesce(sum(s.clicked_unique), 0)::bigint
            FROM pushmta.delivery_statistics s WHERE s.delivery_id = ANY($1)
            """,
            [.int64Array(ids)]
        )
        return try result.one { row in DeliveryFunnel(received: try row.int64(), clicked: try row.int64()) }
    }

    /// The outcomes of some deliveries' messages, by name of the application: those of the statistics, and those of parts
    /// that are not counted there yet.
    package func outcomesByApplication(deliveries ids: [Int64]) async throws -> [ApplicationOutcomes] {
        let result = try await query(
            """
            SELECT coalesce(s.application, ''), sum(s.sent)::bigint, sum(s.failed)::bigint, sum(s.other)::bigint,
                sum(s.received)::bigint, sum(s.clicked)::bigint
            FROM (
                SELECT s.application, s.sent, s.failed, s.ignored + s.not_applicable + s.canceled + s.unknown AS other,
                    s.received_unique AS received, s.clicked_unique AS clicked
                FROM pushmta.delivery_statistics_by_application s WHERE s.delivery_id = ANY($1)
                UNION ALL
                SELECT a.name, p.sent, p.failed + CASE WHEN p.rest_status = 2 THEN r.rest ELSE 0 END,
                    p.ignored + p.not_applicable + p.canceled + p.unknown
                        + CASE WHEN p.rest_status <> 2 THEN r.rest ELSE 0 END, 0, 0
                FROM pushmta_engine.open_part p JOIN pushmta_engine.application a ON a.id = p.application_id
                CROSS JOIN LATERAL (SELECT p.size - p.handed_over - p.sent - p.failed - p.ignored - p.not_applicable
                    - p.canceled - p.unknown AS rest) r
                WHERE p.delivery_id = ANY($1)
            ) s GROUP BY 1 HAVING sum(s.sent + s.failed + s.other + s.received + s.clicked) > 0 ORDER BY 1
            """,
            [.int64Array(ids)]
        )
        return try all(result) { row in
            ApplicationOutcomes(
                application: try row.text(),
                sent: try row.int64(),
                failed: try row.int64(),
                other: try row.int64(),
                received: try row.int64(),
                clicked: try row.int64()
            )
        }
    }

    /// Why messages of some deliveries failed, most frequent reason first; from parts that are done.
    package func failureCounts(deliveries ids: [Int64], limit: Int) async throws -> [FailureCount] {
        let result = try await query(
            """
            SELECT coalesce(f.application, ''), f.status, concat_ws(', ', f.failure_type, f.failure_reason), f.reason,
                sum(f.messages)::bigint
            FROM pushmta.delivery_failures f WHERE f.delivery_id = ANY($1)
            GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC, 1, 2, 3, 4 LIMIT $2
            """,
            [.int64Array(ids), .int64(Int64(limit))]
        )
        return try all(result) { row in
            FailureCount(
                application: try row.text(),
                status: try row.text(),
                kind: try row.text(),
                reason: try row.text(),
                count: try row.int64()
            )
        }
    }
}
