import PostgresClient
import PushCore

extension Store {
    /// What a child needs to know of a delivery.
    public func deliveryForSending(_ id: Int64) async throws -> SendingDelivery {
        try first(
            try await query(Self.sendingSQL(key: "k.key", day: "d.log_day", join: "JOIN"), [.int64(id)]),
            orThrow: "There is no started delivery \(id).",
            Self.sendingDelivery
        )
    }

    /// The same of a delivery that need not be started: without a start it has a key of zeros, so its message ids mean nothing.
    public func deliveryForPreview(_ id: Int64) async throws -> SendingDelivery {
        let sql = Self.sendingSQL(
            key: "coalesce(k.key, decode(repeat('00', 16), 'hex'))",
            day: "coalesce(d.log_day, (now() AT TIME ZONE 'UTC')::date)",
            join: "LEFT JOIN"
        )
        return try first(
            try await query(sql, [.int64(id)]),
            orThrow: "There is no delivery \(id).",
            hint: "pushmta delivery list shows the deliveries",
            Self.sendingDelivery
        )
    }

    private static func sendingSQL(key: String, day: String, join: String) -> String {
        """
        SELECT d.id, d.label, d.content::text, d.state, \(key), d.message_id_base, d.valid_until, d.ambiguity_policy,
            d.max_retries, d.retry_period_seconds, \(day), d.target_kind = 'explicit', d.retry_schedule,
            (SELECT n.key FROM pushmta_engine.numbered_id_key n)
        FROM pushmta_engine.delivery d \(join) pushmta_engine.tracking_key k ON k.id = d.tracking_key_id
        WHERE d.id = $1
        """
    }

    private static func sendingDelivery(_ rows: PostgresResult, _ row: Int) throws -> SendingDelivery {
        SendingDelivery(
            id: try rows.int64(row, 0),
            label: try rows.text(row, 1),
            content: try rows.text(row, 2),
            state: try choice(rows, row, 3),
            trackingKey: try rows.bytes(row, 4),
            messageIDBase: try rows.int64OrNil(row, 5),
            messageNumberKey: rows.bytesOrNil(row, 13) ?? [],
            validUntil: try rows.timeOrNil(row, 6),
            ambiguityPolicy: try choice(rows, row, 7),
            maxRetries: try rows.int16(row, 8),
            retryPeriodSeconds: try rows.int32(row, 9),
            logDay: LogDay(daysSince2000: try rows.date(row, 10)),
            hasVariables: try rows.bool(row, 11),
            retrySchedule: try choice(rows, row, 12)
        )
    }

    /// The database's clock now.
    public func databaseClock() async throws -> DatabaseTime {
        try await query("SELECT clock_timestamp()").time(0, 0)
    }
}
