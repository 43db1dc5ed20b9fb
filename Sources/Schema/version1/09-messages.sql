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
    'A message that send_message created, or had created before under the same idempotency key (repeated).';

CREATE TYPE pushmta.sent_message AS (
    element integer, message_id text, delivery_id bigint, sequence integer, subscription_id bigint, repeated boolean,
    refusal text, reason text);
COMMENT ON TYPE pushmta.sent_message IS
    'The result for one element of the arrays of send_messages, numbered from 1: a message, or the SQLSTATE with which send_message would '
    'have refused it, and the reason.';

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
    PERFORM refuse_recall_change(delivery);
    SELECT d.proof, d.target_filter IS NOT NULL OR d.target_sql IS NOT NULL OR d.seed_names IS DISTINCT FROM '{}'
        OR EXISTS (SELECT FROM pushmta.delivery_target t WHERE t.delivery_id = d.id) AS has_target
    INTO whole FROM pushmta_engine.delivery d WHERE d.id = delivery;
    IF whole.proof OR whole.has_target THEN
        RAISE EXCEPTION 'Delivery % is a proof, or has a filter, targets or seed addresses, and cannot be made continuous.', delivery
            USING ERRCODE = 'PM007', HINT = 'Name the addressee in each call of pushmta.send_message.';
    END IF;
    UPDATE pushmta_engine.delivery d SET kind = 'continuous', target_kind = 'explicit', changed_at = now() WHERE d.id = delivery;
    RETURN delivery;
END $$;
COMMENT ON FUNCTION pushmta.make_continuous(bigint) IS 'Makes a delivery continuous, unless it was started, and returns its id.';

CREATE FUNCTION pushmta_engine.make_day(delivery bigint, day date) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    -- A day of a delivery with int32 numbers reserves a million of them: enough for 2,147 days before the numbers start over.
    numbers integer := 2147483647;
    made bigint;
BEGIN
    PERFORM ensure_partitions(day, day);
    IF EXISTS (SELECT FROM delivery_application a JOIN application p ON p.id = a.application_id
        WHERE a.delivery_id = delivery AND p.message_id_format = 'int32') THEN
        numbers := 1000000;
    END IF;
    INSERT INTO pushmta_engine.delivery (label, kind, parent_delivery_id, state, content, target_kind, one_per_user,
        allow_duplicates, priority, start_at, started_at, validity, valid_until, ambiguity_policy, max_retries,
        retry_period_seconds, log_day, target, prepared, one_time_code, category_id, has_exclusions, created_by)
    -- Long enough for the whole validity of a message sent at the day's last moment, or after a clock was set back.
    SELECT d.label, 'continuous', d.id, 'in_progress', d.content, 'explicit', d.one_per_user, d.allow_duplicates, d.priority,
        now(), now(), d.validity, (day + 2)::timestamp AT TIME ZONE 'UTC' + d.validity, d.ambiguity_policy, d.max_retries,
        d.retry_period_seconds, day, numbers, true, d.one_time_code, d.category_id,
        EXISTS (SELECT FROM delivery_exclusion_list l WHERE l.delivery_id = delivery)
            OR EXISTS (SELECT FROM pushmta.delivery_exclusion e WHERE e.delivery_id = delivery)
            OR EXISTS (SELECT FROM control_of(delivery)), d.created_by
    FROM pushmta_engine.delivery d WHERE d.id = delivery
    RETURNING id INTO made;
    INSERT INTO delivery_application (delivery_id, application_id, external_account_id, prepared)
    SELECT made, a.application_id, a.external_account_id, true FROM delivery_application a WHERE a.delivery_id = delivery;
    IF numbers < 2147483647 THEN
        PERFORM take_message_ids(made, numbers);
    END IF;
    -- A sequence, because a counter in a row would make all senders wait for each other's commit. It may leave gaps.
    EXECUTE format('CREATE SEQUENCE pushmta_engine.%I AS integer', 'message_number_' || made);
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta_engine.make_day(bigint, date) IS
    'Creates a day of a continuous delivery, with the counter of its numbers, and returns it. The caller has locked the delivery.';

CREATE FUNCTION pushmta_engine.open_day(delivery bigint, used_up bigint DEFAULT NULL, waits boolean DEFAULT true) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    day date := message_day();
    newest record;
    -- A session that creates a day first locks the row of this application.
    door integer := (SELECT min(a.application_id) FROM delivery_application a WHERE a.delivery_id = delivery);
BEGIN
    FOR look IN 1..2 LOOP
        SELECT d.id, d.log_day INTO newest FROM pushmta_engine.delivery d
        WHERE d.kind = 'continuous' AND d.parent_delivery_id = delivery ORDER BY d.id DESC LIMIT 1;
        IF newest.id IS DISTINCT FROM used_up AND newest.log_day >= day THEN
            RETURN newest.id;
        ELSIF look = 2 THEN
            EXIT;
        ELSIF waits AND (newest.id IS NULL OR newest.id = used_up) THEN
            -- Not the delivery's row: a session that pauses the delivery waits for the day, which the caller may already hold.
            PERFORM FROM delivery_application a WHERE a.delivery_id = delivery AND a.application_id = door FOR NO KEY UPDATE;
        ELSE
            PERFORM FROM delivery_application a WHERE a.delivery_id = delivery AND a.application_id = door
                FOR NO KEY UPDATE SKIP LOCKED;
            IF NOT FOUND THEN
                RETURN newest.id;
            END IF;
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
    RETURN make_day(delivery, day);
END $$;
COMMENT ON FUNCTION pushmta_engine.open_day(bigint, bigint, boolean) IS
    'Returns the delivery that messages of a continuous delivery now go to: its newest day, or a new one if the newest is in the past or '
    'its numbers are used up. Null if there is none and none can be created now. A caller may already hold locks of a day, so it waits '
    'here only if there is no day to use.';

CREATE FUNCTION pushmta_engine.end_old_days() RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    place record;
BEGIN
    FOR place IN SELECT d.id FROM delivery d
        WHERE d.state = 'in_progress' AND d.kind = 'continuous' AND d.parent_delivery_id IS NOT NULL
            AND EXISTS (SELECT FROM delivery n WHERE n.kind = 'continuous' AND n.parent_delivery_id = d.parent_delivery_id
                AND n.id > d.id)
            AND NOT EXISTS (SELECT FROM delivery_part p WHERE p.delivery_id = d.id AND p.state <> 'done')
        ORDER BY d.id
    LOOP
        -- A session that adds a message holds the day until the end of its transaction.
        CONTINUE WHEN NOT try_day(place.id);
        PERFORM FROM delivery d WHERE d.id = place.id AND d.state = 'in_progress' FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        -- Only this statement sees what was added before the lock.
        CONTINUE WHEN EXISTS (SELECT FROM delivery_part p WHERE p.delivery_id = place.id AND p.state <> 'done');
        UPDATE delivery d SET state = 'finished', finished_at = now(), changed_at = now() WHERE d.id = place.id;
    END LOOP;
    -- No session that adds messages still remembers the day before yesterday and waits for its lock.
    FOR place IN SELECT c.id FROM (SELECT substr(c.relname, 16)::bigint AS id FROM pg_class c
            WHERE c.relnamespace = 'pushmta_engine'::regnamespace AND c.relkind = 'S' AND c.relname ~ '^message_number_[0-9]{1,18}$') c
        LEFT JOIN delivery d ON d.id = c.id
        WHERE d.id IS NULL OR d.state IN ('finished', 'stopped', 'recalled') AND d.log_day < message_day() - 2
    LOOP
        IF try_day(place.id) THEN
            PERFORM drop_message_numbers(place.id);
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta_engine.end_old_days() IS
    'Ends days of continuous deliveries that have a newer day and no open parts, and drops the counters of days that ended long ago. It '
    'never waits.';

CREATE FUNCTION pushmta_engine.fold_parts(most integer) RETURNS integer LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    removed integer;
BEGIN
    WITH picked AS MATERIALIZED (
        SELECT p.id FROM delivery_part p
        WHERE p.state = 'done' AND p.valid_until IS NOT NULL AND p.rest_status IS NULL
            -- The statistics have counted them.
            AND p.finished_at < now() - interval '1 hour' AND p.counted
            AND (p.handed_over = 0 OR p.late_outcomes + p.resent_after_ambiguity + p.journal_replayed = 0)
            -- The records of lost owners, and the ambiguous messages that a retry part inherits, refer to the part.
            AND NOT EXISTS (SELECT FROM delivery_part_recovery r WHERE r.part_id = p.id)
            AND NOT EXISTS (SELECT FROM delivery_part q WHERE q.parent_part_id = p.id AND q.state <> 'done')
        ORDER BY p.finished_at LIMIT most FOR UPDATE OF p SKIP LOCKED
    ), gone AS (
        DELETE FROM delivery_part p WHERE p.id = ANY(ARRAY(SELECT k.id FROM picked k)) RETURNING p.*
    ), kept AS (
        -- Messages that a part handed over are in the size of another part.
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
    RETURN removed;
END $$;
COMMENT ON FUNCTION pushmta_engine.fold_parts(integer) IS
    'Folds up to the given number of parts of continuous deliveries that ended an hour ago into one part for each day, application and '
    'account; returns how many. It never waits.';

CREATE FUNCTION pushmta_engine.maintain_continuous_deliveries(most integer) RETURNS integer LANGUAGE plpgsql
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
    -- A control group may have begun while a day was made.
    PERFORM ask_for_messages(waits => false);
    PERFORM end_old_days();
    removed := fold_parts(most);
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
COMMENT ON FUNCTION pushmta_engine.maintain_continuous_deliveries(integer) IS
    'Maintains continuous deliveries: creates their new days, ends old days without open parts, folds parts that ended an hour ago into '
    'sums, and deletes old idempotency keys. Any number of hosts may call it; it never waits. Returns how many parts and keys it removed.';

-- Returns a set and sets no search path, so that the planner inlines it into the calling statement.
CREATE FUNCTION pushmta_engine.named_subscriptions(delivery bigint, subscription_ids bigint[], user_keys text[], push_tokens text[])
    RETURNS TABLE (n bigint, by_user boolean, id bigint, application_id integer, exclusion smallint, enabled boolean,
        quarantine_status smallint, user_key text, push_token text, registered_at timestamptz) LANGUAGE sql STABLE
    BEGIN ATOMIC
        SELECT u.n, false, s.id, s.application_id, s.exclusion, s.enabled, s.quarantine_status, s.user_key, s.push_token, s.registered_at
        FROM unnest(subscription_ids) WITH ORDINALITY u(subscription_id, n) JOIN pushmta_engine.subscription s ON s.id = u.subscription_id
        UNION ALL
        SELECT u.n, true, s.id, s.application_id, s.exclusion, s.enabled, s.quarantine_status, s.user_key, s.push_token, s.registered_at
        FROM unnest(user_keys) WITH ORDINALITY u(user_key, n)
        JOIN pushmta_engine.delivery_application a ON a.delivery_id = delivery
        JOIN pushmta_engine.subscription s ON s.user_key = u.user_key AND s.user_key <> '' AND s.application_id = a.application_id
        UNION ALL
        SELECT u.n, false, s.id, s.application_id, s.exclusion, s.enabled, s.quarantine_status, s.user_key, s.push_token, s.registered_at
        FROM unnest(push_tokens) WITH ORDINALITY u(push_token, n)
        JOIN pushmta_engine.delivery_application a ON a.delivery_id = delivery
        JOIN pushmta_engine.subscription s ON s.application_id = a.application_id AND s.push_token = u.push_token AND s.enabled
        UNION ALL
        SELECT u.n, false, s.id, s.application_id, s.exclusion, s.enabled, s.quarantine_status, s.user_key, s.push_token, s.registered_at
        FROM unnest(push_tokens) WITH ORDINALITY u(push_token, n)
        JOIN pushmta_engine.delivery_application a ON a.delivery_id = delivery
        JOIN pushmta_engine.subscription s ON s.application_id = a.application_id AND s.push_token = u.push_token AND NOT s.enabled;
    END;
COMMENT ON FUNCTION pushmta_engine.named_subscriptions(bigint, bigint[], text[], text[]) IS
    'The subscriptions that elements of the arrays name, whether or not anything may be sent to them. Users and push tokens are looked up '
    'in the applications of a delivery.';

-- These settings apply to every caller, here and below: plans use indexes even if a table was small when they were made, and their
-- estimated cost must not trigger JIT compilation.
CREATE FUNCTION pushmta_engine.message_addressees(delivery bigint, subscription_ids bigint[], user_keys text[], push_tokens text[])
    RETURNS TABLE (element integer, id bigint, application_id integer, external_account_id integer, exclusion smallint)
    LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off
    SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    is_code boolean;
    -- Those of its services that somebody opted out of.
    categories integer[];
    has_control boolean := EXISTS (SELECT FROM control_of($1));
    excludes boolean := EXISTS (SELECT FROM delivery_exclusion_list l WHERE l.delivery_id = $1)
        OR EXISTS (SELECT FROM pushmta.delivery_exclusion e WHERE e.delivery_id = $1);
BEGIN
    SELECT d.one_time_code, CASE WHEN NOT d.one_time_code THEN ARRAY(
        SELECT k.id FROM (SELECT DISTINCT x.category_id AS id FROM delivery_application x WHERE x.delivery_id = $1) k
        WHERE EXISTS (SELECT FROM category_opt_out c WHERE c.category_id = k.id)) END
    INTO is_code, categories FROM pushmta_engine.delivery d WHERE d.id = $1;
    RETURN QUERY
    WITH named AS MATERIALIZED (
        SELECT s.* FROM named_subscriptions($1, $2, $3, $4) s
    ), weighed AS (
        SELECT m.n, m.by_user, m.id, m.application_id, m.user_key, m.push_token, m.registered_at,
            CASE WHEN is_code THEN code_exclusion(m.exclusion, m.enabled, m.quarantine_status) ELSE m.exclusion END AS exclusion
        FROM named m
    ), judged AS (
        SELECT n.n, n.by_user, n.id, n.application_id, a.external_account_id, p.platform, p.environment, n.push_token, n.registered_at,
            CASE WHEN n.exclusion <> 0 THEN n.exclusion
                WHEN categories <> '{}' AND (SELECT true FROM category_opt_out c
                    WHERE c.category_id = ANY(categories) AND c.subscription_id = n.id LIMIT 1) THEN 11::smallint
                WHEN has_control AND EXISTS (SELECT FROM control_of($1) g WHERE g.application_id = n.application_id
                    AND person_share(coalesce(nullif(n.user_key, ''), n.id::text), g.seed) < g.share) THEN 12::smallint
                WHEN NOT excludes THEN 0::smallint WHEN
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
        FROM weighed n
        JOIN delivery_application a ON a.delivery_id = $1 AND a.application_id = n.application_id
        JOIN application p ON p.id = n.application_id
    ), ranked AS (
        SELECT j.*, row_number() OVER (PARTITION BY j.n, j.exclusion = 0, j.platform, j.environment, j.push_token
                ORDER BY j.registered_at DESC, j.id DESC) AS of_token,
            row_number() OVER (PARTITION BY j.n, j.exclusion = 0 ORDER BY j.registered_at DESC, j.id DESC) AS of_user
        FROM judged j
    )
    SELECT r.n::integer, r.id, r.application_id, r.external_account_id, r.exclusion
    FROM ranked r
    JOIN pushmta_engine.delivery d ON d.id = $1
    WHERE (d.allow_duplicates OR r.of_token = 1) AND (NOT r.by_user OR NOT d.one_per_user OR r.of_user = 1);
END $$;
COMMENT ON FUNCTION pushmta_engine.message_addressees(bigint, bigint[], text[], text[]) IS
    'The subscriptions that messages of a continuous delivery go to, for each element of the arrays, each with the exclusion that bars '
    'it, or 0. If several applications have a push token, returns only the subscription registered last; likewise for a user, if the '
    'delivery says so.';

CREATE FUNCTION pushmta_engine.message_request(subscription_id bigint, user_key text, push_token text, variables jsonb) RETURNS bytea
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN sha256(convert_to(jsonb_build_array(subscription_id, user_key, push_token, variables)::text, 'UTF8'));
COMMENT ON FUNCTION pushmta_engine.message_request(bigint, text, text, jsonb) IS
    'The hash of the arguments of a message; equal for equal messages.';

CREATE FUNCTION pushmta_engine.check_messages(delivery bigint, subscription_ids bigint[], user_keys text[], push_tokens text[],
    variables jsonb[], idempotency_keys text[], single boolean) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    wrong record;
    whose text;
BEGIN
    SELECT u.n, num_nonnulls(u.subscription_id, u.user_key, u.push_token) AS ways, jsonb_typeof(u.given) AS kind,
        octet_length(u.given::text) AS bytes, octet_length(u.key) AS key_bytes
    INTO wrong
    FROM unnest(subscription_ids, user_keys, push_tokens, variables, idempotency_keys)
        WITH ORDINALITY u(subscription_id, user_key, push_token, given, key, n)
    WHERE num_nonnulls(u.subscription_id, u.user_key, u.push_token) <> 1 OR jsonb_typeof(u.given) <> 'object'
        OR octet_length(u.given::text) > 16384 OR octet_length(u.key) NOT BETWEEN 1 AND 255
    ORDER BY u.n LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    whose := CASE WHEN single THEN format('a message of delivery %s', delivery)
        ELSE format('message %s of a call for delivery %s', wrong.n, delivery) END;
    IF wrong.ways <> 1 THEN
        RAISE EXCEPTION 'The addressee of % is named in % ways.', whose, wrong.ways
            USING ERRCODE = 'PM065', HINT = 'Give exactly one of subscription_id, user_key and push_token.';
    ELSIF wrong.kind <> 'object' OR wrong.bytes > 16384 THEN
        RAISE EXCEPTION 'The variables of % are %, % bytes long.', whose, wrong.kind, wrong.bytes
            USING ERRCODE = 'PM065', HINT = 'Give an object of at most 16,384 bytes, such as {"firstName": "Ada"}.';
    END IF;
    RAISE EXCEPTION 'The idempotency key of % has % bytes.', whose, wrong.key_bytes
        USING ERRCODE = 'PM065', HINT = 'Give a key of 1 to 255 bytes.';
END $$;
COMMENT ON FUNCTION pushmta_engine.check_messages(bigint, bigint[], text[], text[], jsonb[], text[], boolean) IS
    'Raises an error if an element is not a valid message, and names the element unless there is only one.';

CREATE FUNCTION pushmta_engine.refuse_delivery(delivery bigint, found_kind text, parent bigint) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    IF found_kind IS NULL THEN
        RAISE EXCEPTION 'There is no delivery %.', delivery
            USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery creates one.';
    END IF;
    RAISE EXCEPTION 'Delivery % is not continuous: no message can be added to it.', delivery
        USING ERRCODE = 'PM060', HINT = CASE WHEN found_kind = 'continuous' THEN format('It is a day of delivery %s.', parent)
            ELSE 'Create one and make it continuous with pushmta.make_continuous.' END;
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_delivery(bigint, text, bigint) IS
    'Raises an error for a message to a delivery that does not exist (found_kind is null) or is not continuous.';

CREATE FUNCTION pushmta_engine.refuse_message(delivery bigint, found_state text) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'Delivery % is %: no message can be added to it now.', delivery, found_state
        USING ERRCODE = 'PM061', HINT = 'Messages are added to a continuous delivery in progress: start or resume it.';
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_message(bigint, text) IS
    'Raises an error for a message to a delivery whose state does not allow new messages.';

CREATE FUNCTION pushmta_engine.refuse_key(delivery bigint) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    -- The message does not repeat the key, which may hold sensitive data.
    RAISE EXCEPTION 'This idempotency key of delivery % was used with other arguments.', delivery
        USING ERRCODE = 'PM063', HINT = 'Use a new key for another message.';
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_key(bigint) IS 'Raises an error for an idempotency key that another message has used.';

CREATE FUNCTION pushmta_engine.take_message_numbers(delivery bigint, needed integer, OUT day_id bigint, OUT log_day date,
    OUT numbers integer[]) LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_variable
DECLARE
    place record;
    counter regclass;
    last bigint;
BEGIN
    FOR attempt IN 1..4 LOOP
        day_id := open_day(delivery, used_up => day_id);
        IF day_id IS NULL THEN
            EXIT;
        END IF;
        -- Reading the sequence waits for sessions that want to pause or end the day, and then keeps its state as it is: see
        -- lock_day.
        counter := to_regclass('pushmta_engine.message_number_' || day_id);
        last := pg_sequence_last_value(counter);
        SELECT d.state, d.log_day, d.target INTO place FROM pushmta_engine.delivery d WHERE d.id = day_id;
        IF place.state = 'in_progress' AND coalesce(last, 0) < place.target THEN
            numbers := ARRAY(SELECT nextval(counter)::integer FROM generate_series(1, needed) ORDER BY 1);
            IF numbers[needed] <= place.target THEN
                log_day := place.log_day;
                RETURN;
            END IF;
        END IF;
    END LOOP;
    PERFORM refuse_message(delivery, coalesce(
        (SELECT nullif(d.state, 'in_progress') FROM pushmta_engine.delivery d WHERE d.id = delivery), 'changing its day'));
END $$;
COMMENT ON FUNCTION pushmta_engine.take_message_numbers(bigint, integer) IS
    'Returns the day that messages of a continuous delivery go to, and takes this many of its numbers, in rising order. No other session '
    'can end, pause or stop the day until the transaction ends.';

CREATE FUNCTION pushmta_engine.unsent_messages(delivery bigint, idempotency_keys text[], requests bytea[], firsts bigint[],
    sent integer[], barred integer[], bars smallint[], elements integer) RETURNS SETOF pushmta.sent_message LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_variable
BEGIN
    RETURN QUERY
    SELECT o.n, CASE WHEN o.refusal IS NULL THEN o.day_id || '-' || m.sequence END, CASE WHEN o.refusal IS NULL THEN o.day_id END,
        m.sequence, m.subscription_id, o.refusal IS NULL, o.refusal, o.reason
    FROM (
        SELECT g.n, k.day_id, k.sequences, k.subscription_ids,
            CASE WHEN k.request = e.request THEN NULL WHEN k.request IS NOT NULL THEN 'PM063' WHEN b.bar = 0 THEN 'PM065'
                WHEN b.bar IS NOT NULL THEN 'PM064' ELSE 'PM062' END AS refusal,
            CASE WHEN k.request = e.request THEN NULL WHEN k.request IS NOT NULL THEN 'key_of_another_message'
                WHEN b.bar = 0 THEN 'too_many_subscriptions' ELSE exclusion_name(coalesce(b.bar, 6::smallint)) END AS reason
        FROM generate_series(1, elements) g(n)
        LEFT JOIN unnest(idempotency_keys, requests, firsts) WITH ORDINALITY e(key, request, first, n) ON e.n = g.n
        LEFT JOIN LATERAL (SELECT r.request, r.day_id, r.sequences, r.subscription_ids FROM message_key r
            WHERE r.delivery_id = delivery AND r.idempotency_key = e.key LIMIT 1) k ON true
        LEFT JOIN unnest(barred, bars) b(element, bar) ON b.element = coalesce(e.first, g.n)
        WHERE NOT EXISTS (SELECT FROM unnest(sent) s(element) WHERE s.element = g.n)
    ) o
    LEFT JOIN LATERAL unnest(o.sequences, o.subscription_ids) m(sequence, subscription_id) ON o.refusal IS NULL
    ORDER BY o.n, m.sequence;
END $$;
COMMENT ON FUNCTION pushmta_engine.unsent_messages(bigint, text[], bytea[], bigint[], integer[], integer[], smallint[], integer) IS
    'The results for the elements that created no message: those sent before under the same key, and those refused.';

-- Four parts of add_messages, whose settings hold in them, too. message_requests and message_targets return a set and set no search
-- path, so that the planner inlines them into the calling statements.
CREATE FUNCTION pushmta_engine.message_requests(delivery bigint, subscription_ids bigint[], user_keys text[], push_tokens text[],
    variables jsonb[], idempotency_keys text[]) RETURNS TABLE (wanted boolean[], requests bytea[], firsts bigint[],
    wanted_ids bigint[], wanted_users text[], wanted_tokens text[]) LANGUAGE sql STABLE
    BEGIN ATOMIC
        SELECT array_agg(w.wanted ORDER BY w.n), array_agg(w.request ORDER BY w.n), array_agg(w.first ORDER BY w.n),
            array_agg(CASE WHEN w.wanted THEN w.subscription_id END ORDER BY w.n),
            array_agg(CASE WHEN w.wanted THEN w.user_key END ORDER BY w.n),
            array_agg(CASE WHEN w.wanted THEN w.push_token END ORDER BY w.n)
        FROM (SELECT e.*, e.key IS NULL OR e.first = e.n AND e.known IS NULL AS wanted
            FROM (SELECT u.*, CASE WHEN u.key IS NOT NULL THEN min(u.n) OVER (PARTITION BY u.key) END AS first, k.known, CASE
                    WHEN u.key IS NOT NULL THEN pushmta_engine.message_request(u.subscription_id, u.user_key, u.push_token, u.given)
                    END AS request
                FROM unnest(subscription_ids, user_keys, push_tokens, variables, idempotency_keys)
                    WITH ORDINALITY u(subscription_id, user_key, push_token, given, key, n)
                LEFT JOIN LATERAL (SELECT true AS known FROM pushmta_engine.message_key m
                    WHERE m.delivery_id = delivery AND m.idempotency_key = u.key LIMIT 1) k ON true) e) w;
    END;
COMMENT ON FUNCTION pushmta_engine.message_requests(bigint, bigint[], text[], text[], jsonb[], text[]) IS
    'For each element, some of which have keys: whether it may create messages, and, if it has a key, the hash of its arguments and the '
    'first element with that key. Also the addressees of the elements that may.';

CREATE FUNCTION pushmta_engine.message_targets(delivery bigint, subscription_ids bigint[], user_keys text[], push_tokens text[])
    RETURNS TABLE (elements integer[], ids bigint[], applications integer[], accounts integer[], barred integer[], bars smallint[])
    LANGUAGE sql STABLE
    BEGIN ATOMIC
        SELECT array_agg(a.element ORDER BY a.application_id, a.external_account_id, a.element, a.id) FILTER (WHERE a.goes),
            array_agg(a.id ORDER BY a.application_id, a.external_account_id, a.element, a.id) FILTER (WHERE a.goes),
            array_agg(a.application_id ORDER BY a.application_id, a.external_account_id, a.element, a.id) FILTER (WHERE a.goes),
            array_agg(a.external_account_id ORDER BY a.application_id, a.external_account_id, a.element, a.id) FILTER (WHERE a.goes),
            array_agg(a.element) FILTER (WHERE a.bar IS NOT NULL), array_agg(a.bar) FILTER (WHERE a.bar IS NOT NULL)
        FROM (SELECT x.*, x.exclusion = 0 AND x.reached <= 1000 AS goes,
                CASE WHEN x.reached > 1000 AND x.place = 1 THEN 0::smallint
                    WHEN x.reached = 0 AND x.place = 1 THEN x.exclusion END AS bar
            FROM (SELECT m.*, count(*) FILTER (WHERE m.exclusion = 0) OVER (PARTITION BY m.element) AS reached,
                    row_number() OVER (PARTITION BY m.element ORDER BY m.id DESC) AS place
                FROM pushmta_engine.message_addressees(delivery, subscription_ids, user_keys, push_tokens) m) x) a;
    END;
COMMENT ON FUNCTION pushmta_engine.message_targets(bigint, bigint[], text[], text[]) IS
    'The messages of a call, one entry for each in the first four arrays, and the elements that reach a subscription, but nothing may be '
    'sent to it, with what bars them (0: they reach more than 1,000 subscriptions).';

CREATE FUNCTION pushmta_engine.keep_message_keys(delivery bigint, day_id bigint, idempotency_keys text[], requests bytea[],
    elements integer[], ids bigint[], numbers integer[]) RETURNS integer[] LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    lost integer[];
BEGIN
    WITH kept AS (
        INSERT INTO message_key (delivery_id, idempotency_key, request, day_id, sequences, subscription_ids)
        SELECT delivery, k.key, k.request, day_id, array_agg(u.number ORDER BY u.number),
            array_agg(u.id ORDER BY u.number)
        FROM unnest(elements, ids, numbers) u(element, id, number)
        JOIN unnest(idempotency_keys, requests) WITH ORDINALITY k(key, request, n) ON k.n = u.element
        WHERE k.key IS NOT NULL GROUP BY k.key, k.request ORDER BY k.key
        ON CONFLICT ON CONSTRAINT message_key_pkey DO NOTHING RETURNING idempotency_key AS key
    )
    -- Keys that another session was quicker to use, and has committed.
    SELECT array_agg(k.n::integer) INTO lost
    FROM unnest(idempotency_keys) WITH ORDINALITY k(key, n)
    WHERE EXISTS (SELECT FROM unnest(elements) e(element) WHERE e.element = k.n) AND k.key IS NOT NULL
        AND NOT EXISTS (SELECT FROM kept o WHERE o.key = k.key);
    RETURN lost;
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_message_keys(bigint, bigint, text[], bytea[], integer[], bigint[], integer[]) IS
    'Stores the idempotency keys of messages. Returns the elements whose keys another session has used meanwhile.';

CREATE FUNCTION pushmta_engine.add_message_parts(day_id bigint, log_day date, priority smallint, validity interval, elements integer[],
    ids bigint[], applications integer[], accounts integer[], numbers integer[], variables jsonb[]) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    -- Parts of the same size as preparation creates.
    WITH cut AS (
        SELECT u.*, (row_number() OVER (PARTITION BY u.application, u.account ORDER BY u.n) - 1) / 1000 AS piece
        FROM unnest(elements, ids, applications, accounts, numbers)
            WITH ORDINALITY u(element, id, application, account, number, n)
    ), part AS MATERIALIZED (
        SELECT nextval('pushmta_engine.delivery_part_id_seq') AS id, q.*,
            coalesce(q.given <> '{}', true) AS has_variables
        FROM (SELECT c.application, c.account, count(*)::integer AS size, array_agg(c.id ORDER BY c.n) AS ids,
                array_agg(c.number ORDER BY c.n) AS numbers,
                CASE WHEN min(c.element) = max(c.element) OR bool_and(g.given = '{}') THEN (array_agg(g.given))[1] END AS given,
                array_agg(g.given ORDER BY c.n) AS each_given
            FROM cut c JOIN unnest(variables) WITH ORDINALITY g(given, n) ON g.n = c.element
            GROUP BY c.application, c.account, c.piece ORDER BY min(c.n)) q
    ), made AS (
        -- A person waits for the message, so it has priority over deliveries that are merely under way, as proofs do.
        INSERT INTO delivery_part (id, delivery_id, application_id, external_account_id, log_day, size, priority, has_variables,
            valid_until)
        SELECT p.id, day_id, p.application, p.account, log_day, p.size, greatest(priority, 50::smallint),
            p.has_variables, clock_timestamp() + validity
        FROM part p
    )
    INSERT INTO delivery_part_target (part_id, delivery_id, log_day, first_sequence, last_sequence, sequences, subscription_ids,
        variables, message_variables)
    SELECT p.id, day_id, log_day, p.numbers[1], p.numbers[p.size],
        CASE WHEN p.numbers[p.size] - p.numbers[1] >= p.size THEN p.numbers END, p.ids, nullif(p.given, '{}'),
        CASE WHEN p.given IS NULL THEN p.each_given END
    FROM part p;
    -- Once, however many messages there are, and only if a host sleeps, as in send_message.
    IF EXISTS (SELECT FROM mta_host h WHERE h.asleep AND h.state IN ('starting', 'running')
        AND h.last_heartbeat > clock_timestamp() - interval '15 seconds') THEN
        PERFORM pg_notify('pushmta_wake', 'message');
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.add_message_parts(bigint, date, smallint, interval, integer[], bigint[], integer[], integer[], integer[],
    jsonb[]) IS
    'Creates the parts of messages, one entry for each in the arrays, except that variables has one for each element.';

-- Arrays are joined with each other here, so hash joins stay enabled. Look-ups in tables are made one by one.
CREATE FUNCTION pushmta_engine.add_messages(delivery bigint, subscription_ids bigint[], user_keys text[], push_tokens text[],
    variables jsonb[], idempotency_keys text[]) RETURNS SETOF pushmta.sent_message LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
    whole record;
    is_keyed boolean := EXISTS (SELECT FROM unnest(idempotency_keys) u(key) WHERE u.key IS NOT NULL);
    wanted boolean[];
    requests bytea[];
    firsts bigint[];
    elements integer[];
    ids bigint[];
    applications integer[];
    accounts integer[];
    barred integer[];
    bars smallint[];
    place record;
    lost integer[];
BEGIN
    SELECT d.kind, d.state, d.parent_delivery_id, d.priority, d.validity INTO whole
    FROM pushmta_engine.delivery d WHERE d.id = delivery;
    IF whole.kind IS DISTINCT FROM 'continuous' OR whole.parent_delivery_id IS NOT NULL THEN
        PERFORM refuse_delivery(delivery, whole.kind, whole.parent_delivery_id);
    END IF;
    IF is_keyed THEN
        SELECT r.* INTO wanted, requests, firsts, subscription_ids, user_keys, push_tokens
        FROM message_requests(delivery, subscription_ids, user_keys, push_tokens, variables, idempotency_keys) r;
    END IF;
    IF whole.state <> 'in_progress' AND (NOT is_keyed OR true = ANY(wanted)) THEN
        PERFORM refuse_message(delivery, whole.state);
    END IF;
    SELECT t.* INTO elements, ids, applications, accounts, barred, bars
    FROM message_targets(delivery, subscription_ids, user_keys, push_tokens) t;
    IF ids IS NOT NULL THEN
        SELECT t.day_id, t.log_day, t.numbers INTO place FROM take_message_numbers(delivery, cardinality(ids)) t;
        IF is_keyed THEN
            lost := keep_message_keys(delivery, place.day_id, idempotency_keys, requests, elements, ids, place.numbers);
            IF lost IS NOT NULL THEN
                SELECT array_agg(u.element ORDER BY u.n), array_agg(u.id ORDER BY u.n), array_agg(u.application ORDER BY u.n),
                    array_agg(u.account ORDER BY u.n), array_agg(u.number ORDER BY u.n)
                INTO elements, ids, applications, accounts, place.numbers
                FROM unnest(elements, ids, applications, accounts, place.numbers)
                    WITH ORDINALITY u(element, id, application, account, number, n)
                WHERE NOT EXISTS (SELECT FROM unnest(lost) l(element) WHERE l.element = u.element);
            END IF;
        END IF;
        PERFORM add_message_parts(place.day_id, place.log_day, whole.priority, whole.validity, elements, ids, applications, accounts,
            place.numbers, variables);
        RETURN QUERY SELECT u.element, place.day_id || '-' || u.number, place.day_id, u.number, u.id, false, NULL::text, NULL::text
            FROM unnest(elements, ids, place.numbers) WITH ORDINALITY u(element, id, number, n);
    END IF;
    IF cardinality(subscription_ids) > coalesce((SELECT count(DISTINCT u.element) FROM unnest(elements) u(element)), 0) THEN
        RETURN QUERY SELECT * FROM unsent_messages(delivery, idempotency_keys, requests, firsts, elements, barred, bars,
            cardinality(subscription_ids));
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.add_messages(bigint, bigint[], text[], text[], jsonb[], text[]) IS
    'Does the work of send_message and send_messages in all cases. The arrays have equal lengths and were checked. The created messages '
    'share parts of up to 1,000. The rows of created messages come first.';

CREATE FUNCTION pushmta.send_messages(
    delivery bigint, subscription_ids bigint[] DEFAULT NULL, user_keys text[] DEFAULT NULL, push_tokens text[] DEFAULT NULL,
    variables jsonb[] DEFAULT NULL, idempotency_keys text[] DEFAULT NULL
) RETURNS SETOF pushmta.sent_message LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET jit = off
    SET lock_timeout = '2s' AS $$
#variable_conflict use_variable
DECLARE
    elements integer;
    lengths integer;
BEGIN
    SELECT max(u.n), count(DISTINCT u.n) INTO elements, lengths
    FROM unnest(ARRAY[cardinality(subscription_ids), cardinality(user_keys), cardinality(push_tokens), cardinality(variables),
        cardinality(idempotency_keys)]) u(n) WHERE u.n IS NOT NULL;
    IF lengths > 1 THEN
        RAISE EXCEPTION 'The arrays of a call for delivery % differ in their lengths; the longest has % elements.', delivery, elements
            USING ERRCODE = 'PM065', HINT = 'Give arrays of equal length, with nulls where needed, or null in place of an array.';
    ELSIF elements > 10000 THEN
        RAISE EXCEPTION 'A call for delivery % has % messages.', delivery, elements
            USING ERRCODE = 'PM065', HINT = 'Give at most 10,000 with one call: pausing and stopping wait for its transaction.';
    END IF;
    SELECT array_agg(u.subscription_id ORDER BY u.n), array_agg(u.user_key ORDER BY u.n),
        array_agg(CASE WHEN u.token ~ '^[0-9A-Fa-f]{64,200}$' THEN lower(u.token) ELSE u.token END ORDER BY u.n),
        array_agg(coalesce(u.given, '{}') ORDER BY u.n), array_agg(u.key ORDER BY u.n)
    INTO subscription_ids, user_keys, push_tokens, variables, idempotency_keys
    FROM unnest(subscription_ids, user_keys, push_tokens, variables, idempotency_keys)
        WITH ORDINALITY u(subscription_id, user_key, token, given, key, n);
    PERFORM check_messages(delivery, subscription_ids, user_keys, push_tokens, variables, idempotency_keys, false);
    RETURN QUERY SELECT * FROM add_messages(delivery, subscription_ids, user_keys, push_tokens, variables, idempotency_keys) m
        ORDER BY m.element, m.sequence;
END $$;
COMMENT ON FUNCTION pushmta.send_messages(bigint, bigint[], text[], text[], jsonb[], text[]) IS
    'Adds up to 10,000 messages to a continuous delivery in progress, as send_message does for one; they share parts. Element n of each '
    'array belongs to message n. Exactly one of subscription_ids, user_keys and push_tokens has a value there. Arrays that are not needed '
    'are left out. Returns the rows of message 1 first: one for each subscription that it goes to, or one with the refusal and its '
    'reason. A message is refused if nothing can be sent to its addressee (PM062, PM064 or PM065), or if its key was used with other '
    'arguments (PM063); the other messages are sent all the same. The whole call fails if an element is not a valid message (PM065, with '
    'its number), or if the delivery takes no messages (PM002, PM060, PM061). Of elements with the same key, the first one creates the '
    'message.';

CREATE TYPE pushmta_engine.message_goal AS (reached integer, ids bigint[], application_id integer, account_id integer, log_day date,
    highest bigint, priority smallint, validity interval, sleeps boolean);
COMMENT ON TYPE pushmta_engine.message_goal IS
    'What send_message needs to create a message: how many subscriptions it reaches and which, their application and account, the day, its '
    'highest number, priority and validity, and whether a host sleeps. reached is null if add_messages has to create the message.';

-- These two set no search path, so that the planner inlines them into the calling statements.
CREATE FUNCTION pushmta_engine.goal_of_subscription(delivery bigint, day bigint, to_subscription bigint)
    RETURNS SETOF pushmta_engine.message_goal LANGUAGE sql STABLE
    BEGIN ATOMIC
        SELECT 1, ARRAY[s.id], s.application_id, a.external_account_id, d.log_day, d.target, d.priority, d.validity,
            EXISTS (SELECT FROM pushmta_engine.mta_host h WHERE h.asleep AND h.state IN ('starting', 'running')
                AND h.last_heartbeat > clock_timestamp() - interval '15 seconds')
        FROM pushmta_engine.delivery d
        JOIN pushmta_engine.subscription s ON s.id = to_subscription
            AND (s.exclusion = 0 OR d.one_time_code AND pushmta_engine.code_exclusion(s.exclusion, s.enabled, s.quarantine_status) = 0)
        JOIN pushmta_engine.delivery_application a ON a.delivery_id = delivery AND a.application_id = s.application_id
            AND (d.one_time_code OR a.category_id IS NULL OR (SELECT true FROM pushmta_engine.category_opt_out c
                WHERE c.category_id = a.category_id AND c.subscription_id = s.id) IS NULL)
        WHERE d.id = day AND d.kind = 'continuous' AND d.parent_delivery_id = delivery AND d.state = 'in_progress'
            AND d.log_day >= pushmta_engine.message_day() AND NOT d.has_exclusions;
    END;
COMMENT ON FUNCTION pushmta_engine.goal_of_subscription(bigint, bigint, bigint) IS
    'The goal of a message to a subscription; no row if the day takes no messages or nothing is sent to the subscription.';

CREATE FUNCTION pushmta_engine.goal_of_user(delivery bigint, day bigint, to_user text, to_token text)
    RETURNS SETOF pushmta_engine.message_goal LANGUAGE sql STABLE
    BEGIN ATOMIC
        -- Within an application, no two enabled subscriptions have the same token.
        SELECT CASE WHEN min(x.application_id) = max(x.application_id) AND (count(*) = 1 OR NOT bool_or(x.one_per_user))
                THEN count(*)::integer END,
            array_agg(x.id ORDER BY x.id), min(x.application_id), min(x.external_account_id), min(x.log_day), min(x.target),
            min(x.priority), min(x.validity),
            EXISTS (SELECT FROM pushmta_engine.mta_host h WHERE h.asleep AND h.state IN ('starting', 'running')
                AND h.last_heartbeat > clock_timestamp() - interval '15 seconds')
        FROM (
            SELECT s.id, s.application_id, a.external_account_id, d.log_day, d.target, d.priority, d.validity, d.one_per_user
            FROM pushmta_engine.delivery d
            JOIN pushmta_engine.delivery_application a ON a.delivery_id = delivery
            CROSS JOIN LATERAL (
                SELECT s.id, s.application_id FROM pushmta_engine.subscription s
                WHERE s.user_key = to_user AND s.user_key <> '' AND s.application_id = a.application_id
                    AND (s.exclusion = 0
                        OR d.one_time_code AND pushmta_engine.code_exclusion(s.exclusion, s.enabled, s.quarantine_status) = 0)
                UNION ALL
                SELECT s.id, s.application_id FROM pushmta_engine.subscription s
                WHERE s.push_token = to_token AND s.application_id = a.application_id AND s.enabled
                    AND (s.exclusion = 0
                        OR d.one_time_code AND pushmta_engine.code_exclusion(s.exclusion, s.enabled, s.quarantine_status) = 0)
            ) s
            WHERE (d.one_time_code OR a.category_id IS NULL OR (SELECT true FROM pushmta_engine.category_opt_out c
                    WHERE c.category_id = a.category_id AND c.subscription_id = s.id) IS NULL)
                AND d.id = day AND d.kind = 'continuous' AND d.parent_delivery_id = delivery AND d.state = 'in_progress'
                AND d.log_day >= pushmta_engine.message_day() AND NOT d.has_exclusions
            LIMIT 1001
        ) x;
    END;
COMMENT ON FUNCTION pushmta_engine.goal_of_user(bigint, bigint, text, text) IS
    'The goal of a message to all subscriptions of a user, or (null) to the owner of a push token.';

CREATE FUNCTION pushmta_engine.repeat_message(known pushmta_engine.message_key, request bytea)
    RETURNS SETOF pushmta.message_reference LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    IF known.request <> request THEN
        PERFORM refuse_key(known.delivery_id);
    END IF;
    RETURN QUERY SELECT known.day_id || '-' || u.sequence, known.day_id, u.sequence, u.subscription_id, true
        FROM unnest(known.sequences, known.subscription_ids) u(sequence, subscription_id);
END $$;
COMMENT ON FUNCTION pushmta_engine.repeat_message(pushmta_engine.message_key, bytea) IS
    'The messages that were created under an idempotency key; an error if it was used with other arguments.';

CREATE FUNCTION pushmta_engine.add_message(delivery bigint, subscription_id bigint, user_key text, token text, given jsonb,
    idempotency_key text) RETURNS SETOF pushmta.message_reference LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    sent record;
BEGIN
    FOR sent IN SELECT * FROM add_messages(delivery, ARRAY[subscription_id], ARRAY[user_key], ARRAY[token], ARRAY[given],
        ARRAY[idempotency_key])
    LOOP
        IF sent.refusal = 'PM062' THEN
            -- The message never has the token or the user's key, because messages go to logs.
            RAISE EXCEPTION 'There is no such subscription in the applications of delivery %.', delivery
                USING ERRCODE = 'PM062', HINT = 'pushmta.subscription lists them.';
        ELSIF sent.refusal = 'PM063' THEN
            PERFORM refuse_key(delivery);
        ELSIF sent.refusal = 'PM064' THEN
            RAISE EXCEPTION 'Nothing is sent to the addressee of a message of delivery %: %.', delivery, sent.reason
                USING ERRCODE = 'PM064', HINT = 'pushmta.subscription shows the reason, and since when.';
        ELSIF sent.refusal IS NOT NULL THEN
            RAISE EXCEPTION 'The user of a message of delivery % has more than 1,000 subscriptions.', delivery
                USING ERRCODE = 'PM065', HINT = 'Send to this user with a separate delivery.';
        END IF;
        RETURN NEXT (sent.message_id, sent.delivery_id, sent.sequence, sent.subscription_id, sent.repeated)::pushmta.message_reference;
        PERFORM set_config('pushmta.day_of_' || delivery, sent.delivery_id::text, false) WHERE NOT sent.repeated;
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta_engine.add_message(bigint, bigint, text, text, jsonb, text) IS
    'Does the work of send_message in all cases, through add_messages.';

CREATE FUNCTION pushmta_engine.create_message(delivery bigint, day bigint, goal pushmta_engine.message_goal, numbers integer[], given jsonb,
    idempotency_key text, request bytea) RETURNS boolean LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    part bigint;
BEGIN
    IF idempotency_key IS NOT NULL THEN
        INSERT INTO message_key (delivery_id, idempotency_key, request, day_id, sequences, subscription_ids)
        VALUES (delivery, idempotency_key, request, day, numbers, goal.ids)
        ON CONFLICT ON CONSTRAINT message_key_pkey DO NOTHING;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
    END IF;
    part := nextval('pushmta_engine.delivery_part_id_seq');
    -- A person waits for the message, so it has priority over deliveries that are merely under way, as proofs do.
    INSERT INTO delivery_part (id, delivery_id, application_id, external_account_id, log_day, size, priority,
        has_variables, valid_until)
    VALUES (part, day, goal.application_id, goal.account_id, goal.log_day, goal.reached, greatest(goal.priority, 50::smallint),
        given <> '{}', clock_timestamp() + goal.validity);
    INSERT INTO delivery_part_target (part_id, delivery_id, log_day, first_sequence, last_sequence, sequences, subscription_ids,
        variables)
    VALUES (part, day, goal.log_day, numbers[1], numbers[goal.reached], CASE WHEN goal.reached > 1 THEN numbers END, goal.ids,
        nullif(given, '{}'));
    -- A notification makes commits wait for each other, so it is sent only if a host sleeps; others look for messages many times a
    -- second.
    IF goal.sleeps THEN
        PERFORM pg_notify('pushmta_wake', 'message');
    END IF;
    RETURN true;
END $$;
COMMENT ON FUNCTION pushmta_engine.create_message(bigint, bigint, pushmta_engine.message_goal, integer[], jsonb, text, bytea) IS
    'Creates a message with these numbers, one for each subscription, and returns true; or returns false, if another session was quicker '
    'to use the idempotency key, and has committed.';

-- Nearly all messages go to subscriptions of one application without any exclusion, and to a delivery whose day is open. These take
-- as few statements as possible, each of them by key. All others go through add_messages. A call that waits for another
-- transaction, as for the first message of a day or the same key, waits up to 2 s, like everything in the engine.
CREATE FUNCTION pushmta.send_message(
    delivery bigint, subscription_id bigint DEFAULT NULL, user_key text DEFAULT NULL, push_token text DEFAULT NULL,
    variables jsonb DEFAULT '{}', idempotency_key text DEFAULT NULL
) RETURNS SETOF pushmta.message_reference LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp
    SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off
    SET plan_cache_mode = force_generic_plan SET lock_timeout = '2s' AS $$
#variable_conflict use_variable
DECLARE
    token text := CASE WHEN push_token ~ '^[0-9A-Fa-f]{64,200}$' THEN lower(push_token) ELSE push_token END;
    given jsonb := coalesce(variables, '{}');
    -- The day of this session's last message to the delivery. It is checked again, so a stale value does no harm.
    day bigint := nullif(current_setting('pushmta.day_of_' || delivery, true), '')::bigint;
    counter regclass;
    last bigint;
    request bytea;
    known pushmta_engine.message_key;
    goal pushmta_engine.message_goal;
    numbers integer[];
BEGIN
    IF num_nonnulls(subscription_id, user_key, token) <> 1 OR jsonb_typeof(given) <> 'object'
        OR octet_length(given::text) > 16384 OR octet_length(idempotency_key) NOT BETWEEN 1 AND 255 THEN
        PERFORM check_messages(delivery, ARRAY[subscription_id], ARRAY[user_key], ARRAY[token], ARRAY[given], ARRAY[idempotency_key], true);
    END IF;
    IF idempotency_key IS NOT NULL THEN
        request := message_request(subscription_id, user_key, token, given);
        SELECT k.* INTO known FROM message_key k WHERE k.delivery_id = delivery AND k.idempotency_key = idempotency_key;
        IF FOUND THEN
            RETURN QUERY SELECT * FROM repeat_message(known, request);
            RETURN;
        END IF;
    END IF;
    IF day IS NULL THEN
        day := (SELECT d.id FROM pushmta_engine.delivery d WHERE d.kind = 'continuous' AND d.parent_delivery_id = delivery
            ORDER BY d.id DESC LIMIT 1);
        PERFORM set_config('pushmta.day_of_' || delivery, day::text, false) WHERE day IS NOT NULL;
    END IF;
    -- Reading the sequence locks it until the end of the transaction, as nextval does. It waits for sessions that want to pause or
    -- end the day, and then keeps the day's state as it is (lock_day).
    counter := to_regclass('pushmta_engine.message_number_' || day);
    last := pg_sequence_last_value(counter);
    IF subscription_id IS NOT NULL THEN
        SELECT g.* INTO goal FROM goal_of_subscription(delivery, day, subscription_id) g;
    ELSE
        SELECT g.* INTO goal FROM goal_of_user(delivery, day, user_key, token) g;
    END IF;
    IF goal.reached = 1 AND coalesce(last, 0) < goal.highest THEN
        numbers := ARRAY[nextval(counter)::integer];
    ELSIF goal.reached <= 1000 THEN
        numbers := ARRAY(SELECT nextval(counter) FROM generate_series(1, goal.reached) ORDER BY 1);
    END IF;
    IF numbers[goal.reached] <= goal.highest THEN
        IF create_message(delivery, day, goal, numbers, given, idempotency_key, request) THEN
            FOR place IN 1..goal.reached LOOP
                RETURN NEXT (day || '-' || numbers[place], day, numbers[place], goal.ids[place], false)::pushmta.message_reference;
            END LOOP;
            RETURN;
        END IF;
    END IF;
    RETURN QUERY SELECT * FROM add_message(delivery, subscription_id, user_key, token, given, idempotency_key);
END $$;
COMMENT ON FUNCTION pushmta.send_message(bigint, bigint, text, text, jsonb, text) IS
    'Adds a message to a continuous delivery in progress: to a subscription, to all subscriptions of a user, or to the owner of a push '
    'token. It can be sent as soon as the caller''s transaction commits; until then, pausing and stopping the delivery wait. With an '
    'idempotency key the message is created only once: within 24 hours, the same call returns the same message.';

CREATE VIEW pushmta.message_status AS
SELECT b.delivery_id, b.sequence, b.subscription_id, pushmta_engine.status_name(b.status) AS status,
    b.http_status, coalesce(b.reason, '') AS reason, b.gateway_message_id, b.attempt, b.logged_at, b.part_id,
    EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = d.log_day AND r.delivery_id = d.id
        AND r.sequence = b.sequence AND r.kind = 1 AND r.first) AS received,
    pushmta_engine.failure_type(b.failure) AS failure_type, pushmta_engine.failure_reason(b.failure) AS failure_reason,
    EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = d.log_day AND r.delivery_id = d.id
        AND r.sequence = b.sequence AND r.kind = 2 AND r.first) AS clicked,
    b.delivery_id || '-' || b.sequence AS message_id, b.sequence BETWEEN d.first_seed AND d.first_seed + d.seeds - 1 AS is_seed
FROM pushmta_engine.delivery d
JOIN pushmta_engine.broad_log b ON b.log_day = d.log_day AND b.delivery_id = d.id
UNION ALL
SELECT p.delivery_id, m.sequence, u.subscription_id, pushmta_engine.status_name(coalesce(p.rest_status, 6::smallint)),
    0::smallint, coalesce(p.rest_reason, ''), NULL, p.attempt, CASE WHEN p.state = 'done' THEN p.finished_at END, p.id,
    EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = p.log_day AND r.delivery_id = p.delivery_id
        AND r.sequence = m.sequence AND r.kind = 1 AND r.first), NULL, NULL,
    EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = p.log_day AND r.delivery_id = p.delivery_id
        AND r.sequence = m.sequence AND r.kind = 2 AND r.first),
    p.delivery_id || '-' || m.sequence, m.sequence BETWEEN d.first_seed AND d.first_seed + d.seeds - 1
FROM pushmta_engine.delivery_part p
JOIN pushmta_engine.delivery d ON d.id = p.delivery_id
JOIN pushmta_engine.delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
CROSS JOIN LATERAL unnest(t.subscription_ids, t.sequences) WITH ORDINALITY u(subscription_id, sequence, n)
CROSS JOIN LATERAL (SELECT coalesce(u.sequence, t.first_sequence + u.n::integer - 1) AS sequence) m
WHERE (p.state <> 'done' OR p.rest_status IS NOT NULL)
    AND NOT EXISTS (SELECT FROM pushmta_engine.broad_log b
        WHERE b.log_day = p.log_day AND b.delivery_id = p.delivery_id AND b.sequence = m.sequence);
COMMENT ON VIEW pushmta.message_status IS
    'Every message of a delivery with its outcome, and the id that send_message returned. Messages without an outcome are read from the '
    'frozen targets of the delivery''s parts. A click does not imply a receipt: many apps report only one of them.';

-- The rest of the file finds a message by any kind of id. Ids that PushMTA makes are decrypted here, so that no key has to leave
-- the database. PostgreSQL has no AES of its own, and extensions are not available everywhere. One block takes 0.4 ms this way.

CREATE FUNCTION pushmta_engine.aes_substitute(bytes bytea, places integer[], backwards boolean) RETURNS bytea LANGUAGE plpgsql
    IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    -- FIPS 197, table 4.
    box CONSTANT bytea := decode(''
        '637c777bf26b6fc53001672bfed7ab76ca82c97dfa5947f0add4a2af9ca472c0b7fd9326363ff7cc34a5e5f171d83115'
        '04c723c31896059a071280e2eb27b27509832c1a1b6e5aa0523bd6b329e32f8453d100ed20fcb15b6acbbe394a4c58cf'
        'd0efaafb434d338545f9027f503c9fa851a3408f929d38f5bcb6da2110fff3d2cd0c13ec5f974417c4a77e3d645d1973'
        '60814fdc222a908846eeb814de5e0bdbe0323a0a4906245cc2d3ac629195e479e7c8376d8dd54ea96c56f4ea657aae08'
        'ba78252e1ca6b4c6e8dd741f4bbd8b8a703eb5664803f60e613557b986c11d9ee1f8981169d98e949b1e87e9ce5528df'
        '8ca1890dbfe6426841992d0fb054bb16', 'hex');
    made bytea := ''::bytea;
    place integer;
BEGIN
    FOREACH place IN ARRAY places LOOP
        made := made || CASE WHEN backwards
            THEN substring(int4send(position(substring(bytes FROM place + 1 FOR 1) IN box) - 1) FROM 4)
            ELSE substring(box FROM get_byte(bytes, place) + 1 FOR 1) END;
    END LOOP;
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta_engine.aes_substitute(bytea, integer[], boolean) IS
    'Selects the bytes at these places and puts each through the AES S-box, or through its inverse.';

CREATE FUNCTION pushmta_engine.aes_twice(state bit(128)) RETURNS bit(128) LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((state & x'7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f') << 1)
        # ((state & x'80808080808080808080808080808080') >> 7) # ((state & x'80808080808080808080808080808080') >> 6)
        # ((state & x'80808080808080808080808080808080') >> 4) # ((state & x'80808080808080808080808080808080') >> 3);
COMMENT ON FUNCTION pushmta_engine.aes_twice(bit) IS 'Doubles each of 16 bytes in the field of AES.';

CREATE FUNCTION pushmta_engine.aes_turned(state bit(128), bytes integer) RETURNS bit(128) LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE bytes
        WHEN 1 THEN ((state << 8) & x'ffffff00ffffff00ffffff00ffffff00') | ((state >> 24) & x'000000ff000000ff000000ff000000ff')
        WHEN 2 THEN ((state << 16) & x'ffff0000ffff0000ffff0000ffff0000') | ((state >> 16) & x'0000ffff0000ffff0000ffff0000ffff')
        ELSE ((state << 24) & x'ff000000ff000000ff000000ff000000') | ((state >> 8) & x'00ffffff00ffffff00ffffff00ffffff') END;
COMMENT ON FUNCTION pushmta_engine.aes_turned(bit, integer) IS
    'Rotates each of the four columns of an AES state by this many bytes.';

CREATE FUNCTION pushmta_engine.aes_block(key bytea, block bytea, backwards boolean) RETURNS bytea LANGUAGE plpgsql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    -- ShiftRows, or its inverse.
    places CONSTANT integer[] := CASE WHEN backwards THEN '{0,13,10,7,4,1,14,11,8,5,2,15,12,9,6,3}'::integer[]
        ELSE '{0,5,10,15,4,9,14,3,8,13,2,7,12,1,6,11}' END;
    rounds CONSTANT text[] := ARRAY['01', '02', '04', '08', '10', '20', '40', '80', '1b', '36'];
    keys bit(128)[] := ARRAY[('x' || encode(key, 'hex'))::bit(128)];
    state bit(128) := ('x' || encode(block, 'hex'))::bit(128);
    twice bit(128);
    bytes bytea;
BEGIN
    FOR n IN 1..10 LOOP
        bytes := aes_substitute(int8send(substring(keys[n] FROM 65)::bit(64)::bigint), '{5,6,7,4}', false);
        keys := keys || (keys[n] # (keys[n] >> 32) # (keys[n] >> 64) # (keys[n] >> 96)
            # ('x' || repeat(encode(bytes, 'hex'), 4))::bit(128) # ('x' || repeat(rounds[n] || '000000', 4))::bit(128));
    END LOOP;
    state := state # keys[CASE WHEN backwards THEN 11 ELSE 1 END];
    FOR n IN 1..10 LOOP
        bytes := int8send(substring(state FROM 1 FOR 64)::bit(64)::bigint) || int8send(substring(state FROM 65)::bit(64)::bigint);
        state := ('x' || encode(aes_substitute(bytes, places, backwards), 'hex'))::bit(128);
        IF backwards THEN
            state := state # keys[11 - n];
            -- The inverse of MixColumns is MixColumns applied three times; this is two of them.
            state := CASE WHEN n = 10 THEN state ELSE state # aes_twice(aes_twice(state # aes_turned(state, 2))) END;
        END IF;
        IF n < 10 THEN
            twice := aes_twice(state);
            state := twice # aes_turned(state # twice, 1) # aes_turned(state, 2) # aes_turned(state, 3);
        END IF;
        IF NOT backwards THEN
            state := state # keys[n + 1];
        END IF;
    END LOOP;
    RETURN int8send(substring(state FROM 1 FOR 64)::bit(64)::bigint) || int8send(substring(state FROM 65)::bit(64)::bigint);
END $$;
COMMENT ON FUNCTION pushmta_engine.aes_block(bytea, bytea, boolean) IS
    'Encrypts or decrypts one block with AES-128 (FIPS 197), which MessageIDCodec and MessageNumbers use for message ids.';

CREATE FUNCTION pushmta_engine.number_of_message_id(id bigint) RETURNS bigint LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    key bytea := message_numbers_key();
    number bigint := id;
    high integer;
    low integer;
    place integer;
    block bytea;
    earlier integer;
BEGIN
    IF id NOT BETWEEN 1 AND 2147483647 THEN
        RETURN NULL;
    END IF;
    -- The inverse of NumberPermutation: ten rounds, repeated until the number is positive. Its tables are the key stream of AES in
    -- counter mode; only the blocks that are read are computed.
    LOOP
        high := number >> 16;
        low := number & 65535;
        FOR turn IN REVERSE 9..0 LOOP
            place := turn * 65536 + high;
            block := aes_block(key, '\x000000000000000000000000'::bytea || int4send(place / 8), false);
            earlier := high;
            high := low # (get_byte(block, place % 8 * 2) * 256 + get_byte(block, place % 8 * 2 + 1));
            low := earlier;
        END LOOP;
        number := high::bigint << 16 | low;
        EXIT WHEN number BETWEEN 1 AND 2147483647;
    END LOOP;
    RETURN number;
END $$;
COMMENT ON FUNCTION pushmta_engine.number_of_message_id(bigint) IS
    'The number in the database that an int32 message id stands for; null if it is not a valid id.';

CREATE FUNCTION pushmta_engine.message_of_uuid(id uuid) RETURNS TABLE (delivery_id bigint, sequence integer) LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    day record;
    opened bytea;
BEGIN
    -- Keys stay when the outcomes of their days are deleted. Trying a thousand takes 0.4 s, which happens only with an id that
    -- PushMTA did not make.
    FOR day IN SELECT k.key FROM tracking_key k ORDER BY k.log_day DESC LIMIT 1000 LOOP
        opened := aes_block(day.key, uuid_send(id), true);
        CONTINUE WHEN substring(opened FROM 13) <> '\x00000000';
        delivery_id := ('x' || encode(substring(opened FROM 1 FOR 8), 'hex'))::bit(64)::bigint;
        sequence := ('x' || encode(substring(opened FROM 9 FOR 4), 'hex'))::bit(32)::integer;
        IF delivery_id > 0 AND sequence > 0 THEN
            RETURN NEXT;
            RETURN;
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta_engine.message_of_uuid(uuid) IS
    'The message of an _mId or apns-id; no row if none of the last 1,000 days'' keys made it.';

CREATE FUNCTION pushmta_engine.messages_of_number(number bigint) RETURNS TABLE (delivery_id bigint, sequence integer) LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
        -- After 2,147,480,000 numbers they start over, so two deliveries may share one.
        SELECT r.delivery_id, (number - r.first_id + 1)::integer
        FROM message_id_range r JOIN pushmta_engine.delivery d ON d.id = r.delivery_id
        WHERE int8range(r.first_id, r.last_id, '[]') @> number AND number - r.first_id < d.target
        ORDER BY r.delivery_id DESC $$;
COMMENT ON FUNCTION pushmta_engine.messages_of_number(bigint) IS
    'The messages that have a number for int32 message ids, newest delivery first.';

CREATE FUNCTION pushmta_engine.message_readings(given text, within bigint)
    RETURNS TABLE (form text, delivery_id bigint, sequence integer) LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET jit = off AS $$
#variable_conflict use_column
DECLARE
    -- From a device's tracking request, the part of the message: h<message>,<delivery>,<tag>.
    tracked text := (regexp_match(left(given, 2000), '^(?:.*[?&]id=)?h([0-9A-Fa-f-]{1,36})(?:,|%2[Cc])'))[1];
    id text := coalesce(tracked, left(btrim(given, E' \t\r\n"{}'), 300));
    digits text := lower(replace(id, '-', ''));
    pair text[] := regexp_match(id, '^([0-9]{1,18})-([0-9]{1,10})$');
    number bigint;
    day record;
    is_known boolean := false;
    name text := regexp_replace(id, '^projects/[^/]+/messages/', '');
BEGIN
    IF pair[2]::bigint <= 2147483647 THEN
        RETURN QUERY SELECT 'message_id', pair[1]::bigint, pair[2]::bigint::integer;
    END IF;
    IF digits ~ '^[0-9a-f]{32}$' THEN
        RETURN QUERY SELECT 'uuid', m.delivery_id, m.sequence FROM (VALUES (1)) v(n) LEFT JOIN message_of_uuid(digits::uuid) m ON true;
    END IF;
    IF tracked IS NULL AND id ~ '^[0-9]{1,10}$' THEN
        number := number_of_message_id(id::bigint);
        RETURN QUERY SELECT 'int32', r.delivery_id, r.sequence
            FROM (VALUES (1)) v(n) LEFT JOIN messages_of_number(number) r ON true WHERE number IS NOT NULL;
    END IF;
    IF id ~* '^(0x|h)?0*[0-9a-f]{1,8}$' THEN
        number := number_of_message_id(('x' || lpad(regexp_replace(lower(id), '^(0x|h)?0*(?=.)', ''), 8, '0'))::bit(32)::integer);
        RETURN QUERY SELECT 'int32_hex', r.delivery_id, r.sequence
            FROM (VALUES (1)) v(n) LEFT JOIN messages_of_number(number) r ON true WHERE number IS NOT NULL;
    END IF;
    IF within IS NOT NULL AND tracked IS NULL AND pair IS NULL AND name <> '' THEN
        FOR day IN SELECT d.id, d.log_day FROM pushmta_engine.delivery d WHERE d.id = within AND d.log_day IS NOT NULL
            UNION ALL SELECT d.id, d.log_day FROM pushmta_engine.delivery d
            WHERE d.parent_delivery_id = within AND d.log_day IS NOT NULL
        LOOP
            RETURN QUERY SELECT 'gateway_id', b.delivery_id, b.sequence FROM broad_log b
                WHERE b.log_day = day.log_day AND b.delivery_id = day.id AND b.gateway_message_id IN (name, id);
            is_known := is_known OR FOUND;
        END LOOP;
        RETURN QUERY SELECT 'gateway_id', NULL::bigint, NULL::integer WHERE NOT is_known;
    ELSIF name ~ '[:%]' OR name <> id THEN
        RETURN QUERY SELECT 'gateway_id', NULL::bigint, NULL::integer;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.message_readings(text, bigint) IS
    'The possible meanings of an id, each with the message that it names, null if there is none. A gateway''s id is searched in one '
    'delivery only: outcomes have no index of gateway ids, which would add half to the cost of each message.';

-- One query for each reading, so that the indexes find it by its delivery and number.
CREATE FUNCTION pushmta.find_message(id text, delivery bigint DEFAULT NULL)
    RETURNS TABLE (delivery_id bigint, sequence integer, subscription_id bigint, status text, http_status smallint, reason text,
        gateway_message_id text, attempt smallint, logged_at timestamptz, part_id bigint, received boolean, failure_type text,
        failure_reason text, clicked boolean, message_id text, is_seed boolean, matched_as text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    reading record;
BEGIN
    FOR reading IN SELECT r.form, r.delivery_id, r.sequence FROM message_readings(id, delivery) r WHERE r.sequence IS NOT NULL LOOP
        RETURN QUERY SELECT m.delivery_id, m.sequence, m.subscription_id, m.status, m.http_status, m.reason, m.gateway_message_id,
                m.attempt, m.logged_at, m.part_id, m.received, m.failure_type, m.failure_reason, m.clicked, m.message_id, m.is_seed,
                reading.form
            FROM pushmta.message_status m
            WHERE m.delivery_id = reading.delivery_id AND m.sequence = reading.sequence;
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta.find_message(text, bigint) IS
    'Finds a message by any of its ids: the id that send_message returned and pushmta.message_status shows (message_id); _mId or apns-id '
    '(uuid); a numbered _mId, decimal (int32) or hexadecimal as devices send it (int32_hex); a tracking request. Also the name that FCM '
    'returned, whole or its last part (gateway_id): this needs the delivery, because all of its outcomes are searched. matched_as says '
    'how the id was read; an id with several meanings may give several rows. If there is no row, explain_message_id says why.';

CREATE FUNCTION pushmta_engine.message_finding_words(form text, finding text, delivery bigint, sequence integer) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE finding
        WHEN 'found' THEN format('It is message %s-%s.', delivery, sequence)
        WHEN 'expired' THEN format('It is message %s-%s, whose outcome is older than it is kept for '
            '(feedback.retention.broadLogDays).', delivery, sequence)
        WHEN 'no_message' THEN format('Delivery %s has no message %s.', delivery, sequence)
        WHEN 'no_delivery' THEN format('There is no delivery %s.', delivery)
        WHEN 'needs_delivery' THEN 'A gateway''s id is looked for in one delivery: say which.'
        WHEN 'unreadable' THEN 'It has the form of no message id.'
        ELSE CASE form
            WHEN 'uuid' THEN 'As _mId or apns-id it was made with none of the keys of the last 1,000 days.'
            WHEN 'int32' THEN 'As a decimal _mId it belongs to no delivery that is kept.'
            WHEN 'int32_hex' THEN 'As a hexadecimal _mId it belongs to no delivery that is kept.'
            ELSE format('No outcome of delivery %s has it as its gateway''s id.', delivery) END END;
COMMENT ON FUNCTION pushmta_engine.message_finding_words(text, text, bigint, integer) IS
    'The result of a search by id, as a sentence.';

CREATE FUNCTION pushmta.explain_message_id(id text, delivery bigint DEFAULT NULL)
    RETURNS TABLE (form text, delivery_id bigint, sequence integer, finding text, words text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
    FOR form, delivery_id, sequence IN SELECT r.form, r.delivery_id, r.sequence FROM message_readings(id, delivery) r LOOP
        finding := CASE
            WHEN sequence IS NULL THEN CASE WHEN form = 'gateway_id' AND delivery IS NULL THEN 'needs_delivery' ELSE 'not_given' END
            WHEN EXISTS (SELECT FROM pushmta.message_status m WHERE m.delivery_id = explain_message_id.delivery_id
                AND m.sequence = explain_message_id.sequence) THEN 'found'
            ELSE coalesce((SELECT CASE
                    WHEN d.purged OR to_regclass('pushmta_engine.broad_log_' || to_char(d.log_day, 'YYYYMMDD')) IS NULL
                        AND d.log_day IS NOT NULL THEN 'expired'
                    ELSE 'no_message' END
                FROM pushmta_engine.delivery d WHERE d.id = explain_message_id.delivery_id), 'no_delivery') END;
        words := message_finding_words(form, finding, coalesce(delivery_id, delivery), sequence);
        RETURN NEXT;
    END LOOP;
    IF NOT FOUND THEN
        finding := 'unreadable';
        words := message_finding_words(NULL, finding, NULL, NULL);
        RETURN NEXT;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta.explain_message_id(text, bigint) IS
    'Explains how find_message reads an id, and what it finds for each reading. finding is found, or the reason why not: no_message (the '
    'delivery has no message with this number), no_delivery, expired (the outcome was deleted at the end of its retention), not_given (no '
    'message has this id), needs_delivery (a gateway''s id is searched in one delivery), unreadable.';
