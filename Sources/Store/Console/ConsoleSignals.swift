import PostgresClient
import PushCore

/// Changes of health signals and of deliveries' rates by signed-in users; the same transaction writes each to the audit
/// log.
extension Store {
    /// Defines a health signal, or changes it.
    package func setHealthSignal(_ signal: HealthSignal, by actor: ConsoleActor) async throws {
        try NameCheck.name(signal.name, of: "signal")
        try await query(
            """
            SELECT pushmta_engine.console_set_signal(\(ConsoleActor.caller), $5, $6, $7, $8, $9, $10::integer, $11::integer,
                $12::integer, $13::integer)
            """,
            actor.values + [
                .text(signal.name), .text(signal.kind.rawValue), .text(signal.source), .text(signal.selector),
                .text(signal.good.rawValue), .int32(signal.intervalSeconds), .int32(signal.timeoutMilliseconds),
                .int32(signal.reactionSeconds), .int32(signal.staleAfterSeconds),
            ]
        )
    }

    /// Removes a health signal that no open delivery follows.
    package func dropHealthSignal(_ name: String, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_drop_signal(\(ConsoleActor.caller), $5)",
            actor.values + [.text(name)]
        )
    }

    /// Lets the rate of a delivery follow a signal, with target, floor and ceiling; nil: it follows none.
    package func followSignal(_ id: Int64, _ follow: SignalLimits?, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_follow(\(ConsoleActor.caller), $5, $6, $7, $8, $9)",
            actor.values + [
                .int64(id), .textOrNull(follow?.signal), follow.map { .double($0.target) } ?? .null,
                follow.map { .double($0.floor) } ?? .null, follow.map { .double($0.ceiling) } ?? .null,
            ]
        )
    }

    /// Sets how many messages of a delivery may leave each second; nil: no limit of its own.
    package func setRate(ofDelivery id: Int64, _ rate: Double?, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_set_rate(\(ConsoleActor.caller), $5, $6)",
            actor.values + [.int64(id), rate.map(PostgresValue.double) ?? .null]
        )
    }

    /// How many messages of a delivery may leave each second; nil if it has no limit of its own.
    package func rate(ofDelivery id: Int64) async throws -> Double? {
        let result = try await query(
            "SELECT messages_per_second FROM pushmta.rate_limit WHERE scope = 'delivery' AND name = $1::bigint::text",
            [.int64(id)]
        )
        return try result.oneOrNil { try $0.double() }
    }
}
