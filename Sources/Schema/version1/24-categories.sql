-- Categories of deliveries, and opt-outs from them.
--
-- A delivery with a category does not reach subscriptions that opted out of that category; of everything else they get as before. An
-- opt-out from everything (subscription.opted_out) stays what it is: it also stops transactional deliveries. Opt-outs add up. Only an
-- opt-in that names the category takes one away.
--
-- A category belongs to a service. A delivery to several services has the category of that name in each of them: delivery.category_id is
-- the first of these, and delivery_application.category_id that of the application's service.

CREATE VIEW pushmta.category AS
SELECT k.id, v.name AS service, k.name, k.label, k.is_transactional, k.created_at, k.changed_at
FROM pushmta_engine.category k JOIN pushmta_engine.service v ON v.id = k.service_id;
COMMENT ON VIEW pushmta.category IS
    'The categories of each service. People can opt out of each of them, except the transactional ones.';

CREATE VIEW pushmta.category_opt_out AS
SELECT o.subscription_id, a.name AS application, v.name AS service, k.name AS category, o.since, o.source
FROM pushmta_engine.category_opt_out o
JOIN pushmta_engine.category k ON k.id = o.category_id
JOIN pushmta_engine.service v ON v.id = k.service_id
JOIN pushmta_engine.subscription s ON s.id = o.subscription_id
JOIN pushmta_engine.application a ON a.id = s.application_id;
COMMENT ON VIEW pushmta.category_opt_out IS
    'Subscriptions that opted out of a category, since when, and who said so: the app (app), somebody for this device (device) or for all '
    'devices of the user (user), or an earlier subscription of the same user or token (kept).';

CREATE VIEW pushmta.user_category_opt_out AS
SELECT u.user_key, v.name AS service, a.name AS application, k.name AS category, u.said_at
FROM pushmta_engine.user_category_opt_out u
JOIN pushmta_engine.category k ON k.id = u.category_id
JOIN pushmta_engine.application a ON a.id = u.application_id
JOIN pushmta_engine.service v ON v.id = a.service_id;
COMMENT ON VIEW pushmta.user_category_opt_out IS
    'Users who opted out of a category as a whole, by application. Devices that they register later do not get it, either.';

CREATE FUNCTION pushmta_engine.category_named(service_ids integer[], category text) RETURNS integer[] LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    found_ids integer[] := ARRAY(SELECT k.id FROM pushmta_engine.category k
        WHERE k.service_id = ANY(service_ids) AND k.name = category_named.category);
BEGIN
    IF found_ids = '{}' THEN
        RAISE EXCEPTION 'There is no category "%" in %.', coalesce(category, ''),
                coalesce((SELECT CASE count(*) WHEN 1 THEN format('service "%s"', min(v.name)) ELSE 'these services' END
                    FROM pushmta_engine.service v WHERE v.id = ANY(service_ids)), 'these services')
            USING ERRCODE = 'PM150', HINT = 'pushmta.category lists them; pushmta.set_category makes one.';
    END IF;
    RETURN found_ids;
END $$;
COMMENT ON FUNCTION pushmta_engine.category_named(integer[], text) IS
    'The ids of the categories with a name in these services; an error if none of them has it.';

CREATE FUNCTION pushmta_engine.pass_new_category(made integer) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET lock_timeout = '2s' AS $$
DECLARE
    lacking bigint[];
BEGIN
    -- In order, as everybody who locks several.
    lacking := ARRAY(SELECT d.id FROM category n JOIN category k ON k.name = n.name AND k.id <> n.id
        JOIN delivery d ON d.category_id = k.id AND d.finished_at IS NULL
        WHERE n.id = made AND EXISTS (SELECT FROM delivery_application x JOIN application a ON a.id = x.application_id
            WHERE x.delivery_id = d.id AND a.service_id = n.service_id)
        ORDER BY d.id FOR NO KEY UPDATE OF d);
    PERFORM pass_category_to(o.id) FROM unnest(lacking) o(id);
END $$;
COMMENT ON FUNCTION pushmta_engine.pass_new_category(integer) IS
    'Gives a service''s new category to its applications in deliveries that have not ended and have the category of this name in another '
    'service.';

CREATE FUNCTION pushmta.set_category(service text, name text, label text DEFAULT NULL, is_transactional boolean DEFAULT NULL)
    RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    of_service integer := service_named(service);
    earlier pushmta_engine.category;
    made integer;
BEGIN
    IF name IS NULL OR name !~ '^[a-z][a-z0-9_-]{0,49}$' THEN
        RAISE EXCEPTION '"%" cannot be the name of a category.', coalesce(name, '')
            USING ERRCODE = 'PM153', HINT = 'A name has 1 to 50 lower-case letters, digits, hyphens and underscores, and begins with a '
                'letter.';
    END IF;
    PERFORM require_label('category', coalesce(label, ''), 'PM052');
    SELECT k.* INTO earlier FROM pushmta_engine.category k WHERE k.service_id = of_service AND k.name = name FOR NO KEY UPDATE;
    IF is_transactional AND NOT earlier.is_transactional AND (
        EXISTS (SELECT FROM category_opt_out o WHERE o.category_id = earlier.id)
        OR EXISTS (SELECT FROM user_category_opt_out u WHERE u.category_id = earlier.id)) THEN
        RAISE EXCEPTION 'People have opted out of category "%" of service "%", so it cannot become transactional.', name, service
            USING ERRCODE = 'PM151', HINT = 'Make another category for what everybody has to get.';
    END IF;
    INSERT INTO pushmta_engine.category AS k (service_id, name, label, is_transactional)
    VALUES (of_service, name, coalesce(label, name), coalesce(is_transactional, false))
    ON CONFLICT ON CONSTRAINT category_name_key DO UPDATE SET label = coalesce(set_category.label, k.label),
        is_transactional = coalesce(set_category.is_transactional, k.is_transactional), changed_at = now()
    RETURNING k.id INTO made;
    IF earlier.id IS NULL THEN
        PERFORM pass_new_category(made);
    END IF;
    IF coalesce(earlier.is_transactional, false) <> is_transactional THEN
        -- Who exempts a category from hours, caps and control groups has changed its deliveries.
        PERFORM note_maker(d.id) FROM pushmta_engine.delivery d
        WHERE d.id IN (SELECT x.delivery_id FROM delivery_application x WHERE x.category_id = made)
            AND d.started_at IS NULL AND d.finished_at IS NULL AND d.kind = 'batch' AND NOT d.proof;
    END IF;
    IF earlier.is_transactional AND NOT is_transactional THEN
        PERFORM ask_for_messages();
    END IF;
    PERFORM note_change('category.set', service || '/' || name, CASE WHEN is_transactional THEN 'transactional' ELSE '' END);
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta.set_category(text, text, text, boolean) IS
    'Adds a category to a service, or changes it; a null leaves a value as it is. Returns its id. Nobody can opt out of a transactional '
    'category alone, so one from which people have opted out cannot become transactional.';

CREATE FUNCTION pushmta.drop_category(service text, name text) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_variable
DECLARE
    dropped integer := (category_named(ARRAY[service_named(service)], name))[1];
BEGIN
    PERFORM FROM pushmta_engine.category k WHERE k.id = dropped FOR UPDATE;
    IF EXISTS (SELECT FROM pushmta_engine.delivery d WHERE d.category_id = dropped)
        -- A delivery to several services.
        OR EXISTS (SELECT FROM delivery_application x WHERE x.category_id = dropped) THEN
        RAISE EXCEPTION 'Category "%" of service "%" belongs to a delivery.', name, service
            USING ERRCODE = 'PM151', HINT = 'It stays as long as its deliveries. Change its label with pushmta.set_category.';
    ELSIF EXISTS (SELECT FROM category_opt_out o WHERE o.category_id = dropped)
        OR EXISTS (SELECT FROM user_category_opt_out u WHERE u.category_id = dropped) THEN
        RAISE EXCEPTION 'People have opted out of category "%" of service "%".', name, service
            USING ERRCODE = 'PM151', HINT = 'It stays, so that their choices are not lost.';
    ELSIF EXISTS (SELECT FROM frequency_cap c WHERE dropped = ANY(c.categories)) THEN
        RAISE EXCEPTION 'Category "%" of service "%" belongs to frequency cap "%".', name, service,
                (SELECT min(c.name) FROM frequency_cap c WHERE dropped = ANY(c.categories))
            USING ERRCODE = 'PM151', HINT = 'Change the cap first, with pushmta.set_frequency_cap or pushmta.drop_frequency_cap.';
    ELSIF EXISTS (SELECT FROM control_group g WHERE dropped = ANY(g.categories)) THEN
        RAISE EXCEPTION 'Category "%" of service "%" belongs to its control group.', name, service
            USING ERRCODE = 'PM151', HINT = 'Change the group first, with pushmta.set_control_group.';
    END IF;
    DELETE FROM pushmta_engine.category k WHERE k.id = dropped;
    PERFORM note_change('category.drop', service || '/' || name, '');
END $$;
COMMENT ON FUNCTION pushmta.drop_category(text, text) IS
    'Removes a category of a service that no delivery, no frequency cap and no control group has, and nobody has opted out of.';

CREATE FUNCTION pushmta_engine.delivery_category(delivery bigint, service integer) RETURNS integer LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT x.category_id FROM delivery_application x JOIN application a ON a.id = x.application_id AND a.service_id = service
    WHERE x.delivery_id = delivery_category.delivery LIMIT 1 $$;
COMMENT ON FUNCTION pushmta_engine.delivery_category(bigint, integer) IS 'The category of a delivery in a service; null for none.';

CREATE FUNCTION pushmta_engine.keep_category(delivery bigint, label text, category text) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    services integer[] := ARRAY(SELECT DISTINCT a.service_id FROM delivery_application x JOIN application a ON a.id = x.application_id
        WHERE x.delivery_id = delivery);
    chosen integer[] := ARRAY(SELECT k.id FROM pushmta_engine.category k
        WHERE k.service_id = ANY(services) AND k.name = coalesce(category, 'marketing') ORDER BY k.service_id);
    lacking text;
BEGIN
    IF category IS NOT NULL AND cardinality(chosen) < cardinality(services) THEN
        PERFORM category_named(services, category);
        SELECT min(v.name) INTO lacking FROM pushmta_engine.service v WHERE v.id = ANY(services)
            AND NOT EXISTS (SELECT FROM pushmta_engine.category k WHERE k.service_id = v.id AND k.name = category);
        RAISE EXCEPTION 'Delivery "%" cannot have category "%": service "%", to which it also goes, has none of this name.', label,
                category, lacking
            USING ERRCODE = 'PM150', HINT = 'Make one with pushmta.set_category, or make a delivery for each service.';
    END IF;
    -- Each application gets that of its service.
    UPDATE pushmta_engine.delivery d SET category_id = chosen[1] WHERE d.id = delivery AND d.category_id IS DISTINCT FROM chosen[1];
    -- The first service's may be the same as before.
    PERFORM pass_category_to(delivery);
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_category(bigint, text, text) IS
    'Sets the category of a locked delivery that may be changed, by its name, which each of its services must have. Null means marketing, '
    'in those services that have it.';

-- Opt-outs of a device and of a user.

CREATE FUNCTION pushmta_engine.refuse_transactional(category_ids integer[]) RETURNS void LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    wrong record;
BEGIN
    SELECT k.name, v.name AS service INTO wrong FROM pushmta_engine.category k JOIN pushmta_engine.service v ON v.id = k.service_id
    WHERE k.id = ANY(category_ids) AND k.is_transactional LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'Nobody can opt out of category "%" of service "%" alone: it is transactional.', wrong.name, wrong.service
            USING ERRCODE = 'PM152', HINT = 'An opt-out from everything, with pushmta.set_opt_out, also stops transactional deliveries.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_transactional(integer[]) IS 'Raises an error if one of these categories is transactional.';

CREATE FUNCTION pushmta_engine.change_category_opt_outs(category_ids integer[], ids bigint[], says_no boolean, said_by text)
    RETURNS bigint LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
DECLARE
    changed bigint[];
BEGIN
    IF says_no THEN
        WITH added AS (
            INSERT INTO category_opt_out (category_id, subscription_id, source)
            SELECT k.id, s.id, said_by FROM subscription s
            JOIN application a ON a.id = s.application_id
            JOIN category k ON k.service_id = a.service_id AND k.id = ANY(category_ids)
            WHERE s.id = ANY(ids) ORDER BY 1, 2
            ON CONFLICT DO NOTHING RETURNING subscription_id)
        SELECT array_agg(DISTINCT x.subscription_id) INTO changed FROM added x;
    ELSE
        WITH taken AS (
            DELETE FROM category_opt_out o WHERE o.subscription_id = ANY(ids) AND o.category_id = ANY(category_ids)
            RETURNING o.subscription_id)
        SELECT array_agg(DISTINCT x.subscription_id) INTO changed FROM taken x;
    END IF;
    -- For systems that synchronise.
    UPDATE subscription s SET changed_at = clock_timestamp() WHERE s.id = ANY(changed);
    RETURN coalesce(cardinality(changed), 0);
END $$;
COMMENT ON FUNCTION pushmta_engine.change_category_opt_outs(integer[], bigint[], boolean, text) IS
    'Opts locked subscriptions out of those of the categories that belong to their services, or in again. Returns how many it changed.';

CREATE FUNCTION pushmta_engine.keep_category_opt_out(device bigint, category text, says_no boolean) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_variable
DECLARE
    named record;
    wanted integer[];
    ids bigint[];
BEGIN
    SELECT s.application_id, s.device_id, s.user_key, a.service_id INTO named
    FROM subscription s JOIN application a ON a.id = s.application_id WHERE s.id = device;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no device %.', device
            USING ERRCODE = 'PM070', HINT = 'pushmta.subscription lists them by id.';
    END IF;
    wanted := category_named(ARRAY[named.service_id], category);
    IF says_no THEN
        PERFORM refuse_transactional(wanted);
    END IF;
    -- Registrations read those of the same device, too.
    ids := ARRAY(SELECT s.id FROM subscription s WHERE s.id = ANY(ARRAY(SELECT device UNION SELECT o.id FROM subscription o
            WHERE o.application_id = named.application_id AND o.device_id = named.device_id AND o.user_key = named.user_key))
        ORDER BY s.id FOR NO KEY UPDATE);
    RETURN change_category_opt_outs(wanted, ids, says_no, 'device') > 0;
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_category_opt_out(bigint, text, boolean) IS
    'Does what pushmta.set_category_opt_out does, and returns whether that changed anything. The caller logs it.';

CREATE FUNCTION pushmta.set_category_opt_out(device bigint, category text, opted_out boolean) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    says_no CONSTANT boolean := coalesce(opted_out, true);
BEGIN
    IF keep_category_opt_out(device, category, says_no) THEN
        PERFORM note_change(CASE WHEN says_no THEN 'subscriber.opt_out' ELSE 'subscriber.opt_in' END, device::text,
            'category ' || category);
    END IF;
END $$;
COMMENT ON FUNCTION pushmta.set_category_opt_out(bigint, text, boolean) IS
    'Records that the person with a device wants no deliveries of a category, or wants them again; any subscription of the device may be '
    'given. An opt-out from everything, which pushmta.set_opt_out records, is independent of it.';

-- is_short has the meaning that it has for keep_user_opt_out.
CREATE FUNCTION pushmta_engine.keep_user_category_opt_out(applications integer[], person text, category text, says_no boolean,
    is_short boolean) RETURNS TABLE (device bigint, changed bigint, is_news boolean) LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
DECLARE
    ids bigint[];
    wanted integer[];
BEGIN
    IF coalesce(person, '') = '' THEN
        RAISE EXCEPTION 'The user key is empty.'
            USING ERRCODE = 'PM072', HINT = 'Give a user key, or a device with pushmta.set_category_opt_out.';
    ELSIF octet_length(person) > 1000 THEN
        RAISE EXCEPTION 'The user key has more than 1,000 bytes.'
            USING ERRCODE = 'PM007', HINT = 'Give the key that the user''s devices register: it has at most 1,000 bytes.';
    END IF;
    wanted := category_named(ARRAY(SELECT a.service_id FROM application a WHERE a.id = ANY(applications)), category);
    IF says_no THEN
        PERFORM refuse_transactional(wanted);
    END IF;
    ids := ARRAY(SELECT s.id FROM subscription s WHERE s.user_key = person AND s.user_key <> '' AND s.application_id = ANY(applications)
        ORDER BY s.id FOR NO KEY UPDATE);
    IF is_short THEN
        LOCK TABLE pushmta_engine.registration_lock IN SHARE ROW EXCLUSIVE MODE;
        ids := ids || ARRAY(SELECT s.id FROM subscription s
            WHERE s.user_key = person AND s.user_key <> '' AND s.application_id = ANY(applications) AND s.id <> ALL(ids)
            ORDER BY s.id FOR NO KEY UPDATE);
    END IF;
    IF says_no THEN
        INSERT INTO user_category_opt_out (user_key, application_id, category_id)
        SELECT person, a.id, k.id FROM application a JOIN category k ON k.service_id = a.service_id AND k.id = ANY(wanted)
        WHERE a.id = ANY(applications) ORDER BY a.id, k.id
        ON CONFLICT DO NOTHING;
    ELSE
        DELETE FROM user_category_opt_out u
        WHERE u.user_key = person AND u.application_id = ANY(applications) AND u.category_id = ANY(wanted);
    END IF;
    is_news := FOUND;
    changed := change_category_opt_outs(wanted, ids, says_no, 'user');
    device := ids[1];
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_user_category_opt_out(integer[], text, text, boolean, boolean) IS
    'Does what pushmta.set_category_opt_out does for all subscriptions that a user has, or will have, in the given applications. Returns '
    'the first of them, how many it changed, and whether the user''s own opt-out changed. The caller logs it.';

CREATE FUNCTION pushmta_engine.note_user_category_opt_out(applications integer[], person text, category text, says_no boolean,
    is_short boolean) RETURNS bigint LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    kept record;
BEGIN
    SELECT k.device, k.changed, k.is_news INTO kept
    FROM keep_user_category_opt_out(applications, person, category, says_no, is_short) k;
    IF kept.changed > 0 OR kept.is_news THEN
        -- Never the user's key: the log outlives the person.
        PERFORM note_change(CASE WHEN says_no THEN 'subscriber.opt_out' ELSE 'subscriber.opt_in' END, coalesce(kept.device::text, ''),
            format('category %s, %s of the user', category, kept.changed));
    END IF;
    RETURN kept.changed;
END $$;
COMMENT ON FUNCTION pushmta_engine.note_user_category_opt_out(integer[], text, text, boolean, boolean) IS
    'Does what keep_user_category_opt_out does, and logs it under the first of the subscriptions. Returns how many it changed.';

CREATE FUNCTION pushmta.set_user_category_opt_out(service text, user_key text, category text, opted_out boolean) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    of_service integer := service_named(service);
BEGIN
    -- A service without applications has categories nevertheless.
    PERFORM category_named(ARRAY[of_service], category);
    RETURN note_user_category_opt_out(ARRAY(SELECT a.id FROM application a WHERE a.service_id = of_service), user_key, category,
        coalesce(opted_out, true), is_short => false);
END $$;
COMMENT ON FUNCTION pushmta.set_user_category_opt_out(text, text, text, boolean) IS
    'Does what set_category_opt_out does for all subscriptions that a user has, or will have, in a service. Returns how many it changed. '
    'Commit soon: a device that registers before the commit may be missed.';

-- What registrations say.

CREATE FUNCTION pushmta_engine.inherit_categories(ids bigint[], application_ids integer[], user_keys text[], device_ids text[])
    RETURNS void LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off
    SET enable_seqscan = off AS $$
BEGIN
    INSERT INTO category_opt_out (category_id, subscription_id, source)
    SELECT c.category_id, g.id, 'kept'
    FROM unnest(ids, application_ids, user_keys, device_ids) g(id, application_id, user_key, device_id)
    CROSS JOIN LATERAL (SELECT x.id, x.user_key FROM subscription x
        WHERE (x.device_id, x.application_id) >= (g.device_id, g.application_id)
            AND (x.device_id, x.application_id) <= (g.device_id, g.application_id) AND x.device_id IS NOT NULL OFFSET 0) o
    JOIN category_opt_out c ON c.subscription_id = o.id
    WHERE o.user_key = g.user_key AND o.id <> g.id
    UNION
    SELECT u.category_id, g.id, 'user'
    FROM unnest(ids, application_ids, user_keys) g(id, application_id, user_key)
    JOIN user_category_opt_out u ON u.user_key = g.user_key AND u.application_id = g.application_id
    ON CONFLICT DO NOTHING;
END $$;
COMMENT ON FUNCTION pushmta_engine.inherit_categories(bigint[], integer[], text[], text[]) IS
    'Gives subscriptions that are new, or were disabled, the category opt-outs of the same user on the same device, and those of the user '
    'as a whole: the narrower choice of all of them.';

CREATE FUNCTION pushmta_engine.keep_said_categories(ids bigint[], application_ids integer[], words text[], says_no boolean)
    RETURNS integer LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
DECLARE
    said record;
BEGIN
    SELECT array_agg(g.id) FILTER (WHERE k.id IS NOT NULL) AS devices, array_agg(k.id) FILTER (WHERE k.id IS NOT NULL) AS categories,
        count(*) FILTER (WHERE k.id IS NULL)::integer AS unknown INTO said
    FROM unnest(ids, application_ids, words) g(id, application_id, words)
    CROSS JOIN LATERAL (SELECT DISTINCT btrim(n) AS name FROM string_to_table(g.words, ',') n) n
    JOIN application a ON a.id = g.application_id
    LEFT JOIN category k ON k.service_id = a.service_id AND k.name = n.name AND NOT (says_no AND k.is_transactional)
    WHERE n.name <> '';
    IF says_no THEN
        WITH added AS (
            INSERT INTO category_opt_out (category_id, subscription_id, source)
            SELECT u.category, u.device, 'app' FROM unnest(said.devices, said.categories) u(device, category)
            ON CONFLICT DO NOTHING RETURNING subscription_id)
        UPDATE subscription s SET changed_at = clock_timestamp() FROM added x WHERE s.id = x.subscription_id;
    ELSE
        WITH taken AS (
            DELETE FROM category_opt_out o USING unnest(said.devices, said.categories) u(device, category)
            WHERE o.subscription_id = u.device AND o.category_id = u.category RETURNING o.subscription_id)
        UPDATE subscription s SET changed_at = clock_timestamp() FROM taken x WHERE s.id = x.subscription_id;
    END IF;
    RETURN said.unknown;
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_said_categories(bigint[], integer[], text[], boolean) IS
    'Opts subscriptions out of the categories that their apps name, with commas between them, or in again. Returns how many names '
    'changed nothing: the service has no such category, or nobody can opt out of it.';

CREATE FUNCTION pushmta_engine.keep_registered_categories(targets bigint[], returning_ids bigint[], application_ids integer[],
    tokens text[], user_keys text[], device_ids text[], category_outs text[], category_ins text[]) RETURNS integer LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    stored record;
    fresh record;
    unknown integer := 0;
BEGIN
    SELECT array_agg(e.id) AS ids, array_agg(g.application_id) AS applications, array_agg(g.outs) AS outs, array_agg(g.ins) AS ins
    INTO stored
    FROM unnest(targets, application_ids, tokens, category_outs, category_ins) g(target, application_id, push_token, outs, ins)
    CROSS JOIN LATERAL (SELECT x.id, x.application_id FROM subscription x WHERE x.push_token = g.push_token AND x.enabled OFFSET 0) e
    WHERE g.target >= 0 AND e.application_id = g.application_id AND (g.outs IS NOT NULL OR g.ins IS NOT NULL);
    SELECT array_agg(e.id) AS ids, array_agg(g.application_id) AS applications, array_agg(g.user_key) AS users,
        array_agg(g.device_id) AS devices INTO fresh
    FROM unnest(targets, application_ids, tokens, user_keys, device_ids) g(target, application_id, push_token, user_key, device_id)
    CROSS JOIN LATERAL (SELECT x.id, x.application_id FROM subscription x WHERE x.push_token = g.push_token AND x.enabled OFFSET 0) e
    WHERE e.application_id = g.application_id AND (g.target = 0 OR g.target = ANY(returning_ids));
    PERFORM inherit_categories(fresh.ids, fresh.applications, fresh.users, fresh.devices) WHERE fresh.ids IS NOT NULL;
    IF stored.ids IS NOT NULL THEN
        -- A name in both lists is an opt-out.
        unknown := keep_said_categories(stored.ids, stored.applications, stored.ins, false)
            + keep_said_categories(stored.ids, stored.applications, stored.outs, true);
    END IF;
    RETURN unknown;
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_registered_categories(bigint[], bigint[], integer[], text[], text[], text[], text[], text[]) IS
    'Keeps the category opt-outs of registrations that have just been stored: what new subscriptions take over, and what the apps say. '
    'returning_ids are the updated subscriptions that were disabled before. Returns how many names of categories changed nothing.';

-- What the API and the console read and write.

CREATE FUNCTION pushmta_engine.device_categories(device bigint)
    RETURNS TABLE (name text, label text, is_transactional boolean, since timestamptz, source text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT k.name, k.label, k.is_transactional, o.since, o.source
        FROM subscription s JOIN application a ON a.id = s.application_id
        JOIN category k ON k.service_id = a.service_id
        LEFT JOIN category_opt_out o ON o.category_id = k.id AND o.subscription_id = s.id
        WHERE s.id = device_categories.device ORDER BY k.name $$;
COMMENT ON FUNCTION pushmta_engine.device_categories(bigint) IS
    'The categories of a device''s service, and since when its person has opted out of each; null for not at all.';

CREATE FUNCTION pushmta_engine.api_categories(applications integer[]) RETURNS SETOF pushmta.category
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT c.* FROM pushmta.category c WHERE applications IS NULL OR c.service IN (SELECT v.name FROM application a
            JOIN pushmta_engine.service v ON v.id = a.service_id WHERE a.id = ANY(applications))
        ORDER BY c.service, c.name $$;
COMMENT ON FUNCTION pushmta_engine.api_categories(integer[]) IS
    'The categories of the services that some applications belong to (null: of all services).';

CREATE FUNCTION pushmta_engine.api_user_opt_outs(applications integer[], person text)
    RETURNS TABLE (service text, application text, category text, said_at timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
        SELECT u.service, u.application, u.category, u.said_at
        FROM (SELECT o.user_key, o.service, o.application, NULL AS category, o.said_at FROM pushmta.user_opt_out o
            WHERE o.user_key = person
            UNION ALL
            SELECT o.user_key, o.service, o.application, o.category, o.said_at FROM pushmta.user_category_opt_out o
            WHERE o.user_key = person) u
        WHERE applications IS NULL OR u.application IN (SELECT a.name FROM application a WHERE a.id = ANY(applications))
        ORDER BY u.service, u.application, u.category NULLS FIRST $$;
COMMENT ON FUNCTION pushmta_engine.api_user_opt_outs(integer[], text) IS
    'What a user opted out of as a whole, in some applications (null: in all): a category, or (null) everything.';

CREATE FUNCTION pushmta_engine.api_set_user_category_opt_out(applications integer[], person text, category text, opted_out boolean)
    RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    RETURN note_user_category_opt_out(coalesce(applications, ARRAY(SELECT a.id FROM pushmta_engine.application a)), person, category,
        coalesce(opted_out, true), is_short => true);
END $$;
COMMENT ON FUNCTION pushmta_engine.api_set_user_category_opt_out(integer[], text, text, boolean) IS
    'Does what pushmta.set_user_category_opt_out does, in some applications (null: in all), in a transaction of its own.';

CREATE FUNCTION pushmta_engine.console_categories(caller pushmta_engine.console_caller, subscription bigint)
    RETURNS TABLE (name text, label text, is_transactional boolean, since timestamptz, source text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    PERFORM console_user_of(caller, NULL);
    RETURN QUERY SELECT c.* FROM device_categories(console_categories.subscription) c;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_categories(pushmta_engine.console_caller, bigint) IS
    'The categories of a subscription''s service with its opt-outs, for a signed-in user who has looked it up.';

CREATE FUNCTION pushmta_engine.console_set_category(caller pushmta_engine.console_caller, subscription bigint, category text,
    opted_out boolean) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_user_of(caller, ARRAY['operate', 'admin']);
BEGIN
    IF keep_category_opt_out(subscription, category, opted_out) THEN
        PERFORM note_audit(who, CASE WHEN opted_out THEN 'subscriber.opt_out' ELSE 'subscriber.opt_in' END, subscription::text,
            'category ' || category, caller.address);
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_set_category(pushmta_engine.console_caller, bigint, text, boolean) IS
    'Opts a person out of a category or in again, for a signed-in operator or administrator.';
