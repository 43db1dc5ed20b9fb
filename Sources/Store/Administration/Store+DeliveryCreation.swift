import PostgresClient
import PushCore

extension Store {
    /// Creates a delivery, through the same function that marketing systems call.
    public func createDelivery(_ delivery: NewDelivery) async throws -> Int64 {
        try NameCheck.label(delivery.label, of: "delivery")
        try NameCheck.validity(delivery.validitySeconds)
        let result = try await query(
            """
            SELECT CASE WHEN $11 THEN pushmta.make_continuous(c.id) ELSE c.id END
            FROM pushmta.create_delivery(label => $1, applications => $2, content => $3::text, priority => $4::integer,
                validity => make_interval(secs => $5::double precision), explicit_targets => $6, one_per_user => $7,
                ambiguity_policy => $8, max_retries => $9, retry_period_seconds => $10) c(id)
            """,
            [
                .text(delivery.label), .textArray(delivery.applications), .text(delivery.content),
                .int32(Int32(delivery.priority)), .double(Double(delivery.validitySeconds)),
                .bool(delivery.explicitTargets),
                .bool(delivery.onePerUser), .text(delivery.ambiguityPolicy.rawValue), .int32(delivery.maxRetries),
                .int32(delivery.retryPeriodSeconds), .bool(delivery.isContinuous),
            ]
        )
        return try result.int64(0, 0)
    }

    /// Starts a delivery now.
    public func startDelivery(_ id: Int64) async throws {
        try await query("SELECT pushmta.start_delivery($1)", [.int64(id)])
    }
}
