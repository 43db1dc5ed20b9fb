extension Migration {
    /// What nobody needs any more goes with the logs of its day, a person can be forgotten, and no token is too long for its index.
    static let dataAtRest = Migration(
        version: 35,
        name: "data at rest",
        oldestProgram: 8,
        script: [
            tokenLength, endedTargets, deliveryRows, statusRows, forgottenUsers, forgottenLogs, forgottenHits,
            atRestRights,
        ]
        .joined(separator: "\n\n")
    )

    private static let tokenLength = #"""
        -- As long as an index takes without fail, however a token comes in: by a replacement, too.
        CREATE OR REPLACE TRIGGER subscription_push_token_form BEFORE INSERT OR UPDATE OF push_token ON pushmta_engine.subscription
            FOR EACH ROW WHEN (length(NEW.push_token) > 2000 OR NEW.push_token ~ '[^!-~]') EXECUTE FUNCTION pushmta_engine.refuse_token();
        ALTER TABLE pushmta.delivery_target ADD CONSTRAINT delivery_target_push_token_form
            CHECK (octet_length(push_token) <= 2000) NOT VALID;

        -- Gives a locked subscription the token that a gateway wants instead. One that cannot be a token changes nothing.
        CREATE OR REPLACE FUNCTION pushmta_engine.replace_token(s pushmta_engine.subscription, event bigint, wanted text) RETURNS text
            LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp SET lock_timeout = '100ms' AS $$
        DECLARE
            other subscription;
        BEGIN
            IF wanted IS NULL OR wanted = '' OR wanted = s.push_token OR octet_length(wanted) > 2000 OR wanted ~ '[^!-~]' THEN
                RETURN 'outdated';
            END IF;
            SELECT x.* INTO other FROM subscription x
            WHERE x.application_id = s.application_id AND x.push_token = wanted AND x.enabled FOR NO KEY UPDATE SKIP LOCKED;
            IF NOT FOUND AND EXISTS (SELECT FROM subscription x
                WHERE x.application_id = s.application_id AND x.push_token = wanted AND x.enabled) THEN
                RETURN 'pending';
            END IF;
            IF other.id IS NOT NULL AND (other.registered_at, other.id) > (s.registered_at, s.id) THEN
                UPDATE subscription x SET enabled = false, disabled_at = now(), disabled_reason = 'token_replaced' WHERE x.id = s.id;
                UPDATE token_event e SET other_subscription_id = other.id WHERE e.id = event;
                RETURN 'applied';
            END IF;
            BEGIN
                UPDATE subscription x SET enabled = false, disabled_at = now(), disabled_reason = 'token_replaced'
                WHERE x.id = other.id;
                UPDATE subscription x SET push_token = wanted,
                    opted_out = x.opted_out OR coalesce(other.opted_out AND other.user_key = x.user_key, false)
                WHERE x.id = s.id;
            EXCEPTION WHEN unique_violation OR lock_not_available OR deadlock_detected THEN
                RETURN 'pending';
            END;
            UPDATE token_event e SET old_token = s.push_token, other_subscription_id = other.id WHERE e.id = event;
            RETURN 'applied';
        END $$;
        """#

    private static let endedTargets = #"""
        -- Targets and exclusions are frozen from the start of their delivery to its end: of one that is over they may be deleted, by
        -- whoever may delete. Who forgets a person (`pushmta.forget_user`) deletes that person's at any time.
        CREATE OR REPLACE FUNCTION pushmta_engine.check_targets_open() RETURNS trigger LANGUAGE plpgsql
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            named record;
        BEGIN
            FOR named IN SELECT d.id, d.state, d.kind, d.finished_at FROM delivery d
                WHERE d.id IN (SELECT DISTINCT n.delivery_id FROM changed n)
                ORDER BY d.id FOR KEY SHARE OF d
            LOOP
                CONTINUE WHEN TG_OP = 'DELETE' AND (current_setting('pushmta.forgetting', true) = 'on'
                    OR named.state IN ('finished', 'failed', 'stopped') AND named.finished_at IS NOT NULL);
                IF named.state <> 'editing' THEN
                    RAISE EXCEPTION 'Delivery % is %: its targets can no longer be changed.', named.id, named.state
                        USING ERRCODE = 'PM006', HINT = 'Fill pushmta.delivery_target before start_delivery, or create another delivery.';
                ELSIF named.kind = 'continuous' AND TG_TABLE_NAME = 'delivery_target' THEN
                    RAISE EXCEPTION 'Delivery % is continuous: it has no list of targets.', named.id
                        USING ERRCODE = 'PM006', HINT = 'Add messages to it with pushmta.send_message after its start.';
                END IF;
            END LOOP;
            RETURN NULL;
        END $$;
        """#

    private static let deliveryRows = #"""
        -- Whether of an ended delivery only what reports show is left: its row, its applications, its counts, its statistics.
        ALTER TABLE pushmta_engine.delivery ADD purged boolean NOT NULL DEFAULT false;
        CREATE INDEX delivery_unpurged ON pushmta_engine.delivery ((coalesce(log_day, (finished_at AT TIME ZONE 'UTC')::date)), id)
            WHERE NOT purged AND finished_at IS NOT NULL;

        -- Deletes what ended deliveries of days before `before` leave behind their counts, up to about so many rows: targets and exclusions,
        -- parts (which become one for each application and account, with the sums of all), what is on record of lost owners, numbers of
        -- int32 message ids. Nothing of a day whose outcomes are there: these hold what an unfinished delivery needs, and what the
        -- statistics have not counted, and are not dropped at once when the clock jumps. Returns how many rows.
        CREATE FUNCTION pushmta_engine.purge_delivery_rows(most integer, before date) RETURNS bigint LANGUAGE plpgsql
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
        DECLARE
            days date[];
            place record;
            deleted bigint;
            purged_rows bigint := 0;
            parts bigint[];
        BEGIN
            days := ARRAY(SELECT o.day FROM (SELECT DISTINCT coalesce(d.log_day, (d.finished_at AT TIME ZONE 'UTC')::date) AS day
                    FROM delivery d WHERE NOT d.purged AND d.finished_at IS NOT NULL
                        AND coalesce(d.log_day, (d.finished_at AT TIME ZONE 'UTC')::date) < least(before, (now() AT TIME ZONE 'UTC')::date - 1)) o
                WHERE to_regclass('pushmta_engine.broad_log_' || to_char(o.day, 'YYYYMMDD')) IS NULL
                    AND to_regclass('pushmta_engine.delivery_part_target_' || to_char(o.day, 'YYYYMMDD')) IS NULL);
            FOR place IN SELECT d.id FROM delivery d
                WHERE NOT d.purged AND d.finished_at IS NOT NULL
                    AND coalesce(d.log_day, (d.finished_at AT TIME ZONE 'UTC')::date) = ANY(days)
                    AND d.state IN ('finished', 'failed', 'stopped')
                    AND NOT EXISTS (SELECT FROM delivery_part p WHERE p.delivery_id = d.id AND p.state <> 'done')
                    AND NOT EXISTS (SELECT FROM delivery_part p WHERE p.delivery_id = d.id AND p.state = 'done' AND NOT p.counted)
                    AND NOT EXISTS (SELECT FROM delivery c WHERE c.parent_delivery_id = d.id AND c.finished_at IS NULL)
                ORDER BY coalesce(d.log_day, (d.finished_at AT TIME ZONE 'UTC')::date), d.id LIMIT most
                FOR NO KEY UPDATE OF d SKIP LOCKED
            LOOP
                EXIT WHEN purged_rows >= most;
                DELETE FROM pushmta.delivery_target t WHERE t.id = ANY(ARRAY(SELECT x.id FROM pushmta.delivery_target x
                    WHERE x.delivery_id = place.id ORDER BY x.id LIMIT most - purged_rows));
                GET DIAGNOSTICS deleted = ROW_COUNT;
                PERFORM note_retention('delivery targets', deleted);
                purged_rows := purged_rows + deleted;
                CONTINUE WHEN purged_rows >= most;
                DELETE FROM pushmta.delivery_exclusion e WHERE e.id = ANY(ARRAY(SELECT x.id FROM pushmta.delivery_exclusion x
                    WHERE x.delivery_id = place.id LIMIT most - purged_rows));
                GET DIAGNOSTICS deleted = ROW_COUNT;
                PERFORM note_retention('exclusions of deliveries', deleted);
                purged_rows := purged_rows + deleted;
                CONTINUE WHEN purged_rows >= most;
                parts := ARRAY(SELECT p.id FROM delivery_part p WHERE p.delivery_id = place.id AND NOT p.folded
                    ORDER BY p.id LIMIT most - purged_rows FOR UPDATE);
                DELETE FROM delivery_part_recovery r WHERE r.part_id = ANY(parts);
                PERFORM fold_parts(parts);
                PERFORM note_retention('parts', cardinality(parts));
                purged_rows := purged_rows + cardinality(parts);
                CONTINUE WHEN purged_rows >= most;
                -- The last range of all is where the next one begins.
                DELETE FROM message_id_range r WHERE r.delivery_id = place.id
                    AND EXISTS (SELECT FROM message_id_range n WHERE n.number > r.number);
                UPDATE delivery d SET purged = true WHERE d.id = place.id;
                purged_rows := purged_rows + 1;
            END LOOP;
            RETURN purged_rows;
        END $$;

        -- Puts done parts together, one for each delivery, application and account. What a part handed over is in the size of another; what
        -- had no outcome of its own is counted as what the part's end made of it.
        CREATE FUNCTION pushmta_engine.fold_parts(parts bigint[]) RETURNS void LANGUAGE sql
            SET search_path = pushmta_engine, pg_temp AS $$
            WITH gone AS (
                DELETE FROM delivery_part p WHERE p.id = ANY(parts) AND p.state = 'done'
                RETURNING p.*, CASE WHEN p.rest_status IS NULL THEN 0 ELSE p.size - p.handed_over - p.sent - p.failed - p.ignored
                    - p.not_applicable - p.canceled - p.unknown END AS rest
            )
            INSERT INTO delivery_part AS f (delivery_id, application_id, external_account_id, log_day, size, sent, failed, ignored,
                not_applicable, canceled, unknown, late_outcomes, resent_after_ambiguity, journal_replayed, priority, state,
                finished_at, folded, counted)
            SELECT g.delivery_id, g.application_id, g.external_account_id, g.log_day, sum(g.size - g.handed_over), sum(g.sent),
                sum(g.failed + CASE g.rest_status WHEN 2 THEN g.rest ELSE 0 END),
                sum(g.ignored + CASE g.rest_status WHEN 0 THEN g.rest ELSE 0 END),
                sum(g.not_applicable + CASE g.rest_status WHEN 8 THEN g.rest ELSE 0 END),
                sum(g.canceled + CASE g.rest_status WHEN 7 THEN g.rest ELSE 0 END),
                sum(g.unknown + CASE g.rest_status WHEN 9 THEN g.rest ELSE 0 END),
                sum(g.late_outcomes), sum(g.resent_after_ambiguity), sum(g.journal_replayed), max(g.priority), 'done',
                max(g.finished_at), true, true
            FROM gone g GROUP BY 1, 2, 3, 4
            HAVING sum(g.size - g.handed_over) > 0
            ON CONFLICT (delivery_id, application_id, external_account_id) WHERE folded DO UPDATE
            SET size = f.size + excluded.size, sent = f.sent + excluded.sent, failed = f.failed + excluded.failed,
                ignored = f.ignored + excluded.ignored, not_applicable = f.not_applicable + excluded.not_applicable,
                canceled = f.canceled + excluded.canceled, unknown = f.unknown + excluded.unknown,
                late_outcomes = f.late_outcomes + excluded.late_outcomes,
                resent_after_ambiguity = f.resent_after_ambiguity + excluded.resent_after_ambiguity,
                journal_replayed = f.journal_replayed + excluded.journal_replayed, finished_at = excluded.finished_at $$;
        """#

    private static let statusRows = #"""
        -- Deletes up to so many children that ended, or were heard of last, longer ago than the time, and hosts without any that were; returns
        -- how many. None that holds a part. If one is more than three days beyond the time, all are held for a day.
        CREATE FUNCTION pushmta_engine.purge_children(most integer, older interval) RETURNS bigint LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
        DECLARE
            picked bigint[];
            is_much boolean;
            purged_rows bigint;
            hosts bigint;
        BEGIN
            SELECT coalesce(array_agg(c.id), '{}'), coalesce(bool_or(c.since < now() - older - interval '3 days'), false)
            INTO picked, is_much
            FROM ((SELECT x.id, x.exited_at AS since FROM mta_child x WHERE x.exited_at IS NOT NULL AND x.exited_at < now() - older
                    ORDER BY x.exited_at LIMIT most)
                UNION ALL
                (SELECT x.id, x.last_beat FROM mta_child x WHERE x.exited_at IS NULL AND x.last_beat < now() - older LIMIT most)) c
            WHERE NOT EXISTS (SELECT FROM delivery_part p WHERE p.state = 'claimed' AND p.owner = c.id);
            SELECT is_much OR coalesce(bool_or(h.last_beat < now() - older - interval '3 days'), false) INTO is_much
            FROM mta_host h WHERE NOT EXISTS (SELECT FROM mta_child c WHERE c.host_id = h.id);
            IF NOT retention_passes('children and hosts', is_much, false) THEN
                RETURN 0;
            END IF;
            DELETE FROM mta_child c WHERE c.id = ANY(picked);
            GET DIAGNOSTICS purged_rows = ROW_COUNT;
            DELETE FROM mta_host h WHERE h.last_beat < now() - older AND NOT EXISTS (SELECT FROM mta_child c WHERE c.host_id = h.id);
            GET DIAGNOSTICS hosts = ROW_COUNT;
            PERFORM note_retention('children and hosts', purged_rows + hosts);
            RETURN purged_rows;
        END $$;
        """#

    private static let atRestRights = #"""
        REVOKE ALL ON FUNCTION pushmta_engine.purge_delivery_rows(integer, date), pushmta_engine.fold_parts(bigint[]),
            pushmta_engine.purge_children(integer, interval), pushmta.forget_user(text, text),
            pushmta_engine.clean_forgotten_logs(integer), pushmta_engine.purge_forgotten(integer) FROM PUBLIC;
        """#
}
