extension Migration {
    /// The feedback worker: who acts, token events, statistics, and what is thrown away with age.
    static let feedback = Migration(
        version: 22,
        name: "feedback",
        oldestProgram: 8,
        script: [
            feedbackWorker, TokenEventScripts.steadyInvalid, statisticTables, outcomeCounting, lateCounting,
            hitCounting,
            statisticViews, retention, feedbackRights,
        ].joined(separator: "\n\n")
    )

    private static let feedbackWorker = #"""
        -- The processes of `pushmta feedback`. One acts, the others stand by.
        CREATE TABLE pushmta_engine.feedback_worker (
            id uuid PRIMARY KEY,
            host text NOT NULL DEFAULT '',
            pid integer NOT NULL,
            version text NOT NULL DEFAULT '',
            state text NOT NULL DEFAULT 'standby' CHECK (state IN ('acting', 'standby', 'stopped')),
            acting_since timestamptz,
            started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            last_beat timestamptz NOT NULL DEFAULT clock_timestamp(),
            last_action text NOT NULL DEFAULT '',
            last_action_at timestamptz,
            -- Since the start of the process.
            token_events bigint NOT NULL DEFAULT 0,
            messages_counted bigint NOT NULL DEFAULT 0,
            hits_counted bigint NOT NULL DEFAULT 0
        ) WITH (fillfactor = 50);
        CREATE UNIQUE INDEX feedback_worker_acting ON pushmta_engine.feedback_worker ((true)) WHERE state = 'acting';

        -- Whether a worker is the one that acts. For the rest of the transaction it stays that: who takes over locks the row of the one
        -- before, and so waits for what that one is in the middle of. A worker that was silent for too long does nothing more, whenever
        -- it wakes up.
        CREATE FUNCTION pushmta_engine.feedback_fence(worker uuid) RETURNS boolean LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        BEGIN
            PERFORM FROM feedback_worker w WHERE w.id = worker AND w.state = 'acting' FOR KEY SHARE;
            RETURN FOUND;
        END $$;

        -- Whether a worker acts that was heard of lately. A beat to come says nothing: the clock was set back.
        CREATE FUNCTION pushmta_engine.feedback_is_acting(within interval) RETURNS boolean LANGUAGE sql STABLE
            SET search_path = pushmta_engine, pg_temp AS $$
                SELECT EXISTS (SELECT FROM feedback_worker w WHERE w.state = 'acting'
                    AND w.last_beat BETWEEN clock_timestamp() - within AND clock_timestamp() + within) $$;

        -- Keeps a worker's row and returns whether it acts. It begins to when nobody does, or when nothing was heard for a lease of the one
        -- that did.
        CREATE FUNCTION pushmta_engine.feedback_beat(worker uuid, on_host text, process integer, of_version text, action text,
            more_events bigint, more_messages bigint, more_hits bigint, lease interval) RETURNS boolean LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            found_state text;
        BEGIN
            INSERT INTO feedback_worker AS w (id, host, pid, version) VALUES (worker, on_host, process, of_version)
            ON CONFLICT (id) DO UPDATE SET last_beat = clock_timestamp(),
                last_action = CASE WHEN action = '' THEN w.last_action ELSE action END,
                last_action_at = CASE WHEN action = '' THEN w.last_action_at ELSE clock_timestamp() END,
                token_events = w.token_events + more_events, messages_counted = w.messages_counted + more_messages,
                hits_counted = w.hits_counted + more_hits
            RETURNING w.state INTO found_state;
            IF found_state = 'acting' THEN
                RETURN true;
            END IF;
            IF feedback_is_acting(lease) THEN
                RETURN false;
            END IF;
            PERFORM pg_advisory_xact_lock(5786284502005);
            PERFORM FROM feedback_worker w WHERE w.state = 'acting' FOR UPDATE;
            IF feedback_is_acting(lease) THEN
                RETURN false;
            END IF;
            UPDATE feedback_worker w SET state = 'standby' WHERE w.state = 'acting';
            UPDATE feedback_worker w SET state = 'acting', acting_since = clock_timestamp() WHERE w.id = worker;
            DELETE FROM feedback_worker w WHERE w.state <> 'acting' AND w.last_beat < clock_timestamp() - interval '7 days';
            RETURN true;
        END $$;

        -- A worker that ends in order lets another one act at once.
        CREATE FUNCTION pushmta_engine.feedback_stop(worker uuid) RETURNS void LANGUAGE sql
            SET search_path = pushmta_engine, pg_temp AS $$
                UPDATE feedback_worker w SET state = 'stopped', last_beat = clock_timestamp() WHERE w.id = worker $$;

        CREATE VIEW pushmta.feedback_worker AS
        SELECT w.id, w.host, w.pid, w.version,
            CASE WHEN w.state <> 'stopped' AND w.last_beat < clock_timestamp() - interval '30 s' THEN 'gone' ELSE w.state END AS state,
            CASE WHEN w.state = 'acting' THEN w.acting_since END AS acting_since, w.started_at, w.last_beat,
            extract(epoch FROM clock_timestamp() - w.last_beat)::double precision AS beat_age_seconds, w.last_action, w.last_action_at,
            w.token_events, w.messages_counted, w.hits_counted
        FROM pushmta_engine.feedback_worker w;
        COMMENT ON VIEW pushmta.feedback_worker IS 'The processes of pushmta feedback: which one acts, since when, and what it did last.';
        """#

    private static let feedbackRights = #"""
        DO $$
        DECLARE
            made text := 'pushmta_engine.feedback_fence(uuid), pushmta_engine.feedback_is_acting(interval), '
                'pushmta_engine.feedback_beat(uuid, text, integer, text, text, bigint, bigint, bigint, interval), '
                'pushmta_engine.feedback_stop(uuid), pushmta_engine.note_hits(), pushmta_engine.count_parts(integer), '
                'pushmta_engine.count_late_outcomes(integer), pushmta_engine.count_hits(integer), '
                'pushmta_engine.note_retention(text, bigint), pushmta_engine.drop_old_partition(text, date), '
                'pushmta_engine.purge_subscriptions(integer, interval), pushmta_engine.purge_token_events(integer, interval)';
            shown text := 'pushmta.delivery_statistics, pushmta.delivery_statistics_detail, pushmta.delivery_statistics_by_hour, '
                'pushmta.delivery_statistics_by_application, pushmta.delivery_statistics_by_version, '
                'pushmta.delivery_statistics_by_locale, pushmta.delivery_failures';
        BEGIN
            EXECUTE 'REVOKE ALL ON FUNCTION ' || made || ' FROM PUBLIC';
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                EXECUTE 'GRANT EXECUTE ON FUNCTION ' || made || ' TO pushmta_runtime';
                GRANT SELECT, INSERT, UPDATE, DELETE ON pushmta_engine.feedback_worker, pushmta_engine.late_outcome,
                    pushmta_engine.tracking_uncounted, pushmta_engine.delivery_statistic, pushmta_engine.retention_log
                    TO pushmta_runtime;
                GRANT USAGE ON ALL SEQUENCES IN SCHEMA pushmta_engine TO pushmta_runtime;
                EXECUTE 'GRANT SELECT ON ' || shown || ', pushmta.feedback_worker, pushmta.retention_log TO pushmta_runtime';
            END IF;
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_marketing') THEN
                EXECUTE 'GRANT SELECT ON ' || shown || ' TO pushmta_marketing';
            END IF;
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_monitoring') THEN
                EXECUTE 'GRANT SELECT ON ' || shown || ', pushmta.feedback_worker, pushmta.retention_log TO pushmta_monitoring';
            END IF;
        END $$;
        """#
}
