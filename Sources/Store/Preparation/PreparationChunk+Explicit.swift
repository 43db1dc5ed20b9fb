extension PreparationChunk {
    /// Explicit targets: each row of `pushmta.delivery_target` becomes a message for each subscription that it names in the
    /// delivery's applications, unless it came after the start. A subscription that an earlier row named already is a duplicate;
    /// with one message a user so is one whose user has a better one among those that are named.
    ///
    /// A seed address whose token is no subscriber's gets proofs and nothing else.
    ///
    /// A token that two of the delivery's applications have gets one message, in the one where it registered later.
    ///
    /// Parameters: $1 delivery, $2 limit, $3 size of a part, $4 smallest part, $5 spread.
    static let explicitSQL = explicit(ChunkTarget())

    static func explicit(_ target: ChunkTarget) -> String {
        """
        WITH delivery AS MATERIALIZED (
            SELECT d.id, d.log_day, d.priority, d.target::integer AS target, d.prepared_through, d.prepare_to,
                d.one_per_user, d.allow_duplicates, d.proof
            FROM pushmta_engine.delivery d WHERE d.id = $1
        ), scanned AS MATERIALIZED (
            SELECT t.id, t.subscription_id, t.user_key, t.push_token, t.variables IS NOT NULL AS has_variables
            FROM pushmta.delivery_target t
            WHERE t.delivery_id = $1 AND t.id > (SELECT prepared_through FROM delivery)
                AND t.id <= (SELECT prepare_to FROM delivery)
            ORDER BY t.id LIMIT $2
        ), named AS MATERIALIZED (
            SELECT t.id AS target_id, t.has_variables, s.id, s.application_id,
                CASE WHEN \(Store.isSeedOnlySQL) AND (SELECT proof FROM delivery) THEN 0::smallint ELSE s.exclusion END AS exclusion,
                s.user_key, s.push_token, s.registered_at
            FROM scanned t JOIN pushmta_engine.subscription s ON s.id = t.subscription_id
            WHERE t.subscription_id IS NOT NULL
            UNION ALL
            SELECT t.id, t.has_variables, s.id, s.application_id, s.exclusion, s.user_key, s.push_token, s.registered_at
            FROM scanned t JOIN pushmta_engine.subscription s ON s.user_key = t.user_key AND s.user_key <> ''
            WHERE t.user_key IS NOT NULL
            UNION ALL
            SELECT t.id, t.has_variables, s.id, s.application_id, s.exclusion, s.user_key, s.push_token, s.registered_at
            FROM scanned t
            JOIN pushmta_engine.delivery_application a ON a.delivery_id = $1
            JOIN pushmta_engine.subscription s ON s.application_id = a.application_id AND s.push_token = t.push_token AND s.enabled
            WHERE t.push_token IS NOT NULL
        ), judged AS MATERIALIZED (
            SELECT n.target_id, n.has_variables, n.id, a.application_id, a.external_account_id,
                CASE WHEN n.exclusion <> 0 THEN n.exclusion \(listed(target))
                    WHEN NOT d.allow_duplicates AND (
                        EXISTS (SELECT FROM pushmta.delivery_target e WHERE e.delivery_id = $1 AND e.subscription_id = n.id
                            AND e.id < n.target_id)
                        OR n.user_key <> '' AND EXISTS (SELECT FROM pushmta.delivery_target e WHERE e.delivery_id = $1
                            AND e.user_key = n.user_key AND e.id < n.target_id)
                        OR EXISTS (SELECT FROM pushmta.delivery_target e WHERE e.delivery_id = $1
                            AND e.push_token = n.push_token AND e.id < n.target_id)) THEN 5
                    WHEN d.one_per_user AND n.user_key <> '' AND EXISTS (
                        SELECT FROM pushmta_engine.subscription b
                        JOIN pushmta_engine.delivery_application x ON x.delivery_id = $1
                            AND x.application_id = b.application_id AND b.id <= x.prepare_to
                        WHERE b.user_key = n.user_key AND b.user_key <> '' AND b.exclusion = 0
                            AND (b.registered_at, b.id) > (n.registered_at, n.id)
                            AND \(isNamed(target))) THEN 5
                    \(sharedToken(target)) ELSE 0 END AS exclusion
            FROM named n
            CROSS JOIN delivery d
            JOIN pushmta_engine.delivery_application a ON a.delivery_id = $1 AND a.application_id = n.application_id
                AND n.id <= a.prepare_to
        ), kept AS MATERIALIZED (
            SELECT j.*, row_number() OVER (ORDER BY application_id, target_id, id)::integer AS place,
                row_number() OVER (PARTITION BY application_id ORDER BY target_id, id)::integer - 1 AS place_in_application,
                count(*) OVER (PARTITION BY application_id)::integer AS of_application
            FROM judged j WHERE j.exclusion = 0
        ), numbered AS MATERIALIZED (
            SELECT nextval(pg_get_serial_sequence('pushmta_engine.delivery_part', 'id')) AS part_id, g.*
            FROM (
                SELECT k.application_id, k.external_account_id, min(k.place) AS first_place, count(*)::integer AS size,
                    array_agg(k.id ORDER BY k.place) AS ids, array_agg(k.target_id ORDER BY k.place) AS target_ids,
                    bool_or(k.has_variables) AS has_variables
                FROM kept k
                GROUP BY k.application_id, k.external_account_id,
                    k.place_in_application / least($3, greatest($4, (k.of_application + $5 - 1) / $5))
            ) g
        ), parts AS (
            INSERT INTO pushmta_engine.delivery_part (id, delivery_id, application_id, external_account_id, log_day, size,
                priority, has_variables)
            SELECT n.part_id, d.id, n.application_id, n.external_account_id, d.log_day, n.size, d.priority, n.has_variables
            FROM numbered n, delivery d
        ), targets AS (
            INSERT INTO pushmta_engine.delivery_part_target (part_id, delivery_id, log_day, first_sequence, subscription_ids,
                target_ids)
            SELECT n.part_id, d.id, d.log_day, d.target + n.first_place, n.ids,
                CASE WHEN n.has_variables THEN n.target_ids END
            FROM numbered n, delivery d
        ), left_out AS MATERIALIZED (
            SELECT j.id AS subscription_id, j.target_id, j.application_id, j.exclusion::smallint AS exclusion
            FROM judged j WHERE j.exclusion <> 0
            UNION ALL
            SELECT t.subscription_id, t.id, NULL, 6::smallint FROM scanned t
            WHERE NOT EXISTS (SELECT FROM judged j WHERE j.target_id = t.id)
        ), excluded AS (
            INSERT INTO pushmta_engine.exclusion_log (delivery_id, subscription_id, target_id, application_id, log_day, reason)
            SELECT d.id, l.subscription_id, l.target_id, l.application_id, d.log_day, pushmta_engine.exclusion_name(l.exclusion)
            FROM left_out l, delivery d
        ), totals AS MATERIALIZED (
            SELECT (SELECT count(*) FROM kept) AS messages, (SELECT count(*) FROM left_out) AS excluded,
                (SELECT max(id) FROM scanned) AS through
        ), per_application AS (
            UPDATE pushmta_engine.delivery_application a SET messages = a.messages + k.messages
            FROM (SELECT application_id, count(*) AS messages FROM kept GROUP BY application_id) k
            WHERE a.delivery_id = $1 AND a.application_id = k.application_id
        ), counted AS (
            UPDATE pushmta_engine.delivery d SET target = d.target + t.messages, excluded = d.excluded + t.excluded,
                prepared_through = coalesce(t.through, d.prepare_to), changed_at = now()
            FROM totals t WHERE d.id = $1
        )
        SELECT t.messages, t.excluded, (SELECT count(*) FROM numbered) FROM totals t
        """
    }

    private static func listed(_ target: ChunkTarget) -> String {
        target.exclusions.condition(subject: "n").map { "WHEN \($0) THEN 7" } ?? ""
    }

    /// Whether the list names subscription `b`, which then gets the message itself.
    private static func isNamed(_ target: ChunkTarget) -> String {
        let rows = "SELECT FROM pushmta.delivery_target e WHERE e.delivery_id = $1 AND e.id <= d.prepare_to"
        let named = """
            (b.user_key <> '' AND EXISTS (\(rows) AND e.user_key = b.user_key)
                OR EXISTS (\(rows) AND e.subscription_id = b.id) OR EXISTS (\(rows) AND e.push_token = b.push_token))
            """
        return target.exclusions.condition(subject: "b").map { "\(named) AND NOT \($0)" } ?? named
    }

    private static func sharedToken(_ target: ChunkTarget) -> String {
        guard target.hasSharedTokens else { return "" }
        return """
            WHEN EXISTS (
                SELECT FROM pushmta_engine.delivery_application x
                JOIN pushmta_engine.subscription b ON b.application_id = x.application_id AND b.push_token = n.push_token
                    AND b.enabled AND b.id <= x.prepare_to
                WHERE x.delivery_id = $1 AND x.application_id <> n.application_id AND b.exclusion = 0
                    AND (b.registered_at, b.id) > (n.registered_at, n.id) AND \(isNamed(target))) THEN 5
            """
    }
}
