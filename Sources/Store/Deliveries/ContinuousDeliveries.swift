import PostgresClient
import PushCore

extension Store {
    /// The days of a continuous delivery with their counts, newest first.
    ///
    /// - Parameters:
    ///   - below: only days with a lower id.
    ///   - limit: the maximum number.
    package func days(ofDelivery id: Int64, below: Int64 = .max, limit: Int = .max) async throws -> [DeliveryDay] {
        let result = try await query(
            """
            SELECT d.day_id, d.log_day, d.state, d.target, d.pending, d.sent, d.failed, d.ignored, d.not_applicable, d.canceled,
                d.unknown, d.waiting_reason
            FROM pushmta.delivery_day d WHERE d.delivery_id = $1 AND d.day_id < $2 ORDER BY d.day_id DESC LIMIT $3
            """,
            [.int64(id), .int64(below), .int64(Int64(limit))]
        )
        let statuses: [MessageStatus] = [.pending, .sent, .failed, .ignored, .notApplicable, .canceled, .unknown]
        return try all(result) { row in
            DeliveryDay(
                id: try row.int64(),
                logDay: LogDay(daysSince2000: try row.date()),
                state: try row.choice(),
                target: try row.int64(),
                counts: Dictionary(
                    uniqueKeysWithValues: try statuses.map { ($0, try row.int64()) }.filter { $0.1 > 0 }
                ),
                waitingReason: try row.text()
            )
        }
    }

    /// Maintains continuous deliveries: creates their new days, ends old days without open parts, and folds parts that
    /// ended long ago into sums.
    ///
    /// Any number of hosts may call it at once; it never waits.
    ///
    /// - Parameter limit: the maximum number of parts, and of idempotency keys, to remove.
    /// - Returns: how many were removed.
    @discardableResult
    package func tendDeliveries(limit: Int = 1000) async throws -> Int {
        try await query("SELECT pushmta_engine.maintain_continuous_deliveries($1)", [.int32(Int32(clamping: limit))])
            .one { Int(try $0.int32()) }
    }

    /// The kinds of children that may get a message at any time: those of continuous deliveries in progress whose
    /// account and circuit allow sending.
    package func standingKinds() async throws -> [ChildKind] {
        let result = try await query(
            """
            SELECT DISTINCT a.application_id, e.id, e.connector
            FROM pushmta_engine.delivery d
            JOIN pushmta_engine.delivery_application a ON a.delivery_id = d.id
            JOIN pushmta_engine.external_account e ON e.id = a.external_account_id
            WHERE d.state = 'in_progress' AND d.kind = 'continuous' AND d.parent_delivery_id IS NULL AND e.active
                AND NOT EXISTS (SELECT FROM pushmta_engine.application_health h
                    WHERE h.application_id = a.application_id AND \(CircuitSQL.isOpen))
            ORDER BY 1, 2
            """
        )
        return try all(result, Self.childKind)
    }
}
