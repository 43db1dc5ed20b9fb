extension Migration {
    /// The functions of migration 20.
    static let trackingFunctions = #"""
        -- The keys of all days whose hits are still kept.
        CREATE FUNCTION pushmta_engine.tracking_keys() RETURNS TABLE (day integer, key bytea)
            LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
                SELECT k.log_day - date '2000-01-01', k.key FROM tracking_key k
                WHERE to_regclass('pushmta_engine.tracking_log_' || to_char(k.log_day, 'YYYYMMDD')) IS NOT NULL
                ORDER BY k.log_day DESC $$;

        -- The position of the last transaction of a source, 0 if it has none.
        CREATE FUNCTION pushmta_engine.tracking_position(source uuid) RETURNS bigint
            LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
                SELECT coalesce((SELECT s.position FROM tracking_source s WHERE s.id = source), 0) $$;

        -- Stores hits, unless the source's transaction of this position is stored already: then it changes nothing and returns NULL.
        -- A hit names its message by delivery, sequence and day; or by number and the two deliveries that it may be of, then
        -- sequence and day are 0. Returns the places, from 1, of the hits that were dropped: numbers that no such delivery has, and
        -- days that are gone. Two processes that store the first hit of one message at once: the later one fails with a unique
        -- violation, and stores it as a repeated one when it tries again.
        CREATE FUNCTION pushmta_engine.record_hits(
            source uuid, at_position bigint, from_host text, delivery_ids bigint[], other_ids bigint[], numbers bigint[],
            sequences integer[], days integer[], kinds smallint[], times timestamptz[], addresses text[], platforms text[],
            agents text[], malformed_hits bigint, forged_hits bigint, foreign_hits bigint
        ) RETURNS integer[] LANGUAGE plpgsql SECURITY DEFINER
            SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
        #variable_conflict use_column
        DECLARE
            dropped integer[];
            kept integer[];
            stored bigint;
            touched bigint;
        BEGIN
            INSERT INTO tracking_source AS s (id, host, position, malformed, forged, foreign_ids)
            VALUES (source, from_host, at_position, malformed_hits, forged_hits, foreign_hits)
            ON CONFLICT (id) DO UPDATE SET position = excluded.position, malformed = s.malformed + excluded.malformed,
                forged = s.forged + excluded.forged, foreign_ids = s.foreign_ids + excluded.foreign_ids, changed_at = now()
            WHERE s.position < excluded.position;
            GET DIAGNOSTICS touched = ROW_COUNT;
            IF touched = 0 THEN
                RETURN NULL;
            END IF;
            IF cardinality(kinds) = 0 THEN
                RETURN '{}';
            END IF;
            kept := ARRAY(SELECT DISTINCT k.log_day - date '2000-01-01' FROM tracking_key k
                WHERE to_regclass('pushmta_engine.tracking_log_' || to_char(k.log_day, 'YYYYMMDD')) IS NOT NULL);
            WITH given AS MATERIALIZED (
                SELECT g.n::integer AS n, g.kind, g.tracked_at, g.address, g.platform, g.agent,
                    coalesce(r.delivery_id, g.delivery_id) AS delivery_id, coalesce(r.sequence, g.sequence) AS sequence,
                    date '2000-01-01' + coalesce(r.day, g.day) AS log_day,
                    CASE WHEN g.number IS NOT NULL THEN r.delivery_id IS NOT NULL ELSE g.sequence > 0 END
                        AND coalesce(r.day, g.day) = ANY(kept) AS is_known
                FROM unnest(delivery_ids, other_ids, numbers, sequences, days, kinds, times, addresses, platforms, agents)
                    WITH ORDINALITY g(delivery_id, other_id, number, sequence, day, kind, tracked_at, address, platform, agent, n)
                LEFT JOIN LATERAL (
                    SELECT d.id AS delivery_id, (g.number - m.first_id + 1)::integer AS sequence,
                        d.log_day - date '2000-01-01' AS day
                    FROM message_id_range m JOIN delivery d ON d.id = m.delivery_id
                    WHERE g.number IS NOT NULL AND m.delivery_id IN (g.delivery_id, g.other_id)
                        AND g.number BETWEEN m.first_id AND m.last_id AND g.number - m.first_id < d.target
                        AND d.log_day IS NOT NULL
                    LIMIT 1
                ) r ON true
            ), added AS (
                INSERT INTO tracking_log (delivery_id, subscription_id, tracked_at, sequence, log_day, kind, first, address, platform,
                    user_agent)
                SELECT g.delivery_id, b.subscription_id, g.tracked_at, g.sequence, g.log_day, g.kind,
                    t.sequence IS NULL
                        AND row_number() OVER (PARTITION BY g.log_day, g.delivery_id, g.sequence, g.kind ORDER BY g.n) = 1,
                    g.address::inet, g.platform, g.agent
                FROM given g
                LEFT JOIN LATERAL (SELECT x.subscription_id FROM broad_log x
                    WHERE x.log_day = g.log_day AND x.delivery_id = g.delivery_id AND x.sequence = g.sequence LIMIT 1) b ON true
                LEFT JOIN LATERAL (SELECT x.sequence FROM tracking_log x
                    WHERE x.log_day = g.log_day AND x.delivery_id = g.delivery_id AND x.sequence = g.sequence AND x.kind = g.kind
                        AND x.first LIMIT 1) t ON true
                WHERE g.is_known
                ORDER BY g.n
                RETURNING 1
            )
            SELECT (SELECT count(*) FROM added),
                (SELECT coalesce(array_agg(g.n ORDER BY g.n), '{}') FROM given g WHERE g.is_known IS NOT TRUE)
            INTO stored, dropped;
            UPDATE tracking_source s SET hits = s.hits + stored, expired = s.expired + cardinality(dropped) WHERE s.id = source;
            RETURN dropped;
        END $$;

        """#
}
