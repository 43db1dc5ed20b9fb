import PostgresClient

extension Store {
    /// The deliveries that wait because somebody else's view cannot be read, or one of them with its days.
    public func waitingDeliveries(delivery: Int64? = nil) async throws -> [WaitingDelivery] {
        let result = try await query(Self.waitingSQL, [.int64OrNull(delivery)])
        return try all(result) { rows, row in
            WaitingDelivery(
                deliveryID: try rows.int64(row, 0),
                reason: try rows.text(row, 1),
                messages: try rows.int64OrNil(row, 2)
            )
        }
    }

    /// Of several reasons one is shown, always the same: who puts that right sees the next. A part that was sent in part was loaded.
    static let waitingSQL = """
        SELECT w.id, w.reason, w.messages FROM (
            SELECT d.id, d.wait_reason AS reason, NULL::bigint AS messages FROM pushmta_engine.delivery d
            WHERE d.state IN ('pending', 'preparing') AND d.wait_reason <> ''
            UNION ALL
            SELECT p.delivery_id, max(p.load_error), sum(p.size - (\(StatusCounts.sumSQL)) - p.handed_over)::bigint
            FROM pushmta_engine.delivery_part p
            WHERE p.load_failures > 0 AND p.state <> 'done' AND p.dispatch_mark = 0
            GROUP BY p.delivery_id
        ) w JOIN pushmta_engine.delivery d ON d.id = w.id
        WHERE d.state IN ('pending', 'preparing', 'in_progress')
            AND ($1::bigint IS NULL OR d.id = $1 OR d.parent_delivery_id = $1 AND d.kind = 'continuous')
        ORDER BY w.id, w.messages NULLS FIRST
        """
}
