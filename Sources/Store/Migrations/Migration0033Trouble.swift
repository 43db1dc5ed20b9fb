extension Migration {
    /// A gateway's trouble as a state of an application on an account, attempts that are not the message's own, and retry schedules.
    static let trouble = Migration(
        version: 33,
        name: "trouble",
        oldestProgram: 8,
        script: troubleTable + progressWithTrouble + attempts + schedules
    )

    private static let troubleTable = #"""
        -- Gateways that take nothing from an application, for a reason that lies with them or with the way to them, shared by all hosts; the
        -- row stays as the record of the last time. Beside the circuit of the application (application_health), so that one account's
        -- gateway does not stop the application on another.
        CREATE TABLE pushmta_engine.gateway_trouble (
            application_id integer NOT NULL REFERENCES pushmta_engine.application ON DELETE CASCADE,
            external_account_id integer NOT NULL REFERENCES pushmta_engine.external_account ON DELETE CASCADE,
            -- trouble: nothing is sent but probes. opening: sending has begun again at opened_at, slowly at first.
            state text NOT NULL CHECK (state IN ('trouble', 'opening')),
            reason text NOT NULL,
            began_at timestamptz NOT NULL,
            opened_at timestamptz,
            probes integer NOT NULL DEFAULT 0,
            next_probe_at timestamptz NOT NULL,
            -- The child that probes, and until when it has the right to; it renews it.
            prober bigint,
            prober_until timestamptz,
            changed_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (application_id, external_account_id)
        );

        CREATE VIEW pushmta.gateway_trouble AS
        SELECT a.name AS application, e.name AS account, t.state, t.reason, t.began_at, t.opened_at, t.probes,
            extract(epoch FROM clock_timestamp() - t.began_at)::double precision AS seconds,
            extract(epoch FROM t.next_probe_at - clock_timestamp())::double precision AS next_probe_in_seconds,
            CASE WHEN t.state = 'trouble' THEN coalesce((SELECT sum(p.size - p.handed_over - p.sent - p.failed - p.ignored
                    - p.not_applicable - p.canceled - p.unknown) FROM pushmta_engine.delivery_part p
                WHERE p.application_id = t.application_id AND p.external_account_id = t.external_account_id
                    AND p.state IN ('ready', 'claimed')), 0) ELSE 0 END::bigint AS waiting
        FROM pushmta_engine.gateway_trouble t
        JOIN pushmta_engine.application a ON a.id = t.application_id
        JOIN pushmta_engine.external_account e ON e.id = t.external_account_id;
        COMMENT ON VIEW pushmta.gateway_trouble IS
            'Gateways that take nothing from an application (state trouble), and those that were so last (opening).';
        DO $$
        BEGIN
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                GRANT SELECT, INSERT, UPDATE, DELETE ON pushmta_engine.gateway_trouble TO pushmta_runtime;
                GRANT SELECT ON pushmta.gateway_trouble TO pushmta_runtime;
            END IF;
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_marketing') THEN
                GRANT SELECT ON pushmta.gateway_trouble TO pushmta_marketing;
            END IF;
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_monitoring') THEN
                GRANT SELECT ON pushmta.gateway_trouble TO pushmta_monitoring;
            END IF;
        END $$;

        """#

    private static let attempts = #"""
        -- How often the messages of a part were refused for the gateway's sake since their last attempt that counts.
        ALTER TABLE pushmta_engine.delivery_part ADD refusals smallint NOT NULL DEFAULT 0;

        """#

    private static let schedules = #"""
        -- How the attempts of a delivery's messages are spread: Adobe's schedule for batch deliveries, for continuous ones pauses that
        -- double from ten seconds. A day or a proof does as the delivery that it belongs to.
        ALTER TABLE pushmta_engine.delivery ADD retry_schedule text NOT NULL DEFAULT 'daily'
            CHECK (retry_schedule IN ('daily', 'exponential'));
        UPDATE pushmta_engine.delivery SET retry_schedule = 'exponential' WHERE kind = 'continuous';

        CREATE FUNCTION pushmta_engine.choose_retry_schedule() RETURNS trigger LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        BEGIN
            IF TG_OP = 'INSERT' AND NEW.parent_delivery_id IS NOT NULL THEN
                NEW.retry_schedule := coalesce((SELECT d.retry_schedule FROM delivery d WHERE d.id = NEW.parent_delivery_id),
                    NEW.retry_schedule);
            ELSIF NEW.kind = 'continuous' AND (TG_OP = 'INSERT' OR OLD.kind <> 'continuous') THEN
                NEW.retry_schedule := 'exponential';
                -- The default of a batch delivery, which nobody has chosen.
                IF NEW.retry_period_seconds = 60 THEN
                    NEW.retry_period_seconds := 10;
                END IF;
            END IF;
            RETURN NEW;
        END $$;
        REVOKE ALL ON FUNCTION pushmta_engine.choose_retry_schedule() FROM PUBLIC;
        CREATE TRIGGER delivery_retry_schedule BEFORE INSERT OR UPDATE OF kind ON pushmta_engine.delivery
            FOR EACH ROW EXECUTE FUNCTION pushmta_engine.choose_retry_schedule();

        CREATE FUNCTION pushmta.set_retry_schedule(delivery bigint, schedule text) RETURNS void
            LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        BEGIN
            PERFORM lock_delivery(delivery);
            IF schedule IS NULL OR schedule NOT IN ('daily', 'exponential') THEN
                RAISE EXCEPTION 'Delivery %: there is no retry schedule %.', delivery, coalesce(schedule, 'NULL')
                    USING ERRCODE = 'PM007', HINT = 'It is daily (max_retries on the first day at least an hour apart, then one a day until '
                        'the validity is over) or exponential (max_retries after pauses that double from retry_period_seconds).';
            END IF;
            UPDATE pushmta_engine.delivery d SET retry_schedule = schedule, changed_at = now()
            WHERE d.id = delivery OR d.parent_delivery_id = delivery;
        END $$;
        COMMENT ON FUNCTION pushmta.set_retry_schedule(bigint, text) IS
            'Sets how the attempts of a delivery are spread: daily or exponential.';
        REVOKE ALL ON FUNCTION pushmta.set_retry_schedule(bigint, text) FROM PUBLIC;
        DO $$
        BEGIN
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                GRANT EXECUTE ON FUNCTION pushmta.set_retry_schedule(bigint, text) TO pushmta_runtime;
            END IF;
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_marketing') THEN
                GRANT EXECUTE ON FUNCTION pushmta.set_retry_schedule(bigint, text) TO pushmta_marketing;
            END IF;
        END $$;
        """#
}
