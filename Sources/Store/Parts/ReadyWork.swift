import PostgresClient
import PushCore

/// Due parts that wait for a child of one kind.
package struct ReadyWork: Sendable, Hashable {
    package let kind: ChildKind
    /// Number of parts that can be claimed now.
    package let readyParts: Int
    /// Messages in those parts.
    package let readyMessages: Int64
    /// The greatest priority among them.
    package let highestPriority: Int16
    /// Seconds since the oldest of them became due.
    package let oldestSeconds: Double
}

/// Due messages that wait for children, as monitoring shows them.
package struct WaitingWork: Sendable, Hashable {
    package let application: String
    package let account: String
    package let connector: Connector
    /// Parts that are due.
    package let parts: Int64
    /// Messages in those parts.
    package let messages: Int64
    /// The greatest priority among them.
    package let highestPriority: Int16
    /// Seconds since the oldest of them became due.
    package let oldestSeconds: Double
}

extension Store {
    /// The work that waits for children now, by application and account.
    ///
    /// For an application whose circuit is open, or whose gateway is in trouble, it is one part when the next probe is
    /// due, and nothing before.
    ///
    /// - Parameter limit: the maximum number of parts to count for each kind and priority, so that the cost does not
    ///   grow with the number of parts.
    package func readyWork(countingAtMost limit: Int32 = .max) async throws -> [ReadyWork] {
        let result = try await query(Self.readyWorkSQL, [.int32(limit)])
        return try all(result) { row in
            ReadyWork(
                kind: try Self.childKind(&row),
                readyParts: Int(try row.int64()),
                readyMessages: try row.int64(),
                highestPriority: try row.int16(),
                oldestSeconds: try row.double()
            )
        }
    }

    /// Due work that waits for children, by application and account, whatever delays it; monitoring rights suffice.
    package func waitingWork() async throws -> [WaitingWork] {
        let result = try await query(
            """
            SELECT w.application, w.account, w.connector, w.parts, w.messages, w.highest_priority, w.oldest_seconds FROM pushmta.ready_work w
            ORDER BY w.highest_priority DESC, w.oldest_seconds DESC, w.application, w.account
            """
        )
        return try all(result) { row in
            WaitingWork(
                application: try row.text(),
                account: try row.text(),
                connector: try row.choice(),
                parts: try row.int64(),
                messages: try row.int64(),
                highestPriority: try row.int16(),
                oldestSeconds: try row.double()
            )
        }
    }

    /// The kinds and priorities that have ready parts, found by stepping through the index of claims from one to the
    /// next.
    private static let kindsCTE = """
        WITH RECURSIVE kind AS (
            (SELECT p.application_id, p.external_account_id, p.priority FROM pushmta_engine.delivery_part p WHERE p.state = 'ready'
                ORDER BY p.application_id, p.external_account_id, p.priority DESC LIMIT 1)
            UNION ALL
            SELECT n.application_id, n.external_account_id, n.priority FROM kind k CROSS JOIN LATERAL (
                (SELECT p.application_id, p.external_account_id, p.priority FROM pushmta_engine.delivery_part p
                    WHERE p.state = 'ready' AND p.application_id = k.application_id AND p.external_account_id = k.external_account_id
                        AND p.priority < k.priority ORDER BY p.priority DESC LIMIT 1)
                UNION ALL
                (SELECT p.application_id, p.external_account_id, p.priority FROM pushmta_engine.delivery_part p
                    WHERE p.state = 'ready' AND p.application_id = k.application_id AND p.external_account_id > k.external_account_id
                    ORDER BY p.external_account_id, p.priority DESC LIMIT 1)
                UNION ALL
                (SELECT p.application_id, p.external_account_id, p.priority FROM pushmta_engine.delivery_part p
                    WHERE p.state = 'ready' AND p.application_id > k.application_id
                    ORDER BY p.application_id, p.external_account_id, p.priority DESC LIMIT 1)
                LIMIT 1) n
        )
        """

    /// Account and circuit are looked up once for each kind, not for each part.
    static let readyWorkSQL = """
        \(kindsCTE)
        SELECT w.application_id, w.external_account_id, e.connector,
            CASE WHEN h.application_id IS NULL AND t.application_id IS NULL THEN w.parts ELSE 1 END, w.messages, w.priority,
            extract(epoch FROM now() - w.oldest)::double precision
        FROM (
            SELECT k.application_id, k.external_account_id, count(*) AS parts, sum(p.size)::bigint AS messages,
                max(k.priority) AS priority, min(p.not_before) AS oldest
            FROM kind k CROSS JOIN LATERAL (
                SELECT q.size, q.not_before FROM pushmta_engine.delivery_part q
                WHERE q.state = 'ready' AND q.application_id = k.application_id AND q.external_account_id = k.external_account_id
                    AND q.priority = k.priority AND q.not_before <= now()
                ORDER BY q.not_before LIMIT $1) p
            GROUP BY k.application_id, k.external_account_id
        ) w
        JOIN pushmta_engine.external_account e ON e.id = w.external_account_id
        LEFT JOIN pushmta_engine.application_health h ON h.application_id = w.application_id AND \(CircuitSQL.isOpen)
        LEFT JOIN pushmta_engine.gateway_trouble t ON t.application_id = w.application_id
            AND t.external_account_id = w.external_account_id AND \(TroubleSQL.isTrouble)
        WHERE e.active AND (h.application_id IS NULL OR h.next_probe_at <= now()) 
            AND (t.application_id IS NULL OR \(TroubleSQL.isDue)
                AND NOT \(TroubleSQL.hasChild(application: "w.application_id", account: "w.external_account_id")))
        ORDER BY w.priority DESC, w.oldest
        """

    /// Messages of due, unclaimed parts, of the priority of single messages and below it, by application, whatever
    /// delays the parts.
    ///
    /// - Parameter limit: the maximum number of parts to count for each kind and priority.
    func queueFigures(countingAtMost limit: Int32) async throws -> [EngineFigures.Queue] {
        try all(try await query(Self.queueFiguresSQL, [.int32(limit)])) { row in
            EngineFigures.Queue(
                application: try row.text(),
                isTransactional: try row.bool(),
                messages: try row.int64(),
                claimed: try row.int64(),
                oldestSeconds: try row.double(),
                isPartial: try row.bool()
            )
        }
    }

    /// Single messages have at least priority 50, so that they pass deliveries.
    static let queueFiguresSQL = """
        \(kindsCTE), waiting AS (
            SELECT k.application_id, k.priority, p.messages, 0 AS claimed, p.oldest, p.parts >= $1 AS partial
            FROM kind k CROSS JOIN LATERAL (
                SELECT count(*) AS parts, sum(c.size) AS messages, min(c.not_before) AS oldest FROM (
                    SELECT q.size, q.not_before FROM pushmta_engine.delivery_part q
                    WHERE q.state = 'ready' AND q.application_id = k.application_id AND q.external_account_id = k.external_account_id
                        AND q.priority = k.priority AND q.not_before <= now()
                    ORDER BY q.not_before LIMIT $1) c) p
            WHERE p.parts > 0
            UNION ALL
            -- -- Claimed messages wait too, for example for a rate. A child holds at most a few hundred parts.
            SELECT c.application_id, c.priority, 0, sum(c.rest), min(c.not_before), false
            FROM (SELECT q.application_id, q.priority, q.not_before, q.size - q.handed_over - q.sent - q.failed - q.ignored
                    - q.not_applicable - q.canceled - q.unknown AS rest
                FROM pushmta_engine.delivery_part q WHERE q.state = 'claimed') c
            WHERE c.rest > 0
            GROUP BY c.application_id, c.priority
        )
        SELECT a.name, w.priority >= 50, sum(w.messages)::bigint, sum(w.claimed)::bigint,
            greatest(extract(epoch FROM clock_timestamp() - min(w.oldest)), 0)::double precision, bool_or(w.partial)
        FROM waiting w JOIN pushmta_engine.application a ON a.id = w.application_id
        GROUP BY a.name, w.priority >= 50
        """

    /// Whether any delivery is under way, is ending, or starts within the minute. If so, poll often, because a retry
    /// part or a scheduled start becomes due without a notification.
    package func hasOpenDeliveries() async throws -> Bool {
        try await query(
            """
            SELECT EXISTS (SELECT FROM pushmta_engine.delivery
                WHERE state IN ('analysing', 'preparing', 'in_progress') OR state = 'pending' AND start_at < now() + interval '1 minute'
                    OR state IN ('stopped', 'recalled') AND finished_at IS NULL)
            """
        ).one { try $0.bool() }
    }

    /// The kinds of children that deliveries may need, most recently used first: every application with an active
    /// account and a closed circuit.
    package func childKinds() async throws -> [ChildKind] {
        let result = try await query(
            """
            SELECT a.id, e.id, e.connector
            FROM pushmta_engine.application a JOIN pushmta_engine.external_account e ON e.id = a.external_account_id
            WHERE e.active AND NOT EXISTS (SELECT FROM pushmta_engine.application_health h
                WHERE h.application_id = a.id AND \(CircuitSQL.isOpen))
                AND NOT \(TroubleSQL.isTrouble(application: "a.id", account: "e.id"))
            ORDER BY (SELECT max(d.delivery_id) FROM pushmta_engine.delivery_application d WHERE d.application_id = a.id)
                DESC NULLS LAST, a.id
            """
        )
        return try all(result, Self.childKind)
    }

    static func childKind(_ row: inout RowReader) throws -> ChildKind {
        ChildKind(applicationID: try row.int32(), accountID: try row.int32(), connector: try row.choice())
    }

    /// Listens for wake-ups on its own connection.
    package func listen() async throws -> WakeUpListener {
        let listener = WakeUpListener(configuration: configuration, onEvent: onEvent)
        try await listener.start()
        return listener
    }
}
