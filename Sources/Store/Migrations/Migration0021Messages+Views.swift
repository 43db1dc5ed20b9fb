extension Migration {
    static let messageViews = #"""
        -- As before; of a day of a continuous delivery the messages are counted from its parts too.
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
            CASE WHEN d.kind = 'continuous' THEN d.parent_delivery_id END AS parent_delivery_id, d.proof
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
                count(*) FILTER (WHERE p.state = 'done') AS parts_done
            FROM pushmta_engine.delivery_part p
            CROSS JOIN LATERAL (SELECT p.size - p.handed_over - p.sent - p.failed - p.ignored - p.not_applicable - p.canceled
                - p.unknown AS rest) r
            WHERE p.delivery_id = d.id
        ) c ON true;

        -- The days of continuous deliveries with their counts.
        CREATE VIEW pushmta.delivery_day AS
        SELECT d.parent_delivery_id AS delivery_id, p.id AS day_id, d.log_day, p.state, p.target, p.pending, p.sent, p.failed, p.ignored,
            p.not_applicable, p.canceled, p.unknown, p.started_at, p.finished_at
        FROM pushmta_engine.delivery d
        JOIN pushmta.delivery_progress p ON p.id = d.id
        WHERE d.kind = 'continuous' AND d.parent_delivery_id IS NOT NULL;
        COMMENT ON VIEW pushmta.delivery_day IS
            'A continuous delivery''s messages belong to a delivery of their day (UTC), which ends when the next day has begun.';

        -- As before, with the id by which send_message names a message.
        CREATE OR REPLACE VIEW pushmta.message_status AS
        SELECT b.delivery_id, b.sequence, b.subscription_id, pushmta_engine.status_name(b.status) AS status,
            b.http_status, coalesce(b.reason, '') AS reason, b.gateway_message_id, b.attempt, b.logged_at, b.part_id,
            EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = d.log_day AND r.delivery_id = d.id
                AND r.sequence = b.sequence AND r.first) AS received,
            pushmta_engine.failure_type(b.failure) AS failure_type, pushmta_engine.failure_reason(b.failure) AS failure_reason,
            EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = d.log_day AND r.delivery_id = d.id
                AND r.sequence = b.sequence AND r.kind = 2 AND r.first) AS clicked,
            b.delivery_id || '-' || b.sequence AS message_id
        FROM pushmta_engine.delivery d
        JOIN pushmta_engine.broad_log b ON b.log_day = d.log_day AND b.delivery_id = d.id
        UNION ALL
        SELECT p.delivery_id, m.sequence, u.subscription_id, pushmta_engine.status_name(coalesce(p.rest_status, 6::smallint)),
            0::smallint, coalesce(p.rest_reason, ''), NULL, p.attempt, CASE WHEN p.state = 'done' THEN p.finished_at END, p.id,
            EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = p.log_day AND r.delivery_id = p.delivery_id
                AND r.sequence = m.sequence AND r.first), NULL, NULL,
            EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = p.log_day AND r.delivery_id = p.delivery_id
                AND r.sequence = m.sequence AND r.kind = 2 AND r.first),
            p.delivery_id || '-' || m.sequence
        FROM pushmta_engine.delivery_part p
        JOIN pushmta_engine.delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
        CROSS JOIN LATERAL unnest(t.subscription_ids, t.sequences) WITH ORDINALITY u(subscription_id, sequence, n)
        CROSS JOIN LATERAL (SELECT coalesce(u.sequence, t.first_sequence + u.n::integer - 1) AS sequence) m
        WHERE (p.state <> 'done' OR p.rest_status IS NOT NULL)
            AND NOT EXISTS (SELECT FROM pushmta_engine.broad_log b
                WHERE b.log_day = p.log_day AND b.delivery_id = p.delivery_id AND b.sequence = m.sequence);

        """#

    static let messageRights = #"""
        REVOKE ALL ON FUNCTION pushmta_engine.check_claimer(), pushmta.make_continuous(bigint), pushmta_engine.message_day(),
            pushmta_engine.take_message_ids(bigint, bigint), pushmta_engine.open_day(bigint, bigint, boolean),
            pushmta_engine.drop_message_numbers(bigint), pushmta_engine.tend_deliveries(integer), pushmta_engine.lock_days(bigint),
            pushmta_engine.refuse_day(bigint), pushmta_engine.end_days(bigint, text, text),
            pushmta_engine.message_addressees(bigint, bigint, text, text), pushmta_engine.repeated_message(bigint, text, bytea),
            pushmta_engine.refuse_message(bigint, text), pushmta.send_message(bigint, bigint, text, text, jsonb, text),
            pushmta.find_message(text) FROM PUBLIC;
        DO $$
        DECLARE
            grantee text;
        BEGIN
            FOR grantee IN SELECT r.rolname FROM pg_roles r WHERE r.rolname IN ('pushmta_runtime', 'pushmta_marketing', 'pushmta_web') LOOP
                EXECUTE format('GRANT EXECUTE ON FUNCTION pushmta.make_continuous(bigint), pushmta.find_message(text),
                    pushmta.send_message(bigint, bigint, text, text, jsonb, text) TO %I', grantee);
            END LOOP;
            FOR grantee IN SELECT r.rolname FROM pg_roles r
                WHERE r.rolname IN ('pushmta_runtime', 'pushmta_marketing', 'pushmta_monitoring') LOOP
                EXECUTE format('GRANT SELECT ON pushmta.delivery_day TO %I', grantee);
            END LOOP;
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                GRANT SELECT, INSERT, UPDATE, DELETE ON pushmta_engine.message_key TO pushmta_runtime;
                -- What runs with the rights of the supervisor calls these.
                GRANT EXECUTE ON FUNCTION pushmta_engine.drop_message_numbers(bigint), pushmta_engine.tend_deliveries(integer),
                    pushmta_engine.lock_days(bigint), pushmta_engine.end_days(bigint, text, text) TO pushmta_runtime;
            END IF;
        END $$;
        """#
}
