extension PreparationChunk {
    /// Explicit targets: each row of `pushmta.delivery_target` becomes a message for each subscription that it names in
    /// the delivery's applications, unless it was added after the start. A subscription that an earlier row named is a
    /// duplicate.
    ///
    /// A seed address whose token belongs to no subscriber gets proofs, and nothing else.
    ///
    /// If requested, only one of the named subscriptions of a user, or of those with one push token, gets the message:
    /// the last registered one. As with ``groups(_:)``, all of them are judged by the chunk that reaches the first row
    /// naming one of them.
    ///
    /// Parameters: $1 delivery, $2 limit, $3 size of a part, $4 smallest part, $5 spread.
    static func explicit(_ target: ChunkTarget) -> String {
        """
        WITH delivery AS MATERIALIZED (
            SELECT d.id, d.log_day, d.priority, d.target::integer AS target, \(partState), d.prepared_through, d.prepare_to,
                d.allow_duplicates, d.proof
            FROM pushmta_engine.delivery d WHERE d.id = $1
        ), scanned AS MATERIALIZED (
            SELECT t.id, t.subscription_id, t.user_key, t.push_token, t.variables IS NOT NULL AS has_variables
            FROM pushmta.delivery_target t
            WHERE t.delivery_id = $1 AND t.id > (SELECT prepared_through FROM delivery)
                AND t.id <= (SELECT prepare_to FROM delivery)
            ORDER BY t.id LIMIT $2
        ), named AS MATERIALIZED (
            SELECT t.id AS target_id, t.has_variables, s.id, s.application_id,
                \(exclusionSQL(target)) AS exclusion,
                s.user_key, s.push_token, s.enabled
            FROM scanned t JOIN pushmta_engine.subscription s ON s.id = t.subscription_id
            WHERE t.subscription_id IS NOT NULL
            UNION ALL
            SELECT t.id, t.has_variables, s.id, s.application_id, \(target.exclusionSQL(of: "s")), s.user_key, s.push_token, s.enabled
            FROM scanned t JOIN pushmta_engine.subscription s ON s.user_key = t.user_key AND s.user_key <> ''
            WHERE t.user_key IS NOT NULL
            UNION ALL
            SELECT t.id, t.has_variables, s.id, s.application_id, \(target.exclusionSQL(of: "s")), s.user_key, s.push_token, s.enabled
            FROM scanned t
            JOIN pushmta_engine.delivery_application a ON a.delivery_id = $1
            JOIN pushmta_engine.subscription s ON s.application_id = a.application_id AND s.push_token = t.push_token AND s.enabled
            WHERE t.push_token IS NOT NULL
        ), apps AS MATERIALIZED (
            SELECT a.application_id, a.external_account_id, a.prepare_to
            FROM pushmta_engine.delivery_application a WHERE a.delivery_id = $1
        ), \(target.isGrouped ? judgedGroups(target) : judgedRows(target)),
        \(target.caps.asked("judged", columns: judgedColumns))\(explicitPartsSQL)
        """
    }

    /// The columns of `judged`, except the exclusion.
    private static let judgedColumns = ["target_id", "has_variables", "id", "application_id", "external_account_id"]

    /// Numbers the messages and puts them into parts.
    private static let explicitPartsSQL = """
        kept AS MATERIALIZED (
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
                priority, has_variables, state)
            SELECT n.part_id, d.id, n.application_id, n.external_account_id, d.log_day, n.size, d.priority, n.has_variables,
                d.part_state
            FROM numbered n, delivery d
        ), targets AS (
            INSERT INTO pushmta_engine.delivery_part_target (part_id, delivery_id, log_day, first_sequence, last_sequence,
                subscription_ids, target_ids)
            SELECT n.part_id, d.id, d.log_day, d.target + n.first_place, d.target + n.first_place + n.size - 1, n.ids,
                CASE WHEN n.has_variables THEN n.target_ids END
            FROM numbered n, delivery d
        ), left_out AS MATERIALIZED (
            SELECT j.id AS subscription_id, j.target_id, j.application_id, j.exclusion::smallint AS exclusion
            FROM judged j WHERE j.exclusion > 0
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

    private static func exclusionSQL(_ target: ChunkTarget) -> String {
        let own = target.exclusionSQL(of: "s")
        return "CASE WHEN \(Store.isSeedOnlySQL) AND (SELECT proof FROM delivery) THEN 0::smallint ELSE \(own) END"
    }

    private static func listed(_ target: ChunkTarget, _ subject: String) -> String {
        target.exclusions.condition(subject: subject).map { "WHEN \($0) THEN 7" } ?? ""
    }

    /// The named subscriptions, judged one by one.
    private static func judgedRows(_ target: ChunkTarget) -> String {
        """
        \(target.caps.table("judged")) AS MATERIALIZED (
            SELECT n.target_id, n.has_variables, n.id, a.application_id, a.external_account_id,
                CASE WHEN n.exclusion <> 0 THEN n.exclusion \(listed(target, "n"))
                    WHEN NOT d.allow_duplicates AND (
                        EXISTS (SELECT FROM pushmta.delivery_target e WHERE e.delivery_id = $1 AND e.subscription_id = n.id
                            AND e.id < n.target_id)
                        OR n.user_key <> '' AND EXISTS (SELECT FROM pushmta.delivery_target e WHERE e.delivery_id = $1
                            AND e.user_key = n.user_key AND e.id < n.target_id)
                        OR EXISTS (SELECT FROM pushmta.delivery_target e WHERE e.delivery_id = $1
                            AND e.push_token = n.push_token AND e.id < n.target_id)) THEN 5
                    ELSE 0 END AS exclusion
            FROM named n
            CROSS JOIN delivery d
            JOIN apps a ON a.application_id = n.application_id AND n.id <= a.prepare_to
        )
        """
    }

    // MARK: One of several

    /// The first row that names subscription `subject`, null if none does.
    private static func firstTarget(_ subject: String) -> String {
        let first = { (condition: String) in
            """
            (SELECT e.id FROM pushmta.delivery_target e WHERE e.delivery_id = $1 AND \(condition)
                AND e.id <= (SELECT prepare_to FROM delivery) ORDER BY e.id LIMIT 1)
            """
        }
        return """
            least(\(first("e.subscription_id = \(subject).id")),
                CASE WHEN \(subject).user_key <> '' THEN \(first("e.user_key = \(subject).user_key")) END,
                CASE WHEN \(subject).enabled THEN \(first("e.push_token = \(subject).push_token")) END)
            """
    }

    /// The groups whose first row is in this chunk, as a whole, and the other subscriptions that its rows name. A
    /// subscription that an earlier row has named is a duplicate, and so is a group that was judged before.
    private static func judgedGroups(_ target: ChunkTarget) -> String {
        // A subscription without a user has no group by user.
        let withoutUser = target.onePerUser ? "s.user_key = ''" : "true"
        var tables: [String] = []
        var members: [String] = []
        if target.onePerUser {
            let ofUser = "s.user_key = g.user_key AND s.user_key <> ''"
            tables.append(keys("users", "user_key", where: "s.user_key <> ''", members: [ofUser], sign: ""))
            members.append(group(target, "users", [ofUser]))
        }
        if target.hasSharedTokens {
            let ofToken = ["s.enabled", "NOT s.enabled"].map {
                "s.push_token = g.push_token AND \($0) AND \(withoutUser)"
            }
            tables.append(keys("tokens", "push_token", where: withoutUser, members: ofToken, sign: "-"))
            members.append(group(target, "tokens", ofToken))
        }
        let isGrouped = target.hasSharedTokens ? "true" : "s.user_key <> ''"
        let leaves = target.onePerUser && target.hasSharedTokens ? "WHEN \(leavesNamedToken(target)) THEN 5" : ""
        return """
            pairs AS MATERIALIZED (
                SELECT n.*, x.external_account_id, \(firstTarget("n")) AS first_target
                FROM named n JOIN apps x ON x.application_id = n.application_id AND n.id <= x.prepare_to
            ), \(tables.joined(separator: ", ")), members AS MATERIALIZED (
                SELECT s.*, CASE WHEN s.exclusion <> 0 THEN s.exclusion \(listed(target, "s")) \(leaves) ELSE 0 END::smallint AS result
                FROM (\(members.joined(separator: " UNION ALL "))) s WHERE s.target_id IS NOT NULL
            ), ranked AS MATERIALIZED (
                SELECT s.*, row_number() OVER (PARTITION BY s.peer, s.result = 0 ORDER BY s.registered_at DESC, s.id DESC) AS place
                FROM members s
            ), \(target.caps.table("judged")) AS MATERIALIZED (
                SELECT r.target_id, (SELECT e.variables IS NOT NULL FROM pushmta.delivery_target e WHERE e.id = r.target_id) AS has_variables,
                    r.id, r.application_id, r.external_account_id,
                    CASE WHEN r.result = 0 AND r.place > 1 THEN 5 ELSE r.result END AS exclusion
                FROM ranked r
                UNION ALL
                SELECT s.target_id, s.has_variables, s.id, s.application_id, s.external_account_id,
                    CASE WHEN s.first_target >= s.target_id AND \(isGrouped) THEN -1
                        WHEN s.exclusion <> 0 THEN s.exclusion \(listed(target, "s"))
                        WHEN s.first_target < s.target_id THEN 5 ELSE 0 END
                FROM pairs s
            )
            """
    }

    /// The users, or tokens, of the chunk that no earlier row has named.
    private static func keys(
        _ table: String,
        _ key: String,
        where condition: String,
        members: [String],
        sign: String
    ) -> String {
        let met = members.map { member in
            """
            (SELECT true FROM apps x JOIN pushmta_engine.subscription s ON s.application_id = x.application_id AND s.id <= x.prepare_to
                AND \(member) WHERE \(firstTarget("s")) <= (SELECT prepared_through FROM delivery) LIMIT 1) IS NULL
            """
        }
        return """
            \(table) AS MATERIALIZED (
                SELECT g.\(key), \(sign)row_number() OVER () AS place
                FROM (SELECT DISTINCT s.\(key) FROM pairs s WHERE \(condition)) g WHERE \(met.joined(separator: " AND "))
            )
            """
    }

    /// All subscriptions of the groups in a table, with the first row that names each, which is looked up once (OFFSET
    /// 0).
    private static func group(_ target: ChunkTarget, _ table: String, _ members: [String]) -> String {
        let sources = members.map { member in
            """
            (SELECT s.id, s.application_id, s.user_key, s.push_token, s.registered_at, \(exclusionSQL(target)) AS exclusion,
                \(firstTarget("s")) AS target_id
            FROM pushmta_engine.subscription s
            WHERE s.application_id = x.application_id AND s.id <= x.prepare_to AND \(member) OFFSET 0)
            """
        }
        return """
            SELECT g.place AS peer, x.external_account_id, s.*
            FROM \(table) g CROSS JOIN apps x CROSS JOIN LATERAL (\(sources.joined(separator: " UNION ALL "))) s
            """
    }

    /// As for all subscribers (``groups(_:)``), among the named ones.
    private static func leavesNamedToken(_ target: ChunkTarget) -> String {
        let listed = target.exclusions.condition(subject: "b").map { "AND NOT \($0)" } ?? ""
        return """
            EXISTS (SELECT FROM apps x JOIN pushmta_engine.subscription b ON b.application_id = x.application_id
                    AND b.push_token = s.push_token AND b.enabled AND b.id <= x.prepare_to
                WHERE x.application_id <> s.application_id AND \(target.exclusionSQL(of: "b")) = 0 AND b.user_key <> s.user_key
                    AND (s.user_key = '' OR b.user_key <> '' AND b.id > s.id) AND \(firstTarget("b")) IS NOT NULL \(listed))
            """
    }
}
