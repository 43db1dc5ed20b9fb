extension Migration {
    /// Seed addresses with the rules of migration 27.
    static let namedSeeds = #"""
        CREATE OR REPLACE FUNCTION pushmta.add_seed(
            name text, application text DEFAULT NULL, subscription_id bigint DEFAULT NULL, user_key text DEFAULT NULL,
            push_token text DEFAULT NULL, variables jsonb DEFAULT NULL, label text DEFAULT '', locale text DEFAULT ''
        ) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            app_id integer;
            app_platform text;
            token text := push_token;
            bar text;
            found_id bigint;
        BEGIN
            PERFORM require_name('seed address', name, 'PM043');
            PERFORM require_label('seed address', coalesce(label, ''), 'PM043');
            IF name ~ '^[0-9]+$' OR name ~ ',' THEN
                RAISE EXCEPTION 'A seed address cannot be named "%".', name
                    USING ERRCODE = 'PM043', HINT = 'Give it a name that is no number and has no comma.';
            END IF;
            IF coalesce(locale, '') !~ '^([A-Za-z][A-Za-z0-9_@=;.-]{0,63})?$' THEN
                RAISE EXCEPTION 'The locale of seed address "%" is none.', name
                    USING ERRCODE = 'PM043', HINT = 'A locale is a language, and what belongs to it, as in fr or fr-CA.';
            END IF;
            IF num_nonnulls(subscription_id, user_key, push_token) <> 1 THEN
                RAISE EXCEPTION 'Seed address "%" names its subscription in % ways.', name, num_nonnulls(subscription_id, user_key, push_token)
                    USING ERRCODE = 'PM043', HINT = 'Give exactly one of subscription_id, user_key and push_token.';
            END IF;
            IF variables IS NOT NULL AND jsonb_typeof(variables) <> 'object' THEN
                RAISE EXCEPTION 'The variables of seed address "%" are %, not a JSON object.', name, jsonb_typeof(variables)
                    USING ERRCODE = 'PM043', HINT = 'Give an object such as {"firstName": "Ada"}.';
            END IF;
            IF subscription_id IS NULL OR application IS NOT NULL THEN
                SELECT a.id, a.platform INTO app_id, app_platform FROM pushmta_engine.application a WHERE a.name = application;
                IF NOT FOUND THEN
                    RAISE EXCEPTION 'There is no application "%".', coalesce(application, '')
                        USING ERRCODE = 'PM001', HINT = 'pushmta.application lists them.';
                END IF;
            END IF;
            IF subscription_id IS NOT NULL THEN
                SELECT s.id INTO found_id FROM subscription s
                WHERE s.id = subscription_id AND (application IS NULL OR s.application_id = app_id);
            ELSIF user_key IS NOT NULL THEN
                SELECT s.id INTO found_id FROM subscription s
                WHERE s.user_key = user_key AND s.user_key <> '' AND s.application_id = app_id AND s.exclusion = 0
                ORDER BY s.registered_at DESC, s.id DESC LIMIT 1;
            ELSE
                IF app_platform = 'ios' THEN
                    token := lower(token);
                END IF;
                IF token_problem(app_platform, token) IS NOT NULL THEN
                    RAISE EXCEPTION 'The push token of seed address "%" cannot be one: %.', name, token_problem(app_platform, token)
                        USING ERRCODE = 'PM043', HINT = 'Take the token that the app on the device prints for this platform.';
                END IF;
                bar := token_bar(app_id, token);
                IF bar IS NOT NULL THEN
                    RAISE EXCEPTION 'The push token of seed address "%" is that of a subscriber to whom nothing is sent: %.', name, bar
                        USING ERRCODE = 'PM045', HINT = 'A device is a test device again when its app registers it; name another one until then.';
                END IF;
                SELECT s.id INTO found_id FROM subscription s
                WHERE s.application_id = app_id AND s.push_token = token AND s.enabled;
                IF found_id IS NULL THEN
                    SELECT s.id INTO found_id FROM subscription s
                    WHERE s.application_id = app_id AND s.push_token = token AND NOT s.enabled AND s.disabled_reason = 'seed'
                    ORDER BY s.id DESC LIMIT 1;
                END IF;
                IF found_id IS NULL THEN
                    INSERT INTO subscription (application_id, push_token, enabled, disabled_reason, locale)
                    VALUES (app_id, token, false, 'seed', coalesce(locale, ''))
                    RETURNING id INTO found_id;
                END IF;
            END IF;
            IF found_id IS NULL THEN
                RAISE EXCEPTION 'Seed address "%": there is no such subscription.', name
                    USING ERRCODE = 'PM044', HINT = 'pushmta.subscription lists them; a push token needs none.';
            END IF;
            INSERT INTO seed (name, label, subscription_id, variables) VALUES (name, coalesce(label, ''), found_id, variables)
            ON CONFLICT ON CONSTRAINT seed_name_key DO NOTHING;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'There is a seed address "%" already.', name
                    USING ERRCODE = 'PM042', HINT = 'Choose another name, or remove that one first.';
            END IF;
            RETURN found_id;
        END $$;

        """#

    /// Proofs that say which seed address is at fault.
    static let namedProofs = #"""
        CREATE OR REPLACE FUNCTION pushmta.proof_delivery(
            delivery bigint, seeds text[] DEFAULT NULL, subscription_ids bigint[] DEFAULT NULL, push_tokens text[] DEFAULT NULL,
            label_prefix text DEFAULT 'Proof: ', start boolean DEFAULT true
        ) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            made bigint;
            missing text;
            bar text;
            place bigint;
            targets integer;
            proof_label text;
            found_seed record;
        BEGIN
            SELECT left(coalesce(label_prefix, '') || d.label, 500) INTO proof_label FROM pushmta_engine.delivery d
            WHERE d.id = delivery;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'There is no delivery %.', delivery
                    USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery makes one.';
            END IF;
            PERFORM require_label('proof', proof_label, 'PM007');
            -- An empty list is not all there are: a caller that found nobody must not write to everybody.
            IF num_nonnulls(seeds, subscription_ids, push_tokens) = 0 THEN
                seeds := ARRAY(SELECT s.name FROM seed s JOIN subscription b ON b.id = s.subscription_id
                    JOIN delivery_application a ON a.application_id = b.application_id AND a.delivery_id = delivery
                    WHERE NOT (b.exclusion = 1 AND b.disabled_reason = 'seed' AND token_bar(b.application_id, b.push_token) IS NOT NULL)
                    ORDER BY s.id);
            END IF;
            SELECT w.name INTO missing FROM unnest(seeds) WITH ORDINALITY w(name, n)
            WHERE NOT EXISTS (SELECT FROM seed s WHERE s.name = w.name) ORDER BY w.n LIMIT 1;
            IF FOUND THEN
                RAISE EXCEPTION 'There is no seed address "%".', coalesce(missing, '')
                    USING ERRCODE = 'PM041', HINT = 'pushmta.seed lists them; pushmta.add_seed makes one.';
            END IF;

            INSERT INTO pushmta_engine.delivery (label, content, priority, validity, target_kind, allow_duplicates, ambiguity_policy,
                max_retries, retry_period_seconds, parent_delivery_id, proof)
            -- Somebody waits for it, so it goes before what is merely under way. Two seeds may be one device with other values.
            SELECT proof_label, d.content, greatest(d.priority, 50::smallint), d.validity, 'explicit', true,
                d.ambiguity_policy, d.max_retries, d.retry_period_seconds, d.id, true
            FROM pushmta_engine.delivery d WHERE d.id = delivery
            RETURNING id INTO made;
            INSERT INTO delivery_application (delivery_id, application_id, external_account_id)
            SELECT made, a.application_id, a.external_account_id FROM delivery_application a WHERE a.delivery_id = delivery;

            INSERT INTO pushmta.delivery_target (delivery_id, subscription_id, variables)
            SELECT made, t.subscription_id, t.variables
            FROM (SELECT s.subscription_id, s.variables, s.id::bigint AS place, 1 AS kind FROM seed s WHERE s.name = ANY(seeds)
                UNION ALL
                SELECT DISTINCT ON (u.id) u.id, NULL, u.n, 2 FROM unnest(subscription_ids) WITH ORDINALITY u(id, n)
                UNION ALL
                SELECT DISTINCT ON (s.id) s.id, NULL, u.n, 3 FROM unnest(push_tokens) WITH ORDINALITY u(token, n)
                JOIN delivery_application a ON a.delivery_id = made
                JOIN application p ON p.id = a.application_id
                JOIN subscription s ON s.application_id = a.application_id
                    AND s.push_token = CASE WHEN p.platform = 'ios' THEN lower(u.token) ELSE u.token END
                    AND (s.enabled OR s.exclusion = 1 AND s.disabled_reason = 'seed')) t
            GROUP BY t.subscription_id, t.variables
            ORDER BY min(t.kind), min(t.place);
            GET DIAGNOSTICS targets = ROW_COUNT;

            -- By the name that was typed, of which the id says nothing.
            SELECT s.name, a.name AS application INTO found_seed FROM seed s
            JOIN subscription b ON b.id = s.subscription_id
            JOIN application a ON a.id = b.application_id
            WHERE s.name = ANY(seeds) AND NOT EXISTS (SELECT FROM delivery_application x
                WHERE x.delivery_id = made AND x.application_id = a.id)
            ORDER BY s.id LIMIT 1;
            IF FOUND THEN
                RAISE EXCEPTION 'Seed address "%" is of application "%", to which delivery % does not go.', found_seed.name,
                    found_seed.application, delivery
                    USING ERRCODE = 'PM044', HINT = 'Name seed addresses of the delivery''s applications; pushmta.seed lists them.';
            END IF;
            SELECT t.subscription_id INTO place FROM pushmta.delivery_target t
            WHERE t.delivery_id = made AND NOT EXISTS (SELECT FROM subscription s
                JOIN delivery_application a ON a.delivery_id = made AND a.application_id = s.application_id
                WHERE s.id = t.subscription_id)
            ORDER BY t.id LIMIT 1;
            IF FOUND THEN
                RAISE EXCEPTION 'Subscription % is of none of the applications of delivery %.', place, delivery
                    USING ERRCODE = 'PM044', HINT = 'pushmta.subscription and pushmta.seed say of which applications they are.';
            END IF;
            -- Its user may have registered and opted out since it became a seed address. It is checked again when it is sent.
            SELECT s.id, token_bar(s.application_id, s.push_token) INTO place, bar
            FROM pushmta.delivery_target t JOIN subscription s ON s.id = t.subscription_id
            WHERE t.delivery_id = made AND s.exclusion = 1 AND s.disabled_reason = 'seed'
                AND token_bar(s.application_id, s.push_token) IS NOT NULL
            ORDER BY t.id LIMIT 1;
            IF FOUND THEN
                RAISE EXCEPTION 'Subscription % of a seed address has the push token of a subscriber to whom nothing is sent: %.', place, bar
                    USING ERRCODE = 'PM045', HINT = 'pushmta.seed shows which it is; remove it with pushmta.remove_seed.';
            END IF;
            -- Never the token itself: messages go to logs.
            SELECT u.n INTO place FROM unnest(push_tokens) WITH ORDINALITY u(token, n)
            WHERE NOT EXISTS (SELECT FROM pushmta.delivery_target t JOIN subscription s ON s.id = t.subscription_id
                JOIN application p ON p.id = s.application_id
                WHERE t.delivery_id = made AND s.push_token = CASE WHEN p.platform = 'ios' THEN lower(u.token) ELSE u.token END)
            ORDER BY u.n LIMIT 1;
            IF FOUND THEN
                RAISE EXCEPTION 'Push token number % is of no enabled subscription of the applications of delivery %.', place, delivery
                    USING ERRCODE = 'PM044', HINT = 'Make it a seed address with pushmta.add_seed; that needs no subscription.';
            END IF;
            IF targets = 0 THEN
                RAISE EXCEPTION 'There is nobody to send a proof of delivery % to.', delivery
                    USING ERRCODE = 'PM044', HINT = 'Add a seed address with pushmta.add_seed, or name subscriptions of the delivery''s applications.';
            END IF;
            IF start THEN
                PERFORM pushmta.start_delivery(made);
            END IF;
            RETURN made;
        END $$;

        """#
}
