import PostgresClient

/// The gateway's text when it refused messages of a delivery permanently.
package struct DeliveryRefusal: Sendable, Hashable {
    /// The gateway's reason.
    package let reason: String
    /// Its text for people, without what it quoted from a message.
    package let words: String

    package init(reason: String, words: String) {
        self.reason = reason
        self.words = words
    }
}

extension Store {
    /// This many texts are enough to show what is wrong with a delivery.
    private static let maxRefusals = 20

    /// Stores what a gateway said about a delivery's messages, each text once.
    package func noteRefusal(_ refusal: DeliveryRefusal, delivery: Int64) async throws {
        try await query(
            """
            INSERT INTO pushmta_engine.delivery_refusal (delivery_id, reason, words)
            SELECT $1, $2, $3
            WHERE (SELECT count(*) FROM pushmta_engine.delivery_refusal r WHERE r.delivery_id = $1) < \(Self.maxRefusals)
            ON CONFLICT DO NOTHING
            """,
            [.int64(delivery), .text(refusal.reason), .text(refusal.words)]
        )
    }

    /// What gateways said about the messages of a delivery and its days.
    package func refusals(ofDeliveryAndDays id: Int64) async throws -> [DeliveryRefusal] {
        try await refusals(deliveries: [id] + days(ofDelivery: id).map(\.id))
    }

    /// What gateways said about the messages of deliveries, oldest first.
    package func refusals(deliveries: [Int64]) async throws -> [DeliveryRefusal] {
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
