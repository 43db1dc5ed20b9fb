extension Migration {
    /// The functions of migration 23 for applications and devices.
    static let apiDeviceFunctions = #"""
        CREATE FUNCTION pushmta_engine.api_applications() RETURNS SETOF pushmta.application
            LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
                SELECT * FROM pushmta.application a ORDER BY a.name $$;

        CREATE FUNCTION pushmta_engine.api_device(device bigint) RETURNS SETOF pushmta.subscription
            LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
                SELECT * FROM pushmta.subscription s WHERE s.id = api_device.device $$;

        -- The devices that have a push token, or are a user's, in some applications (null: in all); the last registered first.
        CREATE FUNCTION pushmta_engine.api_find_devices(applications integer[], token text, person text, most integer)
            RETURNS SETOF pushmta.subscription LANGUAGE plpgsql STABLE SECURITY DEFINER
            SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
        #variable_conflict use_variable
        DECLARE
            apps integer[] := coalesce(applications, ARRAY(SELECT a.id FROM pushmta_engine.application a));
            found_ids bigint[];
        BEGIN
            IF token IS NOT NULL THEN
                -- Each half has an index of its own.
                found_ids := ARRAY(
                    SELECT s.id FROM subscription s WHERE s.application_id = ANY(apps) AND s.push_token = token AND s.enabled
                    UNION ALL
                    SELECT s.id FROM subscription s WHERE s.application_id = ANY(apps) AND s.push_token = token AND NOT s.enabled);
            ELSE
                found_ids := ARRAY(
                    SELECT s.id FROM subscription s WHERE s.application_id = ANY(apps) AND s.user_key = person AND s.user_key <> '');
            END IF;
            RETURN QUERY SELECT s.* FROM pushmta.subscription s WHERE s.id = ANY(found_ids)
                ORDER BY s.registered_at DESC, s.id DESC LIMIT most;
        END $$;

        -- Sends nothing more to a device, until it registers again.
        CREATE FUNCTION pushmta.unregister_device(device bigint) RETURNS void LANGUAGE plpgsql
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        BEGIN
            UPDATE subscription s SET enabled = false, disabled_at = now(), disabled_reason = 'unregistered'
            WHERE s.id = device AND s.enabled;
            IF NOT FOUND AND NOT EXISTS (SELECT FROM subscription s WHERE s.id = device) THEN
                RAISE EXCEPTION 'There is no device %.', device
                    USING ERRCODE = 'PM070', HINT = 'pushmta.subscription lists them by id.';
            END IF;
        END $$;

        -- Notes that the person behind a device wants nothing, or something again. It stays when the device registers again: an SDK
        -- does that by itself.
        CREATE FUNCTION pushmta.set_opt_out(device bigint, opted_out boolean) RETURNS void LANGUAGE plpgsql
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        BEGIN
            UPDATE subscription s SET opted_out = coalesce(set_opt_out.opted_out, true) WHERE s.id = device;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'There is no device %.', device
                    USING ERRCODE = 'PM070', HINT = 'pushmta.subscription lists them by id.';
            END IF;
        END $$;

        """#
}
