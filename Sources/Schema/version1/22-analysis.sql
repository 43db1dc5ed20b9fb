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
    PRIMARY KEY (delivery_id, number)
);
COMMENT ON TABLE pushmta_engine.delivery_problem IS
    'What the preparation of a delivery found wrong, until the delivery is changed or prepared again.';

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
    'The held messages of a delivery with the longest values, twenty of each chunk of its preparation, until they are rendered.';
CREATE INDEX delivery_longest_delivery ON pushmta_engine.delivery_longest (delivery_id, bytes DESC);

CREATE FUNCTION pushmta_engine.preparation_digest(delivery bigint) RETURNS text LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT md5(jsonb_build_array(d.content, d.target_kind, d.target_filter, d.target_sql, d.one_per_user, d.allow_duplicates,
        d.one_time_code, d.category_id, d.seed_names, d.priority,
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
                (SELECT k.is_transactional FROM category k WHERE k.id = d.category_id)))
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
    FROM pushmta_engine.delivery d WHERE d.id = preparation_digest.delivery $$;
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
        gate = CASE WHEN d.gate = '' THEN '' ELSE uncounted() END
    WHERE d.id = delivery;
END $$;
COMMENT ON FUNCTION pushmta_engine.drop_preparation(bigint) IS
    'Deletes what the preparation of a locked delivery made. The caller knows that none of its messages has left. The numbers of its '
    'analysis stay.';

CREATE FUNCTION pushmta_engine.drop_analysis(delivery bigint) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    PERFORM drop_preparation(delivery);
    PERFORM forget_findings(delivery);
END $$;
COMMENT ON FUNCTION pushmta_engine.drop_analysis(bigint) IS
    'Deletes what the preparation of a locked delivery made, and what its analysis found: it will send something else.';

CREATE FUNCTION pushmta_engine.forget_findings(delivery bigint) RETURNS void LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
    DELETE FROM delivery_analysis a WHERE a.delivery_id = forget_findings.delivery;
    DELETE FROM delivery_count c WHERE c.delivery_id = forget_findings.delivery;
    DELETE FROM delivery_longest l WHERE l.delivery_id = forget_findings.delivery;
    DELETE FROM delivery_problem b WHERE b.delivery_id = forget_findings.delivery $$;
COMMENT ON FUNCTION pushmta_engine.forget_findings(bigint) IS 'Deletes what the analysis of a delivery found.';

CREATE FUNCTION pushmta_engine.analysis_fault(delivery bigint, begins timestamptz) RETURNS text LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT CASE WHEN d.frozen_digest <> preparation_digest(d.id)
            THEN 'its content, target, seed addresses, application or credential has changed since'
        WHEN begins > d.frozen_until THEN
            format('it would be %s old at the start', justify_interval(date_trunc('minute', begins - d.frozen_at))) END
    FROM pushmta_engine.delivery d WHERE d.id = analysis_fault.delivery AND d.frozen_until IS NOT NULL $$;
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

CREATE FUNCTION pushmta_engine.count_held(delivery bigint) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    after bigint := coalesce((SELECT a.counted_through FROM delivery_analysis a WHERE a.delivery_id = delivery), 0);
BEGIN
    IF after = 0 THEN
        DELETE FROM delivery_count c WHERE c.delivery_id = delivery;
    END IF;
    WITH message AS MATERIALIZED (
        SELECT p.application_id, s.id, s.locale, coalesce(p.time_zone, s.time_zone) AS time_zone, coalesce(p.wave, 0) AS wave,
            coalesce(p.cell, 0) AS variant, u.target_id,
            coalesce(octet_length(s.recipient::text), 0) + coalesce(octet_length(s.parameters::text), 0)
                + coalesce(octet_length(s.extra::text), 0) + coalesce(octet_length(x.variables::text), 0) AS bytes
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
    SELECT delivery, m.application_id, m.id, m.target_id, m.bytes FROM message m ORDER BY m.bytes DESC, m.id LIMIT 20;
    INSERT INTO delivery_analysis AS a (delivery_id, counted_through)
    SELECT delivery, coalesce(max(p.id), 0) FROM delivery_part p WHERE p.delivery_id = delivery
    ON CONFLICT (delivery_id) DO UPDATE SET counted_through = excluded.counted_through;
END $$;
COMMENT ON FUNCTION pushmta_engine.count_held(bigint) IS
    'Counts the messages of a delivery''s held parts that are not counted yet, and notes those with the longest values.';

CREATE FUNCTION pushmta_engine.sample_held(delivery bigint, application integer, most integer)
    RETURNS TABLE (subscription_id bigint, target_id bigint, is_longest boolean) LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    -- Half of them are spread over the parts; the others have the longest values.
    WITH spread AS MATERIALIZED (
        SELECT t.subscription_ids[n.place] AS subscription_id, t.target_ids[n.place] AS target_id
        FROM (SELECT q.*, row_number() OVER (ORDER BY q.id) AS line, count(*) OVER () AS parts
            FROM delivery_part q
            WHERE q.delivery_id = sample_held.delivery AND q.application_id = application AND q.state = 'held') p
        JOIN delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
        CROSS JOIN LATERAL generate_series(1, p.size, greatest(1, (p.size * p.parts / greatest(most / 2, 1))::integer)) n(place)
        WHERE p.line % greatest(1, p.parts / greatest(most / 2, 1)) = 0
        ORDER BY p.id, n.place LIMIT most - most / 2
    )
    SELECT s.subscription_id, s.target_id, false FROM spread s
    UNION ALL
    (SELECT l.subscription_id, l.target_id, true FROM delivery_longest l
        WHERE l.delivery_id = sample_held.delivery AND l.application_id = application
            AND NOT EXISTS (SELECT FROM spread s WHERE s.subscription_id = l.subscription_id
                AND s.target_id IS NOT DISTINCT FROM l.target_id)
        ORDER BY l.bytes DESC LIMIT most / 2) $$;
COMMENT ON FUNCTION pushmta_engine.sample_held(bigint, integer, integer) IS
    'Up to this many held messages of a delivery to an application: half of them are spread over its parts, the others have the longest '
    'values.';

CREATE FUNCTION pushmta_engine.note_problems(delivery bigint, problems jsonb) RETURNS void LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
    DELETE FROM delivery_problem p WHERE p.delivery_id = note_problems.delivery;
    INSERT INTO delivery_problem (delivery_id, number, subject, pointer, problem, remedy)
    SELECT note_problems.delivery, e.number, e.value ->> 'subject', e.value ->> 'pointer', e.value ->> 'problem', e.value ->> 'remedy'
    FROM jsonb_array_elements(problems) WITH ORDINALITY e(value, number) $$;
COMMENT ON FUNCTION pushmta_engine.note_problems(bigint, jsonb) IS 'Replaces the problems of a delivery.';

CREATE FUNCTION pushmta_engine.return_problems(delivery bigint, words text, problems jsonb, preparation integer) RETURNS text
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    new_state text := return_delivery(delivery, words, preparation);
BEGIN
    IF new_state = 'editing' THEN
        PERFORM note_problems(delivery, problems);
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
    FOR forgotten IN SELECT d.id FROM pushmta_engine.delivery d WHERE d.state = 'ready' AND d.frozen_until < now() - interval '1 day'
        ORDER BY d.frozen_until LIMIT most FOR UPDATE SKIP LOCKED
    LOOP
        PERFORM drop_preparation(forgotten);
        PERFORM return_draft(forgotten);
        UPDATE pushmta_engine.delivery d SET state = 'editing', log_day = NULL WHERE d.id = forgotten;
        UPDATE delivery_analysis a SET remade_because = 'it was not started within a day' WHERE a.delivery_id = forgotten;
        dropped := dropped + 1;
    END LOOP;
    -- One that starts as soon as it is approved is prepared and counted again.
    FOR forgotten IN SELECT d.id FROM pushmta_engine.delivery d WHERE d.state = 'pending' AND d.gate <> '' AND d.analysed
        AND d.starts_approved AND d.frozen_until < now() - interval '1 day' ORDER BY d.frozen_until LIMIT most FOR UPDATE SKIP LOCKED
    LOOP
        PERFORM drop_preparation(forgotten);
        UPDATE pushmta_engine.delivery d SET log_day = message_day() WHERE d.id = forgotten;
        UPDATE delivery_analysis a SET remade_because = 'it was not approved within a day' WHERE a.delivery_id = forgotten;
    END LOOP;
    RETURN dropped;
END $$;
COMMENT ON FUNCTION pushmta_engine.drop_old_analyses(integer) IS
    'Drops the messages of deliveries that were analysed and not started; returns how many deliveries are editing again. Those that '
    'start as soon as they are approved still wait for that, with new messages.';

CREATE VIEW pushmta_engine.delivery_pace AS
SELECT c.delivery_id, r.id AS rate_limit_id,
    CASE WHEN r.delivery_id IS NOT NULL THEN 'delivery' WHEN r.application_id IS NOT NULL THEN 'application'
        WHEN r.external_account_id IS NOT NULL THEN 'account' ELSE 'project' END AS scope,
    r.messages_per_second,
    -- As in rate_at.
    sum(c.messages) / (r.messages_per_second * CASE WHEN r.project IS NULL THEN 1 ELSE 0.98 END) AS seconds
FROM pushmta_engine.delivery_count c
JOIN pushmta_engine.delivery_application x ON x.delivery_id = c.delivery_id AND x.application_id = c.application_id
JOIN pushmta_engine.rate_limit r ON r.messages_per_second < 'Infinity' AND (r.delivery_id = c.delivery_id
    OR r.application_id = c.application_id OR r.external_account_id = x.external_account_id
    OR r.project = (SELECT k.attributes ->> 'project_id' FROM pushmta_engine.application a
        JOIN pushmta_engine.credential k ON k.id = a.credential_id WHERE a.id = c.application_id))
GROUP BY c.delivery_id, r.id;
COMMENT ON VIEW pushmta_engine.delivery_pace IS
    'The limits in messages a second that apply to the counted messages of a delivery, and how long each makes sending take at least.';

CREATE VIEW pushmta.delivery_analysis AS
SELECT a.delivery_id, d.label, d.state, coalesce(a.messages, 0) AS messages, coalesce(a.excluded, 0) AS excluded,
    coalesce(a.seeds, 0) AS seeds, d.frozen_at, CASE WHEN d.analysed THEN d.frozen_until END AS frozen_until, a.requested_by,
    a.requested_at, a.finished_at, a.rendered, a.smallest, a.largest, a.refused, a.variants, a.samples, a.remade_because, p.seconds,
    p.limited_by
FROM pushmta_engine.delivery_analysis a
JOIN pushmta_engine.delivery d ON d.id = a.delivery_id
LEFT JOIN LATERAL (
    SELECT q.seconds, format('%s: %s messages a second', q.scope, q.messages_per_second) AS limited_by
    FROM pushmta_engine.delivery_pace q WHERE q.delivery_id = a.delivery_id ORDER BY q.seconds DESC LIMIT 1) p ON true;
COMMENT ON VIEW pushmta.delivery_analysis IS
    'What the last analysis of a delivery found: exact numbers of messages, payload sizes in bytes of those that were rendered (also '
    'by variant), three samples of each application, and how many seconds sending takes at least under the limit that binds; null '
    'without a limit. A start until frozen_until sends these messages; it is null while they are made, and once they were dropped. The '
    'numbers stay.';

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
