-- The feedback workers, and the feedback services of binary gateways, which they read.

CREATE TABLE pushmta_engine.feedback_worker (
    id uuid PRIMARY KEY,
    host text NOT NULL DEFAULT '',
    pid integer NOT NULL,
    version text NOT NULL DEFAULT '',
    state text NOT NULL DEFAULT 'standby' CHECK (state IN ('acting', 'standby', 'stopped')),
    acting_since timestamptz,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_heartbeat timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_action text NOT NULL DEFAULT '',
    last_action_at timestamptz,
    -- Since the start of the process.
    token_events bigint NOT NULL DEFAULT 0,
    messages_counted bigint NOT NULL DEFAULT 0,
    hits_counted bigint NOT NULL DEFAULT 0,
    hits_loaded bigint NOT NULL DEFAULT 0,
    -- Tracking spools on the worker's host whose process has ended and whose hits are not loaded yet.
    waiting_spools integer NOT NULL DEFAULT 0,
    waiting_spool_bytes bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON TABLE pushmta_engine.feedback_worker IS
    'The processes of pushmta feedback. One is active (state acting), the others are on standby.';
CREATE UNIQUE INDEX feedback_worker_acting ON pushmta_engine.feedback_worker ((true)) WHERE state = 'acting';

CREATE FUNCTION pushmta_engine.feedback_fence(worker uuid) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    PERFORM FROM feedback_worker w WHERE w.id = worker AND w.state = 'acting' FOR KEY SHARE;
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION pushmta_engine.feedback_fence(uuid) IS
    'Whether a worker is the active one. If so, it stays active for the rest of the transaction: a worker that takes over locks the row '
    'of its predecessor, and so waits for its open transaction. A worker that was silent for too long finds that it is no longer active.';

CREATE FUNCTION pushmta_engine.feedback_is_acting(within interval) RETURNS boolean LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
        SELECT EXISTS (SELECT FROM feedback_worker w WHERE w.state = 'acting'
            AND w.last_heartbeat BETWEEN clock_timestamp() - within AND clock_timestamp() + within) $$;
COMMENT ON FUNCTION pushmta_engine.feedback_is_acting(interval) IS
    'Whether an active worker has sent a heartbeat within this time. A heartbeat in the future is ignored: the clock was set back.';

CREATE FUNCTION pushmta_engine.feedback_heartbeat(worker uuid, on_host text, process integer, of_version text, action text,
    more_events bigint, more_messages bigint, more_hits bigint, lease interval) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    found_state text;
BEGIN
    INSERT INTO feedback_worker AS w (id, host, pid, version) VALUES (worker, on_host, process, of_version)
    ON CONFLICT (id) DO UPDATE SET last_heartbeat = clock_timestamp(),
        last_action = CASE WHEN action = '' THEN w.last_action ELSE action END,
        last_action_at = CASE WHEN action = '' THEN w.last_action_at ELSE clock_timestamp() END,
        token_events = w.token_events + more_events, messages_counted = w.messages_counted + more_messages,
        hits_counted = w.hits_counted + more_hits
    RETURNING w.state INTO found_state;
    IF found_state = 'acting' THEN
        RETURN true;
    END IF;
    IF feedback_is_acting(lease) THEN
        RETURN false;
    END IF;
    LOCK TABLE pushmta_engine.feedback_lock IN SHARE ROW EXCLUSIVE MODE;
    PERFORM FROM feedback_worker w WHERE w.state = 'acting' FOR UPDATE;
    IF feedback_is_acting(lease) THEN
        RETURN false;
    END IF;
    UPDATE feedback_worker w SET state = 'standby' WHERE w.state = 'acting';
    UPDATE feedback_worker w SET state = 'acting', acting_since = clock_timestamp() WHERE w.id = worker;
    DELETE FROM feedback_worker w WHERE w.state <> 'acting' AND w.last_heartbeat < clock_timestamp() - interval '7 days';
    RETURN true;
END $$;
COMMENT ON FUNCTION pushmta_engine.feedback_heartbeat(uuid, text, integer, text, text, bigint, bigint, bigint, interval) IS
    'Updates a worker''s row and returns whether it is active. A worker becomes active if no other is, or if the active one has sent no '
    'heartbeat for a lease.';

CREATE FUNCTION pushmta_engine.feedback_stop(worker uuid) RETURNS void LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
        UPDATE feedback_worker w SET state = 'stopped', last_heartbeat = clock_timestamp() WHERE w.id = worker $$;
COMMENT ON FUNCTION pushmta_engine.feedback_stop(uuid) IS
    'Marks a worker as stopped in order, so that another one takes over at once.';

CREATE VIEW pushmta.feedback_worker AS
SELECT w.id, w.host, w.pid, w.version,
    CASE WHEN w.state <> 'stopped' AND w.last_heartbeat < clock_timestamp() - interval '30 s' THEN 'gone' ELSE w.state END AS state,
    CASE WHEN w.state = 'acting' THEN w.acting_since END AS acting_since, w.started_at, w.last_heartbeat,
    extract(epoch FROM clock_timestamp() - w.last_heartbeat)::double precision AS heartbeat_age_seconds, w.last_action,
    w.last_action_at, w.token_events, w.messages_counted, w.hits_counted, w.hits_loaded, w.waiting_spools,
    w.waiting_spool_bytes
FROM pushmta_engine.feedback_worker w;
COMMENT ON VIEW pushmta.feedback_worker IS
    'The processes of pushmta feedback: which one is active, since when, and what it did last.';

CREATE TABLE pushmta_engine.feedback_reading (
    application_id integer NOT NULL REFERENCES pushmta_engine.application ON DELETE CASCADE,
    external_account_id integer NOT NULL REFERENCES pushmta_engine.external_account ON DELETE CASCADE,
    -- No other worker reads before this time. During a reading it is the end of the reader's lease.
    next_at timestamptz NOT NULL,
    begun_at timestamptz NOT NULL,
    -- The end of the last completed reading.
    ended_at timestamptz,
    -- Tokens that the service has named in total.
    tokens bigint NOT NULL DEFAULT 0,
    trouble text NOT NULL DEFAULT '',
    PRIMARY KEY (application_id, external_account_id)
) WITH (fillfactor = 50);
COMMENT ON TABLE pushmta_engine.feedback_reading IS
    'The feedback services of binary gateways: when each was read and is read next, and the result.';

CREATE VIEW pushmta_engine.feedback_route AS
SELECT p.id AS application_id, e.id AS external_account_id
FROM pushmta_engine.external_account e JOIN pushmta_engine.application p ON p.external_account_id = e.id
WHERE e.connector = 'ios-binary' AND e.active AND p.platform = 'ios' AND p.credential_id IS NOT NULL
UNION
SELECT p.id, e.id
FROM pushmta_engine.delivery d JOIN pushmta_engine.delivery_application a ON a.delivery_id = d.id
JOIN pushmta_engine.external_account e ON e.id = a.external_account_id
JOIN pushmta_engine.application p ON p.id = a.application_id
WHERE e.connector = 'ios-binary' AND e.active AND p.platform = 'ios' AND p.credential_id IS NOT NULL
    AND d.state IN ('pending', 'preparing', 'in_progress', 'paused');
COMMENT ON VIEW pushmta_engine.feedback_route IS
    'The feedback services to read: those of the binary gateways that applications or open deliveries use.';

CREATE VIEW pushmta.feedback_backlog AS
SELECT extract(epoch FROM now() - least(
        (SELECT e.created_at FROM pushmta_engine.token_event e
            WHERE e.state = 'pending' AND e.kind = 'invalid' ORDER BY e.id LIMIT 1),
        (SELECT e.created_at FROM pushmta_engine.token_event e
            WHERE e.state = 'pending' AND e.kind IN ('canonical', 'soft_error', 'success') ORDER BY e.id LIMIT 1)
    ))::double precision AS oldest_token_event_seconds,
    (SELECT count(*) FROM pushmta_engine.delivery_part p WHERE p.state = 'done' AND NOT p.counted) AS uncounted_parts,
    extract(epoch FROM now() - (SELECT u.created_at FROM pushmta_engine.tracking_uncounted u
        ORDER BY u.id LIMIT 1))::double precision AS oldest_hit_seconds,
    (SELECT count(*) FROM pushmta_engine.feedback_route) AS feedback_services,
    -- A heartbeat in the future is ignored: the clock was set back.
    EXISTS (SELECT FROM pushmta.feedback_worker w WHERE w.state = 'acting' AND w.heartbeat_age_seconds >= -30) AS worker_acting;
COMMENT ON VIEW pushmta.feedback_backlog IS
    'What waits for a feedback worker: the ages of the oldest token event and of the oldest hits, finished parts that are not counted '
    'yet, and feedback services to read. Also whether a worker is active that has sent a heartbeat within 30 s.';

CREATE FUNCTION pushmta_engine.claim_feedback_readings(worker uuid, most integer, period interval, lease interval)
    RETURNS TABLE (application_id integer, external_account_id integer) LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF NOT EXISTS (SELECT FROM external_account e WHERE e.connector = 'ios-binary' AND e.active)
        OR NOT feedback_fence(worker) THEN
        RETURN;
    END IF;
    RETURN QUERY
    INSERT INTO feedback_reading AS f (application_id, external_account_id, next_at, begun_at)
    SELECT r.application_id, r.external_account_id, now() + lease, now()
    FROM feedback_route r LEFT JOIN feedback_reading o
        ON o.application_id = r.application_id AND o.external_account_id = r.external_account_id
    WHERE o.next_at IS NULL OR o.next_at <= now() OR o.next_at > now() + greatest(period, lease)
    ORDER BY o.next_at NULLS FIRST LIMIT most
    ON CONFLICT (application_id, external_account_id) DO UPDATE SET next_at = excluded.next_at, begun_at = excluded.begun_at
    RETURNING f.application_id, f.external_account_id;
END $$;
COMMENT ON FUNCTION pushmta_engine.claim_feedback_readings(uuid, integer, interval, interval) IS
    'Gives the active worker up to the given number of services to read; gives others none. A service forgets what it has reported, so it '
    'has only one reader. A claim lasts for the lease, and each stored batch renews it, even if another worker becomes active meanwhile. '
    'A time further ahead than any period is ignored: the clock was set back, or the period is shorter now.';

CREATE VIEW pushmta.feedback_service AS
SELECT p.name AS application, e.name AS account, r.application_id IS NOT NULL AS in_use, f.begun_at, f.ended_at,
    f.next_at, f.tokens, f.trouble
FROM pushmta_engine.feedback_reading f
JOIN pushmta_engine.application p ON p.id = f.application_id
JOIN pushmta_engine.external_account e ON e.id = f.external_account_id
LEFT JOIN pushmta_engine.feedback_route r
    ON r.application_id = f.application_id AND r.external_account_id = f.external_account_id;
COMMENT ON VIEW pushmta.feedback_service IS
    'The feedback services of binary gateways: when each was read, how many tokens it named, and what went wrong.';
