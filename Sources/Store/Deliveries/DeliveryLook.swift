import PostgresClient
import PushCore

/// What somebody asked about a delivery in SQL, for a supervisor to answer.
package struct DeliveryLook: Sendable, Hashable {
    package let id: Int64
    package let deliveryID: Int64
    /// The subscription whose message is rendered; nil if the target is counted.
    package let subscriptionID: Int64?
    /// The variant of an experiment that is rendered; 0 for the delivery's own content.
    package let variant: Int16
    /// What the delivery was.
    fileprivate let digest: String

    fileprivate init(_ row: inout RowReader) throws {
        id = try row.int64()
        deliveryID = try row.int64()
        subscriptionID = try row.int64OrNil()
        variant = try row.int16()
        digest = try row.text()
    }
}

extension Store {
    /// The next look that no other supervisor takes; nil if there is none.
    package func takeLook() async throws -> DeliveryLook? {
        try await query(
            "SELECT l.id, l.delivery_id, l.subscription_id, l.cell, l.digest FROM pushmta_engine.take_look() l"
        ).oneOrNil(DeliveryLook.init)
    }

    /// Answers a look, unless something else was asked about the same meanwhile, or the person was forgotten.
    /// If another session holds it, it is taken again: nobody waits for a session that asks something else.
    package func answer(_ look: DeliveryLook, _ answer: DeliveryLookAnswer) async throws {
        try await query(
            """
            UPDATE pushmta_engine.delivery_look SET answer = $3, answered_at = clock_timestamp()
            WHERE id = (SELECT l.id FROM pushmta_engine.delivery_look l WHERE l.id = $1 AND l.digest = $2 AND l.answered_at IS NULL
                FOR NO KEY UPDATE SKIP LOCKED)
            """,
            [.int64(look.id), .text(look.digest), .json(try answer.json)]
        )
    }

    /// Replaces the answer to a look by a better one, unless something else was asked about the same meanwhile.
    package func refine(_ look: DeliveryLook, _ counts: [TargetCount]) async throws {
        try await query(
            """
            UPDATE pushmta_engine.delivery_look SET answer = $3, answered_at = clock_timestamp()
            WHERE id = (SELECT l.id FROM pushmta_engine.delivery_look l WHERE l.id = $1 AND l.digest = $2 AND l.answered_at IS NOT NULL
                FOR NO KEY UPDATE SKIP LOCKED)
            """,
            [.int64(look.id), .text(look.digest), .json(try DeliveryLookAnswer.counts(counts).json)]
        )
    }

    /// Deletes looks that are an hour old.
    package func dropOldLooks() async throws {
        try await query("SELECT pushmta_engine.drop_old_looks()")
    }

    /// The values of the fields that a delivery's list of targets has for a subscription, a JSON object; nil for none.
    package func targetVariables(ofDelivery id: Int64, subscription: Int64) async throws -> String? {
        let result = try await query(
            """
            SELECT t.variables::text FROM pushmta.delivery_target t WHERE t.id = (
                SELECT min(n.id) FROM pushmta_engine.subscription s CROSS JOIN LATERAL (
                    SELECT e.id FROM pushmta.delivery_target e WHERE e.delivery_id = $1 AND e.subscription_id = s.id
                    UNION ALL
                    SELECT e.id FROM pushmta.delivery_target e WHERE e.delivery_id = $1 AND e.user_key = s.user_key AND s.user_key <> ''
                    UNION ALL
                    SELECT e.id FROM pushmta.delivery_target e WHERE e.delivery_id = $1 AND e.push_token = s.push_token) n
                WHERE s.id = $2)
            """,
            [.int64(id), .int64(subscription)]
        )
        return try result.oneOrNil { row in try row.textOrNil() } ?? nil
    }
}
