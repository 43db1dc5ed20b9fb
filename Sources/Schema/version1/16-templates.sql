-- Templates, seed addresses and proofs.

CREATE FUNCTION pushmta_engine.template_content_problems(content jsonb) RETURNS SETOF pushmta_engine.input_problem
    LANGUAGE sql STABLE SET search_path = pushmta_engine, pg_temp AS $$
    SELECT p.* FROM input_rule r, schema_problems(r.document, r.document - 'anyOf', template_content_problems.content, '') p
    WHERE r.name = 'content'
    UNION ALL
    SELECT t.* FROM text_problems(template_content_problems.content, '') t $$;
COMMENT ON FUNCTION pushmta_engine.template_content_problems(jsonb) IS
    'The problems with the keys of a template''s content. Missing parts are not checked: the delivery supplies them.';

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
COMMENT ON FUNCTION pushmta_engine.find_template(text) IS 'The template with a name; an error if there is none.';

CREATE FUNCTION pushmta_engine.check_template(name text, content jsonb, label text, settings jsonb, applications text[], wanted text,
    exclude text[]) RETURNS void LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    wrong_setting record;
    wrong pushmta_engine.input_problem;
    missing text;
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
    IF settings ? 'one_time_code' THEN
        RAISE EXCEPTION 'Delivery template "%" cannot set one_time_code.', name
            USING ERRCODE = 'PM043', HINT = 'Each delivery sets it itself, with pushmta.set_one_time_code, as it also reaches those who '
                'opted out.';
    END IF;
    SELECT p.* INTO wrong_setting FROM setting_problem(settings) p;
    IF wrong_setting.problem IS NOT NULL THEN
        RAISE EXCEPTION 'The settings of delivery template "%" cannot be used: %.', name, wrong_setting.problem
            USING ERRCODE = 'PM043', HINT = wrong_setting.remedy;
    END IF;
    SELECT u.name INTO missing FROM unnest(applications) u(name)
    WHERE NOT EXISTS (SELECT FROM pushmta_engine.application a WHERE a.name = u.name) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'There is no application "%".', coalesce(missing, '')
            USING ERRCODE = 'PM001', HINT = 'pushmta.application lists them.';
    END IF;
    PERFORM find_exclusion_list(coalesce(u.name, '')) FROM unnest(exclude) u(name);
    IF wanted IS NOT NULL AND coalesce((settings ->> 'explicit_targets')::boolean, false) THEN
        RAISE EXCEPTION 'Delivery template "%" has explicit targets, to which no filter applies.', name
            USING ERRCODE = 'PM043', HINT = 'Omit the filter, or explicit_targets in the settings.';
    ELSIF wanted IS NOT NULL THEN
        wrong := filter_problem(wanted);
        IF wrong.problem IS NOT NULL THEN
            RAISE EXCEPTION 'The target filter of delivery template "%" cannot be used: %.', name, wrong.problem
                USING ERRCODE = 'PM021', HINT = wrong.remedy;
        END IF;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.check_template(text, jsonb, text, jsonb, text[], text, text[]) IS
    'Raises an error if a delivery template has an invalid name, label, content, settings, or target.';

CREATE FUNCTION pushmta.add_template(
    name text, content jsonb, label text DEFAULT '', settings jsonb DEFAULT '{}', replacing boolean DEFAULT false,
    applications text[] DEFAULT NULL, filter text DEFAULT NULL, exclude text[] DEFAULT NULL
) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    wanted text := nullif(btrim(filter, E' \t\r\n'), '');
    made integer;
BEGIN
    PERFORM check_template(name, content, label, settings, applications, wanted, exclude);
    INSERT INTO delivery_template AS t (name, label, content, settings, applications, target_filter, exclusion_lists)
    VALUES (name, coalesce(label, ''), content, settings, coalesce(applications, '{}'), wanted, coalesce(exclude, '{}'))
    ON CONFLICT ON CONSTRAINT delivery_template_name_key DO UPDATE
        SET label = excluded.label, content = excluded.content, settings = excluded.settings, applications = excluded.applications,
            target_filter = excluded.target_filter, exclusion_lists = excluded.exclusion_lists, changed_at = now()
        WHERE coalesce(replacing, false) AND NOT t.ready_made
    RETURNING t.id INTO made;
    IF made IS NULL THEN
        RAISE EXCEPTION 'Delivery template "%" already exists.', name
            USING ERRCODE = 'PM042', HINT = 'Choose another name. You can replace your own template, and duplicate a ready-made one.';
    END IF;
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta.add_template(text, jsonb, text, jsonb, boolean, text[], text, text[]) IS
    'Stores a template. With replacing, it may replace a template of the same name, unless that came with the product. Applications, '
    'filter and exclusion lists apply to deliveries that set none themselves.';

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
    'Copies a template under another name, with the given label and target if there are any. An empty filter or list counts as given: '
    'the copy has none.';

CREATE FUNCTION pushmta.remove_template(name text) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    source pushmta_engine.delivery_template := find_template(name);
BEGIN
    IF source.ready_made THEN
        RAISE EXCEPTION 'Delivery template "%" came with the product and cannot be removed.', name
            USING ERRCODE = 'PM042', HINT = 'Duplicate it, and change the copy.';
    END IF;
    DELETE FROM delivery_template t WHERE t.id = source.id;
END $$;
COMMENT ON FUNCTION pushmta.remove_template(text) IS
    'Removes a template, unless it came with the product. Deliveries that were made from it do not change.';

CREATE FUNCTION pushmta.create_delivery_from_template(
    template text, label text, applications text[] DEFAULT NULL, content jsonb DEFAULT NULL, priority integer DEFAULT NULL,
    validity interval DEFAULT NULL, explicit_targets boolean DEFAULT NULL, one_per_user boolean DEFAULT NULL,
    ambiguity_policy text DEFAULT NULL, accounts text[] DEFAULT NULL, max_retries integer DEFAULT NULL,
    retry_period_seconds integer DEFAULT NULL, retry_schedule text DEFAULT NULL,
    messages_per_second double precision DEFAULT NULL, filter text DEFAULT NULL, exclude text[] DEFAULT NULL,
    category text DEFAULT NULL
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    source pushmta_engine.delivery_template := find_template(template);
    -- An infinite rate removes the template's limit.
    settings jsonb := (source.settings - CASE WHEN messages_per_second = 'Infinity' THEN ARRAY['messages_per_second'] ELSE '{}' END)
        || given_settings(label, priority, validity, explicit_targets, one_per_user, ambiguity_policy, max_retries,
            retry_period_seconds, retry_schedule, messages_per_second) || given_category(category);
    merged jsonb := CASE WHEN content IS NULL THEN source.content ELSE merge_json(source.content, content) END;
    is_explicit boolean := coalesce((settings ->> 'explicit_targets')::boolean, false);
    wanted text := CASE WHEN filter IS NOT NULL OR is_explicit THEN filter ELSE source.target_filter END;
    lists text[] := coalesce(exclude, nullif(source.exclusion_lists, '{}'));
    made bigint;
BEGIN
    made := make_delivery(label, coalesce(applications, source.applications), merged::text, settings, accounts, validity);
    IF wanted IS NOT NULL OR lists IS NOT NULL THEN
        PERFORM pushmta.set_target(made, wanted, lists);
    END IF;
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta.create_delivery_from_template(
    text, text, text[], jsonb, integer, interval, boolean, boolean, text, text[], integer, integer, text, double precision, text,
    text[], text) IS
    'Creates a delivery from a template and returns its id. The content is merged into the template''s as RFC 7396 says: a '
    'null takes a key away. What is null otherwise is as the template has it, and as create_delivery has it where that says '
    'nothing; an empty filter is none, and an infinite rate is no limit.';

CREATE VIEW pushmta.delivery_template AS
SELECT t.id, t.name, t.label, t.content, t.settings, ARRAY(SELECT DISTINCT v.name FROM pushmta_engine.application a
        JOIN pushmta_engine.service v ON v.id = a.service_id WHERE a.name = ANY(t.applications) ORDER BY v.name) AS services,
    t.applications, t.target_filter, t.exclusion_lists, t.ready_made, t.created_at, t.changed_at
FROM pushmta_engine.delivery_template t;
COMMENT ON VIEW pushmta.delivery_template IS
    'The content, settings and target that deliveries start from: see pushmta.create_delivery_from_template.';

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
    'Why the latest subscriber with a push token, in any application of the platform, gets no messages; null if they may. A subscriber '
    'who opted out, or whose device is gone, also gets no proof through a seed''s own subscription.';

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
COMMENT ON VIEW pushmta.seed IS 'Seed addresses: who gets proofs, and deliveries that include them, and why a seed address gets none.';

CREATE FUNCTION pushmta_engine.check_seed(name text, label text, locale text, variables jsonb, ways integer) RETURNS void
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    PERFORM require_name('seed address', name, 'PM043');
    PERFORM require_label('seed address', coalesce(label, ''), 'PM043');
    IF name ~ '^[0-9]+$' OR name ~ ',' THEN
        RAISE EXCEPTION 'A seed address cannot be named "%".', name
            USING ERRCODE = 'PM043', HINT = 'Choose a name that is not a number and has no comma.';
    END IF;
    IF coalesce(locale, '') !~ '^([A-Za-z][A-Za-z0-9_@=;.-]{0,63})?$' THEN
        RAISE EXCEPTION 'The locale of seed address "%" is not valid.', name
            USING ERRCODE = 'PM043', HINT = 'A locale is a language, optionally with a region and more, as in fr or fr-CA.';
    END IF;
    IF ways <> 1 THEN
        RAISE EXCEPTION 'Seed address "%" names its subscription in % ways.', name, ways
            USING ERRCODE = 'PM043', HINT = 'Give exactly one of subscription_id, user_key and push_token.';
    END IF;
    IF variables IS NOT NULL AND jsonb_typeof(variables) <> 'object' THEN
        RAISE EXCEPTION 'The variables of seed address "%" are %, not a JSON object.', name, jsonb_typeof(variables)
            USING ERRCODE = 'PM043', HINT = 'Give an object such as {"firstName": "Ada"}.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.check_seed(text, text, text, jsonb, integer) IS
    'Raises an error if a seed address is not valid, or does not name its subscription in exactly one way.';

CREATE FUNCTION pushmta_engine.subscription_of_seed(name text, app_id integer, app_platform text, push_token text, locale text)
    RETURNS bigint LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    token text := CASE WHEN app_platform = 'ios' THEN lower(push_token) ELSE push_token END;
    bar text;
    found_id bigint;
BEGIN
    IF token_problem(app_platform, token) IS NOT NULL THEN
        RAISE EXCEPTION 'The push token of seed address "%" is not valid: %.', name, token_problem(app_platform, token)
            USING ERRCODE = 'PM043', HINT = 'Use the token that the app on the device prints for this platform.';
    END IF;
    bar := token_bar(app_id, token);
    IF bar IS NOT NULL THEN
        RAISE EXCEPTION 'The push token of seed address "%" belongs to a subscriber to whom nothing is sent: %.', name, bar
            USING ERRCODE = 'PM045', HINT = 'The device can be used again once its app registers it; use another one until then.';
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
    RETURN found_id;
END $$;
COMMENT ON FUNCTION pushmta_engine.subscription_of_seed(text, integer, text, text, text) IS
    'The subscription for a seed address with this push token: the enabled one, or else the seed''s own, created if needed.';

CREATE FUNCTION pushmta.add_seed(
    name text, application text DEFAULT NULL, subscription_id bigint DEFAULT NULL, user_key text DEFAULT NULL,
    push_token text DEFAULT NULL, variables jsonb DEFAULT NULL, label text DEFAULT '', locale text DEFAULT ''
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    app_id integer;
    app_platform text;
    found_id bigint;
BEGIN
    PERFORM check_seed(name, label, locale, variables, num_nonnulls(subscription_id, user_key, push_token));
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
        found_id := subscription_of_seed(name, app_id, app_platform, push_token, locale);
    END IF;
    IF found_id IS NULL THEN
        RAISE EXCEPTION 'The subscription of seed address "%" does not exist.', name
            USING ERRCODE = 'PM044', HINT = 'pushmta.subscription lists them; a push token needs none.';
    END IF;
    INSERT INTO seed (name, label, subscription_id, variables) VALUES (name, coalesce(label, ''), found_id, variables)
    ON CONFLICT ON CONSTRAINT seed_name_key DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'Seed address "%" already exists.', name
            USING ERRCODE = 'PM042', HINT = 'Choose another name, or remove that one first.';
    END IF;
    RETURN found_id;
END $$;
COMMENT ON FUNCTION pushmta.add_seed(text, text, bigint, text, text, jsonb, text, text) IS
    'Adds a seed address by exactly one of subscription_id, user_key and push_token; the last two need the application. Returns the id '
    'of its subscription.';

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
    'Removes a seed address. A subscription that was made for it stays, as outcomes refer to it, but gets no more messages.';

CREATE FUNCTION pushmta_engine.make_proof(delivery bigint, proof_label text, variant integer) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    made bigint;
BEGIN
    INSERT INTO pushmta_engine.delivery (label, content, priority, validity, target_kind, allow_duplicates, ambiguity_policy,
        max_retries, retry_period_seconds, one_time_code, category_id, parent_delivery_id, proof)
    -- A user waits for the proof, so it precedes running deliveries. Two seeds may be one device with different values.
    SELECT proof_label, coalesce((SELECT c.content FROM experiment_cell c WHERE c.delivery_id = d.id AND c.cell = variant), d.content),
        greatest(d.priority, 50::smallint), d.validity, 'explicit', true,
        d.ambiguity_policy, d.max_retries, d.retry_period_seconds, d.one_time_code, d.category_id, d.id, true
    FROM pushmta_engine.delivery d WHERE d.id = delivery
    RETURNING id INTO made;
    INSERT INTO delivery_application (delivery_id, application_id, external_account_id)
    SELECT made, a.application_id, a.external_account_id FROM delivery_application a WHERE a.delivery_id = delivery;
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta_engine.make_proof(bigint, text, integer) IS
    'Creates the proof of a delivery, or of a variant of its experiment, without targets, and returns its id.';

CREATE FUNCTION pushmta_engine.check_proof(made bigint, delivery bigint, seeds text[], push_tokens text[]) RETURNS void
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_seed record;
    place bigint;
    bar text;
BEGIN
    -- The error shows the name that the caller gave, not an id.
    SELECT s.name, a.name AS application INTO found_seed FROM seed s
    JOIN subscription b ON b.id = s.subscription_id
    JOIN application a ON a.id = b.application_id
    WHERE s.name = ANY(seeds) AND NOT EXISTS (SELECT FROM delivery_application x
        WHERE x.delivery_id = made AND x.application_id = a.id)
    ORDER BY s.id LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'Seed address "%" belongs to application "%", to which delivery % does not go.', found_seed.name,
            found_seed.application, delivery
            USING ERRCODE = 'PM044', HINT = 'Name seed addresses of the delivery''s applications; pushmta.seed lists them.';
    END IF;
    SELECT t.subscription_id INTO place FROM pushmta.delivery_target t
    WHERE t.delivery_id = made AND NOT EXISTS (SELECT FROM subscription s
        JOIN delivery_application a ON a.delivery_id = made AND a.application_id = s.application_id
        WHERE s.id = t.subscription_id)
    ORDER BY t.id LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'Subscription % belongs to none of the applications of delivery %.', place, delivery
            USING ERRCODE = 'PM044', HINT = 'pushmta.subscription and pushmta.seed show their applications.';
    END IF;
    -- Its user may have registered and opted out since it became a seed address. This is checked again when the proof is sent.
    SELECT s.id, token_bar(s.application_id, s.push_token) INTO place, bar
    FROM pushmta.delivery_target t JOIN subscription s ON s.id = t.subscription_id
    WHERE t.delivery_id = made AND s.exclusion = 9 AND s.disabled_reason = 'seed'
        AND token_bar(s.application_id, s.push_token) IS NOT NULL
    ORDER BY t.id LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'Subscription % of a seed address has the push token of a subscriber to whom nothing is sent: %.', place, bar
            USING ERRCODE = 'PM045', HINT = 'pushmta.seed shows which it is; remove it with pushmta.remove_seed.';
    END IF;
    -- The error never contains the token itself, as errors are logged.
    SELECT u.n INTO place FROM unnest(push_tokens) WITH ORDINALITY u(token, n)
    WHERE NOT EXISTS (SELECT FROM pushmta.delivery_target t JOIN subscription s ON s.id = t.subscription_id
        JOIN application p ON p.id = s.application_id
        WHERE t.delivery_id = made AND s.push_token = CASE WHEN p.platform = 'ios' THEN lower(u.token) ELSE u.token END)
    ORDER BY u.n LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'Push token number % belongs to no enabled subscription of the applications of delivery %.', place, delivery
            USING ERRCODE = 'PM044', HINT = 'Make it a seed address with pushmta.add_seed; that needs no subscription.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.check_proof(bigint, bigint, text[], text[]) IS
    'Raises an error if a target of a delivery''s proof belongs to another application, if nothing may be sent to it, or if no '
    'subscription has a push token.';

CREATE FUNCTION pushmta.proof_delivery(
    delivery bigint, seeds text[] DEFAULT NULL, subscription_ids bigint[] DEFAULT NULL, push_tokens text[] DEFAULT NULL,
    label_prefix text DEFAULT 'Proof: ', start boolean DEFAULT true, variant integer DEFAULT NULL
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    made bigint;
    missing text;
    targets integer;
    proof_label text;
BEGIN
    SELECT left(coalesce(label_prefix, '') || d.label, 500) INTO proof_label FROM pushmta_engine.delivery d
    WHERE d.id = delivery;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no delivery %.', delivery
            USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery makes one.';
    END IF;
    proof_label := left(proof_label || coalesce(', ' || require_variant(delivery, variant), ''), 500);
    PERFORM require_label('proof', proof_label, 'PM007');
    -- An empty list does not mean all: a caller that found no recipient must not send to everyone.
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

    made := make_proof(delivery, proof_label, variant);
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
    PERFORM check_proof(made, delivery, seeds, push_tokens);
    IF targets = 0 THEN
        RAISE EXCEPTION 'The proof of delivery % has no recipient.', delivery
            USING ERRCODE = 'PM044',
                HINT = 'Add a seed address with pushmta.add_seed, or name subscriptions of the delivery''s applications.';
    END IF;
    IF start THEN
        PERFORM pushmta.start_delivery(made);
    END IF;
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta.proof_delivery(bigint, text[], bigint[], text[], text, boolean, integer) IS
    'Sends a proof of a delivery in its current form and any state, or of a variant of its experiment, to seed addresses, subscriptions, '
    'and push tokens of subscriptions; if none are named, to all seed addresses of its applications. Returns the proof, a separate '
    'delivery.';

CREATE VIEW pushmta.delivery_proof AS
SELECT d.parent_delivery_id AS delivery_id, p.id AS proof_id, p.label, p.state, p.state_reason, p.target, p.excluded, p.pending,
    p.sent, p.failed, p.ignored, p.not_applicable, p.canceled, p.unknown, p.created_at, p.started_at, p.finished_at
FROM pushmta_engine.delivery d
JOIN pushmta.delivery_progress p ON p.id = d.id
WHERE d.proof;
COMMENT ON VIEW pushmta.delivery_proof IS 'The proofs of deliveries. Their messages count only for the proof, not for the delivery.';

CREATE FUNCTION pushmta_engine.console_test_push(caller pushmta_engine.console_caller, application integer, content text, seed text,
    subscription bigint) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_user_of(caller, ARRAY['operate', 'admin']);
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
                USING ERRCODE = 'PM044', HINT = 'A subscriber''s page shows the number.';
        END IF;
    END IF;
    IF addressee.problem <> '' THEN
        RAISE EXCEPTION 'Nothing is sent to this address: %.', addressee.problem
            USING ERRCODE = 'PM045', HINT = 'Choose another one.';
    END IF;
    -- A test push that takes more than an hour is useless to the waiting user.
    made := pushmta.create_delivery(label => left('Test push: ' || found_name, 500), applications => ARRAY[found_name],
        content => content, priority => 50, validity => interval '1 hour', explicit_targets => true, max_retries => 2);
    -- It is about nothing that its recipient may have opted out of.
    UPDATE pushmta_engine.delivery d SET proof = true, category_id = NULL WHERE d.id = made;
    INSERT INTO pushmta.delivery_target (delivery_id, subscription_id, variables)
    VALUES (made, addressee.id, nullif(addressee.variables, '{}'));
    SELECT c.subject, c.problem, c.remedy INTO wrong FROM pushmta.check_delivery(made) c LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'The test push cannot be sent: %, %.', wrong.subject, rtrim(wrong.problem, '.')
            USING ERRCODE = 'PM114', HINT = wrong.remedy;
    END IF;
    PERFORM pushmta.start_delivery(made);
    PERFORM note_audit(who, 'application.test', found_name,
        concat_ws(', ', 'delivery ' || made, coalesce('seed address ' || seed, 'subscription ' || addressee.id)), caller.address);
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_test_push(pushmta_engine.console_caller, integer, text, text, bigint) IS
    'Sends one message of an application to a seed address or, if that is null, to a subscription, for a signed-in user; returns its '
    'delivery. It takes the path of all messages, so it shows whether credential, account and app match.';

CREATE FUNCTION pushmta_engine.console_seeds(caller pushmta_engine.console_caller, application integer, most integer)
    RETURNS TABLE (name text, label text) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
BEGIN
    PERFORM console_user_of(caller, ARRAY['operate', 'admin']);
    RETURN QUERY SELECT s.name, s.label FROM pushmta.seed s
        WHERE s.application = (SELECT a.name FROM pushmta_engine.application a WHERE a.id = console_seeds.application)
            AND s.problem = ''
        ORDER BY s.name LIMIT most;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_seeds(pushmta_engine.console_caller, integer, integer) IS
    'The seed addresses of an application that get messages, without their tokens, for a signed-in user who may send a test push.';

CREATE FUNCTION pushmta_engine.console_seed_list(caller pushmta_engine.console_caller, behind text, most integer) RETURNS TABLE (name text,
    label text, application text, platform text, subscription bigint, locale text, variables jsonb, is_seed_only boolean, problem text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    PERFORM console_composer(caller);
    RETURN QUERY SELECT s.name, s.label, s.application, s.platform, s.subscription_id, s.locale, s.variables, s.is_seed_only, s.problem
    FROM pushmta.seed s WHERE s.name > behind ORDER BY s.name LIMIT most;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_seed_list(pushmta_engine.console_caller, text, integer) IS
    'The seed addresses after a name, without their tokens, for a signed-in user who may compose deliveries.';

CREATE FUNCTION pushmta_engine.console_add_seed(caller pushmta_engine.console_caller, seed text, application text, subscription bigint,
    user_key text, push_token text, variables jsonb, label text, locale text) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_composer(caller);
    found_id bigint := pushmta.add_seed(name => seed, application => application, subscription_id => subscription,
        user_key => user_key, push_token => push_token, variables => variables, label => label, locale => locale);
BEGIN
    PERFORM note_audit(who, 'seed.add', seed, 'subscription ' || found_id, caller.address);
    RETURN found_id;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_add_seed(pushmta_engine.console_caller, text, text, bigint, text, text, jsonb, text, text) IS
    'Adds a seed address for a signed-in user; returns the id of its subscription. The audit log has the id, but neither user key nor '
    'push token.';

CREATE FUNCTION pushmta_engine.console_remove_seed(caller pushmta_engine.console_caller, seed text) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_composer(caller);
BEGIN
    PERFORM pushmta.remove_seed(seed);
    PERFORM note_audit(who, 'seed.remove', seed, '', caller.address);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_remove_seed(pushmta_engine.console_caller, text) IS
    'Removes a seed address for a signed-in user.';

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
    'The exclusion list with an id or a name, or (null) those after a name, with their numbers of entries, counted up to a limit.';

CREATE FUNCTION pushmta_engine.console_lists(caller pushmta_engine.console_caller, list integer, behind text, most integer,
    most_counted integer) RETURNS TABLE (id integer, name text, label text, user_keys bigint, subscriptions bigint, push_tokens bigint,
    is_used boolean, changed_at timestamptz) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    PERFORM console_composer(caller);
    RETURN QUERY SELECT l.* FROM counted_lists(list, NULL, behind, most, most_counted) l;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_lists(pushmta_engine.console_caller, integer, text, integer, integer) IS
    'One exclusion list, or (null) those after a name, with their numbers of entries, counted up to a limit, for a signed-in user who '
    'may compose deliveries.';

CREATE FUNCTION pushmta_engine.console_add_list(caller pushmta_engine.console_caller, list text, label text) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_composer(caller);
    made integer := pushmta.create_exclusion_list(list, label);
BEGIN
    PERFORM note_audit(who, 'list.add', list, label, caller.address);
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_add_list(pushmta_engine.console_caller, text, text) IS
    'Creates an exclusion list for a signed-in user, and returns its id.';

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

CREATE FUNCTION pushmta_engine.console_change_list(caller pushmta_engine.console_caller, list integer, action text, user_keys text[],
    subscription_ids bigint[], push_tokens text[]) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_variable
DECLARE
    who text := console_composer(caller);
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
    -- The audit log does not name the recipients: its rows are never removed, and a person may ask for erasure.
    PERFORM note_audit(who, 'list.' || action, found_name, n::text, caller.address);
    RETURN n;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_change_list(pushmta_engine.console_caller, integer, text, text[], bigint[], text[]) IS
    'Adds recipients to an exclusion list (put), removes them (take), or looks them up (find), for a signed-in user. Returns how many '
    'were added, removed or found.';

CREATE FUNCTION pushmta_engine.remove_unused_list(list integer, found_name text, most integer) RETURNS void
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
DECLARE
    is_gone boolean := false;
BEGIN
    -- Checked before the entries, which takes longer.
    IF NOT EXISTS (SELECT FROM delivery_exclusion_list x WHERE x.list_id = list) THEN
        -- All or nothing: a delivery that is prepared meanwhile must not see half of a list.
        IF EXISTS (SELECT FROM exclusion_entry e WHERE e.list_id = list OFFSET most) THEN
            RAISE EXCEPTION 'More than % entries are on exclusion list "%": delete it with pushmta exclusion delete "%".', most, found_name,
                found_name USING ERRCODE = 'PM135', HINT = 'pushmta exclusion delete has no time limit.';
        END IF;
        BEGIN
            DELETE FROM pushmta_engine.exclusion_list l WHERE l.id = list;
            is_gone := true;
        EXCEPTION WHEN foreign_key_violation THEN
            -- A delivery that was added meanwhile.
            NULL;
        END;
    END IF;
    IF NOT is_gone THEN
        RAISE EXCEPTION 'Exclusion list "%" belongs to a delivery.', found_name
            USING ERRCODE = 'PM008', HINT = 'Remove all its entries instead.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.remove_unused_list(integer, text, integer) IS
    'Removes an exclusion list that no delivery uses and that has at most this many entries. The caller writes the audit log, because '
    'the deletion runs in its own block, whose rows do not count as the transaction''s.';

CREATE FUNCTION pushmta_engine.console_remove_list(caller pushmta_engine.console_caller, list integer, most integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_composer(caller);
    found_name text := list_named(list);
BEGIN
    PERFORM remove_unused_list(list, found_name, most);
    PERFORM note_audit(who, 'list.remove', found_name, '', caller.address);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_remove_list(pushmta_engine.console_caller, integer, integer) IS
    'Removes an exclusion list that no delivery uses and that has at most this many entries, for a signed-in user.';
