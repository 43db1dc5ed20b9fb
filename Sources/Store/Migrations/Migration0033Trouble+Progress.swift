extension Migration {
    /// What keeps a delivery's messages from being read or sent, in words.
    static let progressWithTrouble = #"""
        -- As before, with the gateways that take nothing.
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
                WHEN c.load_error IS NOT NULL THEN c.load_error
                WHEN d.state IN ('preparing', 'in_progress') THEN coalesce((
                    SELECT string_agg(format('The gateway of account %s has taken nothing from application %s since %s (%s): its messages '
                        'wait and keep their attempts, and sending goes on by itself when a probe is taken.', e.name, a.name,
                        to_char(t.began_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'), t.reason), ' ' ORDER BY a.name, e.name)
                    FROM pushmta_engine.gateway_trouble t
                    JOIN pushmta_engine.application a ON a.id = t.application_id
                    JOIN pushmta_engine.external_account e ON e.id = t.external_account_id
                    WHERE t.state = 'trouble' AND EXISTS (SELECT FROM pushmta_engine.delivery_part w WHERE w.delivery_id = d.id
                        AND w.state <> 'done' AND w.application_id = t.application_id
                        AND w.external_account_id = t.external_account_id)), '')
                ELSE '' END AS waiting_reason
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
}
