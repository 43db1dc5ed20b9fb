import PostgresClient

/// The lock that keeps a delivery's state as it is while parts of it are made or given back.
///
/// It is a key share lock: part ends and preparation do not wait for each other, only for who pauses, resumes or ends the
/// delivery. It comes before every lock of a part. In front of it stands an advisory lock, as that one has a queue.
enum DeliveryLock {
    /// Locks the deliveries of parts until the end of the transaction.
    static func statement(parts: [Int64]) -> PostgresStatement {
        PostgresStatement(sql, [.int64Array(parts)])
    }

    static let sql = """
        WITH deliveries AS MATERIALIZED (
            SELECT DISTINCT p.delivery_id AS id FROM pushmta_engine.delivery_part p WHERE p.id = ANY($1::bigint[]) ORDER BY 1
        )
        SELECT d.id FROM pushmta_engine.delivery d
        WHERE d.id = ANY(ARRAY(SELECT id FROM deliveries)) AND \(turn(of: "deliveries"))
        ORDER BY d.id FOR KEY SHARE
        """

    /// The class of the advisory locks of deliveries; the number is arbitrary and ours. The other half of the key is the hash of
    /// the delivery: two of the same hash wait for each other now and then, no more.
    static let advisoryClass = 578_628_450

    /// A condition that holds as soon as it is this transaction's turn: whoever waits to pause or end one of the deliveries goes
    /// first. It is a scalar subquery, so it is evaluated once and before any row is locked.
    ///
    /// - Parameter deliveries: a relation with the deliveries' `id` in ascending order.
    static func turn(of deliveries: String) -> String {
        """
        (SELECT count(t.turn IS NULL) FROM (
            SELECT pg_advisory_xact_lock_shared(\(advisoryClass), hashint8(o.id))::text AS turn FROM \(deliveries) o OFFSET 0) t) >= 0
        """
    }

    /// The same for one who does not wait: it does not hold as long as somebody else's turn lasts or is asked for.
    static func freeTurn(of deliveries: String) -> String {
        """
        (SELECT bool_and(t.turn) FROM (
            SELECT pg_try_advisory_xact_lock_shared(\(advisoryClass), hashint8(o.id)) AS turn FROM \(deliveries) o OFFSET 0) t)
        """
    }

    /// The state of a part that nobody holds, by its delivery `d`.
    static let partState = "CASE WHEN d.state IN ('preparing', 'in_progress') THEN 'ready' ELSE 'waiting' END"
}
