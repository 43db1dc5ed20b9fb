extension Migration {
    static let retention = #"""
        -- What was thrown away, a row for each day and thing.
        CREATE TABLE pushmta_engine.retention_log (
            day date NOT NULL,
            what text NOT NULL,
            n bigint NOT NULL,
            changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            PRIMARY KEY (day, what)
        );
        -- For the purge. Deny-listed ones stay.
        CREATE INDEX subscription_disabled ON pushmta_engine.subscription (disabled_at) WHERE NOT enabled AND quarantine_status < 3;

        CREATE FUNCTION pushmta_engine.note_retention(thing text, number bigint) RETURNS void LANGUAGE sql
            SET search_path = pushmta_engine, pg_temp AS $$
                INSERT INTO retention_log AS r (day, what, n) SELECT (now() AT TIME ZONE 'UTC')::date, thing, number WHERE number > 0
                ON CONFLICT (day, what) DO UPDATE SET n = r.n + excluded.n, changed_at = clock_timestamp() $$;

        -- Drops the oldest partition of a large table that is older than a day, unless something there is to be done or counted yet; returns
        -- its name, null if there is none. It waits for others for a moment only, as all others wait behind it. Roles that own no table may
        -- call it, so it takes no other table's name.
        CREATE FUNCTION pushmta_engine.drop_old_partition(parent text, before date) RETURNS text LANGUAGE plpgsql
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET lock_timeout = '300ms' AS $$
        DECLARE
            found record;
        BEGIN
            IF parent IS NULL OR parent NOT IN ('broad_log', 'tracking_log', 'exclusion_log', 'delivery_part_target') THEN
                RAISE EXCEPTION '% is no table with partitions.', parent USING ERRCODE = 'PM007';
            END IF;
            FOR found IN SELECT c.relname AS name, to_date(right(c.relname, 8), 'YYYYMMDD') AS day
                FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                WHERE i.inhparent = ('pushmta_engine.' || parent)::regclass AND c.relname ~ ('^' || parent || '_[0-9]{8}$')
                ORDER BY 2
            LOOP
                -- A delivery that was started before midnight is prepared after it.
                EXIT WHEN found.day >= least(before, (now() AT TIME ZONE 'UTC')::date - 1);
                IF NOT EXISTS (SELECT FROM delivery_part p WHERE p.state <> 'done' AND p.log_day = found.day)
                    AND NOT EXISTS (SELECT FROM delivery_part p WHERE p.state = 'done' AND NOT p.counted AND p.log_day = found.day)
                    AND NOT EXISTS (SELECT FROM late_outcome l WHERE l.log_day = found.day)
                    AND NOT EXISTS (SELECT FROM tracking_uncounted u WHERE u.log_day = found.day)
                    AND NOT EXISTS (SELECT FROM delivery d WHERE d.log_day = found.day
                        AND d.state IN ('pending', 'preparing', 'in_progress', 'paused'))
                THEN
                    EXECUTE format('DROP TABLE pushmta_engine.%I', found.name);
                    PERFORM note_retention('partitions of ' || parent, 1);
                    RETURN found.name;
                END IF;
            END LOOP;
            RETURN NULL;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            RETURN NULL;
        END $$;

        -- Deletes up to so many subscriptions that have been disabled for longer than the time; returns how many.
        CREATE FUNCTION pushmta_engine.purge_subscriptions(most integer, older interval) RETURNS bigint LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
        DECLARE
            purged bigint;
        BEGIN
            DELETE FROM subscription s WHERE s.id = ANY(ARRAY(SELECT x.id FROM subscription x
                WHERE NOT x.enabled AND x.quarantine_status < 3 AND x.disabled_at < now() - older
                ORDER BY x.disabled_at LIMIT most FOR UPDATE SKIP LOCKED));
            GET DIAGNOSTICS purged = ROW_COUNT;
            PERFORM note_retention('disabled subscriptions', purged);
            RETURN purged;
        END $$;

        -- Deletes up to so many token events that were decided and are older than the time; returns how many. Only the oldest rows are looked
        -- at: they are in the order of their ids, nearly.
        CREATE FUNCTION pushmta_engine.purge_token_events(most integer, older interval) RETURNS bigint LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
        DECLARE
            purged bigint;
        BEGIN
            DELETE FROM token_event e WHERE e.id = ANY(ARRAY(SELECT x.id FROM (
                SELECT t.id, t.created_at, t.state FROM token_event t ORDER BY t.id LIMIT most) x
                WHERE x.created_at < now() - older AND x.state NOT IN ('pending', 'held')))
                AND e.state NOT IN ('pending', 'held');
            GET DIAGNOSTICS purged = ROW_COUNT;
            PERFORM note_retention('token events', purged);
            RETURN purged;
        END $$;

        CREATE VIEW pushmta.retention_log AS SELECT r.day, r.what, r.n, r.changed_at FROM pushmta_engine.retention_log r;
        COMMENT ON VIEW pushmta.retention_log IS 'What was thrown away because of its age, by day.';
        """#
}
