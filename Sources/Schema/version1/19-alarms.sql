-- Alarms: what an operator should look at, each with its subject, its text and its remedy.

CREATE FUNCTION pushmta_engine.expiry_step(seconds double precision) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN seconds <= 0 THEN 'over' WHEN seconds <= 86400 THEN 'day' WHEN seconds <= 604800 THEN 'week'
        WHEN seconds <= 2592000 THEN 'month' END;
COMMENT ON FUNCTION pushmta_engine.expiry_step(double precision) IS
    'How soon something expires that is valid for this many seconds more: month (30 days), week, day, over; null while it needs no '
    'attention. ExpiryNotice in the program does the same.';

CREATE FUNCTION pushmta_engine.expiry_text(seconds double precision) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN format(CASE WHEN seconds <= 0 THEN 'expired %s ago' ELSE 'expires in %s' END,
        -- The view must not fail on any value: NaN and infinity are above every number.
        CASE WHEN abs(seconds) >= 172800 THEN floor(least(abs(seconds), 1e12) / 86400)::bigint || ' days'
            WHEN floor(abs(seconds) / 3600) = 1 THEN '1 hour' ELSE floor(abs(seconds) / 3600)::bigint || ' hours' END);
COMMENT ON FUNCTION pushmta_engine.expiry_text(double precision) IS
    'How much time is left, or has passed, as the end of a sentence. ExpiryNotice in the program does the same.';

-- Reads only catalogues and server memory, so it works whatever is locked.
CREATE VIEW pushmta.lock_wait AS
WITH held AS MATERIALIZED (
    SELECT l.pid, l.database, l.relation, l.mode, l.granted, l.waitstart FROM pg_locks l
), session AS MATERIALIZED (
    SELECT a.pid, a.usename, a.application_name, a.xact_start,
        -- Any session can choose its application_name, so the login counts, too.
        a.datname = current_database() AND a.application_name LIKE 'pushmta/%' AND EXISTS (
            SELECT FROM pg_roles r
            WHERE (r.rolname IN ('pushmta_runtime', 'pushmta_web', 'pushmta_console') OR r.oid = (
                    SELECT n.nspowner FROM pg_namespace n WHERE n.nspname = 'pushmta_engine'))
                AND pg_has_role(a.usesysid, r.oid, 'MEMBER')) AS is_ours
    FROM pg_stat_activity a
), waiter AS MATERIALIZED (
    SELECT w.pid, w.relation, w.waitstart, pg_blocking_pids(w.pid) AS behind
    FROM (
        SELECT l.pid, max(l.relation) AS relation, min(l.waitstart) AS waitstart FROM held l JOIN session s ON s.pid = l.pid AND s.is_ours
        WHERE NOT l.granted GROUP BY l.pid
    ) w
), blocked AS (
    SELECT b.pid, count(*) AS waiting, min(w.waitstart) AS waits_since, min(w.relation) AS relation
    FROM waiter w CROSS JOIN LATERAL (SELECT DISTINCT u.pid FROM unnest(w.behind) u(pid)) b
    -- A session that waits itself blocks others only because of another session.
    WHERE NOT EXISTS (SELECT FROM held l WHERE l.pid = b.pid AND NOT l.granted)
    GROUP BY b.pid
), standing AS (
    -- Locks that keep PushMTA from writing. Except the tables at which sessions queue before they lock a delivery: no session waits
    -- there for long.
    SELECT coalesce(l.pid, 0) AS pid, min(c.oid) AS relation, max(l.mode) AS mode
    FROM held l
    JOIN pg_class c ON c.oid = l.relation AND c.relkind IN ('r', 'p', 'i', 'I') AND c.relname !~ '^delivery_lock_'
    JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname IN ('pushmta', 'pushmta_engine')
    WHERE l.granted AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
        AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
        AND NOT EXISTS (SELECT FROM session s WHERE s.pid = l.pid AND s.is_ours)
    GROUP BY coalesce(l.pid, 0)
)
SELECT h.pid, s.usename AS role_name, s.application_name, x.object, coalesce(h.waiting, 0) AS waiting, s.xact_start AS since,
    h.waits_since,
    format('%s; %s', x.holder,
        CASE WHEN h.waiting IS NULL THEN 'no PushMTA session is waiting for it now'
            WHEN h.waiting = 1 THEN '1 PushMTA session is waiting for it'
            ELSE format('%s PushMTA sessions are waiting for it', h.waiting) END) AS text,
    h.mode IS NOT NULL AS stands, x.holder
FROM (
    SELECT coalesce(b.pid, t.pid) AS pid, coalesce(t.relation, b.relation) AS relation, t.mode, b.waiting, b.waits_since
    FROM blocked b FULL JOIN standing t ON t.pid = b.pid
) h
LEFT JOIN session s ON s.pid = h.pid
CROSS JOIN LATERAL (SELECT coalesce((SELECT format('%I.%I', n.nspname, c.relname) || CASE WHEN h.mode IS NULL THEN '' ELSE
        format(' (%s)', h.mode) END
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = h.relation), 'rows') AS object) o
CROSS JOIN LATERAL (SELECT o.object, format('%s has locked %s', CASE WHEN h.pid = 0 THEN 'a prepared transaction (pg_prepared_xacts)'
    ELSE format('session %s of %s%s', h.pid, coalesce(s.usename, 'an unknown role'),
        coalesce(' (' || nullif(s.application_name, '') || ')', '')) END, o.object) AS holder) x;
COMMENT ON VIEW pushmta.lock_wait IS
    'Sessions whose locks block PushMTA: those that its own sessions wait for, and other sessions with a lock on its tables that prevents '
    'writing (stands), whether or not a session waits for it. holder is the session and what it has locked. since is the start of its '
    'transaction; only members of pg_monitor see that of other roles. The view reads no table, so it answers whatever is locked.';

CREATE VIEW pushmta.lock_alarm AS
SELECT 'critical' AS severity, 'lock_held' AS code, 'session' AS subject_kind, w.pid::text AS subject, w.text AS text,
    CASE WHEN w.pid = 0 THEN 'COMMIT PREPARED or ROLLBACK PREPARED it'
        ELSE format('let it end its transaction, or end it: SELECT pg_terminate_backend(%s)', w.pid) END AS remedy,
    coalesce(w.since, w.waits_since) AS since, NULL::bigint AS delivery_id
FROM pushmta.lock_wait w
-- PushMTA's own sessions never hold a lock that long. If the start of a transaction is hidden from us, a lock that prevents writing
-- counts as old: it is not a short row lock.
WHERE coalesce(w.since, CASE WHEN w.stands THEN '-infinity' ELSE w.waits_since END) <= clock_timestamp() - interval '10 s';
COMMENT ON VIEW pushmta.lock_alarm IS
    'The lock alarms of pushmta.alarm: locks that have blocked PushMTA for 10 s. It can be read while tables are locked.';

-- The tables that it reads are created later.
CREATE FUNCTION pushmta_engine.event_alarms() RETURNS TABLE (severity text, code text, subject_kind text, subject text, text text,
    remedy text, since timestamptz, delivery_id bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT 'warning', 'consumer_away', 'consumer', c.name,
        format('it has not read its events for %s min; from %s UTC on it loses some', floor(c.lag_seconds / 60)::bigint,
            to_char((c.position_at + c.max_age) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')),
        format('let its reader run again, or remove it: pushmta events drop %s', c.name), c.position_at, NULL::bigint
    FROM pushmta.event_consumer c WHERE c.is_behind AND c.lag_seconds > extract(epoch FROM c.max_age) / 4
    UNION ALL
    SELECT 'warning', 'events_lost', 'consumer', g.consumer,
        format('it has lost events up to %s UTC (%s are counted), because %s',
            to_char(max(g.through_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), sum(g.lost),
            CASE WHEN bool_and(g.why = 'restored') THEN 'the database was restored from a dump' ELSE 'it was away for too long' END),
        'pushmta.event_gap says which; compare the reader''s data with the views of schema pushmta', min(g.noted_at), NULL
    FROM pushmta.event_gap g WHERE g.noted_at > now() - interval '1 day' GROUP BY g.consumer
    UNION ALL
    SELECT 'warning', 'webhook_failing', 'consumer', w.consumer,
        CASE WHEN NOT w.active THEN 'its webhook was disabled: ' || w.inactive_reason
            WHEN w.dead_letters > 0 THEN format('%s batches of its webhook are dead letters, because the receiver did not accept them',
                w.dead_letters)
            ELSE format('the receiver of its webhook did not accept a batch in %s attempts: %s', w.attempts, w.trouble) END,
        CASE WHEN NOT w.active THEN 'pushmta webhook enable ' || w.consumer WHEN w.dead_letters > 0
            THEN 'pushmta webhook dead lists them; pushmta webhook resend posts one again, or drop the webhook'
            ELSE 'see the receiver''s log; it is tried again' END, NULL, NULL
    FROM pushmta.webhook w WHERE NOT w.active AND w.inactive_reason <> '' OR w.dead_letters > 0 OR w.attempts >= 4;
END $$;
COMMENT ON FUNCTION pushmta_engine.event_alarms() IS
    'The alarms of consumers of events: they have not read for a quarter of the time for which events are kept, or have lost some, or '
    'their webhook does not get through.';

-- The table that it reads is created later.
CREATE FUNCTION pushmta_engine.recall_alarms() RETURNS TABLE (severity text, code text, subject_kind text, subject text, text text,
    remedy text, since timestamptz, delivery_id bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT 'warning', 'delivery_returned', 'delivery', d.id::text,
        'it recalls another delivery, could not be sent and was stopped: ' || replace(d.state_reason, E'\n', '; '),
        format('recall that one again; pushmta delivery archive %s ends this alarm', d.id), d.changed_at, d.id
    FROM pushmta_engine.delivery d WHERE d.state = 'stopped' AND d.state_reason <> '' AND d.recurrence_of IS NULL
        AND d.archived_at IS NULL AND d.finished_at > now() - interval '1 day' AND EXISTS (SELECT FROM recall r WHERE r.child_id = d.id);
END $$;
COMMENT ON FUNCTION pushmta_engine.recall_alarms() IS
    'The alarms of second deliveries of recalls that could not be sent, until the recall is repeated. A day later their texts are of no '
    'use.';

-- The tables that it reads are created later.
CREATE FUNCTION pushmta_engine.experiment_alarms() RETURNS TABLE (severity text, code text, subject_kind text, subject text, text text,
    remedy text, since timestamptz, delivery_id bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT 'warning', 'experiment_undecided', 'delivery', d.id::text,
        format('its experiment has no winner, and %s messages wait for one%s', c.messages,
            coalesce(' until ' || to_char(d.valid_until AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"') || ', when they expire', '')),
        format('choose it: pushmta delivery experiment winner %s VARIANT', d.id), e.decided_at, d.id
    FROM experiment e
    JOIN pushmta_engine.delivery d ON d.id = e.delivery_id AND d.started_at IS NOT NULL
        AND d.state IN ('preparing', 'in_progress', 'paused')
    JOIN experiment_cell c ON c.delivery_id = e.delivery_id AND c.cell = 9 AND c.messages > 0
    WHERE e.winner IS NULL AND e.decided_at IS NOT NULL;
END $$;
COMMENT ON FUNCTION pushmta_engine.experiment_alarms() IS
    'The alarms of experiments without a sure winner whose rest waits until a person chooses.';

-- Each branch returns the same columns. It reads the view of its subject where there is one, so that a fact is defined once.
CREATE VIEW pushmta.alarm AS
-- Gateways and applications.
SELECT 'critical' AS severity, 'gateway_trouble' AS code, 'application' AS subject_kind, t.application AS subject,
    format('the gateway of account %s has taken nothing since %s UTC (%s): %s messages wait and keep their attempts, %s probes were '
        'sent; sending resumes automatically when the gateway takes one', t.account,
        to_char(t.began_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), t.reason, t.waiting, t.probes) AS text,
    format('pushmta app resume %s tries at once', t.application) AS remedy, t.began_at AS since, NULL::bigint AS delivery_id
-- If nothing waits, nothing is probed, and no operator needs to know.
FROM pushmta.gateway_trouble t WHERE t.state = 'trouble' AND t.waiting > 0
UNION ALL
SELECT 'critical', 'credential_refused', 'application', a.name,
    format('%s of its messages wait separately, because the gateway of account %s answers %s: a credential stored with the gateway, '
        'which only these messages need, is wrong. All others go on; every five minutes one of them is tried (%s so far)', c.messages,
        e.name, w.reason, w.probes),
    format('correct the credential, for FCM in the Firebase console (project settings, Cloud Messaging), then pushmta app resume %s; or '
        'stop the deliveries', a.name), w.began_at, NULL
FROM pushmta_engine.credential_wait w
JOIN pushmta_engine.application a ON a.id = w.application_id
JOIN pushmta_engine.external_account e ON e.id = w.external_account_id
CROSS JOIN LATERAL (SELECT sum(p.size - p.handed_over - p.sent - p.failed - p.ignored - p.not_applicable - p.canceled
        - p.unknown)::bigint AS messages
    FROM pushmta_engine.delivery_part p WHERE p.application_id = w.application_id AND p.external_account_id = w.external_account_id
        AND p.waits_for = w.reason AND p.state <> 'done') c
WHERE w.ended_at IS NULL AND c.messages > 0
UNION ALL
SELECT 'critical', 'tokens_doubted', 'application', a.name,
    format('its gateway called %s of the last %s tokens dead, far more than a fleet loses. The messages have failed, but '
        'the tokens stay as they are (%s refusals are unconfirmed). A token is dead if it is refused again at least six hours later; '
        'the rest are decided after mta.quarantine.doubtDays', d.refused, d.answered, c.n),
    format('if the gateway or the credential was wrong: pushmta quarantine doubted %s --undo; if the tokens are dead: pushmta quarantine '
        'doubted %s --confirm', a.name, a.name), d.began_at, NULL
FROM pushmta_engine.token_doubt d
JOIN pushmta_engine.application a ON a.id = d.application_id
CROSS JOIN LATERAL (SELECT count(*) AS n FROM pushmta_engine.token_event e
    WHERE e.application_id = d.application_id AND e.state = 'doubted') c
WHERE c.n > 0
UNION ALL
SELECT 'warning', 'mass_failure', 'application', a.name,
    format('%s of the last %s messages failed for one reason: %s', f.n, f.ended, coalesce(nullif(f.reason, ''), 'none was given')),
    'pushmta answers explains the reason', NULL, NULL
FROM (
    SELECT e.application_id, e.measure, e.reason, e.n, sum(e.n) OVER (PARTITION BY e.application_id) AS ended
    FROM (
        -- This hour and the one before, of deliveries that are under way or ended in that time.
        SELECT s.application_id, s.measure, s.reason, sum(s.n)::bigint AS n
        FROM (
            SELECT d.id FROM pushmta_engine.delivery d WHERE d.state IN ('preparing', 'in_progress', 'paused')
            UNION
            SELECT d.id FROM pushmta_engine.delivery d WHERE d.finished_at > now() - interval '2 hours'
        ) d CROSS JOIN LATERAL (
            SELECT x.application_id, x.measure, x.reason, x.n FROM pushmta_engine.delivery_hour x
            WHERE x.delivery_id = d.id AND x.hour >= date_trunc('hour', now()) - interval '1 hour' AND x.measure IN (1, 2, 9)
        ) s
        GROUP BY s.application_id, s.measure, s.reason
    ) e
) f
JOIN pushmta_engine.application a ON a.id = f.application_id
-- More than one in five is no accident; the guard against mixed-up environments uses the same limit. Fewer than 20 prove nothing.
WHERE f.measure = 2 AND f.n >= 20 AND f.n * 5 > f.ended
UNION ALL
-- A campaign, a new app or a new version may cause this, too. Fewer than 10,000 are only a few megabytes.
SELECT 'warning', CASE g.kind WHEN 1 THEN 'subscriptions_growing' ELSE 'hits_repeated' END, 'application', a.name,
    format(CASE g.kind WHEN 1 THEN '%s subscriptions were registered in this hour and the last, and at most %s in any hour of the week '
            'before' ELSE '%s receipts and clicks in this hour and the last repeated earlier ones, and at most %s in any hour of the week '
            'before; ten of a message are stored, the others only counted' END, g.recent, g.usual),
    CASE g.kind WHEN 1 THEN 'if nothing explains it, a client registers devices that do not exist: the web access log says from where. '
            'web.limits.requestsPerSecond bounds each address; dead tokens end with their first message'
        ELSE 'if nothing explains it, a client repeats tracking ids: the web access log says from where. web.limits.requestsPerSecond '
            'bounds each address' END,
    NULL, NULL
FROM (
    SELECT x.application_id, x.kind,
        coalesce(sum(x.n) FILTER (WHERE x.hour >= date_trunc('hour', now()) - interval '1 hour'), 0) AS recent,
        coalesce(max(x.n) FILTER (WHERE x.hour < date_trunc('hour', now()) - interval '1 hour'), 0) AS usual
    FROM pushmta_engine.application_growth x WHERE x.hour > now() - interval '8 days' GROUP BY x.application_id, x.kind
) g JOIN pushmta_engine.application a ON a.id = g.application_id
WHERE g.recent >= 10000 AND g.recent > 10 * g.usual
UNION ALL
SELECT CASE WHEN a.circuit = 'closed' THEN 'warning' ELSE 'critical' END,
    CASE WHEN a.circuit = 'closed' THEN 'application_trouble' ELSE 'circuit_open' END, 'application', a.name,
    CASE WHEN a.circuit = 'closed' THEN '' ELSE 'its circuit is open, no message is sent or failed: ' END || a.circuit_reason,
    a.circuit_remedy, a.circuit_opened_at, NULL
FROM pushmta.application a WHERE a.circuit <> 'closed' OR a.circuit_reason <> ''
-- One problem raises one alarm: the gateway's alarm says the same, and more.
    AND NOT EXISTS (SELECT FROM pushmta.gateway_trouble t WHERE t.application = a.name AND t.state = 'trouble' AND t.waiting > 0)
UNION ALL
SELECT CASE WHEN pushmta_engine.expiry_step(x.seconds) IN ('day', 'over') THEN 'critical' ELSE 'warning' END, 'credential_expiry',
    'credential', array_to_string(c.applications, ', '),
    CASE c.kind WHEN 'apns_key' THEN 'an APNs key (.p8) ' WHEN 'apns_certificate' THEN 'an APNs certificate (.p12) '
        WHEN 'fcm_service_account' THEN 'a service account ' ELSE 'a project key ' END || pushmta_engine.expiry_text(x.seconds),
    'set a new one with pushmta credential set', c.expires_at - interval '30 days', NULL
FROM pushmta.credential c
CROSS JOIN LATERAL (SELECT CASE WHEN isfinite(c.expires_at) THEN extract(epoch FROM c.expires_at - now()) END::double precision
    AS seconds) x
WHERE cardinality(c.applications) > 0 AND pushmta_engine.expiry_step(x.seconds) IS NOT NULL
UNION ALL
-- Children, of an application or of all, that keep starting and send nothing, except those that probe.
SELECT 'critical', 'starts_without_sends', CASE WHEN s.application_id IS NULL THEN 'children' ELSE 'application' END, coalesce(a.name, ''),
    format('%s children were started in the last 5 minutes and have sent only %s messages, although messages are ready', s.starts,
        s.resolved),
    'pushmta status --ended says why they ended; if they make room for each other, raise mta.master.maxSmallChildren or maxSpareServers',
    s.since, NULL
FROM (
    SELECT c.application_id, count(*) AS starts, sum(c.sent + c.failed + c.retried + c.unknown)::bigint AS resolved,
        min(c.started_at) AS since
    FROM pushmta_engine.mta_child c
    WHERE c.started_at > now() - interval '5 minutes'
        AND NOT EXISTS (SELECT FROM pushmta.application o WHERE o.id = c.application_id AND o.circuit <> 'closed')
        AND NOT EXISTS (SELECT FROM pushmta_engine.gateway_trouble t WHERE t.application_id = c.application_id
            AND t.external_account_id = c.external_account_id AND t.state = 'trouble')
    GROUP BY GROUPING SETS ((c.application_id), ())
    -- A child that found no messages, or one that was killed, is not a series.
    HAVING count(*) >= CASE WHEN grouping(c.application_id) = 0 THEN 5 ELSE 20 END
        AND sum(c.sent + c.failed + c.retried + c.unknown) < count(*)
) s
LEFT JOIN pushmta_engine.application a ON a.id = s.application_id
WHERE EXISTS (SELECT FROM pushmta_engine.delivery_part p WHERE p.state = 'ready' AND p.not_before <= now()
    AND (s.application_id IS NULL OR p.application_id = s.application_id))
UNION ALL
-- Hosts and their processes.
SELECT CASE h.health WHEN 'gone' THEN 'critical' ELSE 'warning' END, 'host_' || h.health, 'host', h.name,
    format('it has not reported for %s s', floor(h.heartbeat_age_seconds)::bigint),
    CASE h.health WHEN 'gone' THEN format('look at that host; others take over what it held. If it is permanently gone: '
        'pushmta host remove %s', h.id) ELSE 'wait; after 15 s others take over what it held' END, h.last_heartbeat, NULL
FROM pushmta.mta_host h WHERE h.health IN ('late', 'gone')
UNION ALL
SELECT 'critical', 'host_alarm', 'host', h.name, h.alarm, h.alarm_remedy, NULL, NULL
FROM pushmta.mta_host h WHERE h.alarm <> '' AND h.state <> 'stopped'
UNION ALL
SELECT 'warning', 'versions_mixed', 'versions', '',
    format('hosts run different versions (%s)', string_agg(h.name || ' ' || h.version, ', ' ORDER BY h.name, h.id)),
    'expected during an upgrade; finish the upgrade', NULL, NULL
FROM pushmta.mta_host h WHERE h.version_mixed HAVING count(*) > 0
UNION ALL
SELECT 'warning', 'child_' || c.health, 'child', c.id::text,
    format('it has not reported for %s s', floor(c.heartbeat_age_seconds)::bigint),
    CASE c.health WHEN 'gone' THEN 'its supervisor or another one takes over what it held; look at host ' || c.host ELSE '' END,
    c.last_heartbeat, NULL
FROM pushmta.mta_child c WHERE c.exited_at IS NULL AND c.health IN ('late', 'gone')
    -- If its host does not report, its children do not either.
    AND NOT EXISTS (SELECT FROM pushmta.mta_host h WHERE h.id = c.host_id AND h.health IN ('late', 'gone'))
UNION ALL
-- The three certificates of each address that expire first. A web process is the least trusted and may name any number of hosts,
-- but it cannot hide the certificates of others.
SELECT CASE WHEN pushmta_engine.expiry_step(x.seconds) IN ('day', 'over') THEN 'critical' ELSE 'warning' END, 'certificate_expiry',
    'web process', x.host, format('its certificate %s %s, as a session from %s reports', x.file, pushmta_engine.expiry_text(x.seconds),
        x.address)
        || CASE WHEN x.n = 3 AND x.total > 3 THEN format('; %s more expire later (pushmta.web_certificate)', x.total - 3) ELSE '' END,
    'replace the file, then send its process SIGHUP (systemctl reload): it reads the file again without a restart',
    x.expires_at - interval '30 days', NULL
FROM (SELECT w.*, s.seconds, row_number() OVER (PARTITION BY w.address ORDER BY w.expires_at, w.host, w.file) AS n,
        count(*) OVER (PARTITION BY w.address) AS total
    FROM pushmta.web_certificate w
    CROSS JOIN LATERAL (SELECT extract(epoch FROM w.expires_at - now())::double precision AS seconds) s
    WHERE pushmta_engine.expiry_step(s.seconds) IS NOT NULL) x
WHERE x.n <= 3
UNION ALL
(SELECT DISTINCT ON (w.host) 'warning', 'spools_waiting', 'host', w.host,
    format('%s tracking spools of ended web processes have hits that are not loaded (%s KiB can be loaded)', w.waiting_spools,
        w.waiting_spool_bytes >> 10),
    'if they stay, web.workingPath has files that the feedback worker may not open, or that were put aside as .damaged '
        'or .unreadable: its log says which', NULL::timestamptz, NULL::bigint
-- Workers that are gone say nothing about the present.
FROM pushmta.feedback_worker w WHERE w.state IN ('acting', 'standby') AND w.waiting_spools > 0
ORDER BY w.host, w.state, w.last_heartbeat DESC)
UNION ALL
-- Deliveries.
-- One account raises one alarm, however many deliveries wait for it.
SELECT 'warning', 'account_inactive', 'account', w.name,
    format(CASE count(*) WHEN 1 THEN 'it is not active, so messages of delivery %2$s wait'
        ELSE 'it is not active, so messages of %1$s deliveries wait, the first is %2$s' END, count(*), min(w.id)),
    format('pushmta account set %s --enable-active', w.name), NULL::timestamptz, CASE WHEN count(*) = 1 THEN min(w.id) END
FROM (
    SELECT DISTINCT e.name, d.id
    FROM pushmta_engine.external_account e
    JOIN pushmta_engine.delivery_application x ON x.external_account_id = e.id
    JOIN pushmta_engine.delivery d ON d.id = x.delivery_id
    WHERE NOT e.active AND d.state IN ('pending', 'preparing', 'in_progress')
        AND (d.state <> 'in_progress' OR EXISTS (SELECT FROM pushmta_engine.delivery_part p
            WHERE p.delivery_id = d.id AND p.external_account_id = e.id AND p.state <> 'done'))
) w GROUP BY w.name
UNION ALL
-- Started but not being prepared: no supervisor is running, deliveries are started faster than they are prepared, or another
-- session has locked them. A row lock shows up only while a session waits for it, and none does here; but its holder also has a
-- lock on the table.
SELECT 'warning', 'deliveries_unprepared', 'deliveries', '',
    format(CASE count(*) WHEN 1 THEN 'a delivery was to start %2$s s ago, but no supervisor prepares it'
        ELSE '%1$s deliveries were to start, the oldest %2$s s ago, but no supervisor prepares them' END, count(*),
        floor(extract(epoch FROM now() - min(d.start_at)))::bigint)
    || coalesce((SELECT '; open transactions that may hold deliveries: ' || string_agg(format('session %s of %s%s', a.pid,
            coalesce(a.usename, 'an unknown role'), coalesce(' (' || nullif(a.application_name, '') || ')', '')), ', ' ORDER BY a.pid)
        FROM pg_stat_activity a
        WHERE a.pid IN (SELECT l.pid FROM pg_locks l WHERE l.relation = 'pushmta_engine.delivery'::regclass AND l.granted
                AND l.database = (SELECT b.oid FROM pg_database b WHERE b.datname = current_database())
                AND l.mode IN ('RowShareLock', 'RowExclusiveLock'))
            AND a.application_name NOT LIKE 'pushmta/%' AND coalesce(a.xact_start < now() - interval '10 s', true)), ''),
    'pushmta status shows whether a supervisor runs; a large delivery that is being prepared holds up others',
    min(d.start_at), NULL
FROM pushmta_engine.delivery d
WHERE d.state = 'pending' AND d.start_at < now() - interval '1 minute' AND d.wait_reason = '' AND d.gate = ''
    AND d.parent_delivery_id IS NULL
HAVING count(*) > 0
UNION ALL
-- When little time is left. It waits for a person, so nothing is broken.
SELECT 'warning', 'delivery_unapproved', 'delivery', d.id::text,
    -- The same before and after its start: the alarm may begin before it.
    format('its start is set for %s UTC, and it is held: %s',
        to_char(d.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'), d.gate),
    format('somebody who did not make it can approve it: pushmta delivery approve %s', d.id), NULL, d.id
FROM pushmta_engine.delivery d WHERE d.state = 'pending' AND d.gate <> '' AND d.analysed
    AND d.start_at < now() + interval '15 minutes'
    AND NOT d.starts_approved
UNION ALL
-- Deliveries that wait for the same thing raise one alarm.
SELECT 'warning', 'delivery_waiting', 'delivery', min(d.id)::text,
    format('%s cannot be prepared now, which is tried again at least once a minute until %s validity is over: %s',
        CASE WHEN count(*) = 1 THEN 'it' ELSE format('it and %s others', count(*) - 1) END,
        CASE WHEN count(*) = 1 THEN 'its' ELSE 'their' END, d.wait_reason), '', NULL,
    CASE WHEN count(*) = 1 THEN min(d.id) END
FROM pushmta_engine.delivery d WHERE d.state IN ('analysing', 'pending', 'preparing') AND d.wait_reason <> '' GROUP BY d.wait_reason
UNION ALL
-- Of several reasons one is shown, always the same; after it is fixed, the next is shown. A part that was partly sent was loaded.
SELECT 'warning', 'delivery_waiting', 'delivery', w.delivery_id::text,
    format('%s of its messages cannot be loaded or sent now, which is tried again at least once a minute until its validity is over: %s',
        w.messages, w.reason), '', NULL, w.delivery_id
FROM (
    SELECT p.delivery_id, max(p.load_error) AS reason, sum(p.size - p.handed_over - p.sent - p.failed - p.ignored
        - p.not_applicable - p.canceled - p.unknown)::bigint AS messages
    FROM pushmta_engine.delivery_part p
    WHERE p.load_failures > 0 AND p.state <> 'done' AND p.dispatch_mark = 0
    GROUP BY p.delivery_id
) w JOIN pushmta_engine.delivery d ON d.id = w.delivery_id
WHERE d.state IN ('pending', 'preparing', 'in_progress')
UNION ALL
-- One signal raises one alarm, however many deliveries follow it.
SELECT 'warning', 'signal_stale', 'signal', x.name,
    format('it %s%s: %s', CASE WHEN x.sampled_at IS NULL THEN 'has had no value yet'
            ELSE format('has had no value for %s s', floor(extract(epoch FROM clock_timestamp() - x.sampled_at))::bigint) END,
        coalesce(' (' || nullif(x.error, '') || ')', ''),
        CASE WHEN x.deliveries = 1 THEN format('delivery %s follows it and is sent at its floor, %s/s', x.delivery_id, x.floor)
            ELSE format('%s deliveries follow it and are sent at their floors, the first is %s', x.deliveries, x.delivery_id) END),
    format('pushmta signal test %s says what its source answers; pushmta delivery follow DELIVERY --none ends it for a delivery', x.name),
    coalesce(x.sampled_at, x.followed_at), CASE WHEN x.deliveries = 1 THEN x.delivery_id END
FROM (
    SELECT s.name, s.sampled_at, s.error, count(*) AS deliveries, min(f.delivery_id) AS delivery_id, min(f.floor) AS floor,
        max(greatest(f.followed_at, d.started_at)) AS followed_at
    FROM pushmta_engine.delivery_signal f
    JOIN pushmta_engine.health_signal s ON s.id = f.signal_id
    JOIN pushmta_engine.delivery d ON d.id = f.delivery_id
    WHERE NOT f.ended AND d.state IN ('preparing', 'in_progress')
        AND greatest(f.followed_at, d.started_at, s.changed_at, s.sampled_at)
            < clock_timestamp() - make_interval(secs => s.stale_after_seconds)
    GROUP BY s.id
) x
UNION ALL
-- Deliveries that a child has paused because of the gateway's answers to them alone. A delivery that a user paused has no reason.
SELECT 'warning', 'delivery_paused', 'delivery', d.id::text, 'it is paused. ' || replace(d.state_reason, E'\n', '; '),
    format('pushmta delivery resume %s continues it', d.id), d.changed_at, d.id
FROM pushmta_engine.delivery d
WHERE d.state = 'paused' AND d.state_reason <> '' AND (d.kind <> 'continuous' OR d.parent_delivery_id IS NULL)
UNION ALL
SELECT 'warning', 'delivery_returned', 'delivery', d.id::text,
    'it went back to editing: ' || replace(d.state_reason, E'\n', '; '),
    format('correct it and start it again, or stop it with pushmta delivery stop %s', d.id), d.changed_at, d.id
-- A run that comes back pauses its recurrence, which has its own alarm.
FROM pushmta_engine.delivery d WHERE d.state = 'editing' AND d.state_reason <> '' AND d.recurrence_of IS NULL
UNION ALL
SELECT x.severity, x.code, x.subject_kind, x.subject, x.text, x.remedy, x.since, x.delivery_id FROM pushmta_engine.recall_alarms() x
UNION ALL
SELECT x.severity, x.code, x.subject_kind, x.subject, x.text, x.remedy, x.since, x.delivery_id FROM pushmta_engine.experiment_alarms() x
UNION ALL
SELECT 'warning', 'recurrence_paused', 'delivery', r.delivery_id::text,
    'it makes no further runs: ' || replace(r.reason, E'\n', '; '),
    format('correct it, then pushmta delivery recur start %s', r.delivery_id), r.changed_at, r.delivery_id
FROM pushmta_engine.recurrence r WHERE r.state = 'paused' AND r.reason <> ''
UNION ALL
-- What waits for a feedback worker. A worker looks every second, a supervisor every minute, so after five minutes nothing is
-- processing it.
SELECT 'critical', 'token_events_waiting', 'feedback', '',
    format('token events have waited for %s s, %s. Until then dead tokens get messages', floor(b.oldest_token_event_seconds)::bigint,
        CASE WHEN b.worker_acting THEN 'although a feedback worker is active' ELSE 'and no process applies them' END),
    CASE WHEN b.worker_acting THEN 'its log says why' ELSE 'start pushmta feedback' END,
    now() - b.oldest_token_event_seconds * interval '1 s', NULL
FROM pushmta.feedback_backlog b WHERE b.oldest_token_event_seconds > 300
UNION ALL
SELECT 'warning', 'feedback_missing', 'feedback', '',
    format('no feedback worker is active: %s', concat_ws('; ', x.statistics, x.services, 'old data is not deleted')),
    'start pushmta feedback', NULL, NULL
FROM pushmta.feedback_backlog b
CROSS JOIN LATERAL (SELECT
    CASE WHEN b.uncounted_parts > 0 OR b.oldest_hit_seconds > 300
        THEN format('statistics wait (%s finished parts are not counted)', b.uncounted_parts) END AS statistics,
    CASE WHEN b.feedback_services > 0 THEN format('the feedback services of ios-binary gateways (%s) are not read, so dead tokens '
        'go on getting messages', b.feedback_services) END AS services) x
WHERE NOT b.worker_acting AND (x.statistics IS NOT NULL OR x.services IS NOT NULL)
    AND coalesce(b.oldest_token_event_seconds, 0) <= 300
UNION ALL
SELECT 'warning', 'retention_held', 'retention', h.what,
    format('far more than a day''s data is beyond its retention, so none is deleted: the database''s clock says %s',
        to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')),
    format('if the clock is wrong, correct it. If it is right, because feedback.retention is shorter now or no feedback worker was '
        'active for days, the data is deleted automatically in %s h', floor(extract(epoch FROM h.goes_in) / 3600)::bigint + 1), h.since,
    NULL
FROM pushmta.retention_hold h WHERE h.held
UNION ALL
SELECT e.severity, e.code, e.subject_kind, e.subject, e.text, e.remedy, e.since, e.delivery_id FROM pushmta_engine.event_alarms() e
UNION ALL
SELECT l.severity, l.code, l.subject_kind, l.subject, l.text, l.remedy, l.since, l.delivery_id FROM pushmta.lock_alarm l;
COMMENT ON VIEW pushmta.alarm IS
    'What an operator should look at now. critical: messages are not sent, are sent in vain, or soon will be; otherwise warning. code '
    'identifies the kind of alarm for programs. remedy says what to do. since is null if unknown. delivery_id is set for an alarm of a '
    'delivery. pushmta status shows it.';

CREATE TABLE pushmta_engine.alarm_record (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    severity text NOT NULL,
    code text NOT NULL,
    subject_kind text NOT NULL,
    subject text NOT NULL,
    -- As last read.
    text text NOT NULL,
    remedy text NOT NULL,
    delivery_id bigint,
    began_at timestamptz NOT NULL,
    noted_at timestamptz NOT NULL,
    ended_at timestamptz,
    acknowledged_at timestamptz,
    acknowledged_by text NOT NULL DEFAULT ''
);
COMMENT ON TABLE pushmta_engine.alarm_record IS
    'Active and past alarms, one row from start to end, checked every ten seconds. Ended alarms are deleted after 180 days.';
CREATE UNIQUE INDEX alarm_record_open ON pushmta_engine.alarm_record (code, subject_kind, subject) WHERE ended_at IS NULL;
CREATE INDEX alarm_record_ended ON pushmta_engine.alarm_record (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE pushmta_engine.alarm_look (
    id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    looked_at timestamptz NOT NULL DEFAULT '-infinity'
);
COMMENT ON TABLE pushmta_engine.alarm_look IS
    'When alarms were last recorded, one row. The session that locks it records them; no other session waits.';
INSERT INTO pushmta_engine.alarm_look DEFAULT VALUES;

CREATE FUNCTION pushmta_engine.note_alarms() RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    last_look timestamptz;
BEGIN
    -- All processes call it; once in ten seconds is enough. One second less, so that no look is missed.
    SELECT l.looked_at INTO last_look FROM alarm_look l WHERE l.looked_at < moment - interval '9 seconds' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE alarm_look SET looked_at = moment;
    WITH alarms AS MATERIALIZED (
        SELECT DISTINCT ON (a.code, a.subject_kind, a.subject) a.* FROM pushmta.alarm a
        -- While the database is unreachable there are no heartbeats and no looks. A process that reported until the last look may
        -- only have lost the database since. If it is still silent at the next look, it is gone.
        WHERE a.code NOT IN ('host_gone', 'child_gone') OR a.since < last_look - interval '3 seconds'
        ORDER BY a.code, a.subject_kind, a.subject, a.severity, a.text
    ), known AS MATERIALIZED (
        -- An alarm that returns within a minute counts as never ended; otherwise a flapping alarm would fill the history.
        SELECT n.severity, n.text, n.remedy, n.code, n.subject_kind, n.subject, r.id
        FROM alarms n CROSS JOIN LATERAL (
            SELECT x.id FROM alarm_record x WHERE x.code = n.code AND x.subject_kind = n.subject_kind AND x.subject = n.subject
                AND (x.ended_at IS NULL OR x.ended_at > moment - interval '1 minute') ORDER BY x.id DESC LIMIT 1) r
    ), gone_on AS (
        UPDATE alarm_record r SET severity = k.severity, text = k.text, remedy = k.remedy, noted_at = moment, ended_at = NULL,
            -- Acknowledging a warning does not acknowledge that it has become critical.
            acknowledged_at = CASE WHEN r.severity <> 'warning' OR k.severity <> 'critical' THEN r.acknowledged_at END,
            acknowledged_by = CASE WHEN r.severity <> 'warning' OR k.severity <> 'critical' THEN r.acknowledged_by ELSE '' END
        FROM known k WHERE r.id = k.id
            AND (r.ended_at IS NOT NULL OR r.severity <> k.severity OR r.noted_at < moment - interval '1 minute')
    ), ended AS (
        UPDATE alarm_record r SET ended_at = moment
        WHERE r.ended_at IS NULL AND NOT EXISTS (SELECT FROM known k WHERE k.id = r.id)
    ), forgotten AS (
        DELETE FROM alarm_record r WHERE r.ended_at < moment - interval '180 days'
    )
    INSERT INTO alarm_record (severity, code, subject_kind, subject, text, remedy, delivery_id, began_at, noted_at)
    SELECT n.severity, n.code, n.subject_kind, n.subject, n.text, n.remedy, n.delivery_id, least(coalesce(n.since, moment), moment), moment
    FROM alarms n WHERE NOT EXISTS (SELECT FROM known k
        WHERE k.code = n.code AND k.subject_kind = n.subject_kind AND k.subject = n.subject);
    RETURN true;
END $$;
COMMENT ON FUNCTION pushmta_engine.note_alarms() IS
    'Records which alarms have started and ended since the last look; false if another session has just looked.';

CREATE VIEW pushmta.alarm_look AS
SELECT CASE WHEN isfinite(l.looked_at) THEN l.looked_at END AS looked_at FROM pushmta_engine.alarm_look l;
COMMENT ON VIEW pushmta.alarm_look IS
    'When alarms were last checked for pushmta.alarm_history, one row; null if never. If this is older than 30 s, no process checks them.';

CREATE VIEW pushmta.alarm_history AS
SELECT r.id, r.severity, r.code, r.subject_kind, r.subject, r.text, r.remedy, r.began_at, r.ended_at, r.acknowledged_at, r.acknowledged_by,
    r.delivery_id
FROM pushmta_engine.alarm_record r;
COMMENT ON VIEW pushmta.alarm_history IS
    'Active and past alarms, each with its start, its end (null: active) and who acknowledged it, accurate to ten seconds. Texts are at '
    'most a minute old. pushmta alarm list shows it.';

CREATE FUNCTION pushmta_engine.acknowledge_alarm(alarm bigint, who text, origin text) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found record;
BEGIN
    UPDATE alarm_record r SET acknowledged_at = clock_timestamp(), acknowledged_by = who
    WHERE r.id = alarm AND r.acknowledged_at IS NULL RETURNING r.code, r.subject_kind, r.subject INTO found;
    IF found IS NULL THEN
        IF EXISTS (SELECT FROM alarm_record r WHERE r.id = alarm) THEN
            RETURN;
        END IF;
        RAISE EXCEPTION 'There is no alarm %.', alarm USING ERRCODE = 'PM140', HINT = 'pushmta alarm list shows them.';
    END IF;
    PERFORM note_audit(who, 'alarm.acknowledge', concat_ws(' ', found.subject_kind, nullif(found.subject, '')), found.code, origin);
END $$;
COMMENT ON FUNCTION pushmta_engine.acknowledge_alarm(bigint, text, text) IS
    'Records that an operator has seen an alarm and is dealing with it. A second call changes nothing.';

CREATE FUNCTION pushmta_engine.console_acknowledge(caller pushmta_engine.console_caller, alarm bigint) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    PERFORM acknowledge_alarm(alarm, console_user_of(caller, ARRAY['operate', 'admin']), caller.address);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_acknowledge(pushmta_engine.console_caller, bigint) IS
    'Acknowledges an alarm for a signed-in operator or administrator.';
