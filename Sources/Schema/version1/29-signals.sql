-- Health signals: figures of other systems, such as the load of an app's backend, that the rates of deliveries follow.
--
-- An operator defines a signal; who may set the rate of a delivery lets it follow one. A supervisor reads each signal that a delivery
-- under way follows, and sets the rates of all its deliveries (SignalController). Any host takes the next read that is due, so none
-- has to take over from another. If nobody reads it, each rate falls to its floor on its own (rate_at).

CREATE FUNCTION pushmta_engine.signal_problem(kind text, source text, selector text, good text, interval_seconds integer,
    timeout_ms integer, reaction_seconds integer, stale_after_seconds integer) RETURNS text LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT CASE
        WHEN coalesce(kind NOT IN ('http', 'prometheus', 'sql'), true) THEN 'its kind must be http, prometheus or sql'
        WHEN coalesce(good NOT IN ('below', 'above'), true)
            THEN 'good must be below (the value should stay below its target) or above'
        WHEN coalesce(length(source) NOT BETWEEN 1 AND 2000 OR length(selector) > 2000, true)
            THEN 'source and selector have at most 2,000 characters, and the source at least one'
        WHEN selector <> '' AND NOT is_plain(selector) THEN 'its selector is blank or has control characters'
        WHEN kind <> 'sql' AND source !~ '^https?://[A-Za-z0-9.\[\]:_-]+(/[!-~]*)?$'
            THEN 'its source must be an address such as https://metrics.example.com/load, without a user name'
        WHEN kind = 'prometheus' AND source ~ '[?#]'
            THEN 'the source of a Prometheus query is the address of the server, without a query'
        WHEN kind = 'prometheus' AND selector = '' THEN 'the selector of a Prometheus query is the query'
        WHEN kind = 'http' AND selector !~ '^(|/.*|header:[A-Za-z0-9-]+)$'
            THEN 'its selector must be a JSON pointer such as /load, header:NAME, or empty if the answer is only the number'
        WHEN kind = 'sql' AND (selector <> '' OR source !~ '^[a-z_][a-z0-9_$]*\.[a-z_][a-z0-9_$]*\(\)$')
            THEN 'its source must be the call of a function without arguments, schema.function(), without a selector'
        WHEN coalesce(interval_seconds NOT BETWEEN 1 AND 60, true) THEN 'it is read every 1 to 60 seconds'
        WHEN coalesce(timeout_ms NOT BETWEEN 50 AND 1000 * interval_seconds, true)
            THEN 'its timeout must be at least 50 ms and at most the interval'
        WHEN coalesce(reaction_seconds NOT BETWEEN 1 AND 600, true) THEN 'it reacts within 1 to 600 seconds'
        WHEN coalesce(stale_after_seconds NOT BETWEEN 2 * interval_seconds AND 3600, true)
            THEN 'it is stale after at least two intervals and at most an hour' END $$;
COMMENT ON FUNCTION pushmta_engine.signal_problem(text, text, text, text, integer, integer, integer, integer) IS
    'What is wrong with the definition of a health signal; null if nothing is.';

CREATE FUNCTION pushmta_engine.require_signal_function(signal text, source text) RETURNS void LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    called regprocedure := to_regprocedure(source);
BEGIN
    IF called IS NULL THEN
        RAISE EXCEPTION 'Signal "%": there is no function %.', signal, source
            USING ERRCODE = 'PM292', HINT = 'Create it; it has no arguments and returns a number.';
    ELSIF EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.oid = called AND (p.proretset OR p.prorettype::regtype NOT IN (
        'smallint'::regtype, 'integer'::regtype, 'bigint'::regtype, 'real'::regtype, 'double precision'::regtype, 'numeric'::regtype)))
    THEN
        RAISE EXCEPTION 'Signal "%": the function % does not return a number.', signal, source
            USING ERRCODE = 'PM292', HINT = 'It must return one number, such as double precision.';
    ELSIF NOT has_schema_privilege('pushmta_signal', split_part(source, '.', 1), 'USAGE')
        OR NOT has_function_privilege('pushmta_signal', called::oid, 'EXECUTE')
    THEN
        RAISE EXCEPTION 'Signal "%": the role pushmta_signal may not call %.', signal, source
            USING ERRCODE = 'PM292', HINT = format('GRANT USAGE ON SCHEMA %s TO pushmta_signal; GRANT EXECUTE ON FUNCTION %s TO '
                'pushmta_signal', split_part(source, '.', 1), source);
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.require_signal_function(text, text) IS
    'Raises an error if the source of a health signal is no function that the role pushmta_signal can read a number from.';

CREATE FUNCTION pushmta.set_health_signal(name text, kind text, source text, selector text DEFAULT '', good text DEFAULT 'below',
    interval_seconds integer DEFAULT 1, timeout_ms integer DEFAULT 1000, reaction_seconds integer DEFAULT 5,
    stale_after_seconds integer DEFAULT 10) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    wrong text := signal_problem(kind, source, selector, good, interval_seconds, timeout_ms, reaction_seconds, stale_after_seconds);
BEGIN
    PERFORM require_name('signal', name, 'PM292');
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'Signal "%" is not valid: %.', name, wrong
            USING ERRCODE = 'PM292', HINT = 'The comment of pushmta.set_health_signal explains each argument.';
    END IF;
    IF kind = 'sql' THEN
        PERFORM require_signal_function(name, source);
    END IF;
    INSERT INTO health_signal AS s (name, kind, source, selector, good, interval_seconds, timeout_ms, reaction_seconds,
        stale_after_seconds)
    VALUES (name, kind, source, selector, good, interval_seconds, timeout_ms, reaction_seconds, stale_after_seconds)
    ON CONFLICT ON CONSTRAINT health_signal_name_key DO UPDATE SET kind = excluded.kind, source = excluded.source,
        selector = excluded.selector, good = excluded.good, interval_seconds = excluded.interval_seconds,
        timeout_ms = excluded.timeout_ms, reaction_seconds = excluded.reaction_seconds,
        stale_after_seconds = excluded.stale_after_seconds, changed_at = now(), next_at = now(), look = s.look + 1,
        -- The value of another source says nothing.
        value = CASE WHEN s.kind = excluded.kind AND s.source = excluded.source AND s.selector = excluded.selector THEN s.value END,
        sampled_at = CASE WHEN s.kind = excluded.kind AND s.source = excluded.source AND s.selector = excluded.selector
            THEN s.sampled_at END,
        error = '';
END $$;
COMMENT ON FUNCTION pushmta.set_health_signal(text, text, text, text, text, integer, integer, integer, integer) IS
    'Defines a health signal, or changes it. kind http reads an address (source): the answer is the number itself, or has it at a JSON '
    'pointer or in header:NAME (selector). prometheus asks the server at source for the query in selector, which must give one number. '
    'sql calls the function source, schema.function(), as the role pushmta_signal. Addresses must be allowed in the settings of the '
    'supervisors (mta.signals). good says on which side of its target the value should stay: below or above. It is read every '
    'interval_seconds while a delivery under way follows it. reaction_seconds is how long after a change of the rate it shows the effect. '
    'A value older than stale_after_seconds says nothing: rates fall to their floors.';

CREATE FUNCTION pushmta.drop_health_signal(name text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    dropped integer := (SELECT s.id FROM health_signal s WHERE s.name = name FOR UPDATE);
    follower bigint;
BEGIN
    IF dropped IS NULL THEN
        RAISE EXCEPTION 'There is no signal "%".', name USING ERRCODE = 'PM290', HINT = 'pushmta.health_signal lists them.';
    END IF;
    follower := (SELECT f.delivery_id FROM delivery_signal f JOIN pushmta_engine.delivery d ON d.id = f.delivery_id
        WHERE f.signal_id = dropped AND d.finished_at IS NULL ORDER BY f.delivery_id LIMIT 1);
    IF follower IS NOT NULL THEN
        RAISE EXCEPTION 'Delivery % follows the signal "%".', follower, name
            USING ERRCODE = 'PM291', HINT = 'End it first: SELECT pushmta.follow_signal(' || follower || ', NULL).';
    END IF;
    DELETE FROM delivery_signal f WHERE f.signal_id = dropped;
    DELETE FROM health_signal s WHERE s.id = dropped;
END $$;
COMMENT ON FUNCTION pushmta.drop_health_signal(text) IS 'Removes a health signal that no open delivery follows.';

CREATE FUNCTION pushmta_engine.leave_signal(delivery bigint) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    left_signal text;
BEGIN
    DELETE FROM delivery_signal f USING health_signal s WHERE f.delivery_id = delivery AND s.id = f.signal_id
    RETURNING s.name INTO left_signal;
    IF left_signal IS NULL THEN
        RETURN;
    END IF;
    -- A sudden end of the limit could be what the signal was for, so the present rate stays.
    UPDATE rate_limit r SET messages_per_second = rate_at(r, clock_timestamp()), start_rate = rate_at(r, clock_timestamp()),
        start_at = now(), fallback_rate = NULL, fallback_at = NULL, changed_at = now()
    WHERE r.delivery_id = delivery;
END $$;
COMMENT ON FUNCTION pushmta_engine.leave_signal(bigint) IS 'Ends that a delivery follows a signal. Its present rate stays as its limit.';

CREATE FUNCTION pushmta_engine.keep_signal(delivery bigint, signal text, target double precision, floor double precision,
    ceiling double precision) RETURNS void LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    subject CONSTANT text := format('Delivery %s', delivery);
    followed integer;
BEGIN
    IF NOT EXISTS (SELECT FROM pushmta_engine.delivery d WHERE d.id = delivery) THEN
        RAISE EXCEPTION 'There is no delivery %.', delivery
            USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery creates one.';
    END IF;
    PERFORM refuse_day(delivery);
    IF signal IS NULL THEN
        PERFORM leave_signal(delivery);
        RETURN;
    END IF;
    followed := (SELECT s.id FROM health_signal s WHERE s.name = signal FOR KEY SHARE);
    IF followed IS NULL THEN
        RAISE EXCEPTION 'There is no signal "%".', signal USING ERRCODE = 'PM290', HINT = 'pushmta.health_signal lists them.';
    ELSIF EXISTS (SELECT FROM pushmta_engine.delivery d WHERE d.id = delivery AND d.state IN ('finished', 'stopped', 'recalled')) THEN
        RAISE EXCEPTION 'Delivery % has ended.', delivery USING ERRCODE = 'PM291', HINT = 'Only an open delivery follows a signal.';
    ELSIF coalesce(target <= 0 OR target IN ('NaN', 'Infinity'), true) THEN
        RAISE EXCEPTION '%: the target of signal "%" must be a number above 0.', subject, signal
            USING ERRCODE = 'PM292', HINT = 'The target is the limit that the signal should not reach.';
    ELSIF num_nulls(floor, ceiling) > 0 OR 'Infinity' IN (floor, ceiling) OR floor > ceiling THEN
        RAISE EXCEPTION '%: floor and ceiling must be rates, and the floor not above the ceiling.', subject
            USING ERRCODE = 'PM292', HINT = 'The floor is sent in any case, also while the signal is stale; the ceiling is never exceeded.';
    END IF;
    PERFORM require_rate(subject, floor), require_rate(subject, ceiling);
    INSERT INTO delivery_signal AS f (delivery_id, signal_id, target, floor, ceiling, rate)
    VALUES (delivery, followed, target, floor, ceiling, floor)
    ON CONFLICT ON CONSTRAINT delivery_signal_pkey DO UPDATE SET target = excluded.target, floor = excluded.floor,
        ceiling = excluded.ceiling, followed_at = now(), rate = excluded.rate, state = 'at_floor', ended = false, load = NULL, trend = NULL,
        knee = NULL, patience_seconds = 0, cut_at = NULL, sampled_at = NULL, signal_id = excluded.signal_id;
    -- At the floor until the signal is read. The ceiling says how fast it can be at most.
    INSERT INTO rate_limit AS r (delivery_id, messages_per_second, start_rate, fallback_rate, fallback_at)
    VALUES (delivery, ceiling, ceiling, floor, '-infinity')
    ON CONFLICT (delivery_id) DO UPDATE SET messages_per_second = ceiling, start_rate = ceiling, start_at = now(),
        fallback_rate = floor, fallback_at = '-infinity', next_at = least(r.next_at, clock_timestamp() + interval '1 s'),
        changed_at = now();
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_signal(bigint, text, double precision, double precision, double precision) IS
    'Lets the rate of a delivery follow a health signal, or none (null), without an entry in the audit log.';

CREATE FUNCTION pushmta_engine.follow_text(signal text, target double precision, floor double precision, ceiling double precision)
    RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pushmta_engine, pg_temp AS $$
    SELECT CASE WHEN signal IS NULL THEN 'no signal' ELSE format('%s, target %s, %s to %s/s', signal, target, floor, ceiling) END $$;
COMMENT ON FUNCTION pushmta_engine.follow_text(text, double precision, double precision, double precision) IS
    'What the audit log says of a delivery that follows a signal.';

CREATE FUNCTION pushmta.follow_signal(delivery bigint, signal text, target double precision DEFAULT NULL,
    floor double precision DEFAULT NULL, ceiling double precision DEFAULT NULL) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    -- First, so that the rate is not logged, too.
    PERFORM note_change('delivery.follow', delivery::text, follow_text(signal, target, floor, ceiling));
    PERFORM keep_signal(delivery, signal, target, floor, ceiling);
END $$;
COMMENT ON FUNCTION pushmta.follow_signal(bigint, text, double precision, double precision, double precision) IS
    'Lets the rate of a delivery follow a health signal: it rises towards the ceiling while the value is on the good side of the target, '
    'and falls towards the floor when it is not. It starts at the floor, and is there while the signal is stale. The rate replaces one '
    'that was set before. A null signal ends it: the present rate then stays as the limit. It can be changed at any time, also while the '
    'delivery is being sent.';

CREATE FUNCTION pushmta_engine.claim_signals() RETURNS SETOF pushmta_engine.health_signal LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    moment CONSTANT timestamptz := clock_timestamp();
BEGIN
    -- Never waits for a session that has just changed whom a delivery follows.
    UPDATE delivery_signal f SET ended = true WHERE f.delivery_id = ANY(ARRAY(
        SELECT x.delivery_id FROM delivery_signal x JOIN delivery d ON d.id = x.delivery_id
        WHERE NOT x.ended AND d.state IN ('finished', 'stopped', 'recalled') FOR NO KEY UPDATE OF x SKIP LOCKED));
    RETURN QUERY UPDATE health_signal s SET look = s.look + 1, next_at = moment + make_interval(secs => s.interval_seconds)
        WHERE s.id IN (
            SELECT x.id FROM health_signal x
            -- If the clock was set back, nobody waits for the difference.
            WHERE (x.next_at <= moment OR x.next_at > moment + interval '61 s')
                AND x.id = ANY(ARRAY(SELECT f.signal_id FROM delivery_signal f JOIN delivery d ON d.id = f.delivery_id
                    WHERE NOT f.ended AND d.state IN ('preparing', 'in_progress')))
            ORDER BY x.id FOR NO KEY UPDATE SKIP LOCKED)
        RETURNING s.*;
END $$;
COMMENT ON FUNCTION pushmta_engine.claim_signals() IS
    'The signals that are due and that a delivery under way follows. Each is due again after its interval, on any host; only the last read '
    'of a signal may be stored.';

CREATE FUNCTION pushmta_engine.seconds_to_signal() RETURNS double precision LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT extract(epoch FROM min(s.next_at) - clock_timestamp())::double precision FROM health_signal s
    WHERE s.id = ANY(ARRAY(SELECT f.signal_id FROM delivery_signal f JOIN delivery d ON d.id = f.delivery_id
        WHERE NOT f.ended AND d.state IN ('preparing', 'in_progress'))) $$;
COMMENT ON FUNCTION pushmta_engine.seconds_to_signal() IS
    'The seconds until the next signal is due that a delivery under way follows, negative if it is due; null if none is followed.';

CREATE FUNCTION pushmta_engine.note_signal(signal integer, look bigint, value double precision, error text) RETURNS boolean
    LANGUAGE sql SET search_path = pushmta_engine, pg_temp AS $$
    WITH noted AS (
        UPDATE health_signal s SET value = coalesce(note_signal.value, s.value),
            sampled_at = CASE WHEN note_signal.value IS NULL THEN s.sampled_at ELSE clock_timestamp() END,
            error = CASE WHEN note_signal.value IS NULL THEN left(note_signal.error, 500) ELSE '' END
        -- A session that changes the signal has overtaken this read, even before it commits.
        WHERE s.id = (SELECT x.id FROM health_signal x WHERE x.id = signal AND x.look = note_signal.look FOR NO KEY UPDATE SKIP LOCKED)
        RETURNING true AS done
    ) SELECT coalesce((SELECT n.done FROM noted n), false) $$;
COMMENT ON FUNCTION pushmta_engine.note_signal(integer, bigint, double precision, text) IS
    'Stores what a read of a signal gave, a value or an error. False if another read has begun since.';

CREATE FUNCTION pushmta_engine.set_signal_rates(signal integer, look bigint, rates jsonb) RETURNS integer LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
DECLARE
    moment CONSTANT timestamptz := clock_timestamp();
    stale_at timestamptz;
    free bigint[];
    changed integer;
BEGIN
    -- The lock keeps the next read, and a change of the signal, from coming between.
    SELECT s.sampled_at + make_interval(secs => s.stale_after_seconds) INTO stale_at FROM health_signal s
    WHERE s.id = signal AND s.look = set_signal_rates.look FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    -- A session that changes one of the rates must not send the others to their floors. Children hold one only for a moment.
    FOR attempt IN 1..3 LOOP
        free := ARRAY(SELECT f.delivery_id FROM delivery_signal f JOIN rate_limit r ON r.delivery_id = f.delivery_id
            WHERE f.signal_id = signal AND f.delivery_id IN (SELECT g.delivery FROM jsonb_to_recordset(rates) AS g(delivery bigint))
            ORDER BY f.delivery_id FOR NO KEY UPDATE OF f, r SKIP LOCKED);
        EXIT WHEN cardinality(free) >= jsonb_array_length(rates);
        PERFORM pg_sleep(0.01);
    END LOOP;
    WITH given AS MATERIALIZED (
        SELECT g.* FROM jsonb_to_recordset(rates) AS g(delivery bigint, followed_at timestamptz, state text, rate double precision,
            load double precision, trend double precision, knee double precision, patience double precision, cut_at double precision,
            sampled_at double precision, granted bigint)
    ), kept AS (
        UPDATE delivery_signal f SET state = g.state, rate = g.rate, load = g.load, trend = g.trend, knee = g.knee,
            patience_seconds = g.patience, cut_at = to_timestamp(g.cut_at), sampled_at = to_timestamp(g.sampled_at), granted = g.granted
        FROM given g WHERE f.delivery_id = g.delivery AND f.delivery_id = ANY(free) AND f.signal_id = signal
            AND f.followed_at = g.followed_at
        RETURNING f.delivery_id, f.rate, f.state
    )
    -- While nothing changes, only the moment moves at which the rate falls. The timeline goes on: a share that a child holds is not
    -- given out again.
    UPDATE rate_limit r SET messages_per_second = k.rate, start_rate = k.rate, start_at = moment,
        fallback_at = CASE WHEN k.state = 'stale' THEN '-infinity' ELSE stale_at END,
        next_at = least(r.next_at, moment + interval '1 s'),
        changed_at = CASE WHEN r.messages_per_second = k.rate THEN r.changed_at ELSE moment END
    FROM kept k WHERE r.delivery_id = k.delivery_id;
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END $$;
COMMENT ON FUNCTION pushmta_engine.set_signal_rates(integer, bigint, jsonb) IS
    'Sets the rates of the deliveries that follow a signal, and stores what their controllers remember. Does nothing if another read of '
    'the signal has begun since. Leaves out rates that another session is changing: the next read sets them.';

CREATE VIEW pushmta.health_signal AS
SELECT s.name, s.kind, s.source, s.selector, s.good, s.interval_seconds, s.timeout_ms, s.reaction_seconds, s.stale_after_seconds,
    s.value, s.sampled_at, extract(epoch FROM clock_timestamp() - s.sampled_at)::double precision AS age_seconds,
    coalesce(s.sampled_at < clock_timestamp() - make_interval(secs => s.stale_after_seconds), true) AS stale, s.error,
    (SELECT count(*) FROM pushmta_engine.delivery_signal f JOIN pushmta_engine.delivery d ON d.id = f.delivery_id
        WHERE f.signal_id = s.id AND NOT f.ended AND d.state IN ('preparing', 'in_progress')) AS deliveries, s.changed_at
FROM pushmta_engine.health_signal s;
COMMENT ON VIEW pushmta.health_signal IS
    'Health signals: how each is read, its last value and age, why the last read failed, and how many deliveries under way follow it. A '
    'signal that none of them follows is not read, so its value grows old.';

CREATE VIEW pushmta.delivery_signal AS
SELECT f.delivery_id, s.name AS signal, s.good, f.target, f.floor, f.ceiling, x.value, x.age_seconds,
    pushmta_engine.rate_at(r, clock_timestamp()) AS rate, y.state,
    CASE y.state
        WHEN 'idle' THEN format('the delivery is %s, so the signal is not read', d.state)
        WHEN 'stale' THEN format('the signal %s, so the rate is at its floor', coalesce(
            'has had no value for ' || floor(x.age_seconds)::bigint || ' s', 'has had no value yet'))
        WHEN 'falling' THEN format('the signal %s is not %s its target of %s', x.value, s.good, f.target)
        WHEN 'at_floor' THEN format('the rate is at its floor; the signal is %s, its target %s %s', x.value, s.good, f.target)
        WHEN 'at_ceiling' THEN format('the signal %s is %s its target of %s, and the rate at its ceiling', x.value, s.good, f.target)
        WHEN 'holding' THEN format('the signal %s is near its target of %s, or a change of the rate has yet to show', x.value, f.target)
        ELSE format('the signal %s is %s its target of %s', x.value, s.good, f.target) END AS reason
FROM pushmta_engine.delivery_signal f
JOIN pushmta_engine.health_signal s ON s.id = f.signal_id
JOIN pushmta_engine.delivery d ON d.id = f.delivery_id
LEFT JOIN pushmta_engine.rate_limit r ON r.delivery_id = f.delivery_id
CROSS JOIN LATERAL (SELECT round(s.value::numeric, 6)::double precision AS value,
    extract(epoch FROM clock_timestamp() - s.sampled_at)::double precision AS age_seconds) x
CROSS JOIN LATERAL (SELECT CASE WHEN d.state NOT IN ('preparing', 'in_progress') THEN 'idle'
    WHEN x.age_seconds <= s.stale_after_seconds THEN f.state ELSE 'stale' END AS state) y;
COMMENT ON VIEW pushmta.delivery_signal IS
    'Deliveries that follow a health signal: its value and target, the present rate between floor and ceiling, and why it is so. state is '
    'rising, holding, falling, at_floor, at_ceiling, stale (the signal has no recent value), or idle (the delivery is not under way).';

CREATE FUNCTION pushmta_engine.console_set_signal(caller pushmta_engine.console_caller, name text, kind text, source text, selector text,
    good text, interval_seconds integer, timeout_ms integer, reaction_seconds integer, stale_after_seconds integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_user_of(caller, ARRAY['admin']);
    is_known boolean := EXISTS (SELECT FROM health_signal s WHERE s.name = name);
BEGIN
    -- First, so that it is not logged again under the console's login.
    PERFORM note_audit(who, CASE WHEN is_known THEN 'signal.change' ELSE 'signal.add' END, name, concat_ws(' ', kind, source),
        caller.address);
    PERFORM pushmta.set_health_signal(name, kind, source, selector, good, interval_seconds, timeout_ms, reaction_seconds,
        stale_after_seconds);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_set_signal(pushmta_engine.console_caller, text, text, text, text, text, integer, integer,
    integer, integer) IS 'Defines a health signal, or changes it, for a signed-in administrator.';

CREATE FUNCTION pushmta_engine.console_drop_signal(caller pushmta_engine.console_caller, name text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    who text := console_user_of(caller, ARRAY['admin']);
BEGIN
    PERFORM note_audit(who, 'signal.remove', name, '', caller.address);
    PERFORM pushmta.drop_health_signal(name);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_drop_signal(pushmta_engine.console_caller, text) IS
    'Removes a health signal that no open delivery follows, for a signed-in administrator.';

CREATE FUNCTION pushmta_engine.field_number(value double precision) RETURNS text LANGUAGE sql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    -- 1.125 could be thousands, so a form has it as 1.1250.
    SELECT n.text || CASE WHEN n.text ~ '^[1-9][0-9]{0,2}[.][0-9]{3}$' THEN '0' ELSE '' END
    FROM (SELECT trim_scale(value::numeric)::text) n(text) $$;
COMMENT ON FUNCTION pushmta_engine.field_number(double precision) IS 'A number as the text of a field of a form.';

CREATE FUNCTION pushmta_engine.console_follow_fields(delivery bigint) RETURNS jsonb LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT coalesce((SELECT jsonb_build_object('follow.said', 'yes', 'follow.signal', s.name, 'follow.target', field_number(f.target),
            'follow.floor', field_number(f.floor), 'follow.ceiling', field_number(f.ceiling))
        FROM delivery_signal f JOIN health_signal s ON s.id = f.signal_id WHERE f.delivery_id = console_follow_fields.delivery), '{}') $$;
COMMENT ON FUNCTION pushmta_engine.console_follow_fields(bigint) IS
    'The fields of a draft that say which signal a delivery follows; none if it follows none.';

CREATE FUNCTION pushmta_engine.console_limit_fields(fields jsonb, delivery bigint) RETURNS jsonb LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT CASE WHEN f.follow <> '{}' THEN f.kept || f.follow
        ELSE f.kept - 'settings.messages_per_second' || coalesce((
            SELECT jsonb_build_object('settings.messages_per_second', field_number(r.messages_per_second)) FROM rate_limit r
            WHERE r.delivery_id = console_limit_fields.delivery AND r.messages_per_second < 'Infinity'), '{}') END
    FROM (SELECT fields - ARRAY['follow.said', 'follow.signal', 'follow.target', 'follow.floor', 'follow.ceiling'] AS kept,
        console_follow_fields(console_limit_fields.delivery) AS follow) f $$;
COMMENT ON FUNCTION pushmta_engine.console_limit_fields(jsonb, bigint) IS
    'The fields of a draft with the rate that its delivery has now, or the signal that it follows.';

CREATE FUNCTION pushmta_engine.console_follow(caller pushmta_engine.console_caller, delivery bigint, signal text,
    target double precision, floor double precision, ceiling double precision) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    who text := console_user_of(caller, ARRAY['marketing', 'operate', 'admin']);
BEGIN
    IF NOT 'pause' = ANY(console_actions(caller, delivery)) THEN
        -- Raises the error for an insufficient role.
        PERFORM console_user_of(caller, ARRAY['operate', 'admin']);
    END IF;
    PERFORM note_audit(who, 'delivery.follow', delivery::text, follow_text(signal, target, floor, ceiling), caller.address);
    PERFORM keep_signal(delivery, signal, target, floor, ceiling);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_follow(pushmta_engine.console_caller, bigint, text, double precision, double precision,
    double precision) IS 'Lets the rate of a delivery follow a health signal, or none (null), for a signed-in user who may control it.';
