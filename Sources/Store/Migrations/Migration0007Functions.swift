extension Migration {
    /// The functions of schema `pushmta` that marketing systems call.
    static let functions = Migration(
        version: 7,
        name: "functions",
        script: #"""
            -- Creates a delivery to the subscribers of applications, named as in pushmta.application, and returns its id.
            CREATE FUNCTION pushmta.create_delivery(
                label text, applications text[], content text, priority integer DEFAULT 0, validity interval DEFAULT '5 days',
                explicit_targets boolean DEFAULT false, one_per_user boolean DEFAULT false, ambiguity_policy text DEFAULT 'resend',
                accounts text[] DEFAULT NULL
            ) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
            #variable_conflict use_variable
            DECLARE
                document jsonb;
                made bigint;
                place integer;
                app record;
            BEGIN
                BEGIN
                    document := content::jsonb;
                EXCEPTION WHEN invalid_text_representation OR untranslatable_character OR program_limit_exceeded THEN
                    RAISE EXCEPTION 'The content of delivery "%" is not JSON: %', label, SQLERRM
                        USING ERRCODE = 'PM004', HINT = 'Give an object such as {"ios": {"title": "Hello"}, "android": {"title": "Hello"}}.';
                END;
                IF document IS NULL OR jsonb_typeof(document) <> 'object' THEN
                    RAISE EXCEPTION 'The content of delivery "%" is %, not a JSON object.', label, coalesce(jsonb_typeof(document), 'null')
                        USING ERRCODE = 'PM004', HINT = 'Give an object such as {"ios": {"title": "Hello"}, "android": {"title": "Hello"}}.';
                END IF;
                IF coalesce(cardinality(applications), 0) = 0 THEN
                    RAISE EXCEPTION 'Delivery "%" names no application.', label
                        USING ERRCODE = 'PM007', HINT = 'pushmta.application lists them by name.';
                END IF;
                IF accounts IS NOT NULL AND cardinality(accounts) <> cardinality(applications) THEN
                    RAISE EXCEPTION 'Delivery "%" has % applications and % accounts.', label, cardinality(applications), cardinality(accounts)
                        USING ERRCODE = 'PM007', HINT = 'Give one account for each application, or none for their own.';
                END IF;
                IF explicit_targets IS NULL THEN
                    RAISE EXCEPTION 'Delivery "%": explicit_targets is null.', label
                        USING ERRCODE = 'PM007', HINT = 'true sends to pushmta.delivery_target, false to all subscribers.';
                END IF;
                IF coalesce(ambiguity_policy, '') NOT IN ('resend', 'report') OR validity IS NULL OR validity > interval '10 years' OR validity <= interval '0'
                    OR priority IS NULL OR priority NOT BETWEEN -100 AND 100 THEN
                    RAISE EXCEPTION 'Delivery "%": ambiguity_policy is %, validity %, priority %.', label, ambiguity_policy, validity, priority
                        USING ERRCODE = 'PM007', HINT = 'The policy is resend or report, validity is above zero, priority from -100 to 100.';
                END IF;
                INSERT INTO delivery (label, content, priority, validity, target_kind, one_per_user, ambiguity_policy)
                VALUES (coalesce(label, ''), document, priority, validity,
                    CASE WHEN explicit_targets THEN 'explicit' ELSE 'subscribers' END, coalesce(one_per_user, false), ambiguity_policy)
                RETURNING id INTO made;
                FOR place IN 1 .. cardinality(applications) LOOP
                    SELECT a.id, a.platform, coalesce(e.id, own.id) AS account_id, coalesce(e.connector, own.connector) AS connector,
                        coalesce(e.name, own.name) AS account
                    INTO app FROM application a
                    LEFT JOIN external_account own ON own.id = a.external_account_id
                    LEFT JOIN external_account e ON e.name = accounts[place]
                    WHERE a.name = applications[place];
                    IF NOT FOUND THEN
                        RAISE EXCEPTION 'There is no application "%".', applications[place]
                            USING ERRCODE = 'PM001', HINT = 'pushmta.application lists them; pushmta app add makes one.';
                    END IF;
                    IF accounts[place] IS NOT NULL AND app.account IS DISTINCT FROM accounts[place] THEN
                        RAISE EXCEPTION 'There is no external account "%".', accounts[place]
                            USING ERRCODE = 'PM005', HINT = 'pushmta account list shows them.';
                    END IF;
                    IF app.account_id IS NULL THEN
                        RAISE EXCEPTION 'Application "%" has no external account, so nothing can be sent to it.', applications[place]
                            USING ERRCODE = 'PM005', HINT = 'Name one in accounts, or give the application one with pushmta app add --account.';
                    END IF;
                    IF app.connector NOT LIKE app.platform || '-%' THEN
                        RAISE EXCEPTION 'External account "%" is a % connector and cannot serve application "%" on %.',
                            app.account, app.connector, applications[place], app.platform
                            USING ERRCODE = 'PM005', HINT = 'Name an account of the same platform.';
                    END IF;
                    INSERT INTO delivery_application (delivery_id, application_id, external_account_id)
                    VALUES (made, app.id, app.account_id) ON CONFLICT DO NOTHING;
                END LOOP;
                RETURN made;
            END $$;

            CREATE FUNCTION pushmta.create_delivery(
                label text, applications text[], content jsonb, priority integer DEFAULT 0, validity interval DEFAULT '5 days',
                explicit_targets boolean DEFAULT false, one_per_user boolean DEFAULT false, ambiguity_policy text DEFAULT 'resend',
                accounts text[] DEFAULT NULL
            ) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
                SELECT pushmta.create_delivery($1, $2, $3::text, $4, $5, $6, $7, $8, $9) $$;

            -- The key of a day; unpredictable: two random UUIDs carry 244 random bits, of which the hash keeps 128.
            CREATE FUNCTION pushmta_engine.tracking_key_of(day date) RETURNS bigint LANGUAGE plpgsql
                SET search_path = pushmta_engine, pg_temp AS $$
            DECLARE
                found_id bigint;
            BEGIN
                INSERT INTO tracking_key (log_day, key)
                VALUES (day, substring(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())) FROM 1 FOR 16))
                ON CONFLICT (log_day) DO NOTHING;
                SELECT id INTO STRICT found_id FROM tracking_key WHERE log_day = day;
                RETURN found_id;
            END $$;

            -- Starts a delivery, now or at a time; from here its targets are frozen.
            CREATE FUNCTION pushmta.start_delivery(delivery bigint, start_at timestamptz DEFAULT NULL) RETURNS void
                LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
            #variable_conflict use_variable
            DECLARE
                current_state text;
                begins timestamptz := greatest(coalesce(start_at, now()), now());
                day date := (begins AT TIME ZONE 'UTC')::date;
            BEGIN
                SELECT d.state INTO current_state FROM pushmta_engine.delivery d WHERE d.id = delivery FOR UPDATE;
                IF NOT FOUND THEN
                    RAISE EXCEPTION 'There is no delivery %.', delivery
                        USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery makes one.';
                END IF;
                IF current_state <> 'editing' THEN
                    RAISE EXCEPTION 'Delivery % is % and cannot be started again.', delivery, current_state
                        USING ERRCODE = 'PM003', HINT = 'Create another delivery to send again.';
                END IF;
                UPDATE pushmta_engine.delivery d SET state = 'pending', start_at = begins, log_day = day,
                    tracking_key_id = tracking_key_of(day), valid_until = begins + d.validity, changed_at = now()
                WHERE d.id = delivery;
                PERFORM pg_notify('pushmta_wake', delivery::text);
            END $$;
            """#
    )
}
