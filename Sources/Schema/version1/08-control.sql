-- Pause, resume, stop and return of deliveries, and the end of parts that will not be sent any more.
--
-- The lock order is the same everywhere: first the delivery, then its parts. A session that changes a delivery's state locks its
-- row FOR UPDATE. A session that creates or returns a part first locks the row FOR KEY SHARE, so the part gets the delivery's
-- present state.
--
-- Sessions that share a row's lock do not make way for one that waits to have it alone. Therefore they queue first, at a table:
-- sessions that create parts lock it ROW SHARE, and a session that changes the state locks it EXCLUSIVE. Several deliveries share a
-- table, so this queue is only a courtesy: no session waits there for long, and the row lock is what counts. Each timeout is below
-- deadlock_timeout (1 s), because sessions lock several of these tables in no common order.
CREATE FUNCTION pushmta_engine.delivery_slot(delivery bigint) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN hashint8(delivery) & 31;
COMMENT ON FUNCTION pushmta_engine.delivery_slot(bigint) IS
    'The number of the table at which sessions queue before they lock a delivery''s row.';

CREATE FUNCTION pushmta_engine.share_turn(deliveries bigint[]) RETURNS boolean LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET lock_timeout = '200ms' AS $$
DECLARE
    slot integer;
BEGIN
    FOR slot IN SELECT DISTINCT delivery_slot(u.id) FROM unnest(deliveries) u(id) ORDER BY 1 LOOP
        EXECUTE format('LOCK TABLE pushmta_engine.delivery_lock_%s IN ROW SHARE MODE', slot);
    END LOOP;
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END $$;
COMMENT ON FUNCTION pushmta_engine.share_turn(bigint[]) IS
    'Lets sessions that wait to pause or end one of the deliveries go first, for at most 200 ms; the caller then locks the rows. Returns '
    'false if the time ran out.';

CREATE FUNCTION pushmta_engine.yield_turn(delivery bigint) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    PERFORM share_turn(ARRAY[delivery]);
    -- Undoes the lock: what follows may take long, and others would not get their turn meanwhile.
    RAISE EXCEPTION USING ERRCODE = 'PM000';
EXCEPTION WHEN SQLSTATE 'PM000' THEN
    RETURN true;
END $$;
COMMENT ON FUNCTION pushmta_engine.yield_turn(bigint) IS
    'Lets sessions that wait to start, pause or end a delivery go first, as share_turn does, but holds nothing afterwards.';

CREATE FUNCTION pushmta_engine.take_turn(delivery bigint) RETURNS boolean LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET lock_timeout = '500ms' AS $$
BEGIN
    EXECUTE format('LOCK TABLE pushmta_engine.delivery_lock_%s IN EXCLUSIVE MODE', delivery_slot(delivery));
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END $$;
COMMENT ON FUNCTION pushmta_engine.take_turn(bigint) IS
    'Puts the caller ahead of all sessions that from now on create or return parts of a delivery; the caller then locks its row. Returns '
    'false after 500 ms.';

-- A session that adds messages to a day has taken numbers from the day's sequence, or read it, and so holds it in ROW EXCLUSIVE
-- mode until its transaction ends. ALTER SEQUENCE, which changes nothing here, conflicts with that lock; LOCK TABLE does not accept
-- sequences. So a session that adds a message needs no other lock and writes to no shared row.
CREATE FUNCTION pushmta_engine.lock_day(day bigint) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    IF to_regclass('pushmta_engine.message_number_' || day) IS NOT NULL THEN
        EXECUTE format('ALTER SEQUENCE pushmta_engine.%I OWNED BY NONE', 'message_number_' || day);
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.lock_day(bigint) IS
    'Waits for all sessions that add messages to a day, and keeps new ones out until the end of the transaction.';

CREATE FUNCTION pushmta_engine.try_day(day bigint) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET lock_timeout = '1ms' AS $$
BEGIN
    PERFORM lock_day(day);
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END $$;
COMMENT ON FUNCTION pushmta_engine.try_day(bigint) IS
    'Does what lock_day does, but without waiting; returns whether it locked the day.';

CREATE FUNCTION pushmta_engine.holder_text(delivery bigint) RETURNS text LANGUAGE sql VOLATILE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT string_agg(format('session %s of %s (%s)', h.pid, coalesce(a.usename, 'an unknown role'),
        coalesce(nullif(a.application_name, ''), 'no name')), ', ' ORDER BY h.pid)
    FROM (
        SELECT DISTINCT l.pid FROM pg_locks l
        WHERE l.granted AND l.pid <> pg_backend_pid() AND (
            l.database = (SELECT b.oid FROM pg_database b WHERE b.datname = current_database())
                AND l.relation = to_regclass('pushmta_engine.message_number_' || delivery)::oid
            OR l.transactionid = (SELECT d.xmax FROM delivery d WHERE d.id = delivery))
    ) h LEFT JOIN pg_stat_activity a ON a.pid = h.pid $$;
COMMENT ON FUNCTION pushmta_engine.holder_text(bigint) IS
    'The sessions that hold the row of a delivery, or that add messages to it if it is a day; null if they can no longer be found.';

-- 2 s, like all waits of the engine: while this waits for the sessions that add messages to a day, others wait for it.
CREATE FUNCTION pushmta_engine.lock_delivery(delivery bigint) RETURNS text LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET lock_timeout = '2s' AS $$
#variable_conflict use_variable
DECLARE
    found_state text;
BEGIN
    BEGIN
        PERFORM take_turn(delivery);
        PERFORM lock_day(delivery);
        SELECT d.state INTO found_state FROM pushmta_engine.delivery d WHERE d.id = delivery FOR UPDATE;
    EXCEPTION WHEN lock_not_available THEN
        RAISE EXCEPTION 'Delivery % cannot be changed now: another transaction has held it for 2 s (%).', delivery,
            coalesce(holder_text(delivery), 'it has just ended')
            USING ERRCODE = 'lock_not_available',
                HINT = 'Try again, or end that transaction: it has added a message or a target, or prepares or changes the delivery.';
    END;
    IF found_state IS NULL THEN
        RAISE EXCEPTION 'There is no delivery %.', delivery
            USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery creates one.';
    END IF;
    RETURN found_state;
END $$;
COMMENT ON FUNCTION pushmta_engine.lock_delivery(bigint) IS
    'Locks a delivery against every other change and against parts that are created or returned. Returns its state.';

CREATE FUNCTION pushmta_engine.lock_days(delivery bigint) RETURNS bigint[] LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    day record;
    days bigint[] := ARRAY[]::bigint[];
BEGIN
    FOR day IN SELECT d.id FROM pushmta_engine.delivery d
        WHERE d.kind = 'continuous' AND d.parent_delivery_id = delivery AND d.state IN ('in_progress', 'paused') ORDER BY d.id
    LOOP
        IF lock_delivery(day.id) IN ('in_progress', 'paused') THEN
            days := days || day.id;
        END IF;
    END LOOP;
    RETURN days;
END $$;
COMMENT ON FUNCTION pushmta_engine.lock_days(bigint) IS
    'Locks the unfinished days of a delivery, and returns them. The caller has locked the delivery.';

CREATE FUNCTION pushmta_engine.refuse_day(delivery bigint) RETURNS void LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    whole bigint := (SELECT d.parent_delivery_id FROM pushmta_engine.delivery d WHERE d.id = delivery AND d.kind = 'continuous');
BEGIN
    IF whole IS NOT NULL THEN
        RAISE EXCEPTION 'Delivery % is a day of the continuous delivery % and is controlled with it.', delivery, whole
            USING ERRCODE = 'PM008', HINT = 'Pause, resume or stop the continuous delivery.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_day(bigint) IS
    'Raises an error for a day of a continuous delivery, which can only be controlled as a whole.';

CREATE FUNCTION pushmta_engine.ambiguous_parts(parts bigint[]) RETURNS bigint[] LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT coalesce(array_agg(o.id ORDER BY o.id), '{}') FROM (
        SELECT r.part_id AS id FROM delivery_part_recovery r
        WHERE r.part_id = ANY(parts) AND (r.ambiguous_through > 0 OR r.ambiguous <> '{}')
        UNION
        SELECT p.id FROM delivery_part p
        JOIN delivery_part q ON q.id = p.parent_part_id
        JOIN delivery_part_recovery r ON r.part_id = q.id AND r.fencing_token = q.fencing_token
        WHERE p.id = ANY(parts) AND p.parent_part_id IS NOT NULL AND r.ambiguous <> '{}') o $$;
COMMENT ON FUNCTION pushmta_engine.ambiguous_parts(bigint[]) IS
    'Returns those of the parts that have an ambiguous message: it may have reached a gateway, and no answer is recorded. For messages '
    'that a parent part handed over, only what it recorded under its last fencing token counts.';

CREATE FUNCTION pushmta_engine.record_unknown(parts bigint[], words text) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    ambiguous bigint[] := ambiguous_parts(parts);
    recorded bigint;
BEGIN
    IF ambiguous = '{}' THEN
        RETURN 0;
    END IF;
    WITH part AS MATERIALIZED (
        SELECT p.id, p.delivery_id, p.application_id, p.log_day, p.attempt, p.parent_part_id, t.first_sequence,
            t.sequences || '{}'::integer[] AS sequences, t.subscription_ids || '{}'::bigint[] AS subscription_ids
        FROM delivery_part p
        JOIN delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
        WHERE p.id = ANY(ambiguous)
    ), noted AS MATERIALIZED (
        SELECT p.id AS part_id, u.sequence
        FROM part p JOIN delivery_part_recovery r ON r.part_id = p.id CROSS JOIN LATERAL unnest(r.ambiguous) u(sequence)
        UNION
        SELECT p.id, CASE WHEN p.sequences = '{}' THEN p.first_sequence + n.place - 1 ELSE p.sequences[n.place] END
        FROM part p JOIN delivery_part_recovery r ON r.part_id = p.id
        CROSS JOIN LATERAL generate_series(1, least(r.ambiguous_through, cardinality(p.subscription_ids))) n(place)
        UNION
        SELECT p.id, u.sequence
        FROM part p JOIN delivery_part q ON q.id = p.parent_part_id
        JOIN delivery_part_recovery r ON r.part_id = q.id AND r.fencing_token = q.fencing_token
        CROSS JOIN LATERAL unnest(r.ambiguous) u(sequence)
    ), made AS (
        INSERT INTO broad_log (delivery_id, subscription_id, part_id, sequence, log_day, status, attempt, reason)
        SELECT p.delivery_id, p.subscription_ids[x.place], p.id, n.sequence, p.log_day, 9, p.attempt, words
        FROM noted n JOIN part p ON p.id = n.part_id
        CROSS JOIN LATERAL (SELECT CASE WHEN p.sequences = '{}' THEN n.sequence - p.first_sequence + 1
            ELSE array_position(p.sequences, n.sequence) END AS place) x
        WHERE x.place BETWEEN 1 AND cardinality(p.subscription_ids)
        ORDER BY p.delivery_id, n.sequence
        ON CONFLICT DO NOTHING
        RETURNING broad_log.part_id, broad_log.sequence, broad_log.subscription_id
    ), told AS (
        INSERT INTO event (delivery_id, application_id, log_day, n, kind, reason, sequences, subscription_ids)
        SELECT p.delivery_id, p.application_id, event_day(), count(*), 9, words, array_agg(m.sequence ORDER BY m.sequence),
            array_agg(m.subscription_id ORDER BY m.sequence)
        FROM made m JOIN part p ON p.id = m.part_id WHERE records_event(9) GROUP BY p.id, p.delivery_id, p.application_id
    ), counted AS (
        UPDATE delivery_part p SET unknown = p.unknown + m.n
        FROM (SELECT part_id, count(*)::integer AS n FROM made GROUP BY part_id) m
        WHERE p.id = m.part_id AND p.id = ANY(ambiguous)
    )
    SELECT count(*) INTO recorded FROM made;
    RETURN recorded;
END $$;
COMMENT ON FUNCTION pushmta_engine.record_unknown(bigint[], text) IS
    'Records the ambiguous messages of parts as unknown, if they have no outcome. An earlier send may have arrived, whatever the answer '
    'to a later one was. The caller holds the parts or has locked them. Returns how many it recorded.';

CREATE FUNCTION pushmta_engine.cancel_parts(delivery bigint, words text DEFAULT 'stopped') RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    open bigint[] := ARRAY(SELECT p.id FROM delivery_part p
        WHERE p.delivery_id = delivery AND p.state IN ('held', 'planned', 'ready', 'waiting'));
BEGIN
    -- Waits for a claim under way and leaves its part to the child.
    UPDATE delivery_part p SET state = 'done', finished_at = now(), fencing_token = p.fencing_token + 1,
        rest_status = 7, rest_reason = words
    WHERE p.id = ANY(ARRAY(SELECT unnest(open) EXCEPT SELECT unnest(ambiguous_parts(open)) ORDER BY 1))
        AND p.state IN ('held', 'planned', 'ready', 'waiting');
    UPDATE delivery_part p SET state = 'waiting' WHERE p.delivery_id = delivery AND p.state IN ('planned', 'ready');
    RETURN NOT EXISTS (SELECT FROM delivery_part p WHERE p.delivery_id = delivery AND p.state <> 'done');
END $$;
COMMENT ON FUNCTION pushmta_engine.cancel_parts(bigint, text) IS
    'Ends the parts of a locked delivery that no child holds, for this reason, without a row for each message. Parts with ambiguous '
    'messages are held back, and a duty finishes them. Returns whether no part is left.';

CREATE FUNCTION pushmta_engine.stop_days(delivery bigint) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    day bigint;
    complete boolean;
    all_complete boolean := true;
BEGIN
    FOREACH day IN ARRAY lock_days(delivery) LOOP
        complete := cancel_parts(day);
        UPDATE pushmta_engine.delivery d SET state = 'stopped', state_reason = '', changed_at = now(),
            finished_at = CASE WHEN complete THEN now() END
        WHERE d.id = day;
        all_complete := all_complete AND complete;
    END LOOP;
    RETURN all_complete;
END $$;
COMMENT ON FUNCTION pushmta_engine.stop_days(bigint) IS
    'Stops all days of a locked continuous delivery: ends the parts that no child holds. Returns whether no part is left.';

CREATE FUNCTION pushmta_engine.drop_message_numbers(day bigint) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    IF to_regclass('pushmta_engine.message_number_' || day) IS NOT NULL THEN
        EXECUTE format('DROP SEQUENCE pushmta_engine.%I', 'message_number_' || day);
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.drop_message_numbers(bigint) IS
    'Drops a day''s counter. A session that waits for its lock would fail, so the day must be long over (maintain_continuous_deliveries).';

CREATE FUNCTION pushmta_engine.free_state(part pushmta_engine.delivery_part) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN part.time_zone IS NOT NULL OR part.not_before = 'infinity' THEN 'planned' ELSE 'ready' END;
COMMENT ON FUNCTION pushmta_engine.free_state(pushmta_engine.delivery_part) IS
    'The state of an unclaimed part of a delivery under way: ready, or planned if its plan decides when it leaves.';

CREATE FUNCTION pushmta_engine.finish_delivery(delivery bigint, most integer) RETURNS integer LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text;
    is_expired boolean;
    ends boolean;
    words text;
    picked bigint[];
BEGIN
    SELECT d.state, coalesce(d.started_at IS NOT NULL AND d.valid_until <= now(), false) INTO found_state, is_expired
    FROM pushmta_engine.delivery d WHERE d.id = delivery FOR KEY SHARE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    ends := is_expired OR found_state IN ('stopped', 'recalled');
    words := CASE WHEN found_state IN ('stopped', 'recalled') THEN found_state ELSE 'expired' END;
    picked := ARRAY(SELECT p.id FROM delivery_part p
        WHERE p.delivery_id = delivery AND p.state IN ('held', 'planned', 'ready', 'waiting') AND (ends
            OR p.state IN ('planned', 'ready') AND found_state = 'paused'
            OR p.state = 'waiting' AND found_state IN ('preparing', 'in_progress'))
        ORDER BY p.id LIMIT most FOR NO KEY UPDATE SKIP LOCKED);
    IF picked = '{}' THEN
        RETURN 0;
    END IF;
    IF ends THEN
        PERFORM record_unknown(picked, 'no answer was recorded before the end: ' || words);
        UPDATE delivery_part p SET state = 'done', finished_at = now(), fencing_token = p.fencing_token + 1,
            rest_status = CASE words WHEN 'expired' THEN 0 ELSE 7 END, rest_reason = words
        WHERE p.id = ANY(picked);
    ELSE
        UPDATE delivery_part p SET state = CASE WHEN found_state = 'paused' THEN 'waiting' ELSE free_state(p) END
        WHERE p.id = ANY(picked);
    END IF;
    RETURN cardinality(picked);
END $$;
COMMENT ON FUNCTION pushmta_engine.finish_delivery(bigint, integer) IS
    'Ends up to the given number of parts of a stopped, recalled or expired delivery that no child holds. Corrects parts whose state '
    '(ready or waiting) does not fit the delivery''s state. Any number of hosts may call it; it never waits. Returns the number of parts '
    'it changed.';

CREATE FUNCTION pushmta_engine.start_moment(delivery bigint, start_at timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    -- A client's clock, or one read within this transaction, may be slightly ahead.
    begins timestamptz := CASE WHEN start_at > clock_timestamp() + interval '1 second' THEN start_at ELSE now() END;
BEGIN
    IF NOT is_usable_moment(begins) OR NOT isfinite(start_at) THEN
        RAISE EXCEPTION 'Delivery % cannot begin at %.', delivery, start_at
            USING ERRCODE = 'PM007', HINT = 'Give a time before the year 3000, or none to start it now.';
    -- A time up to 60 s ago means now: it passed while a person filled in a form. An older one is a mistake: another day, or
    -- another time zone.
    ELSIF start_at < clock_timestamp() - interval '60 seconds' THEN
        RAISE EXCEPTION 'Delivery % cannot begin at % UTC: that is in the past, the database''s clock says % UTC.', delivery,
                to_char(start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'),
                to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')
            USING ERRCODE = 'PM009', HINT = 'Give a later time, with its zone, as in 2026-11-24 18:00+01, or none to start it now.';
    END IF;
    RETURN begins;
END $$;
COMMENT ON FUNCTION pushmta_engine.start_moment(bigint, timestamptz) IS
    'When a delivery begins that is started for this time: now for null and the last minute. Refuses an earlier time.';

CREATE FUNCTION pushmta_engine.end_of(whole pushmta_engine.delivery, begins timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    IF whole.kind = 'continuous' THEN
        RETURN NULL;
    ELSIF whole.ends_at <= begins THEN
        RAISE EXCEPTION 'Delivery % would end at % UTC, before it begins.', whole.id,
                to_char(whole.ends_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')
            USING ERRCODE = 'PM009', HINT = 'Set a later end with pushmta.update_delivery, or an earlier start.';
    END IF;
    RETURN coalesce(whole.ends_at, begins + whole.validity);
END $$;
COMMENT ON FUNCTION pushmta_engine.end_of(pushmta_engine.delivery, timestamptz) IS
    'Until when a delivery that begins at this moment is valid; null for a continuous one. Refuses an end before its beginning.';

CREATE FUNCTION pushmta_engine.give_start(delivery bigint, start_at timestamptz, requested boolean) RETURNS void
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    current_state text; current_kind text;
    begins timestamptz;
    at_once boolean;
    -- Whether an analysis has prepared its messages, and they are still what it would send.
    is_frozen boolean;
    is_released boolean;
BEGIN
    BEGIN
        -- The turn at a delivery that nobody holds would only hold up sessions of others.
        PERFORM FROM pushmta_engine.delivery d WHERE d.id = delivery FOR UPDATE NOWAIT;
    EXCEPTION WHEN lock_not_available THEN
        PERFORM lock_delivery(delivery);
    END;
    SELECT d.state, d.kind, d.frozen_until IS NOT NULL INTO current_state, current_kind, is_frozen
    FROM pushmta_engine.delivery d WHERE d.id = delivery;
    IF current_state IS NULL THEN
        RAISE EXCEPTION 'There is no delivery %.', delivery
            USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery creates one.';
    ELSIF current_state NOT IN ('editing', 'analysing', 'ready') THEN
        RAISE EXCEPTION 'Delivery % is % and cannot be started again.', delivery, current_state
            USING ERRCODE = 'PM003', HINT = 'Create another delivery to send again.';
    END IF;
    PERFORM refuse_recurring(delivery);
    PERFORM refuse_unlisted(delivery);
    begins := start_moment(delivery, start_at);
    DELETE FROM delivery_problem p WHERE p.delivery_id = delivery;
    is_frozen := is_frozen AND keep_analysis(delivery, begins);
    PERFORM keep_plan(delivery);
    is_released := is_frozen AND current_state = 'ready' AND begins = now() AND NOT requested;
    -- A continuous delivery has no target to prepare: its caller may send at once, even in the same transaction.
    at_once := current_kind = 'continuous' AND begins = now();
    UPDATE pushmta_engine.delivery d SET state_reason = '', start_at = begins, changed_at = now(),
        state = CASE WHEN at_once THEN 'in_progress' WHEN is_released THEN 'preparing' ELSE 'pending' END,
        started_at = CASE WHEN at_once OR is_released THEN now() END,
        prepared = at_once OR is_frozen AND d.prepared, prepare_to = CASE WHEN at_once THEN 0 WHEN is_frozen THEN d.prepare_to END,
        log_day = CASE WHEN is_frozen THEN d.log_day ELSE (begins AT TIME ZONE 'UTC')::date END,
        valid_until = end_of(d, begins), gate = CASE WHEN NOT is_frozen AND is_gated(delivery) THEN uncounted() ELSE '' END,
        starts_approved = requested AND begins = now()
    WHERE d.id = delivery;
    IF requested THEN
        PERFORM close_gate(delivery);
    ELSE
        PERFORM require_release(delivery, current_state);
    END IF;
    PERFORM check_plan(delivery, begins, (SELECT d.valid_until FROM pushmta_engine.delivery d WHERE d.id = delivery));
    UPDATE experiment e SET look_at = begins WHERE e.delivery_id = delivery;
    IF at_once THEN
        -- Opened here, so that no session that sends messages has to, whose transaction all others would wait for.
        PERFORM open_day(delivery);
    ELSIF is_released THEN
        PERFORM open_wave(delivery, now());
        -- Enough for the first children; a supervisor releases the others at the pace at which they are sent.
        PERFORM release_parts(delivery, 50);
    END IF;
    PERFORM pg_notify('pushmta_wake', delivery::text);
END $$;
COMMENT ON FUNCTION pushmta_engine.give_start(bigint, timestamptz, boolean) IS
    'Starts a delivery, now (null) or at a time. One whose approval is requested waits for it; any other that needs one and has none is '
    'refused.';

CREATE FUNCTION pushmta.start_delivery(delivery bigint, start_at timestamptz DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET lock_timeout = '2s' AS $$
#variable_conflict use_variable
BEGIN
    DELETE FROM start_request r WHERE r.delivery_id = delivery;
    PERFORM give_start(delivery, start_at, false);
END $$;
COMMENT ON FUNCTION pushmta.start_delivery(bigint, timestamptz) IS
    'Starts a delivery, now (null) or at a time, which must not be more than 60 s in the past. From then on its list of targets stays as '
    'it is. If it was analysed, and the analysis still holds, its messages leave at once; if not, they are prepared first. A '
    'continuous delivery that starts now accepts messages at once, even in the same transaction. It has no end of its own: its validity '
    'is that of each message. If its service asks for approvals, it is analysed first and, above the size, approved: see '
    'pushmta.request_approval.';

CREATE FUNCTION pushmta.pause_delivery(delivery bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
    held bigint[];
BEGIN
    PERFORM refuse_day(delivery);
    IF found_state = 'paused' THEN
        RETURN;
    END IF;
    IF found_state NOT IN ('pending', 'preparing', 'in_progress') THEN
        RAISE EXCEPTION 'Delivery % is % and cannot be paused.', delivery, found_state
            USING ERRCODE = 'PM008', HINT = 'Only a delivery that was started and has not ended can be paused.';
    END IF;
    held := delivery || lock_days(delivery);
    IF found_state = 'pending' THEN
        -- Nobody knows when it will be resumed.
        PERFORM drop_preparation(delivery);
    END IF;
    UPDATE pushmta_engine.delivery d SET state = 'paused', preparing_host = '', changed_at = now() WHERE d.id = ANY(held);
    UPDATE delivery_part p SET state = 'waiting' WHERE p.delivery_id = ANY(held) AND p.state IN ('planned', 'ready');
    PERFORM pg_notify('pushmta_wake', 'control');
END $$;
COMMENT ON FUNCTION pushmta.pause_delivery(bigint) IS
    'Pauses a delivery: nothing new is sent; messages on their way to the gateway are resolved and recorded.';

CREATE FUNCTION pushmta.resume_delivery(delivery bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
    held bigint[];
BEGIN
    PERFORM refuse_day(delivery);
    IF found_state IN ('pending', 'preparing', 'in_progress') THEN
        RETURN;
    END IF;
    IF found_state <> 'paused' THEN
        RAISE EXCEPTION 'Delivery % is % and cannot be resumed.', delivery, found_state
            USING ERRCODE = 'PM008', HINT = 'Only a paused delivery can be resumed.';
    END IF;
    held := delivery || lock_days(delivery);
    UPDATE pushmta_engine.delivery d SET preparing_host = '', state_reason = '', paused_by = '', changed_at = now(), state = CASE
        WHEN d.started_at IS NULL THEN 'pending' WHEN d.prepared AND NOT EXISTS (SELECT FROM delivery_part h
            WHERE h.delivery_id = d.id AND h.state = 'held') THEN 'in_progress' ELSE 'preparing' END
    WHERE d.id = ANY(held);
    UPDATE delivery_part p SET state = free_state(p) WHERE p.delivery_id = ANY(held) AND p.state = 'waiting';
    -- To resume a delivery that a guard has paused means to begin its next wave.
    UPDATE delivery_wave w SET passed_at = now() WHERE w.delivery_id = delivery AND w.held_at IS NOT NULL AND w.passed_at IS NULL;
    UPDATE experiment e SET look_at = now() WHERE e.delivery_id = delivery AND e.decided_at IS NULL;
    -- The rest of an experiment whose winner was chosen while it was paused.
    PERFORM let_go(delivery, array_agg(p.id), now()) FROM delivery_part p
    WHERE p.delivery_id = delivery AND p.state = 'planned' AND p.cell = 9 AND p.variant IS NOT NULL AND p.not_before = 'infinity'
    HAVING count(*) > 0;
    PERFORM pg_notify('pushmta_wake', 'control');
END $$;
COMMENT ON FUNCTION pushmta.resume_delivery(bigint) IS
    'Resumes a paused delivery where it was: waiting for its start, in preparation, or sending. Clears the reason of the pause.';

CREATE FUNCTION pushmta.stop_delivery(delivery bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
    complete boolean;
BEGIN
    PERFORM refuse_day(delivery);
    IF found_state IN ('stopped', 'recalled') THEN
        RETURN;
    END IF;
    IF found_state = 'finished' THEN
        RAISE EXCEPTION 'Delivery % is % and cannot be stopped.', delivery, found_state
            USING ERRCODE = 'PM008', HINT = 'It has already ended.';
    END IF;
    complete := cancel_parts(delivery);
    complete := stop_days(delivery) AND complete;
    UPDATE pushmta_engine.delivery d SET state = 'stopped', state_reason = '', preparing_host = '', changed_at = now(),
        finished_at = CASE WHEN complete THEN now() END
    WHERE d.id = delivery;
    UPDATE recall r SET given_up_by = login_text(l.kind, l.name) FROM acting_login() l WHERE r.child_id = delivery;
    PERFORM finish_recurrence(delivery, '');
    PERFORM pg_notify('pushmta_wake', 'control');
END $$;
COMMENT ON FUNCTION pushmta.stop_delivery(bigint) IS
    'Stops a delivery permanently: nothing new is sent; messages on their way to the gateway are resolved and recorded, and the rest is '
    'canceled. A recurring delivery makes no further runs; those under way go on.';

CREATE FUNCTION pushmta_engine.return_draft(delivery bigint) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    INSERT INTO console_draft SELECT r.* FROM pushmta_engine.delivery d CROSS JOIN LATERAL
        jsonb_populate_record(NULL::pushmta_engine.console_draft, d.draft || jsonb_build_object('changed_at', now(),
            -- The rate, the signal and the start may have been changed on the delivery's page.
            'fields', console_limit_fields(d.draft -> 'fields', d.id)
                || console_start_fields(d.draft -> 'fields', CASE WHEN NOT d.starts_approved THEN d.start_at END,
                    (SELECT min(v.time_zone) FROM delivery_application x JOIN application a ON a.id = x.application_id
                        JOIN service v ON v.id = a.service_id WHERE x.delivery_id = d.id HAVING count(DISTINCT v.time_zone) = 1)))) r
    WHERE d.id = return_draft.delivery AND d.draft IS NOT NULL
    ON CONFLICT (id) DO NOTHING;
    UPDATE pushmta_engine.delivery d SET draft = NULL WHERE d.id = return_draft.delivery AND d.draft IS NOT NULL;
END $$;
COMMENT ON FUNCTION pushmta_engine.return_draft(bigint) IS 'Gives the author of a delivery that was started from a draft the draft back.';

CREATE FUNCTION pushmta_engine.return_delivery(delivery bigint, words text, preparation integer DEFAULT NULL) RETURNS text
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
    -- Nobody edits the second delivery of a recall. Once it has ended, its delivery can be recalled again.
    new_state text := CASE WHEN recalled_by(delivery) IS NULL THEN 'editing' ELSE 'stopped' END;
BEGIN
    IF found_state NOT IN ('analysing', 'ready', 'pending', 'preparing')
        OR preparation <> (SELECT d.preparation FROM pushmta_engine.delivery d WHERE d.id = delivery) THEN
        RETURN found_state;
    END IF;
    -- Messages of its parts are on their way, so the parts stay.
    IF EXISTS (SELECT FROM delivery_part p WHERE p.delivery_id = delivery AND p.state <> 'held') THEN
        UPDATE pushmta_engine.delivery d SET wait_reason = '', wait_failures = 0, wait_until = NULL WHERE d.id = delivery;
        PERFORM hold_delivery(delivery, words);
        RETURN 'paused';
    END IF;
    PERFORM drop_preparation(delivery);
    PERFORM return_draft(delivery);
    UPDATE pushmta_engine.delivery d SET state = new_state, state_reason = words, start_at = NULL, started_at = NULL, log_day = NULL,
        valid_until = NULL, wait_reason = '', wait_failures = 0, wait_until = NULL, paused_by = '', changed_at = now(),
        finished_at = CASE new_state WHEN 'stopped' THEN now() END
    WHERE d.id = delivery;
    PERFORM pg_notify('pushmta_wake', 'control');
    RETURN new_state;
END $$;
COMMENT ON FUNCTION pushmta_engine.return_delivery(bigint, text, integer) IS
    'Returns a delivery that cannot be prepared to editing, with each problem on a line of state_reason. Returns its draft to the author, '
    'who corrects it and starts it again. If some of its parts were created, pauses the delivery instead. The second delivery of a recall '
    'is stopped, because it cannot be edited. Returns its new state.';

CREATE FUNCTION pushmta_engine.hold_delivery(delivery bigint, words text) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    whole bigint := coalesce((SELECT d.parent_delivery_id FROM pushmta_engine.delivery d
        WHERE d.id = delivery AND d.kind = 'continuous'), delivery);
    found_state text := lock_delivery(whole);
    held bigint[];
BEGIN
    IF found_state NOT IN ('preparing', 'in_progress') THEN
        RETURN false;
    END IF;
    held := whole || lock_days(whole);
    UPDATE pushmta_engine.delivery d SET state = 'paused', state_reason = words, preparing_host = '', changed_at = now()
    WHERE d.id = ANY(held);
    UPDATE delivery_part p SET state = 'waiting' WHERE p.delivery_id = ANY(held) AND p.state IN ('planned', 'ready');
    PERFORM pg_notify('pushmta_wake', 'control');
    RETURN true;
END $$;
COMMENT ON FUNCTION pushmta_engine.hold_delivery(bigint, text) IS
    'Pauses a delivery because of what a gateway answers to this delivery alone. A continuous one is paused as a whole: what one day '
    'cannot send, the next ones cannot either. False if it is already paused or not under way.';

-- What an application's messages wait for, and how these waits end.

CREATE FUNCTION pushmta_engine.is_doubtful(kind text, part bigint) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN kind IN ('canonical', 'soft_error') OR kind = 'invalid' AND part IS NOT NULL;
COMMENT ON FUNCTION pushmta_engine.is_doubtful(text, bigint) IS
    'Whether a report about a token may be caused by a mistake in our settings, such as mixed-up environments. Not doubtful: a message '
    'that got through, and a refused token whose report names no part, because no mix-up can cause it.';

CREATE FUNCTION pushmta_engine.close_circuit(application integer, believing boolean) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
DECLARE
    was_open boolean;
BEGIN
    -- One statement: the sequence is read after the row is locked. So it covers parts that are not committed yet, and those created
    -- while the statement waited.
    WITH before AS MATERIALIZED (
        SELECT h.application_id, circuit_of(h.state, h.next_probe_at) <> 'closed' AS was_open, h.token_effects_held
        FROM application_health h WHERE h.application_id = application FOR NO KEY UPDATE
    ), closed AS (
        UPDATE application_health h SET state = 'closed', reason = '', remedy = '', opened_at = NULL,
            next_probe_at = NULL, probes = 0, token_effects_held = false, changed_at = now(),
            effects_void_through = CASE WHEN b.was_open AND believing THEN 0
                WHEN b.token_effects_held THEN coalesce(
                    pg_sequence_last_value(pg_get_serial_sequence('pushmta_engine.delivery_part', 'id')::regclass), 0)
                ELSE h.effects_void_through END,
            refusals_believed_through = CASE WHEN b.was_open AND believing THEN coalesce(
                    pg_sequence_last_value(pg_get_serial_sequence('pushmta_engine.delivery_part', 'id')::regclass), 0)
                ELSE h.refusals_believed_through END
        FROM before b WHERE h.application_id = b.application_id
            AND (h.state, h.reason, h.token_effects_held) IS DISTINCT FROM ('closed', '', false)
    ), undone AS (
        UPDATE token_event e SET state = 'undone', undone_at = now()
        FROM before b
        WHERE b.token_effects_held AND e.application_id = b.application_id AND is_doubtful(e.kind, e.part_id)
            AND e.state IN ('held', 'pending')
    )
    SELECT b.was_open INTO was_open FROM before b;
    IF coalesce(was_open, false) THEN
        PERFORM pg_notify('pushmta_wake', 'circuit');
    END IF;
    RETURN coalesce(was_open, false);
END $$;
COMMENT ON FUNCTION pushmta_engine.close_circuit(integer, boolean) IS
    'Closes an application''s circuit, and undoes what was reported about its tokens while it was open. Pending events are undone, too: '
    'they came during that time, or the next duty would have held them. Others of that time come later, from a transaction that has not '
    'committed or from a host that was cut off. Therefore reports about parts that exist now are ignored, unless the gateway dates them. '
    'Returns whether the circuit was open.';

CREATE FUNCTION pushmta_engine.free_waiting_parts(application integer, account integer, words text, most integer) RETURNS integer
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    freed integer;
BEGIN
    UPDATE delivery_part p SET waits_for = NULL, refusals = 1, not_before = now()
    WHERE p.id = ANY(ARRAY(SELECT f.id FROM delivery_part f
        WHERE f.application_id = application AND f.external_account_id = account AND f.waits_for = words AND f.state <> 'done'
            AND f.state IN ('planned', 'ready', 'waiting')
        LIMIT most FOR NO KEY UPDATE SKIP LOCKED));
    GET DIAGNOSTICS freed = ROW_COUNT;
    DELETE FROM credential_wait w
    WHERE w.application_id = application AND w.external_account_id = account AND w.reason = words AND NOT EXISTS (
        SELECT FROM delivery_part p WHERE p.application_id = application AND p.external_account_id = account AND p.waits_for = words
            AND p.state <> 'done');
    RETURN freed;
END $$;
COMMENT ON FUNCTION pushmta_engine.free_waiting_parts(integer, integer, text, integer) IS
    'Releases up to the given number of parts that waited for a credential which now works; returns how many.';

CREATE FUNCTION pushmta_engine.end_credential_wait(application integer, account integer, words text) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    UPDATE credential_wait w SET ended_at = coalesce(w.ended_at, now())
    WHERE w.application_id = application AND w.external_account_id = account AND w.reason = words;
    PERFORM free_waiting_parts(application, account, words, 1000);
    PERFORM pg_notify('pushmta_wake', 'circuit');
END $$;
COMMENT ON FUNCTION pushmta_engine.end_credential_wait(integer, integer, text) IS
    'Records that a message which waited for a credential got through. The other waiting parts are released, up to 1,000 at once.';

CREATE FUNCTION pushmta_engine.try_credential_waits(most integer) RETURNS integer LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    due credential_wait;
    one bigint;
    freed integer := 0;
BEGIN
    FOR due IN SELECT w.* FROM credential_wait w WHERE w.ended_at IS NOT NULL OR w.next_probe_at <= now()
        ORDER BY w.began_at FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        IF due.ended_at IS NOT NULL THEN
            freed := freed + free_waiting_parts(due.application_id, due.external_account_id, due.reason, most);
            CONTINUE;
        END IF;
        -- The part that was tried least often.
        SELECT p.id INTO one FROM delivery_part p
        WHERE p.application_id = due.application_id AND p.external_account_id = due.external_account_id
            AND p.waits_for = due.reason AND p.state <> 'done' AND p.state IN ('planned', 'ready') AND p.not_before > now()
        ORDER BY p.refusals, p.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
        IF one IS NOT NULL THEN
            UPDATE delivery_part p SET not_before = now() WHERE p.id = one;
            UPDATE credential_wait w SET next_probe_at = now() + interval '5 minutes', probes = w.probes + 1
            WHERE w.application_id = due.application_id AND w.external_account_id = due.external_account_id AND w.reason = due.reason;
            freed := freed + 1;
        ELSE
            -- No part is left, or all are claimed, or they are held back with their delivery.
            PERFORM free_waiting_parts(due.application_id, due.external_account_id, due.reason, 0);
        END IF;
    END LOOP;
    RETURN freed;
END $$;
COMMENT ON FUNCTION pushmta_engine.try_credential_waits(integer) IS
    'Makes one part due for each credential whose probe is due, so that one of its messages tests whether the credential now works. '
    'Releases parts whose credential works. Returns how many parts became due. It never waits for a lock.';

CREATE FUNCTION pushmta_engine.resume_application(application integer, believing boolean)
    RETURNS TABLE (was_open boolean, parts bigint, load_problem text, preparations bigint[], accounts text[]) LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
BEGIN
    was_open := close_circuit(application, believing);
    INSERT INTO application_health AS h (application_id, state, reason, remedy, resumed_at)
    VALUES (application, 'closed', '', '', clock_timestamp())
    ON CONFLICT (application_id) DO UPDATE SET resumed_at = clock_timestamp();
    PERFORM pg_notify('pushmta_wake', 'resume');
    -- A part that was tried and could not be loaded waits for nothing else. A locked part is being returned or claimed.
    WITH due AS MATERIALIZED (
        SELECT p.id FROM delivery_part p
        WHERE p.load_failures > 0 AND p.state <> 'done' AND p.state IN ('planned', 'ready') AND p.application_id = application
            AND p.not_before > now()
        FOR NO KEY UPDATE SKIP LOCKED
    ), freed AS (
        UPDATE delivery_part p SET not_before = now(), load_failures = 0 FROM due d WHERE p.id = d.id RETURNING p.load_error
    )
    SELECT count(*), coalesce(max(f.load_error), '') INTO parts, load_problem FROM freed f;
    WITH freed AS (
        UPDATE delivery d SET wait_until = NULL, wait_failures = 0
        WHERE d.id = ANY(ARRAY(SELECT f.id FROM delivery f
            WHERE f.state IN ('analysing', 'pending', 'preparing') AND f.wait_until > now()
                AND EXISTS (SELECT FROM delivery_application x WHERE x.delivery_id = f.id AND x.application_id = application)
            FOR NO KEY UPDATE SKIP LOCKED))
        RETURNING d.id
    )
    SELECT coalesce(array_agg(f.id ORDER BY f.id), ARRAY[]::bigint[]) INTO preparations FROM freed f;
    UPDATE credential_wait w SET next_probe_at = now() WHERE w.application_id = application;
    WITH ended AS (
        UPDATE gateway_trouble t SET state = 'opening', opened_at = now(), prober = NULL, prober_until = NULL, changed_at = now()
        WHERE t.application_id = application AND t.state = 'trouble' RETURNING t.external_account_id
    )
    SELECT coalesce(array_agg(e.name ORDER BY e.name), ARRAY[]::text[]) INTO accounts
    FROM ended d JOIN external_account e ON e.id = d.external_account_id;
    IF cardinality(accounts) > 0 THEN
        PERFORM pg_notify('pushmta_wake', 'trouble');
    END IF;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION pushmta_engine.resume_application(integer, boolean) IS
    'Ends those waits of an application''s messages that can be ended. Its circuit closes, and supervisors start its children at once. '
    'Parts that could not be loaded and postponed preparations are tried again. Gateways in trouble are tried at once, and so is one '
    'message of those that wait for a credential stored with the gateway.';

CREATE FUNCTION pushmta_engine.console_resume(caller pushmta_engine.console_caller, application integer, believing boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_user_of(caller, ARRAY['operate', 'admin']);
    found_name text;
BEGIN
    SELECT a.name INTO found_name FROM pushmta_engine.application a WHERE a.id = application;
    IF found_name IS NULL THEN
        RAISE EXCEPTION 'There is no application %.', application
            USING ERRCODE = 'PM001', HINT = 'pushmta app list shows them.';
    END IF;
    PERFORM resume_application(application, believing);
    PERFORM note_audit(who, 'application.resume', found_name, CASE WHEN believing THEN 'refused tokens are believed' ELSE '' END,
        caller.address);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_resume(pushmta_engine.console_caller, integer, boolean) IS
    'Ends what an application''s messages wait for, for a signed-in operator or administrator.';
