-- Templates, seed addresses and proofs.

CREATE FUNCTION pushmta_engine.template_problem(settings jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    setting record;
    is_right boolean;
BEGIN
    IF settings IS NULL OR jsonb_typeof(settings) <> 'object' THEN
        RETURN 'they are no JSON object';
    END IF;
    FOR setting IN SELECT key, value, value #>> '{}' AS text, jsonb_typeof(value) AS type FROM jsonb_each(settings) LOOP
        is_right := CASE setting.key
            WHEN 'priority' THEN setting.type = 'number' AND setting.text ~ '^-?[0-9]{1,3}$'
                AND setting.text::integer BETWEEN -100 AND 100
            WHEN 'weight' THEN setting.type = 'number' AND setting.text ~ '^[0-9]{1,2}$' AND setting.text::integer BETWEEN 1 AND 10
            WHEN 'validity_seconds' THEN setting.type = 'number' AND setting.text ~ '^[0-9]{1,9}$'
                AND setting.text::integer BETWEEN 1 AND 311040000
            WHEN 'max_retries' THEN setting.type = 'number' AND setting.text ~ '^[0-9]{1,4}$'
                AND setting.text::integer BETWEEN 0 AND 1000
            WHEN 'retry_period_seconds' THEN setting.type = 'number' AND setting.text ~ '^[0-9]{1,8}$'
                AND setting.text::integer BETWEEN 1 AND 31536000
            WHEN 'retry_schedule' THEN coalesce(setting.text, '') IN ('default', 'daily', 'exponential')
            WHEN 'messages_per_second' THEN setting.type = 'number' AND length(setting.text) < 32
                AND setting.text::numeric BETWEEN 0.001 AND 1000000
            WHEN 'one_per_user' THEN setting.type = 'boolean'
            WHEN 'explicit_targets' THEN setting.type = 'boolean'
            WHEN 'all_seeds' THEN setting.type = 'boolean'
            WHEN 'ambiguity_policy' THEN coalesce(setting.text, '') IN ('resend', 'report')
        END;
        IF setting.key = 'one_time_code' THEN
            RETURN 'one_time_code is said by each delivery for itself, as it passes over opt-outs';
        ELSIF is_right IS NULL THEN
            RETURN format('there is no setting "%s"', left(setting.key, 64));
        ELSIF NOT is_right THEN
            RETURN format('%s cannot be %s%s', setting.key, left(setting.value::text, 64), CASE setting.key
                WHEN 'priority' THEN ', it is from -100 to 100'
                WHEN 'weight' THEN ', it is from 1 to 10'
                WHEN 'validity_seconds' THEN ', it is from 1 to 311,040,000 (3,600 days)'
                WHEN 'max_retries' THEN ', it is from 0 to 1,000'
                WHEN 'retry_period_seconds' THEN ', it is from 1 to 31,536,000 (a year)'
                WHEN 'retry_schedule' THEN ', it is default, daily or exponential'
                WHEN 'messages_per_second' THEN ', it is from 0.001 to 1,000,000'
                WHEN 'ambiguity_policy' THEN ', it is resend or report' ELSE ', it is true or false' END);
        END IF;
    END LOOP;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION pushmta_engine.template_problem(jsonb) IS
    'What is wrong with a template''s settings; null if nothing is.';

CREATE FUNCTION pushmta_engine.template_content_problems(content jsonb) RETURNS SETOF pushmta_engine.input_problem
    LANGUAGE sql STABLE SET search_path = pushmta_engine, pg_temp AS $$
    SELECT p.* FROM input_rule r, schema_problems(r.document, r.document - 'anyOf', template_content_problems.content, '') p
    WHERE r.name = 'content'
    UNION ALL
    SELECT t.* FROM text_problems(template_content_problems.content, '') t $$;
COMMENT ON FUNCTION pushmta_engine.template_content_problems(jsonb) IS
    'What is wrong with the keys of a template''s content. What is still missing from it comes from whoever uses it.';

CREATE FUNCTION pushmta_engine.find_template(wanted text) RETURNS pushmta_engine.delivery_template LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    found_template pushmta_engine.delivery_template;
BEGIN
    SELECT t.* INTO found_template FROM delivery_template t WHERE t.name = wanted;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no delivery template "%".', wanted
            USING ERRCODE = 'PM040', HINT = 'pushmta.delivery_template lists them.';
    END IF;
    RETURN found_template;
END $$;
COMMENT ON FUNCTION pushmta_engine.find_template(text) IS
    'The template of a name; an error if there is none.';

CREATE FUNCTION pushmta.add_template(
    name text, content jsonb, label text DEFAULT '', settings jsonb DEFAULT '{}', replacing boolean DEFAULT false,
    applications text[] DEFAULT NULL, filter text DEFAULT NULL, exclude text[] DEFAULT NULL
) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    problem text := template_problem(settings);
    wrong pushmta_engine.input_problem;
    wanted text := nullif(btrim(filter, E' \t\r\n'), '');
    missing text;
    made integer;
BEGIN
    PERFORM require_name('delivery template', name, 'PM043');
    PERFORM require_label('delivery template', coalesce(label, ''), 'PM043');
    IF content IS NULL OR jsonb_typeof(content) <> 'object' THEN
        RAISE EXCEPTION 'The content of delivery template "%" is %, not a JSON object.', name, coalesce(jsonb_typeof(content), 'null')
            USING ERRCODE = 'PM004', HINT = 'Give an object such as {"ios": {"title": "Hello"}, "android": {"title": "Hello"}}.';
    END IF;
    SELECT p.* INTO wrong FROM template_content_problems(content) p LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'The content of delivery template "%" cannot be used: "%": %.', name, wrong.pointer, wrong.problem
            USING ERRCODE = 'PM020', HINT = wrong.remedy;
    END IF;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'The settings of delivery template "%" are wrong: %.', name, problem
            USING ERRCODE = 'PM043', HINT = 'Settings are priority, weight, validity_seconds, one_per_user, explicit_targets, all_seeds, '
                'ambiguity_policy, max_retries, retry_schedule, retry_period_seconds and messages_per_second, with the values that '
                'create_delivery takes.';
    END IF;
    SELECT u.name INTO missing FROM unnest(applications) u(name)
    WHERE NOT EXISTS (SELECT FROM pushmta_engine.application a WHERE a.name = u.name) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'There is no application "%".', coalesce(missing, '')
            USING ERRCODE = 'PM001', HINT = 'pushmta.application lists them.';
    END IF;
    PERFORM find_exclusion_list(coalesce(u.name, '')) FROM unnest(exclude) u(name);
    IF wanted IS NOT NULL AND coalesce((settings ->> 'explicit_targets')::boolean, false) THEN
        RAISE EXCEPTION 'Delivery template "%" has explicit targets, which a filter does not choose from.', name
            USING ERRCODE = 'PM043', HINT = 'Leave out the filter, or explicit_targets of the settings.';
    ELSIF wanted IS NOT NULL THEN
        wrong := filter_problem(wanted);
        IF wrong.problem IS NOT NULL THEN
            RAISE EXCEPTION 'The target filter of delivery template "%" cannot be used: %.', name, wrong.problem
                USING ERRCODE = 'PM021', HINT = wrong.remedy;
        END IF;
    END IF;
    INSERT INTO delivery_template AS t (name, label, content, settings, applications, target_filter, exclusion_lists)
    VALUES (name, coalesce(label, ''), content, settings, coalesce(applications, '{}'), wanted, coalesce(exclude, '{}'))
    ON CONFLICT ON CONSTRAINT delivery_template_name_key DO UPDATE
        SET label = excluded.label, content = excluded.content, settings = excluded.settings, applications = excluded.applications,
            target_filter = excluded.target_filter, exclusion_lists = excluded.exclusion_lists, changed_at = now()
        WHERE coalesce(replacing, false) AND NOT t.ready_made
    RETURNING t.id INTO made;
    IF made IS NULL THEN
        RAISE EXCEPTION 'There is a delivery template "%" already.', name
            USING ERRCODE = 'PM042', HINT = 'Choose another name. A template of your own can be replaced, a ready-made one duplicated.';
    END IF;
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta.add_template(text, jsonb, text, jsonb, boolean, text[], text, text[]) IS
    'Stores a template; with replacing one of that name may be there, unless it came with the product. Applications, filter and '
    'exclusion lists are whom its deliveries go to that say nothing themselves.';

CREATE FUNCTION pushmta.duplicate_template(
    template text, new_name text, label text DEFAULT NULL, applications text[] DEFAULT NULL, filter text DEFAULT NULL,
    exclude text[] DEFAULT NULL
) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    source pushmta_engine.delivery_template := find_template(template);
BEGIN
    RETURN pushmta.add_template(new_name, source.content, coalesce(label, source.label), source.settings, false,
        coalesce(applications, source.applications), coalesce(filter, source.target_filter), coalesce(exclude, source.exclusion_lists));
END $$;
COMMENT ON FUNCTION pushmta.duplicate_template(text, text, text, text[], text, text[]) IS
    'Copies a template under another name, with another label and target where they are given. An empty filter or list is one: the copy '
    'has none.';

CREATE FUNCTION pushmta.remove_template(name text) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    source pushmta_engine.delivery_template := find_template(name);
BEGIN
    IF source.ready_made THEN
        RAISE EXCEPTION 'Delivery template "%" came with the product and stays.', name
            USING ERRCODE = 'PM042', HINT = 'Duplicate it, and change the copy.';
    END IF;
    DELETE FROM delivery_template t WHERE t.id = source.id;
END $$;
COMMENT ON FUNCTION pushmta.remove_template(text) IS
    'Takes a template away, unless it came with the product. Deliveries that were made from it stay as they are.';

CREATE FUNCTION pushmta.create_delivery_from_template(
    template text, label text, applications text[] DEFAULT NULL, content jsonb DEFAULT NULL, priority integer DEFAULT NULL,
    validity interval DEFAULT NULL, explicit_targets boolean DEFAULT NULL, one_per_user boolean DEFAULT NULL,
    ambiguity_policy text DEFAULT NULL, accounts text[] DEFAULT NULL, max_retries integer DEFAULT NULL,
    retry_period_seconds integer DEFAULT NULL, retry_schedule text DEFAULT NULL,
    messages_per_second double precision DEFAULT NULL, filter text DEFAULT NULL, exclude text[] DEFAULT NULL
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    source pushmta_engine.delivery_template := find_template(template);
    settings jsonb := source.settings;
    merged jsonb := CASE WHEN content IS NULL THEN source.content ELSE merge_json(source.content, content) END;
    is_explicit boolean := coalesce(explicit_targets, (settings ->> 'explicit_targets')::boolean, false);
    wanted text := CASE WHEN filter IS NOT NULL OR is_explicit THEN filter ELSE source.target_filter END;
    lists text[] := coalesce(exclude, nullif(source.exclusion_lists, '{}'));
    made bigint;
BEGIN
    made := pushmta.create_delivery(
        label => label, applications => coalesce(applications, source.applications), content => merged::text,
        priority => coalesce(priority, (settings ->> 'priority')::integer, 0),
        validity => coalesce(validity, make_interval(secs => (settings ->> 'validity_seconds')::double precision), interval '5 days'),
        explicit_targets => is_explicit,
        one_per_user => coalesce(one_per_user, (settings ->> 'one_per_user')::boolean, false),
        ambiguity_policy => coalesce(ambiguity_policy, settings ->> 'ambiguity_policy', 'resend'),
        accounts => accounts,
        max_retries => coalesce(max_retries, (settings ->> 'max_retries')::integer, 5),
        retry_period_seconds => coalesce(retry_period_seconds, (settings ->> 'retry_period_seconds')::integer),
        retry_schedule => coalesce(retry_schedule, settings ->> 'retry_schedule'),
        messages_per_second => coalesce(messages_per_second, (settings ->> 'messages_per_second')::double precision));
    IF settings ? 'weight' THEN
        PERFORM pushmta.set_delivery_weight(made, (settings ->> 'weight')::integer);
    END IF;
    IF wanted IS NOT NULL OR lists IS NOT NULL THEN
        PERFORM pushmta.set_target(made, wanted, lists);
    END IF;
    IF (settings ->> 'all_seeds')::boolean THEN
        PERFORM pushmta.set_seeds(made);
    END IF;
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta.create_delivery_from_template(
    text, text, text[], jsonb, integer, interval, boolean, boolean, text, text[], integer, integer, text, double precision, text,
    text[]) IS
    'Creates a delivery from a template and returns its id. The content is merged into the template''s as RFC 7396 says: a '
    'null takes a key away. What is null otherwise is as the template has it, and as create_delivery has it where that says '
    'nothing; an empty filter is none.';

CREATE VIEW pushmta.delivery_template AS
SELECT t.id, t.name, t.label, t.content, t.settings, ARRAY(SELECT DISTINCT v.name FROM pushmta_engine.application a
        JOIN pushmta_engine.service v ON v.id = a.service_id WHERE a.name = ANY(t.applications) ORDER BY v.name) AS services,
    t.applications, t.target_filter, t.exclusion_lists, t.ready_made, t.created_at, t.changed_at
FROM pushmta_engine.delivery_template t;
COMMENT ON VIEW pushmta.delivery_template IS
    'Content, settings and target that deliveries start from: see pushmta.create_delivery_from_template.';

CREATE FUNCTION pushmta_engine.token_bar(application integer, token text) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT CASE s.exclusion WHEN 2 THEN 'opted_out' WHEN 3 THEN 'quarantine' ELSE coalesce(nullif(s.disabled_reason, ''), 'disabled') END
    FROM pushmta_engine.application own
    JOIN pushmta_engine.application a ON a.platform = own.platform
    CROSS JOIN LATERAL (
        SELECT x.exclusion, x.disabled_reason
        FROM (SELECT e.* FROM subscription e WHERE e.application_id = a.id AND e.push_token = $2 AND e.enabled
            UNION ALL
            SELECT e.* FROM subscription e WHERE e.application_id = a.id AND e.push_token = $2 AND NOT e.enabled
                AND e.exclusion <> 9) x
        ORDER BY x.enabled DESC, x.registered_at DESC, x.id DESC LIMIT 1) s
    WHERE own.id = $1 AND s.exclusion <> 0
    ORDER BY a.id <> own.id, a.id LIMIT 1 $$;
COMMENT ON FUNCTION pushmta_engine.token_bar(integer, text) IS
    'What the last subscriber who had a push token has come to, in any application of the platform; null if nothing speaks '
    'against a message. Whoever opted out, or whose device is gone, gets no proof by way of a seed''s own subscription '
    'either.';

CREATE VIEW pushmta.seed AS
SELECT d.id, d.name, d.label, a.name AS application, v.name AS service, a.platform, d.subscription_id,
    right(s.push_token, 6) AS token_end, s.user_key,
    s.locale, coalesce(d.variables, '{}') AS variables, s.disabled_reason = 'seed' AS is_seed_only,
    CASE WHEN s.exclusion = 9 AND s.disabled_reason = 'seed'
        THEN coalesce(pushmta_engine.token_bar(s.application_id, s.push_token), '')
        ELSE CASE s.exclusion WHEN 0 THEN '' WHEN 2 THEN 'opted_out' WHEN 3 THEN 'quarantine' ELSE 'disabled' END END AS problem,
    d.created_at
FROM pushmta_engine.seed d
JOIN pushmta_engine.subscription s ON s.id = d.subscription_id
JOIN pushmta_engine.application a ON a.id = s.application_id
JOIN pushmta_engine.service v ON v.id = a.service_id;
COMMENT ON VIEW pushmta.seed IS 'Seed addresses: who gets proofs, and deliveries that say so, and what speaks against it.';

CREATE FUNCTION pushmta.add_seed(
    name text, application text DEFAULT NULL, subscription_id bigint DEFAULT NULL, user_key text DEFAULT NULL,
    push_token text DEFAULT NULL, variables jsonb DEFAULT NULL, label text DEFAULT '', locale text DEFAULT ''
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    app_id integer;
    app_platform text;
    token text := push_token;
    bar text;
    found_id bigint;
BEGIN
    PERFORM require_name('seed address', name, 'PM043');
    PERFORM require_label('seed address', coalesce(label, ''), 'PM043');
    IF name ~ '^[0-9]+$' OR name ~ ',' THEN
        RAISE EXCEPTION 'A seed address cannot be named "%".', name
            USING ERRCODE = 'PM043', HINT = 'Give it a name that is no number and has no comma.';
    END IF;
    IF coalesce(locale, '') !~ '^([A-Za-z][A-Za-z0-9_@=;.-]{0,63})?$' THEN
        RAISE EXCEPTION 'The locale of seed address "%" is none.', name
            USING ERRCODE = 'PM043', HINT = 'A locale is a language, and what belongs to it, as in fr or fr-CA.';
    END IF;
    IF num_nonnulls(subscription_id, user_key, push_token) <> 1 THEN
        RAISE EXCEPTION 'Seed address "%" names its subscription in % ways.', name, num_nonnulls(subscription_id, user_key, push_token)
            USING ERRCODE = 'PM043', HINT = 'Give exactly one of subscription_id, user_key and push_token.';
    END IF;
    IF variables IS NOT NULL AND jsonb_typeof(variables) <> 'object' THEN
        RAISE EXCEPTION 'The variables of seed address "%" are %, not a JSON object.', name, jsonb_typeof(variables)
            USING ERRCODE = 'PM043', HINT = 'Give an object such as {"firstName": "Ada"}.';
    END IF;
    IF subscription_id IS NULL OR application IS NOT NULL THEN
        SELECT a.id, a.platform INTO app_id, app_platform FROM pushmta_engine.application a WHERE a.name = application;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'There is no application "%".', coalesce(application, '')
                USING ERRCODE = 'PM001', HINT = 'pushmta.application lists them.';
        END IF;
    END IF;
    IF subscription_id IS NOT NULL THEN
        SELECT s.id INTO found_id FROM subscription s
        WHERE s.id = subscription_id AND (application IS NULL OR s.application_id = app_id);
    ELSIF user_key IS NOT NULL THEN
        SELECT s.id INTO found_id FROM subscription s
        WHERE s.user_key = user_key AND s.user_key <> '' AND s.application_id = app_id AND s.exclusion = 0
        ORDER BY s.registered_at DESC, s.id DESC LIMIT 1;
    ELSE
        IF app_platform = 'ios' THEN
            token := lower(token);
        END IF;
        IF token_problem(app_platform, token) IS NOT NULL THEN
            RAISE EXCEPTION 'The push token of seed address "%" cannot be one: %.', name, token_problem(app_platform, token)
                USING ERRCODE = 'PM043', HINT = 'Take the token that the app on the device prints for this platform.';
        END IF;
        bar := token_bar(app_id, token);
        IF bar IS NOT NULL THEN
            RAISE EXCEPTION 'The push token of seed address "%" is that of a subscriber to whom nothing is sent: %.', name, bar
                USING ERRCODE = 'PM045', HINT = 'A device is a test device again when its app registers it; name another one until then.';
        END IF;
        SELECT s.id INTO found_id FROM subscription s
        WHERE s.application_id = app_id AND s.push_token = token AND s.enabled;
        IF found_id IS NULL THEN
            SELECT s.id INTO found_id FROM subscription s
            WHERE s.application_id = app_id AND s.push_token = token AND NOT s.enabled AND s.disabled_reason = 'seed'
            ORDER BY s.id DESC LIMIT 1;
        END IF;
        IF found_id IS NULL THEN
            INSERT INTO subscription (application_id, push_token, enabled, disabled_reason, locale)
            VALUES (app_id, token, false, 'seed', coalesce(locale, ''))
            RETURNING id INTO found_id;
        END IF;
    END IF;
    IF found_id IS NULL THEN
        RAISE EXCEPTION 'Seed address "%": there is no such subscription.', name
            USING ERRCODE = 'PM044', HINT = 'pushmta.subscription lists them; a push token needs none.';
    END IF;
    INSERT INTO seed (name, label, subscription_id, variables) VALUES (name, coalesce(label, ''), found_id, variables)
    ON CONFLICT ON CONSTRAINT seed_name_key DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is a seed address "%" already.', name
            USING ERRCODE = 'PM042', HINT = 'Choose another name, or remove that one first.';
    END IF;
    RETURN found_id;
END $$;
COMMENT ON FUNCTION pushmta.add_seed(text, text, bigint, text, text, jsonb, text, text) IS
    'Names a test address by exactly one of subscription_id, user_key and push_token; the last two need the application. '
    'Returns the id of its subscription.';

CREATE FUNCTION pushmta.remove_seed(name text) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    freed bigint;
BEGIN
    DELETE FROM seed d WHERE d.name = name RETURNING d.subscription_id INTO freed;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no seed address "%".', name
            USING ERRCODE = 'PM041', HINT = 'pushmta.seed lists them.';
    END IF;
    UPDATE subscription s SET disabled_reason = 'seed_removed', disabled_at = now()
    WHERE s.id = freed AND s.disabled_reason = 'seed' AND NOT EXISTS (SELECT FROM seed d WHERE d.subscription_id = freed);
END $$;
COMMENT ON FUNCTION pushmta.remove_seed(text) IS
    'Takes a seed address away. A subscription that was made for it stays, as outcomes refer to it, and gets nothing any '
    'more.';

CREATE FUNCTION pushmta.proof_delivery(
    delivery bigint, seeds text[] DEFAULT NULL, subscription_ids bigint[] DEFAULT NULL, push_tokens text[] DEFAULT NULL,
    label_prefix text DEFAULT 'Proof: ', start boolean DEFAULT true
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    made bigint;
    missing text;
    bar text;
    place bigint;
    targets integer;
    proof_label text;
    found_seed record;
BEGIN
    SELECT left(coalesce(label_prefix, '') || d.label, 500) INTO proof_label FROM pushmta_engine.delivery d
    WHERE d.id = delivery;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no delivery %.', delivery
            USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery makes one.';
    END IF;
    PERFORM require_label('proof', proof_label, 'PM007');
    -- An empty list is not all there are: a caller that found nobody must not write to everybody.
    IF num_nonnulls(seeds, subscription_ids, push_tokens) = 0 THEN
        seeds := ARRAY(SELECT s.name FROM seed s JOIN subscription b ON b.id = s.subscription_id
            JOIN delivery_application a ON a.application_id = b.application_id AND a.delivery_id = delivery
            WHERE NOT (b.exclusion = 9 AND b.disabled_reason = 'seed' AND token_bar(b.application_id, b.push_token) IS NOT NULL)
            ORDER BY s.id);
    END IF;
    SELECT w.name INTO missing FROM unnest(seeds) WITH ORDINALITY w(name, n)
    WHERE NOT EXISTS (SELECT FROM seed s WHERE s.name = w.name) ORDER BY w.n LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'There is no seed address "%".', coalesce(missing, '')
            USING ERRCODE = 'PM041', HINT = 'pushmta.seed lists them; pushmta.add_seed makes one.';
    END IF;

    INSERT INTO pushmta_engine.delivery (label, content, priority, validity, target_kind, allow_duplicates, ambiguity_policy,
        max_retries, retry_period_seconds, one_time_code, parent_delivery_id, proof)
    -- Somebody waits for it, so it goes before what is merely under way. Two seeds may be one device with other values.
    SELECT proof_label, d.content, greatest(d.priority, 50::smallint), d.validity, 'explicit', true,
        d.ambiguity_policy, d.max_retries, d.retry_period_seconds, d.one_time_code, d.id, true
    FROM pushmta_engine.delivery d WHERE d.id = delivery
    RETURNING id INTO made;
    INSERT INTO delivery_application (delivery_id, application_id, external_account_id)
    SELECT made, a.application_id, a.external_account_id FROM delivery_application a WHERE a.delivery_id = delivery;

    INSERT INTO pushmta.delivery_target (delivery_id, subscription_id, variables)
    SELECT made, t.subscription_id, t.variables
    FROM (SELECT s.subscription_id, s.variables, s.id::bigint AS place, 1 AS kind FROM seed s WHERE s.name = ANY(seeds)
        UNION ALL
        SELECT DISTINCT ON (u.id) u.id, NULL, u.n, 2 FROM unnest(subscription_ids) WITH ORDINALITY u(id, n)
        UNION ALL
        SELECT DISTINCT ON (s.id) s.id, NULL, u.n, 3 FROM unnest(push_tokens) WITH ORDINALITY u(token, n)
        JOIN delivery_application a ON a.delivery_id = made
        JOIN application p ON p.id = a.application_id
        JOIN subscription s ON s.application_id = a.application_id
            AND s.push_token = CASE WHEN p.platform = 'ios' THEN lower(u.token) ELSE u.token END
            AND (s.enabled OR s.exclusion = 9 AND s.disabled_reason = 'seed')) t
    GROUP BY t.subscription_id, t.variables
    ORDER BY min(t.kind), min(t.place);
    GET DIAGNOSTICS targets = ROW_COUNT;

    -- By the name that was typed, of which the id says nothing.
    SELECT s.name, a.name AS application INTO found_seed FROM seed s
    JOIN subscription b ON b.id = s.subscription_id
    JOIN application a ON a.id = b.application_id
    WHERE s.name = ANY(seeds) AND NOT EXISTS (SELECT FROM delivery_application x
        WHERE x.delivery_id = made AND x.application_id = a.id)
    ORDER BY s.id LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'Seed address "%" is of application "%", to which delivery % does not go.', found_seed.name,
            found_seed.application, delivery
            USING ERRCODE = 'PM044', HINT = 'Name seed addresses of the delivery''s applications; pushmta.seed lists them.';
    END IF;
    SELECT t.subscription_id INTO place FROM pushmta.delivery_target t
    WHERE t.delivery_id = made AND NOT EXISTS (SELECT FROM subscription s
        JOIN delivery_application a ON a.delivery_id = made AND a.application_id = s.application_id
        WHERE s.id = t.subscription_id)
    ORDER BY t.id LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'Subscription % is of none of the applications of delivery %.', place, delivery
            USING ERRCODE = 'PM044', HINT = 'pushmta.subscription and pushmta.seed say of which applications they are.';
    END IF;
    -- Its user may have registered and opted out since it became a seed address. It is checked again when it is sent.
    SELECT s.id, token_bar(s.application_id, s.push_token) INTO place, bar
    FROM pushmta.delivery_target t JOIN subscription s ON s.id = t.subscription_id
    WHERE t.delivery_id = made AND s.exclusion = 9 AND s.disabled_reason = 'seed'
        AND token_bar(s.application_id, s.push_token) IS NOT NULL
    ORDER BY t.id LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'Subscription % of a seed address has the push token of a subscriber to whom nothing is sent: %.', place, bar
            USING ERRCODE = 'PM045', HINT = 'pushmta.seed shows which it is; remove it with pushmta.remove_seed.';
    END IF;
    -- Never the token itself: messages go to logs.
    SELECT u.n INTO place FROM unnest(push_tokens) WITH ORDINALITY u(token, n)
    WHERE NOT EXISTS (SELECT FROM pushmta.delivery_target t JOIN subscription s ON s.id = t.subscription_id
        JOIN application p ON p.id = s.application_id
        WHERE t.delivery_id = made AND s.push_token = CASE WHEN p.platform = 'ios' THEN lower(u.token) ELSE u.token END)
    ORDER BY u.n LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'Push token number % is of no enabled subscription of the applications of delivery %.', place, delivery
            USING ERRCODE = 'PM044', HINT = 'Make it a seed address with pushmta.add_seed; that needs no subscription.';
    END IF;
    IF targets = 0 THEN
        RAISE EXCEPTION 'There is nobody to send a proof of delivery % to.', delivery
            USING ERRCODE = 'PM044',
                HINT = 'Add a seed address with pushmta.add_seed, or name subscriptions of the delivery''s applications.';
    END IF;
    IF start THEN
        PERFORM pushmta.start_delivery(made);
    END IF;
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta.proof_delivery(bigint, text[], bigint[], text[], text, boolean) IS
    'Sends what a delivery will say, as it is now and in whatever state it is, to seed addresses, subscriptions, and push '
    'tokens of subscriptions; to all seed addresses of its applications if none are named. Returns the proof, a delivery of '
    'its own.';

CREATE VIEW pushmta.delivery_proof AS
SELECT d.parent_delivery_id AS delivery_id, p.id AS proof_id, p.label, p.state, p.state_reason, p.target, p.excluded, p.pending,
    p.sent, p.failed, p.ignored, p.not_applicable, p.canceled, p.unknown, p.created_at, p.started_at, p.finished_at
FROM pushmta_engine.delivery d
JOIN pushmta.delivery_progress p ON p.id = d.id
WHERE d.proof;
COMMENT ON VIEW pushmta.delivery_proof IS 'The proofs of deliveries; their messages count for no delivery but themselves.';

CREATE FUNCTION pushmta_engine.console_test_push(token bytea, moment timestamptz, idle interval, address text, application integer,
    content text, seed text, subscription bigint) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_user_of(token, moment, idle, ARRAY['operate', 'admin']);
    found_name text;
    addressee record;
    wrong record;
    made bigint;
BEGIN
    SELECT a.name INTO found_name FROM pushmta_engine.application a WHERE a.id = application;
    IF found_name IS NULL THEN
        RAISE EXCEPTION 'There is no application %.', application
            USING ERRCODE = 'PM001', HINT = 'pushmta app list shows them.';
    END IF;
    IF seed IS NOT NULL THEN
        SELECT s.subscription_id AS id, s.variables, s.problem INTO addressee FROM pushmta.seed s
        WHERE s.name = seed AND s.application = found_name;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'Application "%" has no seed address "%".', found_name, seed
                USING ERRCODE = 'PM041', HINT = 'pushmta.seed lists them; pushmta.add_seed makes one.';
        END IF;
    ELSE
        SELECT b.id, NULL::jsonb AS variables,
            CASE b.exclusion WHEN 0 THEN '' WHEN 2 THEN 'opted_out' WHEN 3 THEN 'quarantine' ELSE 'disabled' END AS problem
        INTO addressee FROM pushmta_engine.subscription b WHERE b.id = subscription AND b.application_id = application;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'Application "%" has no subscription %.', found_name, subscription
                USING ERRCODE = 'PM044', HINT = 'The page of a subscriber has its number.';
        END IF;
    END IF;
    IF addressee.problem <> '' THEN
        RAISE EXCEPTION 'Nothing is sent to this address: %.', addressee.problem
            USING ERRCODE = 'PM045', HINT = 'Choose another one.';
    END IF;
    -- What is not sent within an hour is no answer to whoever waits for it.
    made := pushmta.create_delivery(label => left('Test push: ' || found_name, 500), applications => ARRAY[found_name],
        content => content, priority => 50, validity => interval '1 hour', explicit_targets => true, max_retries => 2);
    UPDATE pushmta_engine.delivery d SET proof = true WHERE d.id = made;
    INSERT INTO pushmta.delivery_target (delivery_id, subscription_id, variables)
    VALUES (made, addressee.id, nullif(addressee.variables, '{}'));
    SELECT c.subject, c.problem, c.remedy INTO wrong FROM pushmta.check_delivery(made) c LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'The test push cannot be sent: %, %.', wrong.subject, rtrim(wrong.problem, '.')
            USING ERRCODE = 'PM114', HINT = wrong.remedy;
    END IF;
    PERFORM pushmta.start_delivery(made);
    PERFORM note_audit(who, 'application.test', found_name,
        concat_ws(', ', 'delivery ' || made, coalesce('seed address ' || seed, 'subscription ' || addressee.id)), address);
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_test_push(bytea, timestamptz, interval, text, integer, text, text, bigint) IS
    'Sends one message of an application to a seed address, or (null) to a subscription, for somebody who has signed in; returns its '
    'delivery. It goes the way of all messages, so that it shows whether credential, account and app go together.';

CREATE FUNCTION pushmta_engine.console_seeds(token bytea, moment timestamptz, idle interval, application integer, most integer)
    RETURNS TABLE (name text, label text) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
BEGIN
    PERFORM console_user_of(token, moment, idle, ARRAY['operate', 'admin']);
    RETURN QUERY SELECT s.name, s.label FROM pushmta.seed s
        WHERE s.application = (SELECT a.name FROM pushmta_engine.application a WHERE a.id = console_seeds.application)
            AND s.problem = ''
        ORDER BY s.name LIMIT most;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_seeds(bytea, timestamptz, interval, integer, integer) IS
    'The seed addresses of an application that get messages, without their tokens, for somebody who has signed in and may send a test '
    'push.';

CREATE FUNCTION pushmta_engine.console_seed_list(token bytea, moment timestamptz, idle interval, behind text, most integer)
    RETURNS TABLE (name text, label text, application text, platform text, subscription bigint, locale text, variables jsonb,
        is_seed_only boolean, problem text) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    PERFORM console_composer(token, moment, idle);
    RETURN QUERY SELECT s.name, s.label, s.application, s.platform, s.subscription_id, s.locale, s.variables, s.is_seed_only, s.problem
    FROM pushmta.seed s WHERE s.name > behind ORDER BY s.name LIMIT most;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_seed_list(bytea, timestamptz, interval, text, integer) IS
    'The seed addresses behind a name, without their tokens, for somebody who has signed in and may compose deliveries.';

CREATE FUNCTION pushmta_engine.console_add_seed(token bytea, moment timestamptz, idle interval, address text, seed text, application text,
    subscription bigint, user_key text, push_token text, variables jsonb, label text, locale text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_composer(token, moment, idle);
    found_id bigint := pushmta.add_seed(name => seed, application => application, subscription_id => subscription,
        user_key => user_key, push_token => push_token, variables => variables, label => label, locale => locale);
BEGIN
    PERFORM note_audit(who, 'seed.add', seed, 'subscription ' || found_id, address);
    RETURN found_id;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_add_seed(bytea, timestamptz, interval, text, text, text, bigint, text, text, jsonb, text,
    text) IS
    'Names a seed address for somebody who has signed in; returns the id of its subscription. On record is the id, and neither user key '
    'nor push token.';

CREATE FUNCTION pushmta_engine.console_remove_seed(token bytea, moment timestamptz, idle interval, address text, seed text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_composer(token, moment, idle);
BEGIN
    PERFORM pushmta.remove_seed(seed);
    PERFORM note_audit(who, 'seed.remove', seed, '', address);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_remove_seed(bytea, timestamptz, interval, text, text) IS
    'Takes a seed address away for somebody who has signed in.';

CREATE FUNCTION pushmta_engine.counted_lists(list integer, wanted text, behind text, most integer, most_counted integer)
    RETURNS TABLE (id integer, name text, label text, user_keys bigint, subscriptions bigint, push_tokens bigint, is_used boolean,
        changed_at timestamptz) LANGUAGE sql STABLE SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET jit = off AS $$
    SELECT l.id, l.name, l.label,
        (SELECT count(*) FROM (SELECT FROM exclusion_entry e WHERE e.list_id = l.id AND e.user_key IS NOT NULL LIMIT most_counted) c),
        (SELECT count(*) FROM (SELECT FROM exclusion_entry e WHERE e.list_id = l.id AND e.subscription_id IS NOT NULL
            LIMIT most_counted) c),
        (SELECT count(*) FROM (SELECT FROM exclusion_entry e WHERE e.list_id = l.id AND e.push_token IS NOT NULL LIMIT most_counted) c),
        EXISTS (SELECT FROM delivery_exclusion_list x WHERE x.list_id = l.id), l.changed_at
    FROM pushmta_engine.exclusion_list l
    WHERE l.name > behind AND (list IS NULL OR l.id = list) AND (wanted IS NULL OR l.name = wanted) ORDER BY l.name LIMIT most $$;
COMMENT ON FUNCTION pushmta_engine.counted_lists(integer, text, text, integer, integer) IS
    'The exclusion list of an id or a name, or (null) those behind a name, with how many are on each, counted to a limit.';

CREATE FUNCTION pushmta_engine.console_lists(token bytea, moment timestamptz, idle interval, list integer, behind text, most integer,
    most_counted integer) RETURNS TABLE (id integer, name text, label text, user_keys bigint, subscriptions bigint, push_tokens bigint,
    is_used boolean, changed_at timestamptz) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    PERFORM console_composer(token, moment, idle);
    RETURN QUERY SELECT l.* FROM counted_lists(list, NULL, behind, most, most_counted) l;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_lists(bytea, timestamptz, interval, integer, text, integer, integer) IS
    'One exclusion list, or (null) those behind a name, with how many are on each, counted to a limit, for somebody who has signed in '
    'and may compose deliveries.';

CREATE FUNCTION pushmta_engine.console_add_list(token bytea, moment timestamptz, idle interval, address text, list text, label text)
    RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_composer(token, moment, idle);
    made integer := pushmta.create_exclusion_list(list, label);
BEGIN
    PERFORM note_audit(who, 'list.add', list, label, address);
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_add_list(bytea, timestamptz, interval, text, text, text) IS
    'Makes an exclusion list for somebody who has signed in, and returns its id.';

CREATE FUNCTION pushmta_engine.list_named(list integer) RETURNS text LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    found_name text := (SELECT l.name FROM exclusion_list l WHERE l.id = list);
BEGIN
    IF found_name IS NULL THEN
        RAISE EXCEPTION 'There is no exclusion list %.', list
            USING ERRCODE = 'PM050', HINT = 'pushmta.exclusion_list lists them.';
    END IF;
    RETURN found_name;
END $$;
COMMENT ON FUNCTION pushmta_engine.list_named(integer) IS
    'The name of an exclusion list; an error if there is none.';

CREATE FUNCTION pushmta_engine.console_change_list(token bytea, moment timestamptz, idle interval, address text, list integer,
    action text, user_keys text[], subscription_ids bigint[], push_tokens text[]) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_variable
DECLARE
    who text := console_composer(token, moment, idle);
    found_name text := list_named(list);
    n bigint;
BEGIN
    n := CASE action
        WHEN 'put' THEN put_exclusions(found_name, user_keys, subscription_ids, push_tokens)
        WHEN 'take' THEN take_exclusions(found_name, user_keys, subscription_ids, push_tokens)
        WHEN 'find' THEN (SELECT count(*) FROM exclusion_entry e WHERE e.list_id = list AND (e.user_key = ANY(user_keys)
            OR e.subscription_id = ANY(subscription_ids)
            OR e.push_token = ANY(push_tokens || ARRAY(SELECT lower(t) FROM unnest(push_tokens) t WHERE t ~ '^[0-9A-Fa-f]{64,200}$'))))
        END;
    -- Who was named is not on record: rows of it are never taken away, and somebody may ask to be forgotten.
    PERFORM note_audit(who, 'list.' || action, found_name, n::text, address);
    RETURN n;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_change_list(bytea, timestamptz, interval, text, integer, text, text[], bigint[], text[]) IS
    'Adds people to an exclusion list, takes them off it, or says how many of them are on it, for somebody who has signed in; returns '
    'how many were new, were on it, or are.';

CREATE FUNCTION pushmta_engine.remove_unused_list(list integer, found_name text, most integer) RETURNS void
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
DECLARE
    is_gone boolean := false;
BEGIN
    -- Before the entries are looked at, which takes longer.
    IF NOT EXISTS (SELECT FROM delivery_exclusion_list x WHERE x.list_id = list) THEN
        -- All or nothing: a delivery that is prepared meanwhile must not find half of a list.
        IF EXISTS (SELECT FROM exclusion_entry e WHERE e.list_id = list OFFSET most) THEN
            RAISE EXCEPTION 'More than % people are on exclusion list "%": pushmta exclusion delete "%" deletes it.', most, found_name,
                found_name USING ERRCODE = 'PM135', HINT = 'pushmta exclusion delete takes the time that it needs.';
        END IF;
        BEGIN
            DELETE FROM pushmta_engine.exclusion_list l WHERE l.id = list;
            is_gone := true;
        EXCEPTION WHEN foreign_key_violation THEN
            -- One that appeared meanwhile.
            NULL;
        END;
    END IF;
    IF NOT is_gone THEN
        RAISE EXCEPTION 'Exclusion list "%" belongs to a delivery.', found_name
            USING ERRCODE = 'PM008', HINT = 'Take everybody off it instead.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.remove_unused_list(integer, text, integer) IS
    'Takes an exclusion list away that no delivery has and so many people at most are on. The caller logs it, as the deletion is in a '
    'block of its own, whose rows are not the transaction''s.';

CREATE FUNCTION pushmta_engine.console_remove_list(token bytea, moment timestamptz, idle interval, address text, list integer,
    most integer) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_composer(token, moment, idle);
    found_name text := list_named(list);
BEGIN
    PERFORM remove_unused_list(list, found_name, most);
    PERFORM note_audit(who, 'list.remove', found_name, '', address);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_remove_list(bytea, timestamptz, interval, text, integer, integer) IS
    'Takes an exclusion list away that no delivery has and so many people at most are on, for somebody who has signed in.';
