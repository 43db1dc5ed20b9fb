extension Migration {
    /// Opt-outs that outlive tokens, the readings of feedback services, and what an app sends beyond what is known.
    static let feedbackServices = Migration(
        version: 29,
        name: "feedback services",
        oldestProgram: 8,
        script: [lastingOptOuts, readings, keptParameters, readingRights].joined(separator: "\n\n")
    )

    private static let readings = #"""
        -- The feedback services of binary gateways: who asks which one, when next, and what came of it.
        CREATE TABLE pushmta_engine.feedback_reading (
            application_id integer NOT NULL REFERENCES pushmta_engine.application ON DELETE CASCADE,
            external_account_id integer NOT NULL REFERENCES pushmta_engine.external_account ON DELETE CASCADE,
            -- Nobody else reads before. While one is under way, the end of its lease.
            next_at timestamptz NOT NULL,
            begun_at timestamptz NOT NULL,
            -- The last one that came to its end.
            ended_at timestamptz,
            -- Tokens that it has named in all.
            tokens bigint NOT NULL DEFAULT 0,
            trouble text NOT NULL DEFAULT '',
            PRIMARY KEY (application_id, external_account_id)
        ) WITH (fillfactor = 50);

        -- What should be read: the binary gateways that applications or open deliveries go to.
        CREATE VIEW pushmta_engine.feedback_route AS
        SELECT p.id AS application_id, e.id AS external_account_id
        FROM pushmta_engine.external_account e JOIN pushmta_engine.application p ON p.external_account_id = e.id
        WHERE e.connector = 'ios-binary' AND e.active AND p.platform = 'ios' AND p.credential_id IS NOT NULL
        UNION
        SELECT p.id, e.id
        FROM pushmta_engine.delivery d JOIN pushmta_engine.delivery_application a ON a.delivery_id = d.id
        JOIN pushmta_engine.external_account e ON e.id = a.external_account_id
        JOIN pushmta_engine.application p ON p.id = a.application_id
        WHERE e.connector = 'ios-binary' AND e.active AND p.platform = 'ios' AND p.credential_id IS NOT NULL
            AND d.state IN ('pending', 'preparing', 'in_progress', 'paused');

        -- Gives the worker that acts up to so many services to read; nothing to any other one. A service forgets what it has told, so it
        -- has one reader: who claims it has it for the lease, which each batch that he stores renews, even when another worker acts
        -- meanwhile. A time beyond any pause says nothing: the clock was set back, or the period is shorter now.
        CREATE FUNCTION pushmta_engine.claim_feedback_readings(worker uuid, most integer, period interval, lease interval)
            RETURNS TABLE (application_id integer, external_account_id integer) LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_column
        BEGIN
            IF NOT EXISTS (SELECT FROM external_account e WHERE e.connector = 'ios-binary' AND e.active)
                OR NOT feedback_fence(worker) THEN
                RETURN;
            END IF;
            RETURN QUERY
            INSERT INTO feedback_reading AS f (application_id, external_account_id, next_at, begun_at)
            SELECT r.application_id, r.external_account_id, now() + lease, now()
            FROM feedback_route r LEFT JOIN feedback_reading o
                ON o.application_id = r.application_id AND o.external_account_id = r.external_account_id
            WHERE o.next_at IS NULL OR o.next_at <= now() OR o.next_at > now() + greatest(period, lease)
            ORDER BY o.next_at NULLS FIRST LIMIT most
            ON CONFLICT (application_id, external_account_id) DO UPDATE SET next_at = excluded.next_at, begun_at = excluded.begun_at
            RETURNING f.application_id, f.external_account_id;
        END $$;

        CREATE VIEW pushmta.feedback_service AS
        SELECT p.name AS application, e.name AS account, r.application_id IS NOT NULL AS in_use, f.begun_at, f.ended_at,
            f.next_at, f.tokens, f.trouble
        FROM pushmta_engine.feedback_reading f
        JOIN pushmta_engine.application p ON p.id = f.application_id
        JOIN pushmta_engine.external_account e ON e.id = f.external_account_id
        LEFT JOIN pushmta_engine.feedback_route r
            ON r.application_id = f.application_id AND r.external_account_id = f.external_account_id;
        COMMENT ON VIEW pushmta.feedback_service IS
            'The feedback services of binary gateways: when each was read, what it named, and what went wrong.';
        """#

    private static let keptParameters = #"""
        CREATE OR REPLACE VIEW pushmta.subscription AS
        SELECT s.id, a.name AS application, v.name AS service, a.platform, a.environment, s.push_token, s.user_key,
            coalesce(s.recipient, '{}') AS recipient, coalesce(s.parameters, '{}') AS parameters, s.locale, s.time_zone,
            s.enabled AND NOT s.opted_out AS enabled,
            CASE WHEN s.opted_out THEN 'opted_out' ELSE s.disabled_reason END AS disabled_reason, s.disabled_at,
            CASE s.quarantine_status WHEN 0 THEN 'valid' WHEN 1 THEN 'with_errors' WHEN 2 THEN 'quarantine' ELSE 'denylisted' END
                AS quarantine_status, s.quarantine_reason, s.device_id, s.device, s.registered_at, s.created_at, s.application_id,
            -- What the app sent beyond what is known.
            coalesce(s.extra, '{}') AS extra
        FROM pushmta_engine.subscription s
        JOIN pushmta_engine.application a ON a.id = s.application_id
        JOIN pushmta_engine.service v ON v.id = a.service_id;
        """#

    private static let readingRights = #"""
        DO $$
        DECLARE
            made text := 'pushmta_engine.claim_feedback_readings(uuid, integer, interval, interval)';
        BEGIN
            EXECUTE 'REVOKE ALL ON FUNCTION ' || made || ' FROM PUBLIC';
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                EXECUTE 'GRANT EXECUTE ON FUNCTION ' || made || ' TO pushmta_runtime';
                GRANT SELECT, INSERT, UPDATE, DELETE ON pushmta_engine.feedback_reading TO pushmta_runtime;
                GRANT SELECT ON pushmta_engine.feedback_route, pushmta.feedback_service TO pushmta_runtime;
            END IF;
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_monitoring') THEN
                GRANT SELECT ON pushmta.feedback_service TO pushmta_monitoring;
            END IF;
        END $$;
        """#
}
