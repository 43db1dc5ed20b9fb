extension Migration {
    static let messageFunctions = #"""
        -- Whom a message of a continuous delivery goes to: subscriptions in the order of their applications, with the reason, an
        -- exclusion or 0, for which one gets nothing. Of a push token that several applications have, and of a user where the delivery
        -- says so, only the latest registered one is returned.
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

        -- What was sent under an idempotency key; no row if nothing was. The same key with other arguments is an error.
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

        CREATE FUNCTION pushmta_engine.refuse_message(delivery bigint, found_state text) RETURNS void LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        BEGIN
            RAISE EXCEPTION 'Delivery % is %: no message can be added to it now.', delivery, found_state
                USING ERRCODE = 'PM061', HINT = 'Messages are added to a continuous delivery in progress: start or resume it.';
        END $$;

        -- Adds a message to a continuous delivery in progress: to a subscription, to all of a user, or to the owner of a push token.
        -- It is ready to be sent as soon as the caller's transaction commits; until then, pausing and stopping the delivery wait.
        -- With an idempotency key the message is made once: within 24 hours the same call returns the same message.
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
            ELSIF jsonb_typeof(given) <> 'object' OR octet_length(given::text) > 65536 THEN
                RAISE EXCEPTION 'The variables of a message of delivery % are %, % bytes long.', delivery, jsonb_typeof(given),
                    octet_length(given::text)
                    USING ERRCODE = 'PM065', HINT = 'Give an object of at most 65,536 bytes, such as {"firstName": "Ada"}.';
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
                PERFORM pg_advisory_xact_lock_shared(\#(DeliveryLock.advisoryClass), hashint8(day));
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
                AND h.last_beat > clock_timestamp() - interval '15 seconds') THEN
                PERFORM pg_notify('pushmta_wake', 'message');
            END IF;
            RETURN QUERY SELECT day || '-' || u.number, day, u.number, u.id, false FROM unnest(numbers, ids) u(number, id);
        END $$;

        -- One message by the id that send_message returned and pushmta.message_status shows.
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

        """#
}
