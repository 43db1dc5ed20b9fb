extension Migration {
    /// What strangers can do less: guess numbers of messages, name themselves as somebody else, and ask for keys of the API that are none;
    /// and the certificates of web processes, which others watch.
    static let strangers = Migration(
        version: 34,
        name: "strangers",
        oldestProgram: 8,
        script: numberScript + proofTables + proofFunctions + webScript + strangerRights
    )

    private static let numberScript = #"""
        -- The key under which int32 message ids are made of their numbers: one, as the numbers are one range for all deliveries. Unpredictable
        -- as tracking keys are: two random UUIDs carry 244 random bits, of which the hash keeps 128.
        CREATE TABLE pushmta_engine.numbered_id_key (
            id boolean PRIMARY KEY DEFAULT true CHECK (id),
            key bytea NOT NULL CHECK (octet_length(key) = 16)
        );
        INSERT INTO pushmta_engine.numbered_id_key (key)
        VALUES (substring(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())) FROM 1 FOR 16));
        CREATE FUNCTION pushmta_engine.message_numbers_key() RETURNS bytea LANGUAGE sql STABLE SECURITY DEFINER
            SET search_path = pushmta_engine, pg_temp AS $$ SELECT k.key FROM numbered_id_key k $$;

        """#

    private static let proofTables = #"""
        -- Who says which user a device belongs to: open, the device; signed, the device with a token that the customer's backend has signed;
        -- server, nobody but the API and imports.
        ALTER TABLE pushmta_engine.service ADD user_key_trust text NOT NULL DEFAULT 'open'
            CHECK (user_key_trust IN ('open', 'signed', 'server'));
        -- The keys that such tokens are checked with. A secret (HS256) is sealed like a credential, whose ids it shares, as the seal
        -- authenticates the id; a public key (ES256) is kept as the 65 bytes of its point.
        CREATE TABLE pushmta_engine.service_proof_key (
            id bigint PRIMARY KEY,
            service_id integer NOT NULL REFERENCES pushmta_engine.service,
            key_id text NOT NULL CHECK (key_id <> '' AND octet_length(key_id) <= 200),
            algorithm text NOT NULL CHECK (algorithm IN ('HS256', 'ES256')),
            public_key bytea,
            sealed bytea,
            seal_key_id text,
            fingerprint text NOT NULL DEFAULT '',
            created_at timestamptz NOT NULL DEFAULT now(),
            created_by text NOT NULL DEFAULT session_user,
            UNIQUE (service_id, key_id),
            CHECK ((algorithm = 'ES256') = (public_key IS NOT NULL)),
            CHECK ((algorithm = 'HS256') = (sealed IS NOT NULL AND seal_key_id IS NOT NULL))
        );
        -- Whether somebody else than the device has said whose it is: a proof, the API, or an import.
        ALTER TABLE pushmta_engine.subscription ADD user_key_proven boolean NOT NULL DEFAULT false;

        """#

    private static let proofFunctions = #"""
        -- What registrations need to know of the services of applications.
        CREATE FUNCTION pushmta_engine.registration_trust() RETURNS TABLE (application_id integer, service_id integer, trust text)
            LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
                SELECT a.id, a.service_id, v.user_key_trust FROM application a JOIN service v ON v.id = a.service_id $$;
        CREATE FUNCTION pushmta_engine.registration_proof_keys() RETURNS TABLE (id bigint, service_id integer, key_id text, algorithm text,
            public_key bytea, sealed bytea, seal_key_id text)
            LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
                SELECT k.id, k.service_id, k.key_id, k.algorithm, k.public_key, k.sealed, k.seal_key_id FROM service_proof_key k $$;

        -- Stores registrations as register_devices does, after it has settled whose the devices are. A claim is
        -- * proven: the user key was said by somebody whom the service trusts, and the subscription notes that;
        -- * open: the service takes the device's word;
        -- * unproven: the user key counts only if the enabled subscription of the token has the same one, so that a device that registers
        --   again without a proof stays whose it is; else it has none;
        -- * server: the device is not asked at all; the subscription of the token keeps the user key that it has.
        -- Registrations of one token in one call must not depend on each other; the caller sees to that.
        CREATE FUNCTION pushmta_engine.register_claims(
            application_ids integer[], tokens text[], user_keys text[], device_ids text[], locales text[], time_zones text[],
            devices text[], recipients text[], parameter_sets text[], extras text[], claims text[]
        ) RETURNS TABLE (created integer, updated integer, disabled integer) LANGUAGE plpgsql SECURITY DEFINER
            SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
        #variable_conflict use_column
        DECLARE
            keys text[];
        BEGIN
            -- That of register_devices: what is looked at here is still so there.
            PERFORM pg_advisory_xact_lock(5786284502004);
            keys := ARRAY(
                SELECT CASE WHEN g.claim IN ('proven', 'open') THEN g.user_key ELSE coalesce((
                        SELECT s.user_key FROM subscription s
                        WHERE s.application_id = g.application_id AND s.push_token = g.push_token AND s.enabled
                            AND (g.claim = 'server' OR s.user_key = g.user_key)), '') END
                FROM unnest(application_ids, tokens, user_keys, claims) WITH ORDINALITY g(application_id, push_token, user_key, claim, n)
                ORDER BY g.n);
            RETURN QUERY SELECT r.created, r.updated, r.disabled FROM register_devices(application_ids, tokens, keys, device_ids, locales,
                time_zones, devices, recipients, parameter_sets, extras) r;
            UPDATE subscription s SET user_key_proven = true
            FROM unnest(application_ids, tokens, keys, claims) g(application_id, push_token, user_key, claim)
            WHERE g.claim = 'proven' AND g.user_key <> '' AND s.application_id = g.application_id AND s.push_token = g.push_token
                AND s.enabled AND s.user_key = g.user_key AND NOT s.user_key_proven;
        END $$;

        -- Takes the user keys away that nobody but the device has said, from an application's subscriptions behind an id: each that is sent to
        -- is replaced by one without a user key, so that what is on its way to the user does not reach the device. One that was opted out
        -- stays as it is, as the opt-out is that user's.
        CREATE FUNCTION pushmta_engine.unlink_unproven(application integer, behind bigint, most integer)
            RETURNS TABLE (last_id bigint, unlinked integer) LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_column
        DECLARE
            found record;
        BEGIN
            PERFORM pg_advisory_xact_lock(5786284502004);
            last_id := (SELECT max(x.id) FROM (SELECT s.id FROM subscription s WHERE s.application_id = application AND s.id > behind
                ORDER BY s.id LIMIT most) x);
            SELECT array_agg(s.push_token) AS tokens, array_agg(s.device_id) AS device_ids, array_agg(s.locale) AS locales,
                array_agg(s.time_zone) AS time_zones, array_agg(s.device::text) AS devices, array_agg(s.parameters::text) AS parameters,
                array_agg(s.extra::text) AS extras, count(*)::integer AS count INTO found
            FROM subscription s
            WHERE s.application_id = application AND s.id > behind AND s.id <= last_id AND s.enabled AND s.user_key <> ''
                AND NOT s.user_key_proven AND s.exclusion = 0;
            unlinked := found.count;
            IF unlinked > 0 THEN
                PERFORM register_devices(array_fill(application, ARRAY[unlinked]), found.tokens, array_fill(''::text, ARRAY[unlinked]),
                    found.device_ids, found.locales, found.time_zones, found.devices, array_fill(NULL::text, ARRAY[unlinked]),
                    found.parameters, found.extras);
            END IF;
            UPDATE subscription s SET user_key = ''
            WHERE s.application_id = application AND s.id > behind AND s.id <= last_id AND s.enabled AND s.user_key <> ''
                AND NOT s.user_key_proven AND s.exclusion = 3;
            RETURN NEXT;
        END $$;

        """#

    private static let webScript = #"""
        -- What names the keys of the API: no secret, and enough to know that a key is none without asking for it.
        CREATE FUNCTION pushmta_engine.api_key_ids() RETURNS SETOF text LANGUAGE sql STABLE SECURITY DEFINER
            SET search_path = pushmta_engine, pg_temp AS $$ SELECT k.public_id FROM api_key k $$;

        -- The certificates that web processes serve HTTPS with, by host and file.
        CREATE TABLE pushmta_engine.web_certificate (
            host text NOT NULL,
            file text NOT NULL,
            expires_at timestamptz NOT NULL,
            reported_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (host, file)
        );
        CREATE FUNCTION pushmta_engine.note_web_certificate(from_host text, from_file text, expires double precision) RETURNS void
            LANGUAGE sql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
                INSERT INTO web_certificate (host, file, expires_at) VALUES (from_host, from_file, to_timestamp(expires))
                ON CONFLICT (host, file) DO UPDATE SET expires_at = excluded.expires_at, reported_at = now();
                -- A host that serves no HTTPS any more, or another file.
                DELETE FROM web_certificate w WHERE w.reported_at < now() - interval '1 day'; $$;

        """#

    private static let strangerRights = #"""
        REVOKE ALL ON FUNCTION pushmta_engine.message_numbers_key(), pushmta_engine.registration_trust(),
            pushmta_engine.registration_proof_keys(), pushmta_engine.register_claims(integer[], text[], text[], text[], text[], text[], text[],
                text[], text[], text[], text[]), pushmta_engine.unlink_unproven(integer, bigint, integer), pushmta_engine.api_key_ids(),
            pushmta_engine.note_web_certificate(text, text, double precision) FROM PUBLIC;
        DO $$
        DECLARE
            made text := 'pushmta_engine.message_numbers_key(), pushmta_engine.registration_trust(), '
                'pushmta_engine.registration_proof_keys(), pushmta_engine.register_claims(integer[], text[], text[], text[], text[], text[], '
                'text[], text[], text[], text[], text[]), pushmta_engine.api_key_ids(), '
                'pushmta_engine.note_web_certificate(text, text, double precision)';
            grantee text;
        BEGIN
            FOREACH grantee IN ARRAY ARRAY['pushmta_runtime', 'pushmta_web'] LOOP
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = grantee) THEN
                    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', made, grantee);
                END IF;
            END LOOP;
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                GRANT EXECUTE ON FUNCTION pushmta_engine.unlink_unproven(integer, bigint, integer) TO pushmta_runtime;
                GRANT SELECT, INSERT, UPDATE, DELETE ON pushmta_engine.numbered_id_key, pushmta_engine.service_proof_key,
                    pushmta_engine.web_certificate TO pushmta_runtime;
            END IF;
        END $$;
        """#
}
