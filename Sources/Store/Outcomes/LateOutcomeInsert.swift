import PostgresClient

/// The note of outcomes that came after the end of their part, which the statistics count by themselves: the others of their part are
/// counted together, once.
enum LateOutcomeInsert {
    /// The part's row is locked, so that nobody counts it meanwhile.
    static func statement(parts: [Int64], sequences: [Int32]) -> PostgresStatement {
        PostgresStatement(sql, [.int64Array(parts), .int32Array(sequences)])
    }

    static let sql = """
        INSERT INTO pushmta_engine.late_outcome (part_id, delivery_id, log_day, sequence)
        SELECT p.id, p.delivery_id, p.log_day, o.sequence
        FROM unnest($1::bigint[], $2::integer[]) o(part_id, sequence)
        JOIN pushmta_engine.delivery_part p ON p.id = o.part_id AND p.id = ANY($1)
        """
}
