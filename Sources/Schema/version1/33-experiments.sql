-- Experiments: variants of a delivery's content, who gets which, the conclusion, and what the rest gets.
--
-- A message of an experiment has its cell in its number: number = cell x 2^27 + place. Cells 1 to 8 are the variants, cell 9 is the
-- rest, which gets the winner. So receipts and clicks of a cell are one range of an index, and nothing else has to mark them. Who gets
-- nothing (the hold-out) is in the exclusion log.

CREATE FUNCTION pushmta_engine.cell_of(sequence integer) RETURNS smallint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (sequence >> 27)::smallint;
COMMENT ON FUNCTION pushmta_engine.cell_of(integer) IS 'The cell of a message of an experiment, by its number.';

-- The conclusion.

CREATE FUNCTION pushmta_engine.mixture(a bigint, of_a bigint, b bigint, of_b bigint, OUT difference double precision,
    OUT variance double precision, OUT spread double precision) LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    pooled double precision := (a + b)::double precision / nullif(of_a + of_b, 0);
BEGIN
    difference := a::double precision / nullif(of_a, 0) - b::double precision / nullif(of_b, 0);
    variance := pooled * (1 - pooled) * (1.0 / nullif(of_a, 0) + 1.0 / nullif(of_b, 0));
    -- What is expected: differences of a fifth of the rate. It decides how fast a difference is found, not how often one is invented.
    spread := (0.2 * pooled) ^ 2;
END $$;
COMMENT ON FUNCTION pushmta_engine.mixture(bigint, bigint, bigint, bigint) IS
    'The difference of two rates, the variance that chance gives it, and that of the differences one expects (Johari, Koomen, Pekelis, '
    'Walsh: Always Valid Inference, 2022: the mixture sequential probability ratio test).';

CREATE FUNCTION pushmta_engine.mixture_odds(a bigint, of_a bigint, b bigint, of_b bigint) RETURNS double precision LANGUAGE sql IMMUTABLE
    PARALLEL SAFE SET search_path = pushmta_engine, pg_temp AS $$
    SELECT CASE WHEN m.variance > 0 THEN sqrt(m.variance / (m.variance + m.spread))
        -- Beyond this, the exponential would overflow.
        * exp(least(500, m.difference ^ 2 * m.spread / (2 * m.variance * (m.variance + m.spread)))) ELSE 0 END
    FROM mixture(a, of_a, b, of_b) m $$;
COMMENT ON FUNCTION pushmta_engine.mixture_odds(bigint, bigint, bigint, bigint) IS
    'How much more likely the results are with a difference than without one. Without one, it ever exceeds 1/p with a probability of at '
    'most p, however often one looks.';

CREATE FUNCTION pushmta_engine.mixture_margin(a bigint, of_a bigint, b bigint, of_b bigint, p double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pushmta_engine, pg_temp AS $$
    SELECT CASE WHEN m.variance > 0 AND m.spread > 0 THEN sqrt(2 * m.variance * (m.variance + m.spread) / m.spread
        * ln(sqrt((m.variance + m.spread) / m.variance) / p)) END
    FROM mixture(a, of_a, b, of_b) m $$;
COMMENT ON FUNCTION pushmta_engine.mixture_margin(bigint, bigint, bigint, bigint, double precision) IS
    'Half the interval around the difference of two rates that contains the true one with a probability of 1 - p, however often one looks.';

CREATE FUNCTION pushmta_engine.error_share(certainty double precision, variants integer) RETURNS double precision LANGUAGE sql IMMUTABLE
    PARALLEL SAFE
    RETURN 2 * (1 - certainty) / greatest(variants, 2);
COMMENT ON FUNCTION pushmta_engine.error_share(double precision, integer) IS
    'How often chance may make the difference of two variants look sure. A variant wins if it beats each of the others: with k variants '
    'there are k such events, and a difference has two directions, of which one makes the winner.';

CREATE FUNCTION pushmta_engine.sure_winner(successes bigint[], sizes bigint[], least_sample bigint, certainty double precision)
    RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pushmta_engine, pg_temp AS $$
    SELECT w.place::smallint
    FROM unnest(successes, sizes) WITH ORDINALITY w(n, size, place)
    WHERE (SELECT min(o.size) FROM unnest(sizes) o(size)) >= least_sample
        -- Fewer are no basis for any conclusion.
        AND (SELECT sum(s.n) FROM unnest(successes) s(n)) >= 20
        AND cardinality(sizes) > 1
        AND NOT EXISTS (SELECT FROM unnest(successes, sizes) WITH ORDINALITY o(n, size, place)
            WHERE o.place <> w.place AND (w.n * o.size <= o.n * w.size
                OR mixture_odds(w.n, w.size, o.n, o.size) < 1 / error_share(certainty, cardinality(sizes)))) $$;
COMMENT ON FUNCTION pushmta_engine.sure_winner(bigint[], bigint[], bigint, double precision) IS
    'The place of the variant that is surely better than all others, from successes and sizes; null if none is. Without a difference it '
    'names one in at most 1 - certainty of experiments, however often one looks.';

-- A view calls it with its reader's rights, who may call none of the other functions.
CREATE FUNCTION pushmta_engine.difference_words(name text, a bigint, of_a bigint, other text, b bigint, of_b bigint,
    error double precision) RETURNS text LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    difference double precision;
    margin double precision := mixture_margin(a, of_a, b, of_b, error);
BEGIN
    IF of_a = 0 OR of_b = 0 OR a + b < 20 OR margin IS NULL THEN
        RETURN format('There are too few results to compare %s and %s.', name, other);
    END IF;
    difference := a::double precision / of_a - b::double precision / of_b;
    RETURN format('%s: %s %%, %s: %s %%. The difference is %s percentage points (interval: %s to %s)%s', name,
        round((100.0 * a / of_a)::numeric, 2), other, round((100.0 * b / of_b)::numeric, 2), round((100 * difference)::numeric, 2),
        round((100 * greatest(-1, difference - margin))::numeric, 2), round((100 * least(1, difference + margin))::numeric, 2),
        CASE WHEN difference - margin > 0 THEN format(': %s is better.', name)
            WHEN difference + margin < 0 THEN format(': %s is better.', other) ELSE ': it may be chance.' END);
END $$;
COMMENT ON FUNCTION pushmta_engine.difference_words(text, bigint, bigint, text, bigint, bigint, double precision) IS
    'The conclusion from the results of two variants, in words. error: how often chance may make a difference look sure.';

-- Who gets what.

CREATE FUNCTION pushmta_engine.require_variant(delivery bigint, variant integer) RETURNS text LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    found_label text := (SELECT c.label FROM experiment_cell c
        WHERE c.delivery_id = require_variant.delivery AND c.cell = require_variant.variant AND c.cell < 9);
BEGIN
    IF found_label IS NULL AND variant IS NOT NULL THEN
        RAISE EXCEPTION 'Delivery % has no variant %.', delivery, variant
            USING ERRCODE = 'PM331', HINT = 'pushmta.experiment_variant lists them.';
    END IF;
    RETURN found_label;
END $$;
COMMENT ON FUNCTION pushmta_engine.require_variant(bigint, integer) IS
    'The label of a variant of an experiment, null for null; raises an error if there is no such variant.';

CREATE FUNCTION pushmta_engine.note_hold_out(delivery bigint, applications integer[], subscriptions bigint[]) RETURNS void LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT uncount_subscriptions(note_hold_out.delivery, subscriptions);
    WITH gone AS MATERIALIZED (
        SELECT u.application_id, u.subscription_id FROM unnest(applications, subscriptions) u(application_id, subscription_id)
    ), logged AS (
        INSERT INTO exclusion_log (delivery_id, subscription_id, application_id, log_day, reason)
        SELECT d.id, g.subscription_id, g.application_id, d.log_day, 'hold_out'
        FROM gone g, pushmta_engine.delivery d WHERE d.id = note_hold_out.delivery
    ), fewer AS (
        UPDATE delivery_application a SET messages = a.messages - n.messages
        FROM (SELECT g.application_id, count(*) AS messages FROM gone g GROUP BY g.application_id) n
        WHERE a.delivery_id = note_hold_out.delivery AND a.application_id = n.application_id
    )
    UPDATE pushmta_engine.delivery d SET target = d.target - n.messages, excluded = d.excluded + n.messages
    FROM (SELECT count(*) AS messages FROM gone) n WHERE d.id = note_hold_out.delivery $$;
COMMENT ON FUNCTION pushmta_engine.note_hold_out(bigint, integer[], bigint[]) IS
    'Turns messages of a locked delivery, which its preparation has counted, into exclusions: their people are held out. Frequency caps do '
    'not count them.';

-- What marketing sets.

CREATE FUNCTION pushmta_engine.refuse_numbered_ids(delivery bigint) RETURNS void LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    IF EXISTS (SELECT FROM delivery_application x JOIN application a ON a.id = x.application_id
        WHERE x.delivery_id = delivery AND a.message_id_format = 'int32') THEN
        RAISE EXCEPTION 'The experiment of delivery % cannot be used: an application has int32 message ids, which have no room for cells.',
            delivery USING ERRCODE = 'PM333', HINT = 'Leave the application out, or let it use uuid message ids.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_numbered_ids(bigint) IS
    'Refuses an experiment of a delivery to an application with int32 message ids.';

CREATE FUNCTION pushmta_engine.variant_label(variant jsonb, number bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce(nullif(variant ->> 'label', ''), chr(64 + number::integer));
COMMENT ON FUNCTION pushmta_engine.variant_label(jsonb, bigint) IS 'The label of the n-th variant of an experiment: by default A, B, C.';

CREATE FUNCTION pushmta_engine.variant_problem(variant jsonb) RETURNS text LANGUAGE sql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT CASE WHEN jsonb_typeof(variant) <> 'object' THEN 'it is not an object'
        WHEN EXISTS (SELECT FROM jsonb_object_keys(variant) k(key) WHERE k.key NOT IN ('label', 'percent', 'content'))
            THEN 'it has an unknown key'
        WHEN coalesce(jsonb_typeof(variant -> 'percent'), '') <> 'number' OR (variant ->> 'percent')::numeric NOT BETWEEN 0.001 AND 100
            THEN 'its percent is not a number between 0.001 and 100'
        WHEN jsonb_typeof(variant -> 'label') <> 'string' OR NOT is_label(variant ->> 'label') THEN 'its label is not a label'
        WHEN jsonb_typeof(variant -> 'content') <> 'object' THEN 'its content is not an object' END $$;
COMMENT ON FUNCTION pushmta_engine.variant_problem(jsonb) IS 'What is wrong with a variant of an experiment; null if nothing is.';

CREATE FUNCTION pushmta_engine.keep_variants(delivery bigint, variants jsonb, rest numeric) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    platforms text[] := ARRAY(SELECT DISTINCT a.platform FROM delivery_application x JOIN application a ON a.id = x.application_id
        WHERE x.delivery_id = delivery);
    own record;
    problems pushmta_engine.input_problem[];
    document jsonb;
BEGIN
    FOR own IN SELECT e.number, e.variant FROM jsonb_array_elements(variants) WITH ORDINALITY e(variant, number) LOOP
        document := NULL;
        IF own.variant ? 'content' THEN
            document := content_document('variant ' || own.number, (own.variant -> 'content')::text);
            problems := ARRAY(SELECT p FROM content_problems(document, platforms) p);
            IF cardinality(problems) > 0 THEN
                PERFORM refuse_content('variant ' || own.number, problems);
            END IF;
        END IF;
        INSERT INTO experiment_cell (delivery_id, cell, label, share, content)
        VALUES (delivery, own.number, variant_label(own.variant, own.number), (own.variant ->> 'percent')::double precision / 100,
            document);
    END LOOP;
    INSERT INTO experiment_cell (delivery_id, cell, label, share) SELECT delivery, 9, 'rest', rest / 100 WHERE rest > 0;
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_variants(bigint, jsonb, numeric) IS
    'Stores the variants of a delivery''s experiment after checking their contents, and the rest, if it has a percentage. A variant '
    'without a content has the delivery''s own.';

CREATE FUNCTION pushmta_engine.variants_problem(variants jsonb) RETURNS text LANGUAGE sql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT coalesce(
        CASE WHEN jsonb_typeof(variants) <> 'array' OR jsonb_array_length(variants) NOT BETWEEN 2 AND 8
            THEN 'it needs a list of 2 to 8 variants' END,
        (SELECT format('variant %s: %s', e.number, p.problem)
            FROM jsonb_array_elements(CASE jsonb_typeof(variants) WHEN 'array' THEN variants ELSE '[]' END)
                WITH ORDINALITY e(variant, number)
            CROSS JOIN LATERAL variant_problem(e.variant) p(problem) WHERE p.problem IS NOT NULL ORDER BY e.number LIMIT 1),
        (SELECT format('two variants have the label "%s"', min(variant_label(e.variant, e.number)))
            FROM jsonb_array_elements(CASE jsonb_typeof(variants) WHEN 'array' THEN variants ELSE '[]' END)
                WITH ORDINALITY e(variant, number)
            GROUP BY variant_label(e.variant, e.number) HAVING count(*) > 1 LIMIT 1)) $$;
COMMENT ON FUNCTION pushmta_engine.variants_problem(jsonb) IS 'What is wrong with the variants of an experiment; null if nothing is.';

CREATE FUNCTION pushmta_engine.keep_experiment(
    delivery bigint, variants jsonb, metric text, decide_after interval, early boolean, least_sample bigint,
    hold_out_percent double precision, if_undecided text, certainty_percent double precision
) RETURNS void LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    wrong text := variants_problem(variants);
    rest numeric := 100 - coalesce(hold_out_percent, 0)::numeric;
BEGIN
    PERFORM open_plan(delivery);
    DELETE FROM experiment e WHERE e.delivery_id = delivery;
    IF variants IS NOT NULL THEN
        IF wrong IS NULL THEN
            rest := rest - (SELECT sum((e ->> 'percent')::numeric) FROM jsonb_array_elements(variants) e);
        END IF;
        wrong := CASE WHEN wrong IS NOT NULL THEN wrong
            WHEN coalesce(hold_out_percent, 0) NOT BETWEEN 0 AND 99 OR rest < 0 THEN 'the shares add up to more than 100 %'
            WHEN coalesce(metric, '') NOT IN ('clicks', 'receipts', 'conversions')
                THEN 'the metric is not clicks, receipts or conversions'
            WHEN coalesce(if_undecided, '') NOT IN ('first', 'wait') THEN 'if_undecided is not first or wait'
            WHEN coalesce(least_sample, 0) < 1 THEN 'the least sample is not a number of messages'
            WHEN certainty_percent IS NULL OR certainty_percent NOT BETWEEN 50 AND 99.99
                THEN 'the certainty is not a percentage between 50 and 99.99'
            WHEN decide_after <= interval '0' OR decide_after > interval '366 days' OR NOT is_usable_interval(decide_after)
                THEN 'decide_after is not a time after the start of up to 366 days'
            WHEN rest > 0 AND decide_after IS NULL
                THEN 'there is a rest, so it needs a time after which the winner is decided (decide_after)' END;
        IF wrong IS NOT NULL THEN
            RAISE EXCEPTION 'The experiment of delivery % cannot be used: %.', delivery, wrong
                USING ERRCODE = 'PM007', HINT = 'As in [{"percent": 10}, {"percent": 10, "content": {"ios": {"title": "Hello"}}}].';
        END IF;
        PERFORM refuse_numbered_ids(delivery);
        INSERT INTO experiment (delivery_id, metric, decide_after, early, least_sample, hold_out, if_undecided, certainty)
        VALUES (delivery, metric, decide_after, coalesce(early, true), least_sample, coalesce(hold_out_percent, 0) / 100, if_undecided,
            certainty_percent / 100);
        PERFORM keep_variants(delivery, variants, rest);
    END IF;
    PERFORM close_plan(delivery);
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_experiment(bigint, jsonb, text, interval, boolean, bigint, double precision, text,
    double precision) IS 'Does what pushmta.set_experiment does. The caller logs it.';

CREATE FUNCTION pushmta.set_experiment(
    delivery bigint, variants jsonb, metric text DEFAULT 'clicks', decide_after interval DEFAULT NULL, early boolean DEFAULT true,
    least_sample bigint DEFAULT 1000, hold_out_percent double precision DEFAULT 0, if_undecided text DEFAULT 'first',
    certainty_percent double precision DEFAULT 95
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    PERFORM keep_experiment(delivery, variants, metric, decide_after, early, least_sample, hold_out_percent, if_undecided,
        certainty_percent);
    PERFORM note_change('delivery.plan', delivery::text, format('%s variants', coalesce(jsonb_array_length(variants), 0)));
END $$;
COMMENT ON FUNCTION pushmta.set_experiment(bigint, jsonb, text, interval, boolean, bigint, double precision, text, double precision) IS
    'Makes a delivery an experiment with 2 to 8 variants, each for a percentage of its people, who stay in it on all of their devices. '
    'What is left is the rest: it gets the winner by unique clicks, receipts or conversions, decide_after the start, or earlier (early) '
    'as soon as one is surely better (certainty_percent) and each variant has the least sample of sent messages. Without a winner then, '
    'the rest gets the first variant or waits for pushmta.choose_winner (if_undecided). The hold-out gets nothing. Null variants end it.';

CREATE FUNCTION pushmta_engine.check_experiment(delivery bigint, begins timestamptz, until timestamptz, on_day date DEFAULT NULL)
    RETURNS void LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    plan record;
    wrong text;
    utc CONSTANT text := 'YYYY-MM-DD HH24:MI:SS';
BEGIN
    SELECT begins + e.decide_after AS decided_at, p.on_past,
        -- No zone is further behind.
        coalesce(on_day + p.local_time::time, p.local_time) AT TIME ZONE 'Etc/GMT+12' AS last_zone_at,
        EXISTS (SELECT FROM experiment_cell c WHERE c.delivery_id = e.delivery_id AND c.cell = 9) AS has_rest INTO plan
    FROM experiment e JOIN delivery_plan p ON p.delivery_id = e.delivery_id WHERE e.delivery_id = delivery;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM refuse_numbered_ids(delivery);
    IF NOT plan.has_rest THEN
        RETURN;
    END IF;
    wrong := CASE WHEN plan.decided_at >= until THEN format('after it ends at %s UTC', to_char(until AT TIME ZONE 'UTC', utc))
        WHEN plan.decided_at <= plan.last_zone_at
            THEN format('before its local time has come everywhere at %s UTC', to_char(plan.last_zone_at AT TIME ZONE 'UTC', utc)) END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'The winner of % is decided at % UTC, %.', CASE WHEN on_day IS NULL THEN 'delivery ' || delivery
                ELSE format('the run of delivery %s at %s UTC', delivery, to_char(begins AT TIME ZONE 'UTC', utc)) END,
                to_char(plan.decided_at AT TIME ZONE 'UTC', utc), wrong
            USING ERRCODE = 'PM009', HINT = 'Change decide_after of its experiment, its local time, or its validity.';
    ELSIF plan.on_past = 'skip' THEN
        RAISE EXCEPTION 'Delivery % would send nothing to its rest: its local time is over when the winner is decided.', delivery
            USING ERRCODE = 'PM332', HINT = 'Set its local time with on_past now or next_day.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.check_experiment(bigint, timestamptz, timestamptz, date) IS
    'Refuses an experiment that does not fit into its delivery''s validity, local time or applications. A run of a recurring delivery has '
    'the local time of its own day.';

-- What happens while it runs.

CREATE FUNCTION pushmta_engine.count_results(delivery bigint) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_variable
DECLARE
    day date := (SELECT d.log_day FROM pushmta_engine.delivery d WHERE d.id = delivery AND NOT d.purged);
    result record;
BEGIN
    IF day IS NULL OR to_regclass('pushmta_engine.tracking_log_' || to_char(day, 'YYYYMMDD')) IS NULL THEN
        RETURN false;
    END IF;
    -- One after the other, in the order in which split_parts locks them. The counts are complete before the first is locked.
    FOR result IN WITH sent AS (
            SELECT p.cell, sum(p.sent) AS n FROM delivery_part p WHERE p.delivery_id = delivery GROUP BY p.cell
        ), hit AS (
            SELECT cell_of(t.sequence) AS cell, count(*) FILTER (WHERE t.kind = 1) AS received,
                count(*) FILTER (WHERE t.kind = 2) AS clicked
            FROM tracking_log t WHERE t.log_day = day AND t.delivery_id = delivery AND t.first GROUP BY 1
        ), conversion AS (
            SELECT cell_of(v.sequence) AS cell, count(DISTINCT v.sequence) AS n FROM pushmta_engine.conversion v
            WHERE v.delivery_id = delivery GROUP BY 1
        )
        SELECT x.cell, s.n AS sent, h.received, h.clicked, v.n AS converted FROM experiment_cell x
        LEFT JOIN sent s ON s.cell = x.cell LEFT JOIN hit h ON h.cell = x.cell LEFT JOIN conversion v ON v.cell = x.cell
        WHERE x.delivery_id = delivery ORDER BY x.cell
    LOOP
        -- They never fall: what is deleted because of its age, or with a person, was counted.
        UPDATE experiment_cell c SET sent = greatest(c.sent, result.sent), received = greatest(c.received, result.received),
            clicked = greatest(c.clicked, result.clicked), converted = greatest(c.converted, result.converted)
        WHERE c.delivery_id = delivery AND c.cell = result.cell;
    END LOOP;
    RETURN true;
END $$;
COMMENT ON FUNCTION pushmta_engine.count_results(bigint) IS
    'Counts the results of an experiment again. Returns false if its logs are gone: the last results stay.';

CREATE VIEW pushmta_engine.experiment_result AS
SELECT c.delivery_id, c.cell, c.label, x.size, least(x.n, x.size) AS n
FROM pushmta_engine.experiment e
JOIN pushmta_engine.experiment_cell c ON c.delivery_id = e.delivery_id AND c.cell < 9
CROSS JOIN LATERAL (SELECT c.sent AS size,
    CASE e.metric WHEN 'clicks' THEN c.clicked WHEN 'receipts' THEN c.received ELSE c.converted END AS n) x;
COMMENT ON VIEW pushmta_engine.experiment_result IS
    'How many messages of each variant were sent, and how many of them succeeded by the metric of the experiment. A message whose answer '
    'was lost may have succeeded without counting as sent.';

CREATE FUNCTION pushmta_engine.lead_of(delivery bigint) RETURNS smallint LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT sure_winner(array_agg(r.n ORDER BY r.cell), array_agg(r.size ORDER BY r.cell), e.least_sample, e.certainty)
    FROM experiment e JOIN experiment_result r ON r.delivery_id = e.delivery_id
    WHERE e.delivery_id = lead_of.delivery GROUP BY e.delivery_id $$;
COMMENT ON FUNCTION pushmta_engine.lead_of(bigint) IS
    'The variant of an experiment that is surely better than the others; null if none is.';

CREATE FUNCTION pushmta_engine.doubt_of(delivery bigint) RETURNS text LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT CASE WHEN r.size < e.least_sample
        THEN format('only %s messages of %s were sent, and each variant needs %s to be compared', r.size, r.label, e.least_sample)
        ELSE 'no variant is surely better' END
    FROM experiment e JOIN experiment_result r ON r.delivery_id = e.delivery_id
    WHERE e.delivery_id = doubt_of.delivery ORDER BY r.size, r.cell LIMIT 1 $$;
COMMENT ON FUNCTION pushmta_engine.doubt_of(bigint) IS 'Why an experiment has no sure winner.';

CREATE FUNCTION pushmta_engine.send_winner(delivery bigint, winner smallint, words text) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    rest bigint[] := ARRAY(SELECT p.id FROM delivery_part p
        WHERE p.delivery_id = delivery AND p.cell = 9 AND p.state <> 'done' ORDER BY p.id);
BEGIN
    UPDATE experiment e SET winner = send_winner.winner, decided_at = now(), decision = words WHERE e.delivery_id = delivery;
    UPDATE delivery_part p SET variant = winner WHERE p.id = ANY(rest);
    PERFORM let_go(delivery, rest, now());
    PERFORM pg_notify('pushmta_wake', delivery::text);
END $$;
COMMENT ON FUNCTION pushmta_engine.send_winner(bigint, smallint, text) IS
    'Ends an experiment of a locked delivery: its rest gets this variant. Parts of it that are prepared later get it, too.';

CREATE FUNCTION pushmta_engine.decide_experiment(delivery bigint, moment timestamptz) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    rule experiment;
    place record;
    lead smallint;
    is_due boolean;
BEGIN
    SELECT e.* INTO rule FROM experiment e WHERE e.delivery_id = delivery;
    SELECT d.state, d.prepared, d.started_at, d.finished_at, d.state IN ('preparing', 'in_progress') AND EXISTS (
        SELECT FROM experiment_cell c WHERE c.delivery_id = d.id AND c.cell = 9) AS has_rest INTO place
    FROM pushmta_engine.delivery d WHERE d.id = delivery;
    -- Clicks come for days. An experiment without a moment of decision ends with them.
    is_due := coalesce(moment >= coalesce(place.started_at + rule.decide_after, place.finished_at + interval '7 days'), false);
    IF rule.decided_at IS NOT NULL OR place.state = 'paused' OR NOT is_due AND NOT (rule.early AND place.prepared) THEN
        RETURN false;
    END IF;
    lead := lead_of(delivery);
    IF lead IS NOT NULL THEN
        PERFORM send_winner(delivery, lead, 'surely the best by ' || rule.metric);
    ELSIF NOT is_due THEN
        RETURN false;
    ELSIF place.has_rest AND rule.if_undecided = 'first' THEN
        PERFORM send_winner(delivery, 1::smallint, doubt_of(delivery) || ', so the rest got the first');
    ELSE
        UPDATE experiment e SET decided_at = moment, decision = doubt_of(delivery)
            || CASE WHEN place.has_rest THEN ': choose the one for the rest' ELSE '' END
        WHERE e.delivery_id = delivery;
    END IF;
    RETURN true;
END $$;
COMMENT ON FUNCTION pushmta_engine.decide_experiment(bigint, timestamptz) IS
    'Decides an experiment of a locked delivery by its last results if it can be decided at this moment. Returns whether it did.';

CREATE FUNCTION pushmta_engine.look_at_experiment(delivery bigint, moment timestamptz) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    began timestamptz := clock_timestamp();
    place record;
    decision timestamptz;
    is_counted boolean;
    is_locked boolean;
    is_decided boolean := false;
    pause interval;
BEGIN
    SELECT d.state, d.start_at, d.started_at, d.finished_at INTO place FROM pushmta_engine.delivery d WHERE d.id = delivery;
    IF place.started_at IS NULL THEN
        UPDATE experiment e SET look_at = CASE WHEN place.state IN ('pending', 'preparing', 'paused')
            THEN greatest(place.start_at, moment + interval '5 seconds') END WHERE e.delivery_id = delivery;
        RETURN false;
    END IF;
    is_counted := count_results(delivery);
    PERFORM FROM pushmta_engine.delivery d WHERE d.id = delivery FOR NO KEY UPDATE SKIP LOCKED;
    is_locked := FOUND;
    IF is_locked THEN
        is_decided := decide_experiment(delivery, moment);
    END IF;
    -- A twentieth of the time at most, and the less often the older it is, but in time for the decision.
    pause := least(interval '1 hour', greatest(interval '5 seconds', 20 * (clock_timestamp() - began), (moment - place.started_at) / 100));
    decision := (SELECT place.started_at + e.decide_after FROM experiment e WHERE e.delivery_id = delivery AND e.decided_at IS NULL);
    UPDATE experiment e SET counted_at = CASE WHEN is_counted THEN moment ELSE e.counted_at END,
        look_at = CASE WHEN NOT is_locked THEN moment + interval '1 second'
            WHEN e.decided_at IS NOT NULL AND (NOT is_counted OR moment > place.finished_at + interval '7 days') THEN NULL
            WHEN decision > moment THEN least(decision, moment + pause) ELSE moment + pause END
    WHERE e.delivery_id = delivery;
    RETURN is_decided;
END $$;
COMMENT ON FUNCTION pushmta_engine.look_at_experiment(bigint, timestamptz) IS
    'Counts the results of a locked experiment, and decides it if it can be decided. Says when it is looked at next: every five seconds '
    'at first, more slowly later, and until seven days after its delivery has ended. Returns whether it was decided.';

CREATE FUNCTION pushmta_engine.advance_experiment(moment timestamptz DEFAULT now()) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    wanted bigint;
BEGIN
    SELECT e.delivery_id INTO wanted FROM experiment e WHERE e.look_at <= moment
    ORDER BY e.look_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    BEGIN
        PERFORM look_at_experiment(wanted, moment);
    EXCEPTION WHEN OTHERS THEN
        -- Otherwise no other experiment would be looked at any more.
        RAISE WARNING 'The experiment of delivery % could not be looked at: %', wanted, SQLERRM;
        UPDATE experiment e SET look_at = moment + interval '1 minute' WHERE e.delivery_id = wanted;
    END;
    RETURN true;
END $$;
COMMENT ON FUNCTION pushmta_engine.advance_experiment(timestamptz) IS
    'Looks at the experiment that is due first, in a transaction of its own. Any number of hosts may call it; it never waits. Returns '
    'whether one was due.';

CREATE FUNCTION pushmta.choose_winner(delivery bigint, variant integer) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
BEGIN
    IF found_state NOT IN ('preparing', 'in_progress', 'paused') OR NOT EXISTS (SELECT FROM experiment e
        JOIN experiment_cell c ON c.delivery_id = e.delivery_id AND c.cell < 9 AND c.cell = variant
        JOIN pushmta_engine.delivery d ON d.id = e.delivery_id AND d.started_at IS NOT NULL
        WHERE e.delivery_id = delivery AND e.winner IS NULL) THEN
        RAISE EXCEPTION 'Delivery % has no experiment under way whose rest could get variant %.', delivery, variant
            USING ERRCODE = 'PM008', HINT = 'pushmta.experiment shows its state and its variants.';
    ELSIF NOT EXISTS (SELECT FROM experiment_cell c WHERE c.delivery_id = delivery AND c.cell = 9) THEN
        RAISE EXCEPTION 'The experiment of delivery % has no rest that could get variant %.', delivery, variant
            USING ERRCODE = 'PM008', HINT = 'Its variants and its hold-out are everybody: compare their results.';
    END IF;
    PERFORM send_winner(delivery, variant::smallint, 'chosen by a person');
    UPDATE experiment e SET look_at = now() WHERE e.delivery_id = delivery;
    IF NOT is_audited('delivery', 'winner', delivery::text, '') THEN
        PERFORM note_change('delivery.winner', delivery::text, 'variant ' || variant);
    END IF;
END $$;
COMMENT ON FUNCTION pushmta.choose_winner(bigint, integer) IS
    'Ends the experiment of a delivery that has begun: its rest gets this variant, at once or when the paused delivery is resumed.';

-- Conversions.

CREATE FUNCTION pushmta_engine.note_conversion(delivery bigint, number integer, name text, value numeric) RETURNS text LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_variable
DECLARE
    -- A client with the id of a message can repeat it without end.
    most CONSTANT integer := 10;
    recipient bigint := (SELECT b.subscription_id FROM pushmta_engine.delivery d
        JOIN broad_log b ON b.log_day = d.log_day AND b.delivery_id = d.id AND b.sequence = number WHERE d.id = delivery);
BEGIN
    IF recipient IS NULL THEN
        RETURN 'unknown';
    ELSIF coalesce(name, '') = '' OR NOT is_label(name) OR octet_length(name) > 100 OR NOT (value BETWEEN -1e12 AND 1e12) THEN
        RETURN 'invalid';
    ELSIF EXISTS (SELECT FROM forgotten_subscription f WHERE f.subscription_id = recipient)
        OR (SELECT count(*) FROM conversion v WHERE v.delivery_id = delivery AND v.sequence = number) >= most THEN
        RETURN 'ignored';
    END IF;
    INSERT INTO conversion (delivery_id, sequence, subscription_id, name, value)
    VALUES (delivery, number, recipient, note_conversion.name, round(note_conversion.value, 4))
    ON CONFLICT DO NOTHING;
    RETURN CASE WHEN FOUND THEN 'recorded' ELSE 'repeated' END;
END $$;
COMMENT ON FUNCTION pushmta_engine.note_conversion(bigint, integer, text, numeric) IS
    'Stores a conversion of a message. Returns recorded; repeated, if the message has one of this name; ignored, if it has ten, or its '
    'person was forgotten; unknown, if there is no such message with an outcome; invalid for a name or value that cannot be stored.';

CREATE FUNCTION pushmta_engine.add_conversion(message_id text, name text, value numeric, within bigint, only_applications integer[])
    RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    place record;
    outcome text := 'unknown';
BEGIN
    FOR place IN SELECT r.delivery_id, r.sequence FROM message_readings(message_id, within) r
        JOIN pushmta_engine.delivery d ON d.id = r.delivery_id
        WHERE r.sequence IS NOT NULL AND (within IS NULL OR within IN (d.id, d.parent_delivery_id))
            AND (only_applications IS NULL OR NOT EXISTS (SELECT FROM delivery_application x
                WHERE x.delivery_id = d.id AND NOT x.application_id = ANY(only_applications)))
    LOOP
        outcome := note_conversion(place.delivery_id, place.sequence, name, value);
        EXIT WHEN outcome <> 'unknown';
    END LOOP;
    IF outcome = 'unknown' THEN
        RAISE EXCEPTION 'No message with an outcome has the id "%".', left(message_id, 100)
            USING ERRCODE = 'PM330', HINT = 'pushmta.explain_message_id says how an id is read.';
    ELSIF outcome = 'invalid' THEN
        RAISE EXCEPTION 'The conversion has a name or a value that cannot be stored.'
            USING ERRCODE = 'PM007', HINT = 'A name has 1 to 100 bytes; a value is a number of at most a trillion.';
    END IF;
    RETURN outcome = 'recorded';
END $$;
COMMENT ON FUNCTION pushmta_engine.add_conversion(text, text, numeric, bigint, integer[]) IS
    'Does what pushmta.record_conversion does. Messages of deliveries to applications other than the given ones (null: all) count as '
    'unknown.';

CREATE FUNCTION pushmta.record_conversion(
    message_id text, name text DEFAULT 'conversion', value numeric DEFAULT NULL, delivery bigint DEFAULT NULL
) RETURNS boolean LANGUAGE sql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
    SELECT add_conversion(message_id, name, value, delivery, NULL) $$;
COMMENT ON FUNCTION pushmta.record_conversion(text, text, numeric, bigint) IS
    'Records that the recipient of a message did what it was sent for. The id may be of any kind (pushmta.explain_message_id); the '
    'delivery, if it is given, says where to look. The first of a name counts for each message, and at most ten names; returns whether '
    'this one counts.';

CREATE FUNCTION pushmta_engine.record_conversions(delivery_ids bigint[], other_ids bigint[], numbers bigint[], sequences integer[],
    names text[], amounts text[]) RETURNS text[] LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    item record;
    outcomes text[] := array_fill('unknown'::text, ARRAY[cardinality(names)]);
BEGIN
    FOR item IN SELECT g.n::integer AS n, coalesce(r.delivery_id, g.delivery_id) AS delivery_id,
            CASE WHEN g.number IS NULL THEN g.sequence ELSE r.sequence END AS sequence, g.name, g.amount::numeric AS amount
        FROM unnest(delivery_ids, other_ids, numbers, sequences, names, amounts)
            WITH ORDINALITY g(delivery_id, other_id, number, sequence, name, amount, n)
        LEFT JOIN LATERAL (SELECT d.id AS delivery_id, (g.number - m.first_id + 1)::integer AS sequence
            FROM message_id_range m JOIN delivery d ON d.id = m.delivery_id
            WHERE m.delivery_id IN (g.delivery_id, g.other_id) AND g.number BETWEEN m.first_id AND m.last_id
                AND g.number - m.first_id < d.target LIMIT 1) r ON true
        -- Always in this order, so that web processes do not block each other.
        ORDER BY 2, 3, g.name, g.n
    LOOP
        outcomes[item.n] := note_conversion(item.delivery_id, item.sequence, item.name, item.amount);
    END LOOP;
    RETURN outcomes;
END $$;
COMMENT ON FUNCTION pushmta_engine.record_conversions(bigint[], bigint[], bigint[], integer[], text[], text[]) IS
    'Stores conversions that apps report, of messages by delivery and sequence or by number, and returns what note_conversion returns for '
    'each.';

CREATE FUNCTION pushmta_engine.purge_conversions(most integer) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
DECLARE
    oldest date;
    purged bigint;
BEGIN
    SELECT min(to_date(right(c.relname, 8), 'YYYYMMDD')) INTO oldest FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'pushmta_engine.tracking_log'::regclass AND c.relname ~ '^tracking_log_[0-9]{8}$';
    DELETE FROM conversion v WHERE (v.delivery_id, v.sequence, v.name) IN (SELECT x.delivery_id, x.sequence, x.name FROM conversion x
        WHERE x.recorded_at < (oldest - 1)::timestamp AT TIME ZONE 'UTC'
        ORDER BY x.recorded_at LIMIT most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS purged = ROW_COUNT;
    purged := purged + purge_user_conversions(oldest - 1, most);
    PERFORM note_retention('conversions', purged);
    RETURN purged;
END $$;
COMMENT ON FUNCTION pushmta_engine.purge_conversions(integer) IS
    'Deletes up to the given number of conversions from before the oldest day whose hits are kept; returns how many. The counts of '
    'experiments stay.';

-- What there is to see.

CREATE FUNCTION pushmta_engine.as_percent(share double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN round((share * 100)::numeric, 6)::double precision;
COMMENT ON FUNCTION pushmta_engine.as_percent(double precision) IS 'A share from 0 to 1 as the percentage that was given for it.';

CREATE VIEW pushmta.experiment AS
SELECT e.delivery_id, e.metric, e.decide_after, e.early, e.least_sample,
    pushmta_engine.as_percent(e.hold_out) AS hold_out_percent, e.if_undecided,
    pushmta_engine.as_percent(e.certainty) AS certainty_percent,
    CASE WHEN e.winner IS NOT NULL THEN 'decided' WHEN e.decided_at IS NOT NULL THEN 'undecided'
        WHEN d.started_at IS NULL THEN 'waiting' ELSE 'running' END AS state,
    e.winner, w.label AS winner_label, CASE WHEN e.decided_at IS NULL THEN d.started_at + e.decide_after END AS decides_at, e.decided_at,
    e.decision, e.counted_at
FROM pushmta_engine.experiment e
JOIN pushmta_engine.delivery d ON d.id = e.delivery_id
LEFT JOIN pushmta_engine.experiment_cell w ON w.delivery_id = e.delivery_id AND w.cell = e.winner;
COMMENT ON VIEW pushmta.experiment IS
    'The experiments of deliveries, and how they were decided. state: waiting for the start, running, decided (it has a winner), or '
    'undecided (its time is over: a person may choose).';

CREATE VIEW pushmta.experiment_variant AS
SELECT c.delivery_id, c.cell AS variant, c.label, pushmta_engine.as_percent(c.share) AS percent,
    CASE WHEN d.state = 'pending' AND d.frozen_at IS NULL THEN coalesce((SELECT sum(n.messages)::bigint
        FROM pushmta_engine.delivery_count n WHERE n.delivery_id = c.delivery_id AND n.variant = c.cell), 0) ELSE c.messages END
        AS messages, c.sent, least(c.received, c.sent) AS received, least(c.clicked, c.sent) AS clicked,
    c.converted,
    CASE WHEN c.cell BETWEEN 2 AND 8 THEN pushmta_engine.difference_words(r.label, r.n, r.size, f.label, f.n, f.size,
        pushmta_engine.error_share(e.certainty, (SELECT count(*)::integer FROM pushmta_engine.experiment_cell k
            WHERE k.delivery_id = e.delivery_id AND k.cell < 9))) END AS against_first
FROM pushmta_engine.experiment e
JOIN pushmta_engine.experiment_cell c ON c.delivery_id = e.delivery_id
JOIN pushmta_engine.delivery d ON d.id = e.delivery_id
LEFT JOIN pushmta_engine.experiment_result r ON r.delivery_id = e.delivery_id AND r.cell = c.cell
LEFT JOIN pushmta_engine.experiment_result f ON f.delivery_id = e.delivery_id AND f.cell = 1 AND c.cell < 9;
COMMENT ON VIEW pushmta.experiment_variant IS
    'The variants of experiments with their results (unique receipts, clicks and conversions), and the conclusion in comparison '
    'with the first. A device may answer before the outcome of its message is stored, so no more receipts and clicks are shown than '
    'messages. Variant 9 is the rest. While the messages of a scheduled delivery are not made, messages is what its last analysis '
    'counted.';

CREATE VIEW pushmta.delivery_conversion AS
SELECT v.delivery_id, v.name, count(*) AS messages, sum(v.value) AS value FROM pushmta_engine.conversion v GROUP BY v.delivery_id, v.name;
COMMENT ON VIEW pushmta.delivery_conversion IS
    'How many messages of a delivery were followed by a conversion of each name, and the sum of the values.';

-- What the API, the commands and the console read.

CREATE FUNCTION pushmta_engine.api_experiment(wanted bigint) RETURNS SETOF pushmta.experiment
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT * FROM pushmta.experiment e WHERE e.delivery_id = wanted $$;
COMMENT ON FUNCTION pushmta_engine.api_experiment(bigint) IS 'The experiment of one delivery, as the API shows it.';

CREATE FUNCTION pushmta_engine.api_experiment_variants(wanted bigint)
    RETURNS TABLE (variant smallint, label text, percent double precision, messages bigint, sent bigint, received bigint, clicked bigint,
        converted bigint, against_first text, content text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT v.variant, v.label, v.percent, v.messages, v.sent, v.received, v.clicked, v.converted, v.against_first, c.content::text
        FROM pushmta.experiment_variant v JOIN experiment_cell c ON c.delivery_id = v.delivery_id AND c.cell = v.variant
        WHERE v.delivery_id = wanted ORDER BY v.variant $$;
COMMENT ON FUNCTION pushmta_engine.api_experiment_variants(bigint) IS
    'The variants of one delivery''s experiment with their results and contents; variant 9 is the rest.';

CREATE FUNCTION pushmta_engine.console_choose_winner(caller pushmta_engine.console_caller, delivery bigint, variant integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_user_of(caller, ARRAY['marketing', 'operate', 'admin']);
BEGIN
    PERFORM lock_delivery(delivery);
    IF NOT 'start' = ANY(console_actions(caller, delivery)) THEN
        -- Raises the error for an insufficient role.
        PERFORM console_user_of(caller, ARRAY['operate', 'admin']);
    END IF;
    -- First, so that it is not logged again under the console's login.
    PERFORM note_audit(who, 'delivery.winner', delivery::text, 'variant ' || variant, caller.address);
    PERFORM pushmta.choose_winner(delivery, variant);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_choose_winner(pushmta_engine.console_caller, bigint, integer) IS
    'Ends the experiment of a delivery with a winner, for a signed-in user who may start the delivery.';

CREATE FUNCTION pushmta_engine.console_prove_variant(caller pushmta_engine.console_caller, delivery bigint, variant integer, seeds text[])
    RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_user_of(caller, ARRAY['marketing', 'operate', 'admin']);
    proof bigint;
BEGIN
    IF NOT 'start' = ANY(console_actions(caller, delivery)) THEN
        -- Raises the error for an insufficient role.
        PERFORM console_user_of(caller, ARRAY['operate', 'admin']);
    END IF;
    proof := pushmta.proof_delivery(delivery => delivery, seeds => seeds, variant => variant);
    UPDATE pushmta_engine.delivery d SET started_by = who WHERE d.id = proof;
    PERFORM note_audit(who, 'delivery.proof', proof::text, (SELECT d.label FROM pushmta_engine.delivery d WHERE d.id = proof),
        caller.address);
    RETURN proof;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_prove_variant(pushmta_engine.console_caller, bigint, integer, text[]) IS
    'Sends a variant of an experiment to seed addresses, for a signed-in user who may start the delivery. Returns the proof, which is a '
    'delivery of its own.';
