-- What can be said against a content or a filter before a delivery is prepared, by the rules that the program writes here.

CREATE TABLE pushmta_engine.input_rule (
    name text PRIMARY KEY,
    document jsonb NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE pushmta_engine.input_rule IS
    'Rules of the program by which inputs are checked: content, a JSON Schema; filter, fields and limits. Written by pushmta migrate.';

CREATE TYPE pushmta_engine.input_problem AS (pointer text, problem text, remedy text);
COMMENT ON TYPE pushmta_engine.input_problem IS
    'One thing that is wrong with an input: where, as a JSON Pointer, what, and what to do about it.';

CREATE FUNCTION pushmta_engine.schema_problems(root jsonb, rule jsonb, value jsonb, place text)
    RETURNS SETOF pushmta_engine.input_problem LANGUAGE plpgsql IMMUTABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    kind CONSTANT text := jsonb_typeof(value);
    plain CONSTANT text := CASE kind WHEN 'string' THEN value #>> '{}' WHEN 'number' THEN value::text END;
    -- Nobody reads more problems than these.
    most CONSTANT integer := 100;
    allowed jsonb;
    inner_rule jsonb;
    known text;
    unknown integer := 0;
    entry record;
BEGIN
    IF rule ? '$ref' THEN
        rule := root #> string_to_array(substr(rule ->> '$ref', 3), '/');
    END IF;
    allowed := rule -> 'type';
    IF NOT (allowed ? kind OR kind = 'number' AND allowed ? 'integer' AND plain ~ '^-?[0-9]+$') THEN
        RETURN NEXT ROW(place, 'it is ' || CASE kind WHEN 'null' THEN 'null' WHEN 'number' THEN 'the number ' || left(plain, 64)
                WHEN 'array' THEN 'an array' WHEN 'object' THEN 'an object' ELSE 'a ' || kind END,
            'write ' || (SELECT string_agg(CASE t.type WHEN 'integer' THEN 'a whole number' WHEN 'boolean' THEN 'true or false'
                    WHEN 'array' THEN 'an array' WHEN 'object' THEN 'an object' ELSE 'a ' || t.type END, ' or ')
                FROM jsonb_array_elements_text(
                    CASE jsonb_typeof(allowed) WHEN 'array' THEN allowed ELSE jsonb_build_array(allowed) END) t(type)
                WHERE t.type <> 'null'))::input_problem;
        RETURN;
    END IF;
    IF NOT jsonb_build_array(value) <@ (rule -> 'enum') OR value <> rule -> 'const' THEN
        RETURN NEXT ROW(place, left(value::text, 64) || ' is not allowed', 'write ' || coalesce(rule ->> 'const',
            (SELECT string_agg(t, ', ') FROM jsonb_array_elements_text(rule -> 'enum') t)))::input_problem;
    END IF;

    CASE kind
    WHEN 'number' THEN
        IF plain::numeric < (rule ->> 'minimum')::numeric OR plain::numeric > (rule ->> 'maximum')::numeric THEN
            RETURN NEXT ROW(place, left(plain, 64) || ' is out of range', 'write a number'
                || coalesce(' from ' || (rule ->> 'minimum'), '') || coalesce(' to ' || (rule ->> 'maximum'), ''))::input_problem;
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
            -- A null is the same as no key, but it makes no key known.
            ELSIF inner_rule = 'false' THEN
                known := coalesce(known, (SELECT string_agg(k, ', ' ORDER BY k) FROM jsonb_object_keys(rule -> 'properties') k));
                RETURN NEXT ROW(entry.place, 'this key is unknown', 'known keys are ' || known)::input_problem;
                unknown := unknown + 1;
            END IF;
        END LOOP;
        RETURN QUERY SELECT place || '/' || r.key, 'it is missing', coalesce(rule #>> ARRAY['properties', r.key, 'description'], 'write it')
            FROM jsonb_array_elements_text(rule -> 'required') r(key) WHERE NOT value ? r.key;
    ELSE NULL;
    END CASE;
    FOR entry IN SELECT a.branch FROM jsonb_array_elements(rule -> 'allOf') a(branch) LOOP
        IF NOT EXISTS (SELECT FROM schema_problems(root, entry.branch -> 'if', value, place)) THEN
            RETURN QUERY SELECT * FROM schema_problems(root, entry.branch -> 'then', value, place);
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta_engine.schema_problems(jsonb, jsonb, jsonb, text) IS
    'What a value has against a JSON Schema, as far as this knows its keywords; others, such as those of a newer program, say '
    'nothing here. `place` is the value''s JSON Pointer (RFC 6901).';

CREATE FUNCTION pushmta_engine.text_problems(content jsonb, place text) RETURNS SETOF pushmta_engine.input_problem
    LANGUAGE sql IMMUTABLE SET search_path = pushmta_engine, pg_temp AS $$
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
        -- What lies deeper is looked at when the delivery is prepared: each step copies all that is below it.
        WHERE f.depth < 16
    )
    SELECT f.place, 'a {{ is never closed', E'write }} after the field''s name, or \\{{ to show two braces'
    FROM found f WHERE jsonb_typeof(f.value) = 'string'
        AND strpos(regexp_replace(replace(f.value #>> '{}', E'\\{{', ' '), '\{\{.*?\}\}', ' ', 'g'), '{{') > 0 $$;
COMMENT ON FUNCTION pushmta_engine.text_problems(jsonb, text) IS
    'The texts in a section of a content, which is at this JSON Pointer, that begin a field and do not end it.';

CREATE FUNCTION pushmta_engine.section_problems(section jsonb, platform text, place text) RETURNS SETOF pushmta_engine.input_problem
    LANGUAGE plpgsql IMMUTABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    has CONSTANT text[] := ARRAY(SELECT e.key FROM jsonb_each(section) e WHERE e.value <> 'null');
    silent CONSTANT boolean := coalesce(section -> 'silent' = 'true', false);
    wakes CONSTANT boolean := silent OR coalesce(section -> 'content_available' = 'true', false) OR has && ARRAY['aps'];
    shown text := (SELECT e.key FROM jsonb_each(section) e
        WHERE e.key IN ('title', 'subtitle', 'body', 'badge', 'sound') AND e.value NOT IN ('null', '""') ORDER BY e.key LIMIT 1);
BEGIN
    IF platform = 'ios' THEN
        -- The raw aps may do anything; what it does is known when it is rendered.
        IF NOT wakes AND NOT has && ARRAY['title', 'title_loc_key', 'title_loc_args', 'subtitle', 'subtitle_loc_key', 'subtitle_loc_args',
            'body', 'loc_key', 'loc_args', 'action_loc_key', 'launch_image', 'badge', 'clear_badge', 'sound', 'push_type', 'template'] THEN
            RETURN NEXT ROW(place, 'there is nothing to show and nothing to wake the app for',
                'set one of title, subtitle, body, badge, sound, or content_available for a silent push')::input_problem;
        END IF;
        IF shown IS NOT NULL AND silent THEN
            RETURN NEXT ROW(place || '/silent', 'a silent push shows nothing, and this content does',
                'leave out what is shown, or this')::input_problem;
        ELSIF section ->> 'push_type' = 'background' AND shown IS NOT NULL THEN
            RETURN NEXT ROW(place || '/push_type', 'a background push shows nothing, and this content does',
                'write "alert", or leave it out')::input_problem;
        ELSIF section ->> 'push_type' = 'background' AND NOT wakes THEN
            RETURN NEXT ROW(place || '/push_type', 'a background push has to wake the app', 'set content_available to true')::input_problem;
        END IF;
    ELSIF NOT has && ARRAY['template'] THEN
        IF section ->> 'kind' = 'data' THEN
            RETURN QUERY SELECT place || '/variables/' || n.name, 'another key of the content has this name in the payload',
                    'keep one of them'
                FROM (VALUES ('title', 'title'), ('body', '_msg'), ('click_action', 'url')) n(key, name)
                WHERE jsonb_typeof(section -> n.key) = 'string' AND jsonb_typeof(section -> 'variables') = 'object'
                    AND section -> 'variables' ? n.name;
        ELSIF NOT has && ARRAY['title', 'body', 'title_loc_key', 'body_loc_key'] THEN
            IF section ->> 'kind' = 'notification' THEN
                RETURN NEXT ROW(place || '/kind', 'a notification message without title and body shows nothing',
                    'set title or body')::input_problem;
            ELSIF coalesce(section -> 'variables', '{}') IN ('{}', 'null') AND coalesce(section -> 'message', '{}') IN ('{}', 'null') THEN
                RETURN NEXT ROW(place, 'there is nothing to show and nothing for the app to read',
                    'set title, body or variables, or kind to "data" for a message that only wakes the app')::input_problem;
            END IF;
        END IF;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.section_problems(jsonb, text, text) IS
    'What several keys of a section say against each other, as far as that is so for everyone: what Swift''s ContentValidator says, '
    'and less of it. `place` is the section''s JSON Pointer.';

CREATE FUNCTION pushmta_engine.variant_section(main jsonb, variant jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
        SELECT CASE WHEN jsonb_typeof(main) IS DISTINCT FROM 'object'
            OR EXISTS (SELECT FROM unnest(ARRAY['push_type', 'silent', 'kind']) k
                WHERE coalesce(variant -> k, 'null') NOT IN ('null', coalesce(main -> k, 'null')))
            OR jsonb_typeof(variant -> 'template') = 'object'
                AND variant -> 'template' -> 'type' IS DISTINCT FROM main -> 'template' -> 'type'
            THEN variant
            ELSE main || variant || CASE
                WHEN jsonb_typeof(main -> 'variables') = 'object' AND jsonb_typeof(variant -> 'variables') = 'object'
                THEN jsonb_build_object('variables', (main -> 'variables') || (variant -> 'variables')) ELSE '{}' END END $$;
COMMENT ON FUNCTION pushmta_engine.variant_section(jsonb, jsonb) IS
    'A locale''s variant with what it inherits from the default section, as far as section_problems looks at it: as Swift''s '
    'ContentInheritance does, except for the two keys that a text can have.';

CREATE FUNCTION pushmta_engine.content_problems(content jsonb, platforms text[])
    RETURNS SETOF pushmta_engine.input_problem LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    -- Put together anew, as a value that lies compressed in its table would be read with each look.
    rule jsonb := (SELECT r.document || '{}' FROM input_rule r WHERE r.name = 'content');
BEGIN
    IF jsonb_typeof(content) IS DISTINCT FROM 'object' THEN
        RETURN NEXT ROW('', 'it is no JSON object',
            'write an object such as {"ios": {"title": "Hello"}}')::input_problem;
        RETURN;
    ELSIF octet_length(content::text) > 1048576 THEN
        RETURN NEXT ROW('', format('it has %s bytes', octet_length(content::text)), 'shorten it to 1,048,576 at most')::input_problem;
        RETURN;
    END IF;
    RETURN QUERY SELECT '/' || u, format('the delivery goes to an application on %s, and the content says nothing for it', u),
        format('add the section "%s", or leave the application out', u)
        FROM unnest(platforms) u WHERE jsonb_typeof(content -> u) IS DISTINCT FROM 'object';
    IF rule IS NOT NULL THEN
        RETURN QUERY SELECT * FROM schema_problems(rule, rule - 'anyOf', content, '') LIMIT 100;
    END IF;
    -- What several keys say together is known when each says what it may.
    IF NOT FOUND THEN
        RETURN QUERY WITH section AS (
            SELECT s.part -> u.platform AS own, u.platform, s.place || '/' || u.platform AS place, s.place <> '' AS is_variant
            FROM (
                SELECT content AS part, '' AS place
                UNION ALL
                SELECT l.value, '/locales/' || replace(replace(left(l.key, 200), '~', '~0'), '/', '~1')
                FROM jsonb_each(CASE jsonb_typeof(content -> 'locales') WHEN 'object' THEN content -> 'locales' ELSE '{}' END) l
            ) s, unnest(ARRAY['ios', 'android']) u(platform)
            WHERE jsonb_typeof(s.part -> u.platform) = 'object'
        ), found AS (
            SELECT s.*, p.pointer, p.problem, p.remedy
            FROM section s, section_problems(CASE WHEN s.is_variant THEN variant_section(content -> s.platform, s.own) ELSE s.own END,
                s.platform, s.place) p
        )
        SELECT p.* FROM (
            -- Problems of the default section are reported there.
            SELECT f.pointer, f.problem, f.remedy FROM found f WHERE NOT f.is_variant OR NOT EXISTS (SELECT FROM found m
                WHERE NOT m.is_variant AND m.platform = f.platform AND m.problem = f.problem)
            UNION ALL
            SELECT t.* FROM section s, text_problems(s.own, s.place) t) p LIMIT 100;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.content_problems(jsonb, text[]) IS
    'Everything that can be said against a content without rendering it; for each of these platforms it needs a section.';

CREATE FUNCTION pushmta_engine.filter_words(filter text) RETURNS TABLE (word text, place integer, kind text) LANGUAGE plpgsql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    gap CONSTANT text := '\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000';
    other CONSTANT text := '\u003A-\u0040\u005B-\u005E\u0060\u007B-\u007F\u2018\u2019\u201C\u201D' || gap;
    name CONSTANT text := format('[^\u0001-\u0039%s][^\u0001-\u002F%s]*', other, other);
BEGIN
    RETURN QUERY SELECT c.word, c.place, CASE WHEN c.word ~ '^''.*''$' THEN 'text' WHEN c.word ~ '^".*"$' THEN 'quoted'
            WHEN c.word ~ '^[+-]?[0-9]+([.][0-9]+)?$' THEN 'number' WHEN c.word ~ '^([<>!]=|<>|[=<>(),.+-])$' THEN 'sign'
            WHEN c.word ~ ('^' || name || '$') THEN 'word' ELSE 'none' END
    FROM (SELECT m.parts[1] AS word, 1 + sum(length(m.parts[1])) OVER (ORDER BY m.n)::integer - length(m.parts[1]) AS place
        FROM regexp_matches(filter, format(
            $q$[\u0001-\u0020%s]+|'(?:[^']|'')*'|"(?:[^"]|"")*"|[+-]?[0-9]+(?:[.][0-9]+)?(?:%s)?|%s|[<>!]=|<>|.$q$,
            gap, name, name), 'g') WITH ORDINALITY m(parts, n)) c
    WHERE c.word !~ format('^[\u0009-\u000D\u0020%s]+$', gap);
END $$;
COMMENT ON FUNCTION pushmta_engine.filter_words(text) IS
    'The words of a filter with their places, 1 for the first character. What no name has in it ends a name; of other '
    'characters than ASCII''s it is not known here which are letters, so they are taken as such.';

CREATE FUNCTION pushmta_engine.filter_problem(filter text) RETURNS pushmta_engine.input_problem LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    rules jsonb := (SELECT r.document FROM input_rule r WHERE r.name = 'filter');
    words text[];
    places integer[];
    kinds text[];
    i integer := 1;
    tests integer := 0;
    open integer[] := ARRAY[]::integer[];
    base integer := 0;
    depth integer := 0;
    field text;
    field_kind text;
    field_words jsonb;
    comparison text;
    is_list boolean;
    listed integer;
    first_kind text;
    value_kind text;
    value text;
    seconds numeric;
    place integer;
    problem text;
    remedy text := 'Config/targets.md has the language of filters';
BEGIN
    IF rules IS NULL THEN
        RETURN NULL;
    END IF;
    IF octet_length(filter) > (rules ->> 'bytes')::integer THEN
        RETURN ROW('', format('the filter has %s bytes, %s are allowed', octet_length(filter), rules ->> 'bytes'),
            'use explicit targets or an exclusion list for long lists')::input_problem;
    END IF;
    SELECT array_agg(w.word ORDER BY w.place), array_agg(w.place ORDER BY w.place), array_agg(w.kind ORDER BY w.place)
    INTO words, places, kinds FROM filter_words(filter) w;
    SELECT u.place INTO place FROM unnest(kinds, places) u(kind, place) WHERE u.kind = 'none' ORDER BY u.place LIMIT 1;
    IF FOUND THEN
        RETURN ROW('', format('character %s of the filter has no meaning there', place),
            'put texts into straight single quotes, which are closed; a quote inside is written twice')::input_problem;
    END IF;
    LOOP
        -- What can be true or false: not, an open parenthesis, or a test.
        IF depth >= (rules ->> 'depth')::integer THEN
            problem := format('it is nested more than %s deep', rules ->> 'depth');
            EXIT;
        ELSIF kinds[i] = 'word' AND lower(words[i]) = 'not' THEN
            depth := depth + 1;
            i := i + 1;
            CONTINUE;
        ELSIF words[i] = '(' THEN
            open := open || base;
            base := depth + 1;
            depth := base;
            i := i + 1;
            CONTINUE;
        END IF;
        tests := tests + 1;
        IF tests > (rules ->> 'tests')::integer THEN
            problem := format('it has more than %s tests', rules ->> 'tests');
            EXIT;
        END IF;

        -- The field.
        field := words[i];
        IF kinds[i] IS DISTINCT FROM 'word' THEN
            problem := 'a field is expected';
            EXIT;
        ELSIF words[i + 1] = '.' THEN
            IF NOT rules -> 'groups' ? field THEN
                problem := format('there is no field "%s"', left(field, 64));
                EXIT;
            END IF;
            i := i + 2;
            IF kinds[i] NOT IN ('word', 'quoted') IS NOT FALSE THEN
                problem := 'the name of a field is expected';
                EXIT;
            END IF;
            field_kind := rules #>> ARRAY['groups', field];
            field_words := NULL;
        ELSE
            IF NOT rules -> 'columns' ? field THEN
                problem := format(CASE WHEN rules -> 'groups' ? field THEN '"%s" needs a name behind it' ELSE 'there is no field "%s"' END,
                    left(field, 64));
                EXIT;
            END IF;
            field_kind := rules #>> ARRAY['columns', field, 'kind'];
            field_words := rules #> ARRAY['columns', field, 'words'];
        END IF;
        i := i + 1;

        -- What is asked of it.
        comparison := lower(words[i]);
        listed := 0;
        IF kinds[i] = 'sign' AND comparison IN ('=', '!=', '<>', '<', '<=', '>', '>=') THEN
            is_list := false;
            i := i + 1;
        ELSIF kinds[i] = 'word' AND comparison = 'is' THEN
            i := i + 1 + (lower(words[i + 1]) IS NOT DISTINCT FROM 'not' AND kinds[i + 1] = 'word')::integer;
            IF lower(words[i]) IS DISTINCT FROM 'null' THEN
                problem := '"null" is expected';
                EXIT;
            END IF;
            i := i + 1;
            is_list := NULL;
        ELSE
            IF kinds[i] = 'word' AND comparison = 'not' THEN
                i := i + 1;
                comparison := lower(words[i]);
            END IF;
            IF kinds[i] = 'word' AND comparison = 'in' THEN
                IF words[i + 1] IS DISTINCT FROM '(' THEN
                    i := i + 1;
                    problem := '"(" is expected';
                    EXIT;
                END IF;
                is_list := true;
                i := i + 2;
            ELSIF kinds[i] = 'word' AND (comparison = 'contains' OR comparison = 'starts' AND lower(words[i + 1]) = 'with') THEN
                i := i + 1 + (comparison = 'starts')::integer;
                IF kinds[i] IS DISTINCT FROM 'text' THEN
                    problem := 'a text is expected';
                    EXIT;
                ELSIF field_kind <> 'text' THEN
                    problem := format('%s is a %s, which contains no text', field, field_kind);
                    EXIT;
                END IF;
                i := i + 1;
                is_list := NULL;
            ELSE
                problem := 'a comparison is expected';
                EXIT;
            END IF;
        END IF;

        -- With what it is compared.
        first_kind := NULL;
        WHILE is_list IS NOT NULL LOOP
            place := i;
            value := words[i];
            IF kinds[i] = 'text' THEN
                value_kind := 'text';
                value := replace(substr(value, 2, length(value) - 2), '''''', '''');
            ELSIF kinds[i] = 'number' AND length(value) <= (rules ->> 'digits')::integer THEN
                value_kind := 'number';
            ELSIF kinds[i] = 'word' AND lower(value) IN ('true', 'false') THEN
                value_kind := 'boolean';
            ELSIF kinds[i] = 'word' AND lower(value) IN ('date', 'timestamp') THEN
                value_kind := 'time';
                i := i + 1;
                IF kinds[i] IS DISTINCT FROM 'text' OR filter_time(substr(words[i], 2, length(words[i]) - 2)) IS NULL THEN
                    problem := 'a day or time is expected, such as ''2026-01-31''';
                    EXIT;
                END IF;
            ELSIF kinds[i] = 'word' AND lower(value) = 'now' THEN
                value_kind := 'time';
                IF words[i + 1] IN ('+', '-') OR kinds[i + 1] = 'number' AND words[i + 1] ~ '^[+-]' THEN
                    -- A sign that stands before a digit belongs to the number.
                    i := i + 1 + (kinds[i + 1] = 'sign')::integer;
                    value := CASE WHEN kinds[i - 1] = 'sign' THEN words[i] ELSE substr(words[i], 2) END;
                    seconds := CASE WHEN kinds[i] = 'number' AND value ~ '^([+]?[0-9]+|-0+)$' THEN value::numeric END
                        * (rules #>> ARRAY['units', lower(words[i + 1])])::numeric;
                    i := i + 1;
                    IF (seconds <= (rules ->> 'furthest')::numeric) IS NOT TRUE OR kinds[i] <> 'word' THEN
                        problem := 'a distance from now of at most a hundred years is expected, as in now - 7 days';
                        EXIT;
                    END IF;
                END IF;
            ELSE
                problem := 'a value is expected: a text in single quotes, a number, true, false, date ''2026-01-31'' or now - 7 days';
                EXIT;
            END IF;
            IF field_kind = 'time' AND value_kind = 'text' AND filter_time(value) IS NOT NULL THEN
                value_kind := 'time';
            END IF;
            i := i + 1;
            IF field_kind <> 'text' AND field_kind <> value_kind THEN
                problem := format('%s is a %s and is compared with a %s', field, field_kind, value_kind);
            ELSIF field_words IS NOT NULL AND NOT (value_kind = 'text' AND field_words ? value) THEN
                problem := format('%s is never that', field);
                remedy := 'It is one of ' || (SELECT string_agg(quote_literal(w), ', ') FROM jsonb_array_elements_text(field_words) w);
            ELSIF value_kind = 'boolean' AND comparison IN ('<', '<=', '>', '>=') THEN
                problem := 'booleans have no order';
            ELSIF first_kind <> value_kind THEN
                problem := format('the list has a %s and a %s', first_kind, value_kind);
            END IF;
            listed := listed + 1;
            IF listed > (rules ->> 'values')::integer THEN
                problem := format('the list has more than %s values', rules ->> 'values');
            END IF;
            IF problem IS NOT NULL THEN
                i := place;
                EXIT;
            END IF;
            first_kind := value_kind;
            EXIT WHEN NOT is_list;
            IF words[i] = ',' THEN
                i := i + 1;
            ELSIF words[i] = ')' THEN
                i := i + 1;
                EXIT;
            ELSE
                problem := 'a comma or ")" is expected';
                EXIT;
            END IF;
        END LOOP;
        EXIT WHEN problem IS NOT NULL;

        -- What joins it with the next.
        WHILE words[i] = ')' AND cardinality(open) > 0 LOOP
            base := open[cardinality(open)];
            open := trim_array(open, 1);
            i := i + 1;
        END LOOP;
        IF i > coalesce(cardinality(words), 0) AND cardinality(open) = 0 THEN
            RETURN NULL;
        ELSIF kinds[i] = 'word' AND lower(words[i]) IN ('and', 'or') THEN
            i := i + 1;
            depth := base;
        ELSE
            problem := CASE WHEN cardinality(open) > 0 THEN '"and", "or" or ")" is expected' ELSE '"and", "or" or the end is expected' END;
            EXIT;
        END IF;
    END LOOP;
    RETURN ROW('', format('character %s of the filter: %s', coalesce(places[i], length(filter) + 1), problem), remedy)::input_problem;
END $$;
COMMENT ON FUNCTION pushmta_engine.filter_problem(text) IS
    'Why a text is no filter; null if it is one. As Swift''s TargetFilterParser reads it, with the fields and limits that '
    'come from there. Whether the columns of a mapping are there is known when the delivery is prepared.';

CREATE FUNCTION pushmta_engine.filter_problem(delivery bigint, filter text) RETURNS pushmta_engine.input_problem
    LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    wrong pushmta_engine.input_problem := filter_problem(filter);
    service text;
BEGIN
    IF wrong.problem IS NOT NULL OR NOT EXISTS (SELECT FROM (SELECT w.word, lag(w.word) OVER (ORDER BY w.place) AS before,
            lead(w.word) OVER (ORDER BY w.place) AS behind FROM filter_words(filter) w) w
        WHERE w.word = 'mapping' AND w.behind = '.' AND w.before IS DISTINCT FROM '.') THEN
        RETURN wrong;
    END IF;
    SELECT min(s.name) INTO service FROM pushmta_engine.delivery_application x
    JOIN pushmta_engine.application a ON a.id = x.application_id JOIN pushmta_engine.service s ON s.id = a.service_id
    WHERE x.delivery_id = filter_problem.delivery AND s.target_mapping_id IS NULL;
    IF service IS NOT NULL THEN
        RETURN ROW('', format('it asks for fields of the mapping, and service "%s" has none', service),
            'give the service a target mapping (pushmta service set --mapping), or use other fields')::input_problem;
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION pushmta_engine.filter_problem(bigint, text) IS
    'Why a text is no filter of a delivery; null if it is one. Whether the columns of a mapping are there is known when it is prepared.';

CREATE FUNCTION pushmta_engine.filter_number(value text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN value ~ '^[+-]?[0-9]{1,100}([.][0-9]{1,100})?$' THEN value::numeric END;
COMMENT ON FUNCTION pushmta_engine.filter_number(text) IS
    'What a filter makes of a text that is compared with a number; null if it is none. Nobody''s data may end a preparation.';

CREATE FUNCTION pushmta_engine.filter_time(value text) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF value !~ ('^(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?'
        '(Z|[+-](0[0-9]|1[0-5]):?[0-5][0-9])?)?$') THEN
        RETURN NULL;
    ELSIF value ~ '(Z|[+-][0-9]{2}:?[0-9]{2})$' AND length(value) > 10 THEN
        RETURN value::timestamptz;
    END IF;
    RETURN value::timestamp AT TIME ZONE 'UTC';
EXCEPTION WHEN datetime_field_overflow OR invalid_datetime_format THEN
    RETURN NULL;
END $$;
COMMENT ON FUNCTION pushmta_engine.filter_time(text) IS
    'What a filter makes of a text that is compared with a time; null if it is none.';

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
    'Refuses a content with its first problem; the others are in the detail.';

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
    'What can be said against a delivery before it is prepared. Values of fields, sizes, and what an application declares are looked '
    'at when it is prepared.';

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
    'Whoever starts a delivery, and whatever it was made by: its rules, and it, may have changed since.';

CREATE TRIGGER delivery_start BEFORE UPDATE OF state ON pushmta_engine.delivery
    FOR EACH ROW WHEN (OLD.state = 'editing' AND NEW.state IN ('pending', 'in_progress'))
    EXECUTE FUNCTION pushmta_engine.check_start();

-- What is wrong with a content; no row if nothing that is known without rendering it. With applications it has to say something
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
    'What is wrong with a content, by JSON Pointer: unknown keys, types, ranges, forms, sections, fields that are never closed, keys '
    'that contradict each other. Values of fields and sizes are judged by pushmta delivery create --check and at preparation.';

-- As Swift's RouteCheck and PreparationCheck say it. An application without a credential keeps no other one waiting; all that a
-- delivery goes to must not be without.
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
    'What keeps a delivery''s applications from their gateways: accounts and credentials that are missing, expired, or of another kind, '
    'platform, environment or topic.';

-- What keeps a delivery from being sent; no row if nothing that is known before it is prepared.
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
    -- What only the preparation found, until the delivery is changed. What it is about may have been put right elsewhere.
    IF whole.state = 'editing' THEN
        RETURN QUERY SELECT 'start', NULL, 'its last start was given up: ' || w.words,
                'correct what is still wrong and start the delivery again'
            FROM regexp_split_to_table(whole.state_reason, E'\n') w(words) WHERE w.words <> '';
    END IF;
    IF whole.target_kind = 'explicit' AND whole.kind = 'batch' AND NOT EXISTS (
        SELECT FROM pushmta.delivery_target t WHERE t.delivery_id = check_delivery.delivery) THEN
        RETURN QUERY SELECT 'target', NULL, 'it has explicit targets, and there are none', 'fill pushmta.delivery_target';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta.check_delivery(bigint) IS
    'What keeps a delivery from being sent, as far as is known before its preparation, and what the last preparation found: '
    'subject is content, filter, application, target or start.';

CREATE FUNCTION pushmta_engine.forget_problems() RETURNS trigger LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    NEW.state_reason := '';
    RETURN NEW;
END $$;
COMMENT ON FUNCTION pushmta_engine.forget_problems() IS 'Forgets what was wrong with a delivery once it has been changed.';

CREATE TRIGGER delivery_changed BEFORE UPDATE OF content, target_filter, target_sql, target_kind ON pushmta_engine.delivery
    FOR EACH ROW WHEN (OLD.state = 'editing' AND NEW.state = 'editing' AND OLD.state_reason <> ''
        AND (OLD.content, OLD.target_filter, OLD.target_sql, OLD.target_kind)
            IS DISTINCT FROM (NEW.content, NEW.target_filter, NEW.target_sql, NEW.target_kind))
    EXECUTE FUNCTION pushmta_engine.forget_problems();
