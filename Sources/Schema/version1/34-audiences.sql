-- Saved audiences and control groups of services.
--
-- An audience is a filter with a name. A delivery that names one gets a copy of its filter: what was analysed and approved stays what is
-- sent, whatever happens to the audience later. SQL cannot compile a filter, so a supervisor counts, as for looks at deliveries.
--
-- The control group is a share of a service's persons. Membership is a keyed hash of the person, as in experiments, with a key of the
-- service's own; a larger share keeps all members. The table is in 02-applications.sql, control_of in 04-deliveries.sql.

CREATE TABLE pushmta_engine.audience (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    service_id integer NOT NULL REFERENCES pushmta_engine.service,
    name text NOT NULL CONSTRAINT audience_name_form CHECK (name <> '' AND pushmta_engine.is_name(name)),
    filter text NOT NULL CHECK (filter <> ''),
    made_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    -- A count that somebody asked for, and when a supervisor began. After half a minute another one tries.
    asked_at timestamptz,
    taken_at timestamptz,
    -- The last count. margin: the error of an estimate at 95 % confidence; null for a count.
    counted_at timestamptz,
    subscriptions bigint,
    excluded bigint,
    margin bigint,
    problem text NOT NULL DEFAULT '',
    -- Some subscriptions that the filter selects.
    sample bigint[] NOT NULL DEFAULT '{}',
    CONSTRAINT audience_name_key UNIQUE (service_id, name)
);
COMMENT ON TABLE pushmta_engine.audience IS 'Saved audiences: named filters of services, with their last counts.';
CREATE INDEX audience_asked ON pushmta_engine.audience (asked_at) WHERE asked_at IS NOT NULL;

CREATE FUNCTION pushmta_engine.audience_named(of_service integer, audience text) RETURNS pushmta_engine.audience LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    found_audience pushmta_engine.audience;
BEGIN
    SELECT a.* INTO found_audience FROM pushmta_engine.audience a WHERE a.service_id = of_service AND a.name = audience_named.audience;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'Service "%" has no audience "%".', (SELECT v.name FROM pushmta_engine.service v WHERE v.id = of_service),
            left(coalesce(audience, ''), 200)
            USING ERRCODE = 'PM351', HINT = 'pushmta.audience lists them; pushmta.save_audience makes one.';
    END IF;
    RETURN found_audience;
END $$;
COMMENT ON FUNCTION pushmta_engine.audience_named(integer, text) IS 'The audience of a service with a name; an error if there is none.';

CREATE FUNCTION pushmta_engine.put_audience(who text, service text, name text, filter text) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET lock_timeout = '2s' AS $$
#variable_conflict use_variable
DECLARE
    of_service integer := service_named(service);
    wanted text := coalesce(btrim(filter, E' \t\r\n'), '');
    wrong pushmta_engine.input_problem := filter_problem(wanted);
BEGIN
    PERFORM require_name('audience', name, 'PM350');
    IF wanted = '' THEN
        RAISE EXCEPTION 'Audience "%" of service "%" has no filter.', name, service
            USING ERRCODE = 'PM350', HINT = 'Give one, as in locale.language = ''de''. A delivery without a filter goes to everybody.';
    ELSIF wrong.problem IS NOT NULL THEN
        RAISE EXCEPTION 'The filter of audience "%" cannot be used: %.', name, wrong.problem
            USING ERRCODE = 'PM021', HINT = wrong.remedy;
    ELSIF EXISTS (SELECT FROM parse_filter(wanted) p WHERE jsonb_path_exists(p.tree, '$.**.mapping'))
        AND EXISTS (SELECT FROM pushmta_engine.service v WHERE v.id = of_service AND v.target_mapping_id IS NULL) THEN
        RAISE EXCEPTION 'The filter of audience "%" asks for fields of the mapping, and service "%" has none.', name, service
            USING ERRCODE = 'PM021', HINT = 'Give the service a target mapping (pushmta service set --mapping), or use other fields.';
    END IF;
    INSERT INTO pushmta_engine.audience AS a (service_id, name, filter, made_by, changed_by) VALUES (of_service, name, wanted, who, who)
    ON CONFLICT ON CONSTRAINT audience_name_key DO UPDATE SET filter = wanted, changed_by = who, changed_at = now(), asked_at = NULL,
        taken_at = NULL, counted_at = NULL, subscriptions = NULL, excluded = NULL, margin = NULL, problem = '', sample = '{}'
    WHERE a.filter <> wanted;
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION pushmta_engine.put_audience(text, text, text, text) IS
    'Does what pushmta.save_audience does for a user, and returns whether that changed anything. The caller logs it.';

CREATE FUNCTION pushmta.save_audience(service text, name text, filter text) RETURNS boolean LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    IF NOT put_audience((SELECT login_text(l.kind, l.name) FROM acting_login() l), service, name, filter) THEN
        RETURN false;
    END IF;
    -- Without the filter, which may name people: the log outlives them.
    PERFORM note_change('audience.save', service || '/' || name, '');
    RETURN true;
END $$;
COMMENT ON FUNCTION pushmta.save_audience(text, text, text) IS
    'Saves a filter as an audience of a service, or replaces the filter of the audience of that name; then its count is dropped. '
    'Deliveries that were given the audience earlier keep the filter that they copied. Returns whether it changed anything.';

CREATE FUNCTION pushmta_engine.drop_audience(service text, name text) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
    DELETE FROM pushmta_engine.audience a WHERE a.id = (audience_named(service_named(drop_audience.service), drop_audience.name)).id;
END $$;
COMMENT ON FUNCTION pushmta_engine.drop_audience(text, text) IS 'Does what pushmta.remove_audience does. The caller logs it.';

CREATE FUNCTION pushmta.remove_audience(service text, name text) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    PERFORM drop_audience(service, name);
    PERFORM note_change('audience.remove', service || '/' || name, '');
END $$;
COMMENT ON FUNCTION pushmta.remove_audience(text, text) IS
    'Removes an audience of a service. Deliveries that were given it keep the filter that they copied.';

CREATE FUNCTION pushmta_engine.use_audience(delivery bigint, filter text, audience text) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    services integer[] := ARRAY(SELECT DISTINCT a.service_id FROM delivery_application x JOIN application a ON a.id = x.application_id
        WHERE x.delivery_id = delivery AND audience IS NOT NULL);
    chosen pushmta_engine.audience;
BEGIN
    IF audience IS NULL THEN
        RETURN;
    ELSIF filter IS NOT NULL THEN
        RAISE EXCEPTION 'Delivery % has both a filter and an audience.', delivery
            USING ERRCODE = 'PM007', HINT = 'Give one of them: a delivery gets a copy of the audience''s filter.';
    ELSIF cardinality(services) > 1 THEN
        RAISE EXCEPTION 'Delivery % cannot go to an audience: its applications belong to several services.', delivery
            USING ERRCODE = 'PM007', HINT = 'Make a delivery for each service, or give a filter.';
    END IF;
    chosen := audience_named(services[1], audience);
    PERFORM keep_target(delivery, chosen.filter, NULL, NULL);
    UPDATE pushmta_engine.delivery d SET target_audience = chosen.name WHERE d.id = delivery;
END $$;
COMMENT ON FUNCTION pushmta_engine.use_audience(bigint, text, text) IS
    'Gives a locked delivery that may be changed the filter of an audience of its service, and notes where it is from. Null changes '
    'nothing. A filter beside it is refused.';

-- Counts.

CREATE VIEW pushmta.audience AS
SELECT a.id, v.name AS service, a.name, a.filter, a.made_by, a.created_at, a.changed_by, a.changed_at, a.subscriptions, a.excluded,
    a.margin IS NOT NULL AS is_estimate, a.margin, a.problem, a.counted_at, a.asked_at IS NOT NULL AS is_being_counted
FROM pushmta_engine.audience a JOIN pushmta_engine.service v ON v.id = a.service_id;
COMMENT ON VIEW pushmta.audience IS
    'Saved audiences with their last counts: subscriptions that would get a message, and those that the filter selects and that get none '
    '(excluded). margin is the error of an estimate. problem says why the last count failed.';

CREATE FUNCTION pushmta_engine.ask_audience_count(service text, name text) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
    wanted pushmta_engine.audience := audience_named(service_named(service), name);
BEGIN
    UPDATE pushmta_engine.audience a SET asked_at = clock_timestamp(), taken_at = NULL
    WHERE a.id = wanted.id AND a.asked_at IS NULL
        AND (a.counted_at IS NULL OR a.counted_at < clock_timestamp() - interval '1 minute');
    IF FOUND THEN
        PERFORM pg_notify('pushmta_wake', 'look');
    END IF;
    RETURN wanted.id;
END $$;
COMMENT ON FUNCTION pushmta_engine.ask_audience_count(text, text) IS
    'Asks a supervisor to count an audience, unless that was done within a minute. Returns the id of the audience.';

CREATE FUNCTION pushmta.count_audience(service text, name text)
    RETURNS TABLE (state text, subscriptions bigint, excluded bigint, margin bigint, problem text, counted_at timestamptz)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
DECLARE
    wanted bigint := ask_audience_count(count_audience.service, count_audience.name);
BEGIN
    RETURN QUERY SELECT CASE WHEN a.asked_at IS NULL THEN 'answered' ELSE 'requested' END, a.subscriptions, a.excluded, a.margin,
        a.problem, a.counted_at
    FROM pushmta_engine.audience a WHERE a.id = wanted;
END $$;
COMMENT ON FUNCTION pushmta.count_audience(text, text) IS
    'How many subscriptions an audience selects now, and how many of them get no message (excluded). The first call asks a supervisor and '
    'returns the state ''requested'' with the last count; a later one returns ''answered'' (in psql: \watch 1). A large audience is '
    'estimated: the error is margin. Opt-outs from a category, control groups and frequency caps are left to the delivery.';

CREATE FUNCTION pushmta.audience_sample(service text, name text)
    RETURNS TABLE (subscription_id bigint, application text, platform text, locale text, registered_at timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
    SELECT s.id, p.name, p.platform, s.locale, s.registered_at
    FROM unnest((audience_named(service_named(audience_sample.service), audience_sample.name)).sample) u(id)
    JOIN subscription s ON s.id = u.id JOIN application p ON p.id = s.application_id ORDER BY s.id DESC $$;
COMMENT ON FUNCTION pushmta.audience_sample(text, text) IS
    'Some subscriptions of an audience, as of its last count, without user keys and push tokens.';

CREATE FUNCTION pushmta_engine.take_audience_count()
    RETURNS TABLE (id integer, filter text, applications integer[]) LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
    UPDATE audience a SET taken_at = clock_timestamp()
    WHERE a.id = (SELECT f.id FROM audience f WHERE f.asked_at IS NOT NULL
            AND (f.taken_at IS NULL OR f.taken_at NOT BETWEEN now() - interval '30 seconds' AND now() + interval '1 second')
        ORDER BY f.asked_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING a.id, a.filter, ARRAY(SELECT p.id FROM application p WHERE p.service_id = a.service_id ORDER BY p.id) $$;
COMMENT ON FUNCTION pushmta_engine.take_audience_count() IS
    'The audience to count next that no other supervisor takes, with the applications of its service; none if there is none.';

-- Control groups.

CREATE FUNCTION pushmta_engine.ask_for_messages(waits boolean DEFAULT true) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    days bigint[];
BEGIN
    -- Nearly all services have none.
    IF NOT EXISTS (SELECT FROM control_group g WHERE g.percent > 0) THEN
        RETURN;
    END IF;
    -- A day of tomorrow is made with it.
    days := ARRAY(SELECT d.id FROM pushmta_engine.delivery d
        WHERE d.state IN ('in_progress', 'paused') AND d.kind = 'continuous' AND d.parent_delivery_id IS NOT NULL
            AND NOT d.has_exclusions AND EXISTS (SELECT FROM control_of(d.id)));
    IF NOT waits THEN
        days := ARRAY(SELECT d.id FROM pushmta_engine.delivery d WHERE d.id = ANY(days) ORDER BY d.id FOR NO KEY UPDATE SKIP LOCKED);
    END IF;
    UPDATE pushmta_engine.delivery d SET has_exclusions = true WHERE d.id = ANY(days);
END $$;
COMMENT ON FUNCTION pushmta_engine.ask_for_messages(boolean) IS
    'Closes the quick way to add a message, which asks no control group, for the present days of continuous deliveries that have one. '
    'waits: also for days that another session has locked.';

CREATE FUNCTION pushmta_engine.keep_control_group(service text, percent numeric, categories text[]) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET lock_timeout = '2s' AS $$
#variable_conflict use_variable
DECLARE
    of_service integer := service_named(service);
    wrong text;
    ids integer[];
BEGIN
    IF percent IS NULL OR percent NOT BETWEEN 0 AND 50 OR percent <> round(percent, 2) THEN
        RAISE EXCEPTION 'The control group of service "%" cannot have % percent.', service, coalesce(percent::text, 'no')
            USING ERRCODE = 'PM352', HINT = 'Give a number from 0 to 50 with at most two decimals; 0 ends the group.';
    ELSIF categories IS NOT NULL THEN
        -- So that they stay: drop_category looks for groups that name its category.
        PERFORM FROM pushmta_engine.category k WHERE k.service_id = of_service AND k.name = ANY(categories) ORDER BY k.id FOR KEY SHARE;
        SELECT array_agg(k.id ORDER BY k.id), min(coalesce(c.name, '')) FILTER (WHERE k.id IS NULL) INTO ids, wrong
        FROM (SELECT DISTINCT u.name FROM unnest(categories) u(name)) c
        LEFT JOIN pushmta_engine.category k ON k.service_id = of_service AND k.name = c.name AND NOT k.is_transactional;
        IF ids IS NULL OR wrong IS NOT NULL THEN
            RAISE EXCEPTION 'The control group of service "%" names category "%", which is transactional or unknown.', service,
                coalesce(wrong, '') USING ERRCODE = 'PM352',
                HINT = 'pushmta.category lists them. Null means all that are not transactional.';
        END IF;
    END IF;
    INSERT INTO control_group AS g (service_id, percent, categories, count_at)
    VALUES (of_service, percent, ids, CASE WHEN percent > 0 THEN now() END)
    ON CONFLICT (service_id) DO UPDATE SET percent = excluded.percent, categories = excluded.categories,
        since = CASE WHEN (g.percent, g.categories) IS NOT DISTINCT FROM (excluded.percent, excluded.categories) THEN g.since
            ELSE now() END,
        persons = NULL, members = NULL, users = NULL, member_users = NULL, counted_at = NULL, count_at = excluded.count_at;
    PERFORM ask_for_messages();
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_control_group(text, numeric, text[]) IS
    'Does what pushmta.set_control_group does. The caller logs it.';

CREATE FUNCTION pushmta_engine.control_words(percent numeric, categories text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN trim_scale(percent) || ' %' || coalesce(': ' || array_to_string(categories, ', '), '');
COMMENT ON FUNCTION pushmta_engine.control_words(numeric, text[]) IS 'The share and the categories of a control group, for the audit log.';

CREATE FUNCTION pushmta.set_control_group(service text, percent numeric, categories text[] DEFAULT NULL) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    PERFORM keep_control_group(service, percent, categories);
    PERFORM note_change('service.control_group', service, control_words(percent, categories));
END $$;
COMMENT ON FUNCTION pushmta.set_control_group(text, numeric, text[]) IS
    'Gives a service a control group: this percentage of its persons (0 to 50; 0 for none) gets no deliveries of these categories; null '
    'means all that are not transactional, and deliveries without a category. A larger share keeps the members, and so does a group that '
    'ends and begins again. It counts for what is prepared from now on.';

CREATE FUNCTION pushmta_engine.count_control_group() RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET jit = off AS $$
DECLARE
    began timestamptz := clock_timestamp();
    due control_group;
    n record;
BEGIN
    SELECT g.* INTO due FROM control_group g WHERE g.count_at <= now() ORDER BY g.count_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    SELECT count(*) AS persons, count(*) FILTER (WHERE p.is_member) AS members, count(*) FILTER (WHERE p.is_user) AS users,
        count(*) FILTER (WHERE p.is_user AND p.is_member) AS member_users INTO n
    FROM (SELECT u.is_user, person_share(u.person, due.seed) < due.percent::double precision / 100 AS is_member
        FROM (SELECT DISTINCT coalesce(nullif(s.user_key, ''), s.id::text) AS person, s.user_key <> '' AS is_user
            FROM subscription s WHERE s.exclusion = 0
                AND s.application_id IN (SELECT a.id FROM application a WHERE a.service_id = due.service_id)) u) p;
    UPDATE control_group g SET persons = n.persons, members = n.members, users = n.users, member_users = n.member_users,
        counted_at = began, count_at = began + greatest(interval '1 hour', 20 * (clock_timestamp() - began))
    WHERE g.service_id = due.service_id;
    RETURN n.persons;
END $$;
COMMENT ON FUNCTION pushmta_engine.count_control_group() IS
    'Counts the persons of the service whose control group is due: once an hour, and a twentieth of the time at most. Returns how many '
    'there are; 0 if none is due.';

CREATE VIEW pushmta.control_group AS
SELECT v.name AS service, g.percent, CASE WHEN g.categories IS NOT NULL THEN ARRAY(SELECT k.name FROM pushmta_engine.category k
        WHERE k.id = ANY(g.categories) ORDER BY k.name) END AS categories, g.since, g.persons, g.members, g.counted_at
FROM pushmta_engine.control_group g JOIN pushmta_engine.service v ON v.id = g.service_id WHERE g.percent > 0;
COMMENT ON VIEW pushmta.control_group IS
    'The control groups of services: their share in percent, the categories that they do not get (null: all that are not transactional), '
    'since when, and how many of the persons that may get messages are members, as counted within the last hour.';

CREATE FUNCTION pushmta_engine.may_leave_out(applications integer[], category text, is_code boolean) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
    SELECT coalesce(bool_or(NOT is_code AND NOT v.is_transactional
                AND EXISTS (SELECT FROM control_group g WHERE g.service_id = v.service_id
                    AND g.percent > 0 AND (g.categories IS NULL OR v.category_id = ANY(g.categories)))
            OR EXISTS (SELECT FROM pushmta_engine.frequency_cap f WHERE f.service_id = v.service_id
                AND CASE WHEN f.categories IS NULL THEN NOT is_code AND NOT v.is_transactional
                    ELSE coalesce(v.category_id = ANY(f.categories), false) END)
            OR NOT is_code AND EXISTS (SELECT FROM pushmta_engine.category_opt_out x WHERE x.category_id = v.category_id)), false)
    FROM (SELECT o.service_id, k.id AS category_id, coalesce(k.is_transactional, false) AS is_transactional
        FROM (SELECT DISTINCT a.service_id FROM application a WHERE a.id = ANY(may_leave_out.applications)) o
        LEFT JOIN pushmta_engine.category k ON k.service_id = o.service_id AND k.name = may_leave_out.category) v $$;
COMMENT ON FUNCTION pushmta_engine.may_leave_out(integer[], text, boolean) IS
    'Whether a control group, a frequency cap or opt-outs from the category may leave people out of a delivery to these applications. A '
    'count of what a filter selects does not look at them.';

-- What members and others do.

CREATE TABLE pushmta_engine.user_conversion (
    service_id integer NOT NULL REFERENCES pushmta_engine.service,
    -- The keyed hash of the user, which also says whether the user is a member.
    person bigint NOT NULL,
    name text NOT NULL,
    day date NOT NULL,
    value numeric,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (service_id, person, name, day)
);
COMMENT ON TABLE pushmta_engine.user_conversion IS
    'What users of services with a control group did, as the customer''s systems report it for all users, with or without a message: a '
    'row a user, name and day.';
CREATE INDEX user_conversion_time ON pushmta_engine.user_conversion (service_id, recorded_at);
CREATE INDEX user_conversion_age ON pushmta_engine.user_conversion (day);

CREATE FUNCTION pushmta.record_user_conversion(service text, user_key text, name text DEFAULT 'conversion', value numeric DEFAULT NULL)
    RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_variable
DECLARE
    of_service integer := service_named(service);
    -- As subscriptions have it.
    person text := coalesce(trimmed(user_key), '');
BEGIN
    IF person = '' THEN
        RAISE EXCEPTION 'The user key is empty.'
            USING ERRCODE = 'PM072', HINT = 'Give a user key, or the id of a message with pushmta.record_conversion.';
    ELSIF coalesce(name, '') = '' OR NOT is_label(name) OR octet_length(name) > 100 OR NOT coalesce(value BETWEEN -1e12 AND 1e12, true) THEN
        RAISE EXCEPTION 'The conversion has a name or a value that cannot be stored.'
            USING ERRCODE = 'PM007', HINT = 'A name has 1 to 100 bytes; a value is a number of at most a trillion.';
    ELSIF NOT EXISTS (SELECT FROM subscription s JOIN application a ON a.id = s.application_id
        WHERE s.user_key = person AND s.user_key <> '' AND a.service_id = of_service) THEN
        RETURN false;
    END IF;
    INSERT INTO user_conversion (service_id, person, name, day, value)
    SELECT of_service, hashtextextended(person, g.seed), name, (now() AT TIME ZONE 'UTC')::date, round(value, 4)
    FROM control_group g WHERE g.service_id = of_service AND g.percent > 0
    ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION pushmta.record_user_conversion(text, text, text, numeric) IS
    'Records that a user did something, with or without a message: report it for all users, or members of the control group and others '
    'cannot be compared. It counts while the service has a control group, for users with a subscription, once a name and day (UTC); '
    'returns whether it counts.';

CREATE FUNCTION pushmta_engine.forget_conversions(of_service integer, user_key text) RETURNS void LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
    DELETE FROM user_conversion c USING control_group g
    WHERE g.service_id = of_service AND c.service_id = g.service_id AND c.person = hashtextextended(forget_conversions.user_key, g.seed) $$;
COMMENT ON FUNCTION pushmta_engine.forget_conversions(integer, text) IS 'Deletes what a user of a service did.';

CREATE FUNCTION pushmta_engine.purge_user_conversions(oldest date, most integer) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
DECLARE
    purged bigint;
BEGIN
    DELETE FROM user_conversion c WHERE (c.service_id, c.person, c.name, c.day) IN (SELECT x.service_id, x.person, x.name, x.day
        FROM user_conversion x WHERE x.day < oldest ORDER BY x.day LIMIT most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS purged = ROW_COUNT;
    RETURN purged;
END $$;
COMMENT ON FUNCTION pushmta_engine.purge_user_conversions(date, integer) IS
    'Deletes up to the given number of conversions of users from before a day; returns how many.';

CREATE FUNCTION pushmta.control_result(service text, days integer DEFAULT 28)
    RETURNS TABLE (name text, since timestamptz, members bigint, converted_members bigint, others bigint, converted_others bigint,
        difference text) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp
    SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    place control_group;
    begins timestamptz;
BEGIN
    IF days IS NULL OR days NOT BETWEEN 1 AND 366 THEN
        RAISE EXCEPTION 'The results of a control group cannot be shown for % days.', coalesce(days::text, 'no')
            USING ERRCODE = 'PM352', HINT = 'Give a number from 1 to 366.';
    END IF;
    SELECT g.* INTO place FROM control_group g WHERE g.service_id = service_named(control_result.service) AND g.percent > 0;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- Before, other persons were members.
    begins := greatest(place.since, now() - make_interval(days => days));
    RETURN QUERY SELECT r.name, begins, place.member_users, r.inside, place.users - place.member_users, r.outside,
        difference_words('With marketing', least(r.outside, place.users - place.member_users), place.users - place.member_users,
            'control group', least(r.inside, place.member_users), place.member_users, 0.05)
    FROM (SELECT p.name, count(*) FILTER (WHERE p.is_member) AS inside, count(*) FILTER (WHERE NOT p.is_member) AS outside
        FROM (SELECT DISTINCT c.name, c.person, (c.person & 9007199254740991) / 9007199254740992.0::double precision
                < place.percent::double precision / 100 AS is_member
            FROM user_conversion c WHERE c.service_id = place.service_id AND c.recorded_at >= begins) p
        GROUP BY p.name) r
    ORDER BY r.name;
END $$;
COMMENT ON FUNCTION pushmta.control_result(text, integer) IS
    'How many users did what in the last days (28 by default), members of the control group against all others, and the conclusion, '
    'by the names that pushmta.record_user_conversion was given. The time begins at the last change of the group at the earliest: before, '
    'other users were members. Numbers of users are null until they are counted.';

-- What the API, the commands and the console read and write.

CREATE FUNCTION pushmta_engine.service_applications(service text) RETURNS integer[] LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT ARRAY(SELECT a.id FROM application a WHERE a.service_id = service_named(service_applications.service) ORDER BY a.id) $$;
COMMENT ON FUNCTION pushmta_engine.service_applications(text) IS
    'The ids of a service''s applications; an error if there is no such service.';

CREATE FUNCTION pushmta_engine.api_audiences(wanted text) RETURNS SETOF pushmta.audience
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT a.* FROM pushmta.audience a WHERE a.service = wanted ORDER BY a.name $$;
COMMENT ON FUNCTION pushmta_engine.api_audiences(text) IS 'pushmta.audience of one service.';

CREATE FUNCTION pushmta_engine.api_control_group(wanted text) RETURNS SETOF pushmta.control_group
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT g.* FROM pushmta.control_group g WHERE g.service = wanted $$;
COMMENT ON FUNCTION pushmta_engine.api_control_group(text) IS 'pushmta.control_group of one service; no row if it has none.';

CREATE FUNCTION pushmta_engine.console_save_audience(caller pushmta_engine.console_caller, service text, name text, filter text)
    RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    who text := console_composer(caller);
BEGIN
    IF put_audience(login_text('console', who), service, name, filter) THEN
        PERFORM note_audit(who, 'audience.save', service || '/' || name, '', caller.address);
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_save_audience(pushmta_engine.console_caller, text, text, text) IS
    'Does what pushmta.save_audience does, for a signed-in user who may compose deliveries.';

CREATE FUNCTION pushmta_engine.console_remove_audience(caller pushmta_engine.console_caller, service text, name text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    who text := console_composer(caller);
BEGIN
    PERFORM drop_audience(service, name);
    PERFORM note_audit(who, 'audience.remove', service || '/' || name, '', caller.address);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_remove_audience(pushmta_engine.console_caller, text, text) IS
    'Does what pushmta.remove_audience does, for a signed-in user who may compose deliveries.';

CREATE FUNCTION pushmta_engine.console_audience_sample(caller pushmta_engine.console_caller, service text, name text)
    RETURNS TABLE (id bigint, application text, platform text, user_key text, locale text, created_at timestamptz,
        registered_at timestamptz, exclusion text) LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    who text := console_composer(caller);
    is_open boolean := console_may_see_people(caller);
    ids bigint[] := (audience_named(service_named(console_audience_sample.service), console_audience_sample.name)).sample;
BEGIN
    IF ids <> '{}' THEN
        PERFORM note_audit(who, 'subscriber.list', console_audience_sample.service, 'a sample of audience '
            || console_audience_sample.name, caller.address);
    END IF;
    RETURN QUERY SELECT s.id, a.name, a.platform, CASE WHEN is_open THEN s.user_key ELSE masked(s.user_key) END, s.locale,
        s.created_at, s.registered_at, CASE s.exclusion WHEN 0 THEN '' WHEN 2 THEN 'opted_out' WHEN 3 THEN 'quarantine' ELSE 'disabled' END
    FROM subscription s JOIN pushmta_engine.application a ON a.id = s.application_id WHERE s.id = ANY(ids) ORDER BY s.id DESC;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_audience_sample(pushmta_engine.console_caller, text, text) IS
    'The sample of an audience for a signed-in user who may compose deliveries, as lists of subscribers show them. Logs the look-up.';

CREATE FUNCTION pushmta_engine.console_set_control_group(caller pushmta_engine.console_caller, service text, percent numeric,
    categories text[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    who text := console_user_of(caller, ARRAY['operate', 'admin']);
BEGIN
    PERFORM keep_control_group(service, percent, categories);
    PERFORM note_audit(who, 'service.control_group', service, control_words(percent, categories), caller.address);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_set_control_group(pushmta_engine.console_caller, text, numeric, text[]) IS
    'Does what pushmta.set_control_group does, for a signed-in operator or administrator.';
