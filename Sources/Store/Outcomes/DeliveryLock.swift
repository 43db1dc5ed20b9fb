import PostgresClient

/// The lock that keeps a delivery's state as it is while parts of it are made or given back.
///
/// It is a key share lock: part ends and preparation do not wait for each other, only for who pauses, resumes or ends the
/// delivery. It comes before every lock of a part.
enum DeliveryLock {
    /// Locks the deliveries of parts until the end of the transaction.
    static func statement(parts: [Int64]) -> PostgresStatement {
        PostgresStatement(sql, [.int64Array(parts)])
    }

    static let sql = """
        SELECT d.id FROM pushmta_engine.delivery d
        WHERE d.id = ANY(ARRAY(SELECT DISTINCT p.delivery_id FROM pushmta_engine.delivery_part p WHERE p.id = ANY($1::bigint[])))
        ORDER BY d.id FOR KEY SHARE
        """

    /// The state of a part that nobody holds, by its delivery `d`.
    static let partState = "CASE WHEN d.state IN ('preparing', 'in_progress') THEN 'ready' ELSE 'waiting' END"
}
