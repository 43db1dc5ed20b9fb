extension Migration {
    /// The check of filters by the grammar of `TargetFilterParser`.
    static let filterCheck = #"""
        -- The words of a filter with their places, 1 for the first character. What no name has in it ends a name; of other characters than
        -- ASCII's it is not known here which are letters, so they are taken as such.
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
                FROM regexp_matches(filter, format($q$[\u0001-\u0020%s]+|'(?:[^']|'')*'|"(?:[^"]|"")*"|[+-]?[0-9]+(?:[.][0-9]+)?(?:%s)?|%s|[<>!]=|<>|.$q$,
                    gap, name, name), 'g') WITH ORDINALITY m(parts, n)) c
            WHERE c.word !~ format('^[\u0009-\u000D\u0020%s]+$', gap);
        END $$;

        -- Why a text is no filter; null if it is one. As Swift's TargetFilterParser reads it, with the fields and limits that come from there.
        -- Whether the columns of a mapping are there is known when the delivery is prepared.
        CREATE FUNCTION pushmta_engine.filter_problem(filter text) RETURNS pushmta_engine.input_problem LANGUAGE plpgsql STABLE
            SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            rules jsonb := (SELECT r.document FROM input_rule r WHERE r.name = 'filter');
            words text[];
            places integer[];
            kinds text[];
            i integer := 1;
            tests integer := 0;
            open integer[] := '{}';
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

        """#
}
