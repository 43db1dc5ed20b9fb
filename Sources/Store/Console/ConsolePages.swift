import PostgresClient
import PushCore

public struct OutcomeMinute: Sendable, Hashable {
    /// Minutes of the clock before the present one: 0 is the one that is not over.
    public let age: Int
    /// Messages that the gateway accepted.
    public let sent: Int64
    /// Messages refused for good.
    public let failed: Int64
    /// All others: ignored, not applicable, canceled, unknown.
    public let other: Int64

    public init(age: Int, sent: Int64, failed: Int64, other: Int64) {
        self.age = age
        self.sent = sent
        self.failed = failed
        self.other = other
    }
}

/// Outcomes of the last hour, by the minute in which their part ended.
public struct OutcomeHour: Sendable, Hashable {
    /// Minutes that have any, the newest first.
    public let minutes: [OutcomeMinute]
    /// Whether there were more parts than are counted.
    public let isPartial: Bool

    public init(minutes: [OutcomeMinute], isPartial: Bool) {
        self.minutes = minutes
        self.isPartial = isPartial
    }
}

/// Which deliveries a list shows.
public struct DeliveryFilter: Sendable, Hashable {
    /// Those of one state; nil for all.
    public var state: DeliveryState?
    /// Those to one application, by its name; "" for all.
    public var application: String
    /// Those whose label has this text, in capitals or not; "" for all.
    public var text: String
    /// Those with a lower id.
    public var below: Int64

    public init(state: DeliveryState? = nil, application: String = "", text: String = "", below: Int64 = .max) {
        self.state = state
        self.application = application
        self.text = text
        self.below = below
    }
}

/// A page of a list of deliveries.
public struct DeliveryPage: Sendable {
    /// The deliveries, the newest first.
    public let rows: [DeliveryProgress]
    /// The names of the applications of each.
    public let applications: [Int64: [String]]
    /// Where to look on: below this id; nil if nothing older is left.
    public let next: Int64?
    /// Whether the page is short only because enough was looked at for once.
    public let isCut: Bool
}

/// How often something was counted, and whether counting was stopped there.
public struct BoundedCount: Sendable, Hashable {
    /// What was counted.
    public let name: String
    /// How many, at least.
    public let count: Int64
}

/// What devices told of a delivery's messages.
public struct DeliveryFunnel: Sendable, Hashable {
    /// Messages that a device has received, as far as it said so.
    public let received: Int64
    /// Messages that somebody has clicked on.
    public let clicked: Int64
}

/// How the messages of a delivery to one application ended, and what its devices told.
public struct ApplicationOutcomes: Sendable, Hashable {
    /// The application's name; "" where it is not known any more.
    public let application: String
    /// Messages that the gateway accepted.
    public let sent: Int64
    /// Messages refused for good.
    public let failed: Int64
    /// All others that have ended.
    public let other: Int64
    /// Messages that a device has received.
    public let received: Int64
    /// Messages that somebody has clicked on.
    public let clicked: Int64
}

/// Messages of a delivery that ended in the same way for the same reason.
public struct FailureCount: Sendable, Hashable {
    /// The application's name; "" where it is not known any more.
    public let application: String
    public let status: String
    /// The kind of failure, in Adobe Campaign's words; "" for what is none.
    public let kind: String
    /// The reason, word for word; "" if none was given.
    public let reason: String
    public let count: Int64
}

extension Store {
    /// So many parts are counted for the chart, at most: some 100 milliseconds, and those of 50 million messages.
    private static let mostParts: Int64 = 50_000
    /// How long a page of the list looks through deliveries that do not fit.
    public static let listLimit = Duration.milliseconds(150)
    /// So many people that were left out are counted, at most: some 20 milliseconds.
    private static let mostExclusions: Int64 = 50_000

    /// The outcomes of the last hour, of deliveries that are open or ended in it.
    public func outcomesOfLastHour() async throws -> OutcomeHour {
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
            [.int64(Self.mostParts)]
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
        return OutcomeHour(minutes: minutes, isPartial: parts >= Self.mostParts)
    }

    /// Messages that are due and wait, by application, with the oldest of them; counted as far as it costs nothing.
    public func waitingMessages() async throws -> [EngineFigures.Queue] {
        try await queueFigures(countingAtMost: 1_000)
    }

    /// Deliveries that were started and have not ended, those first that go first.
    public func openDeliveries(most: Int) async throws -> [DeliveryProgress] {
        let found = try await query(
            """
            SELECT d.id FROM pushmta_engine.delivery d
            WHERE d.state IN ('pending', 'preparing', 'in_progress', 'paused') AND d.parent_delivery_id IS NULL
            ORDER BY d.priority DESC, d.start_at, d.id LIMIT $1
            """,
            [.int64(Int64(most))]
        )
        return try await pageRows(try all(found) { row in try row.int64() }).rows
    }

    /// A page of the list of deliveries, days of continuous ones left out, the newest first.
    ///
    /// A state and an application have indexes of their own. Of a text there is none: labels are looked through as long as a page may
    /// take, and the page says so.
    public func deliveryPage(_ filter: DeliveryFilter, most: Int, within limit: Duration = listLimit) async throws
        -> DeliveryPage
    {
        let deadline = ContinuousClock.now.advanced(by: limit)
        var ids: [Int64] = []
        var lowest: Int64? = filter.below
        repeat {
            let found = try await query(
                DeliveryListSQL(filter: filter).sql,
                [
                    .int64(lowest ?? 0), .textOrNull(filter.state?.rawValue), .text(filter.text),
                    .text(filter.application), .int64(Int64(most + 1 - ids.count)),
                ]
            )
            let seen = try all(found) { row in (id: try row.int64OrNil(), lowest: try row.int64OrNil()) }
            ids += seen.compactMap(\.id)
            lowest = seen.first?.lowest
        } while ids.count <= most && lowest != nil && ContinuousClock.now < deadline
        // One more than asked for tells whether there are more.
        let isFull = ids.count > most
        if isFull { ids.removeLast(ids.count - most) }
        let page = try await pageRows(ids)
        return DeliveryPage(
            rows: page.rows,
            applications: page.applications,
            next: isFull ? ids.last : lowest,
            isCut: !isFull && lowest != nil
        )
    }

    private func pageRows(_ ids: [Int64]) async throws -> (rows: [DeliveryProgress], applications: [Int64: [String]]) {
        let rows = try await query(
            "SELECT \(Self.progressColumns) FROM pushmta.delivery_progress p WHERE p.id = ANY($1) ORDER BY p.id DESC",
            [.int64Array(ids)]
        )
        return (try all(rows, Self.progress), try await applicationNames(ofDeliveries: ids))
    }

    /// The names of the applications that each of some deliveries goes to.
    public func applicationNames(ofDeliveries ids: [Int64]) async throws -> [Int64: [String]] {
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
    public func applicationNames() async throws -> [String] {
        try all(try await query("SELECT a.name FROM pushmta_engine.application a ORDER BY a.name")) { row in
            try row.text()
        }
    }

    /// Why people were left out of a delivery, the most frequent first; counted to a limit.
    ///
    /// - Returns: the counts, and whether there may be more.
    public func boundedExclusions(delivery id: Int64) async throws -> (counts: [BoundedCount], isPartial: Bool) {
        let result = try await query(
            """
            SELECT c.reason, count(*) FROM (
                SELECT e.reason FROM pushmta_engine.delivery d
                JOIN pushmta_engine.exclusion_log e ON e.log_day = d.log_day AND e.delivery_id = d.id WHERE d.id = $1 LIMIT $2
            ) c GROUP BY 1 ORDER BY 2 DESC, 1
            """,
            [.int64(id), .int64(Self.mostExclusions)]
        )
        let counts = try all(result) { row in
            BoundedCount(name: try row.text(), count: try row.int64())
        }
        return (counts, counts.reduce(0) { $0 + $1.count } >= Self.mostExclusions)
    }
}

/// The statement that looks through deliveries for those of a filter, a window of them by the index that leaves the fewest.
///
/// Parameters: the id below which to look, state, text, application, how many to find. Each row has an id and where to look on; a
/// last one has no id.
struct DeliveryListSQL {
    /// What it is made for.
    let filter: DeliveryFilter

    /// So many deliveries are looked at in one step, some 10 milliseconds; where the index answers all, no more than a page has, and the
    /// days between.
    private var window: Int { filter.text.isEmpty && !(isByState && !filter.application.isEmpty) ? 500 : 5_000 }

    /// Nearly all are finished: of these, those of an application are fewer.
    private var isByApplication: Bool {
        !filter.application.isEmpty && (filter.state == nil || filter.state == .finished)
    }

    private var isByState: Bool { filter.state != nil && !isByApplication }

    /// The statement. The window is no parameter, as a plan that is kept would take it for a tenth of all.
    var sql: String {
        """
        WITH looked AS MATERIALIZED (
            \(looked) LIMIT \(window)
        ), place AS (
            SELECT CASE WHEN count(*) = \(window) THEN min(l.id) END AS lowest FROM looked l
        )
        (SELECT l.id, (SELECT p.lowest FROM place p) FROM looked l
        WHERE ($3::text = '' OR strpos(lower(l.label), lower($3)) > 0)
            AND (SELECT ($2::text IS NULL OR d.state = $2) AND NOT (d.kind = 'continuous' AND d.parent_delivery_id IS NOT NULL)
                FROM pushmta_engine.delivery d WHERE d.id = l.id)
            AND \(isOfApplication)
        ORDER BY l.id DESC LIMIT $5)
        UNION ALL SELECT NULL, p.lowest FROM place p
        """
    }

    /// The state is no parameter: indexes of some states alone serve statements that name one of them.
    private var isInState: String { filter.state.map { "d.state = '\($0.rawValue)'" } ?? "true" }

    /// Nearly all are finished, and found by their ids.
    private var looked: String {
        if isByApplication {
            return """
                SELECT x.delivery_id AS id, (SELECT d.label FROM pushmta_engine.delivery d WHERE d.id = x.delivery_id) AS label
                    FROM pushmta_engine.delivery_application x
                    WHERE x.application_id = (SELECT a.id FROM pushmta_engine.application a WHERE a.name = $4) AND x.delivery_id < $1
                    ORDER BY x.delivery_id DESC
                """
        }
        // Where nobody asks for a label, none is read; the index of labels has those that are not empty.
        let label = filter.text.isEmpty ? "'' AS label" : "d.label"
        let condition = isByState ? isInState : filter.text.isEmpty ? "true" : "d.label <> ''"
        return
            "SELECT d.id, \(label) FROM pushmta_engine.delivery d WHERE \(condition) AND d.id < $1 ORDER BY d.id DESC"
    }

    private var isOfApplication: String {
        guard !isByApplication else { return "true" }
        return """
            ($4::text = '' OR EXISTS (SELECT FROM pushmta_engine.delivery_application x
                JOIN pushmta_engine.application a ON a.id = x.application_id WHERE x.delivery_id = l.id AND a.name = $4))
            """
    }
}

extension Store {
    /// What devices told of some deliveries together: one, or a continuous one with days of it.
    public func funnel(deliveries ids: [Int64]) async throws -> DeliveryFunnel {
        let result = try await query(
            """
            SELECT coalesce(sum(s.received_unique), 0)::bigint, coalesce(sum(s.clicked_unique), 0)::bigint
            FROM pushmta.delivery_statistics s WHERE s.delivery_id = ANY($1)
            """,
            [.int64Array(ids)]
        )
        return try result.one { row in DeliveryFunnel(received: try row.int64(), clicked: try row.int64()) }
    }

    /// How the messages of some deliveries to each application ended, by name.
    public func outcomesByApplication(deliveries ids: [Int64]) async throws -> [ApplicationOutcomes] {
        let result = try await query(
            """
            SELECT coalesce(s.application, ''), sum(s.sent)::bigint, sum(s.failed)::bigint,
                sum(s.ignored + s.not_applicable + s.canceled + s.unknown)::bigint, sum(s.received_unique)::bigint,
                sum(s.clicked_unique)::bigint
            FROM pushmta.delivery_statistics_by_application s WHERE s.delivery_id = ANY($1) GROUP BY 1 ORDER BY 1
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

    /// Why messages of some deliveries did not arrive, the most frequent first; those of parts that are done.
    public func failureCounts(deliveries ids: [Int64], most: Int) async throws -> [FailureCount] {
        let result = try await query(
            """
            SELECT coalesce(f.application, ''), f.status, concat_ws(', ', f.failure_type, f.failure_reason), f.reason,
                sum(f.messages)::bigint
            FROM pushmta.delivery_failures f WHERE f.delivery_id = ANY($1)
            GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC, 1, 2, 3, 4 LIMIT $2
            """,
            [.int64Array(ids), .int64(Int64(most))]
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
