extension TokenEventScripts {
    /// A token that the gateway wants replaced.
    static let replacement = #"""
        -- Gives a locked subscription the token that the gateway wants. If another one has it, the newer registration keeps it and the
        -- older one is disabled: both are the same app on the same device. An opt-out of the same person goes on. Returns the event's
        -- new state: `pending` if somebody is just changing or registering the other one, which is not waited for.
        CREATE FUNCTION pushmta_engine.replace_token(s pushmta_engine.subscription, event bigint, wanted text) RETURNS text
            LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp SET lock_timeout = '100ms' AS $$
        DECLARE
            other subscription;
        BEGIN
            IF wanted IS NULL OR wanted = '' OR wanted = s.push_token THEN
                RETURN 'outdated';
            END IF;
            SELECT x.* INTO other FROM subscription x
            WHERE x.application_id = s.application_id AND x.push_token = wanted AND x.enabled FOR NO KEY UPDATE SKIP LOCKED;
            IF NOT FOUND AND EXISTS (SELECT FROM subscription x
                WHERE x.application_id = s.application_id AND x.push_token = wanted AND x.enabled) THEN
                RETURN 'pending';
            END IF;
            IF other.id IS NOT NULL AND (other.registered_at, other.id) > (s.registered_at, s.id) THEN
                UPDATE subscription x SET enabled = false, disabled_at = now(), disabled_reason = 'token_replaced' WHERE x.id = s.id;
                UPDATE token_event e SET other_subscription_id = other.id WHERE e.id = event;
                RETURN 'applied';
            END IF;
            BEGIN
                UPDATE subscription x SET enabled = false, disabled_at = now(), disabled_reason = 'token_replaced'
                WHERE x.id = other.id;
                UPDATE subscription x SET push_token = wanted,
                    opted_out = x.opted_out OR coalesce(other.opted_out AND other.user_key = x.user_key, false)
                WHERE x.id = s.id;
            EXCEPTION WHEN unique_violation OR lock_not_available OR deadlock_detected THEN
                RETURN 'pending';
            END;
            UPDATE token_event e SET old_token = s.push_token, other_subscription_id = other.id WHERE e.id = event;
            RETURN 'applied';
        END $$;
        """#

    /// Soft errors and what heals them.
    static let errors = #"""
        -- Counts a soft error of a locked subscription, if the last one that counted is long enough ago; so many of them quarantine
        -- it. What is older than the healing time does not count any more.
        CREATE FUNCTION pushmta_engine.count_soft_error(s pushmta_engine.subscription, happened timestamptz, words text,
            max_errors integer, apart interval, healing interval) RETURNS text
            LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            errors integer := CASE WHEN s.last_error_at < happened - healing THEN 0 ELSE s.soft_errors END;
        BEGIN
            IF s.quarantine_status >= 2 OR errors > 0 AND s.last_error_at > happened - apart THEN
                RETURN 'outdated';
            END IF;
            errors := least(errors + 1, 32767);
            UPDATE subscription x SET soft_errors = errors, last_error_at = happened, quarantine_reason = words,
                quarantine_status = CASE WHEN errors >= max_errors THEN 2 ELSE 1 END,
                quarantined_at = CASE WHEN errors >= max_errors THEN now() END
            WHERE x.id = s.id;
            RETURN 'applied';
        END $$;

        -- Forgets the soft errors of a locked subscription, as a message got through to it. Quarantine does not end so.
        CREATE FUNCTION pushmta_engine.heal_subscription(s pushmta_engine.subscription) RETURNS text
            LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
        BEGIN
            IF s.quarantine_status <> 1 THEN
                RETURN 'outdated';
            END IF;
            UPDATE subscription x SET soft_errors = 0, quarantine_status = 0, quarantine_reason = '' WHERE x.id = s.id;
            RETURN 'applied';
        END $$;
        """#

    /// The healing by time.
    static let healing = #"""
        -- Forgets the errors of up to so many subscriptions that had none for the healing time; returns how many.
        CREATE FUNCTION pushmta_engine.heal_soft_errors(most integer, healing interval) RETURNS integer LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            healed integer;
        BEGIN
            UPDATE subscription s SET soft_errors = 0, quarantine_status = 0, quarantine_reason = ''
            WHERE s.id = ANY(ARRAY(SELECT x.id FROM subscription x
                WHERE x.quarantine_status = 1 AND x.last_error_at < now() - healing
                ORDER BY x.last_error_at LIMIT most FOR NO KEY UPDATE SKIP LOCKED));
            GET DIAGNOSTICS healed = ROW_COUNT;
            RETURN healed;
        END $$;
        """#
}
