extension Migration {
    /// The views of schema `pushmta`.
    static let views = Migration(
        version: 6,
        name: "views",
        script: #"""
            CREATE FUNCTION pushmta_engine.status_name(status smallint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
                SELECT CASE status WHEN 0 THEN 'ignored' WHEN 1 THEN 'sent' WHEN 2 THEN 'failed' WHEN 6 THEN 'pending'
                    WHEN 7 THEN 'canceled' WHEN 8 THEN 'not_applicable' WHEN 9 THEN 'unknown' END $$;

            CREATE VIEW pushmta.application AS
            SELECT a.id, a.name, a.label, s.name AS service, a.platform, a.environment, a.integration_key, a.bundle_id,
                a.message_id_format, e.name AS account, a.credential_id IS NOT NULL AS has_credential,
                coalesce(h.state, 'closed') AS circuit, coalesce(h.reason, '') AS circuit_reason, coalesce(h.remedy, '') AS circuit_remedy
            FROM pushmta_engine.application a
            JOIN pushmta_engine.service s ON s.id = a.service_id
            LEFT JOIN pushmta_engine.external_account e ON e.id = a.external_account_id
            LEFT JOIN pushmta_engine.application_health h ON h.application_id = a.id;

            CREATE VIEW pushmta.subscription AS
            SELECT s.id, a.name AS application, v.name AS service, a.platform, a.environment, s.push_token, s.user_key,
                coalesce(s.recipient, '{}') AS recipient, coalesce(s.parameters, '{}') AS parameters, s.locale, s.time_zone,
                s.enabled AND NOT s.opted_out AS enabled,
                CASE WHEN s.opted_out THEN 'opted_out' ELSE s.disabled_reason END AS disabled_reason, s.disabled_at,
                CASE s.quarantine_status WHEN 0 THEN 'valid' WHEN 1 THEN 'with_errors' WHEN 2 THEN 'quarantine' ELSE 'denylisted' END
                    AS quarantine_status, s.quarantine_reason, s.device_id, s.device, s.registered_at, s.created_at, s.application_id
            FROM pushmta_engine.subscription s
            JOIN pushmta_engine.application a ON a.id = s.application_id
            JOIN pushmta_engine.service v ON v.id = a.service_id;

            -- A delivery's counts, from its parts, in the statement's snapshot:
            -- target = pending + sent + failed + ignored + not_applicable + canceled + unknown.
            CREATE VIEW pushmta.delivery_progress AS
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
                    count(*) FILTER (WHERE p.state = 'ready') AS parts_ready, count(*) FILTER (WHERE p.state = 'claimed') AS parts_claimed,
                    count(*) FILTER (WHERE p.state = 'waiting') AS parts_waiting, count(*) FILTER (WHERE p.state = 'done') AS parts_done
                FROM pushmta_engine.delivery_part p
                CROSS JOIN LATERAL (SELECT p.size - p.handed_over - p.sent - p.failed - p.ignored - p.not_applicable - p.canceled
                    - p.unknown AS rest) r
                WHERE p.delivery_id = d.id
            ) c ON true;

            -- Every message of a delivery with its outcome; the ones without are read out of the frozen targets of its parts.
            CREATE VIEW pushmta.message_status AS
            SELECT b.delivery_id, b.sequence, b.subscription_id, pushmta_engine.status_name(b.status) AS status,
                b.http_status, coalesce(b.reason, '') AS reason, b.gateway_message_id, b.attempt, b.logged_at, b.part_id,
                EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = d.log_day AND r.delivery_id = d.id
                    AND r.sequence = b.sequence) AS received
            FROM pushmta_engine.delivery d
            JOIN pushmta_engine.broad_log b ON b.log_day = d.log_day AND b.delivery_id = d.id
            UNION ALL
            SELECT p.delivery_id, m.sequence, u.subscription_id, pushmta_engine.status_name(coalesce(p.rest_status, 6::smallint)),
                0::smallint, coalesce(p.rest_reason, ''), NULL, p.attempt, CASE WHEN p.state = 'done' THEN p.finished_at END, p.id,
                EXISTS (SELECT FROM pushmta_engine.tracking_log r WHERE r.log_day = p.log_day AND r.delivery_id = p.delivery_id
                    AND r.sequence = m.sequence)
            FROM pushmta_engine.delivery_part p
            JOIN pushmta_engine.delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
            CROSS JOIN LATERAL unnest(t.subscription_ids, t.sequences) WITH ORDINALITY u(subscription_id, sequence, n)
            CROSS JOIN LATERAL (SELECT coalesce(u.sequence, t.first_sequence + u.n::integer - 1) AS sequence) m
            WHERE (p.state <> 'done' OR p.rest_status IS NOT NULL)
                AND NOT EXISTS (SELECT FROM pushmta_engine.broad_log b
                    WHERE b.log_day = p.log_day AND b.delivery_id = p.delivery_id AND b.sequence = m.sequence);

            CREATE VIEW pushmta.mta_host AS
            SELECT h.id, h.name, h.pid, h.version, h.schema_version, h.state, h.children, h.max_children, h.cores, h.load,
                h.resident_bytes, h.journal_folder, h.journal_free_bytes, h.journal_replayed, h.alarm, h.started_at, h.last_beat,
                extract(epoch FROM clock_timestamp() - h.last_beat)::double precision AS beat_age_seconds,
                CASE WHEN h.state = 'stopped' THEN 'stopped' WHEN h.last_beat < clock_timestamp() - interval '15 s' THEN 'gone'
                    WHEN h.last_beat < clock_timestamp() - interval '5 s' THEN 'late' ELSE 'alive' END AS health
            FROM pushmta_engine.mta_host h;

            CREATE VIEW pushmta.mta_child AS
            SELECT c.id, h.name AS host, c.host_id, c.pid, c.generation, c.connector, a.name AS application, e.name AS account, c.state,
                c.delivery_id, c.part_id, c.parts_held, c.connections, c.streams_in_flight, c.sent, c.failed, c.retried, c.unknown,
                c.resent_after_ambiguity, c.rate, c.latency_p50_ms, c.latency_p99_ms, c.resident_bytes, c.last_error,
                c.started_at, c.last_beat, extract(epoch FROM clock_timestamp() - c.last_beat)::double precision AS beat_age_seconds,
                c.exited_at, c.exit_reason, c.exit_detail, c.last_words,
                CASE WHEN c.exited_at IS NOT NULL THEN 'exited' WHEN c.last_beat < clock_timestamp() - interval '15 s' THEN 'gone'
                    WHEN c.last_beat < clock_timestamp() - interval '5 s' THEN 'late' ELSE 'alive' END AS health
            FROM pushmta_engine.mta_child c
            JOIN pushmta_engine.mta_host h ON h.id = c.host_id
            LEFT JOIN pushmta_engine.application a ON a.id = c.application_id
            LEFT JOIN pushmta_engine.external_account e ON e.id = c.external_account_id;

            CREATE FUNCTION pushmta.delivery_status(delivery bigint) RETURNS SETOF pushmta.delivery_progress
                LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
            BEGIN
                RETURN QUERY SELECT * FROM pushmta.delivery_progress p WHERE p.id = delivery;
                IF NOT FOUND THEN
                    RAISE EXCEPTION 'There is no delivery %.', delivery
                        USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them.';
                END IF;
            END $$;
            """#
    )
}
