/// Imports the lines that COPY has put into `pg_temp.pushmta_import`: first each line is judged by what is known about
/// its address, then the lines of each kind are carried out by the ids that were found.
enum ImportStatements {
    static let copy = """
        COPY pg_temp.pushmta_import (line, push_token, user_key, locale, time_zone, recipient, parameters, registered_at) FROM STDIN
        """

    /// `kind` is the result for the line; `held` is why it is kept, or the state that it is brought back from; `clears`
    /// is whether it clears what stopped messages; `target` is the subscription that it updates, `ended` the one that
    /// it ends.
    static let staging = """
        CREATE TEMP TABLE IF NOT EXISTS pushmta_import (line bigint, push_token text, user_key text, locale text, time_zone text,
            recipient jsonb, parameters jsonb, registered_at timestamptz, kind text, held text, clears boolean, target bigint,
            ended bigint) ON COMMIT DELETE ROWS
        """

    /// The subscriptions with a line's token, of all applications: with a condition on the application, a plan made
    /// while the table is small would read the whole application, and would still do so with millions of rows.
    private static func addresses(_ condition: String) -> String {
        """
        (SELECT x.*, x.xmin AS version FROM pushmta_engine.subscription x WHERE x.push_token = i.push_token AND \(condition) OFFSET 0)
        """
    }

    /// What is known about each line's address: `e` has the token now; `d` had it last; `f` is an earlier subscription
    /// of the line's user with it, or a seed address, which no device registered. `m` is set if this import has made
    /// `e` and it has not changed since. `o` is set if the address was known before nevertheless, not counting other
    /// seeds and what earlier lines have made.
    private static let found = """
        SELECT i.push_token, i.user_key, i.registered_at, e.id AS enabled_id, e.user_key AS enabled_user, f.id AS former_id,
            e.id IS NOT NULL OR d.id IS NOT NULL AS is_known,
            coalesce(e.registered_at, greatest(d.registered_at, d.disabled_at)) AS changed_at,
            m.is_made IS NOT NULL AND o.was_known IS NULL AS is_own, m.line_time,
            greatest(e.quarantined_at, d.quarantined_at, e.opted_out_at, d.opted_out_at, f.opted_out_at) AS stopped_at,
            array_remove(ARRAY[
                CASE WHEN e.opted_out OR d.opted_out OR f.opted_out THEN 'opted_out' END,
                CASE coalesce(e.quarantine_status, d.quarantine_status) WHEN 2 THEN 'quarantined' WHEN 3 THEN 'denylisted' END,
                CASE d.disabled_reason WHEN 'unregistered' THEN 'unregistered' WHEN 'token_moved' THEN 'moved'
                    WHEN 'token_renewed' THEN 'renewed' WHEN 'token_replaced' THEN 'renewed' WHEN 'token_invalid' THEN 'quarantined'
                    ELSE CASE WHEN d.id IS NOT NULL THEN 'disabled' END END], NULL) AS states
        FROM pg_temp.pushmta_import i
        LEFT JOIN LATERAL (SELECT s.id, s.user_key, s.registered_at, s.opted_out, s.opted_out_at, s.quarantine_status,
                s.quarantined_at, s.version
            FROM \(addresses("x.enabled")) s WHERE s.application_id = $1 LIMIT 1) e ON true
        LEFT JOIN LATERAL (SELECT s.id, s.registered_at, s.opted_out, s.opted_out_at, s.quarantine_status, s.quarantined_at, s.disabled_at,
                s.disabled_reason
            FROM \(addresses("NOT x.enabled")) s
            WHERE e.id IS NULL AND s.application_id = $1 AND s.disabled_reason NOT IN ('seed', 'seed_removed')
            ORDER BY s.disabled_at DESC NULLS LAST, s.id DESC LIMIT 1) d ON true
        LEFT JOIN LATERAL (SELECT s.id, s.opted_out, s.opted_out_at FROM \(addresses("NOT x.enabled")) s
            WHERE s.application_id = $1
                AND (s.user_key = i.user_key OR i.user_key IS NULL AND (s.id = d.id OR d.id IS NULL AND s.user_key = ''))
                AND (e.id IS NULL OR i.user_key <> e.user_key)
            ORDER BY s.id DESC LIMIT 1) f ON true
        LEFT JOIN LATERAL (SELECT true AS is_made, c.line_time FROM pushmta_engine.subscription_import_change c
            WHERE c.import_id = $3 AND c.subscription_id = e.id AND c.changed_by = e.version
                AND coalesce(c.before ->> 'disabled_reason', 'seed') IN ('seed', 'seed_removed') LIMIT 1) m ON true
        LEFT JOIN LATERAL (SELECT true AS was_known FROM \(addresses("NOT x.enabled")) s
            WHERE m.is_made AND s.application_id = $1
                AND coalesce((SELECT coalesce(c.before ->> 'disabled_reason', 'seed')
                    FROM pushmta_engine.subscription_import_change c WHERE c.import_id = $3 AND c.subscription_id = s.id),
                    s.disabled_reason) NOT IN ('seed', 'seed_removed') LIMIT 1) o ON true
        """

    /// A line older than what is known changes nothing, and a line without a time is older than anything. A
    /// subscription that an earlier batch of the same file has made has the time of its line: the latest counts, and
    /// among those without a time the last one, as within a batch.
    private static let weighed = """
        SELECT k.*, coalesce(k.user_key <> k.enabled_user, false) AS is_other,
            CASE WHEN k.is_own THEN k.line_time IS NULL OR coalesce(k.registered_at >= k.line_time, false)
                ELSE coalesce(k.registered_at >= k.changed_at, false) END AS is_later,
            (SELECT u.state FROM unnest(k.states) WITH ORDINALITY u(state, n) WHERE u.state <> ALL($2) ORDER BY u.n LIMIT 1) AS barred,
            coalesce(k.registered_at >= greatest(k.changed_at, k.stopped_at), false) AS is_newest
        FROM (\(found)) k
        """

    private static let judged = """
        SELECT w.*, CASE
                WHEN NOT w.is_known THEN 'created'
                WHEN w.enabled_id IS NOT NULL AND w.is_other AND w.is_later THEN 'moved'
                WHEN w.barred IS NOT NULL OR NOT w.is_later OR w.states <> '{}' AND NOT w.is_newest THEN 'kept'
                WHEN w.states <> '{}' THEN 'returned' ELSE 'updated' END AS kind,
            w.states <> '{}' AND w.barred IS NULL AND w.is_newest AS clears
        FROM (\(weighed)) w
        """

    static let judge = """
        UPDATE pg_temp.pushmta_import u SET kind = j.kind, clears = j.clears,
            held = CASE j.kind
                WHEN 'kept' THEN coalesce(j.barred, CASE WHEN j.registered_at IS NULL THEN 'known' ELSE 'older' END)
                WHEN 'returned' THEN j.states[1]
                WHEN 'moved' THEN CASE WHEN j.clears THEN '' ELSE coalesce(j.barred, j.states[1], '') END ELSE '' END,
            target = CASE WHEN j.kind IN ('created', 'moved') THEN j.former_id WHEN j.kind <> 'kept' THEN
                coalesce(j.enabled_id, j.former_id) END,
            ended = CASE WHEN j.kind = 'moved' THEN j.enabled_id END
        FROM (\(judged)) j WHERE j.push_token = u.push_token
        """

    /// Lines whose subscription another transaction has locked change nothing.
    static let passBusy = """
        UPDATE pg_temp.pushmta_import u SET kind = 'busy', held = 'busy', target = NULL, ended = NULL
        FROM (SELECT array_agg(x.id) AS ids FROM (SELECT s.id FROM pushmta_engine.subscription s
            WHERE s.id = ANY(ARRAY(SELECT i.target FROM pg_temp.pushmta_import i UNION SELECT i.ended FROM pg_temp.pushmta_import i))
            ORDER BY s.push_token, s.id FOR NO KEY UPDATE SKIP LOCKED) x) free
        WHERE u.target <> ALL(coalesce(free.ids, '{}')) OR u.ended <> ALL(coalesce(free.ids, '{}'))
        """

    static let counts = """
        SELECT i.kind, i.held, count(*),
            CASE WHEN i.held NOT IN ('', 'known', 'older') THEN (array_agg(i.line ORDER BY i.line))[1:100] ELSE '{}' END
        FROM pg_temp.pushmta_import i GROUP BY i.kind, i.held ORDER BY i.kind, i.held
        """

    static let begin =
        "INSERT INTO pushmta_engine.subscription_import (application_id, source) VALUES ($1, $2) RETURNING id"

    /// The present values of everything that an import can change of a subscription; `undo_import_step` reads them.
    private static let state = """
        jsonb_build_object('registered_at', s.registered_at, 'enabled', s.enabled, 'disabled_at', s.disabled_at,
            'disabled_reason', s.disabled_reason, 'opted_out', s.opted_out, 'user_key_proven', s.user_key_proven,
            'quarantine_status', s.quarantine_status, 'quarantine_reason', s.quarantine_reason, 'quarantined_at', s.quarantined_at,
            'soft_errors', s.soft_errors, 'locale', s.locale, 'time_zone', s.time_zone, 'recipient', s.recipient,
            'parameters', s.parameters)
        """

    /// Records the previous values, always in the same order of tokens; locks the rows.
    static let note = """
        INSERT INTO pushmta_engine.subscription_import_change (import_id, subscription_id, changed_by, line_time, before)
        SELECT $1, o.id, xid(pg_current_xact_id()), o.line_time, o.before
        FROM (SELECT s.id, x.line_time, \(state) AS before
            FROM (SELECT i.target AS id, i.registered_at AS line_time FROM pg_temp.pushmta_import i WHERE i.target IS NOT NULL
                UNION ALL SELECT i.ended, NULL FROM pg_temp.pushmta_import i WHERE i.ended IS NOT NULL) x
            JOIN pushmta_engine.subscription s ON s.id = x.id
            ORDER BY s.push_token, s.id FOR NO KEY UPDATE OF s) o
        ON CONFLICT (import_id, subscription_id) DO UPDATE SET changed_by = excluded.changed_by, line_time = excluded.line_time
        """

    static let end = """
        UPDATE pushmta_engine.subscription s SET enabled = false, disabled_at = now(), disabled_reason = 'token_moved'
        FROM pg_temp.pushmta_import i WHERE s.id = i.ended AND s.push_token = i.push_token AND s.enabled
        """

    /// An empty value removes its field.
    private static func merged(_ column: String, with old: String) -> String {
        "NULLIF(jsonb_strip_nulls(\(old) || i.\(column)), '{}')"
    }

    /// A dead token is alive if another user has registered it since; the deny list stays.
    private static let keepsItsOwn = "s.quarantine_status = 3 OR i.ended IS NULL AND s.quarantine_status = 2"

    /// A registration clears earlier soft errors. A user who takes over a token also takes over what was reported about
    /// the address.
    static let update = """
        UPDATE pushmta_engine.subscription s SET registered_at = coalesce(i.registered_at, now()),
            user_key_proven = s.user_key_proven OR coalesce(i.user_key, '') <> '',
            locale = coalesce(i.locale, s.locale), time_zone = coalesce(i.time_zone, s.time_zone),
            recipient = CASE WHEN i.recipient IS NULL THEN s.recipient
                ELSE \(merged("recipient", with: "coalesce(s.recipient, '{}')")) END,
            parameters = CASE WHEN i.parameters IS NULL THEN s.parameters
                ELSE \(merged("parameters", with: "coalesce(s.parameters, '{}')")) END,
            enabled = true, disabled_at = NULL, disabled_reason = '', soft_errors = 0,
            opted_out = (s.opted_out OR coalesce(e.opted_out, false)) AND NOT (i.clears AND 'opted_out' = ANY($1)),
            quarantine_status = CASE WHEN i.clears THEN 0 WHEN e.quarantine_status >= 2 THEN e.quarantine_status
                WHEN s.quarantine_status = 3 THEN 3 ELSE 0 END,
            quarantine_reason = CASE WHEN i.clears THEN '' WHEN e.quarantine_status >= 2 THEN e.quarantine_reason
                WHEN \(keepsItsOwn) THEN s.quarantine_reason ELSE '' END,
            quarantined_at = CASE WHEN i.clears THEN NULL WHEN e.quarantine_status >= 2 THEN e.quarantined_at
                WHEN \(keepsItsOwn) THEN s.quarantined_at END
        FROM pg_temp.pushmta_import i LEFT JOIN pushmta_engine.subscription e ON e.id = i.ended
        WHERE s.id = i.target AND s.push_token = i.push_token
        """

    static let insert = """
        WITH made AS (
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key, user_key_proven, locale, time_zone, recipient,
                parameters, registered_at, opted_out, quarantine_status, quarantine_reason, quarantined_at)
            SELECT $1, i.push_token, coalesce(i.user_key, ''), coalesce(i.user_key, '') <> '', coalesce(i.locale, ''),
                coalesce(i.time_zone, ''), \(merged("recipient", with: "'{}'::jsonb")), \(merged("parameters", with: "'{}'::jsonb")),
                coalesce(i.registered_at, now()), coalesce(e.opted_out, false) AND NOT (i.clears AND 'opted_out' = ANY($3))
                    OR EXISTS (SELECT FROM pushmta_engine.user_opt_out u WHERE u.user_key = i.user_key AND u.application_id = $1),
                CASE WHEN e.quarantine_status >= 2 AND NOT i.clears THEN e.quarantine_status ELSE 0 END,
                CASE WHEN e.quarantine_status >= 2 AND NOT i.clears THEN e.quarantine_reason ELSE '' END,
                CASE WHEN e.quarantine_status >= 2 AND NOT i.clears THEN e.quarantined_at END
            FROM pg_temp.pushmta_import i LEFT JOIN pushmta_engine.subscription e ON e.id = i.ended
            WHERE i.kind NOT IN ('kept', 'busy') AND i.target IS NULL
            ORDER BY i.line
            ON CONFLICT DO NOTHING
            RETURNING id, push_token
        ), told AS (
            INSERT INTO pushmta_engine.event (application_id, log_day, n, kind, subscription_ids)
            SELECT $1, pushmta_engine.event_day(), count(*), 12, array_agg(m.id ORDER BY m.id)
            FROM made m WHERE pushmta_engine.records_event(12) HAVING count(*) > 0)
        INSERT INTO pushmta_engine.subscription_import_change (import_id, subscription_id, changed_by, line_time)
        SELECT $2, m.id, xid(pg_current_xact_id()), i.registered_at FROM made m JOIN pg_temp.pushmta_import i ON i.push_token = m.push_token
        ORDER BY m.id
        """

    /// The opt-outs from categories of addresses that move to another user, and of users as a whole. A file adds them and
    /// takes none away, whatever it brings back.
    static let inheritCategories = """
        INSERT INTO pushmta_engine.category_opt_out (category_id, subscription_id, source)
        SELECT c.category_id, n.id, 'kept'
        FROM pg_temp.pushmta_import i
        JOIN pushmta_engine.category_opt_out c ON c.subscription_id = i.ended
        CROSS JOIN LATERAL \(addresses("x.enabled")) n
        WHERE i.ended IS NOT NULL AND n.application_id = $1
        UNION
        SELECT u.category_id, n.id, 'user'
        FROM pg_temp.pushmta_import i
        JOIN pushmta_engine.user_category_opt_out u ON u.user_key = i.user_key AND u.application_id = $1
        CROSS JOIN LATERAL \(addresses("x.enabled")) n
        WHERE i.kind IN ('created', 'moved', 'returned') AND n.application_id = $1 AND n.user_key = i.user_key
        ON CONFLICT DO NOTHING
        """
}
