extension Migration {
    /// What a clock that is set back, a transaction that commits late, or a row that changes its delivery must not get past.
    static let safeguards = Migration(
        version: 14,
        name: "safeguards",
        oldestProgram: 8,
        script: #"""
            -- Which range was taken last must not hang on the clock: behind a step back the same numbers would be taken twice. Ranges
            -- are taken one at a time, so their own numbers are in the order of taking.
            ALTER TABLE pushmta_engine.message_id_range ADD number bigint;
            UPDATE pushmta_engine.message_id_range r SET number = o.number
            FROM (SELECT m.delivery_id, row_number() OVER (ORDER BY m.reserved_at, m.last_id) AS number
                FROM pushmta_engine.message_id_range m) o
            WHERE o.delivery_id = r.delivery_id;
            ALTER TABLE pushmta_engine.message_id_range ALTER number SET NOT NULL, ALTER number ADD GENERATED ALWAYS AS IDENTITY;
            SELECT setval(pg_get_serial_sequence('pushmta_engine.message_id_range', 'number'), coalesce(max(r.number), 0) + 1, false)
            FROM pushmta_engine.message_id_range r;
            CREATE UNIQUE INDEX message_id_range_number ON pushmta_engine.message_id_range (number);
            DROP INDEX pushmta_engine.message_id_range_reserved;

            -- Takes the numbers for a delivery's int32 message ids, if one of its applications has them: as many as it can have
            -- messages, behind the range that was taken last. After 2147483647 they begin anew; an id is then ambiguous only with one
            -- two billion messages ago.
            CREATE OR REPLACE FUNCTION pushmta_engine.reserve_message_ids(delivery bigint) RETURNS void LANGUAGE plpgsql
                SET search_path = pushmta_engine, pg_temp AS $$
            #variable_conflict use_variable
            DECLARE
                needed bigint;
                last bigint;
            BEGIN
                IF NOT EXISTS (SELECT FROM delivery_application d JOIN application a ON a.id = d.application_id
                    WHERE d.delivery_id = delivery AND a.message_id_format = 'int32') THEN
                    RETURN;
                END IF;
                PERFORM pg_advisory_xact_lock(5786284502003);
                SELECT CASE WHEN d.target_kind = 'explicit' THEN
                        (SELECT count(*) FROM pushmta.delivery_target t WHERE t.delivery_id = delivery AND t.user_key IS NULL)
                        + (SELECT count(*) FROM pushmta.delivery_target t
                            JOIN subscription s ON s.user_key = t.user_key
                            JOIN delivery_application a ON a.delivery_id = delivery AND a.application_id = s.application_id
                            WHERE t.delivery_id = delivery AND t.user_key IS NOT NULL)
                    ELSE (SELECT count(*) FROM delivery_application a JOIN subscription s ON s.application_id = a.application_id
                            AND s.id <= a.prepare_to WHERE a.delivery_id = delivery) END
                    -- A push token can be enabled in several applications of the delivery.
                    * CASE WHEN d.target_kind = 'explicit'
                        THEN (SELECT count(*) FROM delivery_application a WHERE a.delivery_id = delivery) ELSE 1 END
                INTO needed FROM pushmta_engine.delivery d WHERE d.id = delivery;
                needed := greatest(needed, 1);
                SELECT coalesce((SELECT r.last_id FROM message_id_range r ORDER BY r.number DESC LIMIT 1), 0) INTO last;
                IF last + needed > 2147483647 THEN
                    last := 0;
                END IF;
                INSERT INTO message_id_range (delivery_id, first_id, last_id) VALUES (delivery, last + 1, last + needed)
                ON CONFLICT (delivery_id) DO NOTHING;
                UPDATE pushmta_engine.delivery d SET message_id_base = r.first_id - 1
                FROM message_id_range r WHERE r.delivery_id = d.id AND d.id = delivery;
            END $$;

            -- The part of an answer that did not say since when: `since` is then the moment at which the part was made.
            ALTER TABLE pushmta_engine.token_event ADD part_id bigint;
            -- What was said about tokens of these parts and is not dated by the gateway counts no more, whenever it comes: they were
            -- made before what held the effects was put right. By number, as a clock may be set back.
            ALTER TABLE pushmta_engine.application_health ADD effects_void_through bigint NOT NULL DEFAULT 0;

            -- Disables the subscriptions of up to so many refused tokens. A registration after the refusal outweighs it; events of an
            -- application whose effects are held are put aside, and those of a bad time that is over are undone. Any number of hosts
            -- may call it; it waits for nobody, and what is locked by others stays for the next call. Returns the number of events it
            -- decided.
            CREATE OR REPLACE FUNCTION pushmta_engine.apply_token_events(most integer) RETURNS integer LANGUAGE plpgsql
                SET search_path = pushmta_engine, pg_temp AS $$
            DECLARE
                decided integer;
            BEGIN
                WITH picked AS MATERIALIZED (
                    SELECT e.id, e.subscription_id, e.reason, coalesce(e.since, e.created_at) AS since,
                        CASE WHEN e.part_id <= h.effects_void_through THEN 'undone' WHEN h.token_effects_held THEN 'held' END AS kept
                    FROM token_event e LEFT JOIN application_health h ON h.application_id = e.application_id
                    WHERE e.state = 'pending' AND e.kind = 'invalid'
                    ORDER BY e.id LIMIT most FOR NO KEY UPDATE OF e SKIP LOCKED
                ), subject AS MATERIALIZED (
                    SELECT s.id, s.enabled, s.registered_at FROM subscription s
                    WHERE s.id = ANY(ARRAY(SELECT DISTINCT p.subscription_id FROM picked p WHERE p.kept IS NULL))
                    ORDER BY s.id FOR NO KEY UPDATE SKIP LOCKED
                ), judged AS MATERIALIZED (
                    SELECT p.id, p.subscription_id, p.reason, CASE WHEN p.kept IS NOT NULL THEN p.kept
                        WHEN s.id IS NULL THEN
                            CASE WHEN EXISTS (SELECT FROM subscription x WHERE x.id = p.subscription_id) THEN 'pending' ELSE 'outdated' END
                        WHEN s.enabled AND s.registered_at <= p.since
                            AND row_number() OVER (PARTITION BY p.subscription_id, p.kept, s.registered_at <= p.since ORDER BY p.id) = 1
                            THEN 'applied'
                        ELSE 'outdated' END AS verdict
                    FROM picked p LEFT JOIN subject s ON s.id = p.subscription_id
                ), disabled AS (
                    UPDATE subscription s SET enabled = false, disabled_at = now(), disabled_reason = 'token_invalid',
                        quarantine_status = greatest(s.quarantine_status, 2::smallint), quarantined_at = now(), last_error_at = now(),
                        quarantine_reason = j.reason
                    FROM judged j WHERE j.verdict = 'applied' AND s.id = j.subscription_id
                ), noted AS (
                    UPDATE token_event e SET state = j.verdict, applied_at = CASE WHEN j.verdict = 'applied' THEN now() END,
                        undone_at = CASE WHEN j.verdict = 'undone' THEN now() END
                    FROM judged j WHERE j.verdict <> 'pending' AND e.id = j.id
                    RETURNING e.id
                )
                SELECT count(*) INTO decided FROM noted;
                RETURN decided;
            END $$;

            -- A started delivery's list is frozen. Whoever changes it locks the delivery against its start (the foreign key does that
            -- for inserts only): start_delivery waits for changes under way, and this check makes later ones fail.
            CREATE OR REPLACE FUNCTION pushmta_engine.check_targets_open() RETURNS trigger LANGUAGE plpgsql
                SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
            DECLARE
                named record;
            BEGIN
                FOR named IN SELECT d.id, d.state FROM delivery d
                    WHERE d.id IN (SELECT DISTINCT n.delivery_id FROM changed n)
                    ORDER BY d.id FOR KEY SHARE OF d
                LOOP
                    IF named.state <> 'editing' THEN
                        RAISE EXCEPTION 'Delivery % is %: its targets can no longer be changed.', named.id, named.state
                            USING ERRCODE = 'PM006', HINT = 'Fill pushmta.delivery_target before start_delivery, or create another delivery.';
                    END IF;
                END LOOP;
                RETURN NULL;
            END $$;
            -- A row that is given to another delivery is taken from one.
            CREATE TRIGGER delivery_target_update_from AFTER UPDATE ON pushmta.delivery_target
                REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pushmta_engine.check_targets_open();
            """#
    )
}
