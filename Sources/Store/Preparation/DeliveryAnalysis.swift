import PostgresClient
import PushCore

extension Store {
    /// Prepares a delivery without sending it; it is then `ready`, or `editing` with its problems.
    ///
    /// Throws ``StoreError`` of code `notFound`, `conflict` if it was started, or `invalid` if it has no target.
    package func analyzeDelivery(_ id: Int64) async throws {
        try await change("pushmta.analyze_delivery($1)", [.int64(id)])
    }

    /// Messages of a delivery whose parts are held: half of them with the longest values, the others spread over its
    /// parts.
    package func heldSample(of delivery: Int64, limit: Int) async throws -> [HeldMessage] {
        let result = try await query(
            """
            SELECT h.application_id, h.subscription_id, t.variables::text, h.is_longest
            FROM pushmta_engine.sample_held($1, $2) h LEFT JOIN pushmta.delivery_target t ON t.id = h.target_id
            """,
            [.int64(delivery), .int32(Int32(clamping: limit))]
        )
        return try all(result, HeldMessage.init)
    }

    /// Notes what rendering messages showed. A delivery that is being analysed is then ready; with problems, it is
    /// editing again. Returns its state.
    package func endAnalysis(of delivery: Int64, _ findings: AnalysisFindings) async throws -> DeliveryState {
        guard findings.problems.isEmpty else { return try await returnDelivery(delivery, findings.problems) }
        let report = try JSONBody.text(findings)
        let result = try await change("pushmta_engine.end_analysis($1, $2)", [.int64(delivery), .json(report)])
        return try first(result, orThrow: "There is no delivery \(delivery).") { row in try row.choice() }
    }

    /// Returns a delivery that cannot be sent to editing, as ``returnDelivery(_:reason:)`` does, and keeps the list of
    /// its problems.
    package func returnDelivery(_ delivery: Int64, _ problems: [DeliveryProblem], reason: String? = nil) async throws
        -> DeliveryState
    {
        let text = problems.map { "\($0.problem); \($0.remedy)" }.joined(separator: "\n")
        let state = try await returnDelivery(delivery, reason: reason ?? text)
        guard state == .editing else { return state }
        try await change(
            "pushmta_engine.note_problems($1, $2)",
            [.int64(delivery), .json(try JSONBody.text(problems))]
        )
        return state
    }

    /// Drops the messages of deliveries that were analysed long ago and not started. Returns how many deliveries.
    package func dropOldAnalyses(limit: Int = 10) async throws -> Int {
        try await change("pushmta_engine.drop_old_analyses($1)", [.int32(Int32(clamping: limit))])
            .one { Int(try $0.int32()) }
    }
}
