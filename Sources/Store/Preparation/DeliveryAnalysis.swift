import PostgresClient
import PushCore

extension Store {
    /// Prepares a delivery without sending it; it is then `ready`, or `editing` with its problems.
    ///
    /// Throws ``StoreError`` of code `notFound`, `conflict` if it was started, or `invalid` if it has no target.
    package func analyzeDelivery(_ id: Int64) async throws {
        try await change("pushmta.analyze_delivery($1)", [.int64(id)])
    }

    /// Messages of a delivery to an application whose parts are held: all if there are no more than the limit; otherwise
    /// half of them spread over its parts, the others with the longest values. Those whose subscription was deleted since
    /// are left out.
    ///
    /// Throws ``LoadProblem`` if the view of a target mapping cannot be read.
    package func heldSample(of delivery: Int64, application: Int32, limit: Int, _ fields: MessageFields) async throws
        -> DeliverySample
    {
        let sample = Self.sampleStatement(
            of: delivery,
            application: application,
            limit: Int32(clamping: limit),
            fields
        )
        var found = try DeliverySample(try await group([sample])[0], fields)
        if fields.isMapped { try await fill(&found.messages, fields, inPieces: true) }
        return found
    }

    static func sampleStatement(
        of delivery: Int64,
        application: Int32,
        limit: Int32,
        _ fields: MessageFields
    ) -> PostgresStatement {
        PostgresStatement(
            """
            SELECT h.subscription_id, h.is_longest,
                (SELECT coalesce(sum(p.size), 0)::bigint FROM pushmta_engine.delivery_part p
                    WHERE p.delivery_id = $1 AND p.application_id = $2 AND p.parent_part_id IS NULL),
                CASE WHEN \(isSeedOnlySQL) THEN 0::smallint ELSE \(LoadDecision.sql(fields)) END,
                s.push_token, \(userHashSQL)\(fields.columnsSQL(from: 4, variables: "coalesce(h.variables, t.variables)"))
            FROM pushmta_engine.sample_messages($1, $2, $3)
                WITH ORDINALITY h(subscription_id, target_id, variables, is_longest, place)
            JOIN pushmta_engine.subscription s ON s.id = h.subscription_id
            LEFT JOIN pushmta.delivery_target t ON t.id = h.target_id
            ORDER BY h.place
            """,
            [.int64(delivery), .int32(application), .int32(limit)] + fields.parameters
        )
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

    /// Shows that the messages of a delivery are still being rendered, so that no other host does the same. Returns
    /// whether they are still to be rendered.
    package func continuesAnalysis(of job: PreparationJob) async throws -> Bool {
        let result = try await query(
            """
            UPDATE pushmta_engine.delivery d SET changed_at = now()
            WHERE d.id = $1 AND pushmta_engine.is_analysis(d.id, $2) RETURNING true
            """,
            [.int64(job.deliveryID), .int32(job.preparation)]
        )
        return result.rowCount > 0
    }

    /// Notes what rendering messages showed. A delivery that is being analysed is then ready. With problems it is editing
    /// again, also a scheduled one. One that was changed or started since stays as it is. Returns its state.
    package func endAnalysis(of job: PreparationJob, _ findings: AnalysisFindings) async throws -> DeliveryState {
        let result = try await change(
            "pushmta_engine.end_analysis($1, $2, $3, $4)",
            [
                .int64(job.deliveryID), .json(try JSONBody.text(findings)), .json(try JSONBody.text(findings.problems)),
                .int32(job.preparation),
            ]
        )
        return try first(result, orThrow: "There is no delivery \(job.deliveryID).") { row in try row.choice() }
    }

    /// Messages of a delivery could not be rendered: one that is being analysed is tried again in a while, and shows the
    /// reason; a scheduled one leaves without it.
    package func postponeAnalysis(of job: PreparationJob, reason: String) async throws {
        try await query(
            """
            UPDATE pushmta_engine.delivery d SET preparing_host = '', analysed = d.state = 'pending',
                wait_reason = CASE WHEN d.state = 'analysing' THEN $3 ELSE '' END,
                wait_until = CASE WHEN d.state = 'analysing' THEN now() + interval '1 minute' END
            WHERE d.id = $1 AND pushmta_engine.is_analysis(d.id, $2)
            """,
            [.int64(job.deliveryID), .int32(job.preparation), .text(reason)]
        )
    }

    /// Returns a delivery that cannot be sent to editing, as ``returnDelivery(_:reason:preparation:)`` does, and keeps
    /// the list of its problems.
    package func returnDelivery(_ job: PreparationJob, _ problems: [DeliveryProblem], reason: String) async throws
        -> DeliveryState
    {
        let result = try await change(
            "pushmta_engine.return_problems($1, $2, $3, $4)",
            [
                .int64(job.deliveryID), .text(reason), .json(try JSONBody.text(problems)), .int32(job.preparation),
            ]
        )
        return try first(result, orThrow: "There is no delivery \(job.deliveryID).") { row in try row.choice() }
    }

    /// Releases deliveries that waited for an approval and have it, or no longer need one. Returns how many.
    @discardableResult
    package func openGates(limit: Int = 100) async throws -> Int {
        try await change("pushmta_engine.open_gates($1)", [.int32(Int32(clamping: limit))])
            .one { Int(try $0.int32()) }
    }

    /// Drops the messages of deliveries that were analysed long ago and not started. Returns how many deliveries.
    package func dropOldAnalyses(limit: Int = 1) async throws -> Int {
        try await change("pushmta_engine.drop_old_analyses($1)", [.int32(Int32(clamping: limit))])
            .one { Int(try $0.int32()) }
    }
}
