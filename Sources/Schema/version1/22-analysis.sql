-- The analysis of a delivery before its start: its messages are prepared and held, counted and tried, and leave when it starts.
--
-- Held parts are ordinary parts in the state 'held', which no claim reads. A start within the hour releases them. A later one finds
-- them old: they are dropped and prepared again shortly before it, so that it reaches the devices of that moment.

CREATE TABLE pushmta_engine.delivery_analysis (
    delivery_id bigint PRIMARY KEY REFERENCES pushmta_engine.delivery,
    requested_by text NOT NULL DEFAULT session_user,
    requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at timestamptz,
    -- The numbers of the delivery then. They stay when its messages are dropped.
    messages bigint,
    excluded bigint,
    seeds bigint,
    -- The parts up to this one are in delivery_count.
    counted_through bigint NOT NULL DEFAULT 0,
    -- Sizes of the payloads that were rendered, in bytes as the gateway counts them.
    rendered bigint NOT NULL DEFAULT 0,
    smallest integer,
    largest integer,
    -- The messages that would not be sent as they are, among the rendered ones.
    refused bigint NOT NULL DEFAULT 0,
    -- The same by variant, if it is an experiment.
    variants jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(variants) = 'array'),
    samples jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(samples) = 'array'),
    -- Why an earlier analysis was made again or dropped.
    remade_because text NOT NULL DEFAULT ''
);
COMMENT ON TABLE pushmta_engine.delivery_analysis IS
    'The last analysis of each delivery: what rendering a sample of its messages showed.';

CREATE TABLE pushmta_engine.delivery_problem (
    delivery_id bigint NOT NULL REFERENCES pushmta_engine.delivery,
    number integer NOT NULL,
    subject text NOT NULL,
    pointer text,
    problem text NOT NULL,
    remedy text NOT NULL,
    -- Who rejected the delivery, if that is the problem, and the hash of delivery_digest that they rejected.
    rejected_by text,
    rejected_digest text,
    PRIMARY KEY (delivery_id, number)
);
COMMENT ON TABLE pushmta_engine.delivery_problem IS
    'What the preparation of a delivery found wrong, or why its approval was rejected, until the delivery is changed or prepared again.';

-- One row for each combination: a few thousand at most, whatever the size of the delivery.
CREATE TABLE pushmta_engine.delivery_count (
    delivery_id bigint NOT NULL REFERENCES pushmta_engine.delivery,
    application_id integer NOT NULL REFERENCES pushmta_engine.application,
    locale text NOT NULL,
    time_zone text NOT NULL,
    -- 0: none.
    wave smallint NOT NULL,
    -- 0: none, 9: the rest.
    variant smallint NOT NULL,
    messages bigint NOT NULL,
    PRIMARY KEY (delivery_id, application_id, locale, time_zone, wave, variant)
);
COMMENT ON TABLE pushmta_engine.delivery_count IS
    'The held messages of a delivery by application, locale, time zone, wave and variant.';
CREATE INDEX delivery_count_application ON pushmta_engine.delivery_count (application_id);

CREATE TABLE pushmta_engine.delivery_longest (
    delivery_id bigint NOT NULL REFERENCES pushmta_engine.delivery,
    application_id integer NOT NULL,
    subscription_id bigint NOT NULL,
    target_id bigint,
    bytes integer NOT NULL
);
COMMENT ON TABLE pushmta_engine.delivery_longest IS
    'The messages of a delivery with the longest values, a thousand of the first chunk of its preparation and twenty of each other, until '
    'they are rendered.';
CREATE INDEX delivery_longest_delivery ON pushmta_engine.delivery_longest (delivery_id, bytes DESC);

-- In plpgsql, a session plans it once: it is asked at each start.
CREATE FUNCTION pushmta_engine.preparation_digest(delivery bigint) RETURNS text LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    RETURN (SELECT md5(jsonb_build_array(d.content, d.target_kind, d.target_filter, d.target_sql, d.one_per_user, d.allow_duplicates,
        d.one_time_code, d.seed_names, d.priority,
        (SELECT jsonb_agg(x.category_id ORDER BY x.application_id) FROM delivery_application x WHERE x.delivery_id = d.id),
        (SELECT jsonb_agg(jsonb_build_array(to_jsonb(a) - 'icon' - 'changed_at' - 'label', to_jsonb(e) - 'changed_at' - 'active',
                c.fingerprint, c.attributes, to_jsonb(m)) ORDER BY a.id)
            FROM delivery_application x
            JOIN application a ON a.id = x.application_id
            JOIN external_account e ON e.id = x.external_account_id
            JOIN service v ON v.id = a.service_id
            LEFT JOIN credential c ON c.id = a.credential_id
            LEFT JOIN target_mapping m ON m.id = v.target_mapping_id
            WHERE x.delivery_id = d.id),
        (SELECT jsonb_agg(jsonb_build_array(l.id, l.changed_at) ORDER BY l.id)
            FROM delivery_exclusion_list x JOIN exclusion_list l ON l.id = x.list_id WHERE x.delivery_id = d.id),
        (SELECT jsonb_agg(DISTINCT jsonb_build_array(c.id, c.max_messages, c.per, c.length, c.categories,
                is_transactional(d.id, a.service_id)))
            FROM delivery_application x JOIN application a ON a.id = x.application_id JOIN frequency_cap c ON c.service_id = a.service_id
            WHERE x.delivery_id = d.id),
        (SELECT jsonb_agg(jsonb_build_array(c.application_id, c.seed, c.share) ORDER BY c.application_id) FROM control_of(d.id) c),
        (SELECT jsonb_build_array(p.local_time, p.on_past) FROM delivery_plan p WHERE p.delivery_id = d.id),
        (SELECT jsonb_agg(jsonb_build_array(w.number, w.share, w.size) ORDER BY w.number) FROM delivery_wave w WHERE w.delivery_id = d.id),
        (SELECT jsonb_agg(DISTINCT jsonb_build_array(v.id, v.time_zone, hours_rule(d.id, v.id) <> 'ignore'))
            FROM delivery_application x JOIN application a ON a.id = x.application_id JOIN service v ON v.id = a.service_id
            WHERE x.delivery_id = d.id),
        (SELECT jsonb_agg(jsonb_build_array(e.seed, e.hold_out, c.cell, c.share, c.content) ORDER BY c.cell)
            FROM experiment e JOIN experiment_cell c ON c.delivery_id = e.delivery_id WHERE e.delivery_id = d.id),
        (SELECT jsonb_agg(jsonb_build_array(n.id, n.subscription_id, n.variables) ORDER BY n.id)
            FROM seed n
            JOIN subscription s ON s.id = n.subscription_id
            JOIN delivery_application x ON x.delivery_id = d.id AND x.application_id = s.application_id
            WHERE d.seed_names IS NULL OR n.name = ANY(d.seed_names)))::text)
    FROM pushmta_engine.delivery d WHERE d.id = preparation_digest.delivery);
END $$;
COMMENT ON FUNCTION pushmta_engine.preparation_digest(bigint) IS
    'Changes with whatever decides a delivery''s messages: content, target, exclusion lists, frequency caps, control groups, seed '
    'addresses, priority, applications, accounts, credentials, mappings.';

CREATE FUNCTION pushmta_engine.drop_preparation(delivery bigint) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    day date := (SELECT d.log_day FROM pushmta_engine.delivery d WHERE d.id = delivery);
    parts bigint[] := ARRAY(SELECT p.id FROM delivery_part p WHERE p.delivery_id = delivery);
BEGIN
    DELETE FROM delivery_part_target t WHERE t.log_day = day AND t.part_id = ANY(parts);
    DELETE FROM delivery_part p WHERE p.id = ANY(parts);
    DELETE FROM exclusion_log x WHERE x.log_day = day AND x.delivery_id = delivery;
    PERFORM drop_caps(delivery);
    DELETE FROM message_id_range r WHERE r.delivery_id = delivery;
    DELETE FROM delivery_longest l WHERE l.delivery_id = delivery;
    UPDATE delivery_plan p SET planned_through = 0, progress = 0, unknown_zones = 0 WHERE p.delivery_id = delivery;
    UPDATE experiment e SET winner = NULL, decided_at = NULL, decision = '', counted_at = NULL WHERE e.delivery_id = delivery;
    UPDATE experiment_cell c SET messages = 0, sent = 0, received = 0, clicked = 0, converted = 0 WHERE c.delivery_id = delivery;
    UPDATE delivery_wave w SET messages = 0, opened_at = NULL, passed_at = NULL, held_at = NULL WHERE w.delivery_id = delivery;
    UPDATE delivery_analysis a SET counted_through = 0, samples = '[]' WHERE a.delivery_id = delivery;
    UPDATE delivery_application a SET prepared_through = 0, prepare_to = NULL, prepared = false, messages = 0
    WHERE a.delivery_id = delivery;
    UPDATE pushmta_engine.delivery d SET frozen_at = NULL, frozen_until = NULL, frozen_digest = '', filter_now = NULL, analysed = false,
        preparation = d.preparation + 1, message_id_base = NULL, target = 0, excluded = 0, seeds = 0, first_seed = 1,
        prepared_through = 0, prepare_to = NULL, prepared = false, preparing_host = '', changed_at = now(),
        -- It will leave on the day of its approval at the earliest, not on that of its request.
        log_day = CASE WHEN d.starts_approved THEN message_day() ELSE d.log_day END,
        gate = CASE WHEN d.gate = '' THEN '' ELSE uncounted() END
    WHERE d.id = delivery;
END $$;
COMMENT ON FUNCTION pushmta_engine.drop_preparation(bigint) IS
    'Deletes what the preparation of a locked delivery made. The caller knows that none of its messages has left. The numbers of its '
    'analysis stay. The messages of one that starts as soon as it is approved get the present day.';

CREATE FUNCTION pushmta_engine.drop_analysis(delivery bigint, why text DEFAULT '') RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    had boolean := EXISTS (SELECT FROM delivery_analysis a WHERE a.delivery_id = delivery);
BEGIN
    PERFORM drop_preparation(delivery);
    -- A change that leaves what was rejected as it was does not end the rejection: see forget_rejection.
    PERFORM forget_findings(delivery, why <> '');
    IF had AND why <> '' THEN
        INSERT INTO delivery_analysis (delivery_id, remade_because) VALUES (delivery, why);
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.drop_analysis(bigint, text) IS
    'Deletes what the preparation of a locked delivery made, and what its analysis found: it will send something else. The reason, unless '
    'it is empty, stays.';

CREATE FUNCTION pushmta_engine.forget_findings(delivery bigint, keeps_rejection boolean DEFAULT false) RETURNS void LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
    DELETE FROM delivery_analysis a WHERE a.delivery_id = forget_findings.delivery;
    DELETE FROM delivery_count c WHERE c.delivery_id = forget_findings.delivery;
    DELETE FROM delivery_longest l WHERE l.delivery_id = forget_findings.delivery;
    DELETE FROM delivery_problem b WHERE b.delivery_id = forget_findings.delivery
        AND NOT (keeps_rejection AND b.rejected_by IS NOT NULL) $$;
COMMENT ON FUNCTION pushmta_engine.forget_findings(bigint, boolean) IS
    'Deletes what the analysis of a delivery found, and why somebody has rejected it, unless that is kept.';

CREATE FUNCTION pushmta_engine.analysis_fault(delivery bigint, begins timestamptz) RETURNS text LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    RETURN (SELECT CASE WHEN d.frozen_digest <> preparation_digest(d.id)
            THEN 'its content, target, seed addresses, application or credential has changed since'
        WHEN begins > d.frozen_until THEN
            format('it would be %s old at the start', justify_interval(date_trunc('minute', begins - d.frozen_at))) END
    FROM pushmta_engine.delivery d WHERE d.id = analysis_fault.delivery AND d.frozen_until IS NOT NULL);
END $$;
COMMENT ON FUNCTION pushmta_engine.analysis_fault(bigint, timestamptz) IS
    'Why the messages that were prepared for a delivery may not leave from this moment on; null if they may, or if there are none.';

CREATE FUNCTION pushmta_engine.keep_analysis(delivery bigint, begins timestamptz) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    why text := analysis_fault(delivery, begins);
BEGIN
    IF why IS NULL THEN
        RETURN (SELECT d.frozen_until IS NOT NULL FROM pushmta_engine.delivery d WHERE d.id = delivery);
    END IF;
    PERFORM drop_preparation(delivery);
    UPDATE delivery_analysis a SET remade_because = why WHERE a.delivery_id = delivery;
    RETURN false;
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_analysis(bigint, timestamptz) IS
    'Whether the messages that were prepared for a locked delivery may leave from this moment on. If not, they are dropped, with the '
    'reason.';

CREATE FUNCTION pushmta_engine.release_parts(delivery bigint, most integer) RETURNS integer LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    parts bigint[] := ARRAY(SELECT h.id FROM delivery_application a CROSS JOIN LATERAL (
        SELECT f.id FROM delivery_part f
        WHERE f.delivery_id = a.delivery_id AND f.application_id = a.application_id AND f.state = 'held' ORDER BY f.id LIMIT most) h
        WHERE a.delivery_id = delivery);
    number bigint := nextval(pg_get_serial_sequence('pushmta_engine.delivery_part', 'id'));
BEGIN
    IF EXISTS (SELECT FROM delivery_plan p WHERE p.delivery_id = delivery) THEN
        PERFORM let_go(delivery, parts, now());
    ELSE
        UPDATE delivery_part p SET state = 'ready', not_before = now(), released_as = number
        WHERE p.state = 'held' AND p.id = ANY(parts);
    END IF;
    RETURN cardinality(parts);
END $$;
COMMENT ON FUNCTION pushmta_engine.release_parts(bigint, integer) IS
    'Releases up to the given number of held parts of each application of a locked delivery. Returns how many.';

CREATE FUNCTION pushmta.analyze_delivery(delivery bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
BEGIN
    IF found_state = 'analysing' THEN
        RETURN;
    ELSIF found_state NOT IN ('editing', 'ready') THEN
        RAISE EXCEPTION 'Delivery % is % and cannot be analysed.', delivery, found_state
            USING ERRCODE = 'PM008', HINT = 'Only a delivery that has not been started can be analysed.';
    ELSIF EXISTS (SELECT FROM pushmta_engine.delivery d WHERE d.id = delivery AND d.kind = 'continuous') THEN
        RAISE EXCEPTION 'Delivery % is continuous: it has no target to analyse.', delivery
            USING ERRCODE = 'PM007', HINT = 'Check it with pushmta.check_delivery, or send a proof with pushmta.proof_delivery.';
    END IF;
    PERFORM refuse_unlisted(delivery);
    PERFORM drop_analysis(delivery);
    PERFORM keep_plan(delivery);
    INSERT INTO delivery_analysis (delivery_id) VALUES (delivery);
    UPDATE pushmta_engine.delivery d SET state = 'analysing', state_reason = '', log_day = message_day(), changed_at = now()
    WHERE d.id = delivery;
    PERFORM pg_notify('pushmta_wake', delivery::text);
END $$;
COMMENT ON FUNCTION pushmta.analyze_delivery(bigint) IS
    'Prepares a delivery without sending it. It is ''analysing'', then ''ready'': pushmta.delivery_analysis has its numbers, and '
    'pushmta.start_delivery sends it. If it cannot be sent, it is ''editing'' again, and pushmta.delivery_problem says why.';

-- Its text is made only if it is compressed: 50,000 subscriptions take 60 ms, and with the text of each value 85 ms.
CREATE FUNCTION pushmta_engine.value_bytes(value jsonb) RETURNS integer LANGUAGE sql STABLE
    RETURN coalesce(CASE WHEN pg_column_compression(value) IS NULL THEN pg_column_size(value) ELSE octet_length(value::text) END, 0);
COMMENT ON FUNCTION pushmta_engine.value_bytes(jsonb) IS 'About how long a value is; 0 for none.';

CREATE FUNCTION pushmta_engine.count_held(delivery bigint) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    after bigint := coalesce((SELECT a.counted_through FROM delivery_analysis a WHERE a.delivery_id = delivery), 0);
BEGIN
    IF after = 0 THEN
        DELETE FROM delivery_count c WHERE c.delivery_id = delivery;
    END IF;
    WITH zoned AS MATERIALIZED (
        -- Where a zone decides, a part without one is of seed addresses.
        SELECT a.id FROM delivery_plan n JOIN delivery_application x ON x.delivery_id = n.delivery_id
        JOIN application a ON a.id = x.application_id
        WHERE n.delivery_id = delivery AND (n.local_time IS NOT NULL OR hours_rule(delivery, a.service_id) <> 'ignore')
    ), message AS MATERIALIZED (
        SELECT p.application_id, s.id, s.locale, CASE WHEN p.time_zone IS NOT NULL THEN p.time_zone
                WHEN p.application_id IN (SELECT z.id FROM zoned z) THEN '' ELSE s.time_zone END AS time_zone, coalesce(p.wave, 0) AS wave,
            coalesce(p.cell, 0) AS variant, u.target_id,
            value_bytes(s.recipient) + value_bytes(s.parameters) + value_bytes(s.extra) + value_bytes(x.variables) AS bytes
        FROM delivery_part p
        JOIN delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
        CROSS JOIN LATERAL unnest(t.subscription_ids, t.target_ids) u(id, target_id)
        JOIN subscription s ON s.id = u.id
        LEFT JOIN pushmta.delivery_target x ON x.id = u.target_id
        WHERE p.delivery_id = delivery AND p.id > after AND p.state = 'held'
    ), counted AS (
        INSERT INTO delivery_count AS c (delivery_id, application_id, locale, time_zone, wave, variant, messages)
        SELECT delivery, m.application_id, m.locale, m.time_zone, m.wave, m.variant, count(*) FROM message m
        GROUP BY m.application_id, m.locale, m.time_zone, m.wave, m.variant
        ON CONFLICT (delivery_id, application_id, locale, time_zone, wave, variant) DO UPDATE SET messages = c.messages + excluded.messages
    )
    INSERT INTO delivery_longest (delivery_id, application_id, subscription_id, target_id, bytes)
    SELECT delivery, m.application_id, m.id, m.target_id, m.bytes FROM message m ORDER BY m.bytes DESC, m.id
    -- A small target is in the first chunk.
    LIMIT CASE WHEN after = 0 THEN 1000 ELSE 20 END;
    INSERT INTO delivery_analysis AS a (delivery_id, counted_through)
    SELECT delivery, coalesce(max(p.id), 0) FROM delivery_part p WHERE p.delivery_id = delivery
    ON CONFLICT (delivery_id) DO UPDATE SET counted_through = excluded.counted_through;
END $$;
COMMENT ON FUNCTION pushmta_engine.count_held(bigint) IS
    'Counts the messages of a delivery''s held parts that are not counted yet, and notes those with the longest values.';

-- Nothing was noted for a delivery that was not analysed. Then the longest values are looked for among its first 10,000 messages,
-- a share of them for each application. The delivery is locked meanwhile: this takes 12 ms, among all 50,000 of a chunk 60 ms.
CREATE FUNCTION pushmta_engine.longest_messages(delivery bigint, application integer, most integer)
    RETURNS TABLE (subscription_id bigint, target_id bigint, bytes integer) LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT l.subscription_id, l.target_id, l.bytes FROM delivery_longest l
    WHERE l.delivery_id = longest_messages.delivery AND l.application_id = application
    UNION ALL
    (SELECT s.id, u.target_id, value_bytes(s.recipient) + value_bytes(s.parameters) + value_bytes(s.extra) + value_bytes(v.variables)
    FROM (SELECT q.id, q.log_day, sum(q.size) OVER (ORDER BY q.id) - q.size AS before FROM delivery_part q
        WHERE q.delivery_id = longest_messages.delivery AND q.application_id = application AND q.parent_part_id IS NULL) p
    JOIN delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
    CROSS JOIN LATERAL unnest(t.subscription_ids, t.target_ids) u(id, target_id)
    JOIN subscription s ON s.id = u.id
    LEFT JOIN pushmta.delivery_target v ON v.id = u.target_id
    WHERE NOT EXISTS (SELECT FROM delivery_longest l WHERE l.delivery_id = longest_messages.delivery)
        AND p.before < 10000 / (SELECT greatest(count(*), 1) FROM delivery_application x WHERE x.delivery_id = longest_messages.delivery)
    ORDER BY 3 DESC, 1 LIMIT most) $$;
COMMENT ON FUNCTION pushmta_engine.longest_messages(bigint, integer, integer) IS
    'The messages of a delivery to an application with the longest values: all that count_held has noted, or up to so many of its first '
    'messages if nothing is noted.';

CREATE FUNCTION pushmta_engine.sample_messages(delivery bigint, application integer, most integer)
    RETURNS TABLE (subscription_id bigint, target_id bigint, variables jsonb, is_longest boolean) LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
DECLARE
    -- If there are no more, all of them are the sample, and none was chosen for its length.
    is_whole CONSTANT boolean := (SELECT coalesce(sum(p.size), 0) <= most FROM delivery_part p
        WHERE p.delivery_id = sample_messages.delivery AND p.application_id = application AND p.parent_part_id IS NULL);
    spread_size CONSTANT integer := CASE WHEN is_whole THEN most ELSE most - most / 2 END;
BEGIN
    RETURN QUERY WITH spread AS MATERIALIZED (
        SELECT t.subscription_ids[n.place] AS subscription_id, t.target_ids[n.place] AS target_id,
            t.message_variables[n.place] AS variables
        FROM (SELECT q.*, row_number() OVER (ORDER BY q.id) AS line, count(*) OVER () AS parts
            FROM delivery_part q
            WHERE q.delivery_id = sample_messages.delivery AND q.application_id = application AND q.parent_part_id IS NULL) p
        JOIN delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
        CROSS JOIN LATERAL generate_series(1, p.size,
            CASE WHEN is_whole THEN 1 ELSE greatest(1, (p.size * p.parts / greatest(most / 2, 1))::integer) END) n(place)
        WHERE is_whole OR p.line % greatest(1, p.parts / greatest(most / 2, 1)) = 0
        ORDER BY p.id, n.place LIMIT spread_size
    )
    SELECT s.subscription_id, s.target_id, s.variables, false FROM spread s
    UNION ALL
    (SELECT l.subscription_id, l.target_id, NULL, true FROM longest_messages(delivery, application, most) l
        WHERE NOT is_whole AND NOT EXISTS (SELECT FROM spread s WHERE s.subscription_id = l.subscription_id
            AND s.target_id IS NOT DISTINCT FROM l.target_id)
        ORDER BY l.bytes DESC LIMIT most / 2);
END $$;
COMMENT ON FUNCTION pushmta_engine.sample_messages(bigint, integer, integer) IS
    'Up to this many messages of a delivery to an application that have not left: all if there are no more; otherwise half of them are '
    'spread over its parts, and the others have the longest values.';

CREATE FUNCTION pushmta_engine.note_problems(delivery bigint, problems jsonb) RETURNS void LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
    DELETE FROM delivery_problem p WHERE p.delivery_id = note_problems.delivery;
    INSERT INTO delivery_problem (delivery_id, number, subject, pointer, problem, remedy, rejected_by, rejected_digest)
    SELECT note_problems.delivery, e.number, e.value ->> 'subject', e.value ->> 'pointer', e.value ->> 'problem', e.value ->> 'remedy',
        e.value ->> 'rejected_by', e.value ->> 'rejected_digest'
    FROM jsonb_array_elements(problems) WITH ORDINALITY e(value, number) $$;
COMMENT ON FUNCTION pushmta_engine.note_problems(bigint, jsonb) IS 'Replaces the problems of a delivery.';

CREATE FUNCTION pushmta_engine.return_problems(delivery bigint, words text, problems jsonb, preparation integer) RETURNS text
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    new_state text := return_delivery(delivery, words, preparation);
    recalled bigint := recalled_by(delivery);
BEGIN
    IF new_state = 'editing' THEN
        PERFORM note_problems(delivery, problems);
    -- Not one that somebody has stopped.
    ELSIF new_state = 'stopped' AND EXISTS (SELECT FROM pushmta_engine.delivery d WHERE d.id = delivery AND d.state_reason = words) THEN
        PERFORM note_problems(delivery, (SELECT jsonb_agg(CASE WHEN e.value ->> 'subject' = 'approval'
                THEN e.value || jsonb_build_object('remedy', format('recall delivery %s again', recalled)) ELSE e.value END
                ORDER BY e.number)
            FROM jsonb_array_elements(problems) WITH ORDINALITY e(value, number)));
    END IF;
    RETURN new_state;
END $$;
COMMENT ON FUNCTION pushmta_engine.return_problems(bigint, text, jsonb, integer) IS
    'Does what return_delivery does, and keeps the problems.';

CREATE FUNCTION pushmta_engine.is_analysis(delivery bigint, preparation integer) RETURNS boolean LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT EXISTS (SELECT FROM pushmta_engine.delivery d
        WHERE d.id = is_analysis.delivery AND d.prepared AND d.preparation = is_analysis.preparation
            AND (d.state = 'analysing' OR d.state = 'pending' AND (d.start_at > now() OR d.gate <> ''))) $$;
COMMENT ON FUNCTION pushmta_engine.is_analysis(bigint, integer) IS
    'Whether the messages of a delivery are complete, held, and those of this number of its preparation.';

CREATE FUNCTION pushmta_engine.end_analysis(delivery bigint, report jsonb, problems jsonb, preparation integer) RETURNS text
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
    whole pushmta_engine.delivery;
BEGIN
    IF NOT is_analysis(delivery, preparation) THEN
        RETURN found_state;
    ELSIF problems <> '[]' THEN
        RETURN return_problems(delivery, (SELECT string_agg(format('%s; %s', e ->> 'problem', e ->> 'remedy'), E'\n')
            FROM jsonb_array_elements(problems) e), problems, preparation);
    END IF;
    SELECT d.* INTO whole FROM pushmta_engine.delivery d WHERE d.id = delivery;
    INSERT INTO delivery_analysis AS a (delivery_id, finished_at, messages, excluded, seeds, rendered, smallest, largest, refused,
        variants, samples)
    SELECT delivery, clock_timestamp(), whole.target, whole.excluded, whole.seeds, (report ->> 'rendered')::bigint,
        (report ->> 'smallest')::integer, (report ->> 'largest')::integer, (report ->> 'refused')::bigint,
        coalesce(report -> 'variants', '[]'),
        -- Without those who were forgotten meanwhile.
        coalesce((SELECT jsonb_agg(e) FROM jsonb_array_elements(report -> 'samples') e WHERE NOT EXISTS (
            SELECT FROM forgotten_subscription f WHERE f.subscription_id = (e ->> 'subscription_id')::bigint)), '[]')
    ON CONFLICT (delivery_id) DO UPDATE SET finished_at = excluded.finished_at, messages = excluded.messages,
        excluded = excluded.excluded, seeds = excluded.seeds, rendered = excluded.rendered, smallest = excluded.smallest,
        largest = excluded.largest, refused = excluded.refused, variants = excluded.variants, samples = excluded.samples;
    DELETE FROM delivery_longest l WHERE l.delivery_id = delivery;
    UPDATE pushmta_engine.delivery d SET analysed = true, preparing_host = '', changed_at = now(),
        state = CASE WHEN found_state = 'analysing' THEN 'ready' ELSE d.state END
    WHERE d.id = delivery;
    PERFORM close_gate(delivery);
    PERFORM keep_request(delivery);
    RETURN (SELECT d.state FROM pushmta_engine.delivery d WHERE d.id = delivery);
END $$;
COMMENT ON FUNCTION pushmta_engine.end_analysis(bigint, jsonb, jsonb, integer) IS
    'Notes what rendering messages of a delivery showed, unless they were dropped or it has started meanwhile. One that is being analysed '
    'is then ready, or waits for the approval that was requested for it. One that cannot be sent as it is, also a scheduled one, is '
    'editing. Returns its state.';

CREATE FUNCTION pushmta_engine.drop_old_analyses(most integer) RETURNS integer LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    forgotten bigint;
    dropped integer := 0;
BEGIN
    -- A day later its messages are of no use, and their day's partition waits for them.
    FOR forgotten IN SELECT d.id FROM pushmta_engine.delivery d
        WHERE d.state IN ('analysing', 'ready') AND d.frozen_until < now() - interval '1 day'
        ORDER BY d.frozen_until LIMIT most FOR UPDATE SKIP LOCKED
    LOOP
        -- One that is still being analysed has waited for something all the time, such as the view of its target mapping.
        UPDATE delivery_analysis a SET remade_because = CASE WHEN d.state = 'ready' THEN 'it was not started within a day'
            ELSE concat_ws(': ', 'it was not complete within a day', nullif(d.wait_reason, '')) END
        FROM pushmta_engine.delivery d WHERE d.id = forgotten AND a.delivery_id = forgotten;
        PERFORM drop_preparation(forgotten);
        PERFORM return_draft(forgotten);
        UPDATE pushmta_engine.delivery d SET state = 'editing', log_day = NULL, wait_reason = '', wait_failures = 0, wait_until = NULL
        WHERE d.id = forgotten;
        dropped := dropped + 1;
    END LOOP;
    -- One that starts as soon as it is approved is prepared and counted again.
    FOR forgotten IN SELECT d.id FROM pushmta_engine.delivery d WHERE d.state = 'pending' AND d.gate <> '' AND d.analysed
        AND d.starts_approved AND d.frozen_until < now() - interval '1 day' ORDER BY d.frozen_until LIMIT most FOR UPDATE SKIP LOCKED
    LOOP
        PERFORM drop_preparation(forgotten);
        UPDATE delivery_analysis a SET remade_because = 'it was not approved within a day' WHERE a.delivery_id = forgotten;
    END LOOP;
    RETURN dropped;
END $$;
COMMENT ON FUNCTION pushmta_engine.drop_old_analyses(integer) IS
    'Drops the messages of deliveries that were analysed and not started, or whose analysis does not end; returns how many deliveries '
    'are editing again. Those that start as soon as they are approved still wait for that, with new messages.';

-- When the last message leaves, at the earliest. The numbers are those of delivery_count; nothing here reads a message.

CREATE VIEW pushmta_engine.delivery_limit AS
SELECT x.delivery_id, x.application_id, r.id AS rate_limit_id,
    CASE WHEN r.delivery_id IS NOT NULL THEN 'delivery' WHEN r.application_id IS NOT NULL THEN 'application ' || a.name
        WHEN r.external_account_id IS NOT NULL THEN 'account ' || e.name ELSE 'project ' || r.project END AS name,
    r.messages_per_second,
    -- As in rate_at.
    r.messages_per_second * CASE WHEN r.project IS NULL THEN 1 ELSE 0.98 END AS rate
FROM pushmta_engine.delivery_application x
JOIN pushmta_engine.application a ON a.id = x.application_id
JOIN pushmta_engine.external_account e ON e.id = x.external_account_id
LEFT JOIN pushmta_engine.credential k ON k.id = a.credential_id
JOIN pushmta_engine.rate_limit r ON r.messages_per_second < 'Infinity' AND (r.delivery_id = x.delivery_id
    OR r.application_id = x.application_id OR r.external_account_id = x.external_account_id
    OR r.project = k.attributes ->> 'project_id');
COMMENT ON VIEW pushmta_engine.delivery_limit IS
    'The limits in messages a second that apply to the messages of a delivery to each of its applications.';

CREATE VIEW pushmta_engine.delivery_pace AS
SELECT c.delivery_id, l.rate_limit_id, l.name, l.messages_per_second, sum(c.messages) / l.rate AS seconds
FROM pushmta_engine.delivery_count c
JOIN pushmta_engine.delivery_limit l ON l.delivery_id = c.delivery_id AND l.application_id = c.application_id
GROUP BY c.delivery_id, l.rate_limit_id, l.name, l.messages_per_second, l.rate;
COMMENT ON VIEW pushmta_engine.delivery_pace IS
    'How long each limit makes sending the counted messages of a delivery take at least, without the waits of its plan.';

CREATE FUNCTION pushmta_engine.plus_seconds(moment timestamptz, seconds double precision) RETURNS timestamptz
    LANGUAGE sql STABLE SET search_path = pushmta_engine, pg_temp AS $$
    -- Three centuries say the same as more, and fit into a timestamp.
    SELECT moment + make_interval(secs => least(seconds, 1e10)) $$;
COMMENT ON FUNCTION pushmta_engine.plus_seconds(timestamptz, double precision) IS 'A moment and some seconds.';

CREATE FUNCTION pushmta_engine.lost_hours(service integer, zone text, moment timestamptz, weeks integer) RETURNS double precision
    LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    since timestamp := moment AT TIME ZONE usable_zone(zone);
    through timestamp := since + make_interval(weeks => weeks);
BEGIN
    RETURN (SELECT coalesce(sum(greatest(0, extract(epoch FROM least(o.day + s.closes, through) - greatest(o.day + s.opens, since)))), 0)
        FROM day_off o JOIN sending_hours s ON s.service_id = o.service_id AND s.weekday = extract(isodow FROM o.day)
        WHERE o.service_id = service AND o.day BETWEEN since::date AND through::date);
END $$;
COMMENT ON FUNCTION pushmta_engine.lost_hours(integer, text, timestamptz, integer) IS
    'The seconds of a service''s sending hours in a time zone that days off take from the weeks after a moment.';

CREATE FUNCTION pushmta_engine.hours_end(service integer, zone text, moment timestamptz, seconds double precision, OUT opens timestamptz,
    OUT ends timestamptz) LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    hours record;
    rest double precision := seconds;
    room double precision;
    -- The seconds of its hours in a week.
    week double precision := (SELECT sum(extract(epoch FROM s.closes - s.opens)) FROM sending_hours s WHERE s.service_id = service);
    weeks integer;
BEGIN
    ends := moment;
    FOR turn IN 1..1000 LOOP
        weeks := least(ceil(rest / week) - 1, 15000);
        -- From where hours close: the last ones would seem to open in their middle.
        IF weeks > 0 AND turn > 1 THEN
            rest := rest - weeks * week + lost_hours(service, zone, ends, weeks);
            ends := ((ends AT TIME ZONE usable_zone(zone)) + make_interval(weeks => weeks)) AT TIME ZONE usable_zone(zone);
            opens := ends;
            -- Three centuries say the same as more.
            EXIT WHEN weeks = 15000;
            CONTINUE;
        END IF;
        SELECT h.* INTO hours FROM next_hours(service, zone, ends) h;
        EXIT WHEN hours.opens IS NULL;
        opens := hours.opens;
        room := extract(epoch FROM hours.closes - hours.opens);
        ends := plus_seconds(opens, least(rest, room));
        rest := rest - room;
        EXIT WHEN rest <= 0;
        ends := hours.closes;
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta_engine.hours_end(integer, text, timestamptz, double precision) IS
    'When so many seconds of a service''s sending hours in a time zone have passed since a moment, and when the last of these hours open. '
    'Whole weeks are counted at once, as if clocks were never changed.';

CREATE FUNCTION pushmta_engine.wave_groups(delivery bigint, wave smallint, is_rest boolean, opens timestamptz, least_at timestamptz)
    RETURNS TABLE (application_id integer, service_id integer, zone text, messages numeric, rule text, leaves_at timestamptz,
        closes_at timestamptz, kind text) LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH app AS MATERIALIZED (
        SELECT a.id, a.service_id, p.local_time, p.on_past, p.delivery_id IS NOT NULL AS has_plan,
            CASE WHEN p.delivery_id IS NULL THEN 'ignore' ELSE hours_rule(x.delivery_id, a.service_id) END AS rule
        FROM delivery_application x JOIN application a ON a.id = x.application_id
        LEFT JOIN delivery_plan p ON p.delivery_id = x.delivery_id WHERE x.delivery_id = wave_groups.delivery
    ), counted AS (
        -- Seed addresses have no zone, and wait for none.
        SELECT a.id, a.service_id, a.local_time, a.on_past, CASE WHEN z.zone = '' THEN 'ignore' ELSE a.rule END AS rule, z.zone,
            sum(n.messages) AS messages
        FROM delivery_count n JOIN app a ON a.id = n.application_id
        CROSS JOIN LATERAL (SELECT CASE WHEN a.has_plan THEN n.time_zone ELSE '' END AS zone) z
        WHERE n.delivery_id = wave_groups.delivery AND n.wave = wave_groups.wave AND (n.variant = 9) = is_rest
        GROUP BY 1, 2, 3, 4, 5, 6
    ), due AS MATERIALIZED (
        SELECT c.*, CASE WHEN c.local_time IS NULL OR c.zone = '' THEN least_at
            WHEN l.moment IS NOT NULL THEN greatest(l.moment, least_at) END AS moment
        FROM counted c
        CROSS JOIN LATERAL (SELECT CASE WHEN c.local_time IS NOT NULL AND c.zone <> ''
            THEN local_moment(c.local_time, usable_zone(c.zone), opens, c.on_past) END AS moment OFFSET 0) l
    )
    SELECT d.id, d.service_id, d.zone, d.messages, d.rule, coalesce(h.opens, d.moment), h.closes,
        CASE WHEN h.opens > d.moment THEN 'hours' WHEN d.moment > least_at THEN 'zone' END
    FROM due d LEFT JOIN LATERAL next_hours(d.service_id, d.zone, d.moment) h ON d.rule <> 'ignore'
    -- Without those that never leave.
    WHERE d.moment IS NOT NULL AND (d.rule = 'ignore' OR h.opens <= d.moment OR d.rule = 'postpone' AND h.opens IS NOT NULL);
END $$;
COMMENT ON FUNCTION pushmta_engine.wave_groups(bigint, smallint, boolean, timestamptz, timestamptz) IS
    'The messages of a wave (0: those of a delivery without waves), or of the rest of its experiment, by application and time zone, with '
    'the moment from which they may leave if the wave begins at a moment, and what makes it later: a zone, or sending hours.';

CREATE FUNCTION pushmta_engine.wave_forecast(delivery bigint, wave smallint, is_rest boolean, opens timestamptz, least_at timestamptz,
    OUT ends_at timestamptz, OUT kind text, OUT zone text, OUT begins_at timestamptz) LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    WITH due AS MATERIALIZED (
        SELECT g.* FROM wave_groups(wave_forecast.delivery, wave_forecast.wave, is_rest, opens, least_at) g
    ), rated AS MATERIALIZED (
        SELECT d.*, l.rate_limit_id, l.rate FROM due d
        JOIN delivery_limit l ON l.delivery_id = wave_forecast.delivery AND l.application_id = d.application_id
    ), bound AS (
        SELECT d.leaves_at AS ends_at, d.kind, d.zone, d.leaves_at AS begins_at FROM due d
        UNION ALL
        -- What may leave from a moment on takes its time from there.
        SELECT plus_seconds(r.leaves_at, sum(r.messages) OVER (PARTITION BY r.rate_limit_id ORDER BY r.leaves_at DESC) / r.rate), r.kind,
            r.zone, r.leaves_at
        FROM rated r
        UNION ALL
        -- Each zone alone: the hours of several may follow one another.
        SELECT h.ends, CASE WHEN h.opens > z.leaves_at THEN 'hours' ELSE z.kind END, z.zone, h.opens
        FROM (SELECT r.service_id, r.zone, min(r.leaves_at) AS leaves_at, min(r.kind) AS kind, sum(r.messages) / min(r.rate) AS seconds
            FROM rated r WHERE r.rule = 'postpone' GROUP BY r.rate_limit_id, r.service_id, r.zone) z
        CROSS JOIN LATERAL hours_end(z.service_id, z.zone, z.leaves_at, z.seconds) h
    )
    -- What has not left when hours end is dropped, if they say so.
    SELECT least(b.ends_at, (SELECT max(d.closes_at) FROM due d HAVING bool_and(d.rule = 'drop'))), b.kind, b.zone, b.begins_at
    FROM bound b ORDER BY b.ends_at DESC, b.begins_at DESC LIMIT 1 $$;
COMMENT ON FUNCTION pushmta_engine.wave_forecast(bigint, smallint, boolean, timestamptz, timestamptz) IS
    'When the last message leaves of those that wave_groups gives, at the earliest, under the limits in force; and what begins last.';

CREATE FUNCTION pushmta_engine.late_messages(delivery bigint, wave smallint, opens timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    RETURN (SELECT coalesce(sum(z.messages), 0)::bigint
        FROM delivery_plan p
        -- Seed addresses have no zone, and get their messages at once.
        CROSS JOIN LATERAL (SELECT n.time_zone, sum(n.messages) AS messages FROM delivery_count n
            WHERE n.delivery_id = p.delivery_id AND n.wave = late_messages.wave AND n.time_zone <> '' GROUP BY n.time_zone) z
        WHERE p.delivery_id = late_messages.delivery AND p.on_past = 'skip'
            -- Each run has the local time of its own day.
            AND NOT EXISTS (SELECT FROM recurrence r WHERE r.delivery_id = p.delivery_id)
            AND local_moment(p.local_time, usable_zone(z.time_zone), late_messages.opens, p.on_past) IS NULL);
END $$;
COMMENT ON FUNCTION pushmta_engine.late_messages(bigint, smallint, timestamptz) IS
    'How many counted messages of a wave (0: of a delivery without waves) are never sent if it begins at a moment, because the local time '
    'of their recipients is over then.';

CREATE FUNCTION pushmta_engine.plan_forecast(delivery bigint, begins timestamptz, OUT ends_at timestamptz, OUT kind text, OUT name text,
    OUT begins_at timestamptz, OUT too_late bigint) LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    -- Before the latest moment only if each variant has enough messages to be compared.
    decided timestamptz := (SELECT CASE WHEN x.decided_at IS NOT NULL THEN x.decided_at
            WHEN x.early AND x.least_sample <= (SELECT min(n.messages) FROM experiment_cell c CROSS JOIN LATERAL (
                SELECT coalesce(sum(n.messages), 0) AS messages FROM delivery_count n
                WHERE n.delivery_id = c.delivery_id AND n.variant = c.cell) n
                WHERE c.delivery_id = x.delivery_id AND c.cell < 9) THEN begins
            ELSE begins + x.decide_after END
        FROM experiment x WHERE x.delivery_id = delivery);
    wave record;
    opens timestamptz;
    tried timestamptz := begins;
    found record;
BEGIN
    ends_at := begins;
    too_late := 0;
    FOR wave IN SELECT coalesce(w.number, 0::smallint) AS number, w.starts_at, w.starts_after, w.opened_at
        FROM (SELECT) once LEFT JOIN delivery_wave w ON w.delivery_id = delivery ORDER BY w.number
    LOOP
        -- As in open_wave.
        opens := coalesce(wave.opened_at, greatest(tried, wave.starts_at, opens + wave.starts_after));
        tried := greatest(tried, opens);
        too_late := too_late + late_messages(delivery, wave.number, opens);
        FOR found IN SELECT f.*, r.is_rest, r.least_at FROM (VALUES (false, opens), (true, greatest(opens, decided))) r(is_rest, least_at)
            CROSS JOIN LATERAL wave_forecast(delivery, wave.number, r.is_rest, opens, r.least_at) f
            WHERE f.ends_at IS NOT NULL AND (NOT r.is_rest OR decided IS NOT NULL) ORDER BY r.is_rest
        LOOP
            tried := CASE WHEN found.is_rest THEN tried ELSE greatest(tried, found.ends_at) END;
            CONTINUE WHEN found.ends_at < ends_at;
            ends_at := found.ends_at;
            kind := coalesce(found.kind, CASE WHEN found.least_at > opens THEN 'winner' WHEN wave.number > 0 AND opens > begins
                THEN 'wave' END);
            name := CASE WHEN found.kind IS NOT NULL THEN found.zone WHEN kind = 'wave' THEN wave.number::text ELSE '' END;
            begins_at := found.begins_at;
        END LOOP;
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta_engine.plan_forecast(bigint, timestamptz) IS
    'When the last message of a counted delivery that begins at a moment leaves, at the earliest, and what of its plan begins last: a '
    'zone, sending hours in a zone, a wave, or what the winner of its experiment is sent to; a null kind if nothing of a plan waits. '
    'too_late: the messages that are never sent, because the local time of their recipients is over when their wave begins.';

CREATE FUNCTION pushmta_engine.too_late(delivery bigint, begins timestamptz, OUT messages bigint, OUT is_all boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    messages := 0;
    -- Only such a plan leaves somebody out, and a forecast is not free.
    IF EXISTS (SELECT FROM delivery_plan p WHERE p.delivery_id = delivery AND p.on_past = 'skip') THEN
        messages := (SELECT f.too_late FROM plan_forecast(delivery, greatest(begins, now())) f);
    END IF;
    is_all := messages > 0 AND messages >= (SELECT sum(n.messages) FROM delivery_count n
        WHERE n.delivery_id = delivery AND n.time_zone <> '');
END $$;
COMMENT ON FUNCTION pushmta_engine.too_late(bigint, timestamptz) IS
    'How many messages of a counted delivery that has not begun are never sent if it begins at a moment (null, or one that has passed: '
    'now), because the local time of their recipients is over then; and whether that is all of them, apart from those to seed addresses.';

CREATE FUNCTION pushmta_engine.sending_forecast(delivery bigint, OUT seconds double precision, OUT limited_by text, OUT ends_at timestamptz,
    OUT bound jsonb) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    begins timestamptz;
    has_ended boolean;
    zone text;
    plan record;
    pace record;
    shown text;
BEGIN
    SELECT coalesce(d.started_at, greatest(d.start_at, now())), d.finished_at IS NOT NULL INTO begins, has_ended
    FROM pushmta_engine.delivery d WHERE d.id = delivery;
    -- The present limits and hours say nothing about one that has ended.
    IF has_ended THEN
        RETURN;
    END IF;
    zone := (SELECT usable_zone(v.time_zone) FROM delivery_application x JOIN application a ON a.id = x.application_id
        JOIN service v ON v.id = a.service_id WHERE x.delivery_id = delivery ORDER BY a.id LIMIT 1);
    SELECT f.* INTO plan FROM plan_forecast(delivery, begins) f;
    SELECT p.* INTO pace FROM delivery_pace p WHERE p.delivery_id = delivery ORDER BY p.seconds DESC, p.rate_limit_id LIMIT 1;
    IF plan.kind IS NULL AND pace.seconds IS NULL THEN
        RETURN;
    END IF;
    ends_at := plan.ends_at;
    seconds := extract(epoch FROM ends_at - begins);
    IF plan.kind IS NULL OR pace.seconds * 2 >= seconds THEN
        limited_by := format('%s: %s messages a second', pace.name, pace.messages_per_second);
        bound := jsonb_build_object('kind', 'rate', 'name', pace.name);
        RETURN;
    END IF;
    shown := to_char(plan.begins_at AT TIME ZONE zone, 'YYYY-MM-DD"T"HH24:MI');
    limited_by := format('%s at %s %s', CASE plan.kind WHEN 'zone' THEN format('time zone %s: begins', plan.name)
        WHEN 'hours' THEN format('sending hours in %s: begin', plan.name) WHEN 'wave' THEN format('wave %s: begins', plan.name)
        ELSE 'winner of its experiment: is sent to the rest' END, replace(shown, 'T', ' '), zone);
    bound := jsonb_build_object('kind', plan.kind, 'name', plan.name, 'begins_at',
        to_char(plan.begins_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'local_time', shown, 'time_zone', zone);
END $$;
COMMENT ON FUNCTION pushmta_engine.sending_forecast(bigint) IS
    'When the last message of a counted delivery leaves, at the earliest: in how many seconds from its start (the one that is set, or '
    'now) and when; and what decides it. Nulls if neither a limit nor a plan does, or once it has ended.';

CREATE VIEW pushmta.delivery_analysis AS
SELECT a.delivery_id, d.label, d.state, coalesce(a.messages, 0) AS messages, coalesce(a.excluded, 0) AS excluded,
    coalesce(a.seeds, 0) AS seeds, d.frozen_at, CASE WHEN d.analysed THEN d.frozen_until END AS frozen_until, a.requested_by,
    a.requested_at, a.finished_at, a.rendered, a.smallest, a.largest, a.refused, a.variants, a.samples, a.remade_because, f.seconds,
    f.limited_by, f.ends_at, f.bound
FROM pushmta_engine.delivery_analysis a
JOIN pushmta_engine.delivery d ON d.id = a.delivery_id
LEFT JOIN LATERAL pushmta_engine.sending_forecast(a.delivery_id) f ON true;
COMMENT ON VIEW pushmta.delivery_analysis IS
    'What the last analysis of a delivery found: exact numbers of messages, payload sizes in bytes of those that were rendered (also '
    'by variant), three samples of each application, and when the last message leaves at the earliest (ends_at, seconds after the start '
    'that is set, or after now): under the limits in force and by the delivery''s plan. limited_by, and bound for programs, say what '
    'decides that: a rate, a zone, sending hours, a wave, or the winner of an experiment; null if nothing does, or once the delivery has '
    'ended. A start until frozen_until sends these messages; it is null while they are made, and once they were dropped. The numbers stay.';

CREATE VIEW pushmta.delivery_count AS
SELECT c.delivery_id, a.name AS application, c.locale, c.time_zone, c.wave, c.variant, c.messages
FROM pushmta_engine.delivery_count c JOIN pushmta_engine.application a ON a.id = c.application_id;
COMMENT ON VIEW pushmta.delivery_count IS
    'The messages of an analysed delivery by application, locale, time zone, wave (0: none) and variant (0: none, 9: the rest). '
    'pushmta.delivery_targeting has its exclusions by reason.';

CREATE VIEW pushmta.delivery_problem AS
SELECT p.delivery_id, p.number, p.subject, p.pointer, p.problem, p.remedy FROM pushmta_engine.delivery_problem p;
COMMENT ON VIEW pushmta.delivery_problem IS
    'Why a delivery could not be prepared, until it is changed or prepared again: the subject (content, filter, application, target), '
    'the place in the content, the problem, and what to do.';

-- What the API reads of an analysis.

CREATE FUNCTION pushmta_engine.api_analysis(wanted bigint) RETURNS SETOF pushmta.delivery_analysis
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT * FROM pushmta.delivery_analysis a WHERE a.delivery_id = wanted $$;
COMMENT ON FUNCTION pushmta_engine.api_analysis(bigint) IS 'The last analysis of one delivery, as the API shows it.';

CREATE FUNCTION pushmta_engine.last_counts(deliveries bigint[]) RETURNS TABLE (delivery_id bigint, messages bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT a.delivery_id, a.messages FROM delivery_analysis a WHERE a.delivery_id = ANY(deliveries) AND a.finished_at IS NOT NULL $$;
COMMENT ON FUNCTION pushmta_engine.last_counts(bigint[]) IS
    'How many messages the last analysis of these deliveries has counted, also if they are made again before the start.';

CREATE FUNCTION pushmta_engine.api_analysis_counts(wanted bigint, most integer) RETURNS SETOF pushmta.delivery_count
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT * FROM pushmta.delivery_count c WHERE c.delivery_id = wanted
        ORDER BY c.messages DESC, c.application, c.locale, c.time_zone, c.wave, c.variant LIMIT most $$;
COMMENT ON FUNCTION pushmta_engine.api_analysis_counts(bigint, integer) IS
    'The messages of one analysed delivery by application, locale, time zone, wave and variant, the largest numbers first.';

CREATE FUNCTION pushmta_engine.api_exclusion_counts(wanted bigint) RETURNS TABLE (reason text, messages bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT e.reason, count(*) FROM pushmta_engine.delivery d
        JOIN exclusion_log e ON e.log_day = d.log_day AND e.delivery_id = d.id
        WHERE d.id = wanted GROUP BY 1 ORDER BY 2 DESC, 1 $$;
COMMENT ON FUNCTION pushmta_engine.api_exclusion_counts(bigint) IS
    'How many people were left out of one delivery at its preparation, by reason, the most frequent first.';

CREATE FUNCTION pushmta_engine.api_problems(wanted bigint) RETURNS SETOF pushmta.delivery_problem
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT * FROM pushmta.delivery_problem p WHERE p.delivery_id = wanted ORDER BY p.number $$;
COMMENT ON FUNCTION pushmta_engine.api_problems(bigint) IS 'Why one delivery could not be prepared, in order.';

CREATE FUNCTION pushmta_engine.console_analysis(caller pushmta_engine.console_caller, delivery bigint)
    RETURNS SETOF pushmta.delivery_analysis LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_user_of(caller, ARRAY['read', 'marketing', 'operate', 'admin']);
    analysis pushmta.delivery_analysis;
BEGIN
    SELECT a.* INTO analysis FROM pushmta.delivery_analysis a WHERE a.delivery_id = delivery;
    IF NOT FOUND THEN
        RETURN;
    ELSIF analysis.finished_at IS NULL OR analysis.frozen_until IS NULL OR NOT console_may_see_people(caller) THEN
        analysis.samples := '[]';
    ELSIF analysis.samples <> '[]' THEN
        PERFORM note_audit(who, 'delivery.samples', delivery::text, (SELECT string_agg(e.value ->> 'subscription_id', ', ')
            FROM jsonb_array_elements(analysis.samples) e), caller.address);
    END IF;
    RETURN NEXT analysis;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_analysis(pushmta_engine.console_caller, bigint) IS
    'What the last analysis of a delivery found, for a signed-in user. The samples have values of people: only users who may see full '
    'user keys get them, which is logged with the numbers of their subscriptions.';
