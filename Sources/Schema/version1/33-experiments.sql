-- Experiments: variants of a delivery's content, who gets which, what one may conclude, and what the rest gets.
--
-- A message of an experiment has its cell in its number: number = cell x 2^27 + place. Cells 1 to 8 are the variants, cell 9 is the
-- rest, which gets the winner. So receipts and clicks of a cell are one range of an index, and nothing else has to mark them. Who gets
-- nothing (the hold-out) is in the exclusion log.

CREATE FUNCTION pushmta_engine.cell_of(sequence integer) RETURNS smallint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (sequence >> 27)::smallint;
COMMENT ON FUNCTION pushmta_engine.cell_of(integer) IS 'The cell of a message of an experiment, by its number.';

-- What one may conclude.

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

CREATE FUNCTION pushmta_engine.sure_winner(successes bigint[], sizes bigint[], least_sample bigint) RETURNS smallint LANGUAGE sql IMMUTABLE
    PARALLEL SAFE SET search_path = pushmta_engine, pg_temp AS $$
    -- A variant wins if it beats each of the others. With k variants there are k such events, and a difference has two directions: so
    -- that a false winner has a probability of at most 5 %, the odds have to exceed k / (2 x 0.05).
    SELECT w.place::smallint
    FROM unnest(successes, sizes) WITH ORDINALITY w(n, size, place)
    WHERE (SELECT min(o.size) FROM unnest(sizes) o(size)) >= least_sample
        -- Fewer are no basis for any conclusion.
        AND (SELECT sum(s.n) FROM unnest(successes) s(n)) >= 20
        AND cardinality(sizes) > 1
        AND NOT EXISTS (SELECT FROM unnest(successes, sizes) WITH ORDINALITY o(n, size, place)
            WHERE o.place <> w.place AND (w.n * o.size <= o.n * w.size
                OR mixture_odds(w.n, w.size, o.n, o.size) < cardinality(sizes) / 0.1)) $$;
COMMENT ON FUNCTION pushmta_engine.sure_winner(bigint[], bigint[], bigint) IS
    'The place of the variant that is surely better than all others, from successes and sizes; null if none is. Without a difference it '
    'names one in at most 5 % of experiments, however often one looks.';

-- A view calls it with its reader's rights, who may call none of the other functions.
CREATE FUNCTION pushmta_engine.difference_words(name text, a bigint, of_a bigint, other text, b bigint, of_b bigint, variants integer)
    RETURNS text LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    difference double precision;
    margin double precision;
BEGIN
    IF of_a = 0 OR of_b = 0 OR a + b < 20 THEN
        RETURN format('There are too few results to compare %s and %s.', name, other);
    END IF;
    difference := a::double precision / of_a - b::double precision / of_b;
    margin := mixture_margin(a, of_a, b, of_b, 0.1 / variants);
    RETURN format('%s: %s %%, %s: %s %%. The difference is %s percentage points, and surely between %s and %s%s', name,
        round((100.0 * a / of_a)::numeric, 2), other, round((100.0 * b / of_b)::numeric, 2), round((100 * difference)::numeric, 2),
        round((100 * (difference - margin))::numeric, 2), round((100 * (difference + margin))::numeric, 2),
        CASE WHEN difference - margin > 0 THEN format(': %s is better.', name)
            WHEN difference + margin < 0 THEN format(': %s is better.', other) ELSE ': it may be chance.' END);
END $$;
COMMENT ON FUNCTION pushmta_engine.difference_words(text, bigint, bigint, text, bigint, bigint, integer) IS
    'What one may conclude from the results of two of some variants, in words.';

-- Who gets what.

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

CREATE FUNCTION pushmta_engine.keep_variants(delivery bigint, variants jsonb, hold_out double precision) RETURNS void LANGUAGE plpgsql
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
        VALUES (delivery, own.number, coalesce(own.variant ->> 'label', chr(64 + own.number::integer)),
            (own.variant ->> 'percent')::double precision / 100, document);
    END LOOP;
    INSERT INTO experiment_cell (delivery_id, cell, label, share)
    SELECT delivery, 9, 'rest', greatest(0, 1 - hold_out - sum(c.share)) FROM experiment_cell c WHERE c.delivery_id = delivery;
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_variants(bigint, jsonb, double precision) IS
    'Stores the variants of a delivery''s experiment after checking their contents. A variant without a content has the delivery''s own.';

CREATE FUNCTION pushmta.set_experiment(
    delivery bigint, variants jsonb, metric text DEFAULT 'clicks', decide_after interval DEFAULT NULL, early boolean DEFAULT true,
    least_sample bigint DEFAULT 1000, hold_out_percent double precision DEFAULT 0, if_undecided text DEFAULT 'first'
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    wrong text;
    total numeric := coalesce(hold_out_percent, 0) + coalesce((SELECT sum((e ->> 'percent')::numeric) FROM jsonb_array_elements(
        CASE jsonb_typeof(variants) WHEN 'array' THEN variants ELSE '[]' END) e WHERE jsonb_typeof(e -> 'percent') = 'number'), 0);
BEGIN
    PERFORM open_plan(delivery);
    DELETE FROM experiment e WHERE e.delivery_id = delivery;
    IF variants IS NOT NULL THEN
        SELECT format('variant %s: %s', e.number, p.problem) INTO wrong
        FROM jsonb_array_elements(CASE jsonb_typeof(variants) WHEN 'array' THEN variants ELSE '[]' END) WITH ORDINALITY e(variant, number)
        CROSS JOIN LATERAL variant_problem(e.variant) p(problem) WHERE p.problem IS NOT NULL ORDER BY e.number LIMIT 1;
        wrong := CASE WHEN jsonb_typeof(variants) <> 'array' OR jsonb_array_length(variants) NOT BETWEEN 2 AND 8
                THEN 'it needs a list of 2 to 8 variants'
            WHEN wrong IS NOT NULL THEN wrong
            WHEN coalesce(hold_out_percent, 0) NOT BETWEEN 0 AND 99 OR total > 100 THEN 'the shares add up to more than 100 %'
            WHEN metric NOT IN ('clicks', 'receipts', 'conversions') THEN 'the metric is not clicks, receipts or conversions'
            WHEN if_undecided NOT IN ('first', 'wait') THEN 'if_undecided is not first or wait'
            WHEN coalesce(least_sample, 0) < 1 THEN 'the least sample is not a number of people'
            WHEN total < 100 AND (decide_after IS NULL OR decide_after <= interval '0')
                THEN 'there is a rest, so it needs a time after which the winner is decided (decide_after)'
            WHEN EXISTS (SELECT FROM delivery_application x JOIN application a ON a.id = x.application_id
                WHERE x.delivery_id = delivery AND a.message_id_format = 'int32')
                THEN 'an application has int32 message ids, which have no room for cells' END;
        IF wrong IS NOT NULL THEN
            RAISE EXCEPTION 'The experiment of delivery % cannot be used: %.', delivery, wrong
                USING ERRCODE = 'PM007', HINT = 'As in [{"percent": 10}, {"percent": 10, "content": {"title": "Hello"}}].';
        END IF;
        INSERT INTO experiment (delivery_id, metric, decide_after, early, least_sample, hold_out, if_undecided)
        VALUES (delivery, metric, decide_after, coalesce(early, true), least_sample, coalesce(hold_out_percent, 0) / 100, if_undecided);
        PERFORM keep_variants(delivery, variants, coalesce(hold_out_percent, 0) / 100);
    END IF;
    PERFORM close_plan(delivery);
    PERFORM note_change('delivery.plan', delivery::text, format('%s variants', coalesce(jsonb_array_length(variants), 0)));
END $$;
COMMENT ON FUNCTION pushmta.set_experiment(bigint, jsonb, text, interval, boolean, bigint, double precision, text) IS
    'Makes a delivery an experiment with 2 to 8 variants, each for a percentage of its people, who stay in it on all of their devices. '
    'What is left is the rest: it gets the winner by unique clicks, receipts or conversions, decide_after the start, or earlier (early) '
    'as soon as one is surely better and each variant has the least sample. Without a winner then, the rest gets the first variant or '
    'waits for pushmta.choose_winner (if_undecided). The hold-out gets nothing. Null variants end it.';

-- What happens while it runs.

CREATE FUNCTION pushmta_engine.refresh_experiment(delivery bigint) RETURNS void LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
    UPDATE experiment_cell c SET
        sent = (SELECT coalesce(sum(p.sent), 0) FROM delivery_part p WHERE p.delivery_id = c.delivery_id AND p.cell = c.cell),
        received = (SELECT count(*) FROM tracking_log t WHERE t.log_day = d.log_day AND t.delivery_id = c.delivery_id AND t.first
            AND t.kind = 1 AND t.sequence >= c.cell::integer << 27 AND t.sequence < (c.cell::bigint + 1) << 27),
        clicked = (SELECT count(*) FROM tracking_log t WHERE t.log_day = d.log_day AND t.delivery_id = c.delivery_id AND t.first
            AND t.kind = 2 AND t.sequence >= c.cell::integer << 27 AND t.sequence < (c.cell::bigint + 1) << 27),
        converted = (SELECT count(DISTINCT v.sequence) FROM conversion v WHERE v.delivery_id = c.delivery_id
            AND v.sequence >= c.cell::integer << 27 AND v.sequence < (c.cell::bigint + 1) << 27)
    FROM pushmta_engine.delivery d
    WHERE d.id = c.delivery_id AND c.delivery_id = refresh_experiment.delivery $$;
COMMENT ON FUNCTION pushmta_engine.refresh_experiment(bigint) IS 'Counts the results of an experiment anew.';

CREATE FUNCTION pushmta_engine.lead_of(delivery bigint) RETURNS smallint LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT sure_winner(array_agg(CASE e.metric WHEN 'clicks' THEN c.clicked WHEN 'receipts' THEN c.received ELSE c.converted END
        ORDER BY c.cell), array_agg(c.sent ORDER BY c.cell), e.least_sample)
    FROM experiment e JOIN experiment_cell c ON c.delivery_id = e.delivery_id AND c.cell < 9
    WHERE e.delivery_id = lead_of.delivery GROUP BY e.delivery_id $$;
COMMENT ON FUNCTION pushmta_engine.lead_of(bigint) IS
    'The variant of an experiment that is surely better than the others; null if none is.';

CREATE FUNCTION pushmta_engine.send_winner(delivery bigint, winner smallint, words text) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    rest bigint[] := ARRAY(SELECT p.id FROM delivery_part p
        WHERE p.delivery_id = delivery AND p.cell = 9 AND p.state <> 'done' ORDER BY p.id);
BEGIN
    UPDATE experiment e SET winner = send_winner.winner, decided_at = now(), verdict = words WHERE e.delivery_id = delivery;
    UPDATE delivery_part p SET variant = winner WHERE p.id = ANY(rest);
    PERFORM let_go(delivery, rest, now());
    PERFORM pg_notify('pushmta_wake', delivery::text);
END $$;
COMMENT ON FUNCTION pushmta_engine.send_winner(bigint, smallint, text) IS
    'Ends an experiment of a locked delivery: its rest gets this variant.';

CREATE FUNCTION pushmta_engine.decide_experiment(delivery bigint, moment timestamptz) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    rule experiment;
    lead smallint;
    is_due boolean;
BEGIN
    SELECT e.* INTO rule FROM experiment e WHERE e.delivery_id = delivery;
    is_due := moment >= (SELECT d.started_at FROM pushmta_engine.delivery d WHERE d.id = delivery) + rule.decide_after;
    IF NOT rule.early AND NOT coalesce(is_due, false) THEN
        RETURN false;
    END IF;
    PERFORM refresh_experiment(delivery);
    lead := lead_of(delivery);
    IF lead IS NOT NULL THEN
        PERFORM send_winner(delivery, lead, 'surely the best by ' || rule.metric);
    ELSIF NOT coalesce(is_due, false) THEN
        RETURN false;
    ELSIF rule.if_undecided = 'first' THEN
        PERFORM send_winner(delivery, 1::smallint, 'no variant was surely better, so the rest got the first');
    ELSE
        UPDATE experiment e SET decided_at = moment, verdict = 'no variant was surely better: choose one' WHERE e.delivery_id = delivery;
    END IF;
    RETURN true;
END $$;
COMMENT ON FUNCTION pushmta_engine.decide_experiment(bigint, timestamptz) IS
    'Decides an experiment of a locked delivery if it can be decided at this moment. Returns whether it did.';

CREATE FUNCTION pushmta_engine.decide_experiments(moment timestamptz DEFAULT now()) RETURNS integer LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    wanted bigint;
    decided integer := 0;
BEGIN
    FOR wanted IN SELECT d.id FROM pushmta_engine.delivery d
        WHERE d.id IN (SELECT e.delivery_id FROM experiment e WHERE e.decided_at IS NULL) AND d.state IN ('preparing', 'in_progress')
        ORDER BY d.id FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        IF decide_experiment(wanted, moment) THEN
            decided := decided + 1;
        END IF;
    END LOOP;
    RETURN decided;
END $$;
COMMENT ON FUNCTION pushmta_engine.decide_experiments(timestamptz) IS
    'Decides the experiments of deliveries under way that can be decided. Any number of hosts may call it; it never waits.';

CREATE FUNCTION pushmta.choose_winner(delivery bigint, variant integer) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
BEGIN
    IF found_state NOT IN ('preparing', 'in_progress', 'paused') OR NOT EXISTS (SELECT FROM experiment e
        JOIN experiment_cell c ON c.delivery_id = e.delivery_id AND c.cell < 9 AND c.cell = variant
        WHERE e.delivery_id = delivery AND e.winner IS NULL) THEN
        RAISE EXCEPTION 'Delivery % has no experiment under way whose rest could get variant %.', delivery, variant
            USING ERRCODE = 'PM008', HINT = 'pushmta.experiment shows its state and its variants.';
    END IF;
    PERFORM refresh_experiment(delivery);
    PERFORM send_winner(delivery, variant::smallint, 'chosen by a person');
    PERFORM note_change('delivery.winner', delivery::text, 'variant ' || variant);
END $$;
COMMENT ON FUNCTION pushmta.choose_winner(bigint, integer) IS 'Ends the experiment of a delivery: its rest gets this variant.';

CREATE FUNCTION pushmta.record_conversion(message_id text, name text DEFAULT 'conversion', value numeric DEFAULT NULL) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    place record;
BEGIN
    SELECT r.delivery_id, r.sequence INTO place FROM message_readings(message_id, NULL) r
    WHERE r.sequence IS NOT NULL AND EXISTS (SELECT FROM pushmta_engine.delivery d JOIN broad_log b ON b.log_day = d.log_day
        AND b.delivery_id = d.id AND b.sequence = r.sequence WHERE d.id = r.delivery_id) LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'No message with an outcome has the id "%".', left(message_id, 100)
            USING ERRCODE = 'PM002', HINT = 'pushmta.explain_message_id says how an id is read.';
    ELSIF NOT is_label(name) OR name = '' OR NOT (value BETWEEN -1e12 AND 1e12) THEN
        RAISE EXCEPTION 'The conversion has a name or a value that cannot be stored.'
            USING ERRCODE = 'PM007', HINT = 'A name has 1 to 500 characters; a value is a number of at most a trillion.';
    END IF;
    INSERT INTO conversion (delivery_id, sequence, name, value) VALUES (place.delivery_id, place.sequence, name, value)
    ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION pushmta.record_conversion(text, text, numeric) IS
    'Records that the recipient of a message did what it was sent for. The first of a name counts for each message; returns whether '
    'this was the first.';

-- What there is to see.

CREATE VIEW pushmta.experiment AS
SELECT e.delivery_id, e.metric, e.decide_after, e.early, e.least_sample, e.hold_out * 100 AS hold_out_percent, e.if_undecided, e.winner,
    w.label AS winner_label, e.decided_at, e.verdict
FROM pushmta_engine.experiment e
LEFT JOIN pushmta_engine.experiment_cell w ON w.delivery_id = e.delivery_id AND w.cell = e.winner;
COMMENT ON VIEW pushmta.experiment IS 'The experiments of deliveries, and how they were decided.';

CREATE VIEW pushmta.experiment_variant AS
SELECT c.delivery_id, c.cell AS variant, c.label, c.share * 100 AS percent, c.messages, c.sent, c.received, c.clicked, c.converted,
    CASE WHEN c.cell > 1 AND c.cell < 9 THEN pushmta_engine.difference_words(c.label, x.n, c.sent, f.label, y.n, f.sent, x.variants) END
        AS against_first
FROM pushmta_engine.experiment e
JOIN pushmta_engine.experiment_cell c ON c.delivery_id = e.delivery_id
JOIN pushmta_engine.experiment_cell f ON f.delivery_id = e.delivery_id AND f.cell = 1
CROSS JOIN LATERAL (SELECT CASE e.metric WHEN 'clicks' THEN c.clicked WHEN 'receipts' THEN c.received ELSE c.converted END AS n,
    (SELECT count(*)::integer FROM pushmta_engine.experiment_cell k WHERE k.delivery_id = e.delivery_id AND k.cell < 9) AS variants) x
CROSS JOIN LATERAL (SELECT CASE e.metric WHEN 'clicks' THEN f.clicked WHEN 'receipts' THEN f.received ELSE f.converted END AS n) y;
COMMENT ON VIEW pushmta.experiment_variant IS
    'The variants of experiments with their results (unique receipts, clicks and conversions), and what one may conclude in comparison '
    'with the first. Variant 9 is the rest.';
