/// Scripts of the functions that apply and undo token events.
enum TokenEventScripts {
    /// What version 16 has of them.
    static let answers = [invalid, notes, replacement, errors, healing, undo].joined(separator: "\n\n")

    /// Since when a subscription `s` has its token: what was said before is about another one.
    static let tokenSince = """
        greatest(s.registered_at, (SELECT max(c.applied_at) FROM token_event c
                    WHERE c.subscription_id = s.id AND c.kind = 'canonical' AND c.state = 'applied' AND c.old_token IS NOT NULL))
        """

    /// The disabling of dead tokens.
    private static let invalid = #"""
        -- Disables the subscriptions of up to so many refused tokens. A registration after the refusal outweighs it; events of an
        -- application whose effects are held are put aside, and those of a bad time that is over are undone. Any number of hosts
        -- may call it; it waits for nobody, and what is locked by others stays for the next call. Returns the number of events it
        -- decided.
        CREATE FUNCTION pushmta_engine.apply_invalid_tokens(most integer) RETURNS integer LANGUAGE plpgsql
            SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            decided integer;
        BEGIN
            WITH picked AS MATERIALIZED (
                SELECT e.id, e.subscription_id, e.reason, coalesce(e.since, e.created_at) AS since,
                    CASE WHEN e.part_id <= h.effects_void_through THEN 'undone' WHEN h.token_effects_held THEN 'held' END AS kept
                FROM token_event e LEFT JOIN application_health h ON h.application_id = e.application_id
                WHERE e.state = 'pending' AND e.kind = 'invalid'
                ORDER BY e.id LIMIT most FOR NO KEY UPDATE OF e SKIP LOCKED
            ), subject AS MATERIALIZED (
                SELECT s.id, s.enabled, \#(tokenSince) AS token_since FROM subscription s
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
            ), noted AS (
                UPDATE token_event e SET state = j.verdict, applied_at = CASE WHEN j.verdict = 'applied' THEN now() END,
                    undone_at = CASE WHEN j.verdict = 'undone' THEN now() END
                FROM judged j WHERE j.verdict <> 'pending' AND e.id = j.id
                RETURNING e.id
            )
            SELECT count(*) INTO decided FROM noted;
            RETURN decided;
        END $$;
        """#

    /// Events that are looked at one by one, and all events together.
    private static let notes = #"""
        -- Applies up to so many events about tokens that are not dead: replaced ones, soft errors, messages that got through after
        -- such. They are few, and those of a subscription have an order. The guards are those of dead tokens.
        CREATE FUNCTION pushmta_engine.apply_token_notes(most integer, max_errors integer, apart interval, healing interval)
            RETURNS integer LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            note record;
            s subscription;
            verdict text;
            locked bigint[] := '{}';
            decided integer := 0;
        BEGIN
            FOR note IN
                SELECT e.*, coalesce(e.since, e.created_at) AS said_at, CASE WHEN e.kind = 'success' THEN NULL
                    WHEN e.part_id <= h.effects_void_through THEN 'undone' WHEN h.token_effects_held THEN 'held' END AS kept
                FROM token_event e LEFT JOIN application_health h ON h.application_id = e.application_id
                WHERE e.state = 'pending' AND e.kind IN ('canonical', 'soft_error', 'success')
                ORDER BY e.id LIMIT most FOR NO KEY UPDATE OF e SKIP LOCKED
            LOOP
                verdict := note.kept;
                IF verdict IS NULL THEN
                    CONTINUE WHEN note.subscription_id = ANY(locked);
                    SELECT x.* INTO s FROM subscription x WHERE x.id = note.subscription_id FOR NO KEY UPDATE SKIP LOCKED;
                    IF NOT FOUND AND EXISTS (SELECT FROM subscription x WHERE x.id = note.subscription_id) THEN
                        locked := locked || note.subscription_id;
                        CONTINUE;
                    END IF;
                    IF s.id IS NULL OR NOT s.enabled OR \#(tokenSince) > note.said_at THEN
                        verdict := 'outdated';
                    ELSIF note.kind = 'canonical' THEN
                        verdict := replace_token(s, note.id, note.new_token);
                    ELSIF note.kind = 'soft_error' THEN
                        verdict := count_soft_error(s, note.created_at, note.reason, max_errors, apart, healing);
                    ELSE
                        verdict := heal_subscription(s);
                    END IF;
                    IF verdict = 'pending' THEN
                        locked := locked || note.subscription_id;
                        CONTINUE;
                    END IF;
                END IF;
                UPDATE token_event e SET state = verdict, applied_at = CASE WHEN verdict = 'applied' THEN now() END,
                    undone_at = CASE WHEN verdict = 'undone' THEN now() END
                WHERE e.id = note.id;
                decided := decided + 1;
            END LOOP;
            RETURN decided;
        END $$;

        -- Applies up to so many events of any kind; returns the number that it decided. What a program of an older version left held
        -- when it let the others go is undone here.
        CREATE FUNCTION pushmta_engine.apply_token_effects(most integer, max_errors integer, apart interval, healing interval)
            RETURNS integer LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
        DECLARE
            decided integer := apply_invalid_tokens(most);
        BEGIN
            IF decided < most THEN
                decided := decided + apply_token_notes(most - decided, max_errors, apart, healing);
            END IF;
            UPDATE token_event e SET state = 'undone', undone_at = now() WHERE e.id IN (
                SELECT o.id FROM token_event o WHERE o.state = 'held' AND NOT EXISTS (SELECT FROM application_health h
                    WHERE h.application_id = o.application_id AND h.token_effects_held)
                ORDER BY o.id LIMIT most FOR NO KEY UPDATE OF o SKIP LOCKED);
            RETURN decided;
        END $$;

        -- The same as programs of older versions ask for it.
        CREATE OR REPLACE FUNCTION pushmta_engine.apply_token_events(most integer) RETURNS integer LANGUAGE sql
            SET search_path = pushmta_engine, pg_temp AS $$
            SELECT apply_token_effects(most, 5, interval '1 day', interval '10 days') $$;
        """#
}
