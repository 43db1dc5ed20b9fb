extension Migration {
    /// Pause, resume, stop and failure as in migration 10; of a continuous delivery they take its days along. The order of locks is
    /// the delivery, its days in the order of their ids, then parts.
    static let dayControl = #"""
        -- Locks the days of a delivery that are not at their end, which it has locked before, and returns them.
        CREATE FUNCTION pushmta_engine.lock_days(delivery bigint) RETURNS bigint[] LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            day record;
            days bigint[] := '{}';
        BEGIN
            FOR day IN SELECT d.id FROM pushmta_engine.delivery d
                WHERE d.kind = 'continuous' AND d.parent_delivery_id = delivery AND d.state IN ('in_progress', 'paused') ORDER BY d.id
            LOOP
                IF lock_delivery(day.id) IN ('in_progress', 'paused') THEN
                    days := days || day.id;
                END IF;
            END LOOP;
            RETURN days;
        END $$;

        -- A day goes as its continuous delivery does.
        CREATE FUNCTION pushmta_engine.refuse_day(delivery bigint) RETURNS void LANGUAGE plpgsql STABLE
            SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            whole bigint := (SELECT d.parent_delivery_id FROM pushmta_engine.delivery d WHERE d.id = delivery AND d.kind = 'continuous');
        BEGIN
            IF whole IS NOT NULL THEN
                RAISE EXCEPTION 'Delivery % is a day of the continuous delivery % and is controlled with it.', delivery, whole
                    USING ERRCODE = 'PM008', HINT = 'Pause, resume or stop the continuous delivery.';
            END IF;
        END $$;

        -- Ends what nobody holds of the days of a continuous delivery that is locked; returns whether no part of them is left.
        CREATE FUNCTION pushmta_engine.end_days(delivery bigint, final_state text, words text) RETURNS boolean LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            day bigint;
            complete boolean;
            all_complete boolean := true;
        BEGIN
            FOREACH day IN ARRAY lock_days(delivery) LOOP
                complete := cancel_parts(day, CASE WHEN final_state = 'stopped' THEN 'stopped' ELSE words END);
                UPDATE pushmta_engine.delivery d SET state = final_state, state_reason = words, changed_at = now(),
                    finished_at = CASE WHEN complete THEN now() END
                WHERE d.id = day;
                PERFORM drop_message_numbers(day);
                all_complete := all_complete AND complete;
            END LOOP;
            RETURN all_complete;
        END $$;

        -- Holds a delivery back: nothing new leaves, what is on its way to the gateway is settled and recorded.
        CREATE OR REPLACE FUNCTION pushmta.pause_delivery(delivery bigint) RETURNS void
            LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            found_state text := lock_delivery(delivery);
            held bigint[];
        BEGIN
            PERFORM refuse_day(delivery);
            IF found_state = 'paused' THEN
                RETURN;
            END IF;
            IF found_state NOT IN ('pending', 'preparing', 'in_progress') THEN
                RAISE EXCEPTION 'Delivery % is % and cannot be paused.', delivery, found_state
                    USING ERRCODE = 'PM008', HINT = 'Only a delivery that was started and is not at its end can be paused.';
            END IF;
            held := delivery || lock_days(delivery);
            UPDATE pushmta_engine.delivery d SET state = 'paused', preparing_host = '', changed_at = now() WHERE d.id = ANY(held);
            UPDATE delivery_part p SET state = 'waiting' WHERE p.delivery_id = ANY(held) AND p.state = 'ready';
            PERFORM pg_notify('pushmta_wake', 'control');
        END $$;

        -- Lets a paused delivery go on where it was: waiting for its start, in preparation, or sending.
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
            UPDATE pushmta_engine.delivery d SET preparing_host = '', changed_at = now(), state = CASE
                WHEN d.started_at IS NULL THEN 'pending' WHEN d.prepared THEN 'in_progress' ELSE 'preparing' END
            WHERE d.id = ANY(held);
            UPDATE delivery_part p SET state = 'ready' WHERE p.delivery_id = ANY(held) AND p.state = 'waiting';
            PERFORM pg_notify('pushmta_wake', 'control');
        END $$;

        -- Ends a delivery for good: nothing new leaves, what is on its way to the gateway is settled and recorded, the rest is
        -- canceled.
        CREATE OR REPLACE FUNCTION pushmta.stop_delivery(delivery bigint) RETURNS void
            LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            found_state text := lock_delivery(delivery);
            complete boolean;
        BEGIN
            PERFORM refuse_day(delivery);
            IF found_state = 'stopped' THEN
                RETURN;
            END IF;
            IF found_state IN ('finished', 'failed') THEN
                RAISE EXCEPTION 'Delivery % is % and cannot be stopped.', delivery, found_state
                    USING ERRCODE = 'PM008', HINT = 'It is at its end already.';
            END IF;
            complete := cancel_parts(delivery, 'stopped');
            complete := end_days(delivery, 'stopped', '') AND complete;
            UPDATE pushmta_engine.delivery d SET state = 'stopped', state_reason = '', preparing_host = '', changed_at = now(),
                finished_at = CASE WHEN complete THEN now() END
            WHERE d.id = delivery;
            PERFORM pg_notify('pushmta_wake', 'control');
        END $$;

        -- Gives a delivery up because it cannot be sent; false if it is at its end already. What one day cannot send the next ones
        -- cannot either, so the whole fails.
        CREATE OR REPLACE FUNCTION pushmta_engine.fail_delivery(delivery bigint, words text) RETURNS boolean LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            whole bigint := coalesce((SELECT d.parent_delivery_id FROM pushmta_engine.delivery d
                WHERE d.id = delivery AND d.kind = 'continuous'), delivery);
            found_state text := lock_delivery(whole);
            complete boolean;
        BEGIN
            IF found_state IN ('finished', 'failed', 'stopped') THEN
                RETURN false;
            END IF;
            complete := cancel_parts(whole, words);
            complete := end_days(whole, 'failed', words) AND complete;
            UPDATE pushmta_engine.delivery d SET state = 'failed', state_reason = words, preparing_host = '', changed_at = now(),
                finished_at = CASE WHEN complete THEN now() END
            WHERE d.id = whole;
            PERFORM pg_notify('pushmta_wake', 'control');
            RETURN true;
        END $$;

        """#
}
