import PostgresClient
import PushCore

extension Store {
    /// Prepares a delivery without sending it; it is then `ready`, or `editing` with its problems.
    ///
    /// Throws ``StoreError`` of code `notFound`, `conflict` if it was started, or `invalid` if it has no target.
    package func analyzeDelivery(_ id: Int64) async throws {
        try await change("pushmta.analyze_delivery($1)", [.int64(id)])
    }

    /// Messages of a delivery to an application whose parts are held: half of them spread over its parts, the others with
    /// the longest values.
    package func heldSample(of delivery: Int64, application: Int32, limit: Int) async throws -> [HeldMessage] {
        let result = try await query(
            """
            SELECT h.subscription_id, t.variables::text, h.is_longest
            FROM pushmta_engine.sample_held($1, $2, $3) h LEFT JOIN pushmta.delivery_target t ON t.id = h.target_id
            """,
            [.int64(delivery), .int32(application), .int32(Int32(clamping: limit))]
        )
        return try all(result, HeldMessage.init)
    }

    /// The held parts of a delivery to an application after a part, at most this many.
    package func heldParts(of delivery: Int64, application: Int32, after part: Int64, limit: Int32) async throws
        -> [ClaimedPart]
    {
        let result = try await query(
            """
            SELECT \(Self.claimedColumns) FROM pushmta_engine.delivery_part p JOIN pushmta_engine.delivery d ON d.id = p.delivery_id
            WHERE p.delivery_id = $1 AND p.application_id = $2 AND p.state = 'held' AND p.id > $3 ORDER BY p.id LIMIT $4
            """,
            [.int64(delivery), .int32(application), .int64(part), .int32(limit)]
        )
        return try (0..<result.rowCount).map { try Self.claimedPart(result, $0) }
    }

    /// Notes what rendering messages showed. A delivery that is being analysed is then ready; with problems, it is
    /// editing again. One that was changed since stays as it is. Returns its state.
    package func endAnalysis(of job: PreparationJob, _ findings: AnalysisFindings) async throws -> DeliveryState {
        guard findings.problems.isEmpty else { return try await returnDelivery(job, findings.problems) }
        let report = try JSONBody.text(findings)
        let result = try await change(
            "pushmta_engine.end_analysis($1, $2, $3)",
            [.int64(job.deliveryID), .json(report), .int32(job.preparation)]
        )
        return try first(result, orThrow: "There is no delivery \(job.deliveryID).") { row in try row.choice() }
    }

    /// Returns a delivery that cannot be sent to editing, as ``returnDelivery(_:reason:preparation:)`` does, and keeps
    /// the list of its problems.
    package func returnDelivery(_ job: PreparationJob, _ problems: [DeliveryProblem], reason: String? = nil)
        async throws -> DeliveryState
    {
        let text = problems.map { "\($0.problem); \($0.remedy)" }.joined(separator: "\n")
        let state = try await returnDelivery(job.deliveryID, reason: reason ?? text, preparation: job.preparation)
        guard state == .editing, !problems.isEmpty else { return state }
        try await change(
            "pushmta_engine.note_problems($1, $2)",
            [.int64(job.deliveryID), .json(try JSONBody.text(problems))]
        )
        return state
    }

    /// Drops the messages of deliveries that were analysed long ago and not started. Returns how many deliveries.
    package func dropOldAnalyses(limit: Int = 1) async throws -> Int {
        try await change("pushmta_engine.drop_old_analyses($1)", [.int32(Int32(clamping: limit))])
            .one { Int(try $0.int32()) }
    }
}
