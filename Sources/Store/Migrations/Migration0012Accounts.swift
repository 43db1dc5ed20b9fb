extension Migration {
    /// The account of a delivery with parts that are not due told apart, its retries, and the rights to all that is new.
    static let accounts = Migration(
        version: 12,
        name: "accounts",
        oldestProgram: 8,
        script: #"""
            -- A part whose time has not come waits, whatever it waits for.
            CREATE OR REPLACE VIEW pushmta.delivery_progress AS
            SELECT d.id, d.label, d.kind, d.state, d.state_reason, d.priority, d.target, d.excluded,
                coalesce(c.pending, 0) AS pending, coalesce(c.sent, 0) AS sent, coalesce(c.failed, 0) AS failed,
                coalesce(c.ignored, 0) AS ignored, coalesce(c.not_applicable, 0) AS not_applicable,
                coalesce(c.canceled, 0) AS canceled, coalesce(c.unknown, 0) AS unknown,
                coalesce(c.late_outcomes, 0) AS late_outcomes, coalesce(c.resent_after_ambiguity, 0) AS resent_after_ambiguity,
                coalesce(c.journal_replayed, 0) AS journal_replayed,
                coalesce(c.parts_ready, 0) AS parts_ready, coalesce(c.parts_claimed, 0) AS parts_claimed,
                coalesce(c.parts_waiting, 0) AS parts_waiting, coalesce(c.parts_done, 0) AS parts_done, d.prepared,
                d.created_at, d.start_at, d.started_at, d.finished_at, d.valid_until, now() AS snapshot_at
            FROM pushmta_engine.delivery d
            LEFT JOIN LATERAL (
                SELECT sum(CASE WHEN p.state <> 'done' THEN r.rest END)::bigint AS pending,
                    sum(p.sent)::bigint AS sent,
                    sum(p.failed + CASE WHEN p.rest_status = 2 THEN r.rest ELSE 0 END)::bigint AS failed,
                    sum(p.ignored + CASE WHEN p.rest_status = 0 THEN r.rest ELSE 0 END)::bigint AS ignored,
                    sum(p.not_applicable + CASE WHEN p.rest_status = 8 THEN r.rest ELSE 0 END)::bigint AS not_applicable,
                    sum(p.canceled + CASE WHEN p.rest_status = 7 THEN r.rest ELSE 0 END)::bigint AS canceled,
                    sum(p.unknown + CASE WHEN p.rest_status = 9 THEN r.rest ELSE 0 END)::bigint AS unknown,
                    sum(p.late_outcomes)::bigint AS late_outcomes, sum(p.resent_after_ambiguity)::bigint AS resent_after_ambiguity,
                    sum(p.journal_replayed)::bigint AS journal_replayed,
                    count(*) FILTER (WHERE p.state = 'ready' AND p.not_before <= now()) AS parts_ready,
                    count(*) FILTER (WHERE p.state = 'claimed') AS parts_claimed,
                    count(*) FILTER (WHERE p.state = 'waiting' OR p.state = 'ready' AND p.not_before > now()) AS parts_waiting,
                    count(*) FILTER (WHERE p.state = 'done') AS parts_done
                FROM pushmta_engine.delivery_part p
                CROSS JOIN LATERAL (SELECT p.size - p.handed_over - p.sent - p.failed - p.ignored - p.not_applicable - p.canceled
                    - p.unknown AS rest) r
                WHERE p.delivery_id = d.id
            ) c ON true;

            -- create_delivery with the retries of soft failures.
            ALTER FUNCTION pushmta.create_delivery(text, text[], text, integer, interval, boolean, boolean, text, text[])
                SET SCHEMA pushmta_engine;
            ALTER FUNCTION pushmta_engine.create_delivery(text, text[], text, integer, interval, boolean, boolean, text, text[])
                RENAME TO make_delivery;
            DROP FUNCTION pushmta.create_delivery(text, text[], jsonb, integer, interval, boolean, boolean, text, text[]);

            CREATE FUNCTION pushmta.create_delivery(
                label text, applications text[], content text, priority integer DEFAULT 0, validity interval DEFAULT '5 days',
                explicit_targets boolean DEFAULT false, one_per_user boolean DEFAULT false, ambiguity_policy text DEFAULT 'resend',
                accounts text[] DEFAULT NULL, max_retries integer DEFAULT 5, retry_period_seconds integer DEFAULT 60
            ) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
            #variable_conflict use_variable
            DECLARE
                made bigint;
            BEGIN
                IF max_retries IS NULL OR max_retries NOT BETWEEN 0 AND 1000
                    OR retry_period_seconds IS NULL OR retry_period_seconds NOT BETWEEN 1 AND 31536000 THEN
                    RAISE EXCEPTION 'Delivery "%": max_retries is %, retry_period_seconds %.', label, max_retries, retry_period_seconds
                        USING ERRCODE = 'PM007', HINT = 'max_retries is from 0 to 1,000, retry_period_seconds from 1 to 31,536,000 (a year).';
                END IF;
                made := make_delivery(label, applications, content, priority, validity, explicit_targets, one_per_user,
                    ambiguity_policy, accounts);
                UPDATE pushmta_engine.delivery d SET max_retries = create_delivery.max_retries,
                    retry_period_seconds = create_delivery.retry_period_seconds
                WHERE d.id = made;
                RETURN made;
            END $$;

            CREATE FUNCTION pushmta.create_delivery(
                label text, applications text[], content jsonb, priority integer DEFAULT 0, validity interval DEFAULT '5 days',
                explicit_targets boolean DEFAULT false, one_per_user boolean DEFAULT false, ambiguity_policy text DEFAULT 'resend',
                accounts text[] DEFAULT NULL, max_retries integer DEFAULT 5, retry_period_seconds integer DEFAULT 60
            ) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
                SELECT pushmta.create_delivery($1, $2, $3::text, $4, $5, $6, $7, $8, $9, $10, $11) $$;

            REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pushmta FROM PUBLIC;
            REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pushmta_engine FROM PUBLIC;
            -- A view's functions run with the rights of its reader.
            GRANT EXECUTE ON FUNCTION pushmta_engine.status_name(smallint), pushmta_engine.circuit_of(text, timestamptz) TO PUBLIC;

            DO $$
            BEGIN
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pushmta, pushmta_engine TO pushmta_runtime;
                    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pushmta, pushmta_engine TO pushmta_runtime;
                END IF;
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_marketing') THEN
                    REVOKE EXECUTE ON FUNCTION pushmta_engine.make_delivery(text, text[], text, integer, interval, boolean, boolean,
                        text, text[]) FROM pushmta_marketing;
                    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pushmta TO pushmta_marketing;
                END IF;
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_monitoring') THEN
                    GRANT SELECT ON pushmta.ambiguous_message TO pushmta_monitoring;
                END IF;
            END $$;
            """#
    )
}
