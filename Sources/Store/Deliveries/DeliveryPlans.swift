import PostgresClient
import PushCore

extension Store {
    /// Decides experiments, begins the waves whose time has come, and lets planned messages go that are due, within the sending hours of
    /// their services. Any number of hosts may call it at once; it never waits.
    ///
    /// - Parameters:
    ///   - enough: the number of ready parts of an application and account beside which no more are made ready.
    ///   - limit: the maximum number of parts; call again at once if as many were changed.
    /// - Returns: the number of changed parts.
    package func advancePlans(enough: Int, limit: Int) async throws -> Int {
        let limit = PostgresValue.int32(Int32(clamping: limit))
        // Each in a transaction of its own, so that none holds up another one's delivery.
        for _ in 0..<Self.experimentsAtOnce {
            guard try await query("SELECT pushmta_engine.advance_experiment()").one({ try $0.bool() }) else { break }
        }
        try await query("SELECT pushmta_engine.advance_waves()")
        try await query("SELECT pushmta_engine.close_hours($1)", [limit])
        return try await query(
            "SELECT pushmta_engine.release_planned($1, $2)",
            [.int32(Int32(clamping: enough)), limit]
        ).one { Int(try $0.int32()) }
    }

    /// The maximum number of experiments that are looked at in one second.
    private static let experimentsAtOnce = 10

    /// Sends a delivery to each recipient at a moment of the recipient's clock; nil removes it.
    ///
    /// - Parameter localTime: a date and a time of day without a zone, as in `2026-12-01 09:00`.
    package func setLocalTime(of delivery: Int64, _ localTime: String?, onPast: String?) async throws {
        try await change(
            "pushmta.set_local_time($1, $2::text::timestamp, $3)",
            [.int64(delivery), .textOrNull(localTime), .textOrNull(onPast)]
        )
    }

    /// Sends a delivery in waves, JSON as `pushmta.set_waves` takes it; nil removes them.
    package func setWaves(of delivery: Int64, _ waves: String?) async throws {
        try await change("pushmta.set_waves($1, $2::text::jsonb)", [.int64(delivery), .textOrNull(waves)])
    }

    /// What happens to messages of a delivery outside of the sending hours; nil for what the service says.
    package func setHoursRule(of delivery: Int64, _ rule: String?) async throws {
        try await change("pushmta.set_hours_rule($1, $2)", [.int64(delivery), .textOrNull(rule)])
    }
}
