extension PreparationChunk {
    /// The messages to seed addresses in addition to the target, after all others. Their numbers follow one another, so
    /// nothing else has to mark them. Each uses the seed's values for its fields.
    ///
    /// A device that the target has already reached, by any subscription, gets no second message. Neither does one that
    /// opted out, of everything or of the delivery's category, or whose person is on an exclusion list of the delivery.
    /// The reached devices are read from the parts, because the state that decided it may have changed since. This takes
    /// time only if a subscriber has a seed's token, and the ids of a part are hashed once, however many seeds there are.
    ///
    /// Parameters: $1 delivery, $2 size of a part.
    static func seeds(_ target: ChunkTarget) -> String {
        let bars = [target.exclusions.condition(subject: "s"), target.optOutSQL(of: "s")].compactMap(\.self)
        let listed = bars.map { "AND NOT \($0)" }.joined(separator: " ")
        let orListed = target.exclusions.condition(subject: "o").map { "OR \($0)" } ?? ""
        return """
            WITH delivery AS MATERIALIZED (
                SELECT d.id, d.log_day, d.priority, d.target::integer AS target, \(partState),
                    CASE WHEN d.frozen_until IS NOT NULL THEN d.frozen_at ELSE d.started_at END AS started_at, d.seed_names
                FROM pushmta_engine.delivery d WHERE d.id = $1
            ), named AS MATERIALIZED (
                SELECT s.id, s.application_id, a.external_account_id, s.push_token, n.variables, min(n.id) AS seed
                FROM delivery d
                JOIN pushmta_engine.seed n ON (d.seed_names IS NULL OR n.name = ANY(d.seed_names)) AND n.created_at <= d.started_at
                JOIN pushmta_engine.subscription s ON s.id = n.subscription_id
                JOIN pushmta_engine.delivery_application a ON a.delivery_id = d.id AND a.application_id = s.application_id
                WHERE (s.exclusion = 0 OR \(Store.isSeedOnlySQL)) \(listed)
                GROUP BY s.id, a.external_account_id, n.variables
            ), \(reachedSQL), kept AS MATERIALIZED (
                SELECT n.*, row_number() OVER (ORDER BY n.application_id, n.seed)::integer AS place,
                    row_number() OVER (PARTITION BY n.application_id ORDER BY n.seed)::integer - 1 AS place_in_application
                FROM named n WHERE NOT EXISTS (SELECT FROM owner o
                    WHERE o.push_token = n.push_token AND (EXISTS (SELECT FROM reached r WHERE r.id = o.id) \(orListed)))
            ), \(seedPartsSQL)
            """
    }

    /// The subscribers that have a seed's token, and which of them are in a part. The CASE keeps the planner from a
    /// join, which might become a nested loop.
    private static let reachedSQL = """
        owner AS MATERIALIZED (
            SELECT s.id, s.application_id, s.push_token, s.user_key
            FROM (SELECT DISTINCT n.push_token FROM named n) n
            JOIN pushmta_engine.delivery_application a ON a.delivery_id = $1
            JOIN pushmta_engine.subscription s ON s.application_id = a.application_id AND s.push_token = n.push_token AND s.enabled
        ), reached AS MATERIALIZED (
            SELECT DISTINCT u.id
            FROM pushmta_engine.delivery_part p
            JOIN pushmta_engine.delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
            CROSS JOIN LATERAL unnest(t.subscription_ids) u(id)
            WHERE p.delivery_id = $1 AND p.log_day = (SELECT log_day FROM delivery) AND EXISTS (SELECT FROM owner)
                AND p.application_id = ANY(ARRAY(SELECT o.application_id FROM owner o))
                AND CASE WHEN u.id IN (SELECT o.id FROM owner o) THEN true ELSE false END
        )
        """

    private static let seedPartsSQL = """
        numbered AS MATERIALIZED (
            SELECT nextval(pg_get_serial_sequence('pushmta_engine.delivery_part', 'id')) AS part_id, g.*
            FROM (
                SELECT k.application_id, k.external_account_id, min(k.place) AS first_place, count(*)::integer AS size,
                    array_agg(k.id ORDER BY k.place) AS ids, array_agg(k.variables ORDER BY k.place) AS variables,
                    bool_or(k.variables IS NOT NULL) AS has_variables
                FROM kept k GROUP BY k.application_id, k.external_account_id, k.place_in_application / $2
            ) g
        ), parts AS (
            INSERT INTO pushmta_engine.delivery_part (id, delivery_id, application_id, external_account_id, log_day, size,
                priority, has_variables, state)
            SELECT n.part_id, d.id, n.application_id, n.external_account_id, d.log_day, n.size, d.priority, n.has_variables,
                d.part_state
            FROM numbered n, delivery d
        ), targets AS (
            INSERT INTO pushmta_engine.delivery_part_target (part_id, delivery_id, log_day, first_sequence, last_sequence,
                subscription_ids, message_variables)
            SELECT n.part_id, d.id, d.log_day, d.target + n.first_place, d.target + n.first_place + n.size - 1, n.ids,
                CASE WHEN n.has_variables THEN n.variables END
            FROM numbered n, delivery d
        ), per_application AS (
            UPDATE pushmta_engine.delivery_application a SET messages = a.messages + k.messages
            FROM (SELECT application_id, count(*) AS messages FROM kept GROUP BY application_id) k
            WHERE a.delivery_id = $1 AND a.application_id = k.application_id
        ), totals AS MATERIALIZED (
            SELECT count(*) AS messages FROM kept
        ), counted AS (
            UPDATE pushmta_engine.delivery d SET target = d.target + t.messages, seeds = t.messages,
                first_seed = d.target + 1
            FROM totals t WHERE d.id = $1
        )
        SELECT t.messages, (SELECT count(*) FROM numbered) FROM totals t
        """
}
