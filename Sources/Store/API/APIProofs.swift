import PostgresClient
import PushCore

extension Store {
    /// The reasons why a delivery cannot be sent, as far as they are known before its preparation: at most this many.
    package func checkDelivery(_ id: Int64, limit: Int32) async throws -> [DeliveryProblem] {
        let result = try await query(
            """
            SELECT p.subject, coalesce(p.pointer, ''), p.problem, coalesce(p.remedy, '') FROM pushmta.check_delivery($1) p LIMIT $2::integer
            """,
            [.int64(id), .int32(limit)]
        )
        return try all(result) { row in
            DeliveryProblem(
                subject: try row.text(),
                pointer: try row.text(),
                problem: try row.text(),
                remedy: try row.text()
            )
        }
    }

    /// Sends a delivery's message to some addresses, or to all seed addresses of its applications if none is given.
    ///
    /// - Parameters:
    ///   - variant: a variant of its experiment; nil for its own content.
    ///   - applications: applications whose seed addresses may be named; nil: all.
    /// - Returns: the id of the proof, which is a delivery of its own.
    package func createProof(
        of delivery: Int64,
        variant: Int32?,
        seeds: [String]?,
        devices: [Int64]?,
        tokens: [String]?,
        start: Bool,
        applications: [Int32]?
    ) async throws -> Int64 {
        let result = try await change(
            "pushmta_engine.api_prove_delivery($1, $2::text[], $3::bigint[], $4::text[], $5, $6::integer[], $7::integer)",
            [
                .int64(delivery), seeds.map { .textArray($0) } ?? .null, devices.map { .int64Array($0) } ?? .null,
                tokens.map { .textArray($0) } ?? .null, .bool(start),
                applications.map(PostgresValue.int32Array) ?? .null, variant.map { .int32($0) } ?? .null,
            ]
        )
        return try result.one { try $0.int64() }
    }

    /// The proofs of a delivery with ids up to the given one, newest first.
    package func apiProofs(of delivery: Int64, through highest: Int64, applications: [Int32]?, limit: Int32)
        async throws
        -> [APIDeliveryRow]
    {
        try await apiDeliveries(
            from: """
                pushmta_engine.api_proofs($1, $2, $4::integer) p
                CROSS JOIN LATERAL pushmta_engine.api_deliveries(p, p, $3::integer[], 1) d
                """,
            [
                .int64(delivery), .int64(highest), applications.map(PostgresValue.int32Array) ?? .null, .int32(limit),
            ]
        )
    }
}
