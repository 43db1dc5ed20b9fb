-- The foundations: the schemas, the record of what was applied, rules for names and tokens, names of codes, the console's caller.

CREATE SCHEMA IF NOT EXISTS pushmta_engine;
CREATE SCHEMA IF NOT EXISTS pushmta;
COMMENT ON SCHEMA pushmta_engine IS 'PushMTA''s own tables. Read and write them through schema pushmta.';
COMMENT ON SCHEMA pushmta IS 'PushMTA''s contract: views for monitoring, functions and delivery_target for marketing systems.';

CREATE TABLE pushmta_engine.schema_version (
    version integer NOT NULL,
    file text NOT NULL,
    -- SHA-256 of the file, in hexadecimal: an applied file never changes.
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    applied_by text NOT NULL DEFAULT session_user,
    PRIMARY KEY (version, file)
);
COMMENT ON TABLE pushmta_engine.schema_version IS
    'The parts of the schema that were applied: each file of each version, with its checksum when it was applied.';

CREATE VIEW pushmta.schema_version AS
SELECT v.version, v.file, v.checksum, v.applied_at FROM pushmta_engine.schema_version v;
COMMENT ON VIEW pushmta.schema_version IS
    'The parts of the schema that were applied, for programs that may not read schema pushmta_engine.';

CREATE TABLE pushmta_engine.installation (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE pushmta_engine.installation IS
    'Identifies this database: a journal that was written for another one is not replayed here.';

INSERT INTO pushmta_engine.installation DEFAULT VALUES;

-- Locks are tables without columns. Any session can take an advisory lock; only the engine's roles and the functions of this schema
-- can take these. Unlike a row lock, a table lock writes nothing, and it shows its name in pg_locks. The tables are never read, and
-- none of the modes in use blocks a backup.
CREATE TABLE pushmta_engine.partition_lock ();
COMMENT ON TABLE pushmta_engine.partition_lock IS 'Held in SHARE ROW EXCLUSIVE mode by a session that creates partitions.';

CREATE TABLE pushmta_engine.registration_lock ();
COMMENT ON TABLE pushmta_engine.registration_lock IS
    'Held in SHARE ROW EXCLUSIVE mode by a session that reads subscriptions and then adds to them: registrations and imports.';

CREATE TABLE pushmta_engine.feedback_lock ();
COMMENT ON TABLE pushmta_engine.feedback_lock IS 'Held in SHARE ROW EXCLUSIVE mode by a feedback worker while it takes over.';

CREATE TABLE pushmta_engine.credential_key_lock ();
COMMENT ON TABLE pushmta_engine.credential_key_lock IS
    'Held by a session that seals a credential (ROW SHARE) or changes the set of keys (EXCLUSIVE).';

DO $$ BEGIN
    FOR slot IN 0..31 LOOP
        EXECUTE format('CREATE TABLE pushmta_engine.delivery_lock_%s ()', slot);
        EXECUTE format('COMMENT ON TABLE pushmta_engine.delivery_lock_%s IS %L', slot,
            'Sessions queue for it before they lock the row of a delivery: see pushmta_engine.lock_delivery.');
    END LOOP;
END $$;

CREATE FUNCTION pushmta_engine.is_plain(value text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN value !~ '[\u0001-\u001F\u007F-\u009F\u2028\u2029]'
        AND value ~ '[^ \u00A0\u00AD\u115F\u1160\u1680\u180E\u2000-\u200F\u202F\u205F-\u2064\u2800\u3000\u3164\uFEFF\uFFA0]';
COMMENT ON FUNCTION pushmta_engine.is_plain(text) IS
    'Whether a text is plain. It has no control characters (C0, C1) and no other line breaks, which terminals would obey and which would '
    'break tables and logs. It is not blank, so it has more than white space and invisible characters. Table constraints run it with the '
    'rights of the writer.';

CREATE FUNCTION pushmta_engine.is_name(value text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN octet_length(value) BETWEEN 1 AND 200 AND pushmta_engine.is_plain(value);
COMMENT ON FUNCTION pushmta_engine.is_name(text) IS 'Whether a text is a valid name: plain, not blank, up to 200 bytes.';

CREATE FUNCTION pushmta_engine.is_label(value text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN value = '' OR char_length(value) <= 500 AND pushmta_engine.is_plain(value);
COMMENT ON FUNCTION pushmta_engine.is_label(text) IS
    'Whether a text is a valid label: plain, not blank, up to 500 characters. An empty text means no label.';

CREATE FUNCTION pushmta_engine.is_integration_key(value text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN octet_length(value) BETWEEN 1 AND 1000 AND pushmta_engine.is_plain(value);
COMMENT ON FUNCTION pushmta_engine.is_integration_key(text) IS
    'Whether a text is a valid integration key: plain, not blank, up to 1,000 bytes.';

CREATE FUNCTION pushmta_engine.require_name(thing text, value text, code text) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    IF NOT is_name(coalesce(value, '')) THEN
        RAISE EXCEPTION 'The name of the % is not valid; it has % bytes.', thing, octet_length(coalesce(value, ''))
            USING ERRCODE = code, HINT = 'A name has 1 to 200 bytes, is not blank, and has no line breaks or control characters.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.require_name(text, text, text) IS
    'Raises an error if a text is not a valid name. The message does not repeat the name, which could control a terminal.';

CREATE FUNCTION pushmta_engine.require_label(thing text, value text, code text) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    IF NOT is_label(coalesce(value, '')) THEN
        RAISE EXCEPTION 'The label of the % is not valid; it has % characters.', thing, char_length(value)
            USING ERRCODE = code,
                HINT = 'A label has at most 500 characters, is not blank, and has no line breaks or control characters.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.require_label(text, text, text) IS 'Raises an error if a text is not a valid label.';

CREATE FUNCTION pushmta_engine.token_problem(platform text, token text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN platform = 'ios' THEN CASE WHEN token !~ '^([0-9A-Fa-f]{2}){32,100}$'
            THEN 'an APNs token has 64 hexadecimal digits, or an even number up to 200' END
        WHEN token ~ '^[0-9A-Fa-f]{64,}$' THEN 'it is that of an iOS device, hexadecimal digits only'
        WHEN length(token) NOT BETWEEN 20 AND 2000 OR token ~ '[^!-~]'
            THEN 'an FCM token has 20 to 2,000 printable characters' END;
COMMENT ON FUNCTION pushmta_engine.token_problem(text, text) IS
    'What is wrong with a push token given for a platform; null if nothing is.';

CREATE FUNCTION pushmta_engine.is_push_token(token text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN length(token) BETWEEN 8 AND 2000 AND token !~ '[^!-~]';
COMMENT ON FUNCTION pushmta_engine.is_push_token(text) IS 'Whether a text could be a push token of any platform.';

CREATE FUNCTION pushmta_engine.refuse_token() RETURNS trigger LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'A value of % characters is not a push token.', length(NEW.push_token)
        USING ERRCODE = 'check_violation', TABLE = 'subscription', CONSTRAINT = 'subscription_push_token_form',
            HINT = 'A push token has at most 2,000 printable characters, and no spaces.';
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_token() IS
    'Refuses a push token that no gateway has and that an index could not hold. A trigger, not a table constraint: a gateway may replace '
    'a token with any text, and what it reports about the old token must be recorded.';

CREATE FUNCTION pushmta_engine.plain_token() RETURNS trigger LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    NEW.push_token := lower(NEW.push_token);
    RETURN NEW;
END $$;
COMMENT ON FUNCTION pushmta_engine.plain_token() IS
    'Converts an APNs token to lower case, as subscriptions store it: in another case it would match no subscription. FCM tokens have '
    'letters after a colon and stay as they are.';

CREATE FUNCTION pushmta_engine.trimmed(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pushmta_engine, pg_temp AS $$
        SELECT regexp_replace(regexp_replace(value, '^[\u0009-\u000D\u0085\u2028\u2029 \u00A0\u00AD\u115F\u1160\u1680\u180E'
            || '\u2000-\u200F\u202F\u205F-\u2064\u2800\u3000\u3164\uFEFF\uFFA0]+', ''),
            '[\u0009-\u000D\u0085\u2028\u2029 \u00A0\u00AD\u115F\u1160\u1680\u180E'
            || '\u2000-\u200F\u202F\u205F-\u2064\u2800\u3000\u3164\uFEFF\uFFA0]+$', '') $$;
COMMENT ON FUNCTION pushmta_engine.trimmed(text) IS
    'A user key without the invisible characters at its ends, as in Swift''s KeyText: to the person who wrote it, it is the same key.';

CREATE FUNCTION pushmta_engine.plain_user_key() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    NEW.user_key := trimmed(NEW.user_key);
    -- As in Swift's KeyText. The message never has the key itself, because messages go to logs.
    IF NEW.user_key ~ '^[+-]?[0-9]+([.,][0-9]+)?[Ee][+-][0-9]{1,3}$|^[+-]?[0-9]+[.,][0-9]+[Ee][0-9]{1,3}$|^[0-9]+\.0+$' THEN
        RAISE EXCEPTION 'A user key for % is a number that a spreadsheet or program has rewritten, such as 1.2E+11 or 12.0.', TG_TABLE_NAME
            USING ERRCODE = 'PM007', HINT = 'Export numbers as text.';
    ELSIF lower(NEW.user_key) IN ('null', '(null)', 'nil', 'none', 'nan', 'undefined', '#n/a', 'n/a', '<null>', '\n') THEN
        RAISE EXCEPTION 'A user key for % stands for a missing value, such as null.', TG_TABLE_NAME
            USING ERRCODE = 'PM007', HINT = 'Leave out the rows of people without a key.';
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION pushmta_engine.plain_user_key() IS
    'Trims user keys as subscriptions do and refuses damaged ones: any other key would match no subscription.';

CREATE FUNCTION pushmta_engine.status_name(status smallint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE status WHEN 0 THEN 'ignored' WHEN 1 THEN 'sent' WHEN 2 THEN 'failed' WHEN 6 THEN 'pending'
        WHEN 7 THEN 'canceled' WHEN 8 THEN 'not_applicable' WHEN 9 THEN 'unknown' END;
COMMENT ON FUNCTION pushmta_engine.status_name(smallint) IS 'The name of a broad log status.';

CREATE FUNCTION pushmta_engine.failure_type(failure smallint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE failure >> 8 WHEN 0 THEN 'ignored' WHEN 1 THEN 'soft' WHEN 2 THEN 'hard' END;
COMMENT ON FUNCTION pushmta_engine.failure_type(smallint) IS 'The type of a failure, from Adobe Campaign''s number for it.';

CREATE FUNCTION pushmta_engine.failure_reason(failure smallint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE failure & 255 WHEN 0 THEN 'Undefined' WHEN 1 THEN 'User unknown' WHEN 3 THEN 'Unreachable'
        WHEN 20 THEN 'Refused' END;
COMMENT ON FUNCTION pushmta_engine.failure_reason(smallint) IS 'The reason of a failure, from Adobe Campaign''s number for it.';

CREATE FUNCTION pushmta_engine.exclusion_name(code smallint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE code WHEN 1 THEN 'disabled' WHEN 2 THEN 'opted_out' WHEN 3 THEN 'quarantine' WHEN 5 THEN 'duplicate'
        WHEN 6 THEN 'unknown_subscription' WHEN 7 THEN 'exclusion_list' WHEN 8 THEN 'condition_failed' WHEN 9 THEN 'seed'
        WHEN 10 THEN 'frequency_cap' WHEN 11 THEN 'category_opted_out' WHEN 12 THEN 'control_group' ELSE 'other' END;
COMMENT ON FUNCTION pushmta_engine.exclusion_name(smallint) IS
    'The name of an exclusion code: the values of subscription.exclusion and those that preparation adds.';

CREATE FUNCTION pushmta_engine.code_exclusion(exclusion smallint, enabled boolean, quarantine_status smallint) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN exclusion <> 2 THEN exclusion WHEN quarantine_status >= 2 THEN 3 WHEN NOT enabled THEN 1 ELSE 0 END::smallint;
COMMENT ON FUNCTION pushmta_engine.code_exclusion(smallint, boolean, smallint) IS
    'A subscription''s exclusion for deliveries of one-time codes, which ignore an opt-out and nothing else.';

CREATE FUNCTION pushmta_engine.circuit_of(state text, next_probe_at timestamptz) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN next_probe_at IS NULL THEN 'closed' ELSE coalesce(state, 'closed') END;
COMMENT ON FUNCTION pushmta_engine.circuit_of(text, timestamptz) IS
    'The state of a circuit as it is shown: closed if no next probe is due.';

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
COMMENT ON FUNCTION pushmta_engine.merge_json(jsonb, jsonb) IS
    'RFC 7396, JSON Merge Patch: members of the patch replace those of the base, objects are merged, null removes.';

CREATE TYPE pushmta_engine.console_caller AS (token bytea, moment timestamptz, idle interval, address text);
COMMENT ON TYPE pushmta_engine.console_caller IS
    'Who calls a function of the console: the SHA-256 of the session''s token, the time of the call, after how long without use the '
    'session ends, and the address of the browser, for the audit log.';
