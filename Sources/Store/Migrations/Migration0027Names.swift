extension Migration {
    /// One rule for names and labels, and for push tokens that people give; see `NameRule` and `PushTokenForm` of PushCore.
    static let names = Migration(
        version: 27,
        name: "names",
        oldestProgram: 8,
        script: nameRules + nameConstraints + tokenRules + namedDeliveries + namedTemplates + namedSeeds + namedProofs
    )

    private static let nameRules = #"""
        -- Control characters of C0 and C1, and what else begins a line, would be obeyed by terminals and tear tables and logs. Blank is
        -- what has only characters that Unicode calls white space. Rules of tables run with the rights of whoever writes.
        CREATE FUNCTION pushmta_engine.is_plain(value text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT value !~ '[\u0001-\u001F\u007F-\u009F\u2028\u2029]'
                AND value ~ '[^ \u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]' $$;
        CREATE FUNCTION pushmta_engine.is_name(value text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT octet_length(value) BETWEEN 1 AND 200 AND pushmta_engine.is_plain(value) $$;
        -- An empty label is none.
        CREATE FUNCTION pushmta_engine.is_label(value text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT value = '' OR char_length(value) <= 500 AND pushmta_engine.is_plain(value) $$;
        CREATE FUNCTION pushmta_engine.is_integration_key(value text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT octet_length(value) BETWEEN 1 AND 1000 AND pushmta_engine.is_plain(value) $$;
        GRANT EXECUTE ON FUNCTION pushmta_engine.is_plain(text), pushmta_engine.is_name(text), pushmta_engine.is_label(text),
            pushmta_engine.is_integration_key(text) TO PUBLIC;

        -- Refuses a name in words; the name itself is not in them, as it may be what a terminal obeys.
        CREATE FUNCTION pushmta_engine.require_name(thing text, value text, code text) RETURNS void LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        BEGIN
            IF NOT is_name(coalesce(value, '')) THEN
                RAISE EXCEPTION 'The name of the % cannot be taken; it has % bytes.', thing, octet_length(coalesce(value, ''))
                    USING ERRCODE = code, HINT = 'A name has 1 to 200 bytes, is not blank, and has no line breaks or control characters.';
            END IF;
        END $$;
        CREATE FUNCTION pushmta_engine.require_label(thing text, value text, code text) RETURNS void LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        BEGIN
            IF NOT is_label(coalesce(value, '')) THEN
                RAISE EXCEPTION 'The label of the % cannot be taken; it has % characters.', thing, char_length(value)
                    USING ERRCODE = code,
                        HINT = 'A label has at most 500 characters, is not blank, and has no line breaks or control characters.';
            END IF;
        END $$;
        REVOKE ALL ON FUNCTION pushmta_engine.require_name(text, text, text), pushmta_engine.require_label(text, text, text) FROM PUBLIC;
        DO $$
        BEGIN
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                GRANT EXECUTE ON FUNCTION pushmta_engine.require_name(text, text, text),
                    pushmta_engine.require_label(text, text, text) TO pushmta_runtime;
            END IF;
        END $$;

        """#

    private static let nameConstraints = #"""
        -- Labels are for people alone, so those that the rule would refuse are mended: a rule of the table is checked with every change
        -- of a row, and a delivery under way must not stop for its label.
        DO $$
        DECLARE
            place text;
        BEGIN
            FOREACH place IN ARRAY ARRAY['target_mapping', 'service', 'external_account', 'application', 'delivery_template', 'seed',
                'exclusion_list', 'delivery'] LOOP
                EXECUTE format($q$UPDATE pushmta_engine.%I SET label = btrim(left(regexp_replace(label,
                    '[\u0001-\u001F\u007F-\u009F\u2028\u2029]+', ' ', 'g'), 500)) WHERE NOT pushmta_engine.is_label(label)$q$, place);
                EXECUTE format($q$UPDATE pushmta_engine.%I SET label = '' WHERE NOT pushmta_engine.is_label(label)$q$, place);
                EXECUTE format('ALTER TABLE pushmta_engine.%I ADD CONSTRAINT %I CHECK (pushmta_engine.is_label(label)) NOT VALID',
                    place, place || '_label_form');
            END LOOP;
        END $$;

        -- Names are what SQL of others refers to, so they stay as they are. Those that were given before and would be refused now are
        -- named by the rule itself; otherwise nothing of their rows could be changed any more. NOT VALID everywhere, as what is there is
        -- right already, or has been let through: an upgrade shall neither read whole tables nor fail.
        DO $$
        DECLARE
            place record;
            kept text;
        BEGIN
            FOR place IN SELECT * FROM (VALUES ('target_mapping', 'name', 'is_name'), ('service', 'name', 'is_name'),
                ('external_account', 'name', 'is_name'), ('application', 'name', 'is_name'), ('delivery_template', 'name', 'is_name'),
                ('seed', 'name', 'is_name'), ('exclusion_list', 'name', 'is_name'), ('api_key', 'name', 'is_name'),
                ('application', 'integration_key', 'is_integration_key')) v(relation, field, rule) LOOP
                EXECUTE format($q$SELECT string_agg(DISTINCT quote_literal(%1$I), ', ') FROM pushmta_engine.%2$I
                    WHERE NOT pushmta_engine.%3$I(%1$I)$q$, place.field, place.relation, place.rule) INTO kept;
                EXECUTE format('ALTER TABLE pushmta_engine.%I ADD CONSTRAINT %I CHECK (pushmta_engine.%I(%I)%s) NOT VALID',
                    place.relation, place.relation || '_' || place.field || '_form', place.rule, place.field,
                    coalesce(format(' OR %I IN (', place.field) || kept || ')', ''));
            END LOOP;
        END $$;

        """#

    private static let tokenRules = #"""
        -- What is wrong with a push token that people give for a platform; null if nothing is.
        CREATE FUNCTION pushmta_engine.token_problem(platform text, token text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE
                WHEN platform = 'ios' THEN CASE WHEN token !~ '^([0-9A-Fa-f]{2}){32,100}$'
                    THEN 'an APNs token has 64 hexadecimal digits, or an even number up to 200' END
                WHEN token ~ '^[0-9A-Fa-f]{64,}$' THEN 'it is that of an iOS device, hexadecimal digits only'
                WHEN length(token) NOT BETWEEN 20 AND 2000 OR token ~ '[^!-~]'
                    THEN 'an FCM token has 20 to 2,000 printable characters' END $$;
        -- Whether it could be a token of some platform.
        CREATE FUNCTION pushmta_engine.is_push_token(token text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT length(token) BETWEEN 8 AND 2000 AND token !~ '[^!-~]' $$;
        GRANT EXECUTE ON FUNCTION pushmta_engine.token_problem(text, text), pushmta_engine.is_push_token(text) TO PUBLIC;

        -- Nothing changes these rows, so that old ones are in nobody's way.
        ALTER TABLE pushmta_engine.exclusion_entry ADD CONSTRAINT exclusion_entry_address_form CHECK
            (coalesce(subscription_id, 1) > 0 AND (push_token IS NULL OR pushmta_engine.is_push_token(push_token))) NOT VALID;
        ALTER TABLE pushmta.delivery_exclusion ADD CONSTRAINT delivery_exclusion_address_form CHECK
            (coalesce(subscription_id, 1) > 0 AND (push_token IS NULL OR pushmta_engine.is_push_token(push_token))) NOT VALID;

        -- No gateway has such a token, and an index could not hold it. A trigger and no rule of the table: gateways replace tokens by
        -- what they like, and what they say of an old one must be noted whatever it looks like.
        CREATE FUNCTION pushmta_engine.refuse_token() RETURNS trigger LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
        BEGIN
            RAISE EXCEPTION 'A push token of % characters cannot be one.', length(NEW.push_token)
                USING ERRCODE = 'check_violation', TABLE = 'subscription', CONSTRAINT = 'subscription_push_token_form',
                    HINT = 'A push token has at most 2,000 printable characters, and no spaces.';
        END $$;
        REVOKE ALL ON FUNCTION pushmta_engine.refuse_token() FROM PUBLIC;
        CREATE TRIGGER subscription_push_token_form BEFORE INSERT ON pushmta_engine.subscription
            FOR EACH ROW WHEN (length(NEW.push_token) > 2000 OR NEW.push_token ~ '[^!-~]')
            EXECUTE FUNCTION pushmta_engine.refuse_token();

        """#
}
