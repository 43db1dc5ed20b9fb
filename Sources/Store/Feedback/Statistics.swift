import PostgresClient
import PushCore

extension Store {
    /// Adds the outcomes of done parts to the statistics, up to about this many messages, as the active worker.
    ///
    /// - Returns: the number of messages, 0 if no part was left; nil if another worker is active.
    package func countOutcomes(worker: String, messages: Int) async throws -> Int64? {
        try await fenced("pushmta_engine.count_parts($2)", worker, [.int32(Int32(clamping: messages))])
    }

    /// Adds outcomes that came after the end of their part to the statistics, as the active worker.
    ///
    /// - Returns: the number of outcomes; nil if another worker is active.
    package func countLateOutcomes(worker: String, limit: Int) async throws -> Int64? {
        try await fenced("pushmta_engine.count_late_outcomes($2)", worker, [.int32(Int32(clamping: limit))])
    }

    /// Adds hits to the statistics, up to about this many, as the active worker.
    ///
    /// - Returns: the number of hits; nil if another worker is active.
    package func countHits(worker: String, limit: Int) async throws -> Int64? {
        try await fenced("pushmta_engine.count_hits($2)", worker, [.int32(Int32(clamping: limit))])
    }

    /// Applies token events as the active worker, otherwise like ``applyTokenEvents(limit:rules:)``.
    ///
    /// - Returns: the number of events decided and of subscriptions healed by time; nil if another worker is active.
    package func applyTokenEvents(worker: String, limit: Int, rules: QuarantineSettings) async throws -> Int64? {
        let healing = PostgresValue.int32(Int32(clamping: rules.healingDays))
        let doubtDays = PostgresValue.int32(Int32(clamping: rules.doubtDays))
        let open = try await query(Self.openTokenEventSQL, [healing, doubtDays]).one(Self.openTokenEvents)
        let limitValue = PostgresValue.int32(Int32(clamping: limit))
        var decided: Int64 = 0
        if open.applies {
            let count = try await fenced(
                "pushmta_engine.apply_token_effects($2, $3, $4 * interval '1 second', $5 * interval '1 day')",
                worker,
                [
                    limitValue, .int32(Int32(clamping: rules.maxSoftErrors)),
                    .int32(Int32(clamping: rules.significantErrorDelaySec)), healing,
                ]
            )
            guard let count else { return nil }
            decided += count
        }
        if open.heals {
            let count = try await fenced(
                "pushmta_engine.heal_soft_errors($2, $3 * interval '1 day')",
                worker,
                [limitValue, healing]
            )
            guard let count else { return nil }
            decided += count
        }
        if open.resolves {
            let count = try await fenced(
                "pushmta_engine.resolve_doubted_tokens(NULL, $2, $3 * interval '1 day', $4)",
                worker,
                [.bool(rules.believesDoubted), doubtDays, limitValue]
            )
            guard let count else { return nil }
            decided += count
        }
        return decided
    }

    /// The result of a function that is called as the active worker; nil if another worker is active. The worker stays
    /// active during the transaction.
    func fenced(_ call: String, _ worker: String, _ parameters: [PostgresValue]) async throws -> Int64? {
        try await query(
            "SELECT CASE WHEN pushmta_engine.feedback_fence($1::uuid) THEN \(call)::bigint END",
            [.text(worker)] + parameters
        ).one { try $0.int64OrNil() }
    }
}
