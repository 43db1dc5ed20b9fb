extension Migration {
    /// Tracking: hits of devices, each stored once.
    static let tracking = Migration(
        version: 20,
        name: "tracking",
        oldestProgram: 8,
        script: trackingTables + trackingFunctions + trackingView + trackingRights
    )

    private static let trackingTables = #"""
        -- Where hits come from: one row for each run of a web process. `position` counts its transactions and is stored with their
        -- hits, so that one whose end nobody heard, and a spool that is loaded later, are stored once and in order.
        CREATE TABLE pushmta_engine.tracking_source (
            id uuid PRIMARY KEY,
            host text NOT NULL DEFAULT '',
            position bigint NOT NULL DEFAULT 0,
            hits bigint NOT NULL DEFAULT 0,
            -- What was dropped: no tracking id at all; no key makes it; another delivery's; of a day that is gone.
            malformed bigint NOT NULL DEFAULT 0,
            forged bigint NOT NULL DEFAULT 0,
            foreign_ids bigint NOT NULL DEFAULT 0,
            expired bigint NOT NULL DEFAULT 0,
            started_at timestamptz NOT NULL DEFAULT now(),
            changed_at timestamptz NOT NULL DEFAULT now()
        ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

        -- The first hit of each kind of a message is marked, and there is one only; repeated ones are in no index.
        DO $$
        DECLARE
            partition regclass;
            old_index regclass;
        BEGIN
            UPDATE pushmta_engine.tracking_log t SET first = false WHERE t.first AND EXISTS (
                SELECT FROM pushmta_engine.tracking_log o WHERE o.log_day = t.log_day AND o.delivery_id = t.delivery_id
                    AND o.sequence = t.sequence AND o.kind = t.kind AND o.first AND (o.tracked_at, o.id) < (t.tracked_at, t.id));
            FOR partition IN SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = 'pushmta_engine.tracking_log'::regclass LOOP
                EXECUTE format('CREATE UNIQUE INDEX ON %s (delivery_id, sequence, kind) WHERE first', partition);
                FOR old_index IN SELECT x.indexrelid FROM pg_index x WHERE x.indrelid = partition AND NOT x.indisunique
                    AND pg_get_indexdef(x.indexrelid) LIKE '% (delivery_id, sequence)'
                LOOP
                    EXECUTE format('DROP INDEX %s', old_index);
                END LOOP;
            END LOOP;
        END $$;

        -- Makes what is missing of the partitions of these days; returns how many it made. Any number of hosts may call it, under
        -- roles that cannot create tables.
        CREATE OR REPLACE FUNCTION pushmta_engine.ensure_partitions(first_day date, last_day date) RETURNS integer LANGUAGE plpgsql
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            day date;
            made integer := 0;
        BEGIN
            IF first_day IS NULL OR last_day IS NULL OR last_day - first_day > 1000 THEN
                RAISE EXCEPTION 'Partitions from % to % make no sense.', first_day, last_day
                    USING ERRCODE = 'PM007', HINT = 'Give two dates, at most 1,000 days apart.';
            END IF;
            IF (SELECT count(*) FROM generate_series(first_day, last_day, interval '1 day') g(d)
                WHERE to_regclass('pushmta_engine.exclusion_log_' || to_char(d, 'YYYYMMDD')) IS NULL) = 0 THEN
                RETURN 0;
            END IF;
            -- exclusion_log comes last, so it stands for the day.
            PERFORM pg_advisory_xact_lock(5786284502002);
            FOR day IN SELECT d::date FROM generate_series(first_day, last_day, interval '1 day') g(d) LOOP
                made := made
                    + make_partition('broad_log', day, ARRAY[
                        'CREATE UNIQUE INDEX ON pushmta_engine.%I (delivery_id, sequence)',
                        'CREATE INDEX ON pushmta_engine.%I (delivery_id, status, reason) WHERE status <> 1'])::int
                    + make_partition('tracking_log', day, ARRAY[
                        'CREATE UNIQUE INDEX ON pushmta_engine.%I (delivery_id, sequence, kind) WHERE first'])::int
                    + make_partition('delivery_part_target', day, ARRAY[
                        'CREATE UNIQUE INDEX ON pushmta_engine.%I (part_id)'])::int
                    + make_partition('exclusion_log', day, ARRAY[
                        'CREATE INDEX ON pushmta_engine.%I (delivery_id, reason)'])::int;
            END LOOP;
            RETURN made;
        END $$;

        """#

    private static let trackingView = #"""
        -- Every message of a delivery with its outcome; the ones without are read out of the frozen targets of its parts.
        CREATE OR REPLACE VIEW pushmta.message_status AS
        SELECT b.delivery_id, b.sequence, b.subscription_id, pushmta_engine.status_name(b.status) AS status,
            b.http_status, coalesce(b.reason, '') AS reason, b.gateway_message_id, b.attempt, b.logged_at, b.part_id,
            EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = d.log_day AND r.delivery_id = d.id
                AND r.sequence = b.sequence AND r.first) AS received,
            pushmta_engine.failure_type(b.failure) AS failure_type, pushmta_engine.failure_reason(b.failure) AS failure_reason,
            EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = d.log_day AND r.delivery_id = d.id
                AND r.sequence = b.sequence AND r.kind = 2 AND r.first) AS clicked
        FROM pushmta_engine.delivery d
        JOIN pushmta_engine.broad_log b ON b.log_day = d.log_day AND b.delivery_id = d.id
        UNION ALL
        SELECT p.delivery_id, m.sequence, u.subscription_id, pushmta_engine.status_name(coalesce(p.rest_status, 6::smallint)),
            0::smallint, coalesce(p.rest_reason, ''), NULL, p.attempt, CASE WHEN p.state = 'done' THEN p.finished_at END, p.id,
            EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = p.log_day AND r.delivery_id = p.delivery_id
                AND r.sequence = m.sequence AND r.first), NULL, NULL,
            EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = p.log_day AND r.delivery_id = p.delivery_id
                AND r.sequence = m.sequence AND r.kind = 2 AND r.first)
        FROM pushmta_engine.delivery_part p
        JOIN pushmta_engine.delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
        CROSS JOIN LATERAL unnest(t.subscription_ids, t.sequences) WITH ORDINALITY u(subscription_id, sequence, n)
        CROSS JOIN LATERAL (SELECT coalesce(u.sequence, t.first_sequence + u.n::integer - 1) AS sequence) m
        WHERE (p.state <> 'done' OR p.rest_status IS NOT NULL)
            AND NOT EXISTS (SELECT FROM pushmta_engine.broad_log b
                WHERE b.log_day = p.log_day AND b.delivery_id = p.delivery_id AND b.sequence = m.sequence);

        """#

    private static let trackingRights = #"""
        REVOKE ALL ON FUNCTION pushmta_engine.tracking_keys(), pushmta_engine.tracking_position(uuid),
            pushmta_engine.record_hits(uuid, bigint, text, bigint[], bigint[], bigint[], integer[], integer[], smallint[],
                timestamptz[], text[], text[], text[], bigint, bigint, bigint) FROM PUBLIC;
        DO $$
        DECLARE
            made text := 'pushmta_engine.tracking_keys(), pushmta_engine.tracking_position(uuid), '
                'pushmta_engine.record_hits(uuid, bigint, text, bigint[], bigint[], bigint[], integer[], integer[], smallint[], '
                'timestamptz[], text[], text[], text[], bigint, bigint, bigint)';
            grantee text;
        BEGIN
            FOREACH grantee IN ARRAY ARRAY['pushmta_runtime', 'pushmta_web'] LOOP
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = grantee) THEN
                    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', made, grantee);
                END IF;
            END LOOP;
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                GRANT SELECT, INSERT, UPDATE, DELETE ON pushmta_engine.tracking_source TO pushmta_runtime;
            END IF;
        END $$;
        """#
}
