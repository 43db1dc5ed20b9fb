extension Migration {
    /// What gateways said about tokens: applied by a duty, held while it may be a mistake, undone by delivery.
    static let tokenEffects = Migration(
        version: 11,
        name: "token effects",
        oldestProgram: 8,
        script: #"""
            -- Disables the subscriptions of up to so many refused tokens. A registration after the refusal outweighs it; events of an
            -- application whose effects are held are put aside. Any number of hosts may call it; it waits for nobody, and what is
            -- locked by others stays for the next call. Returns the number of events it decided.
            CREATE FUNCTION pushmta_engine.apply_token_events(most integer) RETURNS integer LANGUAGE plpgsql
                SET search_path = pushmta_engine, pg_temp AS $$
            DECLARE
                decided integer;
            BEGIN
                WITH picked AS MATERIALIZED (
                    SELECT e.id, e.subscription_id, e.reason, coalesce(e.since, e.created_at) AS since,
                        coalesce(h.token_effects_held, false) AS held
                    FROM token_event e LEFT JOIN application_health h ON h.application_id = e.application_id
                    WHERE e.state = 'pending' AND e.kind = 'invalid'
                    ORDER BY e.id LIMIT most FOR NO KEY UPDATE OF e SKIP LOCKED
                ), subject AS MATERIALIZED (
                    SELECT s.id, s.enabled, s.registered_at FROM subscription s
                    WHERE s.id = ANY(ARRAY(SELECT DISTINCT p.subscription_id FROM picked p WHERE NOT p.held))
                    ORDER BY s.id FOR NO KEY UPDATE SKIP LOCKED
                ), judged AS MATERIALIZED (
                    SELECT p.id, p.subscription_id, p.reason, CASE WHEN p.held THEN 'held'
                        WHEN s.id IS NULL THEN
                            CASE WHEN EXISTS (SELECT FROM subscription x WHERE x.id = p.subscription_id) THEN 'pending' ELSE 'outdated' END
                        WHEN s.enabled AND s.registered_at <= p.since
                            AND row_number() OVER (PARTITION BY p.subscription_id, p.held, s.registered_at <= p.since ORDER BY p.id) = 1
                            THEN 'applied'
                        ELSE 'outdated' END AS verdict
                    FROM picked p LEFT JOIN subject s ON s.id = p.subscription_id
                ), disabled AS (
                    UPDATE subscription s SET enabled = false, disabled_at = now(), disabled_reason = 'token_invalid',
                        quarantine_status = greatest(s.quarantine_status, 2::smallint), quarantined_at = now(), last_error_at = now(),
                        quarantine_reason = j.reason
                    FROM judged j WHERE j.verdict = 'applied' AND s.id = j.subscription_id
                ), noted AS (
                    UPDATE token_event e SET state = j.verdict, applied_at = CASE WHEN j.verdict = 'applied' THEN now() END
                    FROM judged j WHERE j.verdict <> 'pending' AND e.id = j.id
                    RETURNING e.id
                )
                SELECT count(*) INTO decided FROM noted;
                RETURN decided;
            END $$;

            -- Takes back what the answers to a delivery's messages did to tokens: the subscriptions that they disabled are enabled again,
            -- unless their token was registered anew meanwhile, and what was not applied yet never will be. Returns the number of
            -- events.
            CREATE FUNCTION pushmta.undo_token_effects(delivery bigint) RETURNS bigint
                LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
            #variable_conflict use_variable
            DECLARE
                events bigint[];
            BEGIN
                PERFORM FROM pushmta_engine.delivery d WHERE d.id = delivery;
                IF NOT FOUND THEN
                    RAISE EXCEPTION 'There is no delivery %.', delivery
                        USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them.';
                END IF;
                events := ARRAY(SELECT e.id FROM token_event e WHERE e.delivery_id = delivery AND e.kind = 'invalid'
                    AND e.state IN ('pending', 'held', 'applied') ORDER BY e.id FOR NO KEY UPDATE);
                PERFORM FROM subscription s WHERE s.id IN (SELECT e.subscription_id FROM token_event e WHERE e.id = ANY(events))
                    ORDER BY s.id FOR NO KEY UPDATE;
                -- The moment links an event to what it did: a subscription that was disabled for another cause stays so.
                UPDATE subscription s SET enabled = true, disabled_at = NULL, disabled_reason = '',
                    quarantine_status = CASE WHEN s.quarantined_at = e.applied_at AND s.quarantine_status = 2 THEN 0 ELSE s.quarantine_status END,
                    quarantine_reason = CASE WHEN s.quarantined_at = e.applied_at THEN '' ELSE s.quarantine_reason END,
                    quarantined_at = CASE WHEN s.quarantined_at = e.applied_at THEN NULL ELSE s.quarantined_at END
                FROM token_event e
                WHERE e.id = ANY(events) AND e.state = 'applied' AND s.id = e.subscription_id AND NOT s.enabled
                    AND s.disabled_at = e.applied_at AND s.disabled_reason = 'token_invalid'
                    AND NOT EXISTS (SELECT FROM subscription o WHERE o.application_id = s.application_id
                        AND o.push_token = s.push_token AND o.id <> s.id AND (o.enabled OR o.id > s.id));
                UPDATE token_event e SET state = 'undone', undone_at = now() WHERE e.id = ANY(events);
                RETURN cardinality(events);
            END $$;
            """#
    )
}
