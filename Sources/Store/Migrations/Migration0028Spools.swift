extension Migration {
    /// Tracking keys are made ahead, so that a forged id is known without the database; feedback workers tell of spools that wait.
    static let spools = Migration(
        version: 28,
        name: "spools",
        oldestProgram: 8,
        script: #"""
            -- The keys of all days whose hits are still kept, and of yesterday, today and tomorrow, which are made if they are missing:
            -- a delivery that is started has the key of its day, and its day is today's, or a later one. So until last_day is over no
            -- key can come that is not here, but for what is started around midnight, which is what yesterday's is for.
            CREATE FUNCTION pushmta_engine.current_tracking_keys() RETURNS TABLE (day integer, key bytea, last_day integer)
                LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET lock_timeout = '200ms' AS $$
            DECLARE
                today date := message_day();
                known date := today - 2;
            BEGIN
                FOR ahead IN -1..1 LOOP
                    IF NOT EXISTS (SELECT FROM tracking_key k WHERE k.log_day = today + ahead) THEN
                        BEGIN
                            PERFORM tracking_key_of(today + ahead);
                        EXCEPTION WHEN lock_not_available THEN
                            -- Somebody makes it at the moment and has not committed: the next call sees it.
                            EXIT;
                        END;
                    END IF;
                    known := today + ahead;
                END LOOP;
                RETURN QUERY SELECT k.log_day - date '2000-01-01', k.key, known - date '2000-01-01' FROM tracking_key k
                    WHERE k.log_day >= today - 1
                        OR to_regclass('pushmta_engine.tracking_log_' || to_char(k.log_day, 'YYYYMMDD')) IS NOT NULL
                    ORDER BY k.log_day DESC;
            END $$;

            -- Tracking spools on the worker's host with hits that are not loaded though their process is gone.
            ALTER TABLE pushmta_engine.feedback_worker ADD hits_loaded bigint NOT NULL DEFAULT 0,
                ADD waiting_spools integer NOT NULL DEFAULT 0, ADD waiting_spool_bytes bigint NOT NULL DEFAULT 0;
            CREATE OR REPLACE VIEW pushmta.feedback_worker AS
            SELECT w.id, w.host, w.pid, w.version,
                CASE WHEN w.state <> 'stopped' AND w.last_beat < clock_timestamp() - interval '30 s' THEN 'gone' ELSE w.state END AS state,
                CASE WHEN w.state = 'acting' THEN w.acting_since END AS acting_since, w.started_at, w.last_beat,
                extract(epoch FROM clock_timestamp() - w.last_beat)::double precision AS beat_age_seconds, w.last_action,
                w.last_action_at, w.token_events, w.messages_counted, w.hits_counted, w.hits_loaded, w.waiting_spools,
                w.waiting_spool_bytes
            FROM pushmta_engine.feedback_worker w;

            REVOKE ALL ON FUNCTION pushmta_engine.current_tracking_keys() FROM PUBLIC;
            DO $$
            DECLARE
                grantee text;
            BEGIN
                FOREACH grantee IN ARRAY ARRAY['pushmta_runtime', 'pushmta_web'] LOOP
                    IF EXISTS (SELECT FROM pg_roles WHERE rolname = grantee) THEN
                        EXECUTE format('GRANT EXECUTE ON FUNCTION pushmta_engine.current_tracking_keys() TO %I', grantee);
                    END IF;
                END LOOP;
            END $$;
            """#
    )
}
