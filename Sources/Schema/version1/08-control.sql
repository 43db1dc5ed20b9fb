-- Pause, resume, stop and failure of deliveries, and the end of what nobody will send any more.
--
-- The order of locks is everywhere: the delivery, then its parts. Who changes a delivery's state locks its row FOR UPDATE; who makes or
-- gives back a part locks it FOR KEY SHARE first, so the part gets the state that the delivery has then.
--
-- Sessions that share a row's key never make way for one that waits to have it alone. So there is a queue in front: a table that makers
-- of parts lock ROW SHARE, and a session that changes the state EXCLUSIVE. Deliveries share the tables, so the queue is only manners: no
-- session waits there for long, and what counts is the row. Each limit is below deadlock_timeout (1 s), as sessions that lock several do
-- so in no common order.
CREATE FUNCTION pushmta_engine.delivery_slot(delivery bigint) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN hashint8(delivery) & 31;
COMMENT ON FUNCTION pushmta_engine.delivery_slot(bigint) IS 'The number of the table that is the queue in front of a delivery.';

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
    'Lets sessions go first that wait to pause or end one of the deliveries, for 200 ms at most; the caller then locks the rows. Returns '
    'whether it had its turn.';

CREATE FUNCTION pushmta_engine.take_turn(delivery bigint) RETURNS boolean LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET lock_timeout = '500ms' AS $$
BEGIN
    EXECUTE format('LOCK TABLE pushmta_engine.delivery_lock_%s IN EXCLUSIVE MODE', delivery_slot(delivery));
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END $$;
COMMENT ON FUNCTION pushmta_engine.take_turn(bigint) IS
    'Goes ahead of all sessions that make or give back parts of a delivery from now on; the caller then locks its row.';

-- A session that adds messages to a day has taken numbers of its sequence, or looked at it, and so holds it ROW EXCLUSIVE until its
-- transaction ends. ALTER SEQUENCE, which changes nothing here, conflicts with that: LOCK TABLE takes no sequence. So a session that adds a
-- message needs no other lock, and writes to nothing that others write to.
CREATE FUNCTION pushmta_engine.lock_day(day bigint) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    IF to_regclass('pushmta_engine.message_number_' || day) IS NOT NULL THEN
        EXECUTE format('ALTER SEQUENCE pushmta_engine.%I OWNED BY NONE', 'message_number_' || day);
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.lock_day(bigint) IS
    'Waits for all sessions that add messages to a day, and keeps others from it until the end of the transaction.';

CREATE FUNCTION pushmta_engine.try_day(day bigint) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET lock_timeout = '1ms' AS $$
BEGIN
    PERFORM lock_day(day);
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END $$;
COMMENT ON FUNCTION pushmta_engine.try_day(bigint) IS
    'lock_day without waiting; returns whether it has the day.';

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
    'Which sessions hold the row of a delivery, or add messages to it as a day; null if that is no longer known.';

-- 2 s as all waits of the engine: while this waits for the day's senders, others wait behind it.
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
                HINT = 'Try again, or end that transaction: it has added a message, or changed the delivery.';
    END;
    IF found_state IS NULL THEN
        RAISE EXCEPTION 'There is no delivery %.', delivery
            USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery makes one.';
    END IF;
    RETURN found_state;
END $$;
COMMENT ON FUNCTION pushmta_engine.lock_delivery(bigint) IS
    'The state of a delivery, which is locked against every other change and against parts that are made or given back.';

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
    'Locks the days of a delivery that are not at their end, which it has locked before, and returns them.';

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
    'A day goes as its continuous delivery does.';

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
    'Those of some parts that have a message which may have reached a gateway without an answer that we know. Of messages '
    'that the part before handed over, those count that it closed with (under its last token).';

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
        SELECT p.id, p.delivery_id, p.log_day, p.attempt, p.parent_part_id, t.first_sequence,
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
        RETURNING broad_log.part_id
    ), counted AS (
        UPDATE delivery_part p SET unknown = p.unknown + m.n
        FROM (SELECT part_id, count(*)::integer AS n FROM made GROUP BY part_id) m
        WHERE p.id = m.part_id AND p.id = ANY(ambiguous)
    )
    SELECT count(*) INTO recorded FROM made;
    RETURN recorded;
END $$;
COMMENT ON FUNCTION pushmta_engine.record_unknown(bigint[], text) IS
    'Records the ambiguous messages of parts as unknown, as far as they have no outcome: an earlier send may have arrived, '
    'whatever a later one was answered. The caller holds the parts or has locked them. Returns how many.';

CREATE FUNCTION pushmta_engine.cancel_parts(delivery bigint, words text) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    open bigint[] := ARRAY(SELECT p.id FROM delivery_part p
        WHERE p.delivery_id = delivery AND p.state IN ('ready', 'waiting'));
BEGIN
    -- A claim under way is waited for, and its part is left to the child.
    UPDATE delivery_part p SET state = 'done', finished_at = now(), fencing_token = p.fencing_token + 1,
        rest_status = 7, rest_reason = words
    WHERE p.id = ANY(ARRAY(SELECT unnest(open) EXCEPT SELECT unnest(ambiguous_parts(open)) ORDER BY 1))
        AND p.state IN ('ready', 'waiting');
    UPDATE delivery_part p SET state = 'waiting' WHERE p.delivery_id = delivery AND p.state = 'ready';
    RETURN NOT EXISTS (SELECT FROM delivery_part p WHERE p.delivery_id = delivery AND p.state <> 'done');
END $$;
COMMENT ON FUNCTION pushmta_engine.cancel_parts(bigint, text) IS
    'Ends what nobody holds of a delivery that is locked, without a row for each message; parts with ambiguous messages are '
    'held back, and a duty finishes them. Returns whether no part is left.';

CREATE FUNCTION pushmta_engine.end_days(delivery bigint, final_state text, words text) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    day bigint;
    complete boolean;
    all_complete boolean := true;
BEGIN
    FOREACH day IN ARRAY lock_days(delivery) LOOP
        complete := cancel_parts(day, CASE WHEN final_state = 'stopped' THEN 'stopped' ELSE words END);
        UPDATE pushmta_engine.delivery d SET state = final_state, state_reason = words, changed_at = now(),
            finished_at = CASE WHEN complete THEN now() END
        WHERE d.id = day;
        all_complete := all_complete AND complete;
    END LOOP;
    RETURN all_complete;
END $$;
COMMENT ON FUNCTION pushmta_engine.end_days(bigint, text, text) IS
    'Ends what nobody holds of the days of a continuous delivery that is locked; returns whether no part of them is left.';

CREATE FUNCTION pushmta_engine.drop_message_numbers(day bigint) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    IF to_regclass('pushmta_engine.message_number_' || day) IS NOT NULL THEN
        EXECUTE format('DROP SEQUENCE pushmta_engine.%I', 'message_number_' || day);
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.drop_message_numbers(bigint) IS
    'Drops a day''s counter. A session that waits for its lock would fail, so the day must be long over (maintain_continuous_deliveries).';

CREATE FUNCTION pushmta_engine.finish_delivery(delivery bigint, most integer) RETURNS integer LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text;
    ended boolean;
    expired boolean;
    words text;
    picked bigint[];
BEGIN
    SELECT d.state, d.state IN ('stopped', 'failed'), coalesce(d.valid_until <= now(), false), d.state_reason
    INTO found_state, ended, expired, words
    FROM pushmta_engine.delivery d WHERE d.id = delivery FOR KEY SHARE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    picked := ARRAY(SELECT p.id FROM delivery_part p
        WHERE p.delivery_id = delivery AND p.state IN ('ready', 'waiting') AND (ended OR expired
            OR p.state = 'ready' AND found_state = 'paused'
            OR p.state = 'waiting' AND found_state IN ('preparing', 'in_progress'))
        ORDER BY p.id LIMIT most FOR NO KEY UPDATE SKIP LOCKED);
    IF picked = '{}' THEN
        RETURN 0;
    END IF;
    IF ended OR expired THEN
        words := CASE WHEN found_state = 'stopped' THEN 'stopped' WHEN ended THEN words ELSE 'expired' END;
        PERFORM record_unknown(picked, 'no answer was recorded before the end: ' || words);
        UPDATE delivery_part p SET state = 'done', finished_at = now(), fencing_token = p.fencing_token + 1,
            rest_status = CASE WHEN ended THEN 7 ELSE 0 END, rest_reason = words
        WHERE p.id = ANY(picked);
    ELSE
        UPDATE delivery_part p SET state = CASE WHEN found_state = 'paused' THEN 'waiting' ELSE 'ready' END
        WHERE p.id = ANY(picked);
    END IF;
    RETURN cardinality(picked);
END $$;
COMMENT ON FUNCTION pushmta_engine.finish_delivery(bigint, integer) IS
    'Ends up to so many parts of a stopped, failed or expired delivery that nobody holds, and puts right what is ready or waiting '
    'against the delivery''s state. Any number of hosts may call it; it waits for nobody. Returns the number of parts it changed.';

CREATE FUNCTION pushmta.start_delivery(delivery bigint, start_at timestamptz DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET lock_timeout = '2s' AS $$
#variable_conflict use_variable
DECLARE
    current_state text;
    current_kind text;
    -- A client's clock, or one read within this transaction, may be ahead by a moment.
    begins timestamptz := CASE WHEN start_at > clock_timestamp() + interval '1 second' THEN start_at ELSE now() END;
    day date := (begins AT TIME ZONE 'UTC')::date;
    at_once boolean;
BEGIN
    BEGIN
        SELECT d.state, d.kind INTO current_state, current_kind FROM pushmta_engine.delivery d WHERE d.id = delivery FOR UPDATE;
    EXCEPTION WHEN lock_not_available THEN
        RAISE EXCEPTION 'Delivery % cannot be started now: another transaction has held it for 2 s (%).', delivery,
            coalesce(holder_text(delivery), 'no longer known which')
            USING ERRCODE = 'lock_not_available',
                HINT = 'Try again, or end that transaction: it has changed the delivery, or added to whom it goes.';
    END;
    IF current_state IS NULL THEN
        RAISE EXCEPTION 'There is no delivery %.', delivery
            USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery makes one.';
    END IF;
    IF current_state <> 'editing' THEN
        RAISE EXCEPTION 'Delivery % is % and cannot be started again.', delivery, current_state
            USING ERRCODE = 'PM003', HINT = 'Create another delivery to send again.';
    END IF;
    IF NOT isfinite(begins) OR NOT isfinite(start_at) THEN
        RAISE EXCEPTION 'Delivery % cannot begin at %.', delivery, start_at
            USING ERRCODE = 'PM007', HINT = 'Give a time, or none to start it now.';
    -- A moment that passed while a person filled in a form means now. An older one was a mistake: another day, or another zone.
    ELSIF start_at < clock_timestamp() - interval '60 seconds' THEN
        RAISE EXCEPTION 'Delivery % cannot begin at % UTC: that is in the past, the database''s clock says % UTC.', delivery,
                to_char(start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'),
                to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')
            USING ERRCODE = 'PM009', HINT = 'Give a later time, with its zone, as in 2026-11-24 18:00+01, or none to start it now.';
    END IF;
    -- A continuous one has no target to prepare: its caller may send at once, even in the same transaction.
    at_once := current_kind = 'continuous' AND begins = now();
    UPDATE pushmta_engine.delivery d SET state = CASE WHEN at_once THEN 'in_progress' ELSE 'pending' END, state_reason = '',
        start_at = begins, started_at = CASE WHEN at_once THEN now() END, prepared = at_once, prepare_to = CASE WHEN at_once THEN 0 END,
        log_day = day, changed_at = now(),
        valid_until = CASE WHEN d.kind = 'continuous' THEN NULL ELSE begins + d.validity END
    WHERE d.id = delivery;
    IF at_once THEN
        -- So that no sender makes it, for whose transaction all others would wait.
        PERFORM open_day(delivery);
    END IF;
    PERFORM pg_notify('pushmta_wake', delivery::text);
END $$;
COMMENT ON FUNCTION pushmta.start_delivery(bigint, timestamptz) IS
    'Starts a delivery, now (null) or at a time, which must not be more than 60 s in the past; from here its targets are frozen. A '
    'continuous one that starts now takes messages at once, even in the same transaction. Its validity is that of each message: it has no '
    'end of its own.';

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
            USING ERRCODE = 'PM008', HINT = 'Only a delivery that was started and is not at its end can be paused.';
    END IF;
    held := delivery || lock_days(delivery);
    UPDATE pushmta_engine.delivery d SET state = 'paused', preparing_host = '', changed_at = now() WHERE d.id = ANY(held);
    UPDATE delivery_part p SET state = 'waiting' WHERE p.delivery_id = ANY(held) AND p.state = 'ready';
    PERFORM pg_notify('pushmta_wake', 'control');
END $$;
COMMENT ON FUNCTION pushmta.pause_delivery(bigint) IS
    'Holds a delivery back: nothing new leaves, what is on its way to the gateway is resolved and recorded.';

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
        WHEN d.started_at IS NULL THEN 'pending' WHEN d.prepared THEN 'in_progress' ELSE 'preparing' END
    WHERE d.id = ANY(held);
    UPDATE delivery_part p SET state = 'ready' WHERE p.delivery_id = ANY(held) AND p.state = 'waiting';
    PERFORM pg_notify('pushmta_wake', 'control');
END $$;
COMMENT ON FUNCTION pushmta.resume_delivery(bigint) IS
    'Lets a paused delivery go on where it was: waiting for its start, in preparation, or sending. Why it was held is over '
    'then.';

CREATE FUNCTION pushmta.stop_delivery(delivery bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
    complete boolean;
BEGIN
    PERFORM refuse_day(delivery);
    IF found_state = 'stopped' THEN
        RETURN;
    END IF;
    IF found_state IN ('finished', 'failed') THEN
        RAISE EXCEPTION 'Delivery % is % and cannot be stopped.', delivery, found_state
            USING ERRCODE = 'PM008', HINT = 'It is at its end already.';
    END IF;
    complete := cancel_parts(delivery, 'stopped');
    complete := end_days(delivery, 'stopped', '') AND complete;
    UPDATE pushmta_engine.delivery d SET state = 'stopped', state_reason = '', preparing_host = '', changed_at = now(),
        finished_at = CASE WHEN complete THEN now() END
    WHERE d.id = delivery;
    PERFORM pg_notify('pushmta_wake', 'control');
END $$;
COMMENT ON FUNCTION pushmta.stop_delivery(bigint) IS
    'Ends a delivery for good: nothing new leaves, what is on its way to the gateway is resolved and recorded, the rest is '
    'canceled.';

CREATE FUNCTION pushmta_engine.fail_delivery(delivery bigint, words text) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    whole bigint := coalesce((SELECT d.parent_delivery_id FROM pushmta_engine.delivery d
        WHERE d.id = delivery AND d.kind = 'continuous'), delivery);
    found_state text := lock_delivery(whole);
    complete boolean;
BEGIN
    IF found_state IN ('finished', 'failed', 'stopped') THEN
        RETURN false;
    END IF;
    complete := cancel_parts(whole, words);
    complete := end_days(whole, 'failed', words) AND complete;
    UPDATE pushmta_engine.delivery d SET state = 'failed', state_reason = words, preparing_host = '', changed_at = now(),
        finished_at = CASE WHEN complete THEN now() END
    WHERE d.id = whole;
    PERFORM pg_notify('pushmta_wake', 'control');
    RETURN true;
END $$;
COMMENT ON FUNCTION pushmta_engine.fail_delivery(bigint, text) IS
    'Gives a delivery up because it cannot be sent; false if it is at its end already. What one day cannot send the next ones '
    'cannot either, so the whole fails.';

CREATE FUNCTION pushmta_engine.return_delivery(delivery bigint, words text) RETURNS text LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
    day date;
BEGIN
    IF found_state NOT IN ('pending', 'preparing') THEN
        RETURN found_state;
    END IF;
    -- What its parts have is on its way, and stays.
    IF EXISTS (SELECT FROM delivery_part p WHERE p.delivery_id = delivery) THEN
        UPDATE pushmta_engine.delivery d SET wait_reason = '', wait_failures = 0, wait_until = NULL WHERE d.id = delivery;
        PERFORM hold_delivery(delivery, words);
        RETURN 'paused';
    END IF;
    day := (SELECT d.log_day FROM pushmta_engine.delivery d WHERE d.id = delivery);
    DELETE FROM exclusion_log x WHERE x.log_day = day AND x.delivery_id = delivery;
    INSERT INTO console_draft SELECT r.* FROM pushmta_engine.delivery d CROSS JOIN LATERAL
        jsonb_populate_record(NULL::pushmta_engine.console_draft, d.draft || jsonb_build_object('changed_at', now())) r
    WHERE d.id = delivery AND d.draft IS NOT NULL
    ON CONFLICT (id) DO NOTHING;
    DELETE FROM message_id_range r WHERE r.delivery_id = delivery;
    UPDATE delivery_application a SET prepared_through = 0, prepare_to = NULL, prepared = false, messages = 0
    WHERE a.delivery_id = delivery;
    UPDATE pushmta_engine.delivery d SET state = 'editing', state_reason = words, start_at = NULL, started_at = NULL, log_day = NULL,
        message_id_base = NULL, valid_until = NULL, target = 0, excluded = 0, prepared_through = 0,
        prepare_to = NULL, prepared = false, preparing_host = '', wait_reason = '', wait_failures = 0, wait_until = NULL, draft = NULL,
        changed_at = now()
    WHERE d.id = delivery;
    PERFORM pg_notify('pushmta_wake', 'control');
    RETURN 'editing';
END $$;
COMMENT ON FUNCTION pushmta_engine.return_delivery(bigint, text) IS
    'Puts a delivery that cannot be prepared back into editing, with every problem on a line of state_reason, and gives its draft back '
    'to the writer, who corrects it and starts it again. If some of its parts were made, it is paused instead. Returns its new state.';

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
    UPDATE delivery_part p SET state = 'waiting' WHERE p.delivery_id = ANY(held) AND p.state = 'ready';
    PERFORM pg_notify('pushmta_wake', 'control');
    RETURN true;
END $$;
COMMENT ON FUNCTION pushmta_engine.hold_delivery(bigint, text) IS
    'Pauses a delivery because of what a gateway says of it alone; a continuous one as a whole, as what one day cannot send '
    'the next ones cannot either. False if it is paused already or not under way.';

-- What an application waits for, and its end.

CREATE FUNCTION pushmta_engine.is_doubtful(kind text, part bigint) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN kind IN ('canonical', 'soft_error') OR kind = 'invalid' AND part IS NOT NULL;
COMMENT ON FUNCTION pushmta_engine.is_doubtful(text, bigint) IS
    'Whether what was said of a token may be a mistake of ours: neither a message that got through, nor an answer that no mix-up '
    'causes, which names no part.';

CREATE FUNCTION pushmta_engine.close_circuit(application integer, believing boolean) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
DECLARE
    was_open boolean;
BEGIN
    -- One statement: what is asked of the sequence is asked when the row is locked, so it knows of parts that are not committed too, and of
    -- those that came while the statement waited.
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
    'Closes an application''s circuit, and undoes what was said of its tokens while it was open: events that are pending still came '
    'meanwhile, or the next duty would have held them. Others of that time come later, from a transaction that has not committed or from '
    'a host that was cut off: what is said of the parts that there are by now is void, unless the gateway dates it. Returns whether it '
    'was open.';

CREATE FUNCTION pushmta_engine.free_waiting_parts(application integer, account integer, words text, most integer) RETURNS integer
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    freed integer;
BEGIN
    UPDATE delivery_part p SET waits_for = NULL, refusals = 1, not_before = now()
    WHERE p.id = ANY(ARRAY(SELECT f.id FROM delivery_part f
        WHERE f.application_id = application AND f.external_account_id = account AND f.waits_for = words AND f.state <> 'done'
            AND f.state IN ('ready', 'waiting')
        LIMIT most FOR NO KEY UPDATE SKIP LOCKED));
    GET DIAGNOSTICS freed = ROW_COUNT;
    DELETE FROM credential_wait w
    WHERE w.application_id = application AND w.external_account_id = account AND w.reason = words AND NOT EXISTS (
        SELECT FROM delivery_part p WHERE p.application_id = application AND p.external_account_id = account AND p.waits_for = words
            AND p.state <> 'done');
    RETURN freed;
END $$;
COMMENT ON FUNCTION pushmta_engine.free_waiting_parts(integer, integer, text, integer) IS
    'Lets up to so many parts go that waited for a credential which now works; returns how many.';

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
    'A message that waited for a credential got through: the others go, the first of them at once.';

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
            AND p.waits_for = due.reason AND p.state <> 'done' AND p.state = 'ready' AND p.not_before > now()
        ORDER BY p.refusals, p.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
        IF one IS NOT NULL THEN
            UPDATE delivery_part p SET not_before = now() WHERE p.id = one;
            UPDATE credential_wait w SET next_probe_at = now() + interval '5 minutes', probes = w.probes + 1
            WHERE w.application_id = due.application_id AND w.external_account_id = due.external_account_id AND w.reason = due.reason;
            freed := freed + 1;
        ELSE
            -- Nothing of it is left, or all of it is claimed, or held back with its delivery.
            PERFORM free_waiting_parts(due.application_id, due.external_account_id, due.reason, 0);
        END IF;
    END LOOP;
    RETURN freed;
END $$;
COMMENT ON FUNCTION pushmta_engine.try_credential_waits(integer) IS
    'Makes one part due of those that wait for a credential and whose turn has come, so that one of its messages finds out whether the '
    'credential now works, and lets go what waited for one that does. Returns how many parts became due. It waits for no lock.';

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
    -- A part that was tried and could not be loaded waits for nothing else. One that somebody has locked is being given back or claimed.
    WITH due AS MATERIALIZED (
        SELECT p.id FROM delivery_part p
        WHERE p.load_failures > 0 AND p.state <> 'done' AND p.state = 'ready' AND p.application_id = application AND p.not_before > now()
        FOR NO KEY UPDATE SKIP LOCKED
    ), freed AS (
        UPDATE delivery_part p SET not_before = now(), load_failures = 0 FROM due d WHERE p.id = d.id RETURNING p.load_error
    )
    SELECT count(*), coalesce(max(f.load_error), '') INTO parts, load_problem FROM freed f;
    WITH freed AS (
        UPDATE delivery d SET wait_until = NULL, wait_failures = 0
        WHERE d.id = ANY(ARRAY(SELECT f.id FROM delivery f
            WHERE f.state IN ('pending', 'preparing') AND f.wait_until > now()
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
    'Ends what an application''s messages wait for and that can be ended: its circuit closes, supervisors start its children at once, '
    'parts that could not be loaded and preparations that were put off are tried again, gateways in trouble are tried at once, and so is '
    'one message of those that wait for a credential stored with the gateway.';

CREATE FUNCTION pushmta_engine.console_resume(token bytea, moment timestamptz, idle interval, address text, application integer,
    believing boolean) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_user_of(token, moment, idle, ARRAY['operate', 'admin']);
    found_name text;
BEGIN
    SELECT a.name INTO found_name FROM pushmta_engine.application a WHERE a.id = application;
    IF found_name IS NULL THEN
        RAISE EXCEPTION 'There is no application %.', application
            USING ERRCODE = 'PM001', HINT = 'pushmta app list shows them.';
    END IF;
    PERFORM resume_application(application, believing);
    PERFORM note_audit(who, 'application.resume', found_name, CASE WHEN believing THEN 'refused tokens are believed' ELSE '' END, address);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_resume(bytea, timestamptz, interval, text, integer, boolean) IS
    'Ends what an application''s messages wait for, for somebody who has signed in.';
