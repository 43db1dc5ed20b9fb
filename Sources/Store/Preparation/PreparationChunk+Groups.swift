/// Groups of subscriptions of which at most one gets the message: those of a user, or those with the same push token.
///
/// Registrations during preparation change groups between two chunks. So all subscriptions of a group are judged at
/// once, in one statement and by their present state, in the chunk that reaches the first of them. No session can
/// change which chunk that is: it depends on ids and on how far each application is prepared, and a subscription keeps
/// its id and its user. Later chunks skip the others, so nothing has to be remembered.
extension PreparationChunk {
    /// The subscribers of an application that a target selects, with one message for each group.
    ///
    /// The parameters are those of ``subscribers(_:)``. Among those that would get the message, in any application of
    /// the delivery, the last registered one gets it. If its id comes after this chunk, it goes into a part of its own
    /// kind. A subscription that was created after the start takes part only if it replaces one of the same user that
    /// has been disabled since then.
    static func groups(_ target: ChunkTarget) -> String {
        """
        WITH delivery AS MATERIALIZED (
            SELECT d.id, d.log_day, d.priority, d.target::integer AS target, \(partState),
                CASE WHEN d.frozen_until IS NOT NULL THEN d.frozen_at ELSE d.started_at END AS started_at, a.prepared_through, a.prepare_to
            FROM pushmta_engine.delivery d
            JOIN pushmta_engine.delivery_application a ON a.delivery_id = d.id AND a.application_id = $6
            WHERE d.id = $1
        ), apps AS MATERIALIZED (
            \(appsSQL)
        ), slice AS MATERIALIZED (
            SELECT \(target.sliceColumns) FROM pushmta_engine.subscription s WHERE \(range(target)) LIMIT $2
        ), \(pool(target)), \(target.filterTablesSQL)judged AS MATERIALIZED (
            SELECT s.id, s.application_id, s.peer, s.in_range, s.registered_at,
                s.in_range AND s.disabled_at >= (SELECT started_at FROM delivery) AS is_replaced, \(exclusion(target)) AS exclusion
            FROM pool s \(target.filterJoinsSQL)
        ), ranked AS MATERIALIZED (
            SELECT j.*, bool_or(j.is_replaced) OVER (PARTITION BY j.peer) AS has_replaced,
                row_number() OVER (PARTITION BY j.peer, j.exclusion = 0
                    ORDER BY j.in_range DESC, j.registered_at DESC, j.id DESC) AS place
            FROM judged j WHERE j.peer IS NOT NULL
        ), \(target.caps.table("scanned")) AS MATERIALIZED (
            SELECT j.id, j.application_id, j.exclusion FROM judged j WHERE j.peer IS NULL
            UNION ALL
            SELECT r.id, r.application_id, CASE WHEN r.exclusion = 0 AND r.place > 1 THEN 5::smallint ELSE r.exclusion END
            FROM ranked r WHERE r.in_range OR r.exclusion = 0 AND r.place = 1 AND r.has_replaced
        ), \(target.caps.asked("scanned", columns: ["id", "application_id"]))\(partsSQL(target))
        """
    }

    /// The applications of the delivery.
    static let appsSQL = """
        SELECT a.application_id, a.external_account_id, a.prepared_through, a.prepare_to
        FROM pushmta_engine.delivery_application a WHERE a.delivery_id = $1
        """

    /// Numbers the messages and puts them into parts. The ids of other applications, and those after this chunk, are
    /// far apart.
    private static func partsSQL(_ target: ChunkTarget) -> String {
        """
        kept AS MATERIALIZED (
            SELECT k.id, k.application_id, k.is_near,
                row_number() OVER (ORDER BY k.is_near DESC, k.application_id, k.id)::integer AS place,
                row_number() OVER (PARTITION BY k.is_near, k.application_id ORDER BY k.id)::integer - 1 AS place_in_group,
                count(*) OVER (PARTITION BY k.is_near, k.application_id)::integer AS of_group
            FROM (SELECT s.id, s.application_id, s.application_id = $6 AND s.id <= (SELECT max(id) FROM slice) AS is_near
                FROM scanned s WHERE s.exclusion = 0) k
        ), numbered AS MATERIALIZED (
            SELECT nextval(pg_get_serial_sequence('pushmta_engine.delivery_part', 'id')) AS part_id, g.*
            FROM (
                SELECT k.application_id, k.is_near AND k.of_group * 2 >= (SELECT count(*) FROM slice) AS dense,
                    min(k.place) AS first_place, count(*)::integer AS size, array_agg(k.id ORDER BY k.place) AS ids
                FROM kept k
                GROUP BY k.application_id, k.is_near, k.of_group,
                    k.place_in_group / least($3, greatest($4, (k.of_group + $5 - 1) / $5))
            ) g
        ), parts AS (
            INSERT INTO pushmta_engine.delivery_part (id, delivery_id, application_id, external_account_id, log_day, size,
                priority, dense, state)
            SELECT n.part_id, d.id, n.application_id, x.external_account_id, d.log_day, n.size, d.priority, n.dense, d.part_state
            FROM numbered n JOIN apps x ON x.application_id = n.application_id CROSS JOIN delivery d
        ), targets AS (
            INSERT INTO pushmta_engine.delivery_part_target (part_id, delivery_id, log_day, first_sequence, last_sequence,
                subscription_ids)
            SELECT n.part_id, d.id, d.log_day, d.target + n.first_place, d.target + n.first_place + n.size - 1, n.ids
            FROM numbered n, delivery d
        ), excluded AS (
            INSERT INTO pushmta_engine.exclusion_log (delivery_id, subscription_id, application_id, log_day, reason)
            SELECT d.id, s.id, s.application_id, d.log_day, pushmta_engine.exclusion_name(s.exclusion)
            FROM scanned s, delivery d WHERE s.exclusion > 0
        ), totals AS MATERIALIZED (
            SELECT (SELECT count(*) FROM kept) AS messages, (SELECT count(*) FROM scanned WHERE exclusion > 0) AS excluded,
                (SELECT count(*) FROM slice) AS scanned, (SELECT max(id) FROM slice) AS through
        ), cursor AS (
            UPDATE pushmta_engine.delivery_application a SET
                prepared = CASE WHEN a.application_id = $6 THEN t.scanned < $2 ELSE a.prepared END,
                prepared_through = CASE WHEN a.application_id = $6 THEN coalesce(t.through, a.prepared_through)
                    ELSE a.prepared_through END,
                messages = a.messages + (SELECT count(*) FROM kept k WHERE k.application_id = a.application_id)
            FROM totals t WHERE a.delivery_id = $1
        ), counted AS (
            UPDATE pushmta_engine.delivery d SET target = d.target + t.messages, excluded = d.excluded + t.excluded,
                changed_at = now()
            FROM totals t WHERE d.id = $1
        )
        SELECT t.messages, t.excluded, (SELECT count(*) FROM numbered)\(target.failuresSQL)\(target.unaskedSQL(of: "judged"))
        FROM totals t
        """
    }

    /// The subscriptions to judge: those of the slice without a group, and all of each group that the slice reaches
    /// first. A group is a number: above zero for a user, below zero for a token.
    static func pool(_ target: ChunkTarget) -> String {
        var tables: [String] = []
        var sources: [String] = []
        if target.onePerUser {
            tables.append(usersSQL)
            sources.append(
                """
                SELECT u.place, s.id <= (SELECT x.prepare_to FROM apps x WHERE x.application_id = s.application_id), s.*
                FROM users u CROSS JOIN LATERAL (SELECT \(target.sliceColumns) FROM pushmta_engine.subscription s
                    WHERE s.user_key = u.user_key AND s.user_key <> '' OFFSET 0) s
                WHERE s.application_id IN (SELECT x.application_id FROM apps x)
                """
            )
        }
        // A subscription without a user has no group by user.
        let withoutUser = target.onePerUser ? "s.user_key = ''" : "true"
        if target.hasSharedTokens {
            tables.append(tokens(withoutUser))
            let members = ["s.enabled", "NOT s.enabled"].map { enabled in
                """
                SELECT \(target.sliceColumns) FROM pushmta_engine.subscription s
                WHERE s.application_id = x.application_id AND s.push_token = t.push_token AND \(enabled) AND s.id <= x.prepare_to
                    AND \(withoutUser)
                """
            }
            sources.append(
                """
                SELECT t.place, true, s.*
                FROM tokens t CROSS JOIN apps x CROSS JOIN LATERAL (\(members.joined(separator: " UNION ALL "))) s
                """
            )
        } else if target.onePerUser {
            sources.append("SELECT NULL::bigint, true, s.* FROM slice s WHERE \(withoutUser)")
        }
        // An empty branch that names the columns.
        let head = "SELECT NULL::bigint AS peer, true AS in_range, s.* FROM slice s WHERE false"
        tables.append("pool AS MATERIALIZED (\(([head] + sources).joined(separator: " UNION ALL ")))")
        return tables.joined(separator: ", ")
    }

    /// The users of the slice who have no subscription in an earlier chunk.
    private static let usersSQL = """
        users AS MATERIALIZED (
            SELECT u.user_key, row_number() OVER () AS place
            FROM (SELECT DISTINCT s.user_key FROM slice s WHERE s.user_key <> '') u
            WHERE (SELECT true FROM pushmta_engine.subscription b
                WHERE b.user_key = u.user_key AND b.user_key <> ''
                    AND b.id <= (SELECT x.prepared_through FROM apps x WHERE x.application_id = b.application_id) LIMIT 1) IS NULL
        )
        """

    /// The tokens of the slice that have no subscription in an earlier chunk.
    private static func tokens(_ withoutUser: String) -> String {
        let met = ["s.enabled", "NOT s.enabled"].map { enabled in
            """
            (SELECT true FROM apps x JOIN pushmta_engine.subscription s ON s.application_id = x.application_id
                AND s.push_token = t.push_token AND \(enabled) AND s.id <= x.prepared_through AND \(withoutUser) LIMIT 1) IS NULL
            """
        }
        return """
            tokens AS MATERIALIZED (
                SELECT t.push_token, -row_number() OVER () AS place
                FROM (SELECT DISTINCT s.push_token FROM slice s WHERE \(withoutUser)) t WHERE \(met.joined(separator: " AND "))
            )
            """
    }

    /// 0 for a subscription that may get the message, the reason for one that does not, -1 for one that is not
    /// selected.
    private static func exclusion(_ target: ChunkTarget) -> String {
        var cases = exclusionCases(target)
        if target.onePerUser, target.hasSharedTokens { cases.append("WHEN \(leavesToken(target)) THEN 5") }
        return "CASE \(cases.joined(separator: " ")) ELSE 0 END::smallint"
    }

    /// Whether another subscription, in another application, has the token and gets the message there. One with a user
    /// has precedence over one without, and of two users the later subscription. Ids do not change.
    ///
    /// Filter and condition refer to `s`, which is the other subscription in this subquery; the present one is `self`.
    private static func leavesToken(_ target: ChunkTarget) -> String {
        let more = [
            target.condition.map { "AND \($0)" }, target.exclusions.condition(subject: "s").map { "AND NOT \($0)" },
        ].compactMap(\.self).joined(separator: " ")
        return """
            EXISTS (SELECT FROM (SELECT s.id, s.user_key, s.push_token, s.application_id) self
                CROSS JOIN apps x CROSS JOIN LATERAL (
                    SELECT FROM pushmta_engine.subscription s \(target.filterJoinsSQL)
                    WHERE s.application_id = x.application_id AND s.push_token = self.push_token AND s.enabled AND s.id <= x.prepare_to
                        AND \(target.exclusionSQL(of: "s")) = 0 AND s.user_key <> self.user_key
                        AND (self.user_key = '' OR s.user_key <> '' AND s.id > self.id) \(more)) b
                WHERE x.application_id <> self.application_id)
            """
    }
}
