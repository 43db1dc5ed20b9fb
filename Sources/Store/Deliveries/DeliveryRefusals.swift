import PostgresClient

/// What a gateway said in words when it refused messages of a delivery for good.
public struct DeliveryRefusal: Sendable, Hashable {
    /// The gateway's reason.
    public let reason: String
    /// Its words for people; what they quoted of a message is left out.
    public let words: String

    public init(reason: String, words: String) {
        self.reason = reason
        self.words = words
    }
}

extension Store {
    /// So many texts of a delivery say what is wrong with it.
    private static let mostRefusals = 20

    /// Keeps what a gateway said of a delivery's messages, each text once.
    public func noteRefusal(_ refusal: DeliveryRefusal, delivery: Int64) async throws {
        try await query(
            """
            INSERT INTO pushmta_engine.delivery_refusal (delivery_id, reason, words)
            SELECT $1, $2, $3
            WHERE (SELECT count(*) FROM pushmta_engine.delivery_refusal r WHERE r.delivery_id = $1) < \(Self.mostRefusals)
            ON CONFLICT DO NOTHING
            """,
            [.int64(delivery), .text(refusal.reason), .text(refusal.words)]
        )
    }

    /// What gateways said of the messages of a delivery, and of its days.
    public func refusals(ofDeliveryAndDays id: Int64) async throws -> [DeliveryRefusal] {
        try await refusals(deliveries: [id] + days(ofDelivery: id).map(\.id))
    }

    /// What gateways said of the messages of deliveries, the first first.
    public func refusals(deliveries: [Int64]) async throws -> [DeliveryRefusal] {
        let result = try await query(
            """
            SELECT r.reason, r.words FROM pushmta.delivery_refusal r WHERE r.delivery_id = ANY($1)
            GROUP BY r.reason, r.words ORDER BY min(r.first_at), r.reason, r.words
            """,
            [.int64Array(deliveries)]
        )
        return try all(result) { row in
            DeliveryRefusal(reason: try row.text(), words: try row.text())
        }
    }
}
