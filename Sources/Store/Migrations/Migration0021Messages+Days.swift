extension Migration {
    static let dayFunctions = #"""
        -- The day of the messages that are sent now.
        CREATE FUNCTION pushmta_engine.message_day() RETURNS date LANGUAGE sql VOLATILE AS $$
            SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date $$;

        -- Takes so many numbers for int32 message ids, behind the range that was taken last.
        CREATE FUNCTION pushmta_engine.take_message_ids(delivery bigint, needed bigint) RETURNS void LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            last bigint;
        BEGIN
            PERFORM pg_advisory_xact_lock(5786284502003);
            SELECT coalesce((SELECT r.last_id FROM message_id_range r ORDER BY r.number DESC LIMIT 1), 0) INTO last;
            IF last + needed > 2147483647 THEN
                last := 0;
            END IF;
            INSERT INTO message_id_range (delivery_id, first_id, last_id) VALUES (delivery, last + 1, last + needed);
            UPDATE pushmta_engine.delivery d SET message_id_base = last WHERE d.id = delivery;
        END $$;

        -- The delivery that messages of a continuous one go to now: the newest of its days, or a new one if that is of the past or its
        -- numbers are used up. Null if there is none and it cannot be made now. Callers may hold locks of a day already, so nobody
        -- waits here who has a day to go on with.
        CREATE FUNCTION pushmta_engine.open_day(delivery bigint, used_up bigint DEFAULT NULL, waits boolean DEFAULT true) RETURNS bigint
            LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            day date := message_day();
            newest record;
            -- Of one of these deliveries a million messages a day have a number of their own: 2,147 such days until they begin anew.
            numbers integer := 2147483647;
            made bigint;
        BEGIN
            FOR look IN 1..2 LOOP
                SELECT d.id, d.log_day INTO newest FROM pushmta_engine.delivery d
                WHERE d.kind = 'continuous' AND d.parent_delivery_id = delivery ORDER BY d.id DESC LIMIT 1;
                IF newest.id IS DISTINCT FROM used_up AND newest.log_day >= day THEN
                    RETURN newest.id;
                ELSIF look = 2 THEN
                    EXIT;
                ELSIF waits AND (newest.id IS NULL OR newest.id = used_up) THEN
                    PERFORM pg_advisory_xact_lock(\#(DeliveryLock.dayClass), hashint8(delivery));
                ELSIF NOT pg_try_advisory_xact_lock(\#(DeliveryLock.dayClass), hashint8(delivery)) THEN
                    RETURN newest.id;
                END IF;
            END LOOP;
            IF waits AND newest.id IS NULL THEN
                PERFORM FROM pushmta_engine.delivery d WHERE d.id = delivery AND d.state = 'in_progress' FOR KEY SHARE;
            ELSE
                PERFORM FROM pushmta_engine.delivery d WHERE d.id = delivery AND d.state = 'in_progress' FOR KEY SHARE SKIP LOCKED;
            END IF;
            IF NOT FOUND THEN
                RETURN nullif(newest.id, used_up);
            END IF;
            PERFORM ensure_partitions(day, day);
            IF EXISTS (SELECT FROM delivery_application a JOIN application p ON p.id = a.application_id
                WHERE a.delivery_id = delivery AND p.message_id_format = 'int32') THEN
                numbers := 1000000;
            END IF;
            INSERT INTO pushmta_engine.delivery (label, kind, parent_delivery_id, state, content, target_kind, one_per_user,
                allow_duplicates, priority, start_at, started_at, validity, valid_until, ambiguity_policy, max_retries,
                retry_period_seconds, log_day, tracking_key_id, target, prepared, created_by)
            -- A message of its last moment, or of a clock that is set back, has its whole validity.
            SELECT d.label, 'continuous', d.id, 'in_progress', d.content, 'explicit', d.one_per_user, d.allow_duplicates, d.priority,
                now(), now(), d.validity, (day + 2)::timestamp AT TIME ZONE 'UTC' + d.validity, d.ambiguity_policy, d.max_retries,
                d.retry_period_seconds, day, tracking_key_of(day), numbers, true, d.created_by
            FROM pushmta_engine.delivery d WHERE d.id = delivery
            RETURNING id INTO made;
            INSERT INTO delivery_application (delivery_id, application_id, external_account_id, prepared)
            SELECT made, a.application_id, a.external_account_id, true FROM delivery_application a WHERE a.delivery_id = delivery;
            IF numbers < 2147483647 THEN
                PERFORM take_message_ids(made, numbers);
            END IF;
            -- A counter in a row would make all who send wait for each other's commit. It may leave gaps.
            EXECUTE format('CREATE SEQUENCE pushmta_engine.%I AS integer', 'message_number_' || made);
            RETURN made;
        END $$;

        -- Throws a day's counter away once nothing is added to it any more; the caller has locked the day.
        CREATE FUNCTION pushmta_engine.drop_message_numbers(day bigint) RETURNS void LANGUAGE plpgsql
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        BEGIN
            IF to_regclass('pushmta_engine.message_number_' || day) IS NOT NULL THEN
                EXECUTE format('DROP SEQUENCE pushmta_engine.%I', 'message_number_' || day);
            END IF;
        END $$;

        -- Looks after continuous deliveries: opens their new days, ends the old ones that have no open part, puts the sums of parts in
        -- their place that ended an hour ago, and forgets old idempotency keys. Any number of hosts may call it; it waits for nobody.
        -- Returns how many parts and keys it removed.
        CREATE FUNCTION pushmta_engine.tend_deliveries(most integer) RETURNS integer LANGUAGE plpgsql
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET jit = off AS $$
        DECLARE
            place record;
            removed integer;
            forgotten integer;
        BEGIN
            FOR place IN SELECT d.id FROM delivery d
                WHERE d.state = 'in_progress' AND d.kind = 'continuous' AND d.parent_delivery_id IS NULL ORDER BY d.id
            LOOP
                PERFORM open_day(place.id, waits => false);
            END LOOP;
            FOR place IN SELECT d.id FROM delivery d
                WHERE d.state = 'in_progress' AND d.kind = 'continuous' AND d.parent_delivery_id IS NOT NULL
                    AND EXISTS (SELECT FROM delivery n WHERE n.kind = 'continuous' AND n.parent_delivery_id = d.parent_delivery_id
                        AND n.id > d.id)
                    AND NOT EXISTS (SELECT FROM delivery_part p WHERE p.delivery_id = d.id AND p.state <> 'done')
                ORDER BY d.id
            LOOP
                -- Who adds a message holds both locks until the end of its transaction.
                CONTINUE WHEN NOT pg_try_advisory_xact_lock(\#(DeliveryLock.advisoryClass), hashint8(place.id));
                PERFORM FROM delivery d WHERE d.id = place.id AND d.state = 'in_progress' FOR UPDATE SKIP LOCKED;
                CONTINUE WHEN NOT FOUND;
                -- What was added before the lock is seen by this statement only.
                CONTINUE WHEN EXISTS (SELECT FROM delivery_part p WHERE p.delivery_id = place.id AND p.state <> 'done');
                UPDATE delivery d SET state = 'finished', finished_at = now(), changed_at = now() WHERE d.id = place.id;
                PERFORM drop_message_numbers(place.id);
            END LOOP;

            WITH picked AS MATERIALIZED (
                SELECT p.id FROM delivery_part p
                WHERE p.state = 'done' AND p.valid_until IS NOT NULL AND p.rest_status IS NULL
                    -- The statistics have them (`counted` comes with the next migration, before anybody calls this).
                    AND p.finished_at < now() - interval '1 hour' AND p.counted
                    AND (p.handed_over = 0 OR p.late_outcomes + p.resent_after_ambiguity + p.journal_replayed = 0)
                    -- What is on record of lost owners, and what a retry part inherits of doubt, hangs on the part.
                    AND NOT EXISTS (SELECT FROM delivery_part_recovery r WHERE r.part_id = p.id)
                    AND NOT EXISTS (SELECT FROM delivery_part q WHERE q.parent_part_id = p.id AND q.state <> 'done')
                ORDER BY p.finished_at LIMIT most FOR UPDATE OF p SKIP LOCKED
            ), gone AS (
                DELETE FROM delivery_part p WHERE p.id = ANY(ARRAY(SELECT k.id FROM picked k)) RETURNING p.*
            ), kept AS (
                -- What a part handed over is in the size of another.
                INSERT INTO delivery_part AS f (delivery_id, application_id, external_account_id, log_day, size, sent, failed, ignored,
                    not_applicable, canceled, unknown, late_outcomes, resent_after_ambiguity, journal_replayed, priority, state,
                    finished_at, folded, counted)
                SELECT g.delivery_id, g.application_id, g.external_account_id, g.log_day, sum(g.size - g.handed_over), sum(g.sent),
                    sum(g.failed), sum(g.ignored), sum(g.not_applicable), sum(g.canceled), sum(g.unknown), sum(g.late_outcomes),
                    sum(g.resent_after_ambiguity), sum(g.journal_replayed), max(g.priority), 'done', max(g.finished_at), true, true
                FROM gone g GROUP BY 1, 2, 3, 4
                HAVING sum(g.size - g.handed_over) > 0
                ON CONFLICT (delivery_id, application_id, external_account_id) WHERE folded DO UPDATE
                SET size = f.size + excluded.size, sent = f.sent + excluded.sent, failed = f.failed + excluded.failed,
                    ignored = f.ignored + excluded.ignored, not_applicable = f.not_applicable + excluded.not_applicable,
                    canceled = f.canceled + excluded.canceled, unknown = f.unknown + excluded.unknown,
                    late_outcomes = f.late_outcomes + excluded.late_outcomes,
                    resent_after_ambiguity = f.resent_after_ambiguity + excluded.resent_after_ambiguity,
                    journal_replayed = f.journal_replayed + excluded.journal_replayed, finished_at = excluded.finished_at
            )
            SELECT count(*) INTO removed FROM gone;

            WITH old AS MATERIALIZED (
                SELECT k.delivery_id, k.idempotency_key FROM message_key k WHERE k.created_at < now() - interval '48 hours'
                ORDER BY k.created_at LIMIT most FOR UPDATE SKIP LOCKED
            ), dropped AS (
                DELETE FROM message_key k USING old o WHERE k.delivery_id = o.delivery_id AND k.idempotency_key = o.idempotency_key
                RETURNING 1
            )
            SELECT count(*) INTO forgotten FROM dropped;
            RETURN removed + forgotten;
        END $$;

        """#
}
