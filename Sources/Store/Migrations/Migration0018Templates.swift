extension Migration {
    /// Delivery templates, seed addresses, and the proofs that go to them before a delivery does.
    static let templates = Migration(
        version: 18,
        name: "templates",
        oldestProgram: 8,
        script: templateScript + seedScript + proofScript + templateRights
    )

    private static let templateScript = #"""
        ALTER TABLE pushmta_engine.delivery_template
            ADD ready_made boolean NOT NULL DEFAULT false,
            ADD changed_at timestamptz NOT NULL DEFAULT now(),
            ADD CONSTRAINT delivery_template_name_check CHECK (name <> ''),
            ADD CONSTRAINT delivery_template_settings_check CHECK (jsonb_typeof(settings) = 'object');

        -- They lack what each delivery has to say for itself: as they stand they are refused, not sent. The channel is that of
        -- Adobe's SDK; FCM takes the app's own default where an app has no such channel.
        INSERT INTO pushmta_engine.delivery_template (name, label, content, settings, ready_made) VALUES
            ('Deliver on iOS', 'Alert to the subscribers of an iOS application',
                '{"ios": {"interruption_level": "active"}}', '{"validity_seconds": 432000}', true),
            ('Deliver on Android', 'Notification to the subscribers of an Android application',
                '{"android": {"channel_id": "AEPSDKPushChannel", "priority": "high"}}', '{"validity_seconds": 432000}', true)
        ON CONFLICT (name) DO UPDATE SET ready_made = true;

        CREATE VIEW pushmta.delivery_template AS
        SELECT t.id, t.name, t.label, t.content, t.settings, t.ready_made, t.created_at, t.changed_at
        FROM pushmta_engine.delivery_template t;
        COMMENT ON VIEW pushmta.delivery_template IS
            'Content and settings that deliveries start from: see pushmta.create_delivery_from_template.';

        -- RFC 7396, JSON Merge Patch: members of the patch take the place of those of the base, objects are merged, null removes.
        CREATE FUNCTION pushmta_engine.merge_json(base jsonb, patch jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE
            SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            merged jsonb := CASE WHEN jsonb_typeof(base) = 'object' THEN base ELSE '{}' END;
            member record;
        BEGIN
            IF jsonb_typeof(patch) IS DISTINCT FROM 'object' THEN
                RETURN patch;
            END IF;
            FOR member IN SELECT * FROM jsonb_each(patch) LOOP
                IF jsonb_typeof(member.value) = 'null' THEN
                    merged := merged - member.key;
                ELSIF jsonb_typeof(member.value) = 'object' THEN
                    merged := merged || jsonb_build_object(member.key, merge_json(merged -> member.key, member.value));
                ELSE
                    merged := merged || jsonb_build_object(member.key, member.value);
                END IF;
            END LOOP;
            RETURN merged;
        END $$;

        -- What is wrong with a template's settings; null if nothing is.
        CREATE FUNCTION pushmta_engine.template_problem(settings jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE
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
                    WHEN 'validity_seconds' THEN setting.type = 'number' AND setting.text ~ '^[0-9]{1,9}$' AND setting.text::integer > 0
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
                    RETURN format('%s cannot be %s', setting.key, left(setting.value::text, 64));
                END IF;
            END LOOP;
            RETURN NULL;
        END $$;

        CREATE FUNCTION pushmta_engine.find_template(wanted text) RETURNS pushmta_engine.delivery_template LANGUAGE plpgsql STABLE
            SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            found_template pushmta_engine.delivery_template;
        BEGIN
            SELECT t.* INTO found_template FROM delivery_template t WHERE t.name = wanted;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'There is no delivery template "%".', wanted
                    USING ERRCODE = 'PM040', HINT = 'pushmta.delivery_template lists them.';
            END IF;
            RETURN found_template;
        END $$;

        -- Stores a template; with replacing one of that name may be there, unless it came with the product.
        CREATE FUNCTION pushmta.add_template(
            name text, content jsonb, label text DEFAULT '', settings jsonb DEFAULT '{}', replacing boolean DEFAULT false
        ) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            problem text := template_problem(settings);
            made integer;
        BEGIN
            IF coalesce(name, '') = '' OR octet_length(name) > 200 THEN
                RAISE EXCEPTION 'The name of a delivery template has % bytes.', coalesce(octet_length(name), 0)
                    USING ERRCODE = 'PM043', HINT = 'Give it a name of 1 to 200 bytes.';
            END IF;
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

        -- Copies a template under another name.
        CREATE FUNCTION pushmta.duplicate_template(template text, new_name text, label text DEFAULT NULL) RETURNS integer
            LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            source pushmta_engine.delivery_template := find_template(template);
        BEGIN
            RETURN pushmta.add_template(new_name, source.content, coalesce(label, source.label), source.settings);
        END $$;

        -- Creates a delivery from a template and returns its id. The content is merged into the template's as RFC 7396 says: a null
        -- takes a key away. What is null otherwise is as the template has it, and as create_delivery has it where that says nothing.
        CREATE FUNCTION pushmta.create_delivery_from_template(
            template text, label text, applications text[], content jsonb DEFAULT NULL, priority integer DEFAULT NULL,
            validity interval DEFAULT NULL, explicit_targets boolean DEFAULT NULL, one_per_user boolean DEFAULT NULL,
            ambiguity_policy text DEFAULT NULL, accounts text[] DEFAULT NULL, max_retries integer DEFAULT NULL,
            retry_period_seconds integer DEFAULT NULL
        ) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            source pushmta_engine.delivery_template := find_template(template);
            settings jsonb := source.settings;
            merged jsonb := CASE WHEN content IS NULL THEN source.content ELSE merge_json(source.content, content) END;
        BEGIN
            RETURN pushmta.create_delivery(
                label => label, applications => applications, content => merged::text,
                priority => coalesce(priority, (settings ->> 'priority')::integer, 0),
                validity => coalesce(validity, make_interval(secs => (settings ->> 'validity_seconds')::double precision), interval '5 days'),
                explicit_targets => coalesce(explicit_targets, (settings ->> 'explicit_targets')::boolean, false),
                one_per_user => coalesce(one_per_user, (settings ->> 'one_per_user')::boolean, false),
                ambiguity_policy => coalesce(ambiguity_policy, settings ->> 'ambiguity_policy', 'resend'),
                accounts => accounts,
                max_retries => coalesce(max_retries, (settings ->> 'max_retries')::integer, 5),
                retry_period_seconds => coalesce(retry_period_seconds, (settings ->> 'retry_period_seconds')::integer, 60));
        END $$;

        """#
}
