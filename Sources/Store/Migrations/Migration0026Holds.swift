extension Migration {
    /// A delivery that is paused for a fault of its own says why, and the probes of a circuit go round all deliveries.
    static let holds = Migration(
        version: 26,
        name: "holds",
        oldestProgram: 8,
        script: #"""
            -- The delivery whose message was the last probe: the next one is another's, so that one delivery's own fault does not keep
            -- the circuit open.
            ALTER TABLE pushmta_engine.application_health ADD probed_delivery bigint NOT NULL DEFAULT 0;

            -- Pauses a delivery because of what a gateway says of it alone; a continuous one as a whole, as what one day cannot send the
            -- next ones cannot either. False if it is paused already or not under way.
            CREATE FUNCTION pushmta_engine.hold_delivery(delivery bigint, words text) RETURNS boolean LANGUAGE plpgsql
                SET search_path = pushmta_engine, pg_temp AS $$
            #variable_conflict use_variable
            DECLARE
                whole bigint := coalesce((SELECT d.parent_delivery_id FROM pushmta_engine.delivery d
                    WHERE d.id = delivery AND d.kind = 'continuous'), delivery);
                found_state text := lock_delivery(whole);
                held bigint[];
            BEGIN
                IF found_state NOT IN ('preparing', 'in_progress') THEN
                    RETURN false;
                END IF;
                held := whole || lock_days(whole);
                UPDATE pushmta_engine.delivery d SET state = 'paused', state_reason = words, preparing_host = '', changed_at = now()
                WHERE d.id = ANY(held);
                UPDATE delivery_part p SET state = 'waiting' WHERE p.delivery_id = ANY(held) AND p.state = 'ready';
                PERFORM pg_notify('pushmta_wake', 'control');
                RETURN true;
            END $$;

            -- Lets a paused delivery go on where it was, as in migration 21; why it was held is over then.
            CREATE OR REPLACE FUNCTION pushmta.resume_delivery(delivery bigint) RETURNS void
                LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
            #variable_conflict use_variable
            DECLARE
                found_state text := lock_delivery(delivery);
                held bigint[];
            BEGIN
                PERFORM refuse_day(delivery);
                IF found_state IN ('pending', 'preparing', 'in_progress') THEN
                    RETURN;
                END IF;
                IF found_state <> 'paused' THEN
                    RAISE EXCEPTION 'Delivery % is % and cannot be resumed.', delivery, found_state
                        USING ERRCODE = 'PM008', HINT = 'Only a paused delivery can be resumed.';
                END IF;
                held := delivery || lock_days(delivery);
                UPDATE pushmta_engine.delivery d SET preparing_host = '', state_reason = '', changed_at = now(), state = CASE
                    WHEN d.started_at IS NULL THEN 'pending' WHEN d.prepared THEN 'in_progress' ELSE 'preparing' END
                WHERE d.id = ANY(held);
                UPDATE delivery_part p SET state = 'ready' WHERE p.delivery_id = ANY(held) AND p.state = 'waiting';
                PERFORM pg_notify('pushmta_wake', 'control');
            END $$;

            REVOKE ALL ON FUNCTION pushmta_engine.hold_delivery(bigint, text) FROM PUBLIC;
            DO $$ BEGIN
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                    GRANT EXECUTE ON FUNCTION pushmta_engine.hold_delivery(bigint, text) TO pushmta_runtime;
                END IF;
            END $$;
            """#
    )
}
