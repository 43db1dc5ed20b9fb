import PostgresClient
import PushCore

extension Store {
    /// Disables the subscriptions of refused tokens, unless they were registered anew since or the application's token effects
    /// are held. Any number of hosts may call it at once; it waits for nobody.
    ///
    /// - Parameter limit: events at most; call again at once when as many were decided.
    /// - Returns: the number of events decided.
    @discardableResult
    public func applyTokenEvents(limit: Int = 1000) async throws -> Int {
        let pending = try await query(Self.pendingTokenEventSQL)
        guard try pending.bool(0, 0) else { return 0 }
        let result = try await query(
            "SELECT pushmta_engine.apply_token_events($1)",
            [.int32(Int32(clamping: limit))]
        )
        return Int(try result.int32(0, 0))
    }

    static let pendingTokenEventSQL = """
        SELECT EXISTS (SELECT FROM pushmta_engine.token_event WHERE state = 'pending' AND kind = 'invalid')
        """

    /// Takes back what the answers to a delivery's messages did to tokens; returns the number of events.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    @discardableResult
    public func undoTokenEvents(delivery id: Int64) async throws -> Int {
        Int(try await query("SELECT pushmta.undo_token_effects($1)", [.int64(id)]).int64(0, 0))
    }

    /// Refused tokens by delivery and reason, of the newest deliveries first.
    ///
    /// - Parameter delivery: nil for all deliveries.
    public func tokenEventCounts(delivery: Int64? = nil, limit: Int = 50) async throws -> [TokenEventCount] {
        let states = ["pending", "held", "applied", "undone", "outdated"]
        let counts = states.map { "count(*) FILTER (WHERE e.state = '\($0)')" }.joined(separator: ", ")
        let result = try await query(
            """
            SELECT e.delivery_id, a.name, e.reason, \(counts)
            FROM pushmta_engine.token_event e JOIN pushmta_engine.application a ON a.id = e.application_id
            WHERE e.kind = 'invalid' AND ($1::bigint IS NULL OR e.delivery_id = $1)
            GROUP BY e.delivery_id, a.name, e.reason
            ORDER BY e.delivery_id DESC NULLS LAST, a.name, count(*) DESC, e.reason LIMIT $2
            """,
            [.int64OrNull(delivery), .int64(Int64(limit))]
        )
        return try all(result) { rows, row in
            TokenEventCount(
                deliveryID: try rows.int64OrNil(row, 0),
                application: try rows.text(row, 1),
                reason: try rows.text(row, 2),
                pending: try rows.int64(row, 3),
                held: try rows.int64(row, 4),
                applied: try rows.int64(row, 5),
                undone: try rows.int64(row, 6),
                outdated: try rows.int64(row, 7)
            )
        }
    }
}
