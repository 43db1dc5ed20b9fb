extension Migration {
    /// Deliveries and exclusion lists with the rules of migration 27.
    static let namedDeliveries = #"""
        -- create_delivery with bounds of the validity that are said, and the rule of labels.
        CREATE OR REPLACE FUNCTION pushmta.create_delivery(
            label text, applications text[], content text, priority integer DEFAULT 0, validity interval DEFAULT '5 days',
            explicit_targets boolean DEFAULT false, one_per_user boolean DEFAULT false, ambiguity_policy text DEFAULT 'resend',
            accounts text[] DEFAULT NULL, max_retries integer DEFAULT 5, retry_period_seconds integer DEFAULT 60
        ) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            made bigint;
        BEGIN
            PERFORM require_label('delivery', coalesce(label, ''), 'PM007');
            IF validity IS NULL OR validity <= interval '0' OR validity > interval '3600 days' THEN
                RAISE EXCEPTION 'Delivery "%": the validity is %, and can be at most 3,600 days.', label, coalesce(validity::text, 'null')
                    USING ERRCODE = 'PM007', HINT = 'The validity is above zero and at most 3,600 days (311,040,000 seconds).';
            END IF;
            IF max_retries IS NULL OR max_retries NOT BETWEEN 0 AND 1000
                OR retry_period_seconds IS NULL OR retry_period_seconds NOT BETWEEN 1 AND 31536000 THEN
                RAISE EXCEPTION 'Delivery "%": max_retries is %, retry_period_seconds %.', label, max_retries, retry_period_seconds
                    USING ERRCODE = 'PM007', HINT = 'max_retries is from 0 to 1,000, retry_period_seconds from 1 to 31,536,000 (a year).';
            END IF;
            made := make_delivery(label, applications, content, priority, validity, explicit_targets, one_per_user,
                ambiguity_policy, accounts);
            UPDATE pushmta_engine.delivery d SET max_retries = create_delivery.max_retries,
                retry_period_seconds = create_delivery.retry_period_seconds
            WHERE d.id = made;
            RETURN made;
        END $$;

        CREATE OR REPLACE FUNCTION pushmta.create_exclusion_list(name text, label text DEFAULT '') RETURNS integer LANGUAGE plpgsql
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            made integer;
        BEGIN
            PERFORM require_name('exclusion list', name, 'PM052');
            PERFORM require_label('exclusion list', coalesce(label, ''), 'PM052');
            INSERT INTO pushmta_engine.exclusion_list (name, label) VALUES (name, coalesce(label, ''))
            ON CONFLICT ON CONSTRAINT exclusion_list_name_key DO NOTHING RETURNING id INTO made;
            IF made IS NULL THEN
                RAISE EXCEPTION 'There is an exclusion list "%" already.', name
                    USING ERRCODE = 'PM051', HINT = 'Choose another name, or add to that one.';
            END IF;
            RETURN made;
        END $$;

        -- Adds to an exclusion list; returns how many are new on it.
        CREATE OR REPLACE FUNCTION pushmta.add_exclusions(
            list text, user_keys text[] DEFAULT NULL, subscription_ids bigint[] DEFAULT NULL, push_tokens text[] DEFAULT NULL
        ) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            found_id integer := find_exclusion_list(list);
            added bigint;
            place bigint;
        BEGIN
            -- Whoever is named wrongly would go on getting everything. Never the token itself: messages go to logs.
            SELECT u.n INTO place FROM unnest(push_tokens) WITH ORDINALITY u(token, n)
            WHERE u.token <> '' AND NOT is_push_token(u.token) ORDER BY u.n LIMIT 1;
            IF FOUND THEN
                RAISE EXCEPTION 'Push token number % for exclusion list "%" cannot be one.', place, list
                    USING ERRCODE = 'PM053', HINT = 'A push token has 8 to 2,000 printable characters, and no spaces.';
            END IF;
            SELECT u.id INTO place FROM unnest(subscription_ids) WITH ORDINALITY u(id, n) WHERE u.id < 1 ORDER BY u.n LIMIT 1;
            IF FOUND THEN
                RAISE EXCEPTION 'No subscription has the id %, so exclusion list "%" cannot have it.', place, list
                    USING ERRCODE = 'PM053', HINT = 'Ids of subscriptions begin with 1; pushmta.subscription lists them.';
            END IF;
            WITH given AS (
                SELECT NULL::bigint AS subscription_id, u AS user_key, NULL::text AS push_token FROM unnest(user_keys) u WHERE u <> ''
                UNION ALL
                SELECT s, NULL, NULL FROM unnest(subscription_ids) s WHERE s IS NOT NULL
                UNION ALL
                SELECT NULL, NULL, t FROM unnest(push_tokens) t WHERE t <> ''
            ), made AS (
                INSERT INTO exclusion_entry (list_id, subscription_id, user_key, push_token)
                SELECT found_id, g.subscription_id, g.user_key, g.push_token FROM given g ON CONFLICT DO NOTHING RETURNING 1
            )
            SELECT count(*) INTO added FROM made;
            UPDATE pushmta_engine.exclusion_list l SET changed_at = now() WHERE l.id = found_id AND added > 0;
            RETURN added;
        END $$;

        """#

    /// Templates with the same.
    static let namedTemplates = #"""
        -- What is wrong with a template's settings; null if nothing is.
        CREATE OR REPLACE FUNCTION pushmta_engine.template_problem(settings jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE
            SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            setting record;
            is_right boolean;
        BEGIN
            IF settings IS NULL OR jsonb_typeof(settings) <> 'object' THEN
                RETURN 'they are no JSON object';
            END IF;
            FOR setting IN SELECT key, value, value #>> '{}' AS text, jsonb_typeof(value) AS type FROM jsonb_each(settings) LOOP
                is_right := CASE setting.key
                    WHEN 'priority' THEN setting.type = 'number' AND setting.text ~ '^-?[0-9]{1,3}$'
                        AND setting.text::integer BETWEEN -100 AND 100
                    WHEN 'validity_seconds' THEN setting.type = 'number' AND setting.text ~ '^[0-9]{1,9}$'
                        AND setting.text::integer BETWEEN 1 AND 311040000
                    WHEN 'max_retries' THEN setting.type = 'number' AND setting.text ~ '^[0-9]{1,4}$'
                        AND setting.text::integer BETWEEN 0 AND 1000
                    WHEN 'retry_period_seconds' THEN setting.type = 'number' AND setting.text ~ '^[0-9]{1,8}$'
                        AND setting.text::integer BETWEEN 1 AND 31536000
                    WHEN 'one_per_user' THEN setting.type = 'boolean'
                    WHEN 'explicit_targets' THEN setting.type = 'boolean'
                    WHEN 'ambiguity_policy' THEN coalesce(setting.text, '') IN ('resend', 'report')
                END;
                IF is_right IS NULL THEN
                    RETURN format('there is no setting "%s"', left(setting.key, 64));
                ELSIF NOT is_right THEN
                    RETURN format('%s cannot be %s%s', setting.key, left(setting.value::text, 64), CASE setting.key
                        WHEN 'priority' THEN ', it is from -100 to 100'
                        WHEN 'validity_seconds' THEN ', it is from 1 to 311,040,000 (3,600 days)'
                        WHEN 'max_retries' THEN ', it is from 0 to 1,000'
                        WHEN 'retry_period_seconds' THEN ', it is from 1 to 31,536,000 (a year)'
                        WHEN 'ambiguity_policy' THEN ', it is resend or report' ELSE ', it is true or false' END);
                END IF;
            END LOOP;
            RETURN NULL;
        END $$;

        CREATE OR REPLACE FUNCTION pushmta.add_template(
            name text, content jsonb, label text DEFAULT '', settings jsonb DEFAULT '{}', replacing boolean DEFAULT false
        ) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            problem text := template_problem(settings);
            made integer;
        BEGIN
            PERFORM require_name('delivery template', name, 'PM043');
            PERFORM require_label('delivery template', coalesce(label, ''), 'PM043');
            IF content IS NULL OR jsonb_typeof(content) <> 'object' THEN
                RAISE EXCEPTION 'The content of delivery template "%" is %, not a JSON object.', name, coalesce(jsonb_typeof(content), 'null')
                    USING ERRCODE = 'PM004', HINT = 'Give an object such as {"ios": {"title": "Hello"}, "android": {"title": "Hello"}}.';
            END IF;
            IF problem IS NOT NULL THEN
                RAISE EXCEPTION 'The settings of delivery template "%" are wrong: %.', name, problem
                    USING ERRCODE = 'PM043', HINT = 'Settings are priority, validity_seconds, one_per_user, explicit_targets, '
                        'ambiguity_policy, max_retries and retry_period_seconds, with the values that create_delivery takes.';
            END IF;
            INSERT INTO delivery_template AS t (name, label, content, settings) VALUES (name, coalesce(label, ''), content, settings)
            ON CONFLICT ON CONSTRAINT delivery_template_name_key DO UPDATE
                SET label = excluded.label, content = excluded.content, settings = excluded.settings, changed_at = now()
                WHERE coalesce(replacing, false) AND NOT t.ready_made
            RETURNING t.id INTO made;
            IF made IS NULL THEN
                RAISE EXCEPTION 'There is a delivery template "%" already.', name
                    USING ERRCODE = 'PM042', HINT = 'Choose another name. A template of your own can be replaced, a ready-made one duplicated.';
            END IF;
            RETURN made;
        END $$;

        """#
}
