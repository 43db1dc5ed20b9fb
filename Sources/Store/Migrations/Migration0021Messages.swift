extension Migration {
    /// Continuous deliveries, and the messages that are added to them one by one.
    static let messages = Migration(
        version: 21,
        name: "messages",
        oldestProgram: 8,
        script: messageTables + dayFunctions + dayControl + messageViews + messageFunctions + messageRights
    )

    private static let messageTables = #"""
        -- A continuous delivery goes on until it is stopped and has no messages of its own. Those of a day belong to a delivery of that
        -- day, its child of the same kind: the day and the tracking key of a delivery never change.
        CREATE INDEX delivery_day ON pushmta_engine.delivery (parent_delivery_id, id DESC)
            WHERE kind = 'continuous' AND parent_delivery_id IS NOT NULL;
        COMMENT ON COLUMN pushmta_engine.delivery.target IS
            'Messages so far; of a day of a continuous delivery, whose messages are counted from its parts, how many numbers it may give them.';

        -- Until when the messages of a part are sent that send_message made; null for all others, whose delivery says it.
        ALTER TABLE pushmta_engine.delivery_part ADD valid_until timestamptz;
        -- Holds the sums of parts that ended long ago and are gone.
        ALTER TABLE pushmta_engine.delivery_part ADD folded boolean NOT NULL DEFAULT false;
        -- What a supervisor looks for many times a second is next to empty.
        CREATE INDEX delivery_part_message ON pushmta_engine.delivery_part (valid_until)
            WHERE state = 'ready' AND valid_until IS NOT NULL;
        CREATE INDEX delivery_part_folding ON pushmta_engine.delivery_part (finished_at)
            WHERE state = 'done' AND valid_until IS NOT NULL AND rest_status IS NULL;
        CREATE UNIQUE INDEX delivery_part_folded ON pushmta_engine.delivery_part (delivery_id, application_id, external_account_id)
            WHERE folded;
        -- With it and the one of unfinished parts a single message is found however many parts its delivery has had.
        CREATE INDEX delivery_part_rest ON pushmta_engine.delivery_part (delivery_id) WHERE rest_status IS NOT NULL;

        -- The variables of all messages of a part that send_message made.
        ALTER TABLE pushmta_engine.delivery_part_target ADD variables jsonb;

        -- A program that does not know of these variables, and of the validity of a part, would send the wrong thing: it claims the
        -- others.
        CREATE FUNCTION pushmta_engine.check_claimer() RETURNS trigger LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
        BEGIN
            IF coalesce(nullif(current_setting('pushmta.program', true), '')::integer, 0) < 21 THEN
                RETURN NULL;
            END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER delivery_part_claimer BEFORE UPDATE OF owner ON pushmta_engine.delivery_part
            FOR EACH ROW WHEN (NEW.valid_until IS NOT NULL AND NEW.state = 'claimed') EXECUTE FUNCTION pushmta_engine.check_claimer();

        -- What was sent under an idempotency key, kept for 48 hours.
        CREATE TABLE pushmta_engine.message_key (
            delivery_id bigint NOT NULL,
            idempotency_key text NOT NULL,
            -- A hash of the arguments.
            request bytea NOT NULL,
            day_id bigint NOT NULL,
            sequences integer[] NOT NULL,
            subscription_ids bigint[] NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (delivery_id, idempotency_key)
        );
        CREATE INDEX message_key_created ON pushmta_engine.message_key (created_at);

        CREATE TYPE pushmta.message_reference AS (
            message_id text, delivery_id bigint, sequence integer, subscription_id bigint, repeated boolean);

        -- As before, and a continuous delivery has no list of targets. Who may be excluded from it is listed as for others.
        CREATE OR REPLACE FUNCTION pushmta_engine.check_targets_open() RETURNS trigger LANGUAGE plpgsql
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            named record;
        BEGIN
            FOR named IN SELECT d.id, d.state, d.kind FROM delivery d
                WHERE d.id IN (SELECT DISTINCT n.delivery_id FROM changed n)
                ORDER BY d.id FOR KEY SHARE OF d
            LOOP
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

        -- Makes a delivery that was not started continuous, and returns its id.
        CREATE FUNCTION pushmta.make_continuous(delivery bigint) RETURNS bigint LANGUAGE plpgsql
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            found_state text := lock_delivery(delivery);
            whole record;
        BEGIN
            IF found_state <> 'editing' THEN
                RAISE EXCEPTION 'Delivery % is %: it can no longer be made continuous.', delivery, found_state
                    USING ERRCODE = 'PM006', HINT = 'Make it continuous before start_delivery.';
            END IF;
            SELECT d.proof, d.target_filter IS NOT NULL OR d.target_sql IS NOT NULL
                OR EXISTS (SELECT FROM pushmta.delivery_target t WHERE t.delivery_id = d.id) AS has_target
            INTO whole FROM pushmta_engine.delivery d WHERE d.id = delivery;
            IF whole.proof OR whole.has_target THEN
                RAISE EXCEPTION 'Delivery % is a proof, or has a filter or targets, and cannot be made continuous.', delivery
                    USING ERRCODE = 'PM007', HINT = 'Who gets a message is said with each pushmta.send_message.';
            END IF;
            UPDATE pushmta_engine.delivery d SET kind = 'continuous', target_kind = 'explicit', changed_at = now() WHERE d.id = delivery;
            RETURN delivery;
        END $$;

        -- Starts a delivery, now or at a time; from here its targets are frozen. The validity of a continuous one is that of each
        -- message: it has no end of its own.
        CREATE OR REPLACE FUNCTION pushmta.start_delivery(delivery bigint, start_at timestamptz DEFAULT NULL) RETURNS void
            LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            current_state text;
            begins timestamptz := greatest(coalesce(start_at, now()), now());
            day date := (begins AT TIME ZONE 'UTC')::date;
        BEGIN
            SELECT d.state INTO current_state FROM pushmta_engine.delivery d WHERE d.id = delivery FOR UPDATE;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'There is no delivery %.', delivery
                    USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery makes one.';
            END IF;
            IF current_state <> 'editing' THEN
                RAISE EXCEPTION 'Delivery % is % and cannot be started again.', delivery, current_state
                    USING ERRCODE = 'PM003', HINT = 'Create another delivery to send again.';
            END IF;
            UPDATE pushmta_engine.delivery d SET state = 'pending', start_at = begins, log_day = day,
                tracking_key_id = tracking_key_of(day), changed_at = now(),
                valid_until = CASE WHEN d.kind = 'continuous' THEN NULL ELSE begins + d.validity END
            WHERE d.id = delivery;
            PERFORM pg_notify('pushmta_wake', delivery::text);
        END $$;

        """#
}
