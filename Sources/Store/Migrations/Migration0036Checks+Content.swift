extension Migration {
    /// The check of contents by their JSON Schema.
    static let contentCheck = #"""
        -- What a value has against a JSON Schema, as far as this knows its keywords; others, such as those of a newer program, say nothing
        -- here. `place` is the value's JSON Pointer (RFC 6901).
        CREATE FUNCTION pushmta_engine.schema_problems(root jsonb, rule jsonb, value jsonb, place text)
            RETURNS SETOF pushmta_engine.input_problem LANGUAGE plpgsql IMMUTABLE SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            kind CONSTANT text := jsonb_typeof(value);
            plain CONSTANT text := CASE kind WHEN 'string' THEN value #>> '{}' WHEN 'number' THEN value::text END;
            allowed jsonb;
            inner_rule jsonb;
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
                        FROM jsonb_array_elements_text(CASE jsonb_typeof(allowed) WHEN 'array' THEN allowed ELSE jsonb_build_array(allowed) END) t(type)
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
                        schema_problems(root, rule -> 'items', e.element, place || '/' || e.n - 1) p;
                END IF;
            WHEN 'object' THEN
                FOR entry IN SELECT e.key, e.value, place || '/' || replace(replace(left(e.key, 200), '~', '~0'), '/', '~1') AS place
                    FROM jsonb_each(value) e LOOP
                    IF entry.key !~ (rule #>> '{propertyNames,pattern}') OR length(entry.key) > (rule #>> '{propertyNames,maxLength}')::integer THEN
                        RETURN NEXT ROW(entry.place, 'it cannot have this name',
                            coalesce(rule #>> '{propertyNames,$comment}', 'choose another name'))::input_problem;
                        CONTINUE;
                    END IF;
                    inner_rule := coalesce(rule #> ARRAY['properties', entry.key], rule -> 'additionalProperties');
                    IF inner_rule <> 'false' THEN
                        RETURN QUERY SELECT * FROM schema_problems(root, inner_rule, entry.value, entry.place);
                    -- A null is the same as no key.
                    ELSIF inner_rule = 'false' AND entry.value <> 'null' THEN
                        RETURN NEXT ROW(entry.place, 'this key is unknown', 'known keys are '
                            || (SELECT string_agg(k, ', ' ORDER BY k) FROM jsonb_object_keys(rule -> 'properties') k))::input_problem;
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

        -- Everything that can be said against a content without rendering it; for each of these platforms it needs a section.
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
        END $$;

        """#
}
