extension Migration {
    /// Hits wait for the outcomes of their messages, and what is old is thrown away with care.
    static let carefulRetention = Migration(
        version: 30,
        name: "careful retention",
        oldestProgram: 8,
        script: [patientHits, retentionHolds, heldPartitions, heldRows, retentionRights].joined(separator: "\n\n")
    )

    private static let patientHits = #"""
        -- When hits that were left are looked at again; null for new ones.
        ALTER TABLE pushmta_engine.tracking_uncounted ADD next_at timestamptz;

        -- Counts hits, up to about so many; returns how many. They count under the application, version and locale of the message's
        -- outcome, which may be stored after the hit: hits are left for two seconds, and those whose outcome is not there then are left
        -- again, for longer each time, until five minutes are over. What a child leaves in its journal comes with the end of its lease,
        -- 15 seconds after it, or with the end of an outage. Hits whose outcome never comes count under the delivery's application, if it
        -- has one only, and under no version and locale. A time beyond any pause says nothing: the clock was set back.
        CREATE OR REPLACE FUNCTION pushmta_engine.count_hits(most integer) RETURNS bigint LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
        DECLARE
            patience CONSTANT interval := '5 minutes';
            day date;
            picked bigint[];
            hits bigint;
        BEGIN
            SELECT u.log_day INTO day FROM tracking_uncounted u
            WHERE coalesce(u.next_at, u.created_at + interval '2 s') NOT BETWEEN clock_timestamp() AND clock_timestamp() + patience
            ORDER BY u.id LIMIT 1;
            picked := ARRAY(SELECT x.id FROM (
                SELECT q.id, sum(q.n) OVER (ORDER BY q.id) - q.n AS before FROM (
                    SELECT u.id, cardinality(u.sequences) AS n FROM tracking_uncounted u
                    WHERE u.log_day = day
                        AND coalesce(u.next_at, u.created_at + interval '2 s') NOT BETWEEN clock_timestamp() AND clock_timestamp() + patience
                    ORDER BY u.id LIMIT 1000) q) x
                WHERE x.before < most);
            IF picked = '{}' THEN
                RETURN 0;
            END IF;
            EXECUTE format($sql$
                WITH gone AS (
                    DELETE FROM tracking_uncounted u WHERE u.id = ANY(ARRAY(
                        SELECT x.id FROM tracking_uncounted x WHERE x.id = ANY($1) FOR UPDATE SKIP LOCKED))
                    RETURNING u.delivery_id, u.hour, u.measure, u.created_at, u.sequences
                ), hit AS MATERIALIZED (
                    SELECT g.delivery_id, g.hour, g.measure, g.created_at, u.sequence, b.subscription_id,
                        -- Not too many in one row, as a row is counted at once.
                        row_number() OVER () / 5000 AS pile,
                        b.sequence IS NULL AND g.created_at BETWEEN clock_timestamp() - $2 AND clock_timestamp() AS waits
                    FROM gone g CROSS JOIN LATERAL unnest(g.sequences) u(sequence)
                    LEFT JOIN broad_log b ON b.log_day = %1$L AND b.delivery_id = g.delivery_id AND b.sequence = u.sequence
                ), put_back AS (
                    INSERT INTO tracking_uncounted (delivery_id, hour, created_at, log_day, measure, sequences, next_at)
                    SELECT w.delivery_id, w.hour, w.created_at, %1$L, w.measure, w.sequences,
                        least(w.created_at + $2,
                            clock_timestamp() + greatest(interval '5 s', (clock_timestamp() - w.created_at) / 2))
                    FROM (SELECT h.delivery_id, h.hour, h.measure, min(h.created_at) AS created_at, array_agg(h.sequence) AS sequences
                        FROM hit h WHERE h.waits
                        GROUP BY h.delivery_id, h.hour, h.measure, date_trunc('minute', h.created_at, 'UTC'), h.pile) w
                ), only_one AS MATERIALIZED (
                    SELECT a.delivery_id, min(a.application_id) AS application_id FROM delivery_application a
                    WHERE a.delivery_id = ANY(ARRAY(SELECT DISTINCT h.delivery_id FROM hit h WHERE NOT h.waits))
                    GROUP BY a.delivery_id HAVING count(*) = 1
                ), total AS (
                    SELECT h.delivery_id, h.hour,
                        coalesce(s.application_id, (SELECT o.application_id FROM only_one o WHERE o.delivery_id = h.delivery_id), 0)
                            AS application_id,
                        h.measure, -1,
                        \#(statisticVersion),
                        left(coalesce(s.locale, ''), 40), '', count(*) AS n
                    FROM hit h LEFT JOIN subscription s ON s.id = h.subscription_id
                    WHERE NOT h.waits
                    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
                ), added AS (
                    INSERT INTO delivery_statistic AS d (delivery_id, hour, application_id, measure, failure, app_version, locale, reason, n)
                    SELECT t.* FROM total t ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
                    ON CONFLICT (delivery_id, hour, application_id, measure, failure, app_version, locale, reason)
                        DO UPDATE SET n = d.n + excluded.n
                )
                SELECT coalesce(sum(t.n), 0) FROM total t $sql$, day)
            INTO hits USING picked, patience;
            RETURN hits;
        END $$;
        """#
}
