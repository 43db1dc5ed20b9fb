extension Migration {
    /// Which push tokens have ever worked, and parts that are judged by themselves: what strangers register weighs less.
    static let acceptance = Migration(
        version: 32,
        name: "acceptance",
        oldestProgram: 8,
        script: #"""
            -- Of which subscriptions a gateway has ever taken a message: a bit for each of 1,024 ids, set by the first acceptance and once only.
            -- A column of the subscription would cost a row with all of its indexes for each device of an import; ids are never used again.
            CREATE TABLE pushmta_engine.subscription_acceptance (
                application_id integer NOT NULL,
                block bigint NOT NULL,
                accepted bit(1024) NOT NULL,
                PRIMARY KEY (application_id, block)
            ) WITH (fillfactor = 50);
            COMMENT ON TABLE pushmta_engine.subscription_acceptance IS
                'Of which subscriptions a gateway has ever taken a message: bit id & 1023 of block id >> 10.';

            -- A token that comes in the place of another has proved nothing, however it comes.
            CREATE FUNCTION pushmta_engine.forget_acceptance() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
                SET search_path = pushmta_engine, pg_temp AS $$
            BEGIN
                UPDATE subscription_acceptance a SET accepted = set_bit(a.accepted, (NEW.id & 1023)::integer, 0)
                WHERE a.application_id = NEW.application_id AND a.block = NEW.id >> 10
                    AND get_bit(a.accepted, (NEW.id & 1023)::integer) = 1;
                RETURN NULL;
            END $$;
            CREATE TRIGGER subscription_token_changed AFTER UPDATE OF push_token ON pushmta_engine.subscription
                FOR EACH ROW WHEN (OLD.push_token IS DISTINCT FROM NEW.push_token)
                EXECUTE FUNCTION pushmta_engine.forget_acceptance();

            -- A part whose messages were refused because of their tokens, as others were not: it is judged by itself.
            ALTER TABLE pushmta_engine.delivery_part ADD alone boolean NOT NULL DEFAULT false;
            CREATE INDEX delivery_part_alone ON pushmta_engine.delivery_part (delivery_id) WHERE alone;

            REVOKE ALL ON FUNCTION pushmta_engine.forget_acceptance() FROM PUBLIC;
            DO $$
            BEGIN
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                    GRANT SELECT, INSERT, UPDATE, DELETE ON pushmta_engine.subscription_acceptance TO pushmta_runtime;
                    GRANT EXECUTE ON FUNCTION pushmta_engine.forget_acceptance() TO pushmta_runtime;
                END IF;
            END $$;

            -- As before, but what a mix-up cannot have caused is applied while effects are held, too: an event without a part.
            \#(invalidTokens)
            """#
    )

    private static let invalidTokens = #"""
        CREATE OR REPLACE FUNCTION pushmta_engine.apply_invalid_tokens(most integer) RETURNS integer LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp SET enable_nestloop = off AS $$
        DECLARE
            decided integer;
        BEGIN
            WITH picked AS MATERIALIZED (
                SELECT e.id, e.subscription_id, e.reason, coalesce(e.since, e.created_at) AS since,
                    (SELECT CASE WHEN e.part_id <= h.effects_void_through THEN 'undone'
                            WHEN h.token_effects_held AND e.part_id IS NOT NULL THEN 'held' END
                        FROM application_health h WHERE h.application_id = e.application_id) AS kept
                FROM token_event e
                WHERE e.state = 'pending' AND e.kind = 'invalid'
                ORDER BY e.id LIMIT most FOR NO KEY UPDATE OF e SKIP LOCKED
            ), subject AS MATERIALIZED (
                SELECT s.id, s.enabled, greatest(s.registered_at, (SELECT max(c.applied_at) FROM token_event c
                    WHERE c.subscription_id = s.id AND c.kind = 'canonical' AND c.state = 'applied' AND c.old_token IS NOT NULL)) AS token_since FROM subscription s
                WHERE s.id = ANY(ARRAY(SELECT DISTINCT p.subscription_id FROM picked p WHERE p.kept IS NULL))
                ORDER BY s.id FOR NO KEY UPDATE SKIP LOCKED
            ), judged AS MATERIALIZED (
                SELECT p.id, p.subscription_id, p.reason, CASE WHEN p.kept IS NOT NULL THEN p.kept
                    WHEN s.id IS NULL THEN
                        CASE WHEN EXISTS (SELECT FROM subscription x WHERE x.id = p.subscription_id) THEN 'pending' ELSE 'outdated' END
                    WHEN s.enabled AND s.token_since <= p.since
                        AND row_number() OVER (PARTITION BY p.subscription_id, p.kept, s.token_since <= p.since ORDER BY p.id) = 1
                        THEN 'applied'
                    ELSE 'outdated' END AS verdict
                FROM picked p LEFT JOIN subject s ON s.id = p.subscription_id
            ), disabled AS (
                UPDATE subscription s SET enabled = false, disabled_at = now(), disabled_reason = 'token_invalid',
                    quarantine_status = greatest(s.quarantine_status, 2::smallint), quarantined_at = now(), last_error_at = now(),
                    quarantine_reason = j.reason
                FROM judged j WHERE j.verdict = 'applied' AND s.id = j.subscription_id
                    AND s.id = ANY(ARRAY(SELECT k.subscription_id FROM judged k WHERE k.verdict = 'applied'))
            ), noted AS (
                UPDATE token_event e SET state = j.verdict, applied_at = CASE WHEN j.verdict = 'applied' THEN now() END,
                    undone_at = CASE WHEN j.verdict = 'undone' THEN now() END
                FROM judged j WHERE j.verdict <> 'pending' AND e.id = j.id AND e.id = ANY(ARRAY(SELECT k.id FROM judged k))
                RETURNING e.id
            )
            SELECT count(*) INTO decided FROM noted;
            RETURN decided;
        END $$;
        """#
}
