-- What the API of the web process reads and writes in addition to the contract.

CREATE FUNCTION pushmta_engine.api_applications() RETURNS SETOF pushmta.application
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT * FROM pushmta.application a ORDER BY a.name $$;
COMMENT ON FUNCTION pushmta_engine.api_applications() IS 'The applications, as the API shows them.';

CREATE VIEW pushmta_engine.known_device AS
SELECT s.*, t.push_token FROM pushmta.subscription s JOIN pushmta.subscription_token t ON t.id = s.id;
COMMENT ON VIEW pushmta_engine.known_device IS
    'Subscriptions with their push tokens, as the API shows them to keys that may read devices.';

CREATE FUNCTION pushmta_engine.api_device(device bigint) RETURNS SETOF pushmta_engine.known_device
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT * FROM known_device s WHERE s.id = api_device.device $$;
COMMENT ON FUNCTION pushmta_engine.api_device(bigint) IS 'One device, as the API shows it.';

CREATE FUNCTION pushmta_engine.api_find_devices(applications integer[], token text, person text, most integer)
    RETURNS SETOF pushmta_engine.known_device LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_variable
DECLARE
    apps integer[] := coalesce(applications, ARRAY(SELECT a.id FROM pushmta_engine.application a));
    found_ids bigint[];
BEGIN
    IF token IS NOT NULL THEN
        found_ids := ARRAY(SELECT s.id FROM subscription s
            WHERE s.id = ANY(ARRAY(SELECT f FROM subscriptions_with(token) f)) AND s.application_id = ANY(apps));
    ELSE
        found_ids := ARRAY(
            SELECT s.id FROM subscription s WHERE s.application_id = ANY(apps) AND s.user_key = person AND s.user_key <> '');
    END IF;
    RETURN QUERY SELECT s.* FROM known_device s WHERE s.id = ANY(found_ids)
        ORDER BY s.registered_at DESC, s.id DESC LIMIT most;
END $$;
COMMENT ON FUNCTION pushmta_engine.api_find_devices(integer[], text, text, integer) IS
    'The devices with a push token, or of a user, in some applications (null: in all); last registered first.';

CREATE FUNCTION pushmta_engine.api_set_user_opt_out(applications integer[], person text, opted_out boolean) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    RETURN note_user_opt_out(coalesce(applications, ARRAY(SELECT a.id FROM pushmta_engine.application a)), person,
        coalesce(opted_out, true), is_short => true);
END $$;
COMMENT ON FUNCTION pushmta_engine.api_set_user_opt_out(integer[], text, boolean) IS
    'Does what pushmta.set_user_opt_out does, in some applications (null: in all), in a transaction of its own.';

CREATE FUNCTION pushmta_engine.api_create_delivery(
    label text, applications text[], content text, continuous boolean, priority integer, validity_seconds bigint,
    explicit_targets boolean, one_per_user boolean, ambiguity_policy text, max_retries integer, retry_period_seconds integer,
    filter text, exclude text[], retry_schedule text, messages_per_second double precision, one_time_code boolean, category text,
    audience text
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    made bigint := pushmta.create_delivery(label => label, applications => applications, content => content,
        priority => priority, validity => make_interval(secs => validity_seconds::double precision),
        explicit_targets => explicit_targets, one_per_user => one_per_user, ambiguity_policy => ambiguity_policy,
        max_retries => max_retries, retry_period_seconds => retry_period_seconds, retry_schedule => retry_schedule,
        messages_per_second => messages_per_second, category => category);
BEGIN
    IF one_time_code THEN
        PERFORM pushmta.set_one_time_code(made);
    END IF;
    IF continuous THEN
        PERFORM pushmta.make_continuous(made);
    END IF;
    IF filter IS NOT NULL OR exclude IS NOT NULL THEN
        PERFORM pushmta.set_target(delivery => made, filter => filter, exclude => exclude);
    END IF;
    PERFORM use_audience(made, filter, audience);
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta_engine.api_create_delivery(
    text, text[], text, boolean, integer, bigint, boolean, boolean, text, integer, integer, text, text[], text, double precision,
    boolean, text, text) IS
    'Creates a delivery with its kind, its filter or saved audience, and its exclusion lists (null: none), or fails as a whole.';

CREATE FUNCTION pushmta_engine.api_deliveries(lowest bigint, highest bigint, only_applications integer[], most integer,
    with_archived boolean DEFAULT true)
    RETURNS TABLE (id bigint, label text, kind text, state text, state_reason text, priority integer, target bigint,
        excluded bigint, pending bigint, sent bigint, failed bigint, ignored bigint, not_applicable bigint, canceled bigint,
        unknown bigint, prepared boolean, created_at timestamptz, start_at timestamptz, started_at timestamptz,
        finished_at timestamptz, valid_until timestamptz, snapshot_at timestamptz, applications text[], parent_id bigint,
        one_time_code boolean, seeds bigint, category text, archived_at timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT p.id, p.label, p.kind, p.state, p.state_reason, p.priority::integer, p.target, p.excluded, p.pending, p.sent, p.failed,
            p.ignored, p.not_applicable, p.canceled, p.unknown, p.prepared, p.created_at, p.start_at, p.started_at, p.finished_at,
            p.valid_until, p.snapshot_at,
            ARRAY(SELECT a.name FROM delivery_application x JOIN application a ON a.id = x.application_id
                WHERE x.delivery_id = p.id ORDER BY a.name), w.parent_delivery_id, p.one_time_code, p.seeds, p.category,
            p.archived_at
        FROM (SELECT d.id, d.parent_delivery_id FROM pushmta_engine.delivery d
            WHERE d.id BETWEEN lowest AND highest AND (with_archived OR d.archived_at IS NULL)
                AND (only_applications IS NULL OR NOT EXISTS (
                SELECT FROM delivery_application x WHERE x.delivery_id = d.id AND NOT x.application_id = ANY(only_applications)))
            ORDER BY d.id DESC LIMIT most) w
        JOIN pushmta.delivery_progress p ON p.id = w.id
        ORDER BY p.id DESC $$;
COMMENT ON FUNCTION pushmta_engine.api_deliveries(bigint, bigint, integer[], integer, boolean) IS
    'Deliveries with ids in a range, newest first, with their counts. With applications given, only deliveries that go to no others.';

CREATE FUNCTION pushmta_engine.api_forms(delivery bigint, names text[], only_applications integer[])
    RETURNS TABLE (id integer, service_id integer, name text, label text, platform text, environment text, integration_key text,
        bundle_id text, message_id_format text, external_account_id integer, credential_id bigint, variables text, sounds text,
        connector text, credential_kind text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT a.id, a.service_id, a.name, a.label, a.platform, a.environment, a.integration_key, a.bundle_id, a.message_id_format,
            e.id, a.credential_id, a.variables::text, a.sounds::text, e.connector, c.kind
        FROM application a
        LEFT JOIN delivery_application x ON x.delivery_id = api_forms.delivery AND x.application_id = a.id
        LEFT JOIN external_account e ON e.id = coalesce(x.external_account_id, a.external_account_id)
        LEFT JOIN credential c ON c.id = a.credential_id
        WHERE CASE WHEN api_forms.delivery IS NULL THEN a.name = ANY(names) ELSE x.delivery_id IS NOT NULL END
            AND (only_applications IS NULL OR a.id = ANY(only_applications))
        ORDER BY a.name $$;
COMMENT ON FUNCTION pushmta_engine.api_forms(bigint, text[], integer[]) IS
    'The applications that determine the form of messages: those of a delivery, or (null) those of these names among the given ones. '
    'Includes the connector of the account that each uses, and the kind of its credential.';

CREATE FUNCTION pushmta_engine.api_content(delivery bigint, variant integer DEFAULT NULL)
    RETURNS TABLE (content text, continuous boolean, one_time_code boolean, has_validity boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    PERFORM require_variant(delivery, variant);
    RETURN QUERY SELECT coalesce(c.content, d.content)::text, d.kind = 'continuous', d.one_time_code, d.valid_until IS NOT NULL
        FROM pushmta_engine.delivery d LEFT JOIN experiment_cell c ON c.delivery_id = d.id AND c.cell = variant
        WHERE d.id = delivery;
END $$;
COMMENT ON FUNCTION pushmta_engine.api_content(bigint, integer) IS
    'The content of a delivery, or of a variant of its experiment, and its kind, for previews.';

CREATE FUNCTION pushmta_engine.api_reader(seed_name text, wanted bigint, applications integer[])
    RETURNS TABLE (id bigint, application_id integer, variables text, is_seed_only boolean)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT s.id, s.application_id, d.variables::text, s.exclusion = 1 AND s.disabled_reason = 'seed'
            AND token_bar(s.application_id, s.push_token) IS NULL
        FROM subscription s LEFT JOIN seed d ON d.name = seed_name AND d.subscription_id = s.id
        WHERE s.id = CASE WHEN seed_name IS NULL THEN wanted
                ELSE (SELECT n.subscription_id FROM seed n WHERE n.name = seed_name) END
            AND s.application_id = ANY(applications) $$;
COMMENT ON FUNCTION pushmta_engine.api_reader(text, bigint, integer[]) IS
    'The subscription that the API shows a message for, named by a seed address or (null) by its id; no row if the applications do not '
    'have it. is_seed_only: it belongs to seed addresses only, and gets proofs although it is disabled.';

CREATE FUNCTION pushmta_engine.api_reader_row(device bigint) RETURNS SETOF pushmta_engine.console_audience
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT * FROM console_audience s WHERE s.id = api_reader_row.device $$;
COMMENT ON FUNCTION pushmta_engine.api_reader_row(bigint) IS
    'A subscription without its push token, from which the fields of a message are read.';

CREATE FUNCTION pushmta_engine.api_read_view(device bigint, columns text[]) RETURNS SETOF text[]
    LANGUAGE sql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT r.list FROM view_of_person(device, columns) r(list) $$;
COMMENT ON FUNCTION pushmta_engine.api_read_view(bigint, text[]) IS 'Does what view_of_person does, for the API''s preview.';

CREATE FUNCTION pushmta_engine.api_prove_delivery(wanted bigint, seeds text[], devices bigint[], tokens text[], start boolean,
    only_applications integer[], variant integer) RETURNS bigint LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    missing text;
BEGIN
    SELECT w.name INTO missing FROM unnest(seeds) WITH ORDINALITY w(name, n)
    WHERE NOT EXISTS (SELECT FROM seed s JOIN subscription b ON b.id = s.subscription_id
        WHERE s.name = w.name AND (only_applications IS NULL OR b.application_id = ANY(only_applications)))
    ORDER BY w.n LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'There is no seed address "%".', missing
            USING ERRCODE = 'PM041', HINT = 'pushmta.seed lists them; pushmta.add_seed adds one.';
    END IF;
    RETURN pushmta.proof_delivery(delivery => wanted, seeds => seeds, subscription_ids => devices, push_tokens => tokens,
        start => start, variant => variant);
END $$;
COMMENT ON FUNCTION pushmta_engine.api_prove_delivery(bigint, text[], bigint[], text[], boolean, integer[], integer) IS
    'Does what pushmta.proof_delivery does. Seed addresses of applications other than the given ones (null: all) count as unknown.';

CREATE FUNCTION pushmta_engine.api_proofs(wanted bigint, highest bigint, most integer) RETURNS SETOF bigint
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT d.id FROM pushmta_engine.delivery d WHERE d.parent_delivery_id = wanted AND d.proof AND d.id <= highest
        ORDER BY d.id DESC LIMIT most $$;
COMMENT ON FUNCTION pushmta_engine.api_proofs(bigint, bigint, integer) IS
    'The proofs of a delivery with ids up to the given one, newest first.';

CREATE FUNCTION pushmta_engine.api_statistics(wanted bigint) RETURNS SETOF pushmta.delivery_statistics
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT * FROM pushmta.delivery_statistics s WHERE s.delivery_id = wanted $$;
COMMENT ON FUNCTION pushmta_engine.api_statistics(bigint) IS 'The statistics of one delivery, as the API shows them.';

CREATE FUNCTION pushmta_engine.api_statistics_by(wanted bigint, part text, skipped integer, most integer)
    RETURNS TABLE (hour timestamptz, name text, sent bigint, failed bigint, ignored bigint, not_applicable bigint, canceled bigint,
        unknown bigint, received bigint, received_unique bigint, opened bigint, opened_unique bigint, clicked bigint,
        clicked_unique bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT p.* FROM -- Only one branch returns rows.
        (SELECT h.hour, '' AS name, h.sent, h.failed, h.ignored, h.not_applicable, h.canceled, h.unknown, h.received, h.received_unique,
            h.opened, h.opened_unique, h.clicked, h.clicked_unique
        FROM pushmta.delivery_statistics_by_hour h WHERE h.delivery_id = wanted AND part = 'hour'
        UNION ALL
        SELECT NULL, coalesce(a.application, ''), a.sent, a.failed, a.ignored, a.not_applicable, a.canceled, a.unknown, a.received,
            a.received_unique, a.opened, a.opened_unique, a.clicked, a.clicked_unique
        FROM pushmta.delivery_statistics_by_application a WHERE a.delivery_id = wanted AND part = 'application'
        UNION ALL
        SELECT NULL, v.app_version, v.sent, v.failed, v.ignored, v.not_applicable, v.canceled, v.unknown, v.received, v.received_unique,
            v.opened, v.opened_unique, v.clicked, v.clicked_unique
        FROM pushmta.delivery_statistics_by_version v WHERE v.delivery_id = wanted AND part = 'version'
        UNION ALL
        SELECT NULL, l.locale, l.sent, l.failed, l.ignored, l.not_applicable, l.canceled, l.unknown, l.received, l.received_unique,
            l.opened, l.opened_unique, l.clicked, l.clicked_unique
        FROM pushmta.delivery_statistics_by_locale l WHERE l.delivery_id = wanted AND part = 'locale') p
        ORDER BY p.hour, p.name COLLATE "C" OFFSET skipped LIMIT most $$;
COMMENT ON FUNCTION pushmta_engine.api_statistics_by(bigint, text, integer, integer) IS
    'The statistics of one delivery by hour, application, version or locale, in that order.';

CREATE FUNCTION pushmta_engine.api_failures(wanted bigint, skipped integer, most integer) RETURNS SETOF pushmta.delivery_failures
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT * FROM pushmta.delivery_failures f WHERE f.delivery_id = wanted
        ORDER BY f.application, f.status, f.failure_type, f.failure_reason, f.reason COLLATE "C" OFFSET skipped LIMIT most $$;
COMMENT ON FUNCTION pushmta_engine.api_failures(bigint, integer, integer) IS
    'Why messages of one delivery were not sent, in a stable order.';

CREATE FUNCTION pushmta_engine.has_gaps(delivery bigint) RETURNS boolean LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
        SELECT d.kind = 'continuous' OR EXISTS (SELECT FROM experiment e WHERE e.delivery_id = d.id)
        FROM pushmta_engine.delivery d WHERE d.id = has_gaps.delivery $$;
COMMENT ON FUNCTION pushmta_engine.has_gaps(bigint) IS
    'Whether the numbers of a delivery''s messages have gaps. A batch delivery uses all numbers up to its target, except an experiment, '
    'where each variant has a range of its own; those of a day of a continuous delivery have small gaps.';

CREATE FUNCTION pushmta_engine.parts_with_pending(delivery bigint) RETURNS TABLE (log_day date, part_id bigint) LANGUAGE sql STABLE
    BEGIN ATOMIC
        -- By two indexes: in most done parts each message has a row.
        SELECT o.log_day, o.id FROM pushmta_engine.delivery_part o WHERE o.delivery_id = delivery AND o.state <> 'done'
        UNION ALL
        SELECT o.log_day, o.id FROM pushmta_engine.delivery_part o
        WHERE o.delivery_id = delivery AND o.state = 'done' AND o.rest_status IS NOT NULL;
    END;
COMMENT ON FUNCTION pushmta_engine.parts_with_pending(bigint) IS
    'The parts of a delivery that may have messages without a row of their own.';

CREATE FUNCTION pushmta_engine.number_up_to(delivery bigint, high integer) RETURNS integer
    LANGUAGE sql STABLE SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
        SELECT greatest(
            coalesce((SELECT b.sequence FROM pushmta_engine.delivery d
                JOIN broad_log b ON b.log_day = d.log_day AND b.delivery_id = d.id AND b.sequence <= high
                WHERE d.id = number_up_to.delivery ORDER BY b.sequence DESC LIMIT 1), 0),
            coalesce((SELECT max(least(t.last_sequence, high)) FROM parts_with_pending(number_up_to.delivery) p
                JOIN delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.part_id AND t.first_sequence <= high), 0)) $$;
COMMENT ON FUNCTION pushmta_engine.number_up_to(bigint, integer) IS
    'The highest number up to the given one that a message of a delivery may have; 0 if there is none. An open day of a continuous '
    'delivery may still get lower numbers than this.';

CREATE FUNCTION pushmta_engine.number_from(delivery bigint, low integer) RETURNS integer
    LANGUAGE sql STABLE SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
        SELECT least(
            (SELECT b.sequence FROM pushmta_engine.delivery d
                JOIN broad_log b ON b.log_day = d.log_day AND b.delivery_id = d.id AND b.sequence >= low
                WHERE d.id = number_from.delivery ORDER BY b.sequence LIMIT 1),
            (SELECT min(greatest(t.first_sequence, low)) FROM parts_with_pending(number_from.delivery) p
                JOIN delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.part_id AND t.last_sequence >= low)) $$;
COMMENT ON FUNCTION pushmta_engine.number_from(bigint, integer) IS
    'The lowest number from the given one on that a message of a delivery may have; null if there is none.';

CREATE FUNCTION pushmta_engine.api_highest_number(wanted bigint) RETURNS integer
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$ SELECT number_up_to(wanted, 2147483647) $$;
COMMENT ON FUNCTION pushmta_engine.api_highest_number(bigint) IS 'The highest number of a message of a delivery; 0 if it has none.';

CREATE FUNCTION pushmta_engine.api_outcome_range(wanted bigint, after integer, most integer, OUT highest integer, OUT through integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    IF has_gaps(wanted) THEN
        highest := number_up_to(wanted, 2147483647);
        through := least(highest, coalesce(number_from(wanted, least(after::bigint + 1, 2147483647)::integer), 0)::bigint - 1 + most);
    ELSE
        highest := (SELECT d.target FROM delivery d WHERE d.id = wanted);
        through := least(highest, after::bigint + most);
    END IF;
    through := greatest(after, through);
END $$;
COMMENT ON FUNCTION pushmta_engine.api_outcome_range(bigint, integer, integer) IS
    'The highest number of a message of a delivery, and the last one of a page with at most this many messages after a number; that number '
    'itself if nothing follows.';

CREATE FUNCTION pushmta_engine.api_outcomes(wanted bigint, lowest integer, highest integer)
    RETURNS TABLE (sequence integer, subscription_id bigint, status text, http_status integer, reason text, failure_type text,
        failure_reason text, gateway_message_id text, attempt integer, logged_at timestamptz, received boolean, clicked boolean,
        seed boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off
    SET jit = off AS $$
        WITH noted AS (
            SELECT b.log_day, b.sequence, b.subscription_id, b.status, b.http_status, b.reason, b.failure, b.gateway_message_id,
                b.attempt, b.logged_at
            FROM delivery d JOIN broad_log b ON b.log_day = d.log_day AND b.delivery_id = d.id
            WHERE d.id = wanted AND b.sequence BETWEEN lowest AND highest
            UNION ALL
            SELECT p.log_day, m.sequence, u.subscription_id, coalesce(p.rest_status, 6::smallint), 0::smallint, p.rest_reason, NULL,
                NULL, p.attempt, CASE WHEN p.state = 'done' THEN p.finished_at END
            FROM -- As above.
            (SELECT o.* FROM delivery_part o WHERE o.delivery_id = wanted AND o.state <> 'done'
            UNION ALL
            SELECT o.* FROM delivery_part o WHERE o.delivery_id = wanted AND o.state = 'done' AND o.rest_status IS NOT NULL) p
            JOIN delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
                AND t.first_sequence <= highest AND t.last_sequence >= lowest
            CROSS JOIN LATERAL unnest(t.subscription_ids, t.sequences) WITH ORDINALITY u(subscription_id, sequence, n)
            CROSS JOIN LATERAL (SELECT coalesce(u.sequence, t.first_sequence + u.n::integer - 1) AS sequence) m
            WHERE m.sequence BETWEEN lowest AND highest
                AND NOT EXISTS (SELECT FROM broad_log b
                    WHERE b.log_day = p.log_day AND b.delivery_id = p.delivery_id AND b.sequence = m.sequence)
        )
        SELECT n.sequence, n.subscription_id, status_name(n.status), n.http_status::integer, coalesce(n.reason, ''),
            failure_type(n.failure), failure_reason(n.failure), n.gateway_message_id, n.attempt::integer, n.logged_at,
            EXISTS (SELECT FROM tracking_log r WHERE r.log_day = n.log_day AND r.delivery_id = wanted
                AND r.sequence = n.sequence AND r.kind = 1 AND r.first),
            EXISTS (SELECT FROM tracking_log r WHERE r.log_day = n.log_day AND r.delivery_id = wanted
                AND r.sequence = n.sequence AND r.kind = 2 AND r.first),
            (SELECT n.sequence BETWEEN d.first_seed AND d.first_seed + d.seeds - 1 FROM delivery d WHERE d.id = wanted)
        FROM noted n ORDER BY n.sequence $$;
COMMENT ON FUNCTION pushmta_engine.api_outcomes(bigint, integer, integer) IS
    'The messages of a delivery by number, with the outcome of each. Like pushmta.message_status, but without reading the whole delivery '
    'for a few messages. Numbers are in the order of preparation and never change; outcomes arrive in any order.';

CREATE FUNCTION pushmta_engine.numbers_that_ended(delivery bigint, day date, ended smallint, because text, below integer, most integer,
    deadline timestamptz) RETURNS TABLE (numbers integer[], next integer) LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off
    SET enable_bitmapscan = off SET jit = off AS $$
#variable_conflict use_variable
DECLARE
    -- This many are sorted in a few milliseconds. If there are more, ranges of numbers contain enough of them.
    few constant integer := 5000;
    step constant integer := 20000;
    high integer := below - 1;
    -- Then there are ranges without any message.
    in_cells boolean := EXISTS (SELECT FROM experiment e WHERE e.delivery_id = delivery);
BEGIN
    IF ended <> 1 THEN
        numbers := ARRAY(SELECT b.sequence FROM broad_log b WHERE b.log_day = day AND b.delivery_id = delivery AND b.status = ended
            AND b.status <> 1 AND (because = '' OR b.reason = because) LIMIT few + 1);
        IF cardinality(numbers) <= few THEN
            numbers := ARRAY(SELECT u.n FROM unnest(numbers) u(n) WHERE u.n < below ORDER BY u.n DESC LIMIT most + 1);
            next := CASE WHEN cardinality(numbers) > most THEN numbers[most] END;
            numbers := numbers[1:most];
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;
    numbers := '{}';
    WHILE high >= 1 AND cardinality(numbers) < most LOOP
        -- Not by the index of failures, which is not ordered by number.
        numbers := numbers || ARRAY(SELECT b.sequence FROM broad_log b WHERE b.log_day = day AND b.delivery_id = delivery
            AND b.sequence BETWEEN high - step + 1 AND high AND b.status + 0 = ended AND (because = '' OR b.reason || '' = because)
            ORDER BY b.sequence DESC LIMIT most - cardinality(numbers));
        high := CASE WHEN in_cells THEN number_up_to(delivery, greatest(high - step, 0)) ELSE high - step END;
        EXIT WHEN clock_timestamp() > deadline;
    END LOOP;
    next := CASE WHEN cardinality(numbers) = most THEN numbers[most] WHEN high >= 1 THEN high + 1 END;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION pushmta_engine.numbers_that_ended(bigint, date, smallint, text, integer, integer, timestamptz) IS
    'The highest numbers below a given one of messages whose row has the given outcome and reason (empty: any). Also the number below '
    'which to continue, null if nothing is left.';

CREATE FUNCTION pushmta_engine.highest_covered(firsts integer[], lasts integer[], high integer) RETURNS integer LANGUAGE sql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
        SELECT max(least(u.last, high)) FROM unnest(firsts, lasts) u(first, last) WHERE u.first <= high $$;
COMMENT ON FUNCTION pushmta_engine.highest_covered(integer[], integer[], integer) IS
    'The highest number up to the given one that lies in any of the ranges; null if none does.';

-- Two parts of console_messages, whose settings hold in them, too.
CREATE FUNCTION pushmta_engine.messages_by_number(delivery bigint, day date, ended smallint, because text, high integer, most integer,
    deadline timestamptz) RETURNS TABLE (sequence integer, subscription_id bigint, application text, status text,
    http_status integer, reason text, attempt integer, logged_at timestamptz, received boolean, clicked boolean, next integer)
    LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    -- Without a filter each number is on the page; with one, this many take about 30 milliseconds.
    step integer := CASE WHEN ended IS NULL THEN most ELSE 3000 END;
    firsts integer[];
    lasts integer[];
    in_parts boolean;
    in_cells boolean := EXISTS (SELECT FROM experiment e WHERE e.delivery_id = delivery);
    shown integer := 0;
BEGIN
    -- If only parts can contain such messages, the numbers between the parts are skipped.
    in_parts := ended = 6 OR ended IS NOT NULL AND NOT EXISTS (SELECT FROM broad_log b
        WHERE b.log_day = day AND b.delivery_id = delivery AND b.status = ended AND b.status <> 1);
    IF in_parts THEN
        SELECT array_agg(t.first_sequence), array_agg(t.last_sequence) INTO firsts, lasts
        FROM (SELECT p.id FROM delivery_part p WHERE p.delivery_id = delivery AND p.state <> 'done' AND ended = 6
            UNION ALL
            SELECT p.id FROM delivery_part p
            WHERE p.delivery_id = delivery AND p.rest_status IS NOT NULL AND p.rest_status = ended) p
        JOIN delivery_part_target t ON t.log_day = day AND t.part_id = p.id;
        high := highest_covered(firsts, lasts, high);
    END IF;
    WHILE high >= 1 AND shown < most LOOP
        FOR sequence, subscription_id, application, status, http_status, reason, attempt, logged_at, received, clicked IN
            SELECT o.sequence, o.subscription_id, coalesce(a.name, ''), o.status, o.http_status, o.reason, o.attempt, o.logged_at,
                o.received, o.clicked
            FROM api_outcomes(delivery, greatest(high - step + 1, 1), high) o
            LEFT JOIN subscription s ON s.id = o.subscription_id LEFT JOIN pushmta_engine.application a ON a.id = s.application_id
            WHERE ended IS NULL OR o.status = status_name(ended) AND (because = '' OR o.reason = because)
            ORDER BY o.sequence DESC LIMIT most - shown
        LOOP
            shown := shown + 1;
            RETURN NEXT;
        END LOOP;
        high := CASE WHEN shown = most THEN sequence - 1 ELSE high - step END;
        IF in_parts THEN
            high := highest_covered(firsts, lasts, high);
        ELSIF in_cells AND high >= 1 THEN
            high := number_up_to(delivery, high);
        END IF;
        EXIT WHEN clock_timestamp() > deadline;
    END LOOP;
    next := CASE WHEN high >= 1 THEN high + 1 END;
    IF next IS NOT NULL THEN
        sequence := NULL;
        RETURN NEXT;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.messages_by_number(bigint, date, smallint, text, integer, integer, timestamptz) IS
    'A page of console_messages in which each message up to a number is looked at, those without a row of their own, too.';

CREATE FUNCTION pushmta_engine.messages_by_outcome(delivery bigint, day date, ended smallint, because text, high integer, most integer,
    deadline timestamptz) RETURNS TABLE (sequence integer, subscription_id bigint, application text, status text,
    http_status integer, reason text, attempt integer, logged_at timestamptz, received boolean, clicked boolean, next integer)
    LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    numbers integer[];
BEGIN
    SELECT n.numbers, n.next INTO numbers, next
    FROM numbers_that_ended(delivery, day, ended, because, high + 1, most, deadline) n;
    RETURN QUERY SELECT b.sequence, b.subscription_id, coalesce(a.name, ''), status_name(b.status), b.http_status::integer,
        coalesce(b.reason, ''), b.attempt::integer, b.logged_at,
        EXISTS (SELECT FROM tracking_log r WHERE r.log_day = b.log_day AND r.delivery_id = delivery AND r.sequence = b.sequence
            AND r.kind = 1 AND r.first),
        EXISTS (SELECT FROM tracking_log r WHERE r.log_day = b.log_day AND r.delivery_id = delivery AND r.sequence = b.sequence
            AND r.kind = 2 AND r.first), NULL::integer
    FROM unnest(numbers) u(n)
    JOIN broad_log b ON b.log_day = day AND b.delivery_id = delivery AND b.sequence = u.n
    LEFT JOIN subscription s ON s.id = b.subscription_id LEFT JOIN pushmta_engine.application a ON a.id = s.application_id
    ORDER BY b.sequence DESC;
    IF next IS NOT NULL THEN
        sequence := NULL;
        RETURN NEXT;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.messages_by_outcome(bigint, date, smallint, text, integer, integer, timestamptz) IS
    'A page of console_messages for an outcome that only messages with a row of their own have.';

CREATE FUNCTION pushmta_engine.console_messages(caller pushmta_engine.console_caller, delivery bigint, ended smallint, because text,
    below integer, most integer) RETURNS TABLE (sequence integer, subscription_id bigint, application text, status text,
    http_status integer, reason text, attempt integer, logged_at timestamptz, received boolean, clicked boolean, next integer)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off
    SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_variable
DECLARE
    -- The time for a page, in addition to the last step.
    deadline timestamptz := clock_timestamp() + interval '120 milliseconds';
    place record;
    high integer;
BEGIN
    PERFORM console_user_of(caller, NULL);
    SELECT d.log_day, d.target, d.purged INTO place FROM pushmta_engine.delivery d WHERE d.id = delivery;
    IF place.log_day IS NULL OR place.purged THEN
        RETURN;
    END IF;
    high := CASE WHEN has_gaps(delivery) THEN number_up_to(delivery, below - 1) ELSE least(below - 1, place.target) END;
    IF ended IS NULL OR ended = 6 OR EXISTS (SELECT FROM delivery_part p
        WHERE p.delivery_id = delivery AND p.rest_status IS NOT NULL AND p.rest_status = ended) THEN
        RETURN QUERY SELECT * FROM messages_by_number(delivery, place.log_day, ended, because, high, most, deadline);
    ELSE
        RETURN QUERY SELECT * FROM messages_by_outcome(delivery, place.log_day, ended, because, high, most, deadline);
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_messages(pushmta_engine.console_caller, bigint, smallint, text, integer, integer) IS
    'The messages of a delivery with the highest numbers below a given one, for a signed-in user: all (null), or those with the given '
    'outcome and reason (empty: any). It searches within the time for a page. A last row without a number gives the number below which to '
    'continue.';

CREATE FUNCTION pushmta_engine.console_find_message(caller pushmta_engine.console_caller, wanted text, within bigint)
    RETURNS TABLE (form text, finding text, delivery_id bigint, label text, sequence integer, subscription_id bigint, application text,
    status text, reason text, gateway_message_id text, logged_at timestamptz, received boolean, clicked boolean) LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
    PERFORM console_user_of(caller, NULL);
    RETURN QUERY SELECT m.matched_as, 'found', m.delivery_id, d.label, m.sequence, m.subscription_id, coalesce(a.name, ''), m.status,
            m.reason, m.gateway_message_id, m.logged_at, m.received, m.clicked
        FROM pushmta.find_message(wanted, within) m JOIN pushmta_engine.delivery d ON d.id = m.delivery_id
        LEFT JOIN subscription s ON s.id = m.subscription_id LEFT JOIN pushmta_engine.application a ON a.id = s.application_id;
    IF NOT FOUND THEN
        RETURN QUERY SELECT e.form, e.finding, e.delivery_id, NULL, e.sequence, NULL::bigint, NULL, NULL, NULL, NULL, NULL::timestamptz,
                false, false
            FROM pushmta.explain_message_id(wanted, within) e;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_find_message(pushmta_engine.console_caller, text, bigint) IS
    'Does what pushmta.find_message does, with names, for a signed-in user. If nothing is found, returns what pushmta.explain_message_id '
    'says, without a subscription.';

-- Seed addresses, exclusion lists and delivery templates.

CREATE FUNCTION pushmta_engine.api_seeds(wanted text, behind text, only_applications integer[], most integer)
    RETURNS TABLE (name text, label text, application text, platform text, subscription bigint, locale text, variables jsonb,
        is_seed_only boolean, problem text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT s.name, s.label, s.application, s.platform, s.subscription_id, s.locale, s.variables, s.is_seed_only, s.problem
        FROM pushmta.seed s
        WHERE s.name > behind AND (wanted IS NULL OR s.name = wanted)
            AND (only_applications IS NULL OR s.application IN (SELECT a.name FROM application a WHERE a.id = ANY(only_applications)))
        ORDER BY s.name LIMIT most $$;
COMMENT ON FUNCTION pushmta_engine.api_seeds(text, text, integer[], integer) IS
    'The seed address with a name, or (null) those after a name, without their tokens. With applications given, only theirs.';

CREATE FUNCTION pushmta_engine.api_exclusion_lists(wanted text, behind text, most integer, most_counted integer)
    RETURNS TABLE (id integer, name text, label text, user_keys bigint, subscriptions bigint, push_tokens bigint, is_used boolean,
        changed_at timestamptz) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT l.* FROM counted_lists(NULL, wanted, behind, most, most_counted) l $$;
COMMENT ON FUNCTION pushmta_engine.api_exclusion_lists(text, text, integer, integer) IS
    'The exclusion list with a name, or (null) those after a name, with the number of entries of each, counted up to a limit.';

CREATE FUNCTION pushmta_engine.api_remove_list(list text, most integer) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        -- The table's trigger logs it.
        SELECT remove_unused_list(find_exclusion_list(list), list, most) $$;
COMMENT ON FUNCTION pushmta_engine.api_remove_list(text, integer) IS
    'Removes an exclusion list that no delivery uses and that has at most this many entries.';

CREATE FUNCTION pushmta_engine.api_find_exclusions(list text, user_keys text[], subscription_ids bigint[], push_tokens text[])
    RETURNS TABLE (place bigint, is_on boolean) LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_variable
DECLARE
    found_id integer := find_exclusion_list(list);
BEGIN
    -- Keys and tokens in the form in which the list keeps them.
    RETURN QUERY SELECT u.n, CASE
            WHEN u.user_key IS NOT NULL THEN
                EXISTS (SELECT FROM exclusion_entry e WHERE e.list_id = found_id AND e.user_key = trimmed(u.user_key))
            WHEN u.id IS NOT NULL THEN EXISTS (SELECT FROM exclusion_entry e WHERE e.list_id = found_id AND e.subscription_id = u.id)
            ELSE EXISTS (SELECT FROM exclusion_entry e WHERE e.list_id = found_id
                AND e.push_token = CASE WHEN u.token ~ '^[0-9A-Fa-f]{64,200}$' THEN lower(u.token) ELSE u.token END) END
        FROM unnest(user_keys, subscription_ids, push_tokens) WITH ORDINALITY u(user_key, id, token, n) ORDER BY u.n;
END $$;
COMMENT ON FUNCTION pushmta_engine.api_find_exclusions(text, text[], bigint[], text[]) IS
    'Whether each of some addressees is on an exclusion list, in their order. Each is named in one of the arrays, which have equal '
    'lengths.';

CREATE FUNCTION pushmta_engine.api_templates(wanted text, behind text, only_applications integer[], most integer, patch jsonb)
    RETURNS TABLE (id integer, name text, label text, content jsonb, settings jsonb, ready_made boolean, changed_at timestamptz,
        services text[], applications text[], target_filter text, exclusion_lists text[])
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT t.id, t.name, t.label, CASE WHEN patch IS NULL THEN '{}' ELSE merge_json(t.content, patch) END, t.settings, t.ready_made,
            t.changed_at, t.services, t.applications, t.target_filter, t.exclusion_lists
        FROM pushmta.delivery_template t
        WHERE t.name > behind AND (wanted IS NULL OR t.name = wanted)
            AND (only_applications IS NULL OR t.applications <@ ARRAY(
                SELECT a.name FROM application a WHERE a.id = ANY(only_applications)))
        ORDER BY t.name LIMIT most $$;
COMMENT ON FUNCTION pushmta_engine.api_templates(text, text, integer[], integer, jsonb) IS
    'The delivery template with a name, or (null) those after a name. With applications given, only templates for no others. patch is '
    'merged into their contents as RFC 7396 defines; with null the contents are left out.';
