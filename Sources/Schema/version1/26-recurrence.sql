-- Recurring deliveries: when the next run is due, and what is done about it.
--
-- Moments are functions of the rule and a moment, so tests move the clock. A run is a copy that starts at once: nothing is prepared
-- before its moment, so it reaches the subscribers of that moment.

CREATE FUNCTION pushmta_engine.zoned_moment(local_time timestamp, zone text) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT CASE WHEN e.moment AT TIME ZONE zone = local_time THEN least(e.moment, e.usual) ELSE e.usual END
    FROM (SELECT u.usual, local_time AT TIME ZONE 'UTC' - ((u.usual - interval '24 hours') AT TIME ZONE zone
            - (u.usual - interval '24 hours') AT TIME ZONE 'UTC') AS moment
        FROM (SELECT local_time AT TIME ZONE zone AS usual) u) e);
COMMENT ON FUNCTION pushmta_engine.zoned_moment(timestamp, text) IS
    'The moment of a local time, as calendars have it (RFC 5545): one that a change of the clock skips is read with the offset before '
    'the change, and of one that occurs twice the first is meant, where PostgreSQL alone takes the second.';

CREATE FUNCTION pushmta_engine.recurrence_dates(rule pushmta_engine.recurrence, since date) RETURNS SETOF date LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    WITH start AS MATERIALIZED (
        SELECT greatest(since, rule.starts_on) AS day,
            -- Each excluded date takes one of the dates that are looked at.
            6 + (SELECT count(*)::integer FROM unnest(rule.except_dates) x(day) WHERE x.day >= since) AS needed,
            (rule.starts_on - (extract(isodow FROM rule.starts_on)::integer - 1)) AS monday,
            (extract(year FROM rule.starts_on) * 12 + extract(month FROM rule.starts_on))::integer - 1 AS month
    ), found AS (
        SELECT rule.starts_on + n.n * rule.every AS day
        FROM start s CROSS JOIN generate_series(0, s.needed) k
        CROSS JOIN LATERAL (SELECT (s.day - rule.starts_on) / rule.every + k AS n) n
        WHERE rule.unit = 'days'
        UNION ALL
        SELECT s.monday + 7 * rule.every * ((s.day - s.monday) / (7 * rule.every) + k) + w.day - 1
        FROM start s CROSS JOIN generate_series(0, s.needed) k CROSS JOIN unnest(rule.weekdays) w(day)
        WHERE rule.unit = 'weeks'
        UNION ALL
        SELECT m.first + CASE WHEN x.day > 0 THEN x.day - 1 ELSE m.days + x.day END
        FROM start s
        -- From one 29 February to the next there are up to eight years. Of other months, at least one in three has the day.
        CROSS JOIN generate_series(0, s.needed * CASE WHEN rule.every = 12 THEN 9 ELSE 4 END) k
        CROSS JOIN LATERAL (SELECT s.month + rule.every * ((extract(year FROM s.day)::integer * 12
            + extract(month FROM s.day)::integer - 1 - s.month) / rule.every + k) AS month) n
        CROSS JOIN LATERAL (SELECT make_date(n.month / 12, n.month % 12 + 1, 1) AS first,
            make_date((n.month + 1) / 12, (n.month + 1) % 12 + 1, 1) - make_date(n.month / 12, n.month % 12 + 1, 1) AS days) m
        CROSS JOIN unnest(rule.month_days) x(day)
        WHERE rule.unit = 'months' AND abs(x.day) <= m.days
    )
    SELECT DISTINCT f.day FROM found f, start s
    WHERE f.day >= s.day AND (rule.ends_on IS NULL OR f.day <= rule.ends_on) AND f.day <> ALL(rule.except_dates)
    ORDER BY f.day LIMIT 6 $$;
COMMENT ON FUNCTION pushmta_engine.recurrence_dates(pushmta_engine.recurrence, date) IS
    'The first six local dates of a rule of days, weeks or months from a date on. It computes where they are, so it takes the same time '
    'however far away they are. A month without a day has no run on it, as in calendars; -1 is its last day.';

CREATE FUNCTION pushmta_engine.next_run(rule pushmta_engine.recurrence, after timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    anchor timestamptz;
    first bigint;
BEGIN
    IF rule.unit <> 'hours' THEN
        -- From the day before, whose last times may be after it: around a change of the clock the moments of two days may overlap.
        RETURN (SELECT min(m.moment)
            FROM recurrence_dates(rule, (after AT TIME ZONE rule.time_zone)::date - 1) d(day)
            CROSS JOIN unnest(rule.times) t(time) CROSS JOIN LATERAL zoned_moment(d.day + t.time, rule.time_zone) m(moment)
            WHERE m.moment > after);
    END IF;
    anchor := zoned_moment(rule.starts_on + rule.times[1], rule.time_zone);
    first := CASE WHEN after < anchor THEN 0 ELSE floor(extract(epoch FROM after - anchor) / (3600 * rule.every)) + 1 END;
    RETURN (SELECT min(m.moment)
        -- A day has at most 26 hours.
        FROM generate_series(first, first + 2 + 26 * (SELECT count(*) FROM unnest(rule.except_dates) x(day)
            WHERE x.day >= (after AT TIME ZONE rule.time_zone)::date)) k
        CROSS JOIN LATERAL (SELECT anchor + k * rule.every * interval '1 hour' AS moment) m
        CROSS JOIN LATERAL (SELECT (m.moment AT TIME ZONE rule.time_zone)::date AS day) l
        WHERE l.day <> ALL(rule.except_dates) AND (rule.ends_on IS NULL OR l.day <= rule.ends_on));
END $$;
COMMENT ON FUNCTION pushmta_engine.next_run(pushmta_engine.recurrence, timestamptz) IS
    'The first moment of a rule after the given one; null if there is none. Hours are counted as they pass, whatever the clock shows.';

CREATE FUNCTION pushmta_engine.rule_problem(rule pushmta_engine.recurrence, OUT problem text, OUT remedy text) LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT p.problem, p.remedy FROM (VALUES
        (rule.unit IS NULL OR rule.unit NOT IN ('hours', 'days', 'weeks', 'months'), 'unit: it is none of the four',
            'Give hours, days, weeks or months.'),
        (rule.every IS NULL OR rule.every NOT BETWEEN 1 AND CASE rule.unit WHEN 'hours' THEN 720 WHEN 'days' THEN 366 WHEN 'weeks' THEN 52
            ELSE 12 END, 'every: it is out of range', 'Give 1 to 720 hours, 366 days, 52 weeks or 12 months.'),
        (rule.time_zone IS NULL OR NOT EXISTS (SELECT FROM pushmta_engine.time_zone z WHERE z.name = rule.time_zone),
            'time_zone: there is no such zone', 'Give a name such as Europe/Berlin or UTC.'),
        (rule.times IS NULL OR cardinality(rule.times) NOT BETWEEN 1 AND CASE rule.unit WHEN 'hours' THEN 1 ELSE 48 END
            OR EXISTS (SELECT FROM unnest(rule.times) t(time) WHERE t.time IS NULL OR t.time > '23:59'
                OR t.time <> date_trunc('minute', t.time)),
            'times: they are not 1 to 48 times of a day, or not one for hours', 'Give times such as 09:00 and 18:30.'),
        (CASE rule.unit WHEN 'weeks' THEN cardinality(rule.weekdays) NOT BETWEEN 1 AND 7 OR NOT rule.weekdays <@ ARRAY[1, 2, 3, 4, 5, 6, 7]
            ELSE cardinality(rule.weekdays) > 0 END, 'weekdays: they are not days of a week, or the unit is not weeks',
            'Give 1 (Monday) to 7 (Sunday) with weeks only.'),
        (CASE rule.unit WHEN 'months' THEN cardinality(rule.month_days) NOT BETWEEN 1 AND 62 OR EXISTS (
                SELECT FROM unnest(rule.month_days) m(day) WHERE m.day IS NULL OR m.day = 0 OR abs(m.day) > 31)
            ELSE cardinality(rule.month_days) > 0 END, 'month_days: they are not days of a month, or the unit is not months',
            'Give 1 to 31, or from the end -1 to -31, with months only.'),
        (rule.starts_on IS NULL OR rule.starts_on NOT BETWEEN date '2000-01-01' AND date '2999-12-31'
            OR rule.ends_on NOT BETWEEN rule.starts_on AND date '2999-12-31', 'starts_on, ends_on: they are not two dates in order',
            'Give dates of 2000 to 2999, or no end.'),
        (cardinality(rule.except_dates) > 200 OR array_position(rule.except_dates, NULL) IS NOT NULL OR EXISTS (
                SELECT FROM unnest(rule.except_dates) x(day) WHERE x.day NOT BETWEEN date '2000-01-01' AND date '2999-12-31'),
            'except_dates: there are too many, or one is not a date of 2000 to 2999', 'Give at most 200 dates.'),
        (rule.missed IS NULL OR rule.missed NOT IN ('skip', 'once'), 'missed: it is neither skip nor once', 'Give skip or once.')
    ) p(is_wrong, problem, remedy) WHERE p.is_wrong LIMIT 1 $$;
COMMENT ON FUNCTION pushmta_engine.rule_problem(pushmta_engine.recurrence) IS 'The first problem of a rule, and its remedy; nulls if none.';

CREATE FUNCTION pushmta_engine.refuse_recurring(delivery bigint) RETURNS void LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    IF EXISTS (SELECT FROM recurrence r WHERE r.delivery_id = delivery) THEN
        RAISE EXCEPTION 'Delivery % recurs: its runs are sent, it is not sent itself.', delivery
            USING ERRCODE = 'PM171', HINT = 'pushmta.run_recurrence makes a run now; pushmta.remove_recurrence ends the recurrence.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_recurring(bigint) IS 'Raises an error for a recurring delivery, which is never started itself.';

CREATE FUNCTION pushmta_engine.reopen_recurring(delivery bigint, was_state text) RETURNS text LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    IF was_state NOT IN ('analysing', 'ready') OR NOT EXISTS (SELECT FROM recurrence r WHERE r.delivery_id = delivery) THEN
        RETURN was_state;
    END IF;
    PERFORM drop_analysis(delivery, 'its content, target or settings were changed');
    UPDATE pushmta_engine.delivery d SET state = 'editing', log_day = NULL WHERE d.id = delivery;
    RETURN 'editing';
END $$;
COMMENT ON FUNCTION pushmta_engine.reopen_recurring(bigint, text) IS
    'Makes a locked recurring delivery that is analysed editing, before its draft revises it: somebody had it analysed elsewhere, and a '
    'new delivery would leave its runs as they are. Leaves any other as it is. Returns its state.';

CREATE FUNCTION pushmta_engine.finish_recurrence(delivery bigint, words text) RETURNS void LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
    UPDATE recurrence r SET state = 'finished', reason = words, next_run = NULL, look_at = NULL, changed_at = now()
    WHERE r.delivery_id = delivery AND r.state <> 'finished' $$;
COMMENT ON FUNCTION pushmta_engine.finish_recurrence(bigint, text) IS
    'Ends the recurrence of a delivery, if it has one: there are no further runs.';

CREATE FUNCTION pushmta_engine.lock_recurrence(delivery bigint) RETURNS pushmta_engine.recurrence LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET lock_timeout = '2s' AS $$
#variable_conflict use_variable
DECLARE
    rule pushmta_engine.recurrence;
BEGIN
    PERFORM lock_delivery(delivery);
    SELECT r.* INTO rule FROM recurrence r WHERE r.delivery_id = delivery FOR UPDATE;
    IF rule.delivery_id IS NULL THEN
        RAISE EXCEPTION 'Delivery % does not recur.', delivery
            USING ERRCODE = 'PM172', HINT = 'pushmta.set_recurrence says when it recurs; pushmta.recurrence lists those that do.';
    END IF;
    RETURN rule;
END $$;
COMMENT ON FUNCTION pushmta_engine.lock_recurrence(bigint) IS 'Locks a recurring delivery and its rule, and returns the rule.';

CREATE FUNCTION pushmta_engine.note_recurrence(done text, delivery bigint) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    name text := (SELECT d.label FROM pushmta_engine.delivery d WHERE d.id = note_recurrence.delivery);
BEGIN
    IF NOT is_audited('recurrence', done, delivery::text, name) THEN
        PERFORM note_change('recurrence.' || done, delivery::text, name);
    END IF;
    PERFORM pg_notify('pushmta_wake', delivery::text);
END $$;
COMMENT ON FUNCTION pushmta_engine.note_recurrence(text, bigint) IS
    'Logs a change of a recurrence, unless the console has, and wakes the supervisors.';

CREATE FUNCTION pushmta_engine.require_recurring(delivery bigint) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
    whole pushmta_engine.delivery;
BEGIN
    SELECT d.* INTO whole FROM pushmta_engine.delivery d WHERE d.id = delivery;
    IF found_state NOT IN ('editing', 'analysing', 'ready') THEN
        RAISE EXCEPTION 'Delivery % is % and cannot recur.', delivery, found_state
            USING ERRCODE = 'PM171', HINT = 'Only a delivery that was not started can; pushmta.copy_delivery makes one.';
    ELSIF recalled_by(delivery) IS NOT NULL THEN
        PERFORM refuse_recall_change(delivery);
    ELSIF whole.kind <> 'batch' OR whole.proof OR whole.one_time_code OR whole.recurrence_of IS NOT NULL THEN
        RAISE EXCEPTION 'Delivery % is continuous, a proof, a run, or carries one-time codes, and cannot recur.', delivery
            USING ERRCODE = 'PM170', HINT = 'Create an ordinary delivery with the same content.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.require_recurring(bigint) IS 'Locks a delivery that may recur; refuses any other.';

CREATE FUNCTION pushmta_engine.complete_rule(given pushmta_engine.recurrence) RETURNS pushmta_engine.recurrence LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    rule pushmta_engine.recurrence := given;
    wrong record;
BEGIN
    rule.every := coalesce(given.every, 1);
    rule.times := coalesce(given.times, CASE WHEN given.unit = 'hours' THEN ARRAY[time '00:00'] END);
    rule.except_dates := coalesce(given.except_dates, '{}');
    rule.missed := coalesce(given.missed, 'skip');
    -- Checked with any first day: that of today needs a zone that exists.
    rule.starts_on := coalesce(given.starts_on, least(current_date, given.ends_on));
    rule.weekdays := coalesce(given.weekdays, CASE WHEN given.unit = 'weeks' THEN ARRAY[1] ELSE '{}' END);
    rule.month_days := coalesce(given.month_days, CASE WHEN given.unit = 'months' THEN ARRAY[1] ELSE '{}' END);
    SELECT p.problem, p.remedy INTO wrong FROM rule_problem(rule) p;
    IF wrong.problem IS NULL THEN
        rule.times := ARRAY(SELECT DISTINCT t.time FROM unnest(rule.times) t(time) ORDER BY t.time);
        rule.starts_on := coalesce(given.starts_on, (now() AT TIME ZONE rule.time_zone)::date);
        IF rule.unit = 'weeks' AND given.weekdays IS NULL THEN
            rule.weekdays := ARRAY[extract(isodow FROM rule.starts_on)::integer];
        ELSIF rule.unit = 'months' AND given.month_days IS NULL THEN
            rule.month_days := ARRAY[extract(day FROM rule.starts_on)::integer];
        END IF;
        rule.next_run := next_run(rule, now());
        IF rule.next_run IS NOT NULL THEN
            RETURN rule;
        END IF;
        SELECT 'it has no run after now' AS problem, 'Give later dates, or days that these months have.' AS remedy INTO wrong;
    END IF;
    RAISE EXCEPTION 'Delivery % cannot recur like this: %.', rule.delivery_id, wrong.problem USING ERRCODE = 'PM170', HINT = wrong.remedy;
END $$;
COMMENT ON FUNCTION pushmta_engine.complete_rule(pushmta_engine.recurrence) IS
    'A rule with its defaults and its first moment after now. Refuses one that is wrong or has no such moment.';

CREATE FUNCTION pushmta_engine.check_recurring_hours(rule pushmta_engine.recurrence, validity interval) RETURNS void LANGUAGE plpgsql
    STABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    first timestamptz := next_run(rule, now());
    begins timestamptz := first;
BEGIN
    -- A week of them: a run on a day without hours does no harm if those of other days are sent.
    FOR n IN 1..7 * CASE rule.unit WHEN 'hours' THEN 24 ELSE cardinality(rule.times) END LOOP
        EXIT WHEN begins IS NULL;
        IF (SELECT c.name IS NULL FROM closed_service(rule.delivery_id, begins, begins + validity,
            (begins AT TIME ZONE rule.time_zone)::date) c) IS NOT FALSE THEN
            RETURN;
        END IF;
        begins := next_run(rule, begins);
    END LOOP;
    PERFORM check_hours(rule.delivery_id, first, first + validity, (first AT TIME ZONE rule.time_zone)::date) WHERE first IS NOT NULL;
END $$;
COMMENT ON FUNCTION pushmta_engine.check_recurring_hours(pushmta_engine.recurrence, interval) IS
    'Refuses a rule of whose next runs none could be sent within the sending hours.';

CREATE FUNCTION pushmta_engine.check_recurring_plan(delivery bigint) RETURNS void LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    rule pushmta_engine.recurrence;
    whole pushmta_engine.delivery;
    since timestamptz;
    begins timestamptz;
BEGIN
    SELECT r.* INTO rule FROM pushmta_engine.recurrence r WHERE r.delivery_id = delivery;
    IF rule.delivery_id IS NULL THEN
        RETURN;
    END IF;
    SELECT d.* INTO whole FROM pushmta_engine.delivery d WHERE d.id = delivery;
    PERFORM check_recurring_hours(rule, whole.validity) WHERE whole.ends_at IS NULL;
    IF NOT EXISTS (SELECT FROM delivery_plan p WHERE p.delivery_id = delivery) THEN
        RETURN;
    END IF;
    -- In winter and in summer the clocks of a zone differ.
    FOREACH since IN ARRAY ARRAY[now(), date_trunc('year', now()) + interval '12 months', date_trunc('year', now()) + interval '18 months']
    LOOP
        begins := since;
        -- At each time of the day.
        FOR n IN 1..CASE rule.unit WHEN 'hours' THEN 24 ELSE cardinality(rule.times) END LOOP
            begins := next_run(rule, begins);
            EXIT WHEN begins IS NULL;
            PERFORM check_plan(delivery, begins, CASE WHEN whole.ends_at IS NULL THEN begins + whole.validity ELSE 'infinity' END,
                (begins AT TIME ZONE rule.time_zone)::date);
        END LOOP;
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta_engine.check_recurring_plan(bigint) IS
    'Refuses a plan that would not fit into the runs of its recurring delivery, so that they are not refused one after another.';

CREATE FUNCTION pushmta.set_recurrence(
    delivery bigint, unit text, time_zone text, times time[] DEFAULT NULL, every integer DEFAULT 1, weekdays integer[] DEFAULT NULL,
    month_days integer[] DEFAULT NULL, starts_on date DEFAULT NULL, ends_on date DEFAULT NULL, except_dates date[] DEFAULT NULL,
    missed text DEFAULT 'skip'
) RETURNS timestamptz LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    rule pushmta_engine.recurrence;
BEGIN
    PERFORM require_recurring(delivery);
    rule.delivery_id := delivery;
    rule.every := every;
    rule.unit := unit;
    rule.times := times;
    rule.time_zone := time_zone;
    rule.weekdays := weekdays;
    rule.month_days := month_days;
    rule.starts_on := starts_on;
    rule.ends_on := ends_on;
    rule.except_dates := except_dates;
    rule.missed := missed;
    rule := complete_rule(rule);
    INSERT INTO recurrence AS r (delivery_id, every, unit, times, time_zone, weekdays, month_days, starts_on, ends_on, except_dates, missed)
    VALUES (delivery, rule.every, rule.unit, rule.times, rule.time_zone, rule.weekdays, rule.month_days, rule.starts_on, rule.ends_on,
        rule.except_dates, rule.missed)
    ON CONFLICT (delivery_id) DO UPDATE SET every = excluded.every, unit = excluded.unit, times = excluded.times,
        time_zone = excluded.time_zone, weekdays = excluded.weekdays, month_days = excluded.month_days, starts_on = excluded.starts_on,
        ends_on = excluded.ends_on, except_dates = excluded.except_dates, missed = excluded.missed, changed_at = now(),
        state = CASE WHEN r.state = 'finished' THEN 'editing' ELSE r.state END,
        reason = CASE WHEN r.state = 'finished' THEN '' ELSE r.reason END,
        next_run = CASE WHEN r.state = 'active' THEN rule.next_run END, look_at = CASE WHEN r.state = 'active' THEN rule.next_run END;
    PERFORM check_recurring_plan(delivery);
    PERFORM note_maker(delivery);
    PERFORM note_recurrence('set', delivery);
    RETURN rule.next_run;
END $$;
COMMENT ON FUNCTION pushmta.set_recurrence(
    bigint, text, text, time[], integer, integer[], integer[], date, date, date[], text) IS
    'Says when a delivery recurs, as a whole, and returns its next moment. Nothing is sent before pushmta.start_recurrence; one that is '
    'active goes on with the new rule. unit: hours, days, weeks, months; every: 2 is every second one. times: local times. weekdays: 1 '
    '(Monday) to 7; month_days: 1 to 31, or -1 for the last day. missed: what follows if no run could be made at its moment: skip, or '
    'once, as soon as possible.';

CREATE FUNCTION pushmta.start_recurrence(delivery bigint) RETURNS timestamptz LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    rule pushmta_engine.recurrence := lock_recurrence(delivery);
    following timestamptz := next_run(rule, now());
BEGIN
    IF rule.state = 'active' THEN
        RETURN rule.next_run;
    END IF;
    PERFORM require_recurring(delivery);
    IF following IS NULL THEN
        RAISE EXCEPTION 'Delivery % has no run left.', delivery
            USING ERRCODE = 'PM170', HINT = 'Set a later end with pushmta.set_recurrence.';
    END IF;
    PERFORM check_recurring_plan(delivery);
    UPDATE recurrence r SET state = 'active', reason = '', next_run = following, look_at = following, changed_at = now(),
        -- A run that ended before says nothing about the next one.
        last_run = CASE WHEN is_run_open(r.last_run) THEN r.last_run END
    WHERE r.delivery_id = delivery;
    PERFORM note_recurrence('start', delivery);
    RETURN following;
END $$;
COMMENT ON FUNCTION pushmta.start_recurrence(bigint) IS
    'Starts or continues the recurrence of a delivery, and returns its next moment. Moments that passed before it are not missed.';

CREATE FUNCTION pushmta.pause_recurrence(delivery bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    rule pushmta_engine.recurrence := lock_recurrence(delivery);
BEGIN
    IF rule.state = 'paused' AND rule.reason = '' THEN
        RETURN;
    ELSIF rule.state NOT IN ('active', 'paused') THEN
        RAISE EXCEPTION 'The recurrence of delivery % is % and cannot be paused.', delivery, rule.state
            USING ERRCODE = 'PM171', HINT = 'Only an active recurrence can be paused.';
    END IF;
    UPDATE recurrence r SET state = 'paused', reason = '', next_run = NULL, look_at = NULL, changed_at = now()
    WHERE r.delivery_id = delivery;
    PERFORM note_recurrence('pause', delivery);
END $$;
COMMENT ON FUNCTION pushmta.pause_recurrence(bigint) IS
    'Makes no further runs of a delivery until pushmta.start_recurrence. A run under way goes on.';

CREATE FUNCTION pushmta.remove_recurrence(delivery bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    PERFORM lock_recurrence(delivery);
    DELETE FROM recurrence r WHERE r.delivery_id = delivery;
    PERFORM note_maker(delivery);
    PERFORM note_recurrence('remove', delivery);
END $$;
COMMENT ON FUNCTION pushmta.remove_recurrence(bigint) IS
    'Makes a recurring delivery an ordinary one that can be started. Its runs stay.';

CREATE FUNCTION pushmta_engine.is_taken_back(run pushmta_engine.delivery) RETURNS boolean LANGUAGE sql IMMUTABLE
    -- end_returned_runs ends one with a reason.
    RETURN run.state IN ('editing', 'analysing', 'ready') AND run.state_reason = '';
COMMENT ON FUNCTION pushmta_engine.is_taken_back(pushmta_engine.delivery) IS
    'Whether somebody took a run back to change it: nobody knows whether it will be started again.';

CREATE FUNCTION pushmta_engine.is_run_open(run bigint) RETURNS boolean LANGUAGE sql STABLE SET search_path = pushmta_engine, pg_temp AS $$
    SELECT EXISTS (SELECT FROM delivery d WHERE d.id = run AND d.finished_at IS NULL AND NOT is_taken_back(d)) $$;
COMMENT ON FUNCTION pushmta_engine.is_run_open(bigint) IS
    'Whether this run has not ended, so that the next one must wait. One that was taken back is not waited for.';

CREATE FUNCTION pushmta_engine.note_run(delivery bigint, planned timestamptz, at timestamptz, outcome text, run bigint, words text)
    RETURNS void LANGUAGE sql SET search_path = pushmta_engine, pg_temp AS $$
    DELETE FROM recurrence_run x WHERE x.delivery_id = note_run.delivery AND x.noted_at < at - interval '400 days';
    INSERT INTO recurrence_run (delivery_id, planned_at, noted_at, outcome, run_id, reason)
    VALUES (note_run.delivery, planned, at, outcome, run, words) $$;
COMMENT ON FUNCTION pushmta_engine.note_run(bigint, timestamptz, timestamptz, text, bigint, text) IS
    'Records what was done about a planned moment, and forgets what is older than 400 days.';

CREATE FUNCTION pushmta_engine.make_run(rule pushmta_engine.recurrence, planned timestamptz, at timestamptz, words text) RETURNS bigint
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    made bigint := duplicate_delivery(rule.delivery_id, (SELECT format('%s, %s', left(d.label, 480),
            to_char(planned AT TIME ZONE rule.time_zone, 'YYYY-MM-DD HH24:MI'))
        FROM pushmta_engine.delivery d WHERE d.id = rule.delivery_id), rule.delivery_id);
BEGIN
    -- Its recipients get it at this time on their clocks, on the day of the run.
    UPDATE delivery_plan p SET local_time = (planned AT TIME ZONE rule.time_zone)::date + p.local_time::time
    WHERE p.delivery_id = made AND p.local_time IS NOT NULL;
    PERFORM pushmta.start_delivery(made);
    UPDATE recurrence r SET last_run = made WHERE r.delivery_id = rule.delivery_id;
    PERFORM note_run(rule.delivery_id, planned, at, 'started', made, words);
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta_engine.make_run(pushmta_engine.recurrence, timestamptz, timestamptz, text) IS
    'Makes a run of a recurring delivery for a planned moment, starts it now, and returns its id. The caller has locked the rule.';

CREATE FUNCTION pushmta.run_recurrence(delivery bigint) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    rule pushmta_engine.recurrence := lock_recurrence(delivery);
    made bigint;
BEGIN
    PERFORM require_recurring(delivery);
    IF is_run_open(rule.last_run) THEN
        RAISE EXCEPTION 'Run % of delivery % has not ended.', rule.last_run, delivery
            USING ERRCODE = 'PM171', HINT = 'Wait until it has, or stop it with pushmta.stop_delivery.';
    END IF;
    made := make_run(rule, clock_timestamp(), clock_timestamp(), 'on request');
    PERFORM note_recurrence('run', delivery);
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta.run_recurrence(bigint) IS
    'Makes a run of a recurring delivery now, whether or not it is active, and returns its id. The planned moments stay as they are.';

CREATE FUNCTION pushmta_engine.plan_run(rule pushmta_engine.recurrence, after timestamptz, at timestamptz) RETURNS void LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
    UPDATE recurrence r SET next_run = n.moment, look_at = n.moment, changed_at = at,
        state = CASE WHEN n.moment IS NULL THEN 'finished' ELSE r.state END
    FROM next_run(rule, after) n(moment) WHERE r.delivery_id = rule.delivery_id $$;
COMMENT ON FUNCTION pushmta_engine.plan_run(pushmta_engine.recurrence, timestamptz, timestamptz) IS
    'Plans the first run after a moment. Without one, the recurrence is finished.';

CREATE FUNCTION pushmta_engine.halt_recurrence(delivery bigint, at timestamptz, words text) RETURNS void LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
    UPDATE recurrence r SET state = 'paused', reason = words, next_run = NULL, look_at = NULL, changed_at = at
    -- The recall of a run waits for nobody. Before the next run, decide_run sees that it was recalled.
    WHERE r.delivery_id = (SELECT x.delivery_id FROM recurrence x WHERE x.delivery_id = halt_recurrence.delivery
        FOR NO KEY UPDATE SKIP LOCKED) AND r.state = 'active' $$;
COMMENT ON FUNCTION pushmta_engine.halt_recurrence(bigint, timestamptz, text) IS
    'Pauses a recurrence, unless another session has locked it, because a run could not be sent: the next one could not be either.';

CREATE FUNCTION pushmta_engine.end_returned_runs(most integer, at timestamptz) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    returned record;
BEGIN
    FOR returned IN SELECT d.id, d.recurrence_of, d.state_reason FROM delivery d
        WHERE d.recurrence_of IS NOT NULL AND d.state = 'editing' AND d.state_reason <> ''
        ORDER BY d.id LIMIT most FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        -- A session that changes the recurrence goes first.
        PERFORM FROM recurrence r WHERE r.delivery_id = returned.recurrence_of FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND AND EXISTS (SELECT FROM recurrence r WHERE r.delivery_id = returned.recurrence_of);
        UPDATE delivery d SET state = 'stopped', finished_at = now(), changed_at = now() WHERE d.id = returned.id;
        PERFORM halt_recurrence(returned.recurrence_of, at, format('run %s was not sent: %s', returned.id,
            returned.state_reason));
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta_engine.end_returned_runs(integer, timestamptz) IS
    'Stops runs that could not be prepared or were rejected, and pauses their recurrences: the recurring delivery is what to correct.';

CREATE FUNCTION pushmta_engine.decide_run(rule pushmta_engine.recurrence, at timestamptz, OUT run bigint, OUT outcome text)
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    -- While supervisors start again, or are busy, nothing is missed.
    tolerance CONSTANT interval := interval '10 minutes';
    planned timestamptz := CASE WHEN rule.next_run > at - tolerance THEN rule.next_run ELSE next_run(rule, at - tolerance) END;
    on_time boolean := coalesce(planned <= at, false);
    found_state text;
    last_words text;
BEGIN
    -- A session that is changing the delivery goes first.
    SELECT d.state INTO found_state FROM delivery d WHERE d.id = rule.delivery_id FOR KEY SHARE SKIP LOCKED;
    IF found_state IS NULL OR is_run_open(rule.last_run) AND rule.missed = 'once' THEN
        UPDATE recurrence r SET look_at = at + interval '10 seconds' WHERE r.delivery_id = rule.delivery_id;
        outcome := 'waits';
        RETURN;
    ELSIF found_state NOT IN ('editing', 'analysing', 'ready') THEN
        PERFORM finish_recurrence(rule.delivery_id, 'the delivery is ' || found_state);
        outcome := 'finished';
        RETURN;
    END IF;
    SELECT format(CASE d.state WHEN 'stopped' THEN 'run %s has failed: %s' ELSE 'run %s was recalled: %s' END, d.id, d.state_reason)
    INTO last_words FROM delivery d WHERE d.id = rule.last_run AND d.state_reason <> '' AND (d.state = 'stopped'
        OR d.state = 'recalled' AND EXISTS (SELECT FROM recall k WHERE k.delivery_id = d.id AND k.recalled_at > rule.changed_at));
    IF FOUND THEN
        PERFORM halt_recurrence(rule.delivery_id, at, last_words);
        outcome := 'failed';
        RETURN;
    END IF;
    planned := CASE WHEN on_time THEN planned ELSE rule.next_run END;
    IF planned > rule.next_run THEN
        -- If it was looked at in time, it has waited.
        PERFORM note_run(rule.delivery_id, rule.next_run, at, CASE WHEN rule.look_at > rule.next_run THEN 'skipped_overlap'
            ELSE 'skipped_missed' END, NULL, CASE WHEN rule.look_at > rule.next_run THEN 'it waited until the next moment'
            ELSE 'nothing ran until the next moment' END);
    END IF;
    -- Also after a step back of the clock, one moment has one run.
    IF NOT EXISTS (SELECT FROM recurrence_run x
        WHERE x.delivery_id = rule.delivery_id AND x.planned_at = planned AND x.outcome = 'started') THEN
        IF is_run_open(rule.last_run) THEN
            outcome := 'skipped_overlap';
            PERFORM note_run(rule.delivery_id, planned, at, outcome, NULL, format('run %s had not ended', rule.last_run));
        ELSIF on_time OR rule.missed = 'once' THEN
            run := make_run(rule, planned, at, concat_ws(', ', CASE WHEN NOT on_time THEN 'late' END,
                (SELECT format('run %s was taken back to editing', d.id) FROM delivery d WHERE d.id = rule.last_run AND is_taken_back(d))));
            outcome := 'started';
        ELSE
            outcome := 'skipped_missed';
            PERFORM note_run(rule.delivery_id, planned, at, outcome, NULL, 'nothing ran at its moment');
        END IF;
    END IF;
    PERFORM plan_run(rule, CASE WHEN on_time THEN planned ELSE at END, at);
END $$;
COMMENT ON FUNCTION pushmta_engine.decide_run(pushmta_engine.recurrence, timestamptz) IS
    'Makes the due run of a locked rule, skips it, or lets it wait for the run before, and plans the next one. A run is on time for ten '
    'minutes; then it was missed.';

CREATE FUNCTION pushmta_engine.make_runs(most integer, at timestamptz) RETURNS TABLE (delivery bigint, run bigint, outcome text)
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp SET lock_timeout = '2s' AS $$
#variable_conflict use_column
DECLARE
    rule pushmta_engine.recurrence;
BEGIN
    PERFORM end_returned_runs(most, at);
    -- What was planned before the clock was set back is planned again.
    FOR rule IN SELECT r.* FROM recurrence r WHERE r.state = 'active' AND r.changed_at > at + interval '1 second'
        ORDER BY r.changed_at LIMIT most FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        PERFORM plan_run(rule, at, at);
    END LOOP;
    FOR rule IN SELECT r.* FROM recurrence r WHERE r.state = 'active' AND r.look_at <= at
        ORDER BY r.look_at LIMIT most FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        delivery := rule.delivery_id;
        BEGIN
            SELECT x.run, x.outcome INTO run, outcome FROM decide_run(rule, at) x;
        EXCEPTION
            WHEN lock_not_available OR transaction_rollback OR insufficient_resources OR system_error THEN
                run := NULL;
                outcome := 'waits';
                UPDATE recurrence r SET look_at = at + interval '10 seconds' WHERE r.delivery_id = rule.delivery_id;
            WHEN OTHERS THEN
                run := NULL;
                outcome := 'failed';
                PERFORM note_run(rule.delivery_id, rule.next_run, at, 'failed', NULL, SQLERRM);
                PERFORM halt_recurrence(rule.delivery_id, at, 'a run could not be made: ' || SQLERRM);
        END;
        RETURN NEXT;
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta_engine.make_runs(integer, timestamptz) IS
    'Decides about up to this many recurrences that are due at a moment. Any number of hosts may call it at once; a moment gets one '
    'run. A recurrence that is locked is left for ten seconds. Returns what it did about each.';

CREATE VIEW pushmta.recurrence AS
SELECT r.delivery_id, d.label, r.state, r.reason, r.every, r.unit, r.times, r.time_zone, r.weekdays, r.month_days, r.starts_on, r.ends_on,
    r.except_dates, r.missed, r.next_run, r.last_run,
    -- A run that is due waits for the one before.
    CASE WHEN r.state = 'active' AND r.next_run <= now() AND l.finished_at IS NULL
        AND NOT pushmta_engine.is_taken_back(l) THEN l.id END AS waits_for, r.changed_at
FROM pushmta_engine.recurrence r
JOIN pushmta_engine.delivery d ON d.id = r.delivery_id
LEFT JOIN pushmta_engine.delivery l ON l.id = r.last_run;
COMMENT ON VIEW pushmta.recurrence IS
    'The recurring deliveries: when each recurs, and its next moment. reason says why the engine paused one. waits_for is the run that '
    'has to end before the due one starts.';

CREATE VIEW pushmta.recurrence_run AS
SELECT x.delivery_id, x.planned_at, x.noted_at, x.outcome, x.run_id, x.reason, d.state AS run_state, d.state_reason AS run_state_reason,
    d.target, d.started_at, d.finished_at
FROM pushmta_engine.recurrence_run x LEFT JOIN pushmta_engine.delivery d ON d.id = x.run_id;
COMMENT ON VIEW pushmta.recurrence_run IS
    'What was done about the moments of recurring deliveries in the last 400 days: a run was started, skipped because nothing ran '
    '(skipped_missed) or the run before had not ended (skipped_overlap), or could not be made (failed). run_id is the run, a delivery.';

CREATE FUNCTION pushmta.next_runs(delivery bigint, most integer DEFAULT 5) RETURNS SETOF timestamptz LANGUAGE plpgsql STABLE
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    rule pushmta_engine.recurrence;
    moment timestamptz;
BEGIN
    SELECT r.* INTO rule FROM recurrence r WHERE r.delivery_id = delivery AND r.state <> 'finished';
    moment := CASE WHEN rule.delivery_id IS NOT NULL THEN coalesce(rule.next_run, next_run(rule, now())) END;
    FOR place IN 1 .. least(most, 100) LOOP
        EXIT WHEN moment IS NULL;
        RETURN NEXT moment;
        moment := next_run(rule, moment);
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta.next_runs(bigint, integer) IS
    'The next moments of a recurring delivery, at most 100; those that it would have if it is not active.';

-- What the web process and the console call.

CREATE FUNCTION pushmta_engine.console_edit_recurring(caller pushmta_engine.console_caller, delivery bigint, label text,
    applications text[], fields jsonb) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    holder text;
    made bigint;
BEGIN
    PERFORM console_composer(caller);
    PERFORM lock_recurrence(delivery);
    PERFORM require_recurring(delivery);
    IF NOT 'edit' = ANY(console_actions(caller, delivery)) THEN
        -- Raises the error for an insufficient role.
        PERFORM console_user_of(caller, ARRAY['operate', 'admin']);
    END IF;
    holder := (SELECT c.owner FROM console_draft c WHERE c.delivery_id = delivery LIMIT 1);
    IF holder IS NOT NULL THEN
        RAISE EXCEPTION 'Delivery % has a draft already, which user % edits.', delivery, holder
            USING ERRCODE = 'PM008', HINT = 'That user, an operator or an administrator opens it under Compose.';
    END IF;
    made := console_add_draft(caller, label, applications, fields);
    -- Without a version: it says what the delivery says only as far as a draft can.
    UPDATE console_draft c SET delivery_id = delivery WHERE c.id = made;
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_edit_recurring(pushmta_engine.console_caller, bigint, text, text[], jsonb) IS
    'Makes a draft of a recurring delivery that has none, for a signed-in user who may edit it, and returns its id. The runs stay as they '
    'are until it is put into force with console_start_draft.';

CREATE FUNCTION pushmta_engine.api_recurrence(wanted bigint) RETURNS SETOF pushmta.recurrence
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT * FROM pushmta.recurrence r WHERE r.delivery_id = wanted $$;
COMMENT ON FUNCTION pushmta_engine.api_recurrence(bigint) IS 'When one delivery recurs, as the API shows it.';

CREATE FUNCTION pushmta_engine.api_recurrence_runs(wanted bigint, most integer) RETURNS SETOF pushmta.recurrence_run
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT * FROM pushmta.recurrence_run x WHERE x.delivery_id = wanted
        ORDER BY x.noted_at DESC, x.planned_at DESC LIMIT most $$;
COMMENT ON FUNCTION pushmta_engine.api_recurrence_runs(bigint, integer) IS
    'What was done about the moments of one recurring delivery, the latest first.';

CREATE FUNCTION pushmta_engine.console_recurrence_user(caller pushmta_engine.console_caller, done text, delivery bigint) RETURNS text
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_user_of(caller, ARRAY['marketing', 'operate', 'admin']);
BEGIN
    IF NOT 'start' = ANY(console_actions(caller, delivery)) THEN
        -- Raises the error for an insufficient role.
        PERFORM console_user_of(caller, ARRAY['operate', 'admin']);
    END IF;
    -- First, so that it is not logged again under the console's login.
    PERFORM note_audit(who, 'recurrence.' || done, delivery::text,
        coalesce((SELECT d.label FROM pushmta_engine.delivery d WHERE d.id = delivery), ''), caller.address);
    UPDATE pushmta_engine.delivery d SET started_by = who WHERE d.id = delivery AND d.started_by = '' AND done IN ('set', 'start', 'run');
    RETURN who;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_recurrence_user(pushmta_engine.console_caller, text, bigint) IS
    'The signed-in user who changes a recurrence, which is logged; an error if the user may not start the delivery.';

CREATE FUNCTION pushmta_engine.console_set_recurrence(
    caller pushmta_engine.console_caller, delivery bigint, unit text, time_zone text, times time[], every integer, weekdays integer[],
    month_days integer[], starts_on date, ends_on date, except_dates date[], missed text
) RETURNS timestamptz LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    PERFORM lock_delivery(delivery);
    PERFORM console_recurrence_user(caller, 'set', delivery);
    RETURN pushmta.set_recurrence(delivery, unit, time_zone, times, every, weekdays, month_days, starts_on, ends_on, except_dates,
        missed);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_set_recurrence(pushmta_engine.console_caller, bigint, text, text, time[], integer, integer[],
    integer[], date, date, date[], text) IS 'Says when a delivery recurs, for a signed-in user who may start it.';

CREATE FUNCTION pushmta_engine.console_control_recurrence(caller pushmta_engine.console_caller, action text, delivery bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    PERFORM lock_delivery(delivery);
    PERFORM console_recurrence_user(caller, action, delivery);
    CASE action
        WHEN 'start' THEN PERFORM pushmta.start_recurrence(delivery);
        WHEN 'pause' THEN PERFORM pushmta.pause_recurrence(delivery);
        WHEN 'remove' THEN PERFORM pushmta.remove_recurrence(delivery);
        WHEN 'run' THEN PERFORM pushmta.run_recurrence(delivery);
    END CASE;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_control_recurrence(pushmta_engine.console_caller, text, bigint) IS
    'Starts, pauses or removes the recurrence of a delivery, or makes a run, for a signed-in user who may start it.';
