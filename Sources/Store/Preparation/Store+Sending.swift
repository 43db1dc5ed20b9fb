import PostgresClient
import PushCore

extension Store {
    /// What a child needs to know of a delivery.
    public func deliveryForSending(_ id: Int64) async throws -> SendingDelivery {
        let result = try await query(
            """
            SELECT d.id, d.label, d.content::text, d.state, k.key, d.message_id_base, d.valid_until, d.ambiguity_policy,
                d.max_retries, d.retry_period_seconds, d.log_day, d.target_kind = 'explicit'
            FROM pushmta_engine.delivery d JOIN pushmta_engine.tracking_key k ON k.id = d.tracking_key_id
            WHERE d.id = $1
            """,
            [.int64(id)]
        )
        return try first(result, orThrow: "There is no started delivery \(id).") { rows, row in
            SendingDelivery(
                id: try rows.int64(row, 0),
                label: try rows.text(row, 1),
                content: try rows.text(row, 2),
                state: try choice(rows, row, 3),
                trackingKey: try rows.bytes(row, 4),
                messageIDBase: try rows.int64OrNil(row, 5),
                validUntil: try rows.timeOrNil(row, 6),
                ambiguityPolicy: try choice(rows, row, 7),
                maxRetries: try rows.int16(row, 8),
                retryPeriodSeconds: try rows.int32(row, 9),
                logDay: LogDay(daysSince2000: try rows.date(row, 10)),
                hasVariables: try rows.bool(row, 11)
            )
        }
    }

    /// The database's clock now.
    public func databaseClock() async throws -> DatabaseTime {
        try await query("SELECT clock_timestamp()").time(0, 0)
    }
}
