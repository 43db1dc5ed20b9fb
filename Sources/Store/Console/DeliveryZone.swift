import PostgresClient
import PushCore

/// The messages of a delivery to one time zone, where its plan goes by the recipient's clock.
package struct DeliveryZone: Sendable, Hashable {
    package let name: String
    package let messages: Int64
    /// Messages that the gateway accepted.
    package let sent: Int64
    /// Messages refused permanently.
    package let failed: Int64
    /// Messages without an outcome.
    package let pending: Int64
    /// When the next messages that wait for their time leave; nil if none wait, or that is not known yet.
    package let nextAt: DatabaseTime?

    /// All others that have ended.
    package var others: Int64 { max(0, messages - sent - failed - pending) }
}

extension Store {
    /// The progress of a delivery by time zone of its recipients: the zones whose turn comes first, then those with
    /// most messages. Empty if its plan does not go by time zone.
    package func zones(ofDelivery id: Int64, limit: Int) async throws -> [DeliveryZone] {
        let result = try await query(
            """
            SELECT p.time_zone, sum(p.size - p.handed_over)::bigint AS messages, sum(p.sent)::bigint,
                sum(p.failed + CASE WHEN p.rest_status = 2 THEN r.rest ELSE 0 END)::bigint,
                coalesce(sum(r.rest) FILTER (WHERE p.state <> 'done'), 0)::bigint,
                min(p.not_before) FILTER (WHERE p.state = 'planned' AND isfinite(p.not_before)) AS next_at
            FROM pushmta_engine.delivery_part p
            CROSS JOIN LATERAL (SELECT p.size - p.handed_over - p.sent - p.failed - p.ignored - p.not_applicable - p.canceled
                - p.unknown AS rest) r
            WHERE p.delivery_id = $1 AND p.time_zone IS NOT NULL
            GROUP BY p.time_zone ORDER BY next_at NULLS LAST, messages DESC, p.time_zone LIMIT $2
            """,
            [.int64(id), .int64(Int64(limit))]
        )
        return try all(result) { row in
            DeliveryZone(
                name: try row.text(),
                messages: try row.int64(),
                sent: try row.int64(),
                failed: try row.int64(),
                pending: try row.int64(),
                nextAt: try row.timeOrNil()
            )
        }
    }
}
