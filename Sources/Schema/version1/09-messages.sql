-- Continuous deliveries: their days, and single messages that are added to them.

CREATE TABLE pushmta_engine.message_key (
    delivery_id bigint NOT NULL,
    idempotency_key text NOT NULL,
    -- A hash of the arguments.
    request bytea NOT NULL,
    day_id bigint NOT NULL,
    sequences integer[] NOT NULL,
    subscription_ids bigint[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (delivery_id, idempotency_key)
);
COMMENT ON TABLE pushmta_engine.message_key IS 'What was sent under an idempotency key, kept for 48 hours.';
CREATE INDEX message_key_created ON pushmta_engine.message_key (created_at);

CREATE TYPE pushmta.message_reference AS (
    message_id text, delivery_id bigint, sequence integer, subscription_id bigint, repeated boolean);
COMMENT ON TYPE pushmta.message_reference IS
    'A message that send_message made, or had made before under the same idempotency key (repeated).';

CREATE FUNCTION pushmta.make_continuous(delivery bigint) RETURNS bigint LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
    whole record;
BEGIN
    IF found_state <> 'editing' THEN
        RAISE EXCEPTION 'Delivery % is %: it can no longer be made continuous.', delivery, found_state
            USING ERRCODE = 'PM006', HINT = 'Make it continuous before start_delivery.';
    END IF;
    SELECT d.proof, d.target_filter IS NOT NULL OR d.target_sql IS NOT NULL
        OR EXISTS (SELECT FROM pushmta.delivery_target t WHERE t.delivery_id = d.id) AS has_target
    INTO whole FROM pushmta_engine.delivery d WHERE d.id = delivery;
    IF whole.proof OR whole.has_target THEN
        RAISE EXCEPTION 'Delivery % is a proof, or has a filter or targets, and cannot be made continuous.', delivery
            USING ERRCODE = 'PM007', HINT = 'Who gets a message is said with each pushmta.send_message.';
    END IF;
    UPDATE pushmta_engine.delivery d SET kind = 'continuous', target_kind = 'explicit', changed_at = now() WHERE d.id = delivery;
    RETURN delivery;
END $$;
COMMENT ON FUNCTION pushmta.make_continuous(bigint) IS
    'Makes a delivery that was not started continuous, and returns its id.';

CREATE FUNCTION pushmta_engine.open_day(delivery bigint, used_up bigint DEFAULT NULL, waits boolean DEFAULT true) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    day date := message_day();
    newest record;
    -- Of one of these deliveries a million messages a day have a number of their own: 2,147 such days until they begin anew.
    numbers integer := 2147483647;
    made bigint;
BEGIN
    FOR look IN 1..2 LOOP
        SELECT d.id, d.log_day INTO newest FROM pushmta_engine.delivery d
        WHERE d.kind = 'continuous' AND d.parent_delivery_id = delivery ORDER BY d.id DESC LIMIT 1;
        IF newest.id IS DISTINCT FROM used_up AND newest.log_day >= day THEN
            RETURN newest.id;
        ELSIF look = 2 THEN
            EXIT;
        ELSIF waits AND (newest.id IS NULL OR newest.id = used_up) THEN
            PERFORM pg_advisory_xact_lock(578628451, hashint8(delivery));
        ELSIF NOT pg_try_advisory_xact_lock(578628451, hashint8(delivery)) THEN
            RETURN newest.id;
        END IF;
    END LOOP;
    IF waits AND newest.id IS NULL THEN
        PERFORM FROM pushmta_engine.delivery d WHERE d.id = delivery AND d.state = 'in_progress' FOR KEY SHARE;
    ELSE
        PERFORM FROM pushmta_engine.delivery d WHERE d.id = delivery AND d.state = 'in_progress' FOR KEY SHARE SKIP LOCKED;
    END IF;
    IF NOT FOUND THEN
        RETURN nullif(newest.id, used_up);
    END IF;
    PERFORM ensure_partitions(day, day);
    IF EXISTS (SELECT FROM delivery_application a JOIN application p ON p.id = a.application_id
        WHERE a.delivery_id = delivery AND p.message_id_format = 'int32') THEN
        numbers := 1000000;
    END IF;
    INSERT INTO pushmta_engine.delivery (label, kind, parent_delivery_id, state, content, target_kind, one_per_user,
        allow_duplicates, priority, start_at, started_at, validity, valid_until, ambiguity_policy, max_retries,
        retry_period_seconds, log_day, tracking_key_id, target, prepared, created_by)
    -- A message of its last moment, or of a clock that is set back, has its whole validity.
    SELECT d.label, 'continuous', d.id, 'in_progress', d.content, 'explicit', d.one_per_user, d.allow_duplicates, d.priority,
        now(), now(), d.validity, (day + 2)::timestamp AT TIME ZONE 'UTC' + d.validity, d.ambiguity_policy, d.max_retries,
        d.retry_period_seconds, day, tracking_key_of(day), numbers, true, d.created_by
    FROM pushmta_engine.delivery d WHERE d.id = delivery
    RETURNING id INTO made;
    INSERT INTO delivery_application (delivery_id, application_id, external_account_id, prepared)
    SELECT made, a.application_id, a.external_account_id, true FROM delivery_application a WHERE a.delivery_id = delivery;
    IF numbers < 2147483647 THEN
        PERFORM take_message_ids(made, numbers);
    END IF;
    -- A counter in a row would make all who send wait for each other's commit. It may leave gaps.
    EXECUTE format('CREATE SEQUENCE pushmta_engine.%I AS integer', 'message_number_' || made);
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta_engine.open_day(bigint, bigint, boolean) IS
    'The delivery that messages of a continuous one go to now: the newest of its days, or a new one if that is of the past or '
    'its numbers are used up. Null if there is none and it cannot be made now. Callers may hold locks of a day already, so '
    'nobody waits here who has a day to go on with.';

CREATE FUNCTION pushmta_engine.tend_deliveries(most integer) RETURNS integer LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    place record;
    removed integer;
    forgotten integer;
BEGIN
    FOR place IN SELECT d.id FROM delivery d
        WHERE d.state = 'in_progress' AND d.kind = 'continuous' AND d.parent_delivery_id IS NULL ORDER BY d.id
    LOOP
        PERFORM open_day(place.id, waits => false);
    END LOOP;
    FOR place IN SELECT d.id FROM delivery d
        WHERE d.state = 'in_progress' AND d.kind = 'continuous' AND d.parent_delivery_id IS NOT NULL
            AND EXISTS (SELECT FROM delivery n WHERE n.kind = 'continuous' AND n.parent_delivery_id = d.parent_delivery_id
                AND n.id > d.id)
            AND NOT EXISTS (SELECT FROM delivery_part p WHERE p.delivery_id = d.id AND p.state <> 'done')
        ORDER BY d.id
    LOOP
        -- Who adds a message holds both locks until the end of its transaction.
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(578628450, hashint8(place.id));
        PERFORM FROM delivery d WHERE d.id = place.id AND d.state = 'in_progress' FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        -- What was added before the lock is seen by this statement only.
        CONTINUE WHEN EXISTS (SELECT FROM delivery_part p WHERE p.delivery_id = place.id AND p.state <> 'done');
        UPDATE delivery d SET state = 'finished', finished_at = now(), changed_at = now() WHERE d.id = place.id;
        PERFORM drop_message_numbers(place.id);
    END LOOP;

    WITH picked AS MATERIALIZED (
        SELECT p.id FROM delivery_part p
        WHERE p.state = 'done' AND p.valid_until IS NOT NULL AND p.rest_status IS NULL
            -- The statistics have them.
            AND p.finished_at < now() - interval '1 hour' AND p.counted
            AND (p.handed_over = 0 OR p.late_outcomes + p.resent_after_ambiguity + p.journal_replayed = 0)
            -- What is on record of lost owners, and what a retry part inherits as ambiguous, hangs on the part.
            AND NOT EXISTS (SELECT FROM delivery_part_recovery r WHERE r.part_id = p.id)
            AND NOT EXISTS (SELECT FROM delivery_part q WHERE q.parent_part_id = p.id AND q.state <> 'done')
        ORDER BY p.finished_at LIMIT most FOR UPDATE OF p SKIP LOCKED
    ), gone AS (
        DELETE FROM delivery_part p WHERE p.id = ANY(ARRAY(SELECT k.id FROM picked k)) RETURNING p.*
    ), kept AS (
        -- What a part handed over is in the size of another.
        INSERT INTO delivery_part AS f (delivery_id, application_id, external_account_id, log_day, size, sent, failed, ignored,
            not_applicable, canceled, unknown, late_outcomes, resent_after_ambiguity, journal_replayed, priority, state,
            finished_at, folded, counted)
        SELECT g.delivery_id, g.application_id, g.external_account_id, g.log_day, sum(g.size - g.handed_over), sum(g.sent),
            sum(g.failed), sum(g.ignored), sum(g.not_applicable), sum(g.canceled), sum(g.unknown), sum(g.late_outcomes),
            sum(g.resent_after_ambiguity), sum(g.journal_replayed), max(g.priority), 'done', max(g.finished_at), true, true
        FROM gone g GROUP BY 1, 2, 3, 4
        HAVING sum(g.size - g.handed_over) > 0
        ON CONFLICT (delivery_id, application_id, external_account_id) WHERE folded DO UPDATE
        SET size = f.size + excluded.size, sent = f.sent + excluded.sent, failed = f.failed + excluded.failed,
            ignored = f.ignored + excluded.ignored, not_applicable = f.not_applicable + excluded.not_applicable,
            canceled = f.canceled + excluded.canceled, unknown = f.unknown + excluded.unknown,
            late_outcomes = f.late_outcomes + excluded.late_outcomes,
            resent_after_ambiguity = f.resent_after_ambiguity + excluded.resent_after_ambiguity,
            journal_replayed = f.journal_replayed + excluded.journal_replayed, finished_at = excluded.finished_at
    )
    SELECT count(*) INTO removed FROM gone;

    WITH old AS MATERIALIZED (
        SELECT k.delivery_id, k.idempotency_key FROM message_key k WHERE k.created_at < now() - interval '48 hours'
        ORDER BY k.created_at LIMIT most FOR UPDATE SKIP LOCKED
    ), dropped AS (
        DELETE FROM message_key k USING old o WHERE k.delivery_id = o.delivery_id AND k.idempotency_key = o.idempotency_key
        RETURNING 1
    )
    SELECT count(*) INTO forgotten FROM dropped;
    RETURN removed + forgotten;
END $$;
COMMENT ON FUNCTION pushmta_engine.tend_deliveries(integer) IS
    'Looks after continuous deliveries: opens their new days, ends the old ones that have no open part, puts the sums of '
    'parts in their place that ended an hour ago, and forgets old idempotency keys. Any number of hosts may call it; it waits '
    'for nobody. Returns how many parts and keys it removed.';

CREATE FUNCTION pushmta_engine.message_addressees(delivery bigint, subscription_id bigint, user_key text, push_token text)
    RETURNS TABLE (id bigint, application_id integer, external_account_id integer, exclusion smallint)
    LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH named AS MATERIALIZED (
        SELECT s.id, s.application_id, s.exclusion, s.user_key, s.push_token, s.registered_at FROM subscription s WHERE s.id = $2
        UNION ALL
        SELECT s.id, s.application_id, s.exclusion, s.user_key, s.push_token, s.registered_at
        FROM delivery_application a
        JOIN subscription s ON s.user_key = $3 AND s.user_key <> '' AND s.application_id = a.application_id
        WHERE a.delivery_id = $1
        UNION ALL
        SELECT s.id, s.application_id, s.exclusion, s.user_key, s.push_token, s.registered_at
        FROM delivery_application a
        JOIN subscription s ON s.application_id = a.application_id AND s.push_token = $4 AND s.enabled
        WHERE a.delivery_id = $1
        UNION ALL
        SELECT s.id, s.application_id, s.exclusion, s.user_key, s.push_token, s.registered_at
        FROM delivery_application a
        JOIN subscription s ON s.application_id = a.application_id AND s.push_token = $4 AND NOT s.enabled
        WHERE a.delivery_id = $1
    ), judged AS (
        SELECT n.id, n.application_id, a.external_account_id, p.platform, p.environment, n.user_key, n.push_token, n.registered_at,
            CASE WHEN n.exclusion <> 0 THEN n.exclusion WHEN
                EXISTS (SELECT FROM delivery_exclusion_list l JOIN exclusion_entry e ON e.list_id = l.list_id
                    AND e.subscription_id = n.id WHERE l.delivery_id = $1)
                OR EXISTS (SELECT FROM delivery_exclusion_list l JOIN exclusion_entry e ON e.list_id = l.list_id
                    AND e.user_key = n.user_key WHERE l.delivery_id = $1)
                OR EXISTS (SELECT FROM delivery_exclusion_list l JOIN exclusion_entry e ON e.list_id = l.list_id
                    AND e.push_token = n.push_token WHERE l.delivery_id = $1)
                OR EXISTS (SELECT FROM pushmta.delivery_exclusion e WHERE e.delivery_id = $1 AND e.subscription_id = n.id)
                OR EXISTS (SELECT FROM pushmta.delivery_exclusion e WHERE e.delivery_id = $1 AND e.user_key = n.user_key)
                OR EXISTS (SELECT FROM pushmta.delivery_exclusion e WHERE e.delivery_id = $1 AND e.push_token = n.push_token)
            THEN 7::smallint ELSE 0::smallint END AS exclusion
        FROM named n
        JOIN delivery_application a ON a.delivery_id = $1 AND a.application_id = n.application_id
        JOIN application p ON p.id = n.application_id
    ), ranked AS (
        SELECT j.*, row_number() OVER (PARTITION BY j.exclusion = 0, j.platform, j.environment, j.push_token
                ORDER BY j.registered_at DESC, j.id DESC) AS of_token,
            row_number() OVER (PARTITION BY j.exclusion = 0 ORDER BY j.registered_at DESC, j.id DESC) AS of_user
        FROM judged j
    )
    SELECT r.id, r.application_id, r.external_account_id, r.exclusion
    FROM ranked r JOIN pushmta_engine.delivery d ON d.id = $1
    WHERE (d.allow_duplicates OR r.of_token = 1) AND ($3 IS NULL OR NOT d.one_per_user OR r.of_user = 1)
    ORDER BY r.exclusion <> 0, r.application_id, r.id LIMIT 1001;
END $$;
COMMENT ON FUNCTION pushmta_engine.message_addressees(bigint, bigint, text, text) IS
    'Whom a message of a continuous delivery goes to: subscriptions in the order of their applications, with the reason, an '
    'exclusion or 0, for which one gets nothing. Of a push token that several applications have, and of a user where the '
    'delivery says so, only the latest registered one is returned.';

CREATE FUNCTION pushmta_engine.repeated_message(delivery bigint, key text, request bytea)
    RETURNS SETOF pushmta.message_reference LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    known record;
BEGIN
    SELECT k.day_id, k.sequences, k.subscription_ids, k.request = $3 AS is_same INTO known
    FROM message_key k WHERE k.delivery_id = $1 AND k.idempotency_key = $2;
    IF NOT FOUND THEN
        RETURN;
    ELSIF NOT known.is_same THEN
        -- Without the key, which may say more than it should.
        RAISE EXCEPTION 'This idempotency key of delivery % was used with other arguments.', $1
            USING ERRCODE = 'PM063', HINT = 'Take a new key for another message.';
    END IF;
    RETURN QUERY SELECT known.day_id || '-' || u.sequence, known.day_id, u.sequence, u.subscription_id, true
        FROM unnest(known.sequences, known.subscription_ids) u(sequence, subscription_id);
END $$;
COMMENT ON FUNCTION pushmta_engine.repeated_message(bigint, text, bytea) IS
    'What was sent under an idempotency key; no row if nothing was. The same key with other arguments is an error.';

CREATE FUNCTION pushmta_engine.refuse_message(delivery bigint, found_state text) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'Delivery % is %: no message can be added to it now.', delivery, found_state
        USING ERRCODE = 'PM061', HINT = 'Messages are added to a continuous delivery in progress: start or resume it.';
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_message(bigint, text) IS
    'Refuses a message to a delivery that takes none in its state.';

-- The settings hold for every caller: plans go by index, however small a table was, and what such a plan is said to cost must
-- not have it compiled.
CREATE FUNCTION pushmta.send_message(
    delivery bigint, subscription_id bigint DEFAULT NULL, user_key text DEFAULT NULL, push_token text DEFAULT NULL,
    variables jsonb DEFAULT '{}', idempotency_key text DEFAULT NULL
) RETURNS SETOF pushmta.message_reference LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp
    SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off
    SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
    token text := CASE WHEN push_token ~ '^[0-9A-Fa-f]{64,200}$' THEN lower(push_token) ELSE push_token END;
    given jsonb := coalesce(variables, '{}');
    whole record;
    request bytea;
    ids bigint[];
    applications integer[];
    accounts integer[];
    numbers integer[];
    bar text;
    day bigint;
    place record;
    part record;
    made bigint;
BEGIN
    IF num_nonnulls(subscription_id, user_key, token) <> 1 THEN
        RAISE EXCEPTION 'A message of delivery % names its addressee in % ways.', delivery, num_nonnulls(subscription_id, user_key, token)
            USING ERRCODE = 'PM065', HINT = 'Give exactly one of subscription_id, user_key and push_token.';
    ELSIF jsonb_typeof(given) <> 'object' OR octet_length(given::text) > 16384 THEN
        RAISE EXCEPTION 'The variables of a message of delivery % are %, % bytes long.', delivery, jsonb_typeof(given),
            octet_length(given::text)
            USING ERRCODE = 'PM065', HINT = 'Give an object of at most 16,384 bytes, such as {"firstName": "Ada"}.';
    ELSIF octet_length(idempotency_key) NOT BETWEEN 1 AND 255 THEN
        RAISE EXCEPTION 'An idempotency key of delivery % has % bytes.', delivery, octet_length(idempotency_key)
            USING ERRCODE = 'PM065', HINT = 'It has 1 to 255 bytes.';
    END IF;
    SELECT d.kind, d.state, d.parent_delivery_id, d.priority, d.validity INTO whole
    FROM pushmta_engine.delivery d WHERE d.id = delivery;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no delivery %.', delivery
            USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery makes one.';
    ELSIF whole.kind <> 'continuous' OR whole.parent_delivery_id IS NOT NULL THEN
        RAISE EXCEPTION 'Delivery % is not continuous: no message can be added to it.', delivery
            USING ERRCODE = 'PM060', HINT = CASE WHEN whole.kind = 'continuous'
                THEN format('It is a day of delivery %s.', whole.parent_delivery_id)
                ELSE 'Create one and make it continuous with pushmta.make_continuous.' END;
    END IF;
    IF idempotency_key IS NOT NULL THEN
        request := sha256(convert_to(jsonb_build_array(subscription_id, user_key, token, given)::text, 'UTF8'));
        RETURN QUERY SELECT * FROM repeated_message(delivery, idempotency_key, request);
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;
    IF whole.state <> 'in_progress' THEN
        PERFORM refuse_message(delivery, whole.state);
    END IF;

    SELECT array_agg(a.id ORDER BY a.n) FILTER (WHERE a.exclusion = 0),
        array_agg(a.application_id ORDER BY a.n) FILTER (WHERE a.exclusion = 0),
        array_agg(a.external_account_id ORDER BY a.n) FILTER (WHERE a.exclusion = 0),
        (array_agg(exclusion_name(a.exclusion) ORDER BY a.id DESC) FILTER (WHERE a.exclusion <> 0))[1]
    INTO ids, applications, accounts, bar
    FROM (SELECT m.*, row_number() OVER () AS n FROM message_addressees(delivery, subscription_id, user_key, token) m) a;
    IF ids IS NULL AND bar IS NULL THEN
        -- Never the token or the user's key: messages go to logs.
        RAISE EXCEPTION 'There is no such subscription in the applications of delivery %.', delivery
            USING ERRCODE = 'PM062', HINT = 'pushmta.subscription lists them.';
    ELSIF ids IS NULL THEN
        RAISE EXCEPTION 'Nothing is sent to the addressee of a message of delivery %: %.', delivery, bar
            USING ERRCODE = 'PM064', HINT = 'pushmta.subscription says why and since when.';
    ELSIF cardinality(ids) > 1000 THEN
        RAISE EXCEPTION 'The user of a message of delivery % has more than 1,000 subscriptions.', delivery
            USING ERRCODE = 'PM065', HINT = 'Send to so many with a delivery of their own.';
    END IF;

    FOR attempt IN 1..4 LOOP
        day := open_day(delivery, used_up => day);
        IF day IS NULL THEN
            EXIT;
        END IF;
        -- As every maker of parts: behind whoever waits to pause or end it, and then holding its state as it is.
        PERFORM pg_advisory_xact_lock_shared(578628450, hashint8(day));
        SELECT d.state, d.log_day, d.target INTO place FROM pushmta_engine.delivery d WHERE d.id = day FOR KEY SHARE;
        IF place.state = 'in_progress' THEN
            numbers := ARRAY(SELECT nextval(format('pushmta_engine.%I', 'message_number_' || day)::regclass)::integer
                FROM generate_series(1, cardinality(ids)) ORDER BY 1);
            EXIT WHEN numbers[cardinality(ids)] <= place.target;
        END IF;
        numbers := NULL;
    END LOOP;
    IF numbers IS NULL THEN
        PERFORM refuse_message(delivery, coalesce(
            (SELECT nullif(d.state, 'in_progress') FROM pushmta_engine.delivery d WHERE d.id = delivery), 'changing its day'));
    END IF;

    IF idempotency_key IS NOT NULL THEN
        INSERT INTO message_key (delivery_id, idempotency_key, request, day_id, sequences, subscription_ids)
        VALUES (delivery, idempotency_key, request, day, numbers, ids)
        ON CONFLICT ON CONSTRAINT message_key_pkey DO NOTHING;
        IF NOT FOUND THEN
            -- Somebody was quicker, and has committed.
            RETURN QUERY SELECT * FROM repeated_message(delivery, idempotency_key, request);
            RETURN;
        END IF;
    END IF;
    FOR part IN SELECT u.application, u.account, array_agg(u.id ORDER BY u.n) AS ids, array_agg(u.number ORDER BY u.n) AS numbers
        FROM unnest(ids, applications, accounts, numbers) WITH ORDINALITY u(id, application, account, number, n)
        GROUP BY u.application, u.account ORDER BY min(u.n)
    LOOP
        -- Somebody waits for it, so it goes before what is merely under way, as proofs do.
        INSERT INTO delivery_part (delivery_id, application_id, external_account_id, log_day, size, priority, has_variables,
            valid_until)
        VALUES (day, part.application, part.account, place.log_day, cardinality(part.ids), greatest(whole.priority, 50::smallint),
            given <> '{}', clock_timestamp() + whole.validity)
        RETURNING id INTO made;
        INSERT INTO delivery_part_target (part_id, delivery_id, log_day, first_sequence, sequences, subscription_ids, variables)
        VALUES (made, day, place.log_day, part.numbers[1], CASE WHEN cardinality(part.ids) > 1 THEN part.numbers END, part.ids,
            nullif(given, '{}'));
    END LOOP;
    -- A notification makes commits wait for each other, so nobody is notified who looks many times a second.
    IF EXISTS (SELECT FROM mta_host h WHERE h.asleep AND h.state IN ('starting', 'running')
        AND h.last_heartbeat > clock_timestamp() - interval '15 seconds') THEN
        PERFORM pg_notify('pushmta_wake', 'message');
    END IF;
    RETURN QUERY SELECT day || '-' || u.number, day, u.number, u.id, false FROM unnest(numbers, ids) u(number, id);
END $$;
COMMENT ON FUNCTION pushmta.send_message(bigint, bigint, text, text, jsonb, text) IS
    'Adds a message to a continuous delivery in progress: to a subscription, to all of a user, or to the owner of a push '
    'token. It is ready to be sent as soon as the caller''s transaction commits; until then, pausing and stopping the '
    'delivery wait. With an idempotency key the message is made once: within 24 hours the same call returns the same message.';

CREATE VIEW pushmta.message_status AS
SELECT b.delivery_id, b.sequence, b.subscription_id, pushmta_engine.status_name(b.status) AS status,
    b.http_status, coalesce(b.reason, '') AS reason, b.gateway_message_id, b.attempt, b.logged_at, b.part_id,
    EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = d.log_day AND r.delivery_id = d.id
        AND r.sequence = b.sequence AND r.first) AS received,
    pushmta_engine.failure_type(b.failure) AS failure_type, pushmta_engine.failure_reason(b.failure) AS failure_reason,
    EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = d.log_day AND r.delivery_id = d.id
        AND r.sequence = b.sequence AND r.kind = 2 AND r.first) AS clicked,
    b.delivery_id || '-' || b.sequence AS message_id
FROM pushmta_engine.delivery d
JOIN pushmta_engine.broad_log b ON b.log_day = d.log_day AND b.delivery_id = d.id
UNION ALL
SELECT p.delivery_id, m.sequence, u.subscription_id, pushmta_engine.status_name(coalesce(p.rest_status, 6::smallint)),
    0::smallint, coalesce(p.rest_reason, ''), NULL, p.attempt, CASE WHEN p.state = 'done' THEN p.finished_at END, p.id,
    EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = p.log_day AND r.delivery_id = p.delivery_id
        AND r.sequence = m.sequence AND r.first), NULL, NULL,
    EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = p.log_day AND r.delivery_id = p.delivery_id
        AND r.sequence = m.sequence AND r.kind = 2 AND r.first),
    p.delivery_id || '-' || m.sequence
FROM pushmta_engine.delivery_part p
JOIN pushmta_engine.delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
CROSS JOIN LATERAL unnest(t.subscription_ids, t.sequences) WITH ORDINALITY u(subscription_id, sequence, n)
CROSS JOIN LATERAL (SELECT coalesce(u.sequence, t.first_sequence + u.n::integer - 1) AS sequence) m
WHERE (p.state <> 'done' OR p.rest_status IS NOT NULL)
    AND NOT EXISTS (SELECT FROM pushmta_engine.broad_log b
        WHERE b.log_day = p.log_day AND b.delivery_id = p.delivery_id AND b.sequence = m.sequence);
COMMENT ON VIEW pushmta.message_status IS
    'Every message of a delivery with its outcome, and the id by which send_message names it; those without an outcome are '
    'read out of the frozen targets of its parts.';

CREATE FUNCTION pushmta.find_message(message_id text) RETURNS SETOF pushmta.message_status LANGUAGE plpgsql STABLE
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    words text[] := regexp_match(message_id, '^([0-9]{1,18})-([0-9]{1,10})$');
BEGIN
    IF words[2]::bigint <= 2147483647 THEN
        RETURN QUERY SELECT * FROM pushmta.message_status m
            WHERE m.delivery_id = words[1]::bigint AND m.sequence = words[2]::bigint::integer;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta.find_message(text) IS
    'One message by the id that send_message returned and pushmta.message_status shows.';
