import PushCore

extension Migration {
    /// Messages that cannot be loaded, and limits of what is loaded.
    static let loading = Migration(
        version: 24,
        name: "loading",
        oldestProgram: 8,
        script: loadFailures + progressWithReason + sizeLimits + shorterMessages
    )

    private static let loadFailures = #"""
        -- A part that could not be loaded waits longer each time, and keeps the reason until it is claimed and goes out.
        ALTER TABLE pushmta_engine.delivery_part ADD load_failures smallint NOT NULL DEFAULT 0, ADD load_error text;
        -- Nearly always empty. The dispatch mark stays out of it, so that its updates remain HOT.
        CREATE INDEX delivery_part_unloaded ON pushmta_engine.delivery_part (not_before)
            WHERE load_failures > 0 AND state <> 'done';

        -- Why a delivery that is due is not prepared, and when that is tried again.
        ALTER TABLE pushmta_engine.delivery ADD wait_reason text NOT NULL DEFAULT '', ADD wait_failures smallint NOT NULL DEFAULT 0,
            ADD wait_until timestamptz;

        """#

    private static let progressWithReason = #"""
        -- As before, with what keeps a delivery from being prepared, or messages of it from being loaded.
        CREATE OR REPLACE VIEW pushmta.delivery_progress AS
        SELECT d.id, d.label, d.kind, d.state, d.state_reason, d.priority,
            CASE WHEN d.kind = 'continuous' THEN coalesce(c.made, 0) ELSE d.target END AS target, d.excluded,
            coalesce(c.pending, 0) AS pending, coalesce(c.sent, 0) AS sent, coalesce(c.failed, 0) AS failed,
            coalesce(c.ignored, 0) AS ignored, coalesce(c.not_applicable, 0) AS not_applicable,
            coalesce(c.canceled, 0) AS canceled, coalesce(c.unknown, 0) AS unknown,
            coalesce(c.late_outcomes, 0) AS late_outcomes, coalesce(c.resent_after_ambiguity, 0) AS resent_after_ambiguity,
            coalesce(c.journal_replayed, 0) AS journal_replayed,
            coalesce(c.parts_ready, 0) AS parts_ready, coalesce(c.parts_claimed, 0) AS parts_claimed,
            coalesce(c.parts_waiting, 0) AS parts_waiting, coalesce(c.parts_done, 0) AS parts_done, d.prepared,
            d.created_at, d.start_at, d.started_at, d.finished_at, d.valid_until, now() AS snapshot_at,
            CASE WHEN d.kind = 'continuous' THEN d.parent_delivery_id END AS parent_delivery_id, d.proof,
            CASE WHEN d.state IN ('pending', 'preparing') AND d.wait_reason <> '' THEN d.wait_reason
                ELSE coalesce(c.load_error, '') END AS waiting_reason
        FROM pushmta_engine.delivery d
        LEFT JOIN LATERAL (
            SELECT sum(p.size - p.handed_over)::bigint AS made, sum(CASE WHEN p.state <> 'done' THEN r.rest END)::bigint AS pending,
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
                count(*) FILTER (WHERE p.state = 'done') AS parts_done,
                -- What was sent in part was loaded.
                max(p.load_error) FILTER (WHERE p.load_failures > 0 AND p.state <> 'done' AND p.dispatch_mark = 0) AS load_error
            FROM pushmta_engine.delivery_part p
            CROSS JOIN LATERAL (SELECT p.size - p.handed_over - p.sent - p.failed - p.ignored - p.not_applicable - p.canceled
                - p.unknown AS rest) r
            WHERE p.delivery_id = d.id
        ) c ON true;

        """#

    /// Triggers and not checks: they speak to whoever fills the tables, and what is there already stays usable.
    private static let sizeLimits = #"""
        CREATE FUNCTION pushmta_engine.refuse_variables() RETURNS trigger LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        BEGIN
            RAISE EXCEPTION 'The variables of a target of delivery % have % bytes: \#(MessageLimits.longestVariables) are taken.',
                NEW.delivery_id, octet_length(NEW.variables::text)
                USING ERRCODE = 'PM065', HINT = 'Give each message the values that its content shows, and no more.';
        END $$;
        CREATE TRIGGER delivery_target_variables_size BEFORE INSERT OR UPDATE OF variables ON pushmta.delivery_target
            FOR EACH ROW WHEN (octet_length(NEW.variables::text) > \#(MessageLimits.longestVariables))
            EXECUTE FUNCTION pushmta_engine.refuse_variables();

        CREATE FUNCTION pushmta_engine.refuse_content() RETURNS trigger LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        BEGIN
            RAISE EXCEPTION 'The content of % has % bytes: \#(MessageLimits.longestContent) are taken.',
                CASE TG_TABLE_NAME WHEN 'delivery' THEN 'the delivery' ELSE 'the template' END, octet_length(NEW.content::text)
                USING ERRCODE = 'PM007', HINT = 'What differs from message to message belongs into variables.';
        END $$;
        -- A day has the content of its continuous delivery.
        CREATE TRIGGER delivery_content_size BEFORE INSERT OR UPDATE OF content ON pushmta_engine.delivery
            FOR EACH ROW WHEN (NEW.parent_delivery_id IS NULL AND octet_length(NEW.content::text) > \#(MessageLimits.longestContent))
            EXECUTE FUNCTION pushmta_engine.refuse_content();
        CREATE TRIGGER delivery_template_content_size BEFORE INSERT OR UPDATE OF content ON pushmta_engine.delivery_template
            FOR EACH ROW WHEN (octet_length(NEW.content::text) > \#(MessageLimits.longestContent))
            EXECUTE FUNCTION pushmta_engine.refuse_content();
        REVOKE ALL ON FUNCTION pushmta_engine.refuse_variables(), pushmta_engine.refuse_content() FROM PUBLIC;

        """#
}
