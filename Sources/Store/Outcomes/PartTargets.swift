/// The common table `target` of statements that look messages of a few parts up in their frozen targets.
enum PartTargets {
    /// The arrays are detoasted once (`|| '{}'`), not for each message that is looked up.
    static func sql(parts: String) -> String {
        """
        target AS MATERIALIZED (
            SELECT p.id AS part_id, p.delivery_id, p.log_day, t.first_sequence, t.sequences || '{}'::integer[] AS sequences,
                t.subscription_ids || '{}'::bigint[] AS subscription_ids, t.target_ids || '{}'::bigint[] AS target_ids,
                t.variables, t.message_variables || '{}'::jsonb[] AS message_variables
            FROM pushmta_engine.delivery_part p
            JOIN pushmta_engine.delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
            WHERE p.id = ANY(ARRAY(\(parts)))
        )
        """
    }

    /// The index of a sequence number in the arrays of `t`; outside them, or null, if it is not of the part.
    ///
    /// `t.sequences || '{}'` of no array is empty, which identifies contiguous parts.
    static func place(of sequence: String) -> String {
        """
        CASE WHEN cardinality(t.sequences) = 0 THEN \(sequence) - t.first_sequence + 1
            ELSE array_position(t.sequences, \(sequence)) END
        """
    }
}
