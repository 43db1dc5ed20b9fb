import PostgresClient
import PushCore

extension Store {
    /// What waits for children now, by application and routing.
    public func readyWork() async throws -> [ReadyWork] {
        let result = try await query(Self.readyWorkSQL)
        return try all(result) { rows, row in
            ReadyWork(
                applicationID: try rows.int32(row, 0),
                accountID: try rows.int32(row, 1),
                connector: try choice(rows, row, 2),
                readyParts: Int(try rows.int64(row, 3)),
                readyMessages: try rows.int64(row, 4),
                highestPriority: try rows.int16(row, 5),
                oldestSeconds: try rows.double(row, 6)
            )
        }
    }

    static let readyWorkSQL = """
        SELECT p.application_id, p.external_account_id, e.connector, count(*), sum(p.size)::bigint, max(p.priority),
            extract(epoch FROM now() - min(p.not_before))::double precision
        FROM pushmta_engine.delivery_part p
        JOIN pushmta_engine.external_account e ON e.id = p.external_account_id
        WHERE p.state = 'ready' AND p.not_before <= now() AND e.active
        GROUP BY p.application_id, p.external_account_id, e.connector
        ORDER BY max(p.priority) DESC, min(p.not_before)
        """

    /// Whether any delivery is under way or begins within the minute: then poll often, since a retry part or a scheduled
    /// start comes due without a notification.
    public func hasOpenDeliveries() async throws -> Bool {
        try await query(
            """
            SELECT EXISTS (SELECT FROM pushmta_engine.delivery
                WHERE state IN ('preparing', 'in_progress') OR state = 'pending' AND start_at < now() + interval '1 minute')
            """
        ).bool(0, 0)
    }

    /// The kinds of children that deliveries may ask for, most recently used first: every application with an active account.
    public func childKinds() async throws -> [ChildKind] {
        let result = try await query(
            """
            SELECT a.id, e.id, e.connector
            FROM pushmta_engine.application a JOIN pushmta_engine.external_account e ON e.id = a.external_account_id
            WHERE e.active
            ORDER BY (SELECT max(d.delivery_id) FROM pushmta_engine.delivery_application d WHERE d.application_id = a.id)
                DESC NULLS LAST, a.id
            """
        )
        return try all(result) { rows, row in
            ChildKind(
                applicationID: try rows.int32(row, 0),
                accountID: try rows.int32(row, 1),
                connector: try choice(rows, row, 2)
            )
        }
    }

    /// Listens for wake-ups on a connection of its own.
    public func listen() async throws -> WakeUpListener {
        let listener = WakeUpListener(configuration: configuration)
        try await listener.start()
        return listener
    }
}
