extension TokenEventScripts {
    /// The way back.
    static let undo = #"""
        -- Takes back what the answers to a delivery's messages did to tokens: subscriptions that they disabled are enabled again, unless
        -- their token was registered anew meanwhile, replaced tokens come back, soft errors are not counted, and what was not applied
        -- yet never will be. Returns the number of events.
        CREATE OR REPLACE FUNCTION pushmta.undo_token_effects(delivery bigint) RETURNS bigint
            LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            events bigint[];
            replaced token_event;
        BEGIN
            PERFORM FROM pushmta_engine.delivery d WHERE d.id = delivery;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'There is no delivery %.', delivery
                    USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them.';
            END IF;
            events := ARRAY(SELECT e.id FROM token_event e
                WHERE e.delivery_id = delivery AND e.kind IN ('invalid', 'canonical', 'soft_error')
                    AND e.state IN ('pending', 'held', 'applied') ORDER BY e.id FOR NO KEY UPDATE);
            PERFORM FROM subscription s WHERE s.id IN (
                    SELECT e.subscription_id FROM token_event e WHERE e.id = ANY(events)
                    UNION SELECT e.other_subscription_id FROM token_event e WHERE e.id = ANY(events))
                ORDER BY s.id FOR NO KEY UPDATE;
            -- The last replacement first, as an earlier one may have made its token.
            FOR replaced IN SELECT e.* FROM token_event e
                WHERE e.id = ANY(events) AND e.kind = 'canonical' AND e.state = 'applied' ORDER BY e.id DESC
            LOOP
                UPDATE subscription s SET push_token = replaced.old_token
                WHERE s.id = replaced.subscription_id AND s.push_token = replaced.new_token AND s.registered_at <= replaced.applied_at
                    AND replaced.old_token IS NOT NULL AND NOT (s.enabled AND EXISTS (SELECT FROM subscription o
                        WHERE o.application_id = s.application_id AND o.push_token = replaced.old_token AND o.enabled));
                UPDATE subscription s SET enabled = true, disabled_at = NULL, disabled_reason = ''
                WHERE s.id IN (replaced.subscription_id, replaced.other_subscription_id) AND NOT s.enabled
                    AND s.disabled_at = replaced.applied_at AND s.disabled_reason = 'token_replaced'
                    AND NOT EXISTS (SELECT FROM subscription o WHERE o.application_id = s.application_id
                        AND o.push_token = s.push_token AND o.enabled);
            END LOOP;
            -- The moment links an event to what it did: a subscription that was disabled for another cause stays so.
            UPDATE subscription s SET enabled = true, disabled_at = NULL, disabled_reason = '',
                quarantine_status = CASE WHEN s.quarantined_at = e.applied_at AND s.quarantine_status = 2 THEN least(s.soft_errors, 1) ELSE s.quarantine_status END,
                quarantine_reason = CASE WHEN s.quarantined_at = e.applied_at THEN '' ELSE s.quarantine_reason END,
                quarantined_at = CASE WHEN s.quarantined_at = e.applied_at THEN NULL ELSE s.quarantined_at END
            FROM token_event e
            WHERE e.id = ANY(events) AND e.kind = 'invalid' AND e.state = 'applied' AND s.id = e.subscription_id AND NOT s.enabled
                AND s.disabled_at = e.applied_at AND s.disabled_reason = 'token_invalid'
                AND NOT EXISTS (SELECT FROM subscription o WHERE o.application_id = s.application_id
                    AND o.push_token = s.push_token AND o.id <> s.id AND (o.enabled OR o.id > s.id));
            -- A registration has forgotten the errors before it. An enabled subscription is in quarantine for soft errors only.
            UPDATE subscription s SET soft_errors = greatest(s.soft_errors - e.n, 0),
                quarantine_status = CASE WHEN s.soft_errors > e.n THEN 1 ELSE 0 END,
                quarantine_reason = CASE WHEN s.soft_errors > e.n THEN s.quarantine_reason ELSE '' END, quarantined_at = NULL
            FROM (SELECT x.subscription_id, count(*)::smallint AS n, max(x.applied_at) AS applied_at FROM token_event x
                WHERE x.id = ANY(events) AND x.kind = 'soft_error' AND x.state = 'applied' GROUP BY x.subscription_id) e
            WHERE s.id = e.subscription_id AND s.enabled AND s.quarantine_status IN (1, 2) AND s.registered_at <= e.applied_at;
            UPDATE token_event e SET state = 'undone', undone_at = now() WHERE e.id = ANY(events);
            RETURN cardinality(events);
        END $$;
        """#
}
