extension Migration {
    /// An opt-out goes with the person and the device, and not with a push token.
    static let lastingOptOuts = #"""
        -- Stores registrations in the order of the arrays, as if each were a transaction of its own:
        -- * the same token and user again: updated, enabled, its errors forgotten;
        -- * another user on the token: a new subscription, the old one is disabled;
        -- * another token of a device that says which it is: the old one is disabled;
        -- * who opted out on a device stays opted out there, whatever became of the token: an SDK registers by itself, and only the API
        --   opts in. What counts is the subscription of the same device and user that was registered last.
        -- Of several for one token the last counts, and of several of one device; each of them ends what was before it. Whoever calls
        -- it waits for the others, so that two registrations never miss each other; what else changes subscriptions meanwhile makes
        -- it fail with an error to try again. Joins go by index, one registration at a time, however large the table was when the
        -- statements were planned.
        CREATE OR REPLACE FUNCTION pushmta_engine.register_devices(
            application_ids integer[], tokens text[], user_keys text[], device_ids text[], locales text[], time_zones text[],
            devices text[], recipients text[], parameter_sets text[], extras text[]
        ) RETURNS TABLE (created integer, updated integer, disabled integer) LANGUAGE plpgsql SECURITY DEFINER
            SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
        #variable_conflict use_column
        DECLARE
            -- For each registration the subscription that it updates, 0 for a new one, -1 if a later one counts in its place.
            targets bigint[];
            ended bigint[];
            reasons text[];
            expected integer;
        BEGIN
            PERFORM pg_advisory_xact_lock(5786284502004);
            WITH ranked AS MATERIALIZED (
                SELECT g.*, g.n = max(g.n) OVER (PARTITION BY g.application_id, g.push_token) AS last_of_token,
                    g.device_id IS NULL OR g.n = max(g.n) OVER (PARTITION BY g.application_id, g.device_id) AS last_of_device
                FROM unnest(application_ids, tokens, user_keys, device_ids) WITH ORDINALITY
                    g(application_id, push_token, user_key, device_id, n)
            ), found AS MATERIALIZED (
                SELECT r.*, e.id AS enabled_id, e.user_key = r.user_key AS is_his, d.id AS disabled_id
                FROM ranked r
                LEFT JOIN LATERAL (SELECT s.id, s.user_key FROM subscription s
                    WHERE r.last_of_token AND s.application_id = r.application_id AND s.push_token = r.push_token AND s.enabled
                    LIMIT 1) e ON true
                -- Of several disabled ones the newest; an aggregate, so that no plan walks through all ids for it.
                LEFT JOIN LATERAL (SELECT (array_agg(s.id ORDER BY s.id DESC))[1] AS id FROM subscription s
                    WHERE r.last_of_token AND e.user_key IS DISTINCT FROM r.user_key AND s.application_id = r.application_id
                        AND s.push_token = r.push_token AND NOT s.enabled AND s.user_key = r.user_key) d ON true
            ), gone AS (
                SELECT f.enabled_id AS id, CASE WHEN f.last_of_device THEN 'token_moved' ELSE 'token_renewed' END AS reason
                FROM found f WHERE f.enabled_id IS NOT NULL AND (NOT f.last_of_device OR NOT f.is_his)
                UNION ALL
                SELECT e.id, 'token_renewed'
                FROM found r CROSS JOIN LATERAL (SELECT s.id, s.push_token FROM subscription s
                    WHERE s.application_id = r.application_id AND s.device_id = r.device_id AND s.enabled
                        AND s.push_token <> r.push_token OFFSET 0) e
                WHERE r.device_id IS NOT NULL AND NOT EXISTS (SELECT FROM found k WHERE k.last_of_token AND k.last_of_device
                    AND k.application_id = r.application_id AND k.push_token = e.push_token)
            )
            SELECT (SELECT array_agg(CASE WHEN NOT (f.last_of_token AND f.last_of_device) THEN -1
                    WHEN f.is_his THEN f.enabled_id ELSE coalesce(f.disabled_id, 0) END ORDER BY f.n) FROM found f),
                (SELECT array_agg(x.id) FROM gone x), (SELECT array_agg(x.reason) FROM gone x)
            INTO targets, ended, reasons;

            disabled := 0;
            IF ended IS NOT NULL THEN
                UPDATE subscription s SET enabled = false, disabled_at = now(), disabled_reason = e.reason
                FROM (SELECT x.id, min(x.reason) AS reason FROM unnest(ended, reasons) x(id, reason) GROUP BY x.id) e
                WHERE s.id = e.id AND s.enabled;
                GET DIAGNOSTICS disabled = ROW_COUNT;
            END IF;

            WITH given AS MATERIALIZED (
                SELECT g.*
                FROM unnest(targets, application_ids, tokens, user_keys, device_ids, locales, time_zones, devices, recipients,
                    parameter_sets, extras) WITH ORDINALITY
                    g(target, application_id, push_token, user_key, device_id, locale, time_zone, device, recipient, parameters, extra,
                        n)
                WHERE g.target >= 0
            ), changed AS (
                UPDATE subscription s SET registered_at = now(), enabled = true, disabled_at = NULL, disabled_reason = '',
                    -- A row that comes back may be older than what the person said since.
                    opted_out = CASE WHEN s.enabled OR f.device_id IS NULL THEN s.opted_out ELSE coalesce((
                        SELECT o.opted_out
                        FROM (SELECT x.id, x.opted_out, x.user_key, x.registered_at FROM subscription x
                            WHERE x.application_id = f.application_id AND x.device_id = f.device_id OFFSET 0) o
                        WHERE o.user_key = f.user_key AND o.registered_at >= s.registered_at
                        ORDER BY o.registered_at DESC, o.id DESC LIMIT 1), s.opted_out) END,
                    device_id = f.device_id, device = coalesce(f.device::jsonb, s.device),
                    locale = CASE WHEN f.locale = '' THEN s.locale ELSE f.locale END,
                    time_zone = CASE WHEN f.time_zone = '' THEN s.time_zone ELSE f.time_zone END,
                    -- The app declares some fields of the recipient; others come from elsewhere.
                    recipient = CASE WHEN f.recipient IS NULL THEN s.recipient
                        ELSE coalesce(s.recipient, '{}') || f.recipient::jsonb END,
                    parameters = coalesce(f.parameters::jsonb, s.parameters), extra = coalesce(f.extra::jsonb, s.extra),
                    soft_errors = 0,
                    quarantine_reason = CASE WHEN s.quarantine_status IN (1, 2) THEN '' ELSE s.quarantine_reason END,
                    quarantined_at = CASE WHEN s.quarantine_status = 2 THEN NULL ELSE s.quarantined_at END,
                    quarantine_status = CASE WHEN s.quarantine_status IN (1, 2) THEN 0 ELSE s.quarantine_status END
                FROM given f WHERE f.target > 0 AND s.id = f.target AND s.push_token = f.push_token
                RETURNING 1
            ), made AS (
                INSERT INTO subscription (application_id, push_token, user_key, device_id, locale, time_zone, device, recipient,
                    parameters, extra, opted_out)
                SELECT f.application_id, f.push_token, f.user_key, f.device_id, f.locale, f.time_zone, f.device::jsonb,
                    f.recipient::jsonb, f.parameters::jsonb, f.extra::jsonb,
                    -- The same user on the same device, which has another token now.
                    CASE WHEN f.device_id IS NULL THEN false ELSE coalesce((
                        SELECT o.opted_out
                        FROM (SELECT x.id, x.opted_out, x.user_key, x.registered_at FROM subscription x
                            WHERE x.application_id = f.application_id AND x.device_id = f.device_id OFFSET 0) o
                        WHERE o.user_key = f.user_key ORDER BY o.registered_at DESC, o.id DESC LIMIT 1), false) END
                FROM given f WHERE f.target = 0 ORDER BY f.n
                RETURNING 1
            )
            SELECT (SELECT count(*) FROM made), (SELECT count(*) FROM changed), (SELECT count(*) FROM given)
            INTO created, updated, expected;
            IF created + updated <> expected THEN
                -- A gateway has just replaced one of the tokens: what was found is not true any more.
                RAISE EXCEPTION 'Subscriptions changed while they were registered.' USING ERRCODE = 'serialization_failure';
            END IF;
            RETURN NEXT;
        END $$;

        -- Notes that the person behind a device wants nothing, or something again, whichever of the device's subscriptions it is said
        -- of. It stays when the device registers again: an SDK does that by itself.
        CREATE OR REPLACE FUNCTION pushmta.set_opt_out(device bigint, opted_out boolean) RETURNS void LANGUAGE plpgsql
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
        #variable_conflict use_variable
        DECLARE
            named record;
        BEGIN
            SELECT s.application_id, s.device_id, s.user_key INTO named FROM subscription s WHERE s.id = device;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'There is no device %.', device
                    USING ERRCODE = 'PM070', HINT = 'pushmta.subscription lists them by id.';
            END IF;
            UPDATE subscription s SET opted_out = coalesce(set_opt_out.opted_out, true) WHERE s.id = device;
            -- Registrations look at them.
            UPDATE subscription s SET opted_out = coalesce(set_opt_out.opted_out, true)
            WHERE s.application_id = named.application_id AND s.device_id = named.device_id AND s.user_key = named.user_key
                AND s.id <> device AND s.opted_out IS DISTINCT FROM coalesce(set_opt_out.opted_out, true);
        END $$;

        -- What says that a person wants nothing is never thrown away: nobody else knows it.
        CREATE INDEX subscription_disabled_long ON pushmta_engine.subscription (disabled_at)
            WHERE NOT enabled AND quarantine_status < 3 AND NOT opted_out;
        DROP INDEX pushmta_engine.subscription_disabled;

        -- Deletes up to so many subscriptions that have been disabled for longer than the time; returns how many.
        CREATE OR REPLACE FUNCTION pushmta_engine.purge_subscriptions(most integer, older interval) RETURNS bigint LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
        DECLARE
            purged bigint;
        BEGIN
            DELETE FROM subscription s WHERE s.id = ANY(ARRAY(SELECT x.id FROM subscription x
                WHERE NOT x.enabled AND x.quarantine_status < 3 AND NOT x.opted_out AND x.disabled_at < now() - older
                ORDER BY x.disabled_at LIMIT most FOR UPDATE SKIP LOCKED));
            GET DIAGNOSTICS purged = ROW_COUNT;
            PERFORM note_retention('disabled subscriptions', purged);
            RETURN purged;
        END $$;
        """#
}
