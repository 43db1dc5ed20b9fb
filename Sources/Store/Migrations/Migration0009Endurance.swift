extension Migration {
    /// What a database that outlives its hosts needs to know: its own identity, counters of what was in doubt, drains.
    static let endurance = Migration(
        version: 9,
        name: "endurance",
        oldestProgram: 8,
        script: #"""
            -- Which database this is: a journal that was written for another one is not replayed here.
            CREATE TABLE pushmta_engine.installation (
                is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
                id uuid NOT NULL DEFAULT gen_random_uuid(),
                created_at timestamptz NOT NULL DEFAULT now()
            );
            INSERT INTO pushmta_engine.installation DEFAULT VALUES;

            ALTER TABLE pushmta_engine.mta_host ADD drain_requested boolean NOT NULL DEFAULT false;
            ALTER TABLE pushmta_engine.mta_child ADD late_outcomes bigint NOT NULL DEFAULT 0;
            ALTER TABLE pushmta_engine.mta_child ADD journal_replayed bigint NOT NULL DEFAULT 0;
            CREATE INDEX mta_child_of_host ON pushmta_engine.mta_child (host_id);

            -- Parts that are held back, and deliveries that were ended before their parts were: both are few, and a duty looks for
            -- them each second.
            CREATE INDEX delivery_part_waiting ON pushmta_engine.delivery_part (delivery_id) WHERE state = 'waiting';
            CREATE INDEX delivery_ending ON pushmta_engine.delivery (id) WHERE state IN ('stopped', 'failed') AND finished_at IS NULL;
            CREATE INDEX token_event_invalid ON pushmta_engine.token_event (id) WHERE state = 'pending' AND kind = 'invalid';
            CREATE INDEX token_event_held ON pushmta_engine.token_event (application_id, id) WHERE state = 'held';

            -- A circuit that is open has a time of its next probe. Trouble of a connection was shown as an open circuit before.
            UPDATE pushmta_engine.application_health SET state = 'closed' WHERE next_probe_at IS NULL;
            CREATE FUNCTION pushmta_engine.circuit_of(state text, next_probe_at timestamptz) RETURNS text
                LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
                SELECT CASE WHEN next_probe_at IS NULL THEN 'closed' ELSE coalesce(state, 'closed') END $$;

            -- From now on a delivery that failed is at its end when its last part is.
            UPDATE pushmta_engine.delivery d SET finished_at = NULL WHERE d.state = 'failed' AND EXISTS (
                SELECT FROM pushmta_engine.delivery_part p WHERE p.delivery_id = d.id AND p.state <> 'done');

            CREATE OR REPLACE VIEW pushmta.application AS
            SELECT a.id, a.name, a.label, s.name AS service, a.platform, a.environment, a.integration_key, a.bundle_id,
                a.message_id_format, e.name AS account, a.credential_id IS NOT NULL AS has_credential,
                pushmta_engine.circuit_of(h.state, h.next_probe_at) AS circuit, coalesce(h.reason, '') AS circuit_reason,
                coalesce(h.remedy, '') AS circuit_remedy, coalesce(h.probes, 0) AS probes, h.next_probe_at,
                h.opened_at AS circuit_opened_at
            FROM pushmta_engine.application a
            JOIN pushmta_engine.service s ON s.id = a.service_id
            LEFT JOIN pushmta_engine.external_account e ON e.id = a.external_account_id
            LEFT JOIN pushmta_engine.application_health h ON h.application_id = a.id;

            CREATE OR REPLACE VIEW pushmta.mta_host AS
            SELECT h.id, h.name, h.pid, h.version, h.schema_version, h.state, h.children, h.max_children, h.cores, h.load,
                h.resident_bytes, h.journal_folder, h.journal_free_bytes,
                greatest(h.journal_replayed, c.journal_replayed) AS journal_replayed, h.alarm, h.started_at, h.last_beat,
                a.age AS beat_age_seconds, a.health, h.drain_requested,
                a.health IN ('alive', 'late') AND EXISTS (SELECT FROM pushmta_engine.mta_host o
                    WHERE o.state <> 'stopped' AND o.last_beat >= clock_timestamp() - interval '15 s' AND o.version <> h.version)
                    AS version_mixed,
                c.unknown, c.resent_after_ambiguity, c.late_outcomes
            FROM pushmta_engine.mta_host h
            CROSS JOIN LATERAL (SELECT extract(epoch FROM clock_timestamp() - h.last_beat)::double precision AS age,
                CASE WHEN h.state = 'stopped' THEN 'stopped' WHEN h.last_beat < clock_timestamp() - interval '15 s' THEN 'gone'
                    WHEN h.last_beat < clock_timestamp() - interval '5 s' THEN 'late' ELSE 'alive' END AS health) a
            CROSS JOIN LATERAL (SELECT coalesce(sum(c.unknown), 0)::bigint AS unknown,
                coalesce(sum(c.resent_after_ambiguity), 0)::bigint AS resent_after_ambiguity,
                coalesce(sum(c.journal_replayed), 0)::bigint AS journal_replayed,
                coalesce(sum(c.late_outcomes), 0)::bigint AS late_outcomes
                FROM pushmta_engine.mta_child c WHERE c.host_id = h.id) c;

            CREATE OR REPLACE VIEW pushmta.mta_child AS
            SELECT c.id, h.name AS host, c.host_id, c.pid, c.generation, c.connector, a.name AS application, e.name AS account, c.state,
                c.delivery_id, c.part_id, c.parts_held, c.connections, c.streams_in_flight, c.sent, c.failed, c.retried, c.unknown,
                c.resent_after_ambiguity, c.rate, c.latency_p50_ms, c.latency_p99_ms, c.resident_bytes, c.last_error,
                c.started_at, c.last_beat, extract(epoch FROM clock_timestamp() - c.last_beat)::double precision AS beat_age_seconds,
                c.exited_at, c.exit_reason, c.exit_detail, c.last_words,
                CASE WHEN c.exited_at IS NOT NULL THEN 'exited' WHEN c.last_beat < clock_timestamp() - interval '15 s' THEN 'gone'
                    WHEN c.last_beat < clock_timestamp() - interval '5 s' THEN 'late' ELSE 'alive' END AS health,
                c.late_outcomes, c.journal_replayed, c.application_id, c.external_account_id
            FROM pushmta_engine.mta_child c
            JOIN pushmta_engine.mta_host h ON h.id = c.host_id
            LEFT JOIN pushmta_engine.application a ON a.id = c.application_id
            LEFT JOIN pushmta_engine.external_account e ON e.id = c.external_account_id;

            -- Messages that a gateway may have had without an answer that we know, as far as they are on record: when one of them was
            -- sent twice, this is why. Where a journal was lost it is every message that may have left.
            CREATE VIEW pushmta.ambiguous_message AS
            SELECT p.delivery_id, u.sequence, p.id AS part_id, r.fencing_token, false AS journal_lost
            FROM pushmta_engine.delivery_part p
            JOIN pushmta_engine.delivery_part_recovery r ON r.part_id = p.id
            CROSS JOIN LATERAL unnest(r.ambiguous) u(sequence)
            UNION ALL
            SELECT p.delivery_id, coalesce(t.sequences[n.place], t.first_sequence + n.place - 1), p.id, r.fencing_token, true
            FROM pushmta_engine.delivery_part p
            JOIN pushmta_engine.delivery_part_recovery r ON r.part_id = p.id AND r.ambiguous_through > 0
            JOIN pushmta_engine.delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
            CROSS JOIN LATERAL generate_series(1, least(r.ambiguous_through, cardinality(t.subscription_ids))) n(place);
            """#
    )
}
