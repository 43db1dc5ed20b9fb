extension Migration {
    /// The forgetting of a person on request.
    static let forgottenUsers = #"""
        -- Subscriptions that were emptied because their person asked for it. They outlive the subscription's row, for what comes late: hits
        -- that waited on a disk, answers in the journal of a lost host.
        CREATE TABLE pushmta_engine.forgotten_subscription (
            subscription_id bigint PRIMARY KEY,
            forgotten_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            -- The logs of this day and those before it are still to be cleaned; null when all are.
            left_through date
        );
        CREATE INDEX forgotten_subscription_left ON pushmta_engine.forgotten_subscription (left_through) WHERE left_through IS NOT NULL;

        CREATE VIEW pushmta.forgotten_subscription AS
        SELECT f.subscription_id, f.forgotten_at, f.left_through, f.left_through IS NULL AS logs_are_clean
        FROM pushmta_engine.forgotten_subscription f;
        COMMENT ON VIEW pushmta.forgotten_subscription IS
            'The subscriptions that pushmta.forget_user emptied, and whether the feedback worker has cleaned the logs of them.';

        -- Forgets the user of a service, for a data-protection request: empties the subscriptions, those without a user of the same push
        -- token or device too, and takes the user out of targets, exclusions, seed addresses, token events and idempotency keys, of
        -- whatever deliveries. Logs keep the ids of messages and subscriptions, which lead to nobody; the feedback worker takes addresses,
        -- browsers and variables out of them day by day. A device that registers later is somebody new. Returns how many rows there were;
        -- all 0 if there is no such user. There is no way back.
        --
        -- What belongs to somebody else too stays: a push token that another user has by now, a user key on an exclusion list that is a
        -- user key of another service.
        CREATE FUNCTION pushmta.forget_user(service text, user_key text)
            RETURNS TABLE (subscriptions bigint, targets bigint, exclusions bigint, seeds bigint)
            LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp
            SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
        #variable_conflict use_column
        DECLARE
            person CONSTANT text := forget_user.user_key;
            apps integer[];
            ids bigint[];
            tokens text[];
            devices text[];
            deliveries bigint[];
            more bigint;
        BEGIN
            IF NOT EXISTS (SELECT FROM pushmta_engine.service v WHERE v.name = forget_user.service) THEN
                RAISE EXCEPTION 'There is no service "%".', forget_user.service
                    USING ERRCODE = 'PM071', HINT = 'pushmta.service lists them.';
            ELSIF coalesce(person, '') = '' THEN
                RAISE EXCEPTION 'The user key of the user to forget is empty.'
                    USING ERRCODE = 'PM072', HINT = 'Without a user key nobody is known: name a device with pushmta.unregister_device.';
            END IF;
            apps := ARRAY(SELECT a.id FROM application a JOIN pushmta_engine.service v ON v.id = a.service_id
                WHERE v.name = forget_user.service);
            ids := ARRAY(SELECT s.id FROM subscription s WHERE s.user_key = person AND s.user_key <> '' AND s.application_id = ANY(apps));
            SELECT coalesce(array_agg(DISTINCT s.push_token), '{}'),
                coalesce(array_agg(DISTINCT s.device_id) FILTER (WHERE s.device_id IS NOT NULL), '{}')
            INTO tokens, devices FROM subscription s WHERE s.id = ANY(ids);
            ids := ids || ARRAY(
                SELECT s.id FROM subscription s
                WHERE s.application_id = ANY(apps) AND s.push_token = ANY(tokens) AND s.enabled AND s.user_key = ''
                UNION
                SELECT s.id FROM subscription s
                WHERE s.application_id = ANY(apps) AND s.push_token = ANY(tokens) AND NOT s.enabled AND s.user_key = ''
                UNION
                SELECT s.id FROM subscription s
                WHERE s.application_id = ANY(apps) AND s.device_id = ANY(devices) AND s.device_id IS NOT NULL AND s.user_key = '');
            PERFORM FROM subscription s WHERE s.id = ANY(ids) ORDER BY s.id FOR UPDATE;
            -- All tokens they ever had here, but those that somebody else has by now.
            tokens := ARRAY(SELECT t.token FROM (
                    SELECT s.push_token AS token FROM subscription s WHERE s.id = ANY(ids)
                    UNION
                    SELECT u.token FROM token_event e CROSS JOIN LATERAL (VALUES (e.old_token), (e.new_token)) u(token)
                    WHERE e.subscription_id = ANY(ids) AND u.token IS NOT NULL) t
                WHERE NOT EXISTS (SELECT FROM application a CROSS JOIN LATERAL (
                        SELECT o.id FROM subscription o WHERE o.application_id = a.id AND o.push_token = t.token AND o.enabled
                        UNION ALL
                        SELECT o.id FROM subscription o WHERE o.application_id = a.id AND o.push_token = t.token AND NOT o.enabled) x
                    WHERE x.id <> ALL(ids)));

            deliveries := ARRAY(SELECT DISTINCT a.delivery_id FROM delivery_application a
                JOIN pushmta_engine.delivery d ON d.id = a.delivery_id AND NOT d.purged WHERE a.application_id = ANY(apps));
            PERFORM set_config('pushmta.forgetting', 'on', true);
            DELETE FROM pushmta.delivery_target t WHERE t.id = ANY(ARRAY(
                SELECT x.id FROM unnest(deliveries) d(id) CROSS JOIN LATERAL (
                    SELECT o.id FROM pushmta.delivery_target o WHERE o.delivery_id = d.id AND o.user_key = person
                    UNION ALL
                    SELECT o.id FROM pushmta.delivery_target o WHERE o.delivery_id = d.id AND o.subscription_id = ANY(ids)
                    UNION ALL
                    SELECT o.id FROM pushmta.delivery_target o WHERE o.delivery_id = d.id AND o.push_token = ANY(tokens)) x));
            GET DIAGNOSTICS targets = ROW_COUNT;
            DELETE FROM pushmta.delivery_exclusion t WHERE t.id = ANY(ARRAY(
                SELECT x.id FROM unnest(deliveries) d(id) CROSS JOIN LATERAL (
                    SELECT o.id FROM pushmta.delivery_exclusion o WHERE o.delivery_id = d.id AND o.user_key = person
                    UNION ALL
                    SELECT o.id FROM pushmta.delivery_exclusion o WHERE o.delivery_id = d.id AND o.subscription_id = ANY(ids)
                    UNION ALL
                    SELECT o.id FROM pushmta.delivery_exclusion o WHERE o.delivery_id = d.id AND o.push_token = ANY(tokens)) x));
            GET DIAGNOSTICS exclusions = ROW_COUNT;
            PERFORM set_config('pushmta.forgetting', '', true);
            DELETE FROM exclusion_entry e USING pushmta_engine.exclusion_list l
            WHERE e.list_id = l.id AND (e.subscription_id = ANY(ids) OR e.push_token = ANY(tokens)
                OR e.user_key = person AND NOT EXISTS (SELECT FROM subscription o
                    WHERE o.user_key = person AND o.user_key <> '' AND o.application_id <> ALL(apps)));
            GET DIAGNOSTICS more = ROW_COUNT;
            exclusions := exclusions + more;
            DELETE FROM pushmta_engine.seed d WHERE d.subscription_id = ANY(ids);
            GET DIAGNOSTICS seeds = ROW_COUNT;
            -- A key may say whose it is.
            DELETE FROM message_key k WHERE k.subscription_ids && ids;
            UPDATE token_event e SET new_token = NULL, old_token = NULL,
                state = CASE WHEN e.state IN ('pending', 'held') THEN 'outdated' ELSE e.state END
            WHERE e.subscription_id = ANY(ids)
                AND (e.new_token IS NOT NULL OR e.old_token IS NOT NULL OR e.state IN ('pending', 'held'));

            -- Shorter than any token, so that no registration finds it.
            UPDATE subscription s SET push_token = 'none', user_key = '', recipient = NULL, parameters = NULL, locale = '', time_zone = '',
                device_id = NULL, device = NULL, extra = NULL, enabled = false, disabled_at = now(), disabled_reason = 'forgotten',
                opted_out = false, quarantine_status = 0, quarantine_reason = '', quarantined_at = NULL, soft_errors = 0
            WHERE s.id = ANY(ids);
            GET DIAGNOSTICS subscriptions = ROW_COUNT;
            INSERT INTO pushmta_engine.forgotten_subscription AS f (subscription_id, left_through)
            SELECT u.id, (now() AT TIME ZONE 'UTC')::date + 1 FROM unnest(ids) u(id)
            ON CONFLICT (subscription_id) DO UPDATE SET forgotten_at = clock_timestamp(), left_through = excluded.left_through;
            RETURN NEXT;
        END $$;
        """#

    /// The cleaning of logs.
    static let forgottenLogs = #"""
        -- Takes what is left of up to so many forgotten subscriptions out of the logs of one day, the newest that is left: the variables of
        -- messages, and the addresses and browsers of hits. It begins a minute later, when what was under way is over. Returns how many
        -- subscriptions it was for.
        CREATE FUNCTION pushmta_engine.clean_forgotten_logs(most integer) RETURNS bigint LANGUAGE plpgsql
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_mergejoin = off AS $$
        DECLARE
            cleaned date;
            ids bigint[];
        BEGIN
            SELECT max(f.left_through) INTO cleaned FROM pushmta_engine.forgotten_subscription f
            WHERE f.left_through IS NOT NULL
                AND f.forgotten_at NOT BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp();
            ids := ARRAY(SELECT f.subscription_id FROM pushmta_engine.forgotten_subscription f
                WHERE f.left_through = cleaned AND f.forgotten_at NOT BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp()
                ORDER BY f.subscription_id LIMIT most FOR UPDATE SKIP LOCKED);
            IF ids = '{}' THEN
                RETURN 0;
            END IF;
            IF to_regclass('pushmta_engine.delivery_part_target_' || to_char(cleaned, 'YYYYMMDD')) IS NOT NULL THEN
                EXECUTE format($sql$
                    UPDATE delivery_part_target t SET variables = NULL
                    WHERE t.log_day = %L AND t.variables IS NOT NULL AND t.subscription_ids && $1 $sql$, cleaned) USING ids;
            END IF;
            IF to_regclass('pushmta_engine.tracking_log_' || to_char(cleaned, 'YYYYMMDD')) IS NOT NULL THEN
                -- A hit may have been stored before its message's outcome, and then says nothing of the subscription.
                EXECUTE format($sql$
                    UPDATE tracking_log h SET address = NULL, user_agent = NULL
                    WHERE h.log_day = %1$L AND (h.address IS NOT NULL OR h.user_agent IS NOT NULL)
                        AND (h.subscription_id = ANY($1) OR h.subscription_id IS NULL AND (h.delivery_id, h.sequence) IN (
                            SELECT t.delivery_id, coalesce(u.sequence, t.first_sequence + u.n::integer - 1)
                            FROM delivery_part_target t
                            CROSS JOIN LATERAL unnest(t.subscription_ids, t.sequences) WITH ORDINALITY u(subscription_id, sequence, n)
                            WHERE t.log_day = %1$L AND t.subscription_ids && $1 AND u.subscription_id = ANY($1))) $sql$, cleaned) USING ids;
            END IF;
            UPDATE pushmta_engine.forgotten_subscription f SET left_through = (
                SELECT max(o.day) FROM (SELECT to_date(right(c.relname, 8), 'YYYYMMDD') AS day
                    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                    WHERE i.inhparent IN ('pushmta_engine.tracking_log'::regclass, 'pushmta_engine.delivery_part_target'::regclass)
                        AND c.relname ~ '_[0-9]{8}$') o
                WHERE o.day < cleaned)
            WHERE f.subscription_id = ANY(ids);
            RETURN cardinality(ids);
        END $$;

        -- Deletes up to so many notes of forgotten subscriptions all of whose messages are of days that are gone, so that nothing can come of
        -- them any more; returns how many.
        CREATE FUNCTION pushmta_engine.purge_forgotten(most integer) RETURNS bigint LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            oldest date;
            purged_rows bigint;
        BEGIN
            SELECT min(to_date(right(c.relname, 8), 'YYYYMMDD')) INTO oldest FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent IN ('pushmta_engine.tracking_log'::regclass, 'pushmta_engine.broad_log'::regclass)
                AND c.relname ~ '_[0-9]{8}$';
            DELETE FROM pushmta_engine.forgotten_subscription f WHERE f.subscription_id = ANY(ARRAY(
                SELECT x.subscription_id FROM pushmta_engine.forgotten_subscription x
                WHERE x.left_through IS NULL AND x.forgotten_at < (oldest - 1)::timestamp AT TIME ZONE 'UTC'
                ORDER BY x.forgotten_at LIMIT most FOR UPDATE SKIP LOCKED));
            GET DIAGNOSTICS purged_rows = ROW_COUNT;
            PERFORM note_retention('notes of forgotten subscriptions', purged_rows);
            RETURN purged_rows;
        END $$;
        """#

    /// Late hits of forgotten people.
    static let forgottenHits = #"""
        -- Stores hits in one transaction. Those of forgotten subscriptions are dropped, however late they come: from a spool, or from a
        -- notification that still lies on the device.
        CREATE OR REPLACE FUNCTION pushmta_engine.record_hits(
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
                    AND NOT EXISTS (SELECT FROM forgotten_subscription f WHERE f.subscription_id = b.subscription_id)
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
