import PostgresClient

extension Store {
    /// The unfinished deliveries, or one of them, with the inactive external accounts that their messages would go over.
    public func inactiveAccounts(delivery: Int64? = nil) async throws -> [InactiveAccount] {
        let result = try await query(
            """
            SELECT DISTINCT d.id, e.name FROM pushmta_engine.delivery d
            JOIN pushmta_engine.delivery_application x ON x.delivery_id = d.id
            JOIN pushmta_engine.external_account e ON e.id = x.external_account_id
            WHERE d.state IN ('pending', 'preparing', 'in_progress') AND NOT e.active AND ($1::bigint IS NULL OR d.id = $1)
                AND (d.state <> 'in_progress' OR EXISTS (SELECT FROM pushmta_engine.delivery_part p
                    WHERE p.delivery_id = d.id AND p.external_account_id = e.id AND p.state <> 'done'))
            ORDER BY d.id, e.name
            """,
            [.int64OrNull(delivery)]
        )
        return try all(result) { rows, row in
            InactiveAccount(deliveryID: try rows.int64(row, 0), account: try rows.text(row, 1))
        }
    }
}
