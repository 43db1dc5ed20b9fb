-- Rates: how many messages a second may be sent, by all hosts together.
--
-- A rate is a timeline that all hosts share. A sender takes the next slice of it: the right to send this many messages from a given
-- moment on. So the sum of all senders never exceeds the rate. If a sender is lost, its slice lapses, which is a twentieth of a
-- second.

CREATE TABLE pushmta_engine.rate_limit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    delivery_id bigint UNIQUE REFERENCES pushmta_engine.delivery ON DELETE CASCADE,
    application_id integer UNIQUE REFERENCES pushmta_engine.application ON DELETE CASCADE,
    external_account_id integer UNIQUE REFERENCES pushmta_engine.external_account ON DELETE CASCADE,
    project text UNIQUE CHECK (project BETWEEN '!' AND '~' AND length(project) <= 255),
    -- Infinity: no limit. A project needs such a row, as it has a limit by default.
    messages_per_second double precision NOT NULL
        CHECK (messages_per_second > 0),
    -- The rate at start_at. Since then it grows by a sixtieth of the limit each second.
    start_rate double precision NOT NULL,
    start_at timestamptz NOT NULL DEFAULT now(),
    -- The timeline is taken up to here.
    next_at timestamptz NOT NULL DEFAULT '-infinity',
    -- When the last slice was taken. A clock that shows an earlier time was set back.
    taken_at timestamptz NOT NULL DEFAULT '-infinity',
    granted bigint NOT NULL DEFAULT 0,
    cut_at timestamptz,
    cut_reason text NOT NULL DEFAULT '',
    -- A rate that follows a health signal falls to fallback_rate at fallback_at, unless the signal is read before: nothing has to run
    -- for that.
    fallback_rate double precision CHECK (fallback_rate > 0),
    fallback_at timestamptz,
    changed_at timestamptz NOT NULL DEFAULT now(),
    CHECK (num_nulls(fallback_rate, fallback_at) <> 1),
    CHECK (num_nonnulls(delivery_id, application_id, external_account_id, project) = 1)
    -- Each sending child updates a row ten times a second, so a page needs room for the new versions of its rows.
) WITH (fillfactor = 20);
COMMENT ON TABLE pushmta_engine.rate_limit IS
    'Limits in messages a second of a delivery, an application, an external account or an FCM project, shared by all hosts.';

-- 29-signals.sql says how a signal is read and followed.
CREATE TABLE pushmta_engine.health_signal (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name <> '') CONSTRAINT health_signal_name_form CHECK (pushmta_engine.is_name(name)),
    kind text NOT NULL CHECK (kind IN ('http', 'prometheus', 'sql')),
    -- The address, the address of Prometheus, or the call of a function.
    source text NOT NULL CHECK (length(source) BETWEEN 1 AND 2000),
    -- http: where the answer has the value: nowhere else (empty), at a JSON pointer, or in header:NAME. prometheus: the query.
    selector text NOT NULL DEFAULT '' CHECK (length(selector) <= 2000),
    good text NOT NULL CHECK (good IN ('below', 'above')),
    interval_seconds integer NOT NULL CHECK (interval_seconds BETWEEN 1 AND 60),
    -- So that two reads of a signal never run at once.
    timeout_ms integer NOT NULL CHECK (timeout_ms BETWEEN 50 AND 1000 * interval_seconds),
    reaction_seconds integer NOT NULL CHECK (reaction_seconds BETWEEN 1 AND 600),
    stale_after_seconds integer NOT NULL CHECK (stale_after_seconds BETWEEN 2 * interval_seconds AND 3600),
    changed_at timestamptz NOT NULL DEFAULT now(),
    -- The number of the last read, and when the next is due. Only the last one may be stored.
    look bigint NOT NULL DEFAULT 0,
    next_at timestamptz NOT NULL DEFAULT now(),
    value double precision CHECK (value NOT IN ('NaN', 'Infinity', '-Infinity')),
    sampled_at timestamptz,
    -- Why the last read failed; empty if it did not.
    error text NOT NULL DEFAULT '',
    CHECK ((value IS NULL) = (sampled_at IS NULL))
) WITH (fillfactor = 50);
COMMENT ON TABLE pushmta_engine.health_signal IS
    'Figures of other systems that rates of deliveries may follow: how each is read, and its last value.';

CREATE TABLE pushmta_engine.delivery_signal (
    delivery_id bigint PRIMARY KEY REFERENCES pushmta_engine.delivery ON DELETE CASCADE,
    signal_id integer NOT NULL REFERENCES pushmta_engine.health_signal,
    target double precision NOT NULL CHECK (target > 0 AND target < 'Infinity'),
    floor double precision NOT NULL CHECK (floor > 0),
    ceiling double precision NOT NULL CHECK (ceiling >= floor AND ceiling < 'Infinity'),
    followed_at timestamptz NOT NULL DEFAULT now(),
    -- Its delivery has ended, so that no search for work finds it.
    ended boolean NOT NULL DEFAULT false,
    state text NOT NULL DEFAULT 'at_floor'
        CHECK (state IN ('rising', 'holding', 'falling', 'at_floor', 'at_ceiling', 'stale')),
    -- What SignalController keeps from one value to the next.
    rate double precision NOT NULL,
    load double precision,
    trend double precision,
    knee double precision,
    patience_seconds double precision NOT NULL DEFAULT 0,
    cut_at timestamptz,
    sampled_at timestamptz,
    -- The limit's granted at sampled_at.
    granted bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON TABLE pushmta_engine.delivery_signal IS
    'Deliveries whose rate follows a health signal, with what the controller of the rate remembers.';
CREATE INDEX delivery_signal_signal ON pushmta_engine.delivery_signal (signal_id, delivery_id);
CREATE INDEX delivery_signal_open ON pushmta_engine.delivery_signal (signal_id, delivery_id) WHERE NOT ended;

CREATE FUNCTION pushmta_engine.rate_at(limited pushmta_engine.rate_limit, moment timestamptz) RETURNS double precision
    LANGUAGE sql STABLE SET search_path = pushmta_engine, pg_temp AS $$
    -- A project stays 2 % below its quota: the gateway's minutes differ from ours, and evenly sent messages do not arrive evenly.
    SELECT CASE WHEN moment >= limited.fallback_at THEN least(limited.fallback_rate, limited.messages_per_second)
        WHEN limited.messages_per_second = 'Infinity' THEN limited.messages_per_second
        ELSE least(limited.messages_per_second * CASE WHEN limited.project IS NULL THEN 1 ELSE 0.98 END, limited.start_rate
            + limited.messages_per_second / 60 * greatest(extract(epoch FROM moment - limited.start_at), 0)) END $$;
COMMENT ON FUNCTION pushmta_engine.rate_at(pushmta_engine.rate_limit, timestamptz) IS
    'The rate at a moment, in messages a second. After idleness or a refusal it grows to the limit within a minute. A rate that follows a '
    'signal is the floor while the signal is stale.';

CREATE FUNCTION pushmta_engine.take_rates(limits bigint[], wanted integer[])
    RETURNS TABLE (rate_limit_id bigint, messages integer, starts_in double precision, messages_per_second double precision)
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
DECLARE
    taken pushmta_engine.rate_limit;
    moment timestamptz;
BEGIN
    -- If a crash of the database loses a slice, the slice is given out again: a moment of excess, in exchange for no fsync for each
    -- slice.
    PERFORM set_config('synchronous_commit', 'off', true);
    FOR place IN 1 .. cardinality(limits) LOOP
        SELECT r.* INTO taken FROM rate_limit r WHERE r.id = limits[place] FOR NO KEY UPDATE;
        CONTINUE WHEN NOT FOUND;
        moment := clock_timestamp();
        rate_limit_id := taken.id;
        -- If the clock was set back, callers do not wait for the difference.
        IF moment < taken.taken_at THEN
            taken.next_at := taken.next_at - (taken.taken_at - moment);
            taken.start_at := taken.start_at - (taken.taken_at - moment);
        END IF;
        -- Google asks senders to take at least a minute from nothing to their full rate, after each pause.
        IF taken.project IS NOT NULL AND taken.next_at < moment - interval '60 seconds' THEN
            taken.start_rate := taken.messages_per_second / 10;
            taken.start_at := moment;
        END IF;
        messages_per_second := rate_at(taken, moment);
        taken.next_at := greatest(taken.next_at, moment);
        starts_in := extract(epoch FROM taken.next_at - moment);
        messages := wanted[place];
        IF messages_per_second < 'Infinity' THEN
            -- A slice is a twentieth of a second, so that all senders get the same share. The sender may have asked with an older
            -- rate in mind.
            messages := least(messages, ceil(messages_per_second / 20)::integer);
            taken.next_at := taken.next_at + make_interval(secs => messages / messages_per_second);
        END IF;
        UPDATE rate_limit r SET next_at = taken.next_at, taken_at = moment, start_rate = taken.start_rate, start_at = taken.start_at,
            granted = r.granted + messages
        WHERE r.id = taken.id;
        RETURN NEXT;
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta_engine.take_rates(bigint[], integer[]) IS
    'Takes the next messages of some limits, given in ascending order. Returns how many, in how many seconds the first may be sent, and '
    'the rate from then on.';

CREATE FUNCTION pushmta_engine.cut_rate(rate_limit_id bigint, words text) RETURNS void
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    moment timestamptz := clock_timestamp();
BEGIN
    -- Answers that were under way together count as one refusal.
    UPDATE rate_limit r SET start_rate = greatest(r.messages_per_second / 100, rate_at(r, moment) / 2), start_at = moment,
        cut_at = moment, cut_reason = left(words, 500)
    WHERE r.id = rate_limit_id AND r.messages_per_second < 'Infinity'
        AND (r.cut_at IS NULL OR r.cut_at NOT BETWEEN moment - interval '2 seconds' AND moment);
END $$;
COMMENT ON FUNCTION pushmta_engine.cut_rate(bigint, text) IS
    'Halves a rate that the gateway has refused as too high; it grows again from there.';

CREATE FUNCTION pushmta_engine.limit_project(wanted text) RETURNS bigint
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    -- 600,000 a minute, Google's quota for each project, spread evenly as it advises.
    usual CONSTANT double precision := 10000;
BEGIN
    INSERT INTO rate_limit (project, messages_per_second, start_rate) VALUES (wanted, usual, usual / 10)
    ON CONFLICT (project) DO NOTHING;
    RETURN (SELECT r.id FROM rate_limit r WHERE r.project = wanted);
END $$;
COMMENT ON FUNCTION pushmta_engine.limit_project(text) IS
    'The limit of an FCM project: 600,000 messages a minute, unless another limit was set.';

CREATE FUNCTION pushmta_engine.require_rate(subject text, rate double precision) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    IF rate IN ('NaN', '-Infinity') THEN
        PERFORM refuse_setting(subject, 'messages_per_second', rate::text);
    ELSIF rate <> 'Infinity' THEN
        PERFORM require_settings(subject, jsonb_build_object('messages_per_second', rate));
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.require_rate(text, double precision) IS 'Raises an error if a rate is not valid.';

CREATE FUNCTION pushmta_engine.refuse_followed(delivery bigint) RETURNS void LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    signal text := (SELECT s.name FROM delivery_signal f JOIN health_signal s ON s.id = f.signal_id WHERE f.delivery_id = delivery);
BEGIN
    IF signal IS NOT NULL THEN
        RAISE EXCEPTION 'The rate of delivery % follows the signal "%".', delivery, signal
            USING ERRCODE = 'PM291', HINT = 'Change its floor and ceiling with pushmta.follow_signal, or end it there with a null signal.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_followed(bigint) IS
    'Raises an error for a delivery whose rate follows a health signal: another rate would be overwritten within a second.';

CREATE FUNCTION pushmta.set_delivery_rate(delivery bigint, messages_per_second double precision) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    rate double precision := nullif(messages_per_second, 'Infinity');
BEGIN
    IF NOT EXISTS (SELECT FROM pushmta_engine.delivery d WHERE d.id = delivery) THEN
        RAISE EXCEPTION 'There is no delivery %.', delivery
            USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery creates one.';
    END IF;
    PERFORM refuse_day(delivery);
    PERFORM refuse_followed(delivery);
    PERFORM require_rate(format('Delivery %s', delivery), rate);
    IF rate IS NULL THEN
        DELETE FROM rate_limit r WHERE r.delivery_id = delivery;
    ELSE
        INSERT INTO rate_limit AS r (delivery_id, messages_per_second, start_rate) VALUES (delivery, rate, rate)
        ON CONFLICT (delivery_id) DO UPDATE SET messages_per_second = rate, start_rate = rate, start_at = now(),
            next_at = least(r.next_at, clock_timestamp() + interval '1 s'), changed_at = now();
    END IF;
END $$;
COMMENT ON FUNCTION pushmta.set_delivery_rate(bigint, double precision) IS
    'Limits the messages of a delivery to this many a second, on all hosts together; null removes the limit. It can be changed at any '
    'time, also while the delivery is being sent.';

CREATE FUNCTION pushmta_engine.console_set_rate(caller pushmta_engine.console_caller, delivery bigint,
    messages_per_second double precision) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_user_of(caller, ARRAY['marketing', 'operate', 'admin']);
BEGIN
    IF NOT 'pause' = ANY(console_actions(caller, delivery)) THEN
        -- Raises the error for an insufficient role.
        PERFORM console_user_of(caller, ARRAY['operate', 'admin']);
    END IF;
    IF EXISTS (SELECT FROM pushmta_engine.delivery d WHERE d.id = delivery AND d.state IN ('finished', 'stopped', 'recalled')) THEN
        RAISE EXCEPTION 'Delivery % has ended.', delivery USING ERRCODE = 'PM291', HINT = 'Only an open delivery has a rate.';
    END IF;
    -- First, so that it is not logged again under the console's login.
    PERFORM note_audit(who, 'delivery.rate', delivery::text, coalesce(messages_per_second || '/s', 'no limit'), caller.address);
    PERFORM pushmta.set_delivery_rate(delivery, messages_per_second);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_set_rate(pushmta_engine.console_caller, bigint, double precision) IS
    'Sets the rate of an open delivery, or removes it (null), for a signed-in user who may control it.';

CREATE FUNCTION pushmta.set_delivery_weight(delivery bigint, weight integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    IF NOT EXISTS (SELECT FROM pushmta_engine.delivery d WHERE d.id = delivery) THEN
        RAISE EXCEPTION 'There is no delivery %.', delivery
            USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery creates one.';
    END IF;
    PERFORM refuse_day(delivery);
    PERFORM require_settings(format('Delivery %s', delivery), jsonb_build_object('weight', weight));
    UPDATE pushmta_engine.delivery d SET weight = set_delivery_weight.weight
    WHERE d.id = delivery AND d.weight <> set_delivery_weight.weight;
END $$;
COMMENT ON FUNCTION pushmta.set_delivery_weight(bigint, integer) IS
    'Sets the weight of a delivery. Among messages of one priority and application, a delivery with weight 3 sends three for each message '
    'of one with weight 1, the default. It can be changed at any time, and applies to messages that are prepared from then on.';

CREATE FUNCTION pushmta_engine.rated_application(wanted text) RETURNS integer
    LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    found_id integer := (SELECT a.id FROM application a WHERE a.name = wanted);
BEGIN
    IF found_id IS NULL THEN
        RAISE EXCEPTION 'There is no application "%".', wanted
            USING ERRCODE = 'PM001', HINT = 'pushmta.application lists them; pushmta app add adds one.';
    END IF;
    RETURN found_id;
END $$;
COMMENT ON FUNCTION pushmta_engine.rated_application(text) IS 'The id of an application; raises an error if there is none.';

CREATE FUNCTION pushmta_engine.rated_account(wanted text) RETURNS integer
    LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    found_id integer := (SELECT e.id FROM external_account e WHERE e.name = wanted);
BEGIN
    IF found_id IS NULL THEN
        RAISE EXCEPTION 'There is no external account "%".', wanted
            USING ERRCODE = 'PM005', HINT = 'pushmta account list shows them.';
    END IF;
    RETURN found_id;
END $$;
COMMENT ON FUNCTION pushmta_engine.rated_account(text) IS 'The id of an external account; raises an error if there is none.';

CREATE FUNCTION pushmta.set_rate(scope text, name text, messages_per_second double precision) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    app integer := CASE scope WHEN 'application' THEN rated_application(name) END;
    account integer := CASE scope WHEN 'account' THEN rated_account(name) END;
    of_project text := CASE scope WHEN 'project' THEN name END;
BEGIN
    IF coalesce(scope, '') NOT IN ('application', 'account', 'project') THEN
        RAISE EXCEPTION '"%" is not a scope of a rate.', left(coalesce(scope, 'null'), 64)
            USING ERRCODE = 'PM007', HINT = 'Use application, account or project; pushmta.set_delivery_rate sets the rate of a '
                'delivery.';
    END IF;
    IF scope = 'project' AND coalesce(name !~ '^[!-~]{1,255}$', true) THEN
        RAISE EXCEPTION '"%" is not the name of an FCM project.', left(coalesce(name, 'null'), 64)
            USING ERRCODE = 'PM007', HINT = 'Use project_id from the service account''s key file.';
    END IF;
    PERFORM require_rate(format('%s "%s"', initcap(scope), name), messages_per_second);
    IF messages_per_second IS NULL OR messages_per_second = 'Infinity' AND scope <> 'project' THEN
        DELETE FROM rate_limit r WHERE r.application_id = app OR r.external_account_id = account OR r.project = of_project;
        RETURN;
    END IF;
    -- A higher limit of a project is reached as after idleness, within a minute.
    UPDATE rate_limit r SET messages_per_second = set_rate.messages_per_second, start_at = now(), changed_at = now(),
        start_rate = CASE WHEN r.project IS NULL OR r.messages_per_second = 'Infinity' THEN set_rate.messages_per_second
            ELSE least(rate_at(r, now()), set_rate.messages_per_second) END,
        next_at = least(r.next_at, clock_timestamp() + interval '1 s')
    WHERE r.application_id = app OR r.external_account_id = account OR r.project = of_project;
    IF NOT FOUND THEN
        INSERT INTO rate_limit (application_id, external_account_id, project, messages_per_second, start_rate)
        VALUES (app, account, of_project, messages_per_second,
            CASE WHEN of_project IS NULL THEN messages_per_second ELSE messages_per_second / 10 END);
    END IF;
END $$;
COMMENT ON FUNCTION pushmta.set_rate(text, text, double precision) IS
    'Limits the messages of an application, over an external account (by name) or to an FCM project (by project_id) to this many a '
    'second, on all hosts together. Null removes the limit; a project then has Google''s quota, and with Infinity no limit.';

CREATE VIEW pushmta.rate_limit AS
SELECT CASE WHEN r.delivery_id IS NOT NULL THEN 'delivery' WHEN r.application_id IS NOT NULL THEN 'application'
        WHEN r.external_account_id IS NOT NULL THEN 'account' ELSE 'project' END AS scope,
    coalesce(r.delivery_id::text, a.name, e.name, r.project) AS name, r.messages_per_second,
    pushmta_engine.rate_at(r, clock_timestamp()) AS current_rate, r.granted, r.next_at > clock_timestamp() AS in_use,
    r.cut_at, r.cut_reason, r.changed_at
FROM pushmta_engine.rate_limit r
LEFT JOIN pushmta_engine.application a ON a.id = r.application_id
LEFT JOIN pushmta_engine.external_account e ON e.id = r.external_account_id;
COMMENT ON VIEW pushmta.rate_limit IS
    'Limits in messages a second, what they allow now, and when a gateway last said that a rate was too high.';
