-- Checks of a content or a filter before a delivery is prepared, by the rules that the program writes here.

CREATE TABLE pushmta_engine.input_rule (
    name text PRIMARY KEY,
    document jsonb NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE pushmta_engine.input_rule IS
    'The program''s rules for checking inputs: content and delivery are JSON Schemas; content_rules are rules across several keys; '
    'filter has fields and limits. Written by pushmta migrate.';

CREATE TYPE pushmta_engine.input_problem AS (pointer text, problem text, remedy text);
COMMENT ON TYPE pushmta_engine.input_problem IS 'A problem of an input: where, as a JSON Pointer; what; and what to do about it.';

CREATE FUNCTION pushmta_engine.object_problems(root jsonb, rule jsonb, value jsonb, place text)
    RETURNS SETOF pushmta_engine.input_problem LANGUAGE plpgsql IMMUTABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    -- More problems than these help no user.
    most CONSTANT integer := 100;
    inner_rule jsonb;
    known text;
    unknown integer := 0;
    entry record;
BEGIN
    FOR entry IN SELECT e.key, e.value, place || '/' || replace(replace(left(e.key, 200), '~', '~0'), '/', '~1') AS place
        FROM jsonb_each(value) e LOOP
        EXIT WHEN unknown >= most;
        IF entry.key !~ (rule #>> '{propertyNames,pattern}') OR length(entry.key) > (rule #>> '{propertyNames,maxLength}')::integer THEN
            RETURN NEXT ROW(entry.place, 'it cannot have this name',
                coalesce(rule #>> '{propertyNames,$comment}', 'choose another name'))::input_problem;
            unknown := unknown + 1;
            CONTINUE;
        END IF;
        inner_rule := coalesce(rule #> ARRAY['properties', entry.key], rule -> 'additionalProperties');
        IF inner_rule <> 'false' THEN
            RETURN QUERY SELECT * FROM schema_problems(root, inner_rule, entry.value, entry.place);
        -- A null is the same as no key, but an unknown key stays unknown.
        ELSIF inner_rule = 'false' THEN
            known := coalesce(known, (SELECT string_agg(k, ', ' ORDER BY k) FROM jsonb_object_keys(rule -> 'properties') k));
            RETURN NEXT ROW(entry.place, 'this key is unknown', 'known keys are ' || known)::input_problem;
            unknown := unknown + 1;
        END IF;
    END LOOP;
    RETURN QUERY SELECT place || '/' || r.key, 'it is missing', coalesce(rule #>> ARRAY['properties', r.key, 'description'], 'write it')
        FROM jsonb_array_elements_text(rule -> 'required') r(key) WHERE NOT value ? r.key;
END $$;
COMMENT ON FUNCTION pushmta_engine.object_problems(jsonb, jsonb, jsonb, text) IS
    'The problems with the keys and values of an object, by the object''s rule; a part of schema_problems.';

CREATE FUNCTION pushmta_engine.schema_problems(root jsonb, rule jsonb, value jsonb, place text)
    RETURNS SETOF pushmta_engine.input_problem LANGUAGE plpgsql IMMUTABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    kind CONSTANT text := jsonb_typeof(value);
    plain CONSTANT text := CASE kind WHEN 'string' THEN value #>> '{}' WHEN 'number' THEN value::text END;
    number CONSTANT numeric := CASE kind WHEN 'number' THEN value::numeric END;
    -- More problems than these help no user.
    most CONSTANT integer := 100;
    allowed jsonb;
BEGIN
    IF rule ? '$ref' THEN
        rule := root #> string_to_array(substr(rule ->> '$ref', 3), '/');
    END IF;
    allowed := rule -> 'type';
    -- A whole number may be written in any way: in JSON Schema, 5.0 is an integer.
    IF NOT (allowed ? kind OR allowed ? 'integer' AND coalesce(number % 1 = 0, false)) THEN
        RETURN NEXT ROW(place, 'it is ' || CASE kind WHEN 'null' THEN 'null' WHEN 'number' THEN 'the number ' || left(plain, 64)
                WHEN 'array' THEN 'an array' WHEN 'object' THEN 'an object' ELSE 'a ' || kind END,
            coalesce(rule ->> '$comment', 'write ' || (SELECT string_agg(CASE t.type WHEN 'integer' THEN 'a whole number'
                    WHEN 'boolean' THEN 'true or false'
                    WHEN 'array' THEN 'an array' WHEN 'object' THEN 'an object' ELSE 'a ' || t.type END, ' or ')
                FROM jsonb_array_elements_text(
                    CASE jsonb_typeof(allowed) WHEN 'array' THEN allowed ELSE jsonb_build_array(allowed) END) t(type)
                WHERE t.type <> 'null')))::input_problem;
        RETURN;
    END IF;
    IF NOT jsonb_build_array(value) <@ (rule -> 'enum') OR value <> rule -> 'const' THEN
        RETURN NEXT ROW(place, left(value::text, 64) || ' is not allowed', coalesce(rule ->> '$comment', 'write '
            || coalesce(rule ->> 'const', (SELECT string_agg(t, ', ') FROM jsonb_array_elements_text(rule -> 'enum') t))))::input_problem;
    END IF;

    CASE kind
    WHEN 'number' THEN
        IF number < (rule ->> 'minimum')::numeric OR number > (rule ->> 'maximum')::numeric THEN
            RETURN NEXT ROW(place, left(plain, 64) || ' is out of range', coalesce(rule ->> '$comment', 'write a number'
                || coalesce(' from ' || (rule ->> 'minimum'), '') || coalesce(' to ' || (rule ->> 'maximum'), '')))::input_problem;
        END IF;
    WHEN 'string' THEN
        IF plain !~ (rule ->> 'pattern') OR length(plain) < (rule ->> 'minLength')::integer
            OR length(plain) > (rule ->> 'maxLength')::integer THEN
            RETURN NEXT ROW(place, CASE WHEN plain = '' THEN 'it is empty' ELSE format('"%s" has another form', left(plain, 64)) END,
                coalesce(rule ->> '$comment', 'the schema of contents has its form'))::input_problem;
        END IF;
    WHEN 'array' THEN
        IF jsonb_array_length(value) < (rule ->> 'minItems')::integer OR jsonb_array_length(value) > (rule ->> 'maxItems')::integer THEN
            RETURN NEXT ROW(place, format('it has %s entries', jsonb_array_length(value)),
                format('write %s to %s', rule ->> 'minItems', rule ->> 'maxItems'))::input_problem;
        END IF;
        IF rule ? 'items' THEN
            RETURN QUERY SELECT p.* FROM jsonb_array_elements(value) WITH ORDINALITY e(element, n),
                schema_problems(root, rule -> 'items', e.element, place || '/' || e.n - 1) p LIMIT most;
        END IF;
    WHEN 'object' THEN
        RETURN QUERY SELECT * FROM object_problems(root, rule, value, place);
    ELSE NULL;
    END CASE;
    RETURN QUERY SELECT p.* FROM jsonb_array_elements(rule -> 'allOf') a(branch), schema_problems(root, a.branch -> 'then', value, place) p
        WHERE NOT EXISTS (SELECT FROM schema_problems(root, a.branch -> 'if', value, place));
END $$;
COMMENT ON FUNCTION pushmta_engine.schema_problems(jsonb, jsonb, jsonb, text) IS
    'The problems of a value by a JSON Schema. Keywords that this function does not know, such as those of a newer program, are ignored. '
    '`place` is the value''s JSON Pointer (RFC 6901).';

CREATE FUNCTION pushmta_engine.text_problems(content jsonb, place text) RETURNS SETOF pushmta_engine.input_problem
    LANGUAGE sql STABLE SET search_path = pushmta_engine, pg_temp AS $$
    WITH RECURSIVE found (place, value, depth) AS (
        SELECT text_problems.place, text_problems.content, 0 WHERE strpos(text_problems.content::text, '{{') > 0
        UNION ALL
        SELECT f.place || '/' || replace(replace(left(c.name, 200), '~', '~0'), '/', '~1'), c.value, f.depth + 1
        FROM found f CROSS JOIN LATERAL (
            SELECT e.key, e.value FROM jsonb_each(CASE jsonb_typeof(f.value) WHEN 'object' THEN f.value ELSE '{}' END) e
            UNION ALL
            SELECT (e.n - 1)::text, e.value
            FROM jsonb_array_elements(CASE jsonb_typeof(f.value) WHEN 'array' THEN f.value ELSE '[]' END) WITH ORDINALITY e(value, n)
        ) c(name, value)
        -- Deeper values are checked when the delivery is prepared: each step copies everything below it.
        WHERE f.depth < 16
    )
    SELECT f.place, r.field ->> 'problem', r.field ->> 'remedy'
    FROM found f, (SELECT i.document -> 'field' FROM input_rule i WHERE i.name = 'content_rules') r(field)
    WHERE jsonb_typeof(f.value) = 'string' AND strpos(f.value #>> '{}', '{{') > 0 AND f.value #>> '{}' !~ (r.field ->> 'closed') $$;
COMMENT ON FUNCTION pushmta_engine.text_problems(jsonb, text) IS
    'The texts in the section of a content at this JSON Pointer that begin a field and do not end it.';

CREATE FUNCTION pushmta_engine.section_problems(section jsonb, rules jsonb, place text) RETURNS SETOF pushmta_engine.input_problem
    LANGUAGE sql IMMUTABLE SET search_path = pushmta_engine, pg_temp AS $$
    SELECT section_problems.place || r.at, r.problem, r.remedy
    FROM jsonb_to_recordset(section_problems.rules) AS r(at text, problem text, remedy text, "all" text[], "any" text[], "none" text[],
            equal jsonb, unequal jsonb, variable text),
        (SELECT ARRAY(SELECT e.key FROM jsonb_each(section_problems.section) e
            WHERE e.value NOT IN ('null', '""', '[]', '{}'))) said(keys)
    WHERE r."all" <@ said.keys AND (r."any" = '{}' OR r."any" && said.keys) AND NOT r."none" && said.keys
        AND NOT EXISTS (SELECT FROM jsonb_array_elements(r.equal) v(pair) WHERE NOT section_problems.section @> v.pair)
        AND NOT EXISTS (SELECT FROM jsonb_array_elements(r.unequal) v(pair) WHERE section_problems.section @> v.pair)
        AND (r.variable IS NULL OR section_problems.section -> 'variables' ? r.variable) $$;
COMMENT ON FUNCTION pushmta_engine.section_problems(jsonb, jsonb, text) IS
    'The rules across several keys that the section of a content at this JSON Pointer breaks. The rules are the program''s '
    '(ContentRule).';

CREATE FUNCTION pushmta_engine.variant_section(main jsonb, variant jsonb, inheritance jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
        SELECT CASE WHEN jsonb_typeof(main) IS DISTINCT FROM 'object'
            OR EXISTS (SELECT FROM jsonb_array_elements_text(inheritance -> 'kinds') k
                WHERE coalesce(variant -> k, 'null') <> 'null'
                AND (CASE k WHEN 'template' THEN variant -> k -> 'type' ELSE variant -> k END)
                    IS DISTINCT FROM (CASE k WHEN 'template' THEN main -> k -> 'type' ELSE main -> k END))
            THEN variant
            ELSE (main - ARRAY(SELECT o.key FROM jsonb_each(inheritance -> 'others') w, jsonb_array_elements_text(w.value) o(key)
                    WHERE coalesce(variant -> w.key, 'null') <> 'null')) || variant || CASE
                WHEN jsonb_typeof(main -> 'variables') = 'object' AND jsonb_typeof(variant -> 'variables') = 'object'
                THEN jsonb_build_object('variables', (main -> 'variables') || (variant -> 'variables')) ELSE '{}' END END $$;
COMMENT ON FUNCTION pushmta_engine.variant_section(jsonb, jsonb, jsonb) IS
    'A locale''s variant with what it inherits from the default section, by the program''s rules of inheritance.';

CREATE FUNCTION pushmta_engine.rule_problems(content jsonb) RETURNS SETOF pushmta_engine.input_problem LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    WITH section AS (
        SELECT s.part -> u.platform AS own, u.platform, s.place || '/' || u.platform AS place, s.place <> '' AS is_variant
        FROM (
            SELECT rule_problems.content AS part, '' AS place
            UNION ALL
            SELECT l.value, '/locales/' || replace(replace(left(l.key, 200), '~', '~0'), '/', '~1')
            FROM jsonb_each(CASE jsonb_typeof(rule_problems.content -> 'locales') WHEN 'object' THEN rule_problems.content -> 'locales'
                ELSE '{}' END) l
        ) s, unnest(ARRAY['ios', 'android']) u(platform)
        WHERE jsonb_typeof(s.part -> u.platform) = 'object'
    ), found AS (
        SELECT s.*, p.pointer, p.problem, p.remedy
        FROM section s, input_rule r, section_problems(CASE WHEN s.is_variant
            THEN variant_section(rule_problems.content -> s.platform, s.own, r.document -> 'inheritance') ELSE s.own END,
            r.document #> ARRAY['sections', s.platform], s.place) p
        WHERE r.name = 'content_rules'
    )
    -- A problem that the default section has too is reported only there.
    SELECT f.pointer, f.problem, f.remedy FROM found f WHERE NOT f.is_variant OR NOT EXISTS (SELECT FROM found m
        WHERE NOT m.is_variant AND m.platform = f.platform AND m.problem = f.problem)
    UNION ALL
    SELECT t.* FROM section s, text_problems(s.own, s.place) t $$;
COMMENT ON FUNCTION pushmta_engine.rule_problems(jsonb) IS
    'Problems in the sections of a content that no single key shows: broken rules across several keys, and fields that are never closed.';

CREATE FUNCTION pushmta_engine.content_problems(content jsonb, platforms text[])
    RETURNS SETOF pushmta_engine.input_problem LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    -- Concatenated to build an uncompressed value; the stored one would be decompressed on each access.
    rule jsonb := (SELECT r.document || '{}' FROM input_rule r WHERE r.name = 'content');
BEGIN
    IF jsonb_typeof(content) IS DISTINCT FROM 'object' THEN
        RETURN NEXT ROW('', 'it is not a JSON object',
            'write an object such as {"ios": {"title": "Hello"}}')::input_problem;
        RETURN;
    ELSIF octet_length(content::text) > 1048576 THEN
        RETURN NEXT ROW('', format('it has %s bytes', octet_length(content::text)), 'shorten it to at most 1,048,576')::input_problem;
        RETURN;
    END IF;
    RETURN QUERY SELECT '/' || u, format('the delivery goes to an application on %s, and the content has no section for it', u),
        format('add the section "%s", or leave the application out', u)
        FROM unnest(platforms) u WHERE jsonb_typeof(content -> u) IS DISTINCT FROM 'object';
    IF rule IS NOT NULL THEN
        RETURN QUERY SELECT * FROM schema_problems(rule, rule - 'anyOf', content, '') LIMIT 100;
    END IF;
    -- Rules across several keys are checked only if each key is valid on its own.
    IF NOT FOUND THEN
        RETURN QUERY SELECT p.* FROM rule_problems(content) p LIMIT 100;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.content_problems(jsonb, text[]) IS
    'All problems of a content that are known without rendering it. It needs a section for each of these platforms.';

CREATE FUNCTION pushmta_engine.refuse_content(label text, problems pushmta_engine.input_problem[]) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'The content of delivery "%" cannot be sent: "%": %.', label, problems[1].pointer, problems[1].problem
            || CASE WHEN cardinality(problems) > 1 THEN format(' (and %s more)', cardinality(problems) - 1) ELSE '' END
        USING ERRCODE = 'PM020', HINT = problems[1].remedy,
            DETAIL = (SELECT string_agg(format('"%s": %s; %s', p.pointer, p.problem, p.remedy), E'\n')
                FROM (SELECT * FROM unnest(problems) LIMIT 20) p);
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_content(text, pushmta_engine.input_problem[]) IS
    'Raises an error with a content''s first problem; the others are in the detail.';

CREATE FUNCTION pushmta_engine.delivery_problems(delivery bigint) RETURNS TABLE (subject text, problem pushmta_engine.input_problem)
    LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
DECLARE
    whole record;
BEGIN
    SELECT d.content, d.target_filter INTO whole FROM pushmta_engine.delivery d
    WHERE d.id = delivery_problems.delivery;
    RETURN QUERY SELECT 'content', p FROM content_problems(whole.content, ARRAY(SELECT DISTINCT a.platform
        FROM delivery_application x JOIN application a ON a.id = x.application_id WHERE x.delivery_id = delivery_problems.delivery)) p;
    IF whole.target_filter IS NOT NULL THEN
        RETURN QUERY SELECT 'filter', p FROM filter_problem(delivery_problems.delivery, whole.target_filter) p WHERE p.problem IS NOT NULL;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.delivery_problems(bigint) IS
    'The problems of a delivery that are known before it is prepared. The preparation checks values of fields, sizes, and an '
    'application''s declarations.';

CREATE FUNCTION pushmta_engine.check_start() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    problems pushmta_engine.input_problem[] := ARRAY(SELECT p.problem FROM delivery_problems(NEW.id) p WHERE p.subject = 'content');
    wrong_filter pushmta_engine.input_problem;
BEGIN
    IF cardinality(problems) > 0 THEN
        PERFORM refuse_content(NEW.label, problems);
    END IF;
    SELECT (p.problem).* INTO wrong_filter FROM delivery_problems(NEW.id) p WHERE p.subject = 'filter';
    IF FOUND THEN
        RAISE EXCEPTION 'The target filter of delivery % cannot be used: %.', NEW.id, wrong_filter.problem
            USING ERRCODE = 'PM021', HINT = wrong_filter.remedy;
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION pushmta_engine.check_start() IS
    'Checks a delivery at its start, whatever made or starts it: the delivery and the rules may have changed since it was created.';

CREATE TRIGGER delivery_start BEFORE UPDATE OF state ON pushmta_engine.delivery
    FOR EACH ROW WHEN (OLD.state = 'editing' AND NEW.state IN ('analysing', 'pending', 'in_progress')
        OR OLD.state IN ('analysing', 'ready') AND NEW.state IN ('pending', 'preparing'))
    EXECUTE FUNCTION pushmta_engine.check_start();

-- The problems of a content that are known without rendering it; no row if there are none. With applications, the content needs a section
-- for each of their platforms.
CREATE FUNCTION pushmta.check_content(content jsonb, applications text[] DEFAULT NULL)
    RETURNS TABLE (pointer text, problem text, remedy text) LANGUAGE plpgsql STABLE
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
DECLARE
    missing text;
BEGIN
    SELECT u.name INTO missing FROM unnest(check_content.applications) WITH ORDINALITY u(name, n)
    WHERE NOT EXISTS (SELECT FROM application a WHERE a.name = u.name) ORDER BY u.n LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'There is no application "%".', coalesce(missing, '')
            USING ERRCODE = 'PM001', HINT = 'pushmta.application lists them.';
    END IF;
    RETURN QUERY SELECT p.* FROM content_problems(check_content.content,
        ARRAY(SELECT DISTINCT a.platform FROM application a WHERE a.name = ANY(check_content.applications))) p;
    IF NOT FOUND AND check_content.applications IS NULL AND NOT EXISTS (
        SELECT FROM jsonb_each(check_content.content) e WHERE e.key IN ('ios', 'android') AND jsonb_typeof(e.value) = 'object') THEN
        RETURN QUERY SELECT '', 'it says nothing for any platform', 'add a section "ios" or "android"';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta.check_content(jsonb, text[]) IS
    'The problems of a content, by JSON Pointer: unknown keys, types, ranges, forms, sections, fields that are never closed, keys that '
    'contradict each other. Values of fields and sizes are checked by pushmta delivery create --check and at preparation.';

-- The same rules as in Swift's RouteCheck and PreparationCheck. An application without a credential does not hold up the others, but at
-- least one of a delivery's applications must have one.
CREATE FUNCTION pushmta_engine.route_problems(delivery bigint) RETURNS TABLE (problem text, remedy text) LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT format('application "%s": ', r.name) || p.problem, p.remedy
    FROM (
        SELECT a.name, a.platform, a.environment, a.bundle_id, e.name AS account, e.connector, c.id AS credential_id, c.kind,
            c.expires_at, split_part(e.connector, '-', 1) AS serves,
            CASE WHEN lower(rtrim(e.host, '.')) IN ('api.push.apple.com', 'gateway.push.apple.com') THEN 'production'
                WHEN lower(rtrim(e.host, '.')) IN ('api.sandbox.push.apple.com', 'api.development.push.apple.com',
                    'gateway.sandbox.push.apple.com') THEN 'sandbox' END AS goes_to,
            string_to_array(nullif(replace(c.attributes ->> 'topics', ' ', ''), ''), ',') AS topics,
            string_to_array(nullif(replace(c.attributes ->> 'environments', ' ', ''), ''), ',') AS environments
        FROM delivery_application x JOIN application a ON a.id = x.application_id
        JOIN external_account e ON e.id = x.external_account_id
        LEFT JOIN credential c ON c.id = a.credential_id
        WHERE x.delivery_id = route_problems.delivery
    ) r CROSS JOIN LATERAL (VALUES
        (r.credential_id IS NULL, 'it has no credential', 'set one with pushmta credential set'),
        (r.expires_at <= now(), format('its credential was valid until %s', r.expires_at), 'set one with pushmta credential set'),
        (r.serves <> r.platform, format('its external account "%s" speaks %s, which does not serve %s', r.account, r.connector, r.platform),
            'choose another account for the application or the delivery'),
        (r.serves = r.platform AND NOT (r.kind = 'apns_key' AND r.connector = 'ios-http2' OR r.kind = 'apns_certificate'
                AND r.connector IN ('ios-http2', 'ios-binary') OR r.kind IN ('fcm_service_account', 'fcm_project_key')
                AND r.connector IN ('android-v1', 'android-v2')),
            format('its credential is of kind %s, which connector %s of external account "%s" does not take', r.kind, r.connector,
                r.account),
            'set another one with pushmta credential set, or choose another account'),
        (r.platform = 'ios' AND r.goes_to <> r.environment,
            format('it is of the %s environment and its external account "%s" goes to the gateway for %s', r.environment, r.account,
                r.goes_to), 'choose an account of its environment'),
        (r.platform = 'ios' AND r.bundle_id = '', 'it has no bundle id', 'set one with pushmta app set --bundle-id'),
        (r.kind = 'apns_certificate' AND NOT r.environment = ANY(r.environments),
            format('its certificate is for the %s environment and it is of the %s one', array_to_string(r.environments, ', '),
                r.environment),
            'set another certificate with pushmta credential set'),
        (r.kind = 'apns_certificate' AND NOT EXISTS (SELECT FROM unnest(r.topics) t
                WHERE t = r.bundle_id OR starts_with(t, r.bundle_id || '.')) AND r.topics IS NOT NULL,
            format('its certificate may send to %s and its bundle id is %s', array_to_string(r.topics[:5], ', '), r.bundle_id),
            'set the certificate of this application with pushmta credential set, or correct the bundle id')
    ) p(is_wrong, problem, remedy)
    WHERE p.is_wrong ORDER BY r.name, p.problem $$;
COMMENT ON FUNCTION pushmta_engine.route_problems(bigint) IS
    'What prevents a delivery''s applications from reaching their gateways: accounts and credentials that are missing, expired or of the '
    'wrong kind, or a wrong platform, environment or topic.';

-- What prevents a delivery from being sent, as far as known before its preparation; no row if nothing does.
CREATE FUNCTION pushmta.check_delivery(delivery bigint) RETURNS TABLE (subject text, pointer text, problem text, remedy text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
DECLARE
    whole record;
BEGIN
    SELECT d.target_kind, d.kind, d.state, d.state_reason INTO whole FROM pushmta_engine.delivery d WHERE d.id = check_delivery.delivery;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no delivery %.', check_delivery.delivery
            USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery makes one.';
    END IF;
    RETURN QUERY SELECT p.subject, (p.problem).pointer, (p.problem).problem, (p.problem).remedy
        FROM delivery_problems(check_delivery.delivery) p;
    RETURN QUERY SELECT 'application', NULL::text, p.problem, p.remedy FROM route_problems(check_delivery.delivery) p;
    IF NOT EXISTS (SELECT FROM delivery_application x WHERE x.delivery_id = check_delivery.delivery) THEN
        RETURN QUERY SELECT 'application', NULL, 'it has no application to send to', 'make one with an application of its service';
    END IF;
    -- Problems that only the preparation found are shown until the delivery is changed. Their cause may have been corrected elsewhere.
    IF whole.state = 'editing' THEN
        RETURN QUERY SELECT 'start', NULL, 'its last start was given up: ' || w.words,
                'correct what is still wrong and start the delivery again'
            FROM regexp_split_to_table(whole.state_reason, E'\n') w(words) WHERE w.words <> '';
    END IF;
    IF whole.target_kind = 'explicit' AND whole.kind = 'batch' AND NOT EXISTS (
        SELECT FROM pushmta.delivery_target t WHERE t.delivery_id = check_delivery.delivery) THEN
        RETURN QUERY SELECT 'target', NULL, 'it uses explicit targets, and has none', 'fill pushmta.delivery_target';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta.check_delivery(bigint) IS
    'What prevents a delivery from being sent, as far as known before its preparation, and what the last preparation found. subject is '
    'content, filter, application, target or start.';

CREATE FUNCTION pushmta_engine.forget_problems() RETURNS trigger LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    DELETE FROM pushmta_engine.delivery_problem p WHERE p.delivery_id = NEW.id;
    NEW.state_reason := '';
    RETURN NEW;
END $$;
COMMENT ON FUNCTION pushmta_engine.forget_problems() IS 'Clears the problems of a delivery once it has been changed.';

CREATE TRIGGER delivery_changed BEFORE UPDATE OF content, target_filter, target_sql, target_kind ON pushmta_engine.delivery
    FOR EACH ROW WHEN (OLD.state = 'editing' AND NEW.state = 'editing' AND OLD.state_reason <> ''
        AND (OLD.content, OLD.target_filter, OLD.target_sql, OLD.target_kind)
            IS DISTINCT FROM (NEW.content, NEW.target_filter, NEW.target_sql, NEW.target_kind))
    EXECUTE FUNCTION pushmta_engine.forget_problems();
