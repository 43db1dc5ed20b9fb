import PostgresClient

/// The lock that keeps a delivery's state unchanged while parts of it are created or returned.
///
/// It is a key share lock: the end of parts and preparation do not wait for each other, only for a session that pauses,
/// resumes or ends the delivery. It comes before every lock of a part. Sessions queue for it in
/// `pushmta_engine.share_turn`.
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

    /// A condition that becomes true when it is this transaction's turn, or when it has waited long enough: sessions
    /// that wait to pause or end one of the deliveries go first. It is a scalar subquery, so it is evaluated once and
    /// before any row is locked.
    ///
    /// - Parameter deliveries: a relation with the deliveries' `id`.
    static func turn(of deliveries: String) -> String {
        "(SELECT pushmta_engine.share_turn(ARRAY(SELECT o.id FROM \(deliveries) o)) IS NOT NULL)"
    }

    /// The parts whose delivery another session has locked.
    static let lockedSQL = """
        WITH part AS MATERIALIZED (
            SELECT p.id, p.delivery_id FROM pushmta_engine.delivery_part p WHERE p.id = ANY($1::bigint[])
        ), free AS MATERIALIZED (
            SELECT d.id FROM pushmta_engine.delivery d WHERE d.id = ANY(ARRAY(SELECT p.delivery_id FROM part p))
            ORDER BY d.id FOR KEY SHARE SKIP LOCKED
        )
        SELECT p.id FROM part p WHERE p.delivery_id <> ALL(ARRAY(SELECT f.id FROM free f))
        """

    /// The state of an unclaimed part, by its delivery `d` and the part's time zone, if its plan has one.
    static func partState(timeZone: String) -> String {
        """
        CASE WHEN d.state NOT IN ('preparing', 'in_progress') THEN 'waiting' WHEN \(timeZone) IS NULL THEN 'ready' ELSE 'planned' END
        """
    }
}
