import PostgresClient
import PushCore

extension Store {
    /// Creates a delivery through the same function that marketing systems call.
    package func createDelivery(_ delivery: NewDelivery) async throws -> Int64 {
        try NameCheck.label(delivery.label, of: "delivery")
        try NameCheck.validity(delivery.validitySeconds)
        let result = try await query(
            """
            SELECT CASE WHEN $11 THEN pushmta.make_continuous(k.id) ELSE k.id END
            FROM pushmta.create_delivery(label => $1, applications => $2, content => $3::text, priority => $4::integer,
                validity => make_interval(secs => $5::double precision), explicit_targets => $6, one_per_user => $7,
                ambiguity_policy => $8, max_retries => $9, retry_period_seconds => $10::integer, retry_schedule => $12,
                messages_per_second => $13, category => $15::text) c(id)
            CROSS JOIN LATERAL (SELECT CASE WHEN $14 THEN (SELECT c.id FROM pushmta.set_one_time_code(c.id)) ELSE c.id END AS id) k
            """,
            [
                .text(delivery.label), .textArray(delivery.applications), .text(delivery.content),
                .int32(Int32(delivery.priority)), .double(Double(delivery.validitySeconds)),
                .bool(delivery.explicitTargets),
                .bool(delivery.onePerUser), .text(delivery.ambiguityPolicy.rawValue), .int32(delivery.maxRetries),
                delivery.retryPeriodSeconds.map(PostgresValue.int32) ?? .null, .bool(delivery.isContinuous),
                .text(delivery.retrySchedule.rawValue), delivery.messagesPerSecond.map(PostgresValue.double) ?? .null,
                .bool(delivery.isOneTimeCode), .textOrNull(delivery.category),
            ]
        )
        return try result.one { try $0.int64() }
    }

    /// Sets, before its start, whether a delivery carries one-time codes.
    package func setOneTimeCode(_ id: Int64, _ isCode: Bool) async throws {
        try await change("pushmta.set_one_time_code($1, $2)", [.int64(id), .bool(isCode)])
    }

    package func startDelivery(_ id: Int64) async throws {
        try await change("pushmta.start_delivery($1)", [.int64(id)])
    }
}
