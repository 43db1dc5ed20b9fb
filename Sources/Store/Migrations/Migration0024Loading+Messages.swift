import PushCore

extension Migration {
    static let shorterMessages = #"""
        -- As before, with shorter variables.
        -- Adds a message to a continuous delivery in progress: to a subscription, to all of a user, or to the owner of a push token.
        -- It is ready to be sent as soon as the caller's transaction commits; until then, pausing and stopping the delivery wait.
        -- With an idempotency key the message is made once: within 24 hours the same call returns the same message.
        -- The settings hold for every caller: plans go by index, however small a table was, and what such a plan is said to cost must
        -- not have it compiled.
        CREATE OR REPLACE FUNCTION pushmta.send_message(
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
            ELSIF jsonb_typeof(given) <> 'object' OR octet_length(given::text) > \#(MessageLimits.longestVariables) THEN
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

        """#
}
