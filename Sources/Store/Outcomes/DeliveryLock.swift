import PostgresClient

/// The lock that keeps a delivery's state as it is while parts of it are made or given back.
///
/// It is a key share lock: part ends and preparation do not wait for each other, only for who pauses, resumes or ends the
/// delivery. It comes before every lock of a part. In front of it stands a queue (`pushmta_engine.share_turn`).
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

    /// A condition that holds as soon as it is this transaction's turn, or it has waited long enough: sessions that wait to pause or end
    /// one of the deliveries go first. It is a scalar subquery, so it is evaluated once and before any row is locked.
    ///
    /// - Parameter deliveries: a relation with the deliveries' `id`.
    static func turn(of deliveries: String) -> String {
        "(SELECT pushmta_engine.share_turn(ARRAY(SELECT o.id FROM \(deliveries) o)) IS NOT NULL)"
    }

    /// The parts of which another session has locked the delivery.
    static let lockedSQL = """
        WITH part AS MATERIALIZED (
            SELECT p.id, p.delivery_id FROM pushmta_engine.delivery_part p WHERE p.id = ANY($1::bigint[])
        ), free AS MATERIALIZED (
            SELECT d.id FROM pushmta_engine.delivery d WHERE d.id = ANY(ARRAY(SELECT p.delivery_id FROM part p))
            ORDER BY d.id FOR KEY SHARE SKIP LOCKED
        )
        SELECT p.id FROM part p WHERE p.delivery_id <> ALL(ARRAY(SELECT f.id FROM free f))
        """

    /// The state of a part that nobody holds, by its delivery `d`.
    static let partState = "CASE WHEN d.state IN ('preparing', 'in_progress') THEN 'ready' ELSE 'waiting' END"
}
