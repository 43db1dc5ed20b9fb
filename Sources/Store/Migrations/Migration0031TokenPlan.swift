extension Migration {
    /// Token events cost the same with and without statistics of their tables.
    ///
    /// After an import, or soon after an installation, the planner expects a handful of events where thousands are; it then looked for each
    /// event's row through the whole list of ids, one event after the other: four seconds for 2,000 events instead of a tenth of one. So it
    /// joins what it has found by id with hashes, whatever it expects; the application's state is looked up for each event, so that events
    /// are still read in the order of their index, and no more of them than are taken.
    static let tokenPlan = Migration(
        version: 31,
        name: "token plan",
        oldestProgram: 8,
        script: #"""
            CREATE OR REPLACE FUNCTION pushmta_engine.apply_invalid_tokens(most integer) RETURNS integer LANGUAGE plpgsql
                SET search_path = pushmta_engine, pg_temp SET enable_nestloop = off AS $$
            DECLARE
                decided integer;
            BEGIN
                WITH picked AS MATERIALIZED (
                    SELECT e.id, e.subscription_id, e.reason, coalesce(e.since, e.created_at) AS since,
                        (SELECT CASE WHEN e.part_id <= h.effects_void_through THEN 'undone' WHEN h.token_effects_held THEN 'held' END
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
    )
}
