-- Deletion of old data, and of a person's data on request.

CREATE TABLE pushmta_engine.retention_log (
    day date NOT NULL,
    what text NOT NULL,
    n bigint NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (day, what)
);
COMMENT ON TABLE pushmta_engine.retention_log IS 'What was deleted because of its age: one row for each day and kind of data.';

CREATE TABLE pushmta_engine.retention_hold (
    what text PRIMARY KEY,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The worker's rounds that found such data.
    rounds integer NOT NULL DEFAULT 1,
    last_round timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE pushmta_engine.retention_hold IS
    'Data that is old enough by the database''s clock but is not deleted yet: one row for each kind of data.';

CREATE FUNCTION pushmta_engine.note_retention(thing text, number bigint) RETURNS void LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
        INSERT INTO retention_log AS r (day, what, n) SELECT (now() AT TIME ZONE 'UTC')::date, thing, number WHERE number > 0
        ON CONFLICT (day, what) DO UPDATE SET n = r.n + excluded.n, changed_at = clock_timestamp() $$;
COMMENT ON FUNCTION pushmta_engine.note_retention(text, bigint) IS 'Adds to the record of what was deleted today.';

CREATE FUNCTION pushmta_engine.retention_passes(thing text, is_much boolean, once_a_round boolean) RETURNS boolean
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    is_new boolean;
    is_over boolean;
BEGIN
    IF NOT is_much THEN
        DELETE FROM retention_hold h WHERE h.what = thing;
        RETURN true;
    END IF;
    INSERT INTO retention_hold AS h (what) VALUES (thing)
    ON CONFLICT (what) DO UPDATE SET rounds = least(h.rounds + 1, 10000), last_round = clock_timestamp()
    WHERE clock_timestamp() NOT BETWEEN h.last_round AND h.last_round + interval '9 minutes';
    is_new := FOUND;
    SELECT h.rounds > 144 INTO is_over FROM retention_hold h WHERE h.what = thing;
    RETURN is_over AND (is_new OR NOT once_a_round);
END $$;
COMMENT ON FUNCTION pushmta_engine.retention_passes(text, boolean, boolean) IS
    'Whether old data of a kind may be deleted now. Only the database''s clock says how old it is, and a clock that jumps ahead makes '
    'everything old at once. So data far beyond its retention is held for a day, and the status reports that. The day is 144 rounds of '
    'the worker, one every ten minutes; they are counted because the clock is not trusted. Then the data is deleted, once in a round if '
    'once_a_round is set. The hold ends as soon as no data is far beyond its retention.';

CREATE FUNCTION pushmta_engine.drop_old_partition(parent text, before date) RETURNS text LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET lock_timeout = '300ms' AS $$
DECLARE
    most CONSTANT integer := 3;
    thing text := 'partitions of ' || parent;
    found record;
    names text[] := ARRAY[]::text[];
BEGIN
    IF parent IS NULL OR parent NOT IN ('broad_log', 'tracking_log', 'exclusion_log', 'delivery_part_target') THEN
        RAISE EXCEPTION '% is not a partitioned table.', parent USING ERRCODE = 'PM007';
    END IF;
    FOR found IN SELECT c.relname::text AS name, to_date(right(c.relname, 8), 'YYYYMMDD') AS day
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = ('pushmta_engine.' || parent)::regclass AND c.relname ~ ('^' || parent || '_[0-9]{8}$')
        ORDER BY 2
    LOOP
        -- A delivery that was started before midnight may be prepared after it.
        EXIT WHEN found.day >= least(before, (now() AT TIME ZONE 'UTC')::date - 1) OR cardinality(names) > most;
        IF NOT EXISTS (SELECT FROM delivery_part p WHERE p.state <> 'done' AND p.log_day = found.day)
            AND NOT EXISTS (SELECT FROM delivery_part p WHERE p.state = 'done' AND NOT p.counted AND p.log_day = found.day)
            AND NOT EXISTS (SELECT FROM late_outcome l WHERE l.log_day = found.day)
            AND NOT EXISTS (SELECT FROM tracking_uncounted u WHERE u.log_day = found.day)
            AND NOT EXISTS (SELECT FROM delivery d WHERE d.log_day = found.day
                AND d.state IN ('analysing', 'ready', 'pending', 'preparing', 'in_progress', 'paused'))
        THEN
            names := names || found.name;
        END IF;
    END LOOP;
    IF NOT retention_passes(thing, cardinality(names) > most, true) OR cardinality(names) = 0 THEN
        RETURN NULL;
    END IF;
    -- Only these two say what was removed. The others have retentions of their own, and may go while confirmations still come.
    IF parent IN ('broad_log', 'tracking_log') THEN
        PERFORM keep_removed(to_date(right(names[1], 8), 'YYYYMMDD'));
    END IF;
    EXECUTE format('DROP TABLE pushmta_engine.%I', names[1]);
    PERFORM note_retention(thing, 1);
    RETURN names[1];
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    RETURN NULL;
END $$;
COMMENT ON FUNCTION pushmta_engine.drop_old_partition(text, date) IS
    'Drops the oldest partition of a large table that is older than a day, unless messages of its day are unfinished or not counted yet. '
    'Returns its name, null if there is none. If more than three days are due at once, it first drops none, and later one in a round. It '
    'waits for locks only briefly, as all others wait for it. Roles that own no table may call it, so it accepts only the names of these '
    'tables.';

CREATE FUNCTION pushmta_engine.purge_subscriptions(most integer, older interval) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
DECLARE
    purged bigint;
BEGIN
    IF NOT retention_passes('disabled subscriptions', coalesce((SELECT x.disabled_at FROM subscription x
        WHERE NOT x.enabled AND x.quarantine_status < 3 AND NOT x.opted_out
            AND NOT EXISTS (SELECT FROM category_opt_out c WHERE c.subscription_id = x.id)
        ORDER BY x.disabled_at LIMIT 1) < now() - older - interval '3 days', false), false) THEN
        RETURN 0;
    END IF;
    DELETE FROM subscription s WHERE s.id = ANY(ARRAY(SELECT x.id FROM subscription x
        WHERE NOT x.enabled AND x.quarantine_status < 3 AND NOT x.opted_out AND x.disabled_at < now() - older
            AND NOT EXISTS (SELECT FROM category_opt_out c WHERE c.subscription_id = x.id)
        ORDER BY x.disabled_at LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS purged = ROW_COUNT;
    PERFORM note_retention('disabled subscriptions', purged);
    RETURN purged;
END $$;
COMMENT ON FUNCTION pushmta_engine.purge_subscriptions(integer, interval) IS
    'Deletes up to the given number of subscriptions that have been disabled for longer than the given time; returns how many. Those with '
    'an opt-out are kept: no other place has it. If one is more than three days beyond the time, all are held for a day.';

CREATE FUNCTION pushmta_engine.purge_token_events(most integer, older interval) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
DECLARE
    picked bigint[];
    is_much boolean;
    purged bigint;
BEGIN
    SELECT coalesce(array_agg(x.id), '{}'), coalesce(bool_or(x.created_at < now() - older - interval '3 days'), false)
    INTO picked, is_much
    FROM (SELECT t.id, t.created_at, t.state FROM token_event t ORDER BY t.id LIMIT most) x
    WHERE x.created_at < now() - older AND x.state NOT IN ('pending', 'held', 'doubted');
    IF NOT retention_passes('token events', is_much, false) THEN
        RETURN 0;
    END IF;
    DELETE FROM token_event e WHERE e.id = ANY(picked) AND e.state NOT IN ('pending', 'held', 'doubted');
    GET DIAGNOSTICS purged = ROW_COUNT;
    PERFORM note_retention('token events', purged);
    DELETE FROM delivery_refusal r WHERE (r.delivery_id, r.reason, r.words) IN (
        SELECT o.delivery_id, o.reason, o.words FROM delivery_refusal o WHERE o.first_at < now() - older ORDER BY o.first_at LIMIT most);
    RETURN purged;
END $$;
COMMENT ON FUNCTION pushmta_engine.purge_token_events(integer, interval) IS
    'Deletes up to the given number of token events that were decided and are older than the given time; returns how many. Only the '
    'oldest rows are read, in the order of their ids, which is nearly that of their age. If one is more than three days beyond the time, '
    'all are held for a day.';

CREATE FUNCTION pushmta_engine.purge_tracking_sources(most integer) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    oldest date;
    purged bigint;
BEGIN
    SELECT min(to_date(right(c.relname, 8), 'YYYYMMDD')) INTO oldest FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'pushmta_engine.tracking_log'::regclass AND c.relname ~ '^tracking_log_[0-9]{8}$';
    DELETE FROM tracking_source s WHERE s.id = ANY(ARRAY(SELECT x.id FROM tracking_source x
        WHERE x.changed_at < (oldest - 1)::timestamp AT TIME ZONE 'UTC'
        ORDER BY x.changed_at LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS purged = ROW_COUNT;
    PERFORM note_retention('tracking sources', purged);
    RETURN purged;
END $$;
COMMENT ON FUNCTION pushmta_engine.purge_tracking_sources(integer) IS
    'Deletes up to the given number of sources of hits that have stored none since before the oldest day whose hits are kept; returns how '
    'many. A spool that is found later cannot count a hit twice, because those days are deleted.';

CREATE FUNCTION pushmta_engine.fold_parts(parts bigint[]) RETURNS void LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
    WITH gone AS (
        DELETE FROM delivery_part p WHERE p.id = ANY(parts) AND p.state = 'done'
        RETURNING p.*, CASE WHEN p.rest_status IS NULL THEN 0 ELSE p.size - p.handed_over - p.sent - p.failed - p.ignored
            - p.not_applicable - p.canceled - p.unknown END AS rest
    ), waves AS (
        UPDATE delivery_wave w SET folded_sent = w.folded_sent + g.sent, folded_failed = w.folded_failed + g.failed,
            folded_unknown = w.folded_unknown + g.unknown
        FROM (SELECT o.delivery_id, o.wave, sum(o.sent) AS sent, sum(o.failed) AS failed, sum(o.unknown) AS unknown
            FROM gone o WHERE o.wave IS NOT NULL GROUP BY o.delivery_id, o.wave) g
        WHERE w.delivery_id = g.delivery_id AND w.number = g.wave
    )
    INSERT INTO delivery_part AS f (delivery_id, application_id, external_account_id, log_day, size, sent, failed, ignored,
        not_applicable, canceled, unknown, late_outcomes, resent_after_ambiguity, journal_replayed, priority, state,
        finished_at, folded, counted)
    SELECT g.delivery_id, g.application_id, g.external_account_id, g.log_day, sum(g.size - g.handed_over), sum(g.sent),
        sum(g.failed + CASE g.rest_status WHEN 2 THEN g.rest ELSE 0 END),
        sum(g.ignored + CASE g.rest_status WHEN 0 THEN g.rest ELSE 0 END),
        sum(g.not_applicable + CASE g.rest_status WHEN 8 THEN g.rest ELSE 0 END),
        sum(g.canceled + CASE g.rest_status WHEN 7 THEN g.rest ELSE 0 END),
        sum(g.unknown + CASE g.rest_status WHEN 9 THEN g.rest ELSE 0 END),
        sum(g.late_outcomes), sum(g.resent_after_ambiguity), sum(g.journal_replayed), max(g.priority), 'done',
        max(g.finished_at), true, true
    FROM gone g GROUP BY 1, 2, 3, 4
    HAVING sum(g.size - g.handed_over) > 0
    ON CONFLICT (delivery_id, application_id, external_account_id) WHERE folded DO UPDATE
    SET size = f.size + excluded.size, sent = f.sent + excluded.sent, failed = f.failed + excluded.failed,
        ignored = f.ignored + excluded.ignored, not_applicable = f.not_applicable + excluded.not_applicable,
        canceled = f.canceled + excluded.canceled, unknown = f.unknown + excluded.unknown,
        late_outcomes = f.late_outcomes + excluded.late_outcomes,
        resent_after_ambiguity = f.resent_after_ambiguity + excluded.resent_after_ambiguity,
        journal_replayed = f.journal_replayed + excluded.journal_replayed, finished_at = excluded.finished_at $$;
COMMENT ON FUNCTION pushmta_engine.fold_parts(bigint[]) IS
    'Folds done parts into one for each delivery, application and account. Messages that a part handed over are in the size of another '
    'part. Messages without an outcome of their own count under the outcome with which their part ended. Waves keep their results.';

CREATE FUNCTION pushmta_engine.purge_notes(delivery bigint) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    DELETE FROM message_id_range r WHERE r.delivery_id = delivery;
    PERFORM forget_findings(delivery);
    -- Its plan stays: reports show its waves and their results, and those of its experiment.
    UPDATE pushmta_engine.delivery d SET purged = true WHERE d.id = delivery;
END $$;
COMMENT ON FUNCTION pushmta_engine.purge_notes(bigint) IS
    'Deletes what is known about an ended delivery whose parts are folded, and no report shows: its analysis, and numbers of int32 '
    'message ids.';

CREATE FUNCTION pushmta_engine.purge_unstarted_targets(most bigint, before date) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
DECLARE
    deleted bigint;
BEGIN
    PERFORM set_config('pushmta.duty', 'retention', true);
    DELETE FROM pushmta.delivery_target t WHERE t.id = ANY(ARRAY(SELECT x.id
        FROM delivery d CROSS JOIN LATERAL (SELECT y.id FROM pushmta.delivery_target y
            WHERE y.delivery_id = d.id AND y.created_at < (before::timestamp AT TIME ZONE 'UTC')) x
        -- A recurring delivery keeps its targets for its next run.
        WHERE d.state = 'editing' AND NOT EXISTS (SELECT FROM recurrence r WHERE r.delivery_id = d.id) LIMIT most));
    GET DIAGNOSTICS deleted = ROW_COUNT;
    PERFORM set_config('pushmta.duty', '', true);
    PERFORM note_retention('targets of deliveries that were not started', deleted);
    RETURN deleted;
END $$;
COMMENT ON FUNCTION pushmta_engine.purge_unstarted_targets(bigint, date) IS
    'Deletes up to the given number of targets, from before the given day, of deliveries that were never started and do not recur; returns '
    'how many.';

CREATE FUNCTION pushmta_engine.purge_delivery_rows(most integer, before date) RETURNS bigint LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
DECLARE
    days date[];
    place record;
    deleted bigint;
    purged_rows bigint := 0;
    parts bigint[];
BEGIN
    days := ARRAY(SELECT o.day FROM (SELECT DISTINCT coalesce(d.log_day, (d.finished_at AT TIME ZONE 'UTC')::date) AS day
            FROM delivery d WHERE NOT d.purged AND d.finished_at IS NOT NULL
                AND coalesce(d.log_day, (d.finished_at AT TIME ZONE 'UTC')::date) < least(before, (now() AT TIME ZONE 'UTC')::date - 1)) o
        WHERE to_regclass('pushmta_engine.broad_log_' || to_char(o.day, 'YYYYMMDD')) IS NULL
            AND to_regclass('pushmta_engine.delivery_part_target_' || to_char(o.day, 'YYYYMMDD')) IS NULL);
    FOR place IN SELECT d.id FROM delivery d
        WHERE NOT d.purged AND d.finished_at IS NOT NULL
            AND coalesce(d.log_day, (d.finished_at AT TIME ZONE 'UTC')::date) = ANY(days)
            AND d.state IN ('finished', 'stopped', 'recalled')
            AND NOT EXISTS (SELECT FROM delivery_part p WHERE p.delivery_id = d.id AND p.state <> 'done')
            AND NOT EXISTS (SELECT FROM delivery_part p WHERE p.delivery_id = d.id AND p.state = 'done' AND NOT p.counted)
            AND NOT EXISTS (SELECT FROM delivery c WHERE c.parent_delivery_id = d.id AND c.finished_at IS NULL)
        ORDER BY coalesce(d.log_day, (d.finished_at AT TIME ZONE 'UTC')::date), d.id LIMIT most
        FOR NO KEY UPDATE OF d SKIP LOCKED
    LOOP
        EXIT WHEN purged_rows >= most;
        DELETE FROM pushmta.delivery_target t WHERE t.id = ANY(ARRAY(SELECT x.id FROM pushmta.delivery_target x
            WHERE x.delivery_id = place.id ORDER BY x.id LIMIT most - purged_rows));
        GET DIAGNOSTICS deleted = ROW_COUNT;
        PERFORM note_retention('delivery targets', deleted);
        purged_rows := purged_rows + deleted;
        CONTINUE WHEN purged_rows >= most;
        DELETE FROM pushmta.delivery_exclusion e WHERE e.id = ANY(ARRAY(SELECT x.id FROM pushmta.delivery_exclusion x
            WHERE x.delivery_id = place.id LIMIT most - purged_rows));
        GET DIAGNOSTICS deleted = ROW_COUNT;
        PERFORM note_retention('exclusions of deliveries', deleted);
        purged_rows := purged_rows + deleted;
        CONTINUE WHEN purged_rows >= most;
        parts := ARRAY(SELECT p.id FROM delivery_part p WHERE p.delivery_id = place.id AND NOT p.folded
            ORDER BY p.id LIMIT most - purged_rows FOR UPDATE);
        DELETE FROM delivery_part_recovery r WHERE r.part_id = ANY(parts);
        PERFORM fold_parts(parts);
        PERFORM note_retention('parts', cardinality(parts));
        purged_rows := purged_rows + cardinality(parts);
        CONTINUE WHEN purged_rows >= most;
        PERFORM purge_notes(place.id);
        purged_rows := purged_rows + 1;
    END LOOP;
    purged_rows := purged_rows + purge_unstarted_targets(most - purged_rows, before);
    RETURN purged_rows;
END $$;
COMMENT ON FUNCTION pushmta_engine.purge_delivery_rows(integer, date) IS
    'Deletes the rows of ended deliveries of days before the given one, up to about the given number of rows: targets and exclusions, '
    'parts (folded into one for each application and account, with their sums), records of lost owners, and numbers of int32 message '
    'ids. Their counts and plans stay. Skips days whose outcomes are still there: an unfinished delivery and the statistics may need them, '
    'and a clock that jumps ahead does not drop them at once. Also deletes targets of the same age of deliveries that were never started. '
    'Returns how many rows it deleted.';

CREATE FUNCTION pushmta_engine.purge_children(most integer, older interval) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
DECLARE
    picked bigint[];
    is_much boolean;
    purged_rows bigint;
    hosts bigint;
BEGIN
    SELECT coalesce(array_agg(c.id), '{}'), coalesce(bool_or(c.since < now() - older - interval '3 days'), false)
    INTO picked, is_much
    FROM ((SELECT x.id, x.exited_at AS since FROM mta_child x WHERE x.exited_at IS NOT NULL AND x.exited_at < now() - older
            ORDER BY x.exited_at LIMIT most)
        UNION ALL
        (SELECT x.id, x.last_heartbeat FROM mta_child x WHERE x.exited_at IS NULL AND x.last_heartbeat < now() - older LIMIT most)) c
    WHERE NOT EXISTS (SELECT FROM delivery_part p WHERE p.state = 'claimed' AND p.owner = c.id);
    SELECT is_much OR coalesce(bool_or(h.last_heartbeat < now() - older - interval '3 days'), false) INTO is_much
    FROM mta_host h WHERE NOT EXISTS (SELECT FROM mta_child c WHERE c.host_id = h.id);
    IF NOT retention_passes('children and hosts', is_much, false) THEN
        RETURN 0;
    END IF;
    DELETE FROM mta_child c WHERE c.id = ANY(picked);
    GET DIAGNOSTICS purged_rows = ROW_COUNT;
    DELETE FROM mta_host h WHERE h.last_heartbeat < now() - older AND NOT EXISTS (SELECT FROM mta_child c WHERE c.host_id = h.id);
    GET DIAGNOSTICS hosts = ROW_COUNT;
    PERFORM note_retention('children and hosts', purged_rows + hosts);
    RETURN purged_rows;
END $$;
COMMENT ON FUNCTION pushmta_engine.purge_children(integer, interval) IS
    'Deletes up to the given number of children that ended or last reported longer ago than the given time, and such hosts without '
    'children; returns how many. Keeps children that hold a part. If one is more than three days beyond the time, all are held for a day.';

CREATE FUNCTION pushmta.remove_host(host text, journals_lost boolean DEFAULT false)
    RETURNS TABLE (id uuid, name text, children bigint) LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
DECLARE
    found uuid[];
    wanted record;
    n bigint;
BEGIN
    found := ARRAY(SELECT h.id FROM pushmta.mta_host h WHERE h.id::text = lower(remove_host.host));
    -- A machine that was set up again has the name of the one before it. Of two hosts with one name, the one that is gone is meant.
    IF found = '{}' THEN
        found := ARRAY(SELECT h.id FROM pushmta.mta_host h WHERE h.name = remove_host.host AND h.health NOT IN ('alive', 'late'));
    END IF;
    IF found = '{}' THEN
        found := ARRAY(SELECT h.id FROM pushmta.mta_host h WHERE h.name = remove_host.host);
    END IF;
    IF cardinality(found) > 1 THEN
        RAISE EXCEPTION '% hosts have the name "%": %.', cardinality(found), remove_host.host, array_to_string(found, ', ')
            USING ERRCODE = 'PM081', HINT = 'Name one of them by its id.';
    END IF;
    -- The supervisor's next heartbeat waits until the transaction ends, and creates the row again.
    PERFORM FROM pushmta_engine.mta_host h WHERE h.id = ANY(found) FOR UPDATE;
    SELECT h.id, h.name, h.health, h.journal_folder, floor(h.heartbeat_age_seconds)::bigint AS age INTO wanted
    FROM pushmta.mta_host h WHERE h.id = ANY(found);
    IF wanted.id IS NULL THEN
        RAISE EXCEPTION 'There is no host "%".', remove_host.host
            USING ERRCODE = 'PM080', HINT = 'pushmta.mta_host lists them.';
    END IF;
    IF wanted.health IN ('alive', 'late') THEN
        RAISE EXCEPTION 'Host "%" (%) reported % s ago, so it is not gone.', wanted.name, wanted.id, wanted.age
            USING ERRCODE = 'PM082', HINT = 'Let its supervisor end first: pushmta supervisor drain --host. '
                'It is gone after 15 s of silence.';
    END IF;
    SELECT count(*) INTO n FROM delivery_part p JOIN mta_child c ON c.id = p.owner WHERE p.state = 'claimed' AND c.host_id = wanted.id;
    IF n > 0 THEN
        RAISE EXCEPTION 'Host "%" (%) holds % parts.', wanted.name, wanted.id, n
            USING ERRCODE = 'PM083', HINT = 'Another host''s supervisor takes them when they were not renewed for a lease (15 s): '
                'start one if none runs, then try again.';
    END IF;
    SELECT count(*) INTO n FROM mta_child c WHERE c.host_id = wanted.id AND c.exited_at IS NULL;
    IF n > 0 AND NOT coalesce(journals_lost, false) THEN
        RAISE EXCEPTION 'Host "%" (%) has % children without a recorded end: their journals, in its folder %, may have answers '
            'that are not stored yet.', wanted.name, wanted.id, n, wanted.journal_folder
            USING ERRCODE = 'PM084', HINT = 'Start its supervisor once more with that folder, which stores them. '
                'If the disk is lost, say so: journals_lost (pushmta host remove --journals-lost).';
    END IF;
    DELETE FROM mta_child c WHERE c.host_id = wanted.id;
    GET DIAGNOSTICS children = ROW_COUNT;
    DELETE FROM pushmta_engine.mta_host h WHERE h.id = wanted.id;
    id := wanted.id;
    name := wanted.name;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION pushmta.remove_host(text, boolean) IS
    'Removes a host that is permanently gone, by id or name, and its children from the status tables, and returns what it was. Refused if '
    'the host has reported within 15 s, if it holds parts, or if some of its children have no recorded end. journals_lost overrides the '
    'last check: it says that their journals will never be read. No messages are removed. A supervisor that is started there again is '
    'added as a host again.';

CREATE FUNCTION pushmta_engine.forgotten_text(service text, subscriptions bigint, targets bigint, exclusions bigint, seeds bigint)
    RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
    RETURN format('%s: subscriptions %s, targets %s, exclusions %s, seed addresses %s', service, subscriptions, targets, exclusions, seeds);
COMMENT ON FUNCTION pushmta_engine.forgotten_text(text, bigint, bigint, bigint, bigint) IS
    'How many rows a forgotten person had, as text for the audit log, without naming the person.';

-- Data that also belongs to another person stays: a push token that another user now has, or an exclusion list's user key that
-- exists in another service, too.
CREATE FUNCTION pushmta_engine.lock_person(person text, apps integer[], OUT ids bigint[], OUT tokens text[])
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp
    SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    devices text[];
BEGIN
    ids := ARRAY(SELECT s.id FROM subscription s WHERE s.user_key = person AND s.user_key <> '' AND s.application_id = ANY(apps));
    SELECT coalesce(array_agg(DISTINCT s.push_token), '{}'),
        coalesce(array_agg(DISTINCT s.device_id) FILTER (WHERE s.device_id IS NOT NULL), '{}')
    INTO tokens, devices FROM subscription s WHERE s.id = ANY(ids);
    ids := ids || ARRAY(
        SELECT s.id FROM subscription s
        WHERE s.application_id = ANY(apps) AND s.push_token = ANY(tokens) AND s.enabled AND s.user_key = ''
        UNION
        SELECT s.id FROM subscription s
        WHERE s.application_id = ANY(apps) AND s.push_token = ANY(tokens) AND NOT s.enabled AND s.user_key = ''
        UNION
        SELECT s.id FROM subscription s
        WHERE s.application_id = ANY(apps) AND s.device_id = ANY(devices) AND s.device_id IS NOT NULL AND s.user_key = '');
    PERFORM FROM subscription s WHERE s.id = ANY(ids) ORDER BY s.id FOR UPDATE;
    -- All tokens the person ever had here, except those that another person now has.
    tokens := ARRAY(SELECT t.token FROM (
            SELECT s.push_token AS token FROM subscription s WHERE s.id = ANY(ids)
            UNION
            SELECT u.token FROM token_event e CROSS JOIN LATERAL (VALUES (e.old_token), (e.new_token)) u(token)
            WHERE e.subscription_id = ANY(ids) AND u.token IS NOT NULL) t
        WHERE NOT EXISTS (SELECT FROM application a CROSS JOIN LATERAL (
                SELECT o.id FROM subscription o WHERE o.application_id = a.id AND o.push_token = t.token AND o.enabled
                UNION ALL
                SELECT o.id FROM subscription o WHERE o.application_id = a.id AND o.push_token = t.token AND NOT o.enabled) x
            WHERE x.id <> ALL(ids)));
END $$;
COMMENT ON FUNCTION pushmta_engine.lock_person(text, integer[]) IS
    'Locks the subscriptions of a user in these applications, and those without a user that share a push token or device. Returns them, '
    'and the tokens by which the person can be found.';

CREATE FUNCTION pushmta_engine.forget_targets(person text, apps integer[], ids bigint[], tokens text[],
    OUT targets bigint, OUT exclusions bigint)
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp
    SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    others integer[];
    deliveries bigint[];
    more bigint;
BEGIN
    deliveries := ARRAY(SELECT DISTINCT a.delivery_id FROM delivery_application a
        JOIN pushmta_engine.delivery d ON d.id = a.delivery_id AND NOT d.purged WHERE a.application_id = ANY(apps));
    -- If the delivery also goes to a person with the same key in another service, the row belongs to both.
    others := ARRAY(SELECT DISTINCT o.application_id FROM subscription o
        WHERE o.user_key = person AND o.user_key <> '' AND o.application_id <> ALL(apps));
    PERFORM set_config('pushmta.forgetting', 'on', true);
    DELETE FROM pushmta.delivery_target t WHERE t.id = ANY(ARRAY(
        SELECT x.id FROM unnest(deliveries) d(id) CROSS JOIN LATERAL (
            SELECT o.id FROM pushmta.delivery_target o WHERE o.delivery_id = d.id AND o.user_key = person
                AND NOT EXISTS (SELECT FROM delivery_application a WHERE a.delivery_id = d.id AND a.application_id = ANY(others))
            UNION ALL
            SELECT o.id FROM pushmta.delivery_target o WHERE o.delivery_id = d.id AND o.subscription_id = ANY(ids)
            UNION ALL
            SELECT o.id FROM pushmta.delivery_target o WHERE o.delivery_id = d.id AND o.push_token = ANY(tokens)) x));
    GET DIAGNOSTICS targets = ROW_COUNT;
    DELETE FROM pushmta.delivery_exclusion t WHERE t.id = ANY(ARRAY(
        SELECT x.id FROM unnest(deliveries) d(id) CROSS JOIN LATERAL (
            SELECT o.id FROM pushmta.delivery_exclusion o WHERE o.delivery_id = d.id AND o.user_key = person
                AND NOT EXISTS (SELECT FROM delivery_application a WHERE a.delivery_id = d.id AND a.application_id = ANY(others))
            UNION ALL
            SELECT o.id FROM pushmta.delivery_exclusion o WHERE o.delivery_id = d.id AND o.subscription_id = ANY(ids)
            UNION ALL
            SELECT o.id FROM pushmta.delivery_exclusion o WHERE o.delivery_id = d.id AND o.push_token = ANY(tokens)) x));
    GET DIAGNOSTICS exclusions = ROW_COUNT;
    PERFORM set_config('pushmta.forgetting', '', true);
    DELETE FROM exclusion_entry e USING pushmta_engine.exclusion_list l
    WHERE e.list_id = l.id AND (e.subscription_id = ANY(ids) OR e.push_token = ANY(tokens)
        OR e.user_key = person AND NOT EXISTS (SELECT FROM subscription o
            WHERE o.user_key = person AND o.user_key <> '' AND o.application_id <> ALL(apps)));
    GET DIAGNOSTICS more = ROW_COUNT;
    exclusions := exclusions + more;
END $$;
COMMENT ON FUNCTION pushmta_engine.forget_targets(text, integer[], bigint[], text[]) IS
    'Removes a person from the targets and exclusions of deliveries to these applications, and from exclusion lists; returns how many rows '
    'there were.';

CREATE FUNCTION pushmta_engine.forget_person(service text, user_key text)
    RETURNS TABLE (device bigint, subscriptions bigint, targets bigint, exclusions bigint, seeds bigint)
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp
    SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    person CONSTANT text := forget_person.user_key;
    of_service CONSTANT integer := service_named(forget_person.service);
    apps integer[];
    ids bigint[];
    tokens text[];
BEGIN
    IF coalesce(person, '') = '' THEN
        RAISE EXCEPTION 'The user key of the user to forget is empty.'
            USING ERRCODE = 'PM072', HINT = 'Give a user key, or a device with pushmta.unregister_device.';
    END IF;
    apps := ARRAY(SELECT a.id FROM application a WHERE a.service_id = of_service);
    SELECT p.ids, p.tokens INTO ids, tokens FROM lock_person(person, apps) p;
    SELECT t.targets, t.exclusions INTO targets, exclusions FROM forget_targets(person, apps, ids, tokens) t;
    DELETE FROM pushmta_engine.seed d WHERE d.subscription_id = ANY(ids);
    GET DIAGNOSTICS seeds = ROW_COUNT;
    DELETE FROM pushmta_engine.user_opt_out u WHERE u.user_key = person AND u.application_id = ANY(apps);
    DELETE FROM pushmta_engine.user_category_opt_out u WHERE u.user_key = person AND u.application_id = ANY(apps);
    DELETE FROM category_opt_out c WHERE c.subscription_id = ANY(ids);
    DELETE FROM conversion v WHERE v.subscription_id = ANY(ids);
    PERFORM forget_conversions(of_service, person);
    UPDATE audience a SET sample = '{}' WHERE a.service_id = of_service AND a.sample && ids;
    -- An idempotency key may reveal the person.
    DELETE FROM message_key k WHERE k.subscription_ids && ids;
    UPDATE token_event e SET new_token = NULL, old_token = NULL,
        state = CASE WHEN e.state IN ('pending', 'held', 'doubted') THEN 'outdated' ELSE e.state END
    WHERE e.subscription_id = ANY(ids)
        AND (e.new_token IS NOT NULL OR e.old_token IS NOT NULL OR e.state IN ('pending', 'held', 'doubted'));

    DELETE FROM delivery_look l WHERE l.subscription_id = ANY(ids);
    UPDATE delivery_analysis a SET samples = '[]'
    WHERE EXISTS (SELECT FROM jsonb_array_elements(a.samples) e WHERE (e ->> 'subscription_id')::bigint = ANY(ids));
    DELETE FROM subscription_import_change c USING subscription_import i WHERE c.import_id = i.id AND c.subscription_id = ANY(ids);
    PERFORM forget_caps(apps, ids);
    PERFORM forget_behaviour(apps, ids);
    -- Shorter than any token, so that no registration finds it.
    UPDATE subscription s SET push_token = 'none', user_key = '', recipient = NULL, parameters = NULL, locale = '', time_zone = '',
        device_id = NULL, device = NULL, extra = NULL, enabled = false, disabled_at = now(), disabled_reason = 'forgotten',
        opted_out = false, opted_out_at = NULL, opted_in_here = false, quarantine_status = 0, quarantine_reason = '',
        quarantined_at = NULL, soft_errors = 0
    WHERE s.id = ANY(ids);
    GET DIAGNOSTICS subscriptions = ROW_COUNT;
    INSERT INTO pushmta_engine.forgotten_subscription AS f (subscription_id, left_through)
    SELECT u.id, (now() AT TIME ZONE 'UTC')::date + 1 FROM unnest(ids) u(id)
    ON CONFLICT (subscription_id) DO UPDATE SET forgotten_at = clock_timestamp(), left_through = excluded.left_through;
    PERFORM note_devices(20, ids, '');
    device := (SELECT min(u.id) FROM unnest(ids) u(id));
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION pushmta_engine.forget_person(text, text) IS
    'Does what pushmta.forget_user does, and also returns the first of the emptied subscriptions. The caller logs it.';

CREATE FUNCTION pushmta.forget_user(service text, user_key text)
    RETURNS TABLE (subscriptions bigint, targets bigint, exclusions bigint, seeds bigint)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
DECLARE
    device bigint;
BEGIN
    SELECT f.* INTO device, subscriptions, targets, exclusions, seeds FROM forget_person(forget_user.service, forget_user.user_key) f;
    IF subscriptions + targets + exclusions + seeds > 0 THEN
        PERFORM note_change('subscriber.forget', coalesce(device::text, ''),
            forgotten_text(forget_user.service, subscriptions, targets, exclusions, seeds));
    END IF;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION pushmta.forget_user(text, text) IS
    'Forgets a user of a service, for a data-protection request. Empties the user''s subscriptions, and those without a user that share a '
    'push token or device. Removes the user from targets, exclusions, seed addresses, token events, conversions and idempotency keys of '
    'all deliveries. Logs keep the ids of messages and subscriptions, which lead to no person; the feedback worker removes addresses, '
    'browsers and variables from them day by day. A device that registers later counts as a new person. Returns how many rows there were; '
    'all 0 if there is no such user. This cannot be undone.';

CREATE FUNCTION pushmta_engine.clean_forgotten_logs(most integer) RETURNS bigint LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_mergejoin = off AS $$
DECLARE
    cleaned date;
    ids bigint[];
BEGIN
    SELECT max(f.left_through) INTO cleaned FROM pushmta_engine.forgotten_subscription f
    WHERE f.left_through IS NOT NULL
        AND f.forgotten_at NOT BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp();
    ids := ARRAY(SELECT f.subscription_id FROM pushmta_engine.forgotten_subscription f
        WHERE f.left_through = cleaned AND f.forgotten_at NOT BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp()
        ORDER BY f.subscription_id LIMIT most FOR UPDATE SKIP LOCKED);
    IF ids = '{}' THEN
        RETURN 0;
    END IF;
    IF to_regclass('pushmta_engine.delivery_part_target_' || to_char(cleaned, 'YYYYMMDD')) IS NOT NULL THEN
        EXECUTE format($sql$
            UPDATE delivery_part_target t SET variables = NULL
            WHERE t.log_day = %L AND t.variables IS NOT NULL AND t.subscription_ids && $1 $sql$, cleaned) USING ids;
        EXECUTE format($sql$
            UPDATE delivery_part_target t SET message_variables = ARRAY(
                SELECT CASE WHEN u.subscription_id <> ALL($1) THEN u.variables END
                FROM unnest(t.subscription_ids, t.message_variables) WITH ORDINALITY u(subscription_id, variables, n) ORDER BY u.n)
            WHERE t.log_day = %L AND t.message_variables IS NOT NULL AND t.subscription_ids && $1 $sql$, cleaned) USING ids;
    END IF;
    IF to_regclass('pushmta_engine.tracking_log_' || to_char(cleaned, 'YYYYMMDD')) IS NOT NULL THEN
        -- A hit may have been stored before its message's outcome; then it does not name the subscription.
        EXECUTE format($sql$
            UPDATE tracking_log h SET address = NULL, user_agent = NULL
            WHERE h.log_day = %1$L AND (h.address IS NOT NULL OR h.user_agent IS NOT NULL)
                AND (h.subscription_id = ANY($1) OR h.subscription_id IS NULL AND (h.delivery_id, h.sequence) IN (
                    SELECT t.delivery_id, coalesce(u.sequence, t.first_sequence + u.n::integer - 1)
                    FROM delivery_part_target t
                    CROSS JOIN LATERAL unnest(t.subscription_ids, t.sequences) WITH ORDINALITY u(subscription_id, sequence, n)
                    WHERE t.log_day = %1$L AND t.subscription_ids && $1 AND u.subscription_id = ANY($1))) $sql$, cleaned) USING ids;
    END IF;
    UPDATE pushmta_engine.forgotten_subscription f SET left_through = (
        SELECT max(o.day) FROM (SELECT to_date(right(c.relname, 8), 'YYYYMMDD') AS day
            FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent IN ('pushmta_engine.tracking_log'::regclass, 'pushmta_engine.delivery_part_target'::regclass)
                AND c.relname ~ '_[0-9]{8}$') o
        WHERE o.day < cleaned)
    WHERE f.subscription_id = ANY(ids);
    RETURN cardinality(ids);
END $$;
COMMENT ON FUNCTION pushmta_engine.clean_forgotten_logs(integer) IS
    'Removes what is left of up to the given number of forgotten subscriptions from the logs of one day, the newest one not cleaned yet: '
    'variables of messages, and addresses and browsers of hits. Starts a minute after they were forgotten, when open transactions have '
    'ended. Returns how many subscriptions it cleaned.';

CREATE FUNCTION pushmta_engine.purge_forgotten(most integer) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    oldest date;
    purged_rows bigint;
BEGIN
    SELECT min(to_date(right(c.relname, 8), 'YYYYMMDD')) INTO oldest FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent IN ('pushmta_engine.tracking_log'::regclass, 'pushmta_engine.broad_log'::regclass)
        AND c.relname ~ '_[0-9]{8}$';
    DELETE FROM pushmta_engine.forgotten_subscription f WHERE f.subscription_id = ANY(ARRAY(
        SELECT x.subscription_id FROM pushmta_engine.forgotten_subscription x
        WHERE x.left_through IS NULL AND x.forgotten_at < (oldest - 1)::timestamp AT TIME ZONE 'UTC'
        ORDER BY x.forgotten_at LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS purged_rows = ROW_COUNT;
    PERFORM note_retention('notes of forgotten subscriptions', purged_rows);
    RETURN purged_rows;
END $$;
COMMENT ON FUNCTION pushmta_engine.purge_forgotten(integer) IS
    'Deletes the records of up to the given number of forgotten subscriptions if the days of all their messages are deleted, so that '
    'nothing about them can arrive any more; returns how many.';

CREATE VIEW pushmta.retention_log AS SELECT r.day, r.what, r.n, r.changed_at FROM pushmta_engine.retention_log r;
COMMENT ON VIEW pushmta.retention_log IS 'What was deleted because of its age, by day.';

CREATE VIEW pushmta.retention_hold AS
SELECT h.what, h.since, h.rounds <= 144 AS held, greatest(144 - h.rounds, 0) * interval '10 minutes' AS goes_in
FROM pushmta_engine.retention_hold h;
COMMENT ON VIEW pushmta.retention_hold IS
    'Data far beyond its retention that is held for a day before it is deleted, because the clock may be wrong.';
