-- The parser of target filters: it turns a text into a tree, and explains why a text is not a filter. It is the only parser; the programs
-- use the tree. Config/targets.md describes the language. Fields, kinds, words, units and limits come from input_rule 'filter', which
-- pushmta migrate writes.
--
-- A tree is
--   {"all": [tree, …]}, {"any": [tree, …]}, {"not": tree}
--   {"compare": [field, "=", literal]}, with =, !=, <, <=, > or >=
--   {"in": [field, [literal, …]]}, {"contains": [field, "text"]}, {"starts_with": [field, "text"]}, {"is_null": field}
--   {"sent": {"delivery": 4711, "days": 30}}, with sent, received or clicked; with delivery, label, category or "any": true; days may lack
-- A field is {"column": "locale"}, or has its group, as it was written, for a key: {"recipient": "city"}. A literal is
--   {"text": "fr"}, {"number": "12.5"}, {"boolean": true}
--   {"at": microseconds since 1970}, {"before_start": seconds before the delivery's start}
--   {"text": "2026-01-31", "at": …}: either of them, as only the catalog knows what the mapping's column holds.

CREATE TYPE pushmta_engine.filter_part AS (next integer, tests integer, kind text, tree text);
COMMENT ON TYPE pushmta_engine.filter_part IS
    'The state of reading a filter: the position of the next token, the number of tests so far, the kind of a literal, and its tree, in '
    'JSON.';

CREATE FUNCTION pushmta_engine.filter_tokens(
    filter text, most_digits integer, OUT kinds text[], OUT words text[], OUT places integer[]
) LANGUAGE plpgsql IMMUTABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    gaps CONSTANT text := E'\t\n\u000B\f\r \u0085\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A'
        '\u2028\u2029\u202F\u205F\u3000';
    other CONSTANT text := '\u003A-\u0040\u005B-\u005E\u0060\u007B-\u007F\u2018\u2019\u201C\u201D' || gaps;
    letter CONSTANT text := format('[^\u0001-\u0039%s]', other);
    name CONSTANT text := format('%s[^\u0001-\u002F%s]*', letter, other);
    token CONSTANT text := format('[%s]*(?:\u0027(?:[^\u0027]|\u0027{2})*\u0027?|"(?:[^"]|"")*"?|[+-]?[0-9]+(?:[.][0-9]+)?(?:%s)?|%s'
        '|[<>!]=|<>|[^%s])', gaps, name, name, gaps);
BEGIN
    SELECT array_agg(t.kind ORDER BY t.place) || 'end'::text, array_agg(t.word ORDER BY t.place) || ''::text,
        array_agg(t.place ORDER BY t.place) || length(filter) + 1
    INTO kinds, words, places
    FROM (
        SELECT c.place, k.kind, CASE k.kind WHEN 'text' THEN replace(substr(c.raw, 2, length(c.raw) - 2), '''''', '''')
            WHEN 'quoted' THEN replace(substr(c.raw, 2, length(c.raw) - 2), '""', '"') ELSE c.raw END AS word
        FROM (
            SELECT ltrim(m.parts[1], gaps) AS raw,
                1 + sum(length(m.parts[1])) OVER (ORDER BY m.n)::integer - length(ltrim(m.parts[1], gaps)) AS place
            FROM regexp_matches(filter, token, 'g') WITH ORDINALITY m(parts, n)
        ) c CROSS JOIN LATERAL (SELECT CASE
            WHEN c.raw IN ('=', '!=', '<', '<=', '>', '>=', '(', ')', ',', '.', '+', '-') THEN c.raw
            WHEN c.raw = '<>' THEN '!='
            -- Quotes inside are doubled, so with the two around them the number is even.
            WHEN c.raw ^@ '''' THEN CASE WHEN (length(c.raw) - length(replace(c.raw, '''', ''))) % 2 = 0 THEN 'text' ELSE 'wrong' END
            WHEN c.raw ^@ '"' THEN CASE WHEN (length(c.raw) - length(replace(c.raw, '"', ''))) % 2 = 0 THEN 'quoted' ELSE 'wrong' END
            WHEN c.raw ~ '^[+-]?[0-9]' THEN
                CASE WHEN c.raw ~ '^[+-]?[0-9]+([.][0-9]+)?$' AND length(c.raw) <= most_digits THEN 'number' ELSE 'wrong' END
            WHEN lower(c.raw COLLATE "C") IN ('and', 'or', 'not', 'in', 'is', 'null', 'contains', 'starts', 'with', 'true', 'false',
                'date', 'timestamp', 'now') THEN upper(c.raw COLLATE "C")
            WHEN c.raw ~ ('^' || letter) THEN 'name' ELSE 'wrong' END AS kind) k
    ) t;
END $$;
COMMENT ON FUNCTION pushmta_engine.filter_tokens(text, integer) IS
    'The tokens of a filter with their positions, 1 for the first character, followed by an end token. A kind is name, quoted, text, '
    'number, wrong, end, a sign itself, or a keyword in capitals; texts and quoted names are without their quotes. All characters beyond '
    'ASCII except spaces and quotation marks count as letters.';

CREATE FUNCTION pushmta_engine.edit_distance(one text, other text) RETURNS integer LANGUAGE plpgsql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    distances integer[] := ARRAY(SELECT generate_series(0, length(other)));
    diagonal integer;
    above integer;
BEGIN
    FOR i IN 1..length(one) LOOP
        diagonal := i - 1;
        distances[1] := i;
        FOR j IN 1..length(other) LOOP
            above := distances[j + 1];
            distances[j + 1] := least(above + 1, distances[j] + 1, diagonal + (substr(one, i, 1) <> substr(other, j, 1))::integer);
            diagonal := above;
        END LOOP;
    END LOOP;
    RETURN distances[length(other) + 1];
END $$;
COMMENT ON FUNCTION pushmta_engine.edit_distance(text, text) IS
    'How many letters must be changed, added or removed to turn one text into another (Levenshtein distance).';

CREATE FUNCTION pushmta_engine.nearest_name(name text, candidates jsonb, most integer) RETURNS text LANGUAGE sql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT d.candidate FROM (
        SELECT u.candidate, u.n, CASE WHEN abs(length(u.candidate) - length(nearest_name.name)) <= nearest_name.most
            THEN edit_distance(lower(nearest_name.name), lower(u.candidate)) END AS distance
        FROM jsonb_array_elements_text(nearest_name.candidates) WITH ORDINALITY u(candidate, n)
    ) d WHERE d.distance <= nearest_name.most ORDER BY d.distance, d.n LIMIT 1 $$;
COMMENT ON FUNCTION pushmta_engine.nearest_name(text, jsonb, integer) IS
    'The candidate that a name was probably meant to be: the one with the fewest different letters, at most this many; null if none is '
    'that close.';

CREATE FUNCTION pushmta_engine.refuse_filter(code text, place integer, cause text, remedy text) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'PM021', MESSAGE = cause, HINT = remedy, DETAIL = place, DATATYPE = code;
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_filter(text, integer, text, text) IS
    'Stops the parsing of a filter with an error, which parse_filter returns. The code is syntax, unknownField, kind or limit.';

CREATE FUNCTION pushmta_engine.refuse_token(kind text, word text, place integer, cause text, remedy text) RETURNS void
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    -- Names and signs are shown as they are, but values are not, as they may be personal.
    shown CONSTANT text := CASE kind WHEN 'text' THEN 'a text' WHEN 'number' THEN 'a number' WHEN 'end' THEN 'the end'
        ELSE '"' || left(word, 64) || '"' END;
BEGIN
    IF kind <> 'wrong' THEN
        PERFORM refuse_filter('syntax', place, replace(shown || ' ' || cause, 'the end stands', 'the filter ends'), remedy);
    ELSIF word ~ '^[\u0027"]' THEN
        PERFORM refuse_filter('syntax', place, 'a quote is not closed', 'close it; a quote inside is written twice');
    ELSIF word ~ '^[+-]?[0-9]+([.][0-9]+)?$' THEN
        PERFORM refuse_filter('limit', place, format('a number has %s characters, %s are allowed', length(word),
            (SELECT r.document ->> 'digits' FROM input_rule r WHERE r.name = 'filter')), 'write a shorter one');
    ELSIF word ~ '^[+-]?[0-9]' THEN
        PERFORM refuse_filter('syntax', place, 'a number is followed by letters',
            'write numbers as 12 or 12.5, and texts in single quotes');
    ELSIF word ~ '^[\u2018\u2019\u201C\u201D]' THEN
        PERFORM refuse_filter('syntax', place, 'a quotation mark is a typographic one', 'put texts into straight single quotes');
    ELSE
        PERFORM refuse_filter('syntax', place, format('the character %s has no meaning here',
            CASE WHEN word ~ '^[!-~]' THEN left(word, 1) ELSE 'U+' || upper(lpad(to_hex(ascii(word)), 4, '0')) END),
            'put texts into single quotes');
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_token(text, text, integer, text, text) IS
    'Refuses a filter because of a token: says what the token is and why it is wrong there, or why it is not a token.';

CREATE FUNCTION pushmta_engine.refuse_field(rules jsonb, kinds text[], words text[], places integer[], i integer) RETURNS void
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    word CONSTANT text := left(words[i], 64);
    known CONSTANT text := (SELECT string_agg(u.name, ', ' ORDER BY u.n)
        FROM jsonb_array_elements_text(rules -> 'fields') WITH ORDINALITY u(name, n));
    is_group CONSTANT boolean := rules -> 'groups' ? words[i];
BEGIN
    IF kinds[i] <> 'name' AND kinds[i] !~ '^[A-Z]' THEN
        PERFORM refuse_token(kinds[i], words[i], places[i], 'stands where a field is expected',
            'write the field first, as in locale = ''fr''; fields are ' || known);
    ELSIF is_group AND kinds[i + 1] = '.' THEN
        PERFORM refuse_token(kinds[i + 2], words[i + 2], places[i + 2], 'stands where the name of a field is expected',
            format('write %s.NAME, or %s."any NAME"', word, word));
    ELSIF is_group THEN
        PERFORM refuse_filter('unknownField', places[i], format('"%s" needs a name behind it', word), format('write %s.NAME', word));
    END IF;
    -- A name that resembles no field is most probably a recipient field or a parameter of the app.
    PERFORM refuse_filter('unknownField', places[i], format('there is no field "%s"', word),
        format('did you mean %s? Fields are %s; those of the recipient are recipient.NAME, what the app registers is parameters.NAME',
            coalesce(CASE WHEN lower(word COLLATE "C") IN ('lang', 'language') THEN 'locale' END,
                nearest_name(words[i], (rules -> 'fields') || (rules -> 'behaviours'), greatest(1, length(words[i]) / 3)),
                format('parameters.%s or recipient.%s', word, word)), known));
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_field(jsonb, text[], text[], integer[], integer) IS
    'Refuses a filter without a field where one is expected.';

CREATE FUNCTION pushmta_engine.filter_number(value text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN value ~ '^[+-]?[0-9]{1,100}([.][0-9]{1,100})?$' THEN value::numeric END;
COMMENT ON FUNCTION pushmta_engine.filter_number(text) IS
    'A text as a number to compare with; null if it is not one. So no subscriber''s data can abort a preparation.';

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
COMMENT ON FUNCTION pushmta_engine.filter_time(text) IS 'A text as a time to compare with; null if it is not one.';

CREATE FUNCTION pushmta_engine.filter_distance(rules jsonb, kinds text[], words text[], places integer[], i integer)
    RETURNS pushmta_engine.filter_part LANGUAGE plpgsql IMMUTABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    -- A sign before a digit belongs to the number.
    is_joined CONSTANT boolean := kinds[i + 1] = 'number' AND words[i + 1] ~ '^[+-]';
    place integer := i + CASE WHEN is_joined THEN 1 ELSE 2 END;
    digits CONSTANT text := CASE WHEN is_joined THEN substr(words[place], 2) ELSE words[place] END;
    furthest CONSTANT numeric := (rules ->> 'furthest')::numeric;
    amount numeric;
    seconds numeric;
BEGIN
    IF NOT is_joined AND kinds[i + 1] NOT IN ('+', '-') THEN
        RETURN ROW(i + 1, NULL, 'time', '{"before_start":0}')::filter_part;
    END IF;
    amount := CASE WHEN kinds[place] = 'number' AND digits ~ '^([+]?[0-9]+|-0+)$' THEN digits::numeric END;
    seconds := CASE WHEN amount <= furthest AND kinds[place + 1] = 'name'
        THEN amount * (rules -> 'units' ->> lower(words[place + 1] COLLATE "C"))::numeric END;
    IF (seconds <= furthest) IS NOT TRUE THEN
        place := place + (amount <= furthest IS TRUE)::integer;
        PERFORM refuse_token(kinds[place], words[place], places[place], 'makes no distance from now of at most a hundred years',
            'write now - 7 days; units are seconds, minutes, hours, days and weeks');
    END IF;
    RETURN ROW(place + 2, NULL, 'time', format('{"before_start":%s}',
        CASE WHEN words[i + 1] ^@ '+' THEN -seconds ELSE seconds END))::filter_part;
END $$;
COMMENT ON FUNCTION pushmta_engine.filter_distance(jsonb, text[], text[], integer[], integer) IS
    'Reads now, now - 7 days or now + 2 hours.';

CREATE FUNCTION pushmta_engine.filter_microseconds(moment timestamptz) RETURNS bigint LANGUAGE sql STABLE
    RETURN (extract(epoch FROM moment) * 1000000)::bigint;
COMMENT ON FUNCTION pushmta_engine.filter_microseconds(timestamptz) IS 'A time in the form of a filter''s tree: microseconds since 1970.';

CREATE FUNCTION pushmta_engine.filter_value(
    rules jsonb, kinds text[], words text[], places integer[], i integer, field text, field_kind text
) RETURNS pushmta_engine.filter_part LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    value filter_part := ROW(i + 1, NULL, 'text', NULL);
    moment timestamptz;
BEGIN
    CASE kinds[i]
    WHEN 'text' THEN
        IF field_kind IS DISTINCT FROM 'text' THEN
            moment := filter_time(words[i]);
        END IF;
        IF moment IS NOT NULL AND field_kind = 'time' THEN
            value.kind := 'time';
        END IF;
        value.tree := '{' || concat_ws(',', CASE WHEN value.kind = 'text' THEN '"text":' || to_json(words[i]) END,
            '"at":' || filter_microseconds(moment)) || '}';
    WHEN 'number' THEN
        value.kind := 'number';
        value.tree := format('{"number":"%s"}', ltrim(words[i], '+'));
    WHEN 'TRUE', 'FALSE' THEN
        value.kind := 'boolean';
        value.tree := format('{"boolean":%s}', lower(kinds[i]));
    WHEN 'DATE', 'TIMESTAMP' THEN
        moment := CASE WHEN kinds[i + 1] = 'text' THEN filter_time(words[i + 1]) END;
        IF moment IS NULL THEN
            PERFORM refuse_token(kinds[i + 1], words[i + 1], places[i + 1], 'is no day or time',
                'write date ''2026-01-31'' or date ''2026-01-31T10:00:00Z''');
        END IF;
        value := ROW(i + 2, NULL, 'time', format('{"at":%s}', filter_microseconds(moment)));
    WHEN 'NOW' THEN
        value := filter_distance(rules, kinds, words, places, i);
    WHEN 'NULL' THEN
        PERFORM refuse_filter('syntax', places[i], 'nothing equals null', 'write is null or is not null');
    ELSE
        PERFORM refuse_token(kinds[i], words[i], places[i], 'stands where a value is expected',
            'write a text in single quotes, a number, true, false, date ''2026-01-31'' or now - 7 days');
    END CASE;
    IF field_kind <> 'text' AND field_kind <> value.kind THEN
        PERFORM refuse_filter('kind', places[i], format('%s is a %s and is compared with a %s', field, field_kind, value.kind),
            'compare it with ' || CASE field_kind WHEN 'number' THEN '12.5' WHEN 'boolean' THEN 'true or false'
                ELSE '''2026-01-31'', ''2026-01-31T10:00Z'' or now - 7 days' END);
    END IF;
    RETURN value;
END $$;
COMMENT ON FUNCTION pushmta_engine.filter_value(jsonb, text[], text[], integer[], integer, text, text) IS
    'Reads a literal to compare a field of this kind with; null is the kind of a field that only the catalog knows.';

CREATE FUNCTION pushmta_engine.filter_choice(field text, choices jsonb, kind text, word text, place integer) RETURNS void
    LANGUAGE plpgsql IMMUTABLE SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    IF kind <> 'text' OR NOT choices ? word THEN
        PERFORM refuse_filter('kind', place, field || ' is never that',
            coalesce('did you mean ''' || CASE kind WHEN 'text' THEN nearest_name(word, choices, greatest(2, length(word) / 3)) END
                || '''? ', '')
            || 'It is ' || (SELECT regexp_replace(string_agg(quote_literal(u.choice), ', ' ORDER BY u.n), ', ([^,]*)$', ' or \1')
                FROM jsonb_array_elements_text(choices) WITH ORDINALITY u(choice, n)));
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.filter_choice(text, jsonb, text, text, integer) IS
    'Refuses a literal that is not a possible value of a column with a fixed set: = would match nothing, and != would match everything.';

CREATE FUNCTION pushmta_engine.filter_list(
    rules jsonb, kinds text[], words text[], places integer[], i integer, field text, field_kind text, choices jsonb
) RETURNS pushmta_engine.filter_part LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    most CONSTANT integer := (rules ->> 'values')::integer;
    value filter_part;
    first_kind text;
    literals text[] := ARRAY[]::text[];
BEGIN
    IF kinds[i] <> '(' THEN
        PERFORM refuse_token(kinds[i], words[i], places[i], 'stands where "(" is expected', 'write in (''a'', ''b'')');
    END IF;
    LOOP
        i := i + 1;
        value := filter_value(rules, kinds, words, places, i, field, field_kind);
        IF choices IS NOT NULL THEN
            PERFORM filter_choice(field, choices, value.kind, words[i], places[i]);
        END IF;
        IF first_kind <> value.kind THEN
            PERFORM refuse_filter('kind', places[i], format('the list has a %s and a %s', first_kind, value.kind),
                'give values of one kind');
        END IF;
        first_kind := value.kind;
        literals := literals || value.tree;
        IF cardinality(literals) > most THEN
            PERFORM refuse_filter('limit', places[i], format('the list has more than %s values', most),
                'use explicit targets or an exclusion list');
        END IF;
        i := value.next;
        EXIT WHEN kinds[i] <> ',';
    END LOOP;
    IF kinds[i] <> ')' THEN
        PERFORM refuse_token(kinds[i], words[i], places[i], 'stands where a comma or ")" is expected', 'write in (''a'', ''b'')');
    END IF;
    value.next := i + 1;
    value.tree := '[' || array_to_string(literals, ',') || ']';
    RETURN value;
END $$;
COMMENT ON FUNCTION pushmta_engine.filter_list(jsonb, text[], text[], integer[], integer, text, text, jsonb) IS
    'Reads the values of an IN list, which must be of one kind.';

CREATE FUNCTION pushmta_engine.filter_within(rules jsonb, kinds text[], words text[], places integer[], i integer)
    RETURNS pushmta_engine.filter_part LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    -- Whole days: the history knows no hours.
    unit CONSTANT text := CASE WHEN kinds[i + 2] = 'name' THEN lower(words[i + 2] COLLATE "C") END;
    days CONSTANT numeric := (rules -> 'units' ->> unit)::numeric / 86400;
BEGIN
    IF kinds[i] <> 'name' OR lower(words[i] COLLATE "C") <> 'within' THEN
        RETURN ROW(i, NULL, NULL, '')::filter_part;
    ELSIF kinds[i + 1] <> 'number' OR words[i + 1] !~ '^[0-9]{1,9}$' THEN
        PERFORM refuse_token(kinds[i + 1], words[i + 1], places[i + 1], 'stands where a whole number is expected', 'write within 30 days');
    ELSIF (days >= 1) IS NOT TRUE THEN
        PERFORM refuse_token(kinds[i + 2], words[i + 2], places[i + 2], 'stands where "days" or "weeks" is expected',
            'write within 30 days; the history of what people did has whole days');
    ELSIF words[i + 1]::numeric * days NOT BETWEEN 1 AND (rules ->> 'days')::numeric THEN
        PERFORM refuse_filter('limit', places[i + 1], format('the history of what people did has %s days', rules ->> 'days'),
            format('write within 1 to %s days', rules ->> 'days'));
    END IF;
    RETURN ROW(i + 3, NULL, NULL, format(',"days":%s', (words[i + 1]::numeric * days)::integer))::filter_part;
END $$;
COMMENT ON FUNCTION pushmta_engine.filter_within(jsonb, text[], text[], integer[], integer) IS
    'Reads the time of a test of behaviour, such as within 30 days; nothing if there is none.';

CREATE FUNCTION pushmta_engine.filter_behaviour(rules jsonb, kinds text[], words text[], places integer[], i integer, tests integer)
    RETURNS pushmta_engine.filter_part LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    done CONSTANT text := lower(words[i] COLLATE "C");
    about CONSTANT text := CASE WHEN kinds[i + 1] = 'name' THEN lower(words[i + 1] COLLATE "C") END;
    value text := 'true';
    part filter_part;
BEGIN
    IF (rules -> 'subjects' ? about) IS NOT TRUE THEN
        PERFORM refuse_token(kinds[i + 1], words[i + 1], places[i + 1], 'stands where delivery, label, category or any is expected',
            format('write %1$s delivery 4711, %1$s label ''Spring'', %1$s category ''news'' or %1$s any', done));
    ELSIF about = 'delivery' THEN
        IF kinds[i + 2] <> 'number' OR words[i + 2] !~ '^[0-9]{1,18}$' OR words[i + 2] ~ '^0+$' THEN
            PERFORM refuse_token(kinds[i + 2], words[i + 2], places[i + 2], 'stands where the number of a delivery is expected',
                format('write %s delivery 4711', done));
        END IF;
        value := words[i + 2]::bigint;
    ELSIF about <> 'any' THEN
        IF kinds[i + 2] <> 'text' OR words[i + 2] = '' THEN
            PERFORM refuse_token(kinds[i + 2], words[i + 2], places[i + 2], format('stands where a %s is expected', about),
                format('put it into single quotes: %s %s ''spring''', done, about));
        END IF;
        value := to_json(words[i + 2]);
    END IF;
    part := filter_within(rules, kinds, words, places, i + CASE about WHEN 'any' THEN 2 ELSE 3 END);
    RETURN ROW(part.next, tests, NULL, format('{"%s":{"%s":%s%s}}', done, about, value, part.tree))::filter_part;
END $$;
COMMENT ON FUNCTION pushmta_engine.filter_behaviour(jsonb, text[], text[], integer[], integer, integer) IS
    'Reads a test of what people did: sent, received or clicked, which deliveries, and within which time.';

CREATE FUNCTION pushmta_engine.filter_test(rules jsonb, kinds text[], words text[], places integer[], i integer, tests integer)
    RETURNS pushmta_engine.filter_part LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    is_group CONSTANT boolean := kinds[i + 1] = '.';
    word CONSTANT text := words[i];
    rule CONSTANT jsonb := CASE WHEN kinds[i] = 'name' THEN rules -> CASE WHEN is_group THEN 'groups' ELSE 'columns' END -> word END;
    field_kind CONSTANT text := CASE WHEN is_group THEN rule #>> '{}' ELSE rule ->> 'kind' END;
    field CONSTANT text := format('{"%s":%s}', CASE WHEN is_group THEN word ELSE 'column' END,
        to_json(CASE WHEN is_group THEN words[i + 2] ELSE word END));
    asked text;
    is_not boolean;
    value filter_part;
BEGIN
    IF tests > (rules ->> 'tests')::integer THEN
        PERFORM refuse_filter('limit', places[i], format('it has more than %s tests', rules ->> 'tests'),
            'use in (…), explicit targets or an exclusion list');
    ELSIF kinds[i] = 'name' AND NOT is_group AND rules -> 'behaviours' ? lower(word COLLATE "C") THEN
        RETURN filter_behaviour(rules, kinds, words, places, i, tests);
    -- A keyword is a field's name only right behind the dot: `recipient. not in (…)` lacks one.
    ELSIF rule IS NULL OR is_group AND kinds[i + 2] NOT IN ('name', 'quoted')
        AND (kinds[i + 2] !~ '^[A-Z]' OR places[i + 2] > places[i + 1] + 1) THEN
        PERFORM refuse_field(rules, kinds, words, places, i);
    END IF;
    i := i + CASE WHEN is_group THEN 3 ELSE 1 END;
    is_not := kinds[i] = 'NOT';
    i := i + is_not::integer;
    asked := kinds[i];
    IF asked IN ('=', '!=', '<', '<=', '>', '>=') AND NOT is_not THEN
        i := i + 1;
        value := filter_value(rules, kinds, words, places, i, word, field_kind);
        IF rule ? 'words' THEN
            PERFORM filter_choice(word, rule -> 'words', value.kind, words[i], places[i]);
        ELSIF value.kind = 'boolean' AND asked NOT IN ('=', '!=') THEN
            PERFORM refuse_filter('kind', places[i], 'booleans have no order', 'compare them with = or !=');
        END IF;
        value.tree := format('{"compare":[%s,"%s",%s]}', field, asked, value.tree);
    ELSIF asked = 'IN' THEN
        value := filter_list(rules, kinds, words, places, i + 1, word, field_kind, rule -> 'words');
        value.tree := format('{"in":[%s,%s]}', field, value.tree);
    ELSE
        value := filter_text_test(kinds, words, places, i, word, field, field_kind, is_not);
    END IF;
    IF is_not THEN
        value.tree := format('{"not":%s}', value.tree);
    END IF;
    value.tests := tests;
    RETURN value;
END $$;
COMMENT ON FUNCTION pushmta_engine.filter_test(jsonb, text[], text[], integer[], integer, integer) IS
    'Reads a test: a field and the condition on it.';

CREATE FUNCTION pushmta_engine.filter_text_test(
    kinds text[], words text[], places integer[], i integer, name text, field text, field_kind text, is_not boolean
) RETURNS pushmta_engine.filter_part LANGUAGE plpgsql IMMUTABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    asked CONSTANT text := kinds[i];
BEGIN
    IF asked = 'IS' AND NOT is_not THEN
        is_not := kinds[i + 1] = 'NOT';
        i := i + 1 + is_not::integer;
        IF kinds[i] <> 'NULL' THEN
            PERFORM refuse_token(kinds[i], words[i], places[i], 'stands where "null" is expected', 'write is null or is not null');
        END IF;
        RETURN ROW(i + 1, NULL, NULL, format(CASE WHEN is_not THEN '{"not":{"is_null":%s}}' ELSE '{"is_null":%s}' END,
            field))::filter_part;
    ELSIF asked = 'STARTS' THEN
        i := i + 1;
        IF kinds[i] <> 'WITH' THEN
            PERFORM refuse_token(kinds[i], words[i], places[i], 'stands where "with" is expected', 'write starts with ''text''');
        END IF;
    ELSIF asked <> 'CONTAINS' THEN
        PERFORM refuse_token(asked, words[i], places[i], 'stands where a comparison is expected',
            'write =, !=, <, <=, >, >=, in (…), contains ''…'', starts with ''…'', is null or is not null');
    END IF;
    i := i + 1;
    IF kinds[i] <> 'text' THEN
        PERFORM refuse_token(kinds[i], words[i], places[i], 'stands where a text is expected', 'put it into single quotes');
    ELSIF field_kind <> 'text' THEN
        PERFORM refuse_filter('kind', places[i], format('%s is a %s, which contains no text', name, field_kind),
            'compare it with =, <, > or in');
    END IF;
    RETURN ROW(i + 1, NULL, NULL, format('{"%s":[%s,%s]}', CASE asked WHEN 'STARTS' THEN 'starts_with' ELSE 'contains' END, field,
        to_json(words[i])))::filter_part;
END $$;
COMMENT ON FUNCTION pushmta_engine.filter_text_test(text[], text[], integer[], integer, text, text, text, boolean) IS
    'Reads a test with contains, starts with, is null or is not null; is_not tells that a not precedes it.';

CREATE FUNCTION pushmta_engine.filter_joined(word text, trees text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN cardinality(trees) = 1 THEN trees[1] ELSE format('{"%s":[%s]}', word, array_to_string(trees, ',')) END;
COMMENT ON FUNCTION pushmta_engine.filter_joined(text, text[]) IS
    'Combines trees into one: a single tree itself, otherwise all or any of them.';

CREATE FUNCTION pushmta_engine.filter_alternatives(
    rules jsonb, kinds text[], words text[], places integer[], i integer, tests integer, depth integer
) RETURNS pushmta_engine.filter_part LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    room CONSTANT integer := (rules ->> 'depth')::integer - depth;
    part filter_part := ROW(i, tests, NULL, NULL);
    nots integer;
    all_of text[] := ARRAY[]::text[];
    any_of text[] := ARRAY[]::text[];
BEGIN
    LOOP
        nots := 0;
        WHILE kinds[part.next] = 'NOT' AND nots < room LOOP
            nots := nots + 1;
            part.next := part.next + 1;
        END LOOP;
        IF nots >= room THEN
            PERFORM refuse_filter('limit', places[part.next], format('it is nested more than %s deep', rules ->> 'depth'),
                'use fewer parentheses');
        ELSIF kinds[part.next] = '(' THEN
            part := filter_alternatives(rules, kinds, words, places, part.next + 1, part.tests, depth + nots + 1);
            IF kinds[part.next] <> ')' THEN
                PERFORM refuse_token(kinds[part.next], words[part.next], places[part.next], 'stands where ")" is expected',
                    'close the parenthesis');
            END IF;
            part.next := part.next + 1;
        ELSE
            part := filter_test(rules, kinds, words, places, part.next, part.tests + 1);
        END IF;
        all_of := all_of || (repeat('{"not":', nots) || part.tree || repeat('}', nots));
        IF kinds[part.next] <> 'AND' THEN
            any_of := any_of || filter_joined('all', all_of);
            all_of := ARRAY[]::text[];
            EXIT WHEN kinds[part.next] <> 'OR';
        END IF;
        part.next := part.next + 1;
    END LOOP;
    part.tree := filter_joined('any', any_of);
    RETURN part;
END $$;
COMMENT ON FUNCTION pushmta_engine.filter_alternatives(jsonb, text[], text[], integer[], integer, integer, integer) IS
    'Reads tests and parentheses joined with and and or. It ends before any other token, and calls itself for a parenthesis.';

CREATE FUNCTION pushmta_engine.parse_filter(
    filter text, OUT tree jsonb, OUT "position" integer, OUT code text, OUT cause text, OUT remedy text
) LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    -- Concatenated to build an uncompressed value; the stored one would be decompressed on each access.
    rules CONSTANT jsonb := (SELECT r.document || '{}' FROM input_rule r WHERE r.name = 'filter');
    part filter_part;
    kinds text[];
    words text[];
    places integer[];
    place text;
BEGIN
    IF rules IS NULL THEN
        RAISE EXCEPTION 'This database has no filter rules.'
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Run pushmta migrate, which writes them.';
    ELSIF octet_length(filter) > (rules ->> 'bytes')::integer THEN
        code := 'limit';
        cause := format('it has %s bytes, %s are allowed', octet_length(filter), rules ->> 'bytes');
        remedy := 'use explicit targets or an exclusion list for long lists';
        RETURN;
    END IF;
    SELECT t.* INTO kinds, words, places FROM filter_tokens(filter, (rules ->> 'digits')::integer) t;
    IF kinds[1] = 'end' THEN
        PERFORM refuse_filter('syntax', places[1], 'it is empty', 'write a test such as locale = ''fr'', or leave the filter out');
    END IF;
    part := filter_alternatives(rules, kinds, words, places, 1, 0, 0);
    IF kinds[part.next] <> 'end' THEN
        PERFORM refuse_token(kinds[part.next], words[part.next], places[part.next],
            'stands where "and", "or" or the end is expected', 'join tests with and or or');
    END IF;
    tree := part.tree::jsonb;
EXCEPTION WHEN SQLSTATE 'PM021' THEN
    GET STACKED DIAGNOSTICS cause = MESSAGE_TEXT, remedy = PG_EXCEPTION_HINT, place = PG_EXCEPTION_DETAIL, code = PG_DATATYPE_NAME;
    "position" := place::integer;
END $$;
COMMENT ON FUNCTION pushmta_engine.parse_filter(text) IS
    'The tree of a filter, or why it is not one. The error has: the position in the text, 1 for the first character, null for the whole '
    'text; the code syntax, unknownField, kind or limit; the cause, without any value of the filter, as that may be personal; and the '
    'remedy. Whether the columns of a mapping exist is checked when the delivery is prepared.';

CREATE FUNCTION pushmta_engine.filter_cause(place integer, cause text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN concat('character ' || place || ' of the filter: ', cause);
COMMENT ON FUNCTION pushmta_engine.filter_cause(integer, text) IS 'What is wrong with a filter, with its position if known.';

CREATE FUNCTION pushmta_engine.filter_problem(filter text) RETURNS pushmta_engine.input_problem LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT ROW('', filter_cause(p."position", p.cause), p.remedy)::input_problem
    FROM parse_filter(filter_problem.filter) p WHERE p.cause IS NOT NULL $$;
COMMENT ON FUNCTION pushmta_engine.filter_problem(text) IS
    'Why a text is not a filter; null if it is one. Whether the columns of a mapping exist is checked when the delivery is prepared.';

CREATE FUNCTION pushmta_engine.filter_problem(delivery bigint, filter text) RETURNS pushmta_engine.input_problem
    LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    read record := parse_filter(filter);
    service text;
    wrong input_problem;
BEGIN
    IF read.cause IS NOT NULL THEN
        RETURN ROW('', filter_cause(read."position", read.cause), read.remedy)::input_problem;
    END IF;
    wrong := behaviour_problem(delivery, read.tree);
    IF wrong.problem IS NOT NULL THEN
        RETURN wrong;
    ELSIF NOT jsonb_path_exists(read.tree, '$.**.mapping') THEN
        RETURN NULL;
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
    'Why a text is not a filter for a delivery; null if it is one. Whether the columns of a mapping exist is checked when the delivery '
    'is prepared.';
