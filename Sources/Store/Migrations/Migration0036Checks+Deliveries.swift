extension Migration {
    /// Deliveries and targets that are checked as they are made, and the functions that tell everything at once.
    static let deliveryChecks = #"""
        -- Refuses a content with its first problem; the others are in the detail.
        CREATE FUNCTION pushmta_engine.refuse_content(label text, problems pushmta_engine.input_problem[]) RETURNS void LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        BEGIN
            RAISE EXCEPTION 'The content of delivery "%" cannot be sent: "%": %.', label, problems[1].pointer, problems[1].problem
                    || CASE WHEN cardinality(problems) > 1 THEN format(' (and %s more)', cardinality(problems) - 1) ELSE '' END
                USING ERRCODE = 'PM020', HINT = problems[1].remedy,
                    DETAIL = (SELECT string_agg(format('"%s": %s; %s', p.pointer, p.problem, p.remedy), E'\n')
                        FROM (SELECT * FROM unnest(problems) LIMIT 20) p);
        END $$;

        -- What can be said against a delivery before it is prepared. Texts with fields, sizes, what several keys say together, and what
        -- an application declares are looked at when it is prepared.
        CREATE FUNCTION pushmta_engine.delivery_problems(delivery bigint) RETURNS TABLE (subject text, problem pushmta_engine.input_problem)
            LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_column
        DECLARE
            whole record;
        BEGIN
            SELECT d.content, d.target_filter INTO whole FROM pushmta_engine.delivery d
            WHERE d.id = delivery_problems.delivery;
            RETURN QUERY SELECT 'content', p FROM content_problems(whole.content, ARRAY(SELECT DISTINCT a.platform
                FROM delivery_application x JOIN application a ON a.id = x.application_id WHERE x.delivery_id = delivery_problems.delivery)) p;
            IF whole.target_filter IS NOT NULL THEN
                RETURN QUERY SELECT 'filter', p FROM filter_problem(whole.target_filter) p WHERE p.problem IS NOT NULL;
            END IF;
        END $$;

        -- What is wrong with a content; no row if nothing that is known without rendering it. With applications it has to say something
        -- for each of their platforms.
        CREATE FUNCTION pushmta.check_content(content jsonb, applications text[] DEFAULT NULL)
            RETURNS TABLE (pointer text, problem text, remedy text) LANGUAGE plpgsql STABLE
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_column
        DECLARE
            missing text;
        BEGIN
            SELECT u.name INTO missing FROM unnest(check_content.applications) WITH ORDINALITY u(name, n)
            WHERE NOT EXISTS (SELECT FROM application a WHERE a.name = u.name) ORDER BY u.n LIMIT 1;
            IF FOUND THEN
                RAISE EXCEPTION 'There is no application "%".', coalesce(missing, '')
                    USING ERRCODE = 'PM001', HINT = 'pushmta.application lists them.';
            END IF;
            RETURN QUERY SELECT p.* FROM content_problems(check_content.content,
                ARRAY(SELECT DISTINCT a.platform FROM application a WHERE a.name = ANY(check_content.applications))) p;
            IF NOT FOUND AND check_content.applications IS NULL AND NOT EXISTS (
                SELECT FROM jsonb_each(check_content.content) e WHERE e.key IN ('ios', 'android') AND jsonb_typeof(e.value) = 'object') THEN
                RETURN QUERY SELECT '', 'it says nothing for any platform', 'add a section "ios" or "android"';
            END IF;
        END $$;
        COMMENT ON FUNCTION pushmta.check_content(jsonb, text[]) IS
            'What is wrong with a content, by JSON Pointer: unknown keys, types, ranges, forms, sections. What several keys say together, texts with fields and sizes are judged by pushmta delivery create --check and at preparation.';

        -- What keeps a delivery from being sent; no row if nothing that is known before it is prepared.
        CREATE FUNCTION pushmta.check_delivery(delivery bigint) RETURNS TABLE (subject text, pointer text, problem text, remedy text)
            LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_column
        DECLARE
            whole record;
        BEGIN
            SELECT d.target_kind, d.kind INTO whole FROM pushmta_engine.delivery d WHERE d.id = check_delivery.delivery;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'There is no delivery %.', check_delivery.delivery
                    USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery makes one.';
            END IF;
            RETURN QUERY SELECT p.subject, (p.problem).pointer, (p.problem).problem, (p.problem).remedy
                FROM delivery_problems(check_delivery.delivery) p;
            RETURN QUERY SELECT 'application', NULL, CASE WHEN c.id IS NULL THEN format('application "%s" has no credential', a.name)
                    ELSE format('the credential of application "%s" was valid until %s', a.name, c.expires_at) END,
                'set one with pushmta credential set'
                FROM delivery_application x JOIN application a ON a.id = x.application_id
                LEFT JOIN credential c ON c.id = a.credential_id
                WHERE x.delivery_id = check_delivery.delivery AND (c.id IS NULL OR c.expires_at <= now())
                ORDER BY a.name;
            IF whole.target_kind = 'explicit' AND whole.kind = 'batch' AND NOT EXISTS (
                SELECT FROM pushmta.delivery_target t WHERE t.delivery_id = check_delivery.delivery) THEN
                RETURN QUERY SELECT 'target', NULL, 'it has explicit targets, and there are none', 'fill pushmta.delivery_target';
            END IF;
        END $$;
        COMMENT ON FUNCTION pushmta.check_delivery(bigint) IS
            'What keeps a delivery from being sent, as far as it is known before its preparation: subject is content, filter, application or target.';

        -- Whoever starts a delivery, and whatever it was made by: its rules, and it, may have changed since.
        CREATE FUNCTION pushmta_engine.check_start() RETURNS trigger LANGUAGE plpgsql
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            problems pushmta_engine.input_problem[] := ARRAY(SELECT p.problem FROM delivery_problems(NEW.id) p WHERE p.subject = 'content');
            wrong_filter pushmta_engine.input_problem;
        BEGIN
            IF cardinality(problems) > 0 THEN
                PERFORM refuse_content(NEW.label, problems);
            END IF;
            SELECT (p.problem).* INTO wrong_filter FROM delivery_problems(NEW.id) p WHERE p.subject = 'filter';
            IF FOUND THEN
                RAISE EXCEPTION 'The target filter of delivery % cannot be used: %.', NEW.id, wrong_filter.problem
                    USING ERRCODE = 'PM021', HINT = wrong_filter.remedy;
            END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER delivery_start BEFORE UPDATE OF state ON pushmta_engine.delivery
            FOR EACH ROW WHEN (OLD.state = 'editing' AND NEW.state = 'pending') EXECUTE FUNCTION pushmta_engine.check_start();

        """# + checkedFunctions

    /// What makes deliveries and their targets, with the checks.
    private static let checkedFunctions = #"""
        -- Behind create_delivery: a delivery with a label, whose content says something right for each of its applications.
        CREATE OR REPLACE FUNCTION pushmta_engine.make_delivery(
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
            problems pushmta_engine.input_problem[];
        BEGIN
            IF coalesce(label, '') = '' THEN
                RAISE EXCEPTION 'The delivery has no label.'
                    USING ERRCODE = 'PM007', HINT = 'A label has 1 to 500 characters, is not blank, and has no line breaks or control characters.';
            END IF;
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
            VALUES (label, document, priority, validity,
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
            problems := ARRAY(SELECT p FROM content_problems(document,
                ARRAY(SELECT DISTINCT a.platform FROM application a WHERE a.name = ANY(applications))) p);
            IF cardinality(problems) > 0 THEN
                PERFORM refuse_content(label, problems);
            END IF;
            RETURN made;
        END $$;

        -- Says who of the subscribers a delivery goes to, before its start: those whom the filter chooses, but those on the lists.
        -- What is null stays as it is; an empty filter is none. Whether the columns of a
        -- mapping are there is known when the delivery is prepared.
        CREATE OR REPLACE FUNCTION pushmta.set_target(
            delivery bigint, filter text DEFAULT NULL, exclude text[] DEFAULT NULL, allow_duplicates boolean DEFAULT NULL
        ) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            found_state text := lock_delivery(delivery);
            wanted text := nullif(btrim(filter, E' \t\r\n'), '');
            kind text;
            wrong pushmta_engine.input_problem;
        BEGIN
            IF found_state <> 'editing' THEN
                RAISE EXCEPTION 'Delivery % is %: its targets can no longer be changed.', delivery, found_state
                    USING ERRCODE = 'PM006', HINT = 'Set them before start_delivery, or create another delivery.';
            END IF;
            SELECT d.target_kind INTO kind FROM pushmta_engine.delivery d WHERE d.id = delivery;
            IF wanted IS NOT NULL AND kind = 'explicit' THEN
                RAISE EXCEPTION 'Delivery % has explicit targets, which a filter does not choose from.', delivery
                    USING ERRCODE = 'PM007', HINT = 'Leave out of pushmta.delivery_target whom it shall not go to, or use exclusions.';
            END IF;
            IF octet_length(wanted) > 65536 THEN
                RAISE EXCEPTION 'The filter of delivery % has % bytes.', delivery, octet_length(wanted)
                    USING ERRCODE = 'PM007', HINT = 'A filter has at most 65,536 bytes. Use explicit targets or an exclusion list.';
            END IF;
            IF wanted IS NOT NULL THEN
                wrong := filter_problem(wanted);
                IF wrong.problem IS NOT NULL THEN
                    RAISE EXCEPTION 'The target filter of delivery % cannot be used: %.', delivery, wrong.problem
                        USING ERRCODE = 'PM021', HINT = wrong.remedy;
                END IF;
            END IF;
            UPDATE pushmta_engine.delivery d SET changed_at = now(),
                target_filter = CASE WHEN filter IS NULL THEN d.target_filter ELSE wanted END,
                allow_duplicates = coalesce(set_target.allow_duplicates, d.allow_duplicates)
            WHERE d.id = delivery;
            IF exclude IS NOT NULL THEN
                DELETE FROM delivery_exclusion_list x WHERE x.delivery_id = delivery;
                INSERT INTO delivery_exclusion_list (delivery_id, list_id)
                SELECT DISTINCT delivery, find_exclusion_list(coalesce(u.name, '')) FROM unnest(exclude) u(name);
            END IF;
        END $$;

        """#
}
