extension Migration {
    /// What a subscription `s` is counted under. No standard parameter says the app's version, so apps give it under this name.
    static let statisticVersion = """
        left(coalesce(s.parameters ->> 'appVersion', s.device ->> 'appVersion', s.extra ->> 'appVersion', ''), 40)
        """

    static let outcomeCounting = #"""
        -- Counts the outcomes of parts that are done, of one day and up to about so many messages; returns the number of messages, or 0 if
        -- there are none. A part that somebody has locked is left for the next call. Whoever adds an outcome to a part locks it too, so
        -- that each outcome is either here or in late_outcome. The statement is planned anew each time, for the one partition as it is now.
        CREATE FUNCTION pushmta_engine.count_parts(most integer) RETURNS bigint LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
        DECLARE
            day date;
            picked bigint[];
            messages bigint;
        BEGIN
            SELECT p.log_day INTO day FROM delivery_part p WHERE p.state = 'done' AND NOT p.counted ORDER BY p.id LIMIT 1;
            picked := ARRAY(SELECT x.id FROM (
                SELECT q.id, sum(q.size) OVER (ORDER BY q.id) - q.size AS before FROM (
                    SELECT p.id, p.size FROM delivery_part p WHERE p.state = 'done' AND NOT p.counted AND p.log_day = day
                    ORDER BY p.id LIMIT 500) q) x
                WHERE x.before < most);
            picked := ARRAY(SELECT p.id FROM delivery_part p WHERE p.id = ANY(picked) AND p.state = 'done' AND NOT p.counted
                ORDER BY p.id FOR NO KEY UPDATE SKIP LOCKED);
            IF picked = '{}' THEN
                RETURN 0;
            END IF;
            EXECUTE format($sql$
                WITH part AS MATERIALIZED (
                    SELECT p.id, p.delivery_id, p.application_id, p.rest_status, p.rest_reason, p.finished_at, p.size - p.handed_over - p.sent
                        - p.failed - p.ignored - p.not_applicable - p.canceled - p.unknown AS rest, t.first_sequence, t.sequences,
                        t.first_sequence + cardinality(t.subscription_ids) - 1 AS last_sequence
                    FROM delivery_part p LEFT JOIN delivery_part_target t ON t.log_day = %1$L AND t.part_id = p.id
                    WHERE p.id = ANY($1)
                ), outcome AS (
                    SELECT p.delivery_id, p.application_id, b.logged_at, b.status, b.failure, b.reason, b.subscription_id
                    FROM part p JOIN broad_log b ON b.log_day = %1$L AND b.delivery_id = p.delivery_id
                        AND b.sequence BETWEEN p.first_sequence AND p.last_sequence AND b.part_id = p.id
                    WHERE p.sequences IS NULL
                    UNION ALL
                    SELECT p.delivery_id, p.application_id, b.logged_at, b.status, b.failure, b.reason, b.subscription_id
                    FROM part p CROSS JOIN LATERAL unnest(p.sequences) u(sequence)
                    JOIN broad_log b ON b.log_day = %1$L AND b.delivery_id = p.delivery_id AND b.sequence = u.sequence AND b.part_id = p.id
                    WHERE p.sequences IS NOT NULL
                ), tally AS (
                    SELECT o.delivery_id, date_trunc('hour', o.logged_at, 'UTC') AS hour, o.application_id, o.status AS measure,
                        coalesce(o.failure, -1) AS failure,
                        \#(statisticVersion) AS app_version,
                        left(coalesce(s.locale, ''), 40) AS locale, left(coalesce(o.reason, ''), 100) AS reason, count(*) AS n
                    FROM outcome o LEFT JOIN subscription s ON s.id = o.subscription_id
                    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
                    UNION ALL
                    SELECT p.delivery_id, date_trunc('hour', p.finished_at, 'UTC'), p.application_id, p.rest_status, -1, '', '',
                        left(coalesce(p.rest_reason, ''), 100), sum(p.rest)
                    FROM part p WHERE p.rest_status IS NOT NULL AND p.rest > 0
                    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
                ), total AS (
                    SELECT t.delivery_id, t.hour, t.application_id, t.measure, t.failure, t.app_version, t.locale, t.reason,
                        sum(t.n)::bigint AS n
                    FROM tally t GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
                ), added AS (
                    INSERT INTO delivery_statistic AS d (delivery_id, hour, application_id, measure, failure, app_version, locale, reason, n)
                    SELECT t.* FROM total t ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
                    ON CONFLICT (delivery_id, hour, application_id, measure, failure, app_version, locale, reason)
                        DO UPDATE SET n = d.n + excluded.n
                ), marked AS (
                    UPDATE delivery_part p SET counted = true, counted_rest = CASE WHEN p.rest_status IS NULL THEN 0 ELSE x.rest END
                    FROM part x WHERE p.id = x.id AND p.id = ANY($1)
                )
                SELECT coalesce(sum(t.n), 0) FROM total t $sql$, day)
            INTO messages USING picked;
            -- They were among the rows.
            DELETE FROM late_outcome l WHERE l.part_id = ANY(picked);
            -- A part may have handed over all it had.
            RETURN greatest(messages, 1);
        END $$;
        """#

    static let lateCounting = #"""
        -- Counts up to so many outcomes that came after their part was counted. Where they take the place of a rest that was counted, the
        -- rest becomes less. Returns the number of outcomes.
        CREATE FUNCTION pushmta_engine.count_late_outcomes(most integer) RETURNS bigint LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
        DECLARE
            deliveries bigint[];
            taken bigint;
        BEGIN
            WITH gone AS (
                DELETE FROM late_outcome l WHERE l.id = ANY(ARRAY(
                    SELECT x.id FROM late_outcome x JOIN delivery_part p ON p.id = x.part_id AND p.counted
                    ORDER BY x.id LIMIT most FOR UPDATE OF x SKIP LOCKED))
                RETURNING l.part_id, l.delivery_id, l.log_day, l.sequence
            ), outcome AS (
                SELECT b.delivery_id, p.application_id, b.logged_at, b.status, b.failure, b.reason, b.subscription_id
                FROM gone g JOIN delivery_part p ON p.id = g.part_id
                JOIN broad_log b ON b.log_day = g.log_day AND b.delivery_id = g.delivery_id AND b.sequence = g.sequence
            ), added AS (
                INSERT INTO delivery_statistic AS d (delivery_id, hour, application_id, measure, failure, app_version, locale, reason, n)
                SELECT o.delivery_id, date_trunc('hour', o.logged_at, 'UTC'), o.application_id, o.status, coalesce(o.failure, -1),
                    \#(statisticVersion),
                    left(coalesce(s.locale, ''), 40), left(coalesce(o.reason, ''), 100), count(*)
                FROM outcome o LEFT JOIN subscription s ON s.id = o.subscription_id
                GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
                ON CONFLICT (delivery_id, hour, application_id, measure, failure, app_version, locale, reason)
                    DO UPDATE SET n = d.n + excluded.n
            )
            SELECT count(*), coalesce(array_agg(DISTINCT g.delivery_id), '{}') INTO taken, deliveries FROM gone g;
            IF taken = 0 THEN
                RETURN 0;
            END IF;
            WITH part AS MATERIALIZED (
                SELECT p.id, p.delivery_id, p.application_id, p.rest_status, p.rest_reason, p.finished_at, p.counted_rest, p.size
                    - p.handed_over - p.sent - p.failed - p.ignored - p.not_applicable - p.canceled - p.unknown AS rest
                FROM delivery_part p
                WHERE p.delivery_id = ANY(deliveries) AND p.counted AND p.rest_status IS NOT NULL
                ORDER BY p.id FOR NO KEY UPDATE
            ), changed AS (
                SELECT * FROM part x WHERE x.rest <> x.counted_rest
            ), lessened AS (
                INSERT INTO delivery_statistic AS d (delivery_id, hour, application_id, measure, failure, app_version, locale, reason, n)
                SELECT x.delivery_id, date_trunc('hour', x.finished_at, 'UTC'), x.application_id, x.rest_status, -1, '', '',
                    left(coalesce(x.rest_reason, ''), 100), sum(x.rest - x.counted_rest)
                FROM changed x GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
                ON CONFLICT (delivery_id, hour, application_id, measure, failure, app_version, locale, reason)
                    DO UPDATE SET n = d.n + excluded.n
            )
            UPDATE delivery_part p SET counted_rest = x.rest FROM changed x WHERE p.id = x.id AND p.id = ANY(ARRAY(SELECT c.id FROM changed c));
            RETURN taken;
        END $$;
        """#

    static let hitCounting = #"""
        -- Counts hits, up to about so many; returns how many. The outcome of a message that is answered at once may be stored a moment
        -- after the hit: hits are left for two seconds. One whose outcome is still not there counts under the delivery's application, if it
        -- has one only, and under no version and locale.
        CREATE FUNCTION pushmta_engine.count_hits(most integer) RETURNS bigint LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
        DECLARE
            day date;
            picked bigint[];
            hits bigint;
        BEGIN
            SELECT u.log_day INTO day FROM tracking_uncounted u WHERE u.created_at <= clock_timestamp() - interval '2 s' ORDER BY u.id LIMIT 1;
            picked := ARRAY(SELECT x.id FROM (
                SELECT q.id, sum(q.n) OVER (ORDER BY q.id) - q.n AS before FROM (
                    SELECT u.id, cardinality(u.sequences) AS n FROM tracking_uncounted u
                    WHERE u.log_day = day AND u.created_at <= clock_timestamp() - interval '2 s' ORDER BY u.id LIMIT 1000) q) x
                WHERE x.before < most);
            IF picked = '{}' THEN
                RETURN 0;
            END IF;
            EXECUTE format($sql$
                WITH gone AS (
                    DELETE FROM tracking_uncounted u WHERE u.id = ANY(ARRAY(
                        SELECT x.id FROM tracking_uncounted x WHERE x.id = ANY($1) FOR UPDATE SKIP LOCKED))
                    RETURNING u.delivery_id, u.hour, u.measure, u.sequences
                ), only_one AS MATERIALIZED (
                    SELECT a.delivery_id, min(a.application_id) AS application_id FROM delivery_application a
                    WHERE a.delivery_id = ANY(ARRAY(SELECT DISTINCT g.delivery_id FROM gone g))
                    GROUP BY a.delivery_id HAVING count(*) = 1
                ), total AS (
                    SELECT g.delivery_id, g.hour,
                        coalesce(s.application_id, (SELECT o.application_id FROM only_one o WHERE o.delivery_id = g.delivery_id), 0) AS application_id,
                        g.measure, -1,
                        \#(statisticVersion),
                        left(coalesce(s.locale, ''), 40), '', count(*) AS n
                    FROM gone g CROSS JOIN LATERAL unnest(g.sequences) u(sequence)
                    LEFT JOIN broad_log b ON b.log_day = %1$L AND b.delivery_id = g.delivery_id AND b.sequence = u.sequence
                    LEFT JOIN subscription s ON s.id = b.subscription_id
                    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
                ), added AS (
                    INSERT INTO delivery_statistic AS d (delivery_id, hour, application_id, measure, failure, app_version, locale, reason, n)
                    SELECT t.* FROM total t ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
                    ON CONFLICT (delivery_id, hour, application_id, measure, failure, app_version, locale, reason)
                        DO UPDATE SET n = d.n + excluded.n
                )
                SELECT coalesce(sum(t.n), 0) FROM total t $sql$, day)
            INTO hits USING picked;
            RETURN hits;
        END $$;
        """#
}
