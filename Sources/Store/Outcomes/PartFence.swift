import PostgresClient

/// The update that proves, by its row lock, that the owner still holds its parts, and adds to their counters.
enum PartFence {
    static func statement(_ counts: [(key: PartToken, value: StatusCounts)]) -> PostgresStatement {
        let columns = StatusCounts.columns.indices.map { place in
            PostgresValue.int32Array(counts.map { $0.value.values[place] })
        }
        return PostgresStatement(
            sql,
            [.int64Array(counts.map(\.key.part)), .int64Array(counts.map(\.key.token))] + columns + [.heldState]
        )
    }

    /// The holdings that stand.
    static func read(_ result: PostgresResult) throws -> Set<PartToken> {
        var held: Set<PartToken> = []
        for row in 0..<result.rowCount {
            held.insert(PartToken(part: try result.int64(row, 0), token: try result.int64(row, 1)))
        }
        return held
    }

    static let sql = """
        UPDATE pushmta_engine.delivery_part p
        SET \(StatusCounts.columns.map { "\($0.name) = p.\($0.name) + c.\($0.name)" }.joined(separator: ", "))
        FROM unnest($1::bigint[], $2::bigint[], \(arrays))
            c(id, token, \(StatusCounts.columns.map(\.name).joined(separator: ", ")))
        WHERE p.id = c.id AND p.id = ANY($1) AND p.fencing_token = c.token AND p.state = $\(StatusCounts.columns.count + 3)
        RETURNING p.id, p.fencing_token
        """

    private static let arrays = StatusCounts.columns.indices.map { "$\($0 + 3)::integer[]" }.joined(separator: ", ")
}
