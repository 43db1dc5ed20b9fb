-- Plans: when which messages of a delivery may leave. Waves, a moment in each recipient's time zone, and a service's sending hours.
--
-- The tables are in 04-deliveries.sql. A plan is decided when messages are prepared: each of its parts has one wave and one time
-- zone. A part that may not leave yet is 'planned', which no claim reads. A duty makes due parts ready. Children learn only until when
-- a part may leave (closes_at).

-- Time zones and hours. The moment is a parameter, so that a year can be tried in a second.

CREATE FUNCTION pushmta_engine.local_moment(local_time timestamp, zone text, begins timestamptz, on_past text) RETURNS timestamptz
    LANGUAGE sql STABLE SET search_path = pushmta_engine, pg_temp AS $$
    SELECT CASE WHEN m.moment >= begins THEN m.moment
        WHEN on_past = 'now' THEN begins
        WHEN on_past = 'next_day' THEN (SELECT min(n.moment) FROM generate_series(0, 2) ahead
            CROSS JOIN LATERAL (SELECT ((begins AT TIME ZONE zone)::date + ahead + local_time::time) AT TIME ZONE zone) n(moment)
            WHERE n.moment >= begins) END
    FROM (SELECT local_time AT TIME ZONE zone) m(moment) $$;
COMMENT ON FUNCTION pushmta_engine.local_moment(timestamp, text, timestamptz, text) IS
    'When a recipient in a time zone gets a message of a delivery that begins at a moment; null: never. A time that the clock skips or '
    'repeats is the moment that AT TIME ZONE gives.';

CREATE FUNCTION pushmta_engine.last_local_moment(local_time timestamp, begins timestamptz, on_past text) RETURNS timestamptz
    LANGUAGE sql STABLE SET search_path = pushmta_engine, pg_temp AS $$
    -- From UTC+14 to UTC-12: no zone is further ahead or behind.
    SELECT greatest(local_time AT TIME ZONE 'Etc/GMT+12', begins + CASE
        WHEN on_past = 'next_day' AND begins > local_time AT TIME ZONE 'Etc/GMT-14' THEN interval '24 hours' ELSE interval '0' END) $$;
COMMENT ON FUNCTION pushmta_engine.last_local_moment(timestamp, timestamptz, text) IS
    'Until when the last recipients in any time zone get a message that begins at a moment; the moment itself without a local time.';

CREATE FUNCTION pushmta_engine.usable_zone(zone text) RETURNS text LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    PERFORM now() AT TIME ZONE zone;
    RETURN zone;
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN 'UTC';
END $$;
COMMENT ON FUNCTION pushmta_engine.usable_zone(text) IS
    'A time zone, or UTC if this server does not know it: it may have been stored on a server with other time zones.';

CREATE FUNCTION pushmta_engine.next_hours(service integer, time_zone text, moment timestamptz, OUT opens timestamptz,
    OUT closes timestamptz) LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    zone text := usable_zone(time_zone);
    today date := (moment AT TIME ZONE zone)::date;
BEGIN
    -- Most services have none.
    IF NOT EXISTS (SELECT FROM sending_hours s WHERE s.service_id = service) THEN
        RETURN;
    END IF;
    -- A year of days off is the longest that is looked at.
    FOR ahead IN 0..366 LOOP
        SELECT greatest(h.from_moment, moment), h.to_moment INTO opens, closes
        FROM (SELECT (today + ahead + s.opens) AT TIME ZONE zone AS from_moment,
                -- 24:00 is the next day.
                (today + ahead + s.closes) AT TIME ZONE zone AS to_moment
            FROM sending_hours s WHERE s.service_id = service AND s.weekday = extract(isodow FROM today + ahead)) h
        -- The clock may skip all of them.
        WHERE h.to_moment > greatest(moment, h.from_moment)
            AND NOT EXISTS (SELECT FROM day_off o WHERE o.service_id = service AND o.day = today + ahead)
        ORDER BY h.from_moment LIMIT 1;
        EXIT WHEN FOUND;
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta_engine.next_hours(integer, text, timestamptz) IS
    'The sending hours of a service in a time zone that contain a moment, or the next ones after it: opens is then later than the '
    'moment. Null if there are none within a year.';

CREATE FUNCTION pushmta_engine.keep_plan(delivery bigint) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    INSERT INTO delivery_plan (delivery_id)
    SELECT d.id FROM pushmta_engine.delivery d
    WHERE d.id = delivery AND d.kind = 'batch' AND NOT d.proof AND EXISTS (SELECT FROM delivery_application x
            JOIN application a ON a.id = x.application_id WHERE x.delivery_id = d.id AND hours_rule(d.id, a.service_id) <> 'ignore')
        -- What replaces or removes a message goes out at any hour.
        AND NOT EXISTS (SELECT FROM recall r WHERE r.child_id = d.id)
    ON CONFLICT DO NOTHING;
    RETURN EXISTS (SELECT FROM delivery_plan p WHERE p.delivery_id = delivery);
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_plan(bigint) IS
    'Gives a delivery whose services have sending hours a plan, unless it recalls another one. Returns whether it has one.';

-- Parts.

CREATE FUNCTION pushmta_engine.wave_sizes(delivery bigint, more bigint, done double precision, at_once double precision)
    RETURNS TABLE (number smallint, through bigint) LANGUAGE sql STABLE SET search_path = pushmta_engine, pg_temp AS $$
    SELECT w.number,
        CASE WHEN w.number = max(w.number) OVER () THEN more ELSE least(more, sum(q.n) OVER (ORDER BY w.number))::bigint END
    FROM delivery_wave w
    CROSS JOIN (SELECT coalesce(sum(a.messages), 0) + more AS messages FROM delivery_wave a WHERE a.delivery_id = wave_sizes.delivery) t
    CROSS JOIN LATERAL (SELECT greatest(0, CASE WHEN w.share IS NOT NULL THEN floor(w.share * t.messages + 0.000001) - w.messages
        -- A little more than its share of the chunk: the last chunks may be small.
        WHEN w.size IS NOT NULL THEN least(w.size - w.messages, ceil((w.size - w.messages) * least(1,
            1.1 * (at_once - done) / greatest(1 - done, 0.000001)))) END) AS n) q
    WHERE w.delivery_id = wave_sizes.delivery $$;
COMMENT ON FUNCTION pushmta_engine.wave_sizes(bigint, bigint, double precision, double precision) IS
    'How a number of new messages of a delivery is divided into its waves: the messages up to which place each wave gets. A wave of a '
    'fixed size gets its messages from all chunks, from the share of the target that was done before to the one done with them.';

CREATE FUNCTION pushmta_engine.prepared_share(delivery bigint) RETURNS double precision LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT CASE WHEN d.target_kind = 'explicit' THEN
            -- The author of the list may number its rows, even below zero.
            CASE WHEN d.prepared_through >= coalesce(d.prepare_to, 0) THEN 1 WHEN d.prepare_to > 0
                THEN d.prepared_through::double precision / d.prepare_to ELSE 0 END
        -- Without applications that have no subscribers.
        ELSE (SELECT coalesce(avg(CASE WHEN a.prepared THEN 1 ELSE a.prepared_through::double precision / a.prepare_to END), 1)
            FROM delivery_application a WHERE a.delivery_id = d.id AND a.prepare_to > 0) END
    FROM pushmta_engine.delivery d WHERE d.id = prepared_share.delivery $$;
COMMENT ON FUNCTION pushmta_engine.prepared_share(bigint) IS 'How much of its target a delivery has read, from 0 to 1, by ids.';

CREATE FUNCTION pushmta_engine.placed_messages(
    delivery bigint, fresh bigint[], part_size integer, to_seeds boolean, so_far double precision
) RETURNS TABLE (application_id integer, wave smallint, zone text, cell smallint, line bigint, part_id bigint, sequence integer,
        subscription_id bigint, target_id bigint, variables jsonb, has_unknown_zone boolean) LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    WITH service_of AS MATERIALIZED (
        SELECT a.id AS application_id, v.time_zone, p.local_time IS NOT NULL OR hours_rule(p.delivery_id, v.id) <> 'ignore' AS by_zone,
            zone_column(a.subscription_parameters) AS zone_column, e.seed, cell_bounds(p.delivery_id) AS bounds
        FROM delivery_plan p JOIN delivery_application x ON x.delivery_id = p.delivery_id
        JOIN application a ON a.id = x.application_id JOIN service v ON v.id = a.service_id
        LEFT JOIN experiment e ON e.delivery_id = p.delivery_id
        WHERE p.delivery_id = placed_messages.delivery
    ), message AS MATERIALIZED (
        SELECT p.id AS part_id, p.application_id, coalesce(t.sequences[u.place], (t.first_sequence + u.place - 1)::integer) AS sequence,
            u.subscription_id, t.target_ids[u.place] AS target_id, t.message_variables[u.place] AS variables,
            -- What the application declares is looked up only if it declares something and the subscription has no zone.
            CASE WHEN v.by_zone AND NOT to_seeds THEN coalesce(z.name, CASE WHEN v.zone_column IS NOT NULL THEN (SELECT t.name
                FROM time_zone t WHERE t.name = column_value(v.zone_column, s.recipient, s.parameters)) END, v.time_zone) END AS zone,
            CASE WHEN v.zone_column IS NOT NULL AND v.by_zone AND NOT to_seeds AND z.name IS NULL
                THEN column_value(v.zone_column, s.recipient, s.parameters) END AS declared_zone,
            CASE WHEN NOT to_seeds THEN
                cell_at(person_share(coalesce(nullif(s.user_key, ''), u.subscription_id::text), v.seed), v.bounds) END AS cell,
            hashtextextended(coalesce(nullif(s.user_key, ''), u.subscription_id::text), placed_messages.delivery) AS hash
        FROM delivery_part p
        JOIN delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
        JOIN service_of v ON v.application_id = p.application_id
        CROSS JOIN LATERAL unnest(t.subscription_ids) WITH ORDINALITY u(subscription_id, place)
        LEFT JOIN subscription s ON s.id = u.subscription_id
        LEFT JOIN time_zone z ON z.name = s.time_zone
        WHERE p.id = ANY(fresh)
    ), size AS MATERIALIZED (
        SELECT count(*) AS n FROM message m WHERE m.cell IS DISTINCT FROM 0
    ), wave AS MATERIALIZED (
        SELECT w.number, coalesce(lag(w.through) OVER (ORDER BY w.number), 0) AS after, w.through
        FROM delivery_plan p CROSS JOIN size
        CROSS JOIN LATERAL wave_sizes(p.delivery_id, CASE WHEN to_seeds THEN 0 ELSE size.n END, p.progress, so_far) w
        WHERE p.delivery_id = placed_messages.delivery
    ), placed AS (
        SELECT m.*, CASE WHEN m.cell = 0 THEN NULL WHEN to_seeds THEN (SELECT min(w.number) FROM wave w) ELSE w.number END AS wave
        -- By person, so that the devices of one chunk stay together. Those who are held out come last.
        FROM (SELECT m.*, row_number() OVER (ORDER BY m.cell IS NOT DISTINCT FROM 0, m.hash, m.subscription_id, m.sequence) AS place
            FROM message m) m
        LEFT JOIN wave w ON m.place > w.after AND m.place <= w.through
    )
    SELECT p.application_id, p.wave, p.zone, p.cell,
        (row_number() OVER (PARTITION BY p.application_id, p.wave, p.zone, p.cell ORDER BY p.sequence) - 1)
            / CASE WHEN p.cell BETWEEN 1 AND 8 THEN least(part_size, greatest(64, ceil(count(*) OVER (PARTITION BY p.application_id,
                p.wave, p.zone, p.cell) / 10.0)::integer)) ELSE part_size END,
        p.part_id, p.sequence, p.subscription_id, p.target_id, p.variables,
        coalesce(p.declared_zone <> '' AND p.declared_zone <> p.zone, false)
    FROM placed p $$;
COMMENT ON FUNCTION pushmta_engine.placed_messages(bigint, bigint[], integer, boolean, double precision) IS
    'The messages of new parts of a delivery with the wave and the time zone that each gets, and the part of these, by number. Variants '
    'of an experiment get smaller parts, so that they leave side by side.';

CREATE FUNCTION pushmta_engine.cut_parts(
    delivery bigint, fresh bigint[], part_size integer, to_seeds boolean, so_far double precision
) RETURNS TABLE (id bigint, part_id bigint, application_id integer, wave smallint, zone text, cell smallint, size integer,
        sequences integer[], subscription_ids bigint[], target_ids bigint[], variables jsonb[], has_targets boolean,
        has_variables boolean, unknown_zones bigint) LANGUAGE sql VOLATILE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT nextval(pg_get_serial_sequence('pushmta_engine.delivery_part', 'id')), g.*
    FROM (SELECT min(c.part_id) AS part_id, c.application_id, c.wave, c.zone, c.cell, count(*)::integer AS size,
            array_agg(c.number ORDER BY c.number) AS sequences, array_agg(c.subscription_id ORDER BY c.number) AS subscription_ids,
            array_agg(c.target_id ORDER BY c.number) AS target_ids, array_agg(c.variables ORDER BY c.number) AS variables,
            bool_or(c.target_id IS NOT NULL) AS has_targets, bool_or(c.variables IS NOT NULL) AS has_variables,
            count(*) FILTER (WHERE c.has_unknown_zone AND c.cell IS DISTINCT FROM 0) AS unknown_zones
        FROM (SELECT m.*, CASE WHEN x.delivery_id IS NULL OR m.cell = 0 THEN m.sequence ELSE (coalesce(m.cell::bigint << 27, 0)
                + coalesce(e.messages, 0) + row_number() OVER (PARTITION BY m.cell
                    ORDER BY m.application_id, m.wave, m.zone, m.line, m.sequence))::integer END AS number
            FROM placed_messages(delivery, fresh, part_size, to_seeds, so_far) m
            LEFT JOIN experiment x ON x.delivery_id = cut_parts.delivery
            LEFT JOIN experiment_cell e ON e.delivery_id = x.delivery_id AND e.cell = m.cell) c
        GROUP BY c.application_id, c.wave, c.zone, c.cell, c.line
        -- Ids are the order in which parts leave. Variants take turns: how far each part brings its variant decides.
        ORDER BY c.wave, CASE WHEN c.cell IS NOT NULL THEN c.zone END, CASE WHEN c.cell IS NOT NULL THEN (sum(count(*)) OVER (
            PARTITION BY c.application_id, c.wave, c.zone, c.cell ORDER BY c.line) - count(*) / 2.0)
            / sum(count(*)) OVER (PARTITION BY c.application_id, c.wave, c.zone, c.cell) END, min(c.number)) g $$;
COMMENT ON FUNCTION pushmta_engine.cut_parts(bigint, bigint[], integer, boolean, double precision) IS
    'What split_parts makes of new parts of a delivery. Messages of an experiment get numbers of their cell, those to seed addresses '
    'numbers from 1; the others keep theirs. Cell 0 is the hold-out. The ids of variants are interleaved, so a rate or a pause does not '
    'favour one of them.';

CREATE FUNCTION pushmta_engine.split_parts(delivery bigint, fresh bigint[], part_size integer, to_seeds boolean) RETURNS bigint[]
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    so_far double precision := greatest(0, least(1, prepared_share(delivery)));
    made bigint[];
    unknown bigint;
BEGIN
    -- In the order in which count_results changes them.
    PERFORM FROM experiment_cell e WHERE e.delivery_id = delivery ORDER BY e.cell FOR NO KEY UPDATE;
    WITH cut AS MATERIALIZED (
        SELECT c.* FROM cut_parts(delivery, fresh, part_size, to_seeds, so_far) c
    ), parts AS (
        INSERT INTO delivery_part (id, delivery_id, application_id, external_account_id, log_day, size, priority, has_variables, dense,
            state, wave, time_zone, cell, variant)
        SELECT c.id, p.delivery_id, p.application_id, p.external_account_id, p.log_day, c.size, p.priority,
            c.has_targets OR c.has_variables,
            -- Half of the ids in its range, as for parts without a plan.
            p.dense AND c.size * 2 >= c.subscription_ids[c.size] - c.subscription_ids[1] + 1, 'held', c.wave, c.zone, c.cell,
            -- The rest waits for the winner. Seed addresses get the first variant.
            CASE WHEN c.cell = 9 THEN e.winner WHEN to_seeds AND e.delivery_id IS NOT NULL THEN 1 ELSE c.cell END
        FROM cut c JOIN delivery_part p ON p.id = c.part_id LEFT JOIN experiment e ON e.delivery_id = p.delivery_id
        WHERE c.cell IS DISTINCT FROM 0
    ), targets AS (
        INSERT INTO delivery_part_target (part_id, delivery_id, log_day, first_sequence, last_sequence, sequences, subscription_ids,
            target_ids, message_variables)
        SELECT c.id, p.delivery_id, p.log_day, c.sequences[1], c.sequences[c.size],
            CASE WHEN c.sequences[c.size] - c.sequences[1] + 1 <> c.size THEN c.sequences END, c.subscription_ids,
            CASE WHEN c.has_targets THEN c.target_ids END, CASE WHEN c.has_variables THEN c.variables END
        FROM cut c JOIN delivery_part p ON p.id = c.part_id WHERE c.cell IS DISTINCT FROM 0
    ), waves AS (
        UPDATE delivery_wave w SET messages = w.messages + n.messages
        FROM (SELECT c.wave, sum(c.size) AS messages FROM cut c WHERE c.cell IS DISTINCT FROM 0 GROUP BY c.wave) n
        WHERE w.delivery_id = delivery AND w.number = n.wave
    ), cells AS (
        UPDATE experiment_cell e SET messages = e.messages + n.messages
        FROM (SELECT c.cell, sum(c.size) AS messages FROM cut c GROUP BY c.cell) n WHERE e.delivery_id = delivery AND e.cell = n.cell
    ), held_out AS (
        SELECT note_hold_out(delivery, array_agg(c.application_id), array_agg(u.id)) FROM cut c
        CROSS JOIN LATERAL unnest(c.subscription_ids) u(id) WHERE c.cell = 0 HAVING count(*) > 0
    )
    SELECT coalesce(array_agg(c.id ORDER BY c.id) FILTER (WHERE c.cell IS DISTINCT FROM 0), '{}'), coalesce(sum(c.unknown_zones), 0)
    INTO made, unknown
    FROM cut c LEFT JOIN held_out h ON true;
    DELETE FROM delivery_part_target t USING delivery_part p
    WHERE p.id = ANY(fresh) AND t.log_day = p.log_day AND t.part_id = p.id AND t.part_id = ANY(fresh);
    DELETE FROM delivery_part p WHERE p.id = ANY(fresh);
    UPDATE delivery_plan p SET progress = so_far, planned_through = coalesce(made[cardinality(made)], fresh[cardinality(fresh)]),
        unknown_zones = p.unknown_zones + unknown
    WHERE p.delivery_id = delivery;
    UPDATE pushmta_engine.delivery d SET first_seed = 1
    WHERE d.id = delivery AND to_seeds AND EXISTS (SELECT FROM experiment e WHERE e.delivery_id = d.id);
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta_engine.split_parts(bigint, bigint[], integer, boolean) IS
    'Replaces new parts of a delivery with held ones that each have one wave, one time zone and one variant. The caller''s transaction has '
    'made them, so nobody else knows them. Seed addresses are in the first wave, at its beginning. Returns the parts.';

CREATE FUNCTION pushmta_engine.cut_part(part bigint, size integer) RETURNS bigint LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
    WITH whole AS MATERIALIZED (
        SELECT p.id, p.log_day, t.subscription_ids AS ids, t.target_ids, t.message_variables AS variables,
            coalesce(t.sequences, ARRAY(SELECT generate_series(t.first_sequence, t.last_sequence))) AS numbers
        FROM delivery_part p JOIN delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id WHERE p.id = cut_part.part
    ), made AS (
        INSERT INTO delivery_part (delivery_id, application_id, external_account_id, log_day, size, priority, has_variables, dense, state,
            not_before, wave, time_zone, cell, variant, released_as)
        SELECT p.delivery_id, p.application_id, p.external_account_id, p.log_day, cut_part.size, p.priority, p.has_variables, false,
            p.state, p.not_before, p.wave, p.time_zone, p.cell, p.variant, p.released_as
        FROM delivery_part p WHERE p.id = cut_part.part
        RETURNING id, delivery_id, log_day
    ), target AS (
        INSERT INTO delivery_part_target (part_id, delivery_id, log_day, first_sequence, last_sequence, sequences, subscription_ids,
            target_ids, message_variables)
        SELECT m.id, m.delivery_id, m.log_day, w.numbers[1], w.numbers[cut_part.size], w.numbers[:cut_part.size], w.ids[:cut_part.size],
            w.target_ids[:cut_part.size], w.variables[:cut_part.size]
        FROM made m, whole w
    ), rest AS (
        UPDATE delivery_part p SET size = p.size - cut_part.size, dense = false WHERE p.id = cut_part.part
    ), rest_target AS (
        UPDATE delivery_part_target t SET first_sequence = w.numbers[cut_part.size + 1], sequences = w.numbers[cut_part.size + 1:],
            subscription_ids = w.ids[cut_part.size + 1:], target_ids = w.target_ids[cut_part.size + 1:],
            message_variables = w.variables[cut_part.size + 1:]
        FROM whole w WHERE t.log_day = w.log_day AND t.part_id = w.id
    )
    SELECT m.id FROM made m $$;
COMMENT ON FUNCTION pushmta_engine.cut_part(bigint, integer) IS
    'Moves the first messages of a part that nobody has claimed yet into a new part, and returns it.';

CREATE FUNCTION pushmta_engine.wave_donors(delivery bigint, short smallint, lacking bigint)
    RETURNS TABLE (id bigint, wave smallint, size integer, given integer) LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    WITH donor AS MATERIALIZED (
        SELECT p.id, p.wave, coalesce(p.cell, 0) AS cell, p.size,
            sum(p.size) OVER (PARTITION BY p.wave, p.cell ORDER BY p.id) - p.size AS before
        FROM delivery_part p JOIN delivery_wave w ON w.delivery_id = p.delivery_id AND w.number = p.wave AND w.opened_at IS NULL
        WHERE p.delivery_id = wave_donors.delivery AND p.state IN ('held', 'planned') AND p.wave > short
    ), cell AS (
        SELECT c.*, sum(c.n) OVER (PARTITION BY c.wave ORDER BY c.cell) AS through, sum(c.n) OVER (PARTITION BY c.wave) AS in_wave
        FROM (SELECT d.wave, d.cell, sum(d.size) AS n FROM donor d GROUP BY d.wave, d.cell) c
    ), share AS (
        -- The last waves give first, and each of its cells by its share of the wave.
        SELECT c.wave, c.cell, div(g.n * c.through, c.in_wave) - div(g.n * (c.through - c.n), c.in_wave) AS n
        FROM cell c CROSS JOIN LATERAL (SELECT greatest(0, least(c.in_wave, lacking - coalesce((SELECT sum(o.n) FROM cell o
            WHERE o.wave > c.wave), 0))) AS n) g
    )
    SELECT d.id, d.wave, d.size, least(d.size, s.n - d.before)::integer
    FROM donor d JOIN share s ON s.wave = d.wave AND s.cell = d.cell AND s.n > d.before ORDER BY d.wave DESC, d.id $$;
COMMENT ON FUNCTION pushmta_engine.wave_donors(bigint, smallint, bigint) IS
    'The parts of later waves from which a wave that is too small takes messages, and how many. Each variant of an experiment gives its '
    'share, so the wave keeps the same mix.';

CREATE FUNCTION pushmta_engine.fill_waves(delivery bigint) RETURNS bigint[] LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    short record;
    donor record;
    moved bigint;
    filled bigint[] := ARRAY[]::bigint[];
BEGIN
    FOR short IN SELECT w.number, w.size - w.messages AS lacking FROM delivery_wave w
        WHERE w.delivery_id = delivery AND w.size > w.messages ORDER BY w.number
    LOOP
        FOR donor IN SELECT g.* FROM wave_donors(delivery, short.number, short.lacking) g LOOP
            moved := CASE WHEN donor.given = donor.size THEN donor.id ELSE cut_part(donor.id, donor.given) END;
            UPDATE delivery_part p SET wave = short.number WHERE p.id = moved;
            UPDATE delivery_wave w SET messages = w.messages + CASE w.number WHEN donor.wave THEN -1 ELSE 1 END * donor.given
            WHERE w.delivery_id = delivery AND w.number IN (donor.wave, short.number);
            filled := filled || moved;
        END LOOP;
    END LOOP;
    IF filled <> '{}' THEN
        -- They were counted in another wave.
        UPDATE delivery_analysis a SET counted_through = 0 WHERE a.delivery_id = delivery;
        DELETE FROM delivery_longest l WHERE l.delivery_id = delivery;
    END IF;
    RETURN filled;
END $$;
COMMENT ON FUNCTION pushmta_engine.fill_waves(bigint) IS
    'Moves messages of later waves into waves of a fixed size that have fewer, because the last chunks of the target were smaller than '
    'expected. Returns the parts that it moved.';

CREATE FUNCTION pushmta_engine.plan_parts(delivery bigint, part_size integer, is_last boolean) RETURNS integer LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    fresh bigint[] := ARRAY(SELECT p.id FROM delivery_plan n JOIN delivery_part p ON p.delivery_id = n.delivery_id
        WHERE n.delivery_id = delivery AND p.id > n.planned_through AND p.parent_part_id IS NULL);
    made bigint[] := CASE WHEN is_last THEN fill_waves(delivery) ELSE '{}' END;
BEGIN
    IF fresh <> '{}' THEN
        -- The last parts are those of seed addresses.
        made := made || split_parts(delivery, fresh, part_size, is_last);
    END IF;
    IF made <> '{}' AND (SELECT d.state = 'preparing' FROM pushmta_engine.delivery d WHERE d.id = delivery) THEN
        -- A chunk after the other locks the delivery, so advance_waves might find it free only at the end.
        PERFORM open_wave(delivery, now());
        PERFORM let_go(delivery, made, now());
    END IF;
    RETURN cardinality(made);
END $$;
COMMENT ON FUNCTION pushmta_engine.plan_parts(bigint, integer, boolean) IS
    'Applies the plan of a locked delivery to the parts that were made since the last call. is_last: its target has been read to the end, '
    'and new parts are of seed addresses. Returns how many parts it made or moved.';

CREATE FUNCTION pushmta_engine.let_go(delivery bigint, parts bigint[], moment timestamptz) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    plan delivery_plan;
    began timestamptz := coalesce((SELECT d.started_at FROM pushmta_engine.delivery d WHERE d.id = delivery), moment);
    number bigint := nextval(pg_get_serial_sequence('pushmta_engine.delivery_part', 'id'));
BEGIN
    SELECT p.* INTO plan FROM delivery_plan p WHERE p.delivery_id = delivery;
    WITH zone AS MATERIALIZED (
        -- Whether a local time has passed is decided at the start of the delivery, or of the wave: preparation takes time.
        SELECT z.wave, z.time_zone, z.is_open, CASE WHEN plan.local_time IS NULL OR z.time_zone IS NULL THEN moment
            ELSE local_moment(plan.local_time, usable_zone(z.time_zone), coalesce(z.opened_at, began), plan.on_past) END AS due
        FROM (SELECT DISTINCT p.wave, p.time_zone, w.opened_at, p.wave IS NULL OR w.opened_at IS NOT NULL AS is_open
            FROM delivery_part p LEFT JOIN delivery_wave w ON w.delivery_id = p.delivery_id AND w.number = p.wave
            WHERE p.id = ANY(parts)) z
    ), goal AS MATERIALIZED (
        SELECT p.id, p.wave IS NOT NULL OR p.time_zone IS NOT NULL OR r.is_undecided AS is_planned, z.is_open AND z.due IS NULL AS is_over,
            CASE WHEN z.is_open AND NOT r.is_undecided THEN z.due ELSE 'infinity' END AS due
        FROM delivery_part p JOIN zone z ON (z.wave, z.time_zone) IS NOT DISTINCT FROM (p.wave, p.time_zone)
        -- The rest of an experiment waits for the winner.
        CROSS JOIN LATERAL (SELECT coalesce(p.cell = 9, false) AND p.variant IS NULL AS is_undecided) r
        WHERE p.id = ANY(parts)
    )
    UPDATE delivery_part p SET not_before = CASE WHEN g.is_over THEN moment ELSE g.due END,
        state = CASE WHEN g.is_over THEN 'done' WHEN p.state = 'waiting' THEN 'waiting' WHEN g.is_planned THEN 'planned' ELSE 'ready' END,
        finished_at = CASE WHEN g.is_over THEN moment END, rest_status = CASE WHEN g.is_over THEN 0 END,
        rest_reason = CASE WHEN g.is_over THEN 'local_time_over' END,
        fencing_token = p.fencing_token + CASE WHEN g.is_over THEN 1 ELSE 0 END, released_as = number
    FROM goal g WHERE p.id = g.id AND p.state IN ('held', 'planned', 'waiting');
END $$;
COMMENT ON FUNCTION pushmta_engine.let_go(bigint, bigint[], timestamptz) IS
    'Releases held or planned parts of a locked delivery: at once, or when their plan says. Parts whose local time is over end. Those that '
    'wait with a paused delivery go on waiting for it.';

CREATE FUNCTION pushmta_engine.due_planned(enough integer, most integer, moment timestamptz) RETURNS TABLE (
    id bigint, delivery_id bigint, service_id integer, time_zone text) LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    WITH RECURSIVE kind AS (
        (SELECT p.application_id, p.external_account_id, p.priority FROM delivery_part p WHERE p.state = 'planned'
            ORDER BY p.application_id, p.external_account_id, p.priority DESC LIMIT 1)
        UNION ALL
        SELECT n.application_id, n.external_account_id, n.priority FROM kind k CROSS JOIN LATERAL (
            (SELECT p.application_id, p.external_account_id, p.priority FROM delivery_part p
                WHERE p.state = 'planned' AND p.application_id = k.application_id AND p.external_account_id = k.external_account_id
                    AND p.priority < k.priority ORDER BY p.priority DESC LIMIT 1)
            UNION ALL
            (SELECT p.application_id, p.external_account_id, p.priority FROM delivery_part p
                WHERE p.state = 'planned' AND p.application_id = k.application_id AND p.external_account_id > k.external_account_id
                ORDER BY p.external_account_id, p.priority DESC LIMIT 1)
            UNION ALL
            (SELECT p.application_id, p.external_account_id, p.priority FROM delivery_part p
                WHERE p.state = 'planned' AND p.application_id > k.application_id
                ORDER BY p.application_id, p.external_account_id, p.priority DESC LIMIT 1)
            LIMIT 1) n
    )
    SELECT p.id, p.delivery_id, a.service_id, p.time_zone
    FROM kind k
    JOIN application a ON a.id = k.application_id
    -- Only those that had a plan: the parts of a large delivery without one do not hold them up.
    CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT FROM delivery_part r WHERE r.state = 'ready'
        AND r.application_id = k.application_id AND r.external_account_id = k.external_account_id AND r.priority = k.priority
        AND (r.wave IS NOT NULL OR r.time_zone IS NOT NULL) LIMIT enough) r) ready
    CROSS JOIN LATERAL (SELECT f.id, f.delivery_id, f.time_zone FROM delivery_part f
        WHERE f.state = 'planned' AND f.application_id = k.application_id AND f.external_account_id = k.external_account_id
            AND f.priority = k.priority AND f.not_before <= moment
        ORDER BY f.not_before, f.id LIMIT least(most, enough - ready.n)) p $$;
COMMENT ON FUNCTION pushmta_engine.due_planned(integer, integer, timestamptz) IS
    'Planned parts that are due, by application, account and priority, the oldest first: as many as there is room for beside those with a '
    'plan that are ready. Its cost does not depend on the number of parts.';

CREATE FUNCTION pushmta_engine.release_planned(enough integer, most integer, moment timestamptz DEFAULT now()) RETURNS integer
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    first timestamptz := (SELECT p.not_before FROM delivery_part p WHERE p.state = 'planned' ORDER BY p.not_before LIMIT 1);
    due bigint[];
    dropped bigint[];
    number bigint;
BEGIN
    IF first IS NULL OR first > moment THEN
        RETURN 0;
    END IF;
    due := ARRAY(SELECT p.id FROM due_planned(enough, most, moment) d
        JOIN pushmta_engine.delivery w ON w.id = d.delivery_id AND w.state IN ('preparing', 'in_progress')
        JOIN delivery_part p ON p.id = d.id
        WHERE p.state = 'planned' AND p.not_before <= moment
        ORDER BY p.id FOR NO KEY UPDATE OF p SKIP LOCKED);
    IF due = '{}' THEN
        RETURN 0;
    END IF;
    number := nextval(pg_get_serial_sequence('pushmta_engine.delivery_part', 'id'));
    WITH hours AS MATERIALIZED (
        SELECT z.*, h.opens, h.closes
        FROM (SELECT x.*, hours_rule(x.delivery_id, x.service_id) AS rule
            FROM (SELECT DISTINCT p.delivery_id, p.time_zone, a.service_id
                FROM delivery_part p JOIN application a ON a.id = p.application_id
                WHERE p.id = ANY(due) AND p.time_zone IS NOT NULL) x) z
        LEFT JOIN LATERAL next_hours(z.service_id, z.time_zone, moment) h ON z.rule <> 'ignore'
    ), goal AS MATERIALIZED (
        SELECT p.id, coalesce(h.rule, 'ignore') AS rule, h.opens, h.closes, coalesce(h.rule, 'ignore') = 'ignore'
            OR coalesce(h.opens <= moment, false) AS is_open
        FROM delivery_part p JOIN application a ON a.id = p.application_id
        LEFT JOIN hours h ON h.delivery_id = p.delivery_id AND h.service_id = a.service_id AND h.time_zone = p.time_zone
        WHERE p.id = ANY(due)
    ), changed AS (
        UPDATE delivery_part p SET state = CASE WHEN g.is_open THEN 'ready' ELSE 'planned' END,
            -- Now, not when it was due: other deliveries of its application have their turn.
            not_before = CASE WHEN g.is_open THEN moment ELSE coalesce(g.opens, 'infinity') END,
            closes_at = CASE WHEN g.is_open THEN g.closes ELSE coalesce(g.closes, 'infinity') END, released_as = number
        FROM goal g WHERE p.id = g.id AND (g.is_open OR g.rule = 'postpone')
    )
    SELECT array_agg(g.id ORDER BY g.id) INTO dropped FROM goal g WHERE NOT g.is_open AND g.rule = 'drop';
    IF dropped IS NOT NULL THEN
        PERFORM record_unknown(dropped, 'no answer was recorded before its sending hours ended');
        UPDATE delivery_part p SET state = 'done', finished_at = now(), fencing_token = p.fencing_token + 1, rest_status = 0,
            rest_reason = 'outside_hours'
        WHERE p.id = ANY(dropped);
    END IF;
    RETURN cardinality(due);
END $$;
COMMENT ON FUNCTION pushmta_engine.release_planned(integer, integer, timestamptz) IS
    'Makes planned parts that are due ready. Outside of the sending hours they wait for the next ones, or end. Any number of hosts may '
    'call it; it never waits. Returns how many parts it changed.';

CREATE FUNCTION pushmta_engine.close_hours(most integer, moment timestamptz DEFAULT now()) RETURNS integer LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    closed integer;
BEGIN
    -- release_planned decides what becomes of them.
    UPDATE delivery_part p SET state = 'planned', not_before = moment, closes_at = NULL
    WHERE p.id = ANY(ARRAY(SELECT f.id FROM delivery_part f WHERE f.state = 'ready' AND f.closes_at <= moment
        ORDER BY f.closes_at LIMIT most FOR NO KEY UPDATE SKIP LOCKED));
    GET DIAGNOSTICS closed = ROW_COUNT;
    RETURN closed;
END $$;
COMMENT ON FUNCTION pushmta_engine.close_hours(integer, timestamptz) IS
    'Takes ready parts whose sending hours have ended out of the queue. Returns how many.';

-- Waves.

CREATE FUNCTION pushmta_engine.is_wave_tried(delivery bigint, wave smallint) RETURNS boolean LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    -- A message that is retried was tried once. The rest of an experiment waits for the results of all waves.
    SELECT NOT EXISTS (SELECT FROM delivery_part p WHERE p.delivery_id = is_wave_tried.delivery AND p.wave = is_wave_tried.wave
        AND p.state <> 'done' AND p.parent_part_id IS NULL AND (p.cell IS DISTINCT FROM 9 OR p.variant IS NOT NULL)) $$;
COMMENT ON FUNCTION pushmta_engine.is_wave_tried(bigint, smallint) IS
    'Whether each message of a wave was tried once, except the rest of an experiment without a winner.';

CREATE FUNCTION pushmta_engine.wave_opt_outs(delivery bigint, wave smallint, since timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    recent bigint[] := ARRAY(SELECT s.id FROM delivery_application x
        JOIN subscription s ON s.application_id = x.application_id AND s.opted_out_at >= since
        WHERE x.delivery_id = delivery
        UNION
        SELECT o.subscription_id FROM (SELECT DISTINCT x.category_id FROM delivery_application x WHERE x.delivery_id = delivery) k
        JOIN category_opt_out o ON o.category_id = k.category_id AND o.since >= wave_opt_outs.since
        -- What another subscription has said before.
        WHERE o.source <> 'kept');
BEGIN
    IF recent = '{}' THEN
        RETURN 0;
    END IF;
    -- INTERSECT, because a plan for any array might compare each recipient with each of them.
    RETURN (SELECT count(*) FROM (SELECT u.id FROM delivery_part p
        JOIN delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
        CROSS JOIN LATERAL unnest(t.subscription_ids) u(id)
        WHERE p.delivery_id = delivery AND p.wave = wave AND p.parent_part_id IS NULL
        INTERSECT SELECT unnest(recent)) b);
END $$;
COMMENT ON FUNCTION pushmta_engine.wave_opt_outs(bigint, smallint, timestamptz) IS
    'How many recipients of a wave have opted out since a moment, of everything or of the delivery''s category.';

CREATE FUNCTION pushmta_engine.guard_words(what text, n bigint, tried bigint, bound double precision) RETURNS text LANGUAGE sql IMMUTABLE
    -- Fewer than 10 prove nothing, as for the guard against mass failures.
    RETURN CASE WHEN n >= 10 AND n > bound * tried
        THEN format('%s of %s messages %s, more than %s %%', n, tried, what, trim_scale(round((bound * 100)::numeric, 2))) END;
COMMENT ON FUNCTION pushmta_engine.guard_words(text, bigint, bigint, double precision) IS
    'Why a guard of a wave does not let the next one begin; null if it does.';

CREATE FUNCTION pushmta_engine.guard_breach(delivery bigint, wave smallint) RETURNS text LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    rule delivery_wave;
    result record;
    tried bigint;
    words text;
BEGIN
    SELECT w.* INTO rule FROM delivery_wave w WHERE w.delivery_id = delivery AND w.number = wave;
    SELECT coalesce(sum(p.sent), 0) AS sent, coalesce(sum(p.failed), 0) AS failed, coalesce(sum(p.unknown), 0) AS unknown INTO result
    FROM delivery_part p WHERE p.delivery_id = delivery AND p.wave = wave;
    tried := result.sent + result.failed + result.unknown;
    words := guard_words('have failed', result.failed, tried, rule.max_failed);
    IF words IS NULL AND rule.max_token_errors IS NOT NULL THEN
        words := guard_words('had a bad push token', (SELECT v.token_errors FROM pushmta.delivery_wave v
            WHERE v.delivery_id = delivery AND v.number = wave), tried, rule.max_token_errors);
    END IF;
    IF words IS NULL AND rule.max_opt_outs IS NOT NULL THEN
        words := guard_words('were followed by an opt-out', wave_opt_outs(delivery, wave, rule.opened_at), tried, rule.max_opt_outs);
    END IF;
    RETURN format('Wave %s did not keep to its guards: ', wave) || words;
END $$;
COMMENT ON FUNCTION pushmta_engine.guard_breach(bigint, smallint) IS
    'Why the next wave must not begin after a wave that was tried; null if it may.';

CREATE FUNCTION pushmta_engine.open_wave(delivery bigint, moment timestamptz) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    next delivery_wave;
    last delivery_wave;
    words text;
BEGIN
    SELECT w.* INTO next FROM delivery_wave w WHERE w.delivery_id = delivery AND w.opened_at IS NULL ORDER BY w.number LIMIT 1;
    SELECT w.* INTO last FROM delivery_wave w WHERE w.delivery_id = delivery AND w.opened_at IS NOT NULL ORDER BY w.number DESC LIMIT 1;
    IF next.number IS NULL OR coalesce(next.starts_at, last.opened_at + next.starts_after, moment) > moment THEN
        RETURN false;
    ELSIF last.number IS NOT NULL AND last.passed_at IS NULL THEN
        IF NOT (SELECT d.prepared FROM pushmta_engine.delivery d WHERE d.id = delivery)
            OR NOT is_wave_tried(delivery, last.number) THEN
            RETURN false;
        END IF;
        words := guard_breach(delivery, last.number);
        UPDATE delivery_wave w SET passed_at = CASE WHEN words IS NULL THEN moment END,
            held_at = CASE WHEN words IS NOT NULL THEN moment END
        WHERE w.delivery_id = delivery AND w.number = last.number;
        IF words IS NOT NULL THEN
            PERFORM hold_delivery(delivery, words);
            RETURN false;
        END IF;
    END IF;
    UPDATE delivery_wave w SET opened_at = moment WHERE w.delivery_id = delivery AND w.number = next.number;
    PERFORM let_go(delivery, ARRAY(SELECT p.id FROM delivery_part p
        WHERE p.delivery_id = delivery AND p.wave = next.number AND p.state = 'planned'), moment);
    RETURN true;
END $$;
COMMENT ON FUNCTION pushmta_engine.open_wave(bigint, timestamptz) IS
    'Begins the next wave of a locked delivery under way, if its time has come and the one before was tried and kept to its guards. If '
    'it did not, the delivery is paused with the reason. Returns whether a wave has begun.';

CREATE FUNCTION pushmta_engine.next_wave_look(delivery bigint, moment timestamptz) RETURNS timestamptz LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT CASE WHEN w.due > moment THEN least(w.due, moment + interval '1 hour')
        -- It waits for the messages of the one before. The longer these take, the less a second matters.
        ELSE moment + least(interval '1 minute', greatest(interval '1 second', (moment - w.since) / 20)) END
    FROM (SELECT coalesce(n.starts_at, l.opened_at + n.starts_after, moment) AS due, l.opened_at AS since
        FROM delivery_wave n
        LEFT JOIN LATERAL (SELECT o.opened_at FROM delivery_wave o WHERE o.delivery_id = n.delivery_id AND o.opened_at IS NOT NULL
            ORDER BY o.number DESC LIMIT 1) l ON true
        WHERE n.delivery_id = next_wave_look.delivery AND n.opened_at IS NULL ORDER BY n.number LIMIT 1) w $$;
COMMENT ON FUNCTION pushmta_engine.next_wave_look(bigint, timestamptz) IS
    'When to look at a delivery''s waves again after a look that could begin none: when the next one is due, or, if it waits '
    'for the one before, after a second to a minute; null without a wave that waits.';

CREATE FUNCTION pushmta_engine.schedule_waves() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    UPDATE delivery_plan p SET look_at = CASE WHEN NEW.state IN ('preparing', 'in_progress') THEN now() END
    WHERE p.delivery_id = NEW.id AND EXISTS (SELECT FROM delivery_wave w WHERE w.delivery_id = p.delivery_id AND w.opened_at IS NULL);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION pushmta_engine.schedule_waves() IS
    'Schedules looks at the waves of a delivery when it begins or is resumed, and ends them when it is paused or ends.';
CREATE TRIGGER delivery_waves AFTER UPDATE OF state ON pushmta_engine.delivery
    FOR EACH ROW WHEN ((NEW.state IN ('preparing', 'in_progress')) <> (OLD.state IN ('preparing', 'in_progress')))
    EXECUTE FUNCTION pushmta_engine.schedule_waves();

CREATE FUNCTION pushmta_engine.advance_waves(moment timestamptz DEFAULT now(), most integer DEFAULT 100) RETURNS integer
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    looked bigint[] := ARRAY(SELECT p.delivery_id FROM delivery_plan p WHERE p.look_at <= moment
        ORDER BY p.look_at LIMIT most FOR NO KEY UPDATE SKIP LOCKED);
    wanted bigint;
    -- Those after it were not looked at.
    reached bigint;
    words text;
BEGIN
    -- If the clock was set back, nobody waits for the difference.
    looked := looked || ARRAY(SELECT p.delivery_id FROM delivery_plan p WHERE p.look_at > moment + interval '61 minutes'
        LIMIT most FOR NO KEY UPDATE SKIP LOCKED);
    FOR wanted IN SELECT d.id FROM pushmta_engine.delivery d WHERE d.id = ANY(looked) AND d.state IN ('preparing', 'in_progress')
        ORDER BY d.id FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        BEGIN
            PERFORM open_wave(wanted, moment);
        EXCEPTION
            WHEN lock_not_available OR transaction_rollback OR insufficient_resources OR system_error THEN
                -- Only its pause needs a lock of its own. A later look tries again; the others do not wait once more.
                reached := wanted;
                EXIT;
            WHEN OTHERS THEN
                reached := wanted;
                words := SQLERRM;
                EXIT;
        END;
    END LOOP;
    IF words IS NOT NULL THEN
        -- Otherwise no wave of any delivery would begin any more.
        PERFORM hold_delivery(reached, 'Its next wave could not begin: ' || words);
    END IF;
    UPDATE delivery_plan p SET look_at = next_wave_look(p.delivery_id, moment)
    WHERE p.delivery_id = ANY(looked) AND p.look_at IS NOT NULL AND (reached IS NULL OR p.delivery_id <= reached);
    RETURN cardinality(looked);
END $$;
COMMENT ON FUNCTION pushmta_engine.advance_waves(timestamptz, integer) IS
    'Looks at up to this many deliveries whose waves are due to be looked at, and begins the waves whose time has come. Any number of '
    'hosts may call it; it waits only if it has to pause a delivery, for at most 2 s. One whose wave cannot begin because of an error is '
    'paused with it. Returns how many it has looked at: if as many, there may be more.';

-- What marketing sets.

CREATE FUNCTION pushmta_engine.open_plan(delivery bigint) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := open_for_change(delivery);
BEGIN
    IF EXISTS (SELECT FROM pushmta_engine.delivery d WHERE d.id = delivery AND (d.kind <> 'batch' OR d.proof)) THEN
        RAISE EXCEPTION 'Delivery % is continuous or a proof, which leave at once.', delivery
            USING ERRCODE = 'PM007', HINT = 'Only a batch delivery has a plan.';
    END IF;
    PERFORM drop_analysis(delivery, 'its plan was changed');
    UPDATE pushmta_engine.delivery d SET changed_at = now(),
        state = CASE WHEN found_state IN ('analysing', 'ready') THEN 'editing' ELSE d.state END,
        log_day = CASE WHEN found_state IN ('analysing', 'ready') THEN NULL ELSE d.log_day END,
        -- The draft that it was made from says something else.
        draft = NULL
    WHERE d.id = delivery;
    UPDATE console_draft c SET delivery_id = NULL, delivery_version = NULL WHERE c.delivery_id = delivery;
    INSERT INTO delivery_plan (delivery_id) VALUES (delivery) ON CONFLICT DO NOTHING;
    PERFORM note_maker(delivery);
END $$;
COMMENT ON FUNCTION pushmta_engine.open_plan(bigint) IS
    'Locks a delivery that has sent nothing, for a change of its plan. Its analysis is dropped: its parts will be others.';

CREATE FUNCTION pushmta_engine.close_plan(delivery bigint) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    whole pushmta_engine.delivery;
BEGIN
    SELECT d.* INTO whole FROM pushmta_engine.delivery d WHERE d.id = delivery;
    DELETE FROM delivery_plan p WHERE p.delivery_id = delivery AND p.local_time IS NULL AND p.hours IS NULL
        AND NOT EXISTS (SELECT FROM delivery_wave w WHERE w.delivery_id = p.delivery_id)
        AND NOT EXISTS (SELECT FROM experiment e WHERE e.delivery_id = p.delivery_id);
    IF whole.start_at IS NOT NULL THEN
        PERFORM keep_plan(delivery);
        PERFORM check_plan_again(delivery);
    END IF;
    PERFORM check_recurring_plan(delivery);
    PERFORM forget_rejection(delivery);
END $$;
COMMENT ON FUNCTION pushmta_engine.close_plan(bigint) IS
    'Ends a change of a plan: deletes a plan that says nothing, and checks that of a scheduled or recurring delivery. Ends the rejection '
    'of another plan.';

CREATE FUNCTION pushmta_engine.put_local_time(delivery bigint, local_time timestamp, on_past text, goes_on boolean DEFAULT false)
    RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    IF local_time IS NOT NULL AND (on_past IS NULL OR on_past NOT IN ('now', 'next_day', 'skip')) THEN
        RAISE EXCEPTION 'Delivery % has a local time, but no rule for places where that time has passed.', delivery
            USING ERRCODE = 'PM007', HINT = 'Give on_past: now, next_day or skip.';
    ELSIF NOT is_usable_moment(local_time AT TIME ZONE 'UTC') THEN
        RAISE EXCEPTION 'Delivery % cannot have the local time %.', delivery, local_time
            USING ERRCODE = 'PM007', HINT = 'Give a date and a time of day without a zone, as in 2026-12-01 09:00.';
    END IF;
    PERFORM open_plan(delivery);
    UPDATE delivery_plan p SET local_time = put_local_time.local_time,
        on_past = CASE WHEN put_local_time.local_time IS NOT NULL THEN put_local_time.on_past END
    WHERE p.delivery_id = delivery;
    PERFORM close_plan(delivery) WHERE NOT goes_on;
END $$;
COMMENT ON FUNCTION pushmta_engine.put_local_time(bigint, timestamp, text, boolean) IS
    'Sets the local time of a delivery that may be changed. goes_on: the caller changes more of its plan.';

CREATE FUNCTION pushmta_engine.put_hours_rule(delivery bigint, rule text, goes_on boolean DEFAULT false) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    IF rule NOT IN ('postpone', 'drop', 'ignore') THEN
        RAISE EXCEPTION '"%" is not a rule for sending hours.', rule
            USING ERRCODE = 'PM007', HINT = 'Use postpone, drop or ignore, or null for the rule of the service.';
    END IF;
    PERFORM open_plan(delivery);
    UPDATE delivery_plan p SET hours = rule WHERE p.delivery_id = delivery;
    PERFORM close_plan(delivery) WHERE NOT goes_on;
END $$;
COMMENT ON FUNCTION pushmta_engine.put_hours_rule(bigint, text, boolean) IS
    'Sets what happens to messages of a delivery that may be changed outside of the sending hours. goes_on: the caller changes more of its '
    'plan.';

CREATE FUNCTION pushmta_engine.wave_problem(wave jsonb, number bigint, last bigint) RETURNS text LANGUAGE plpgsql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    unknown text;
BEGIN
    IF jsonb_typeof(wave) <> 'object' THEN
        RETURN 'it is not an object';
    END IF;
    SELECT k.key INTO unknown FROM jsonb_object_keys(wave) k(key)
    WHERE k.key NOT IN ('percent', 'count', 'at', 'after', 'max_failed', 'max_token_errors', 'max_opt_outs') LIMIT 1;
    RETURN CASE WHEN unknown IS NOT NULL THEN format('it has the unknown key "%s"', unknown)
        WHEN number < last AND num_nonnulls(wave ->> 'percent', wave ->> 'count') <> 1 THEN 'it needs either a percent or a count'
        WHEN number = last AND wave ? 'count' THEN 'the last wave is the rest and has no count'
        WHEN jsonb_typeof(wave -> 'percent') <> 'number' OR (wave ->> 'percent')::numeric NOT BETWEEN 0.001 AND 99.999
            THEN 'its percent is not a number between 0.001 and 99.999'
        WHEN jsonb_typeof(wave -> 'count') <> 'number' OR (wave ->> 'count')::numeric NOT BETWEEN 1 AND 2147483647
            OR (wave ->> 'count')::numeric % 1 <> 0 THEN 'its count is not a whole number of messages'
        WHEN wave ? 'at' AND wave ? 'after' THEN 'it has both a moment (at) and a pause (after)'
        WHEN number = 1 AND wave ? 'after' THEN 'the first wave has none before it, so it has no pause (after)'
        WHEN EXISTS (SELECT FROM jsonb_each(wave) g(key, value) WHERE g.key LIKE 'max%' AND CASE jsonb_typeof(g.value)
            WHEN 'null' THEN false WHEN 'number' THEN (g.value #>> '{}')::numeric NOT BETWEEN 0 AND 1 ELSE true END)
            THEN 'a guard is not a share between 0 and 1' END;
END $$;
COMMENT ON FUNCTION pushmta_engine.wave_problem(jsonb, bigint, bigint) IS 'What is wrong with the n-th of some waves; null if nothing is.';

CREATE FUNCTION pushmta_engine.plan_moments(delivery bigint, begins timestamptz, on_day date DEFAULT NULL)
    RETURNS TABLE (number integer, began timestamptz, last timestamptz, everywhere timestamptz) LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    plan delivery_plan;
    wave record;
BEGIN
    SELECT p.* INTO plan FROM delivery_plan p WHERE p.delivery_id = delivery;
    plan.local_time := coalesce(on_day + plan.local_time::time, plan.local_time);
    everywhere := plan.local_time AT TIME ZONE 'Etc/GMT+12';
    began := begins;
    FOR wave IN SELECT w.number, w.starts_at, coalesce(w.starts_after, interval '0') AS pause
        FROM (VALUES (delivery)) d(id) LEFT JOIN delivery_wave w ON w.delivery_id = d.id ORDER BY w.number
    LOOP
        number := wave.number;
        -- It waits until the one before was tried.
        began := greatest(began + wave.pause, wave.starts_at, last);
        last := last_local_moment(plan.local_time, began, plan.on_past);
        RETURN NEXT;
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta_engine.plan_moments(bigint, timestamptz, date) IS
    'When each wave of a delivery that begins at a moment begins, and when its last recipients in any time zone may get it, if sending '
    'takes no time; one row without a number if there are no waves. everywhere: when the local time has come in all time zones. A run of a '
    'recurring delivery has the local time of its own day.';

CREATE FUNCTION pushmta_engine.planned_name(delivery bigint, begins timestamptz, on_day date) RETURNS text LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT CASE WHEN on_day IS NULL THEN 'Delivery ' || delivery ELSE format('The run of delivery %s at %s UTC', delivery,
        to_char(begins AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')) END $$;
COMMENT ON FUNCTION pushmta_engine.planned_name(bigint, timestamptz, date) IS
    'How an error calls a delivery or, if it names a day, the run of a recurring delivery on that day.';

CREATE FUNCTION pushmta_engine.closed_service(delivery bigint, begins timestamptz, until timestamptz, on_day date DEFAULT NULL,
    OUT name text, OUT opens timestamptz) LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
BEGIN
    SELECT v.name, h.opens INTO name, opens
    FROM pushmta_engine.delivery d
    CROSS JOIN (SELECT max(w.began) AS began FROM plan_moments($1, $2, $4) w) w
    JOIN pushmta_engine.service v ON v.id IN (SELECT a.service_id FROM delivery_application x JOIN application a ON a.id = x.application_id
        WHERE x.delivery_id = $1) AND hours_rule(d.id, v.id) = 'postpone'
    LEFT JOIN delivery_plan p ON p.delivery_id = d.id
    CROSS JOIN LATERAL next_hours(v.id, v.time_zone, coalesce(local_moment(coalesce($4 + p.local_time::time, p.local_time),
        usable_zone(v.time_zone), w.began, p.on_past), w.began)) h
    WHERE d.id = $1 AND d.kind = 'batch' AND NOT d.proof AND coalesce(h.opens, 'infinity') >= $3
        -- What replaces or removes a message goes out at any hour.
        AND NOT EXISTS (SELECT FROM recall r WHERE r.child_id = d.id)
    ORDER BY v.name LIMIT 1;
END $$;
COMMENT ON FUNCTION pushmta_engine.closed_service(bigint, timestamptz, timestamptz, date) IS
    'A service whose sending hours, in its own time zone, do not open between the last wave of a delivery and its end, and when they open '
    'next; nulls if there is none.';

CREATE FUNCTION pushmta_engine.check_hours(delivery bigint, begins timestamptz, until timestamptz, on_day date DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    closed record;
    utc CONSTANT text := 'YYYY-MM-DD HH24:MI:SS';
BEGIN
    SELECT c.* INTO closed FROM closed_service(delivery, begins, until, on_day) c;
    IF closed.name IS NOT NULL THEN
        RAISE EXCEPTION '% ends%, before the sending hours of service "%" open%.', planned_name(delivery, begins, on_day),
                CASE WHEN isfinite(until) THEN format(' at %s UTC', to_char(until AT TIME ZONE 'UTC', utc)) ELSE '' END, closed.name,
                coalesce(' at ' || to_char(closed.opens AT TIME ZONE 'UTC', utc) || ' UTC', ': it has none within a year')
            USING ERRCODE = 'PM009', HINT = 'Give it a longer validity or another start, or let it ignore the hours with '
                'pushmta.set_hours_rule.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.check_hours(bigint, timestamptz, timestamptz, date) IS
    'Refuses a delivery of which nothing could leave within the sending hours before its end.';

CREATE FUNCTION pushmta_engine.check_plan(delivery bigint, begins timestamptz, until timestamptz, on_day date DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    utc CONSTANT text := 'YYYY-MM-DD HH24:MI:SS';
    wave record;
    wrong text;
BEGIN
    SELECT w.* INTO wave FROM plan_moments(delivery, begins, on_day) w
    WHERE w.last > until OR w.began >= until OR w.everywhere >= until ORDER BY w.number LIMIT 1;
    IF FOUND THEN
        wrong := CASE WHEN wave.everywhere >= until THEN format('before its local time has come everywhere (%s UTC)',
                to_char(wave.everywhere AT TIME ZONE 'UTC', utc))
            WHEN wave.began >= until THEN format('before its wave %s begins (%s UTC)', wave.number,
                to_char(wave.began AT TIME ZONE 'UTC', utc))
            ELSE format('before its last messages may leave (%s UTC): %s begins at %s UTC, and where its local time has passed by then, it '
                'waits for the next day', to_char(wave.last AT TIME ZONE 'UTC', utc), coalesce('wave ' || wave.number, 'it'),
                to_char(wave.began AT TIME ZONE 'UTC', utc)) END;
        RAISE EXCEPTION '% ends at % UTC, %.', planned_name(delivery, begins, on_day),
                to_char(until AT TIME ZONE 'UTC', utc), wrong
            USING ERRCODE = 'PM009', HINT = CASE WHEN wave.everywhere >= until
                    THEN 'Give it a longer validity, or an earlier local time.'
                WHEN wave.began >= until THEN 'Give it a longer validity, or earlier waves.'
                ELSE 'Give it a longer validity, an earlier start, or the rule now in place of next_day.' END;
    END IF;
    -- A day off must not pause a recurrence.
    PERFORM check_hours(delivery, begins, until) FROM pushmta_engine.delivery d
    WHERE d.id = delivery AND d.recurrence_of IS NULL AND on_day IS NULL;
    PERFORM check_experiment(delivery, begins, until, on_day);
END $$;
COMMENT ON FUNCTION pushmta_engine.check_plan(bigint, timestamptz, timestamptz, date) IS
    'Refuses a plan of a delivery that does not fit into its validity. A run of a recurring delivery has the local time of its own day.';

-- The console asks before it offers a start.
CREATE FUNCTION pushmta_engine.check_start_at(delivery bigint, start_at timestamptz) RETURNS void LANGUAGE plpgsql STABLE
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    begins timestamptz := start_moment(delivery, start_at);
BEGIN
    PERFORM check_plan(delivery, begins, end_of(d, begins)) FROM pushmta_engine.delivery d WHERE d.id = delivery;
END $$;
COMMENT ON FUNCTION pushmta_engine.check_start_at(bigint, timestamptz) IS
    'Refuses a time (null: now) as the start of a delivery if its plan would then not fit into its validity.';

CREATE FUNCTION pushmta_engine.check_plan_again(delivery bigint) RETURNS void LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    whole pushmta_engine.delivery;
BEGIN
    SELECT d.* INTO whole FROM pushmta_engine.delivery d WHERE d.id = delivery;
    IF whole.starts_approved THEN
        -- Its start is that of its request. Until it is approved, its validity does not pass.
        PERFORM check_plan(delivery, now(), end_of(whole, now()));
    ELSIF whole.start_at IS NOT NULL THEN
        PERFORM check_plan(delivery, whole.start_at, whole.valid_until);
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.check_plan_again(bigint) IS
    'Refuses the plan of a delivery that has a start, or starts as soon as it is approved, if it no longer fits into its validity.';

CREATE FUNCTION pushmta_engine.put_waves(delivery bigint, waves jsonb) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    wanted jsonb := coalesce(waves, '[]');
    wrong text;
BEGIN
    IF jsonb_typeof(wanted) <> 'array' OR jsonb_array_length(wanted) NOT IN (0) AND jsonb_array_length(wanted) NOT BETWEEN 2 AND 100 THEN
        RAISE EXCEPTION 'The waves of delivery % are not a list of 2 to 100 waves.', delivery
            USING ERRCODE = 'PM007', HINT = 'As in [{"percent": 5}, {"percent": 20, "after": "1 hour"}, {}]; null removes them.';
    END IF;
    SELECT format('wave %s: %s', e.number, p.problem) INTO wrong FROM jsonb_array_elements(wanted) WITH ORDINALITY e(wave, number)
    CROSS JOIN LATERAL wave_problem(e.wave, e.number, jsonb_array_length(wanted)) p(problem)
    WHERE p.problem IS NOT NULL ORDER BY e.number LIMIT 1;
    IF wrong IS NULL AND (SELECT sum((e ->> 'percent')::numeric) FROM jsonb_array_elements(wanted) e) > 100 THEN
        wrong := 'their percentages add up to more than 100';
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'The waves of delivery % cannot be used: %.', delivery, wrong
            USING ERRCODE = 'PM007', HINT = 'As in [{"percent": 5}, {"percent": 20, "after": "1 hour"}, {}]; the last wave is the rest.';
    END IF;
    PERFORM open_plan(delivery);
    DELETE FROM delivery_wave w WHERE w.delivery_id = delivery;
    INSERT INTO delivery_wave (delivery_id, number, share, size, starts_at, starts_after, max_failed, max_token_errors, max_opt_outs)
    SELECT delivery, e.number, CASE WHEN e.number < jsonb_array_length(wanted) THEN (e.wave ->> 'percent')::double precision / 100 END,
        (e.wave ->> 'count')::numeric::bigint, (e.wave ->> 'at')::timestamptz, (e.wave ->> 'after')::interval,
        (e.wave ->> 'max_failed')::double precision,
        -- By default the first wave has the limit of the guard against mass failures: one in five.
        CASE WHEN e.wave ? 'max_token_errors' OR e.number > 1 THEN (e.wave ->> 'max_token_errors')::double precision ELSE 0.2 END,
        (e.wave ->> 'max_opt_outs')::double precision
    FROM jsonb_array_elements(wanted) WITH ORDINALITY e(wave, number);
    PERFORM close_plan(delivery);
EXCEPTION WHEN invalid_datetime_format OR datetime_field_overflow OR check_violation THEN
    RAISE EXCEPTION 'The waves of delivery % cannot be used: a time or a pause is not valid.', delivery
        USING ERRCODE = 'PM007', HINT = 'at is a moment with its zone, as in 2026-12-01 09:00+01; after is an interval, as in 2 hours: at '
            'most 366 days.';
END $$;
COMMENT ON FUNCTION pushmta_engine.put_waves(bigint, jsonb) IS 'Sets the waves of a delivery that may be changed.';

CREATE FUNCTION pushmta.set_local_time(delivery bigint, local_time timestamp, on_past text DEFAULT NULL) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    PERFORM put_local_time(delivery, local_time, on_past);
    PERFORM note_change('delivery.plan', delivery::text,
        CASE WHEN local_time IS NULL THEN 'no local time' ELSE format('local time %s, %s', local_time, on_past) END);
END $$;
COMMENT ON FUNCTION pushmta.set_local_time(bigint, timestamp, text) IS
    'Sends a delivery to each recipient at a moment of the recipient''s clock, by the time zone of the subscription, or else of the '
    'service. on_past says what happens where that moment has passed at the start: now sends at once, next_day sends at that time of the '
    'next day, skip does not send. A null time removes it.';

CREATE FUNCTION pushmta.set_hours_rule(delivery bigint, rule text) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    PERFORM put_hours_rule(delivery, rule);
    PERFORM note_change('delivery.plan', delivery::text, 'sending hours: ' || coalesce(rule, 'as the service'));
END $$;
COMMENT ON FUNCTION pushmta.set_hours_rule(bigint, text) IS
    'What happens to messages of a delivery outside of the sending hours: postpone (they wait), drop (they are not sent), ignore (they '
    'are sent all the same), or null for what the service says. Transactional deliveries and those of one-time codes ignore them unless '
    'this says otherwise.';

CREATE FUNCTION pushmta.set_waves(delivery bigint, waves jsonb) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    PERFORM put_waves(delivery, waves);
    PERFORM note_change('delivery.plan', delivery::text, format('%s waves', coalesce(jsonb_array_length(waves), 0)));
END $$;
COMMENT ON FUNCTION pushmta.set_waves(bigint, jsonb) IS
    'Sends a delivery in waves. Each has a size (percent or count; the last one is the rest), and may begin at a moment (at) or so long '
    'after the one before began (after); otherwise it begins when each message of the one before was tried. It begins only if the one '
    'before kept to its guards: the shares of failures (max_failed), bad push tokens (max_token_errors) and opt-outs (max_opt_outs) '
    'among its messages. If not, the delivery is paused and says why; resuming it begins the next wave. Null removes the waves.';

CREATE FUNCTION pushmta_engine.put_plan(delivery bigint, plan jsonb) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    unknown text;
    moment timestamp;
BEGIN
    IF jsonb_typeof(plan) <> 'object' THEN
        RAISE EXCEPTION 'The plan of delivery % is not an object.', delivery
            USING ERRCODE = 'PM007', HINT = 'As in {"local_time": "2026-12-01 09:00", "on_past": "next_day"}; {} removes it.';
    END IF;
    SELECT k.key INTO unknown FROM jsonb_object_keys(plan) k(key) WHERE k.key NOT IN ('local_time', 'on_past', 'hours', 'waves') LIMIT 1;
    IF unknown IS NOT NULL THEN
        RAISE EXCEPTION 'The plan of delivery % has the unknown key "%".', delivery, unknown
            USING ERRCODE = 'PM007', HINT = 'The keys are local_time, on_past, hours and waves.';
    END IF;
    BEGIN
        moment := (plan ->> 'local_time')::timestamp;
        -- Otherwise a zone would be ignored.
        IF plan ->> 'local_time' !~ '^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?$' THEN
            RAISE invalid_datetime_format;
        END IF;
    EXCEPTION WHEN invalid_datetime_format OR datetime_field_overflow THEN
        RAISE EXCEPTION 'Delivery % cannot have the local time "%".', delivery, plan ->> 'local_time'
            USING ERRCODE = 'PM007', HINT = 'Give a date and a time of day without a zone, as in 2026-12-01 09:00.';
    END;
    PERFORM put_local_time(delivery, moment, plan ->> 'on_past', goes_on => true);
    PERFORM put_hours_rule(delivery, plan ->> 'hours', goes_on => true);
    PERFORM put_waves(delivery, nullif(plan -> 'waves', 'null'));
END $$;
COMMENT ON FUNCTION pushmta_engine.put_plan(bigint, jsonb) IS 'Replaces the whole plan of a delivery that may be changed.';

CREATE FUNCTION pushmta.set_plan(delivery bigint, plan jsonb) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    PERFORM put_plan(delivery, coalesce(plan, '{}'));
    PERFORM note_change('delivery.plan', delivery::text, left(coalesce(nullif(plan, '{}')::text, 'none'), 1000));
END $$;
COMMENT ON FUNCTION pushmta.set_plan(bigint, jsonb) IS
    'Replaces the whole plan of a delivery: local_time and on_past (see set_local_time), hours (see set_hours_rule) and waves (see '
    'set_waves). Null or {} removes it.';

-- What operators set for a service.

CREATE FUNCTION pushmta_engine.reconsider_hours(service integer) RETURNS integer LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    moved integer;
BEGIN
    -- Each branch has its index. release_planned decides what becomes of them. What a child has claimed keeps its hours.
    UPDATE delivery_part p SET state = 'planned', not_before = now()
    WHERE p.id = ANY(ARRAY(SELECT f.id FROM delivery_part f
        WHERE f.id = ANY(ARRAY(SELECT r.id FROM application a JOIN delivery_part r ON r.application_id = a.id AND r.state = 'ready'
                WHERE a.service_id = service AND r.time_zone IS NOT NULL
            UNION ALL
            SELECT w.id FROM application a JOIN delivery_part w ON w.application_id = a.id AND w.state = 'planned'
                WHERE a.service_id = service AND w.closes_at IS NOT NULL))
            AND f.state IN ('ready', 'planned')
        ORDER BY f.id FOR NO KEY UPDATE SKIP LOCKED));
    GET DIAGNOSTICS moved = ROW_COUNT;
    PERFORM pg_notify('pushmta_wake', 'control');
    RETURN moved;
END $$;
COMMENT ON FUNCTION pushmta_engine.reconsider_hours(integer) IS
    'After a change of a service''s sending hours: the parts that may leave now, and those that wait for hours, are judged again. Returns '
    'how many.';

CREATE FUNCTION pushmta_engine.put_hours(service integer, hours jsonb) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    wrong text := CASE WHEN jsonb_typeof(hours) <> 'array' THEN 'they are not a list' END;
BEGIN
    IF wrong IS NULL AND EXISTS (SELECT FROM jsonb_array_elements(hours) e(line)
        WHERE jsonb_typeof(e.line -> 'weekdays') IS DISTINCT FROM 'array') THEN
        wrong := 'one of them has no list of weekdays';
    END IF;
    DELETE FROM sending_hours h WHERE h.service_id = service;
    BEGIN
        INSERT INTO sending_hours (service_id, weekday, opens, closes)
        SELECT service, d.day::smallint, (e.line ->> 'opens')::time, (e.line ->> 'closes')::time
        FROM jsonb_array_elements(CASE WHEN wrong IS NULL THEN hours ELSE '[]' END) e(line)
        CROSS JOIN LATERAL jsonb_array_elements_text(e.line -> 'weekdays') d(day);
    EXCEPTION WHEN invalid_datetime_format OR datetime_field_overflow OR check_violation OR not_null_violation OR unique_violation
        OR invalid_text_representation OR numeric_value_out_of_range OR invalid_parameter_value THEN
        wrong := 'a weekday is not a number from 1 to 7, or hours do not end after they begin';
    END;
    IF wrong IS NULL AND EXISTS (SELECT FROM sending_hours h JOIN sending_hours o ON o.service_id = h.service_id
        AND o.weekday = h.weekday AND o.opens > h.opens AND o.opens < h.closes WHERE h.service_id = service) THEN
        wrong := 'some of them overlap';
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'The sending hours cannot be used: %.', wrong USING ERRCODE = 'PM007',
            HINT = 'As in [{"weekdays": [1, 2, 3, 4, 5], "opens": "09:00", "closes": "18:00"}]; 1 is Monday. Hours that cross midnight '
                'are two: until 24:00, and from 00:00 of the next day.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.put_hours(integer, jsonb) IS 'Replaces the sending hours of a service.';

CREATE FUNCTION pushmta_engine.put_days_off(service integer, days jsonb) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    DELETE FROM day_off o WHERE o.service_id = service;
    INSERT INTO day_off (service_id, day)
    SELECT DISTINCT service, d.day::date FROM jsonb_array_elements_text(days) d(day) WHERE isfinite(d.day::date);
EXCEPTION WHEN invalid_datetime_format OR datetime_field_overflow OR invalid_parameter_value THEN
    RAISE EXCEPTION 'The days off cannot be used: one of them is not a date.'
        USING ERRCODE = 'PM007', HINT = 'Give dates, as in ["2026-12-25"].';
END $$;
COMMENT ON FUNCTION pushmta_engine.put_days_off(integer, jsonb) IS 'Replaces the days off of a service.';

CREATE FUNCTION pushmta_engine.put_service_hours(service text, document jsonb) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    wanted integer := service_named(service);
    unknown text;
BEGIN
    IF document IS NULL OR jsonb_typeof(document) <> 'object' THEN
        RAISE EXCEPTION 'The sending hours of service "%" are not an object.', service
            USING ERRCODE = 'PM007', HINT = 'Its members are hours, days_off, outside and time_zone.';
    END IF;
    SELECT k.key INTO unknown FROM jsonb_object_keys(document) k(key)
    WHERE k.key NOT IN ('hours', 'days_off', 'outside', 'time_zone') LIMIT 1;
    IF unknown IS NOT NULL THEN
        RAISE EXCEPTION 'The sending hours of service "%" have the unknown key "%".', service, unknown
            USING ERRCODE = 'PM007', HINT = 'The keys are hours, days_off, outside and time_zone.';
    ELSIF document ->> 'outside' NOT IN ('postpone', 'drop') THEN
        RAISE EXCEPTION '"%" is not a policy for sending hours.', document ->> 'outside'
            USING ERRCODE = 'PM007', HINT = 'Use postpone or drop.';
    ELSIF document ? 'time_zone' AND NOT EXISTS (SELECT FROM time_zone z WHERE z.name = document ->> 'time_zone') THEN
        RAISE EXCEPTION 'PostgreSQL knows no time zone "%".', document ->> 'time_zone'
            USING ERRCODE = 'PM007', HINT = 'Use a name of pg_timezone_names, as in Europe/Berlin.';
    END IF;
    -- Two changes of one service do not mix.
    UPDATE pushmta_engine.service v SET time_zone = coalesce(document ->> 'time_zone', v.time_zone),
        outside_hours = coalesce(document ->> 'outside', v.outside_hours), changed_at = now()
    WHERE v.id = wanted;
    IF document ? 'hours' THEN
        PERFORM put_hours(wanted, document -> 'hours');
    END IF;
    IF document ? 'days_off' THEN
        PERFORM put_days_off(wanted, document -> 'days_off');
    END IF;
    PERFORM reconsider_hours(wanted);
END $$;
COMMENT ON FUNCTION pushmta_engine.put_service_hours(text, jsonb) IS
    'Changes sending hours, days off, policy and time zone of a service; what is absent stays.';

CREATE FUNCTION pushmta.set_service_hours(service text, document jsonb) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    PERFORM put_service_hours(service, document);
    PERFORM note_change('service.hours', service, left(document::text, 1000));
END $$;
COMMENT ON FUNCTION pushmta.set_service_hours(text, jsonb) IS
    'Changes what decides when messages of a service may leave, all at once: hours (a list of weekdays, opens and closes; an empty one '
    'removes them), days_off, outside (postpone or drop) and time_zone. What is absent stays as it is.';

CREATE FUNCTION pushmta.set_sending_hours(service text, weekdays integer[], opens time, closes time) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    wanted integer := service_named(service);
BEGIN
    IF weekdays IS NULL OR EXISTS (SELECT FROM unnest(weekdays) w(day) WHERE w.day IS NULL OR w.day NOT BETWEEN 1 AND 7) THEN
        RAISE EXCEPTION 'The weekdays of the sending hours of service "%" are not numbers from 1 to 7.', service
            USING ERRCODE = 'PM007', HINT = '1 is Monday, 7 is Sunday, as in ARRAY[1,2,3,4,5].';
    ELSIF opens >= closes OR (opens IS NULL) <> (closes IS NULL) THEN
        RAISE EXCEPTION 'The sending hours of service "%" do not end after they begin.', service
            USING ERRCODE = 'PM007', HINT = 'Hours that cross midnight are two calls: until 24:00, and from 00:00 of the next day.';
    END IF;
    DELETE FROM sending_hours h WHERE h.service_id = wanted AND h.weekday = ANY(weekdays)
        AND (opens IS NULL OR h.opens < closes AND h.closes > opens);
    INSERT INTO sending_hours (service_id, weekday, opens, closes)
    SELECT DISTINCT wanted, w.day, set_sending_hours.opens, set_sending_hours.closes FROM unnest(weekdays) w(day) WHERE opens IS NOT NULL;
    PERFORM reconsider_hours(wanted);
    PERFORM note_change('service.hours', service, format('weekdays %s: %s', array_to_string(weekdays, ', '),
        coalesce(opens || ' to ' || closes, 'none')));
END $$;
COMMENT ON FUNCTION pushmta.set_sending_hours(text, integer[], time, time) IS
    'Sets hours in which messages of a service may leave on some weekdays (1 is Monday), in the time zone of each recipient. They replace '
    'hours that they overlap. Nulls remove all hours of these weekdays. A service without any hours sends at all times.';

CREATE FUNCTION pushmta.set_days_off(service text, days date[]) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    wanted integer := service_named(service);
BEGIN
    DELETE FROM day_off o WHERE o.service_id = wanted;
    INSERT INTO day_off (service_id, day) SELECT DISTINCT wanted, d.day FROM unnest(days) d(day) WHERE isfinite(d.day);
    PERFORM reconsider_hours(wanted);
    PERFORM note_change('service.hours', service, format('days off: %s', coalesce(nullif(array_to_string(days, ', '), ''), 'none')));
END $$;
COMMENT ON FUNCTION pushmta.set_days_off(text, date[]) IS 'Replaces the days on which a service has no sending hours.';

-- What there is to see.

CREATE VIEW pushmta.sending_hours AS
SELECT v.name AS service, h.weekday, h.opens, h.closes
FROM pushmta_engine.sending_hours h JOIN pushmta_engine.service v ON v.id = h.service_id;
COMMENT ON VIEW pushmta.sending_hours IS
    'When messages of a service may leave, by weekday (1 is Monday), in the time zone of each recipient. No row: at all times.';

CREATE VIEW pushmta.day_off AS
SELECT v.name AS service, o.day FROM pushmta_engine.day_off o JOIN pushmta_engine.service v ON v.id = o.service_id;
COMMENT ON VIEW pushmta.day_off IS 'The days on which a service has no sending hours.';

CREATE VIEW pushmta.delivery_plan AS
SELECT p.delivery_id, p.local_time, p.on_past, p.hours, coalesce(w.messages, 0) AS planned_messages, w.next_at, p.unknown_zones
FROM pushmta_engine.delivery_plan p
LEFT JOIN LATERAL (SELECT sum(q.size)::bigint AS messages, min(q.not_before) FILTER (WHERE isfinite(q.not_before)) AS next_at
    FROM pushmta_engine.delivery_part q WHERE q.delivery_id = p.delivery_id AND q.state = 'planned') w ON true;
COMMENT ON VIEW pushmta.delivery_plan IS
    'When the messages of a delivery may leave: its local time, its rule for sending hours, how many messages wait for their time, and '
    'when the next of them leave. Its waves are in pushmta.delivery_wave. unknown_zones: those in the service''s zone because PostgreSQL '
    'does not know the one in the column that the application declares as the time zone.';

CREATE VIEW pushmta.delivery_wave AS
SELECT w.delivery_id, w.number, trim_scale(round((w.share * 100)::numeric, 6)) AS percent, w.size AS count, w.starts_at,
    w.starts_after, w.max_failed, w.max_token_errors, w.max_opt_outs,
    CASE WHEN d.state = 'pending' AND d.frozen_at IS NULL THEN coalesce((SELECT sum(c.messages)::bigint
        FROM pushmta_engine.delivery_count c WHERE c.delivery_id = w.delivery_id AND c.wave = w.number), 0) ELSE w.messages END AS messages,
    CASE WHEN w.passed_at IS NOT NULL THEN 'passed' WHEN w.held_at IS NOT NULL THEN 'held'
        WHEN w.opened_at IS NOT NULL THEN 'open' ELSE 'waiting' END AS state,
    w.opened_at, coalesce(r.sent, 0) + w.folded_sent AS sent, coalesce(r.failed, 0) + w.folded_failed AS failed,
    coalesce(r.unknown, 0) + w.folded_unknown AS unknown, w.held_at,
    coalesce(r.planned, 0) AS planned, r.last_at, coalesce(t.errors, 0) AS token_errors
FROM pushmta_engine.delivery_wave w
JOIN pushmta_engine.delivery d ON d.id = w.delivery_id
LEFT JOIN LATERAL (SELECT sum(p.sent)::bigint AS sent, sum(p.failed)::bigint AS failed, sum(p.unknown)::bigint AS unknown,
        sum(p.size) FILTER (WHERE p.state = 'planned' AND isfinite(p.not_before))::bigint AS planned,
        max(p.not_before) FILTER (WHERE p.state = 'planned' AND isfinite(p.not_before)) AS last_at
    FROM pushmta_engine.delivery_part p WHERE p.delivery_id = w.delivery_id AND p.wave = w.number) r ON w.opened_at IS NOT NULL
-- A refusal of a token that has never worked, such as BadDeviceToken, is only a soft error of it.
LEFT JOIN LATERAL (SELECT count(*) AS errors FROM pushmta_engine.token_event e
    WHERE e.delivery_id = w.delivery_id AND e.kind IN ('invalid', 'soft_error') AND e.created_at >= w.opened_at
        AND e.created_at < coalesce((SELECT n.opened_at FROM pushmta_engine.delivery_wave n
            WHERE n.delivery_id = w.delivery_id AND n.number = w.number + 1), 'infinity')) t
    ON w.opened_at IS NOT NULL AND w.max_token_errors IS NOT NULL;
COMMENT ON VIEW pushmta.delivery_wave IS
    'The waves of deliveries: their size, when they begin, their guards, and what has become of their messages. state: waiting, open, '
    'passed (it kept to its guards, or was resumed), held (it did not: the delivery is paused). held_at: when it did not keep to them. '
    'planned: messages of an open wave that wait for their time; last_at: when the last of them leave. token_errors: messages whose push '
    'token the gateway refused since the wave began, if it has a guard against them. While those of a scheduled '
    'delivery are not made, messages is what its last analysis counted.';

-- The same, as documents that set_plan and set_service_hours accept.

CREATE FUNCTION pushmta_engine.plan_document(delivery bigint) RETURNS jsonb LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT coalesce((SELECT jsonb_strip_nulls(jsonb_build_object('local_time', to_char(p.local_time, 'YYYY-MM-DD"T"HH24:MI:SS'),
            'on_past', p.on_past, 'hours', p.hours))
            || coalesce((SELECT jsonb_build_object('waves', jsonb_agg(jsonb_strip_nulls(jsonb_build_object('percent', w.percent,
                    'count', w.count, 'at', CASE WHEN w.starts_at > now()
                        THEN to_char(w.starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END,
                    'after', extract(epoch FROM w.starts_after)::bigint || ' seconds', 'max_failed', w.max_failed,
                    'max_token_errors', w.max_token_errors, 'max_opt_outs', w.max_opt_outs))
                -- The first wave without this guard has to say so.
                || CASE WHEN w.number = 1 THEN jsonb_build_object('max_token_errors', w.max_token_errors) ELSE '{}' END ORDER BY w.number))
            FROM pushmta.delivery_wave w WHERE w.delivery_id = p.delivery_id HAVING count(*) > 0), '{}')
        FROM delivery_plan p WHERE p.delivery_id = plan_document.delivery), '{}') $$;
COMMENT ON FUNCTION pushmta_engine.plan_document(bigint) IS
    'The plan of a delivery as set_plan accepts it, for a copy: a moment that has passed is left out. {} if it has none.';

CREATE FUNCTION pushmta.service_hours(service text) RETURNS jsonb LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT jsonb_build_object('time_zone', v.time_zone, 'outside', v.outside_hours,
        'hours', coalesce((SELECT jsonb_agg(jsonb_build_object('weekdays', h.weekdays, 'opens',
                regexp_replace(h.opens::text, ':00$', ''), 'closes', regexp_replace(h.closes::text, ':00$', ''))
                ORDER BY h.weekdays, h.opens)
            FROM (SELECT array_agg(s.weekday ORDER BY s.weekday) AS weekdays, s.opens, s.closes FROM sending_hours s
                WHERE s.service_id = v.id GROUP BY s.opens, s.closes) h), '[]'),
        'days_off', coalesce((SELECT jsonb_agg(o.day ORDER BY o.day) FROM day_off o WHERE o.service_id = v.id), '[]'))
    FROM pushmta_engine.service v WHERE v.id = service_named(service_hours.service) $$;
COMMENT ON FUNCTION pushmta.service_hours(text) IS
    'What decides when messages of a service may leave, as set_service_hours accepts it: hours, days_off, outside and time_zone.';

-- For the web process, which has no right to read the views.

CREATE FUNCTION pushmta_engine.api_plan(wanted bigint) RETURNS SETOF pushmta.delivery_plan
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT * FROM pushmta.delivery_plan p WHERE p.delivery_id = wanted $$;
COMMENT ON FUNCTION pushmta_engine.api_plan(bigint) IS 'The plan of one delivery.';

CREATE FUNCTION pushmta_engine.api_waves(wanted bigint) RETURNS SETOF pushmta.delivery_wave
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT * FROM pushmta.delivery_wave w WHERE w.delivery_id = wanted ORDER BY w.number $$;
COMMENT ON FUNCTION pushmta_engine.api_waves(bigint) IS 'The waves of one delivery, in their order.';

-- For the console.

CREATE FUNCTION pushmta_engine.console_change_hours(caller pushmta_engine.console_caller, name text, expected bigint, document jsonb)
    RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_user_of(caller, ARRAY['operate', 'admin']);
    earlier pushmta_engine.service;
BEGIN
    SELECT v.* INTO earlier FROM pushmta_engine.service v WHERE v.name = console_change_hours.name FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no service "%".', name USING ERRCODE = 'PM071', HINT = 'pushmta service list shows them.';
    END IF;
    PERFORM require_version(format('Service "%s"', name), earlier.changed_at, NULL, expected);
    PERFORM put_service_hours(name, document);
    PERFORM note_audit(who, 'service.hours', name, left(document::text, 1000), caller.address);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_change_hours(pushmta_engine.console_caller, text, bigint, jsonb) IS
    'Changes sending hours, days off, policy and time zone of a service, for a signed-in operator. Fails if the service was changed after '
    'the form was loaded.';
