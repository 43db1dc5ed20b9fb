import PostgresClient
import PushCore

/// One chunk of a delivery's preparation, inside its transaction.
struct PreparationChunk {
    let deliveryID: Int64
    /// Messages of a part at most.
    let partSize: Int32
    /// Subscriptions, or explicit targets, of a chunk at most.
    let limit: Int64
    /// Whom the delivery goes to.
    let target: ChunkTarget

    /// A small delivery is cut into at least so many parts, for as many children…
    static let spread: Int32 = 16
    /// …unless they would be smaller than this: then a claim costs more than it brings.
    static let smallestPart: Int32 = 64

    /// Where groups are judged, subscriptions are read from all over the table, from the disk too: with 5,000,000 of them 50,000 have taken
    /// 4 to 10 s, and the first message is to leave within 5 s.
    private static let groupedDivisor = 10
    /// Chunks that are so small are not cut so finely.
    private static let groupedSpread: Int32 = 2

    /// How many subscriptions, or targets, a chunk looks at.
    static func limit(partSize: Int, parts: Int, _ target: ChunkTarget) -> Int64 {
        let all = max(1, partSize) * max(1, parts)
        return Int64(target.isGrouped ? max(1, partSize, all / groupedDivisor) : all)
    }

    func run(_ transaction: PostgresTransaction) async throws -> ChunkResult {
        let locked = try await transaction.execute(PostgresStatement(Self.lockSQL, [.int64(deliveryID)]))
        guard locked.rowCount > 0 else {
            return ChunkResult(messages: 0, excluded: 0, parts: 0, done: false, busy: true)
        }
        let state: DeliveryState = try Store.choice(locked, 0, 0)
        guard state == .preparing else {
            return ChunkResult(messages: 0, excluded: 0, parts: 0, done: true, busy: false)
        }
        if try locked.text(0, 1) == "explicit" {
            return try await run(Self.explicit(target), [], isLast: try locked.bool(0, 2), transaction)
        }
        let next = try await transaction.execute(PostgresStatement(Self.nextApplicationSQL, [.int64(deliveryID)]))
        guard next.rowCount > 0 else { return try await finish(transaction) }
        let application = PostgresValue.int32(try next.int32(0, 0))
        let filter = target.filter?.parameters ?? []
        return try await run(Self.subscribers(target), [application] + filter, isLast: false, transaction)
    }

    private func run(
        _ sql: String,
        _ more: [PostgresValue],
        isLast: Bool,
        _ transaction: PostgresTransaction
    ) async throws -> ChunkResult {
        if isLast { return try await finish(transaction) }
        let parameters: [PostgresValue] = [
            .int64(deliveryID), .int64(limit), .int32(partSize), .int32(min(Self.smallestPart, partSize)),
            .int32(target.isGrouped ? Self.groupedSpread : Self.spread),
        ]
        let made = try await transaction.execute(PostgresStatement(sql, parameters + more))
        CrashPoint.midChunk.reached()
        return ChunkResult(
            messages: try made.int64(0, 0),
            excluded: try made.int64(0, 1),
            parts: Int(try made.int64(0, 2)),
            done: false,
            busy: false
        )
    }

    private func finish(_ transaction: PostgresTransaction) async throws -> ChunkResult {
        try await transaction.execute(
            PostgresStatement(
                """
                UPDATE pushmta_engine.delivery SET prepared = true, state = 'in_progress', preparing_host = '', changed_at = now()
                WHERE id = $1
                """,
                [.int64(deliveryID)]
            )
        )
        return ChunkResult(messages: 0, excluded: 0, parts: 0, done: true, busy: false)
    }

    /// Whoever has the row makes the next chunk; parts of the delivery can end meanwhile (they lock its key only).
    private static let lockSQL = """
        SELECT state, target_kind, prepared_through >= coalesce(prepare_to, 0)
        FROM pushmta_engine.delivery WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED
        """

    /// The application that is least far, so that the platforms of a delivery start together.
    private static let nextApplicationSQL = """
        SELECT application_id FROM pushmta_engine.delivery_application
        WHERE delivery_id = $1 AND NOT prepared ORDER BY messages, application_id LIMIT 1
        """
}
