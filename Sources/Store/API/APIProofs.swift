import PostgresClient
import PushCore

/// What keeps a delivery from being sent.
public struct DeliveryProblem: Sendable, Hashable {
    /// `content`, `filter`, `application`, `target` or `start`.
    public let subject: String
    /// Where in the content, a JSON Pointer; "" for the whole.
    public let pointer: String
    public let problem: String
    /// What to do about it.
    public let remedy: String

    public init(subject: String, pointer: String, problem: String, remedy: String) {
        self.subject = subject
        self.pointer = pointer
        self.problem = problem
        self.remedy = remedy
    }
}

extension Store {
    /// What keeps a delivery from being sent, as far as is known before its preparation: so many problems at most.
    public func checkDelivery(_ id: Int64, most: Int32) async throws -> [DeliveryProblem] {
        let result = try await query(
            """
            SELECT p.subject, coalesce(p.pointer, ''), p.problem, coalesce(p.remedy, '') FROM pushmta.check_delivery($1) p LIMIT $2::integer
            """,
            [.int64(id), .int32(most)]
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

    /// Sends what a delivery will say to some addresses, or to all seed addresses of its applications if no member is given.
    ///
    /// - Parameter applications: those of which seed addresses are known; nil: all.
    /// - Returns: the id of the proof, a delivery of its own.
    public func createProof(
        of delivery: Int64,
        seeds: [String]?,
        devices: [Int64]?,
        tokens: [String]?,
        start: Bool,
        applications: [Int32]?
    ) async throws -> Int64 {
        let result = try await change(
            "pushmta_engine.api_prove_delivery($1, $2::text[], $3::bigint[], $4::text[], $5, $6::integer[])",
            [
                .int64(delivery), seeds.map { .textArray($0) } ?? .null, devices.map { .int64Array($0) } ?? .null,
                tokens.map { .textArray($0) } ?? .null, .bool(start),
                applications.map(PostgresValue.int32Array) ?? .null,
            ]
        )
        return try result.one { try $0.int64() }
    }

    /// The proofs of a delivery with ids up to one, newest first.
    public func apiProofs(of delivery: Int64, through highest: Int64, applications: [Int32]?, limit: Int32) async throws
        -> [APIDeliveryRow]
    {
        try await apiDeliveries(
            from: """
                pushmta_engine.api_proofs($1, $2, $4::integer) p
                CROSS JOIN LATERAL pushmta_engine.api_deliveries(p, p, $3::integer[], 1) d
                ORDER BY d.id DESC
                """,
            [
                .int64(delivery), .int64(highest), applications.map(PostgresValue.int32Array) ?? .null, .int32(limit),
            ]
        )
    }
}
