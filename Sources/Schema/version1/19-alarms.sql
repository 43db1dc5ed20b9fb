-- What somebody should look at, each thing with its subject, its words and what to do.

CREATE FUNCTION pushmta_engine.expiry_step(seconds double precision) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN seconds <= 0 THEN 'over' WHEN seconds <= 86400 THEN 'day' WHEN seconds <= 604800 THEN 'week'
        WHEN seconds <= 2592000 THEN 'month' END $$;
COMMENT ON FUNCTION pushmta_engine.expiry_step(double precision) IS
    'How near the end is of what is good for so many seconds more: month (30 days), week, day, over; null while nobody need know. '
    'The program''s ExpiryNotice says the same.';

CREATE FUNCTION pushmta_engine.expiry_text(seconds double precision) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT format(CASE WHEN seconds <= 0 THEN 'has expired %s ago' ELSE 'expires in %s' END,
        CASE WHEN abs(seconds) >= 172800 THEN floor(abs(seconds) / 86400)::bigint || ' days'
            WHEN floor(abs(seconds) / 3600) = 1 THEN '1 hour' ELSE floor(abs(seconds) / 3600)::bigint || ' hours' END) $$;
COMMENT ON FUNCTION pushmta_engine.expiry_text(double precision) IS
    'How much time is left of so many seconds, in words that end a sentence. The program''s ExpiryNotice says the same.';

-- Each branch says the same columns. What they are about has its own view where there is one, so that a fact is defined once.
CREATE VIEW pushmta.alarm AS
-- Gateways and applications.
SELECT 'critical' AS severity, 'gateway_trouble' AS code, 'application' AS subject_kind, t.application AS subject,
    format('the gateway of account %s has taken nothing for %s s (%s): %s messages wait and keep their attempts, %s probes were '
        'sent; sending goes on by itself when one is taken', t.account, floor(t.seconds)::bigint, t.reason, t.waiting, t.probes) AS text,
    format('pushmta app resume %s tries at once', t.application) AS remedy, t.began_at AS since, NULL::bigint AS delivery_id
-- Where nothing waits nobody probes, and nobody has to know.
FROM pushmta.gateway_trouble t WHERE t.state = 'trouble' AND t.waiting > 0
UNION ALL
SELECT 'warning', 'mass_failure', 'application', a.name,
    format('%s of the last %s messages failed for one reason: %s', f.n, f.ended, coalesce(nullif(f.reason, ''), 'none was given')),
    'pushmta answers says what it means', NULL, NULL
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
-- More than one in five is no accident, which is what the guard against mix-ups of environments takes, too; fewer than 20 say nothing.
WHERE f.measure = 2 AND f.n >= 20 AND f.n * 5 > f.ended
UNION ALL
SELECT CASE WHEN a.circuit = 'closed' THEN 'warning' ELSE 'critical' END,
    CASE WHEN a.circuit = 'closed' THEN 'application_trouble' ELSE 'circuit_open' END, 'application', a.name,
    CASE WHEN a.circuit = 'closed' THEN '' ELSE 'its circuit is open, no message is sent or failed: ' END || a.circuit_reason,
    a.circuit_remedy, a.circuit_opened_at, NULL
FROM pushmta.application a WHERE a.circuit <> 'closed' OR a.circuit_reason <> ''
UNION ALL
SELECT CASE WHEN pushmta_engine.expiry_step(x.seconds) IN ('day', 'over') THEN 'critical' ELSE 'warning' END, 'credential_expiry',
    'credential', array_to_string(c.applications, ', '),
    CASE c.kind WHEN 'apns_key' THEN 'an APNs key (.p8) ' WHEN 'apns_certificate' THEN 'an APNs certificate (.p12) '
        WHEN 'fcm_service_account' THEN 'a service account ' ELSE 'a project key ' END || pushmta_engine.expiry_text(x.seconds),
    'set a new one with pushmta credential set', c.expires_at - interval '30 days', NULL
FROM pushmta.credential c
CROSS JOIN LATERAL (SELECT extract(epoch FROM c.expires_at - now())::double precision AS seconds) x
WHERE cardinality(c.applications) > 0 AND pushmta_engine.expiry_step(x.seconds) IS NOT NULL
UNION ALL
-- Hosts and their processes.
SELECT CASE h.health WHEN 'gone' THEN 'critical' ELSE 'warning' END, 'host_' || h.health, 'host', h.name,
    format('it has said nothing for %s s', floor(h.heartbeat_age_seconds)::bigint),
    CASE h.health WHEN 'gone' THEN format('look at that host; others take over what it held. If it is gone for good: '
        'pushmta host remove %s', h.id) ELSE 'wait; after 15 s others take over what it held' END, h.last_heartbeat, NULL
FROM pushmta.mta_host h WHERE h.health IN ('late', 'gone')
UNION ALL
SELECT 'critical', 'host_alarm', 'host', h.name, h.alarm, h.alarm_remedy, NULL, NULL
FROM pushmta.mta_host h WHERE h.alarm <> '' AND h.state <> 'stopped'
UNION ALL
SELECT 'warning', 'versions_mixed', 'versions', '',
    format('hosts run different versions (%s)', string_agg(h.name || ' ' || h.version, ', ' ORDER BY h.name, h.id)),
    'right during an upgrade, to be ended after it', NULL, NULL
FROM pushmta.mta_host h WHERE h.version_mixed HAVING count(*) > 0
UNION ALL
SELECT 'warning', 'child_' || c.health, 'child', c.id::text,
    format('it has said nothing for %s s', floor(c.heartbeat_age_seconds)::bigint),
    CASE c.health WHEN 'gone' THEN 'its supervisor or another one takes over what it held; look at host ' || c.host ELSE '' END,
    c.last_heartbeat, NULL
FROM pushmta.mta_child c WHERE c.exited_at IS NULL AND c.health IN ('late', 'gone')
UNION ALL
SELECT CASE WHEN pushmta_engine.expiry_step(x.seconds) IN ('day', 'over') THEN 'critical' ELSE 'warning' END, 'certificate_expiry',
    'web process', w.host, format('its certificate %s %s', w.file, pushmta_engine.expiry_text(x.seconds)),
    'put another one there, then send its process SIGHUP (systemctl reload): it is read again without a restart',
    w.expires_at - interval '30 days', NULL
FROM pushmta.web_certificate w
CROSS JOIN LATERAL (SELECT extract(epoch FROM w.expires_at - now())::double precision AS seconds) x
WHERE pushmta_engine.expiry_step(x.seconds) IS NOT NULL
UNION ALL
(SELECT DISTINCT ON (w.host) 'warning', 'spools_waiting', 'host', w.host,
    format('%s tracking spools of web processes that are gone have hits that are not loaded (%s KiB can be loaded)', w.waiting_spools,
        w.waiting_spool_bytes >> 10),
    'if they stay, there are files in web.workingPath that the feedback worker may not open, or that were put aside as .damaged '
        'or .unreadable: its log says which', NULL::timestamptz, NULL::bigint
-- Workers that are gone say nothing of now.
FROM pushmta.feedback_worker w WHERE w.state IN ('acting', 'standby') AND w.waiting_spools > 0
ORDER BY w.host, w.state, w.last_heartbeat DESC)
UNION ALL
-- Deliveries.
SELECT DISTINCT 'warning', 'account_inactive', 'delivery', d.id::text,
    format('its messages wait, as external account %s is not active', e.name),
    format('pushmta account set %s --enable-active', e.name), NULL::timestamptz, d.id
FROM pushmta_engine.external_account e
JOIN pushmta_engine.delivery_application x ON x.external_account_id = e.id
JOIN pushmta_engine.delivery d ON d.id = x.delivery_id
WHERE NOT e.active AND d.state IN ('pending', 'preparing', 'in_progress')
    AND (d.state <> 'in_progress' OR EXISTS (SELECT FROM pushmta_engine.delivery_part p
        WHERE p.delivery_id = d.id AND p.external_account_id = e.id AND p.state <> 'done'))
UNION ALL
SELECT 'warning', 'delivery_waiting', 'delivery', d.id::text,
    format('it cannot be prepared now, which is tried again each minute until its validity is over: %s', d.wait_reason), '', NULL, d.id
FROM pushmta_engine.delivery d WHERE d.state IN ('pending', 'preparing') AND d.wait_reason <> ''
UNION ALL
-- Of several reasons one is shown, always the same: who puts that right sees the next. A part that was sent in part was loaded.
SELECT 'warning', 'delivery_waiting', 'delivery', w.delivery_id::text,
    format('%s of its messages cannot be loaded or sent now, which is tried again each minute until its validity is over: %s',
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
-- What a child has paused for what the gateway says of it alone; one that somebody paused has no reason.
SELECT 'warning', 'delivery_paused', 'delivery', d.id::text, 'it is paused. ' || d.state_reason,
    format('pushmta delivery resume %s lets it go on', d.id), d.changed_at, d.id
FROM pushmta_engine.delivery d
WHERE d.state = 'paused' AND d.state_reason <> '' AND (d.kind <> 'continuous' OR d.parent_delivery_id IS NULL)
UNION ALL
-- What waits for a feedback worker. A worker looks each second, a supervisor each minute: what has waited for five waits for nobody.
SELECT 'critical', 'token_events_waiting', 'feedback', '',
    format('token events have waited for %s s, %s. Until then dead tokens get messages', floor(b.oldest_token_event_seconds)::bigint,
        CASE WHEN b.worker_acting THEN 'though a feedback worker acts' ELSE 'and nobody applies them' END),
    CASE WHEN b.worker_acting THEN 'its log says why' ELSE 'start pushmta feedback' END,
    now() - b.oldest_token_event_seconds * interval '1 s', NULL
FROM pushmta.feedback_backlog b WHERE b.oldest_token_event_seconds > 300
UNION ALL
SELECT 'warning', 'feedback_missing', 'feedback', '',
    format('no feedback worker acts: %s', concat_ws('; ', x.statistics, x.services, 'nothing is thrown away with age')),
    'start pushmta feedback', NULL, NULL
FROM pushmta.feedback_backlog b
CROSS JOIN LATERAL (SELECT
    CASE WHEN b.uncounted_parts > 0 OR b.oldest_hit_seconds > 300
        THEN format('statistics wait (%s finished parts are not counted)', b.uncounted_parts) END AS statistics,
    CASE WHEN b.feedback_services > 0 THEN format('nobody asks the feedback services of ios-binary gateways (%s) for dead tokens, '
        'which go on getting messages', b.feedback_services) END AS services) x
WHERE NOT b.worker_acting AND (x.statistics IS NOT NULL OR x.services IS NOT NULL)
    AND coalesce(b.oldest_token_event_seconds, 0) <= 300
UNION ALL
SELECT 'warning', 'retention_held', 'retention', h.what,
    format('far more than a day''s worth is beyond the time that it is kept for, so nothing goes: the database''s clock says %s',
        to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')),
    format('if the clock is wrong, set it right. If it is right, because feedback.retention keeps less now or no feedback worker has '
        'acted for days, it goes in %s h by itself', floor(extract(epoch FROM h.goes_in) / 3600)::bigint + 1), h.since, NULL
FROM pushmta.retention_hold h WHERE h.held;
COMMENT ON VIEW pushmta.alarm IS
    'What somebody should look at now: critical where messages do not go out, go out in vain or soon will, else warning. code names '
    'the kind of alarm for programs; remedy says what to do; since is null where it is not known; delivery_id is that of an alarm of a '
    'delivery. pushmta status shows it.';
