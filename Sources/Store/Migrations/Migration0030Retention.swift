extension Migration {
    static let retentionHolds = #"""
        -- What is not thrown away though it is old enough by the database's clock, a row for each kind of thing.
        CREATE TABLE pushmta_engine.retention_hold (
            what text PRIMARY KEY,
            since timestamptz NOT NULL DEFAULT clock_timestamp(),
            -- Rounds of the worker that found it so.
            rounds integer NOT NULL DEFAULT 1,
            last_round timestamptz NOT NULL DEFAULT clock_timestamp()
        );

        -- Whether old things of one kind may go now. How old they are is told by the database's clock alone, and one that jumps ahead
        -- makes everything old in a moment. So what is far beyond its time is held for a day, in which the status says so: for 144 rounds
        -- of the worker, which come every ten minutes. They are counted, as it is the clock that is not believed. Then it goes, once in a
        -- round if it is asked for so. As soon as nothing is far beyond its time any more, the hold is over.
        CREATE FUNCTION pushmta_engine.retention_passes(thing text, is_much boolean, once_a_round boolean) RETURNS boolean
            LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            is_new boolean;
            is_over boolean;
        BEGIN
            IF NOT is_much THEN
                DELETE FROM retention_hold h WHERE h.what = thing;
                RETURN true;
            END IF;
            INSERT INTO retention_hold AS h (what) VALUES (thing)
            ON CONFLICT (what) DO UPDATE SET rounds = least(h.rounds + 1, 10000), last_round = clock_timestamp()
            WHERE clock_timestamp() NOT BETWEEN h.last_round AND h.last_round + interval '9 minutes';
            is_new := FOUND;
            SELECT h.rounds > 144 INTO is_over FROM retention_hold h WHERE h.what = thing;
            RETURN is_over AND (is_new OR NOT once_a_round);
        END $$;

        CREATE VIEW pushmta.retention_hold AS
        SELECT h.what, h.since, h.rounds <= 144 AS held, greatest(144 - h.rounds, 0) * interval '10 minutes' AS goes_in
        FROM pushmta_engine.retention_hold h;
        COMMENT ON VIEW pushmta.retention_hold IS
            'What is far beyond the time that it is kept for, and is held back for a day, as the clock may be wrong.';
        """#

    static let heldPartitions = #"""
        -- Drops the oldest partition of a large table that is older than a day, unless something there is to be done or counted yet; returns
        -- its name, null if there is none. Of more than three days at once none goes, and later one in a round. It waits for others for a
        -- moment only, as all others wait behind it. Roles that own no table may call it, so it takes no other table's name.
        CREATE OR REPLACE FUNCTION pushmta_engine.drop_old_partition(parent text, before date) RETURNS text LANGUAGE plpgsql
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET lock_timeout = '300ms' AS $$
        DECLARE
            most CONSTANT integer := 3;
            thing text := 'partitions of ' || parent;
            found record;
            names text[] := '{}';
        BEGIN
            IF parent IS NULL OR parent NOT IN ('broad_log', 'tracking_log', 'exclusion_log', 'delivery_part_target') THEN
                RAISE EXCEPTION '% is no table with partitions.', parent USING ERRCODE = 'PM007';
            END IF;
            FOR found IN SELECT c.relname::text AS name, to_date(right(c.relname, 8), 'YYYYMMDD') AS day
                FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                WHERE i.inhparent = ('pushmta_engine.' || parent)::regclass AND c.relname ~ ('^' || parent || '_[0-9]{8}$')
                ORDER BY 2
            LOOP
                -- A delivery that was started before midnight is prepared after it.
                EXIT WHEN found.day >= least(before, (now() AT TIME ZONE 'UTC')::date - 1) OR cardinality(names) > most;
                IF NOT EXISTS (SELECT FROM delivery_part p WHERE p.state <> 'done' AND p.log_day = found.day)
                    AND NOT EXISTS (SELECT FROM delivery_part p WHERE p.state = 'done' AND NOT p.counted AND p.log_day = found.day)
                    AND NOT EXISTS (SELECT FROM late_outcome l WHERE l.log_day = found.day)
                    AND NOT EXISTS (SELECT FROM tracking_uncounted u WHERE u.log_day = found.day)
                    AND NOT EXISTS (SELECT FROM delivery d WHERE d.log_day = found.day
                        AND d.state IN ('pending', 'preparing', 'in_progress', 'paused'))
                THEN
                    names := names || found.name;
                END IF;
            END LOOP;
            IF NOT retention_passes(thing, cardinality(names) > most, true) OR cardinality(names) = 0 THEN
                RETURN NULL;
            END IF;
            EXECUTE format('DROP TABLE pushmta_engine.%I', names[1]);
            PERFORM note_retention(thing, 1);
            RETURN names[1];
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            RETURN NULL;
        END $$;
        """#

    static let heldRows = #"""
        -- Deletes up to so many subscriptions that have been disabled for longer than the time; returns how many. If one is more than
        -- three days beyond it, all are held for a day.
        CREATE OR REPLACE FUNCTION pushmta_engine.purge_subscriptions(most integer, older interval) RETURNS bigint LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
        DECLARE
            purged bigint;
        BEGIN
            IF NOT retention_passes('disabled subscriptions', coalesce((SELECT x.disabled_at FROM subscription x
                WHERE NOT x.enabled AND x.quarantine_status < 3 AND NOT x.opted_out
                ORDER BY x.disabled_at LIMIT 1) < now() - older - interval '3 days', false), false) THEN
                RETURN 0;
            END IF;
            DELETE FROM subscription s WHERE s.id = ANY(ARRAY(SELECT x.id FROM subscription x
                WHERE NOT x.enabled AND x.quarantine_status < 3 AND NOT x.opted_out AND x.disabled_at < now() - older
                ORDER BY x.disabled_at LIMIT most FOR UPDATE SKIP LOCKED));
            GET DIAGNOSTICS purged = ROW_COUNT;
            PERFORM note_retention('disabled subscriptions', purged);
            RETURN purged;
        END $$;

        -- Deletes up to so many token events that were decided and are older than the time; returns how many. Only the oldest rows are looked
        -- at: they are in the order of their ids, nearly. If one is more than three days beyond the time, all are held for a day.
        CREATE OR REPLACE FUNCTION pushmta_engine.purge_token_events(most integer, older interval) RETURNS bigint LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
        DECLARE
            picked bigint[];
            is_much boolean;
            purged bigint;
        BEGIN
            SELECT coalesce(array_agg(x.id), '{}'), coalesce(bool_or(x.created_at < now() - older - interval '3 days'), false)
            INTO picked, is_much
            FROM (SELECT t.id, t.created_at, t.state FROM token_event t ORDER BY t.id LIMIT most) x
            WHERE x.created_at < now() - older AND x.state NOT IN ('pending', 'held');
            IF NOT retention_passes('token events', is_much, false) THEN
                RETURN 0;
            END IF;
            DELETE FROM token_event e WHERE e.id = ANY(picked) AND e.state NOT IN ('pending', 'held');
            GET DIAGNOSTICS purged = ROW_COUNT;
            PERFORM note_retention('token events', purged);
            RETURN purged;
        END $$;

        -- Deletes up to so many sources of hits that stored none since before the oldest day whose hits are kept; returns how many. A spool
        -- that comes back after that cannot count a hit again: those days are gone.
        CREATE FUNCTION pushmta_engine.purge_tracking_sources(most integer) RETURNS bigint LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            oldest date;
            purged bigint;
        BEGIN
            SELECT min(to_date(right(c.relname, 8), 'YYYYMMDD')) INTO oldest FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = 'pushmta_engine.tracking_log'::regclass AND c.relname ~ '^tracking_log_[0-9]{8}$';
            DELETE FROM tracking_source s WHERE s.id = ANY(ARRAY(SELECT x.id FROM tracking_source x
                WHERE x.changed_at < (oldest - 1)::timestamp AT TIME ZONE 'UTC'
                ORDER BY x.changed_at LIMIT most FOR UPDATE SKIP LOCKED));
            GET DIAGNOSTICS purged = ROW_COUNT;
            PERFORM note_retention('tracking sources', purged);
            RETURN purged;
        END $$;
        """#

    static let retentionRights = #"""
        REVOKE ALL ON FUNCTION pushmta_engine.retention_passes(text, boolean, boolean),
            pushmta_engine.purge_tracking_sources(integer) FROM PUBLIC;
        DO $$
        BEGIN
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                GRANT EXECUTE ON FUNCTION pushmta_engine.retention_passes(text, boolean, boolean),
                    pushmta_engine.purge_tracking_sources(integer) TO pushmta_runtime;
                GRANT SELECT, INSERT, UPDATE, DELETE ON pushmta_engine.retention_hold TO pushmta_runtime;
                GRANT SELECT ON pushmta.retention_hold TO pushmta_runtime;
            END IF;
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_monitoring') THEN
                GRANT SELECT ON pushmta.retention_hold TO pushmta_monitoring;
            END IF;
        END $$;
        """#
}
