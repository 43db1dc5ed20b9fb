extension Migration {
    /// What kind of failure an answer is, and all that gateways say about tokens: replaced ones, soft errors and what heals them.
    static let answers = Migration(
        version: 16,
        name: "answers",
        oldestProgram: 8,
        script: #"""
            -- Type x 256 + reason, by Adobe Campaign's numbers; null for what is no failure, and from programs of older versions.
            ALTER TABLE pushmta_engine.broad_log ADD failure smallint;

            CREATE FUNCTION pushmta_engine.failure_type(failure smallint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
                SELECT CASE failure >> 8 WHEN 0 THEN 'ignored' WHEN 1 THEN 'soft' WHEN 2 THEN 'hard' END $$;
            CREATE FUNCTION pushmta_engine.failure_reason(failure smallint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
                SELECT CASE failure & 255 WHEN 0 THEN 'Undefined' WHEN 1 THEN 'User unknown' WHEN 3 THEN 'Unreachable'
                    WHEN 20 THEN 'Refused' END $$;

            -- Every message of a delivery with its outcome; the ones without are read out of the frozen targets of its parts.
            CREATE OR REPLACE VIEW pushmta.message_status AS
            SELECT b.delivery_id, b.sequence, b.subscription_id, pushmta_engine.status_name(b.status) AS status,
                b.http_status, coalesce(b.reason, '') AS reason, b.gateway_message_id, b.attempt, b.logged_at, b.part_id,
                EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = d.log_day AND r.delivery_id = d.id
                    AND r.sequence = b.sequence) AS received,
                pushmta_engine.failure_type(b.failure) AS failure_type, pushmta_engine.failure_reason(b.failure) AS failure_reason
            FROM pushmta_engine.delivery d
            JOIN pushmta_engine.broad_log b ON b.log_day = d.log_day AND b.delivery_id = d.id
            UNION ALL
            SELECT p.delivery_id, m.sequence, u.subscription_id, pushmta_engine.status_name(coalesce(p.rest_status, 6::smallint)),
                0::smallint, coalesce(p.rest_reason, ''), NULL, p.attempt, CASE WHEN p.state = 'done' THEN p.finished_at END, p.id,
                EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = p.log_day AND r.delivery_id = p.delivery_id
                    AND r.sequence = m.sequence), NULL, NULL
            FROM pushmta_engine.delivery_part p
            JOIN pushmta_engine.delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
            CROSS JOIN LATERAL unnest(t.subscription_ids, t.sequences) WITH ORDINALITY u(subscription_id, sequence, n)
            CROSS JOIN LATERAL (SELECT coalesce(u.sequence, t.first_sequence + u.n::integer - 1) AS sequence) m
            WHERE (p.state <> 'done' OR p.rest_status IS NOT NULL)
                AND NOT EXISTS (SELECT FROM pushmta_engine.broad_log b
                    WHERE b.log_day = p.log_day AND b.delivery_id = p.delivery_id AND b.sequence = m.sequence);

            -- Not checked for the rows that are there: their kinds are among the new ones.
            ALTER TABLE pushmta_engine.token_event DROP CONSTRAINT token_event_kind_check;
            ALTER TABLE pushmta_engine.token_event ADD CONSTRAINT token_event_kind_check
                CHECK (kind IN ('invalid', 'canonical', 'opt_out', 'soft_error', 'success')) NOT VALID;
            -- What an applied `canonical` has to give back: the token that was replaced (null if the subscription was disabled instead),
            -- and the other subscription with the new one.
            ALTER TABLE pushmta_engine.token_event ADD old_token text, ADD other_subscription_id bigint;
            CREATE INDEX token_event_note ON pushmta_engine.token_event (id)
                WHERE state = 'pending' AND kind IN ('canonical', 'soft_error', 'success');
            -- Few at any time: a duty looks each second for those whose errors are long past.
            CREATE INDEX subscription_errors ON pushmta_engine.subscription (last_error_at) WHERE quarantine_status = 1;
            \#(TokenEventScripts.answers)

            -- In parts up to this one refused push tokens are believed to be bad, because an operator said so.
            ALTER TABLE pushmta_engine.application_health ADD refusals_believed_through bigint NOT NULL DEFAULT 0;

            DO $$
            DECLARE
                made text := 'pushmta_engine.apply_invalid_tokens(integer), '
                    'pushmta_engine.apply_token_notes(integer, integer, interval, interval), '
                    'pushmta_engine.apply_token_effects(integer, integer, interval, interval), '
                    'pushmta_engine.replace_token(pushmta_engine.subscription, bigint, text), '
                    'pushmta_engine.count_soft_error(pushmta_engine.subscription, timestamptz, text, integer, interval, interval), '
                    'pushmta_engine.heal_subscription(pushmta_engine.subscription), '
                    'pushmta_engine.heal_soft_errors(integer, interval)';
            BEGIN
                EXECUTE 'REVOKE ALL ON FUNCTION ' || made || ' FROM PUBLIC';
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                    EXECUTE 'GRANT EXECUTE ON FUNCTION ' || made || ' TO pushmta_runtime';
                END IF;
            END $$;
            -- A view's functions run with the rights of its reader.
            GRANT EXECUTE ON FUNCTION pushmta_engine.failure_type(smallint), pushmta_engine.failure_reason(smallint) TO PUBLIC;
            """#
    )
}
