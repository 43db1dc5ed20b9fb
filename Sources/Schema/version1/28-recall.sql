-- The recall of a delivery: what has not left stops, and what was sent is replaced or removed where that can be.
--
-- A second delivery does that, its child. When the last outcome of the recalled one is stored, a duty lists the messages that people may
-- have seen, part by part, as the child's targets. The report is counted from the outcomes of both, so it adds up at any time, whatever
-- process dies.

CREATE TABLE pushmta_engine.recall (
    delivery_id bigint PRIMARY KEY REFERENCES pushmta_engine.delivery,
    mode text NOT NULL CHECK (mode IN ('stop', 'replace', 'remove')),
    reason text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    recalled_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    child_id bigint UNIQUE REFERENCES pushmta_engine.delivery,
    -- Who stopped the second delivery.
    given_up_by text NOT NULL DEFAULT '',
    -- Second deliveries of before: given up, or replaced by the present one after their end.
    earlier_ids bigint[] NOT NULL DEFAULT '{}',
    -- The parts up to this one are listed.
    listed_through bigint NOT NULL DEFAULT 0,
    listed_at timestamptz,
    -- How many messages are the second delivery's targets, once all parts are listed.
    listed bigint,
    -- How many devices have said that they removed it, once the logs that say so are gone.
    removed bigint
);
COMMENT ON TABLE pushmta_engine.recall IS
    'The recalled deliveries: by whom and why, and the delivery that replaces or removes what was sent.';
CREATE INDEX recall_unlisted ON pushmta_engine.recall (recalled_at) WHERE child_id IS NOT NULL AND listed_at IS NULL;

CREATE FUNCTION pushmta_engine.replacing_keys(original jsonb) RETURNS TABLE (platform text, key text) LANGUAGE sql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT k.platform, k.key FROM (VALUES ('ios', 'collapse_id'), ('android', 'tag')) k(platform, key)
    WHERE jsonb_typeof(original #> ARRAY[k.platform, k.key]) = 'string' $$;
COMMENT ON FUNCTION pushmta_engine.replacing_keys(jsonb) IS
    'The platforms on which messages of a content can be replaced, and the key by which.';

CREATE FUNCTION pushmta_engine.replacing_content(original jsonb, own jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    made jsonb := own;
    same record;
BEGIN
    -- A variant of a locale may have a key of its own.
    FOR same IN SELECT ARRAY[k.platform] AS section, k.key, original #> ARRAY[k.platform, k.key] AS value FROM replacing_keys(original) k
        WHERE own ? k.platform
        UNION ALL
        SELECT ARRAY['locales', l.key, k.platform], k.key, l.value #> ARRAY[k.platform, k.key]
        FROM replacing_keys(original) k, jsonb_each(CASE WHEN jsonb_typeof(original -> 'locales') = 'object'
            THEN original -> 'locales' ELSE '{}' END) l
        WHERE own ? k.platform AND l.value #> ARRAY[k.platform, k.key] IS NOT NULL
    LOOP
        FOR depth IN 1 .. cardinality(same.section) LOOP
            IF jsonb_typeof(made #> same.section[:depth]) IS DISTINCT FROM 'object' THEN
                made := jsonb_set(made, same.section[:depth], '{}');
            END IF;
        END LOOP;
        made := jsonb_set(made, same.section || same.key, same.value);
    END LOOP;
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta_engine.replacing_content(jsonb, jsonb) IS
    'A content with the collapse id and the tag of another one, so that its messages replace those of the other.';

CREATE FUNCTION pushmta_engine.replacing_text(delivery bigint, content text) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT replacing_content(d.content, replacing_text.content::jsonb)::text FROM pushmta_engine.delivery d
    WHERE d.id = replacing_text.delivery $$;
COMMENT ON FUNCTION pushmta_engine.replacing_text(bigint, text) IS
    'What replacing_content makes of a content for a delivery, so that the console checks it before the recall.';

CREATE FUNCTION pushmta_engine.removing_content(deliveries bigint[]) RETURNS jsonb LANGUAGE sql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    -- The names under which their messages have them: _dId.
    SELECT jsonb_build_object('ios', jsonb_build_object('silent', true, 'variables', v.names),
        'android', jsonb_build_object('kind', 'data', 'priority', 'high', 'variables', v.names))
    FROM (SELECT jsonb_build_object('_recall', string_agg(to_hex(u.id), ',' ORDER BY u.place)) AS names
        FROM unnest(deliveries) WITH ORDINALITY u(id, place)) v $$;
COMMENT ON FUNCTION pushmta_engine.removing_content(bigint[]) IS
    'A silent content that asks our SDKs to remove the notifications of these deliveries.';

CREATE FUNCTION pushmta_engine.locale_keys(document jsonb, platform text, key text) RETURNS jsonb LANGUAGE sql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    WITH locale AS (
        -- A locale that says nothing inherits the key; null removes it.
        SELECT l.name, CASE WHEN s.section ? locale_keys.key THEN s.section -> locale_keys.key ELSE main.value END AS value
        FROM (SELECT document #> ARRAY[platform, locale_keys.key] AS value) main
        CROSS JOIN LATERAL jsonb_each(CASE WHEN jsonb_typeof(document -> 'locales') = 'object' THEN document -> 'locales' ELSE '{}' END)
            l(name, own)
        CROSS JOIN LATERAL (SELECT CASE WHEN jsonb_typeof(l.own -> platform) = 'object' THEN l.own -> platform ELSE '{}' END AS section) s
        UNION ALL SELECT '', document #> ARRAY[platform, locale_keys.key]
    )
    -- If all have the same key, it does not matter which locales there are.
    SELECT CASE WHEN count(DISTINCT coalesce(l.value, 'null')) = 1 THEN jsonb_build_object('', min(l.value::text)::jsonb)
        ELSE jsonb_object_agg(l.name, l.value) END FROM locale l $$;
COMMENT ON FUNCTION pushmta_engine.locale_keys(jsonb, text, text) IS
    'The key by which messages of a content are replaced on a platform, by locale; under the empty locale that of all others.';

CREATE FUNCTION pushmta_engine.replaceable_platforms(delivery bigint) RETURNS text[] LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT ARRAY(SELECT DISTINCT a.platform
        FROM pushmta_engine.delivery d
        JOIN delivery_application x ON x.delivery_id = d.id
        JOIN application a ON a.id = x.application_id
        JOIN LATERAL replacing_keys(d.content) k ON k.platform = a.platform
        WHERE d.id = replaceable_platforms.delivery
            -- Each message must have the key that the second delivery gives to its locale, whatever its variant.
            AND NOT EXISTS (SELECT FROM experiment_cell c WHERE c.delivery_id = d.id AND c.content IS NOT NULL
                AND locale_keys(c.content, k.platform, k.key) IS DISTINCT FROM locale_keys(d.content, k.platform, k.key))
        ORDER BY a.platform) $$;
COMMENT ON FUNCTION pushmta_engine.replaceable_platforms(bigint) IS
    'The platforms of a delivery on which a recall can replace its messages.';

CREATE FUNCTION pushmta_engine.running_recall(delivery bigint) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
    SELECT r.child_id FROM recall r JOIN pushmta_engine.delivery c ON c.id = r.child_id
    WHERE r.delivery_id = running_recall.delivery AND c.state NOT IN ('finished', 'stopped', 'recalled') $$;
COMMENT ON FUNCTION pushmta_engine.running_recall(bigint) IS
    'The delivery that replaces or removes the messages of another one, until it ends; null if there is none, or it has ended.';

CREATE FUNCTION pushmta_engine.begun_recalls(delivery bigint) RETURNS SETOF bigint LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT c.id FROM recall r JOIN pushmta_engine.delivery c ON c.id = ANY(r.earlier_ids || r.child_id)
    WHERE r.delivery_id = begun_recalls.delivery AND c.started_at IS NOT NULL $$;
COMMENT ON FUNCTION pushmta_engine.begun_recalls(bigint) IS
    'The deliveries that have replaced or removed messages of another one. One that was given up before it began is none of them.';

CREATE FUNCTION pushmta_engine.add_recall(whole pushmta_engine.delivery, mode text, content text) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    title text := left('Recall: ' || whole.label, 500);
    platforms text[];
    document jsonb;
    problems pushmta_engine.input_problem[];
    made bigint;
BEGIN
    platforms := CASE mode WHEN 'remove' THEN ARRAY(SELECT DISTINCT a.platform FROM delivery_application x
            JOIN application a ON a.id = x.application_id WHERE x.delivery_id = whole.id)
        ELSE replaceable_platforms(whole.id) END;
    IF platforms = '{}' THEN
        RAISE EXCEPTION 'Nothing of delivery % can be replaced: its content has neither a collapse_id nor a tag, or its variants differ '
            'in it.', whole.id
            USING ERRCODE = 'PM185', HINT = 'Recall it with the mode remove, for apps with our SDKs, or stop.';
    END IF;
    document := CASE mode WHEN 'remove'
        -- What is shown may be the message of an earlier replacement.
        THEN removing_content(whole.id || ARRAY(SELECT c.id FROM begun_recalls(whole.id) b
            JOIN pushmta_engine.delivery c ON c.id = b AND NOT c.is_removal ORDER BY c.id))
        ELSE replacing_content(whole.content, content_document(title, content)) END;
    problems := ARRAY(SELECT p FROM content_problems(document, platforms) p);
    IF cardinality(problems) > 0 THEN
        PERFORM refuse_content(title, problems);
    END IF;
    -- It goes before everything else, at any hour, and only while the recalled message may still matter. A removal says nothing, so no
    -- opt-out from a category stops it.
    INSERT INTO delivery (label, content, target_kind, allow_duplicates, one_time_code, category_id, priority, validity, is_removal)
    VALUES (title, document, 'explicit', true, whole.one_time_code,
        -- That of the first service to which it goes.
        (SELECT x.category_id FROM delivery_application x JOIN application a ON a.id = x.application_id
            WHERE x.delivery_id = whole.id AND a.platform = ANY(platforms) AND x.category_id IS NOT NULL AND mode <> 'remove'
            ORDER BY a.service_id LIMIT 1), 100, interval '1 day', mode = 'remove')
    RETURNING id INTO made;
    INSERT INTO delivery_application (delivery_id, application_id, external_account_id)
    SELECT made, x.application_id, x.external_account_id
    FROM delivery_application x JOIN application a ON a.id = x.application_id
    WHERE x.delivery_id = whole.id AND a.platform = ANY(platforms);
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta_engine.add_recall(pushmta_engine.delivery, text, text) IS
    'Creates the delivery that replaces or removes the messages of another one; it has no targets yet.';

CREATE FUNCTION pushmta_engine.check_recall(whole pushmta_engine.delivery, reason text, mode text, content text) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    child bigint := running_recall(whole.id);
    begun bigint := (SELECT max(b) FROM begun_recalls(whole.id) b);
BEGIN
    IF coalesce(btrim(reason), '') = '' OR char_length(reason) > 2000 THEN
        RAISE EXCEPTION 'Delivery % was not recalled: the reason is missing, or longer than 2000 characters.', whole.id
            USING ERRCODE = 'PM007', HINT = 'Say why it is recalled.';
    ELSIF mode IS NULL OR mode NOT IN ('stop', 'replace', 'remove') OR (mode = 'replace') <> (content IS NOT NULL) THEN
        RAISE EXCEPTION 'Delivery % was not recalled: the mode is not stop, replace or remove, or does not fit the content.', whole.id
            USING ERRCODE = 'PM007', HINT = 'Give a content with replace, and only with it.';
    ELSIF whole.kind = 'continuous' OR whole.proof OR recalled_by(whole.id) IS NOT NULL THEN
        RAISE EXCEPTION 'Delivery % is continuous, a proof or itself a recall, and cannot be recalled.', whole.id
            USING ERRCODE = 'PM185', HINT = 'Stop it with pushmta.stop_delivery.';
    ELSIF whole.state IN ('editing', 'analysing', 'ready') THEN
        RAISE EXCEPTION 'Delivery % is % and was not started, so there is nothing to recall.', whole.id, whole.state
            USING ERRCODE = 'PM008', HINT = 'pushmta.reschedule_delivery takes back a start.';
    ELSIF whole.purged AND mode <> 'stop' THEN
        RAISE EXCEPTION 'The messages of delivery % were deleted at the end of their retention (feedback.retention.broadLogDays).',
            whole.id USING ERRCODE = 'PM120', HINT = 'Nobody knows who got them.';
    ELSIF child IS NOT NULL THEN
        RAISE EXCEPTION 'Delivery % is already recalled, by delivery %, which is under way.', whole.id, child
            USING ERRCODE = 'PM185', HINT = 'pushmta.stop_delivery stops that one; once it has ended, recall again.';
    ELSIF mode = 'stop' AND begun IS NOT NULL THEN
        RAISE EXCEPTION 'Delivery % is already recalled, and delivery % has replaced or removed messages: nothing is left to stop.',
            whole.id, begun USING ERRCODE = 'PM185', HINT = 'Recall it with the mode replace or remove.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.check_recall(pushmta_engine.delivery, text, text, text) IS
    'Raises an error if a delivery cannot be recalled in this way.';

CREATE FUNCTION pushmta.recall_delivery(delivery bigint, reason text, mode text DEFAULT 'stop', content text DEFAULT NULL) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
    whole pushmta_engine.delivery;
    complete boolean;
    child bigint;
    who record;
BEGIN
    PERFORM refuse_day(delivery);
    SELECT d.* INTO whole FROM pushmta_engine.delivery d WHERE d.id = delivery;
    PERFORM check_recall(whole, reason, mode, content);
    SELECT l.kind, l.name INTO who FROM acting_login() l;
    IF NOT is_audited('delivery', 'recall', delivery::text, '') THEN
        PERFORM note_change('delivery.recall', delivery::text, mode || ': ' || reason);
    END IF;
    IF found_state <> 'recalled' THEN
        complete := cancel_parts(delivery, 'recalled');
        UPDATE pushmta_engine.delivery d SET state = 'recalled', state_reason = reason, preparing_host = '', changed_at = now(),
            finished_at = coalesce(d.finished_at, CASE WHEN complete THEN now() END)
        WHERE d.id = delivery;
        -- The next run would say the same.
        PERFORM halt_recurrence(whole.recurrence_of, now(), format('run %s was recalled: %s', delivery, reason));
    ELSE
        UPDATE pushmta_engine.delivery d SET state_reason = reason WHERE d.id = delivery;
    END IF;
    IF mode <> 'stop' THEN
        child := add_recall(whole, mode, content);
    END IF;
    INSERT INTO recall AS r (delivery_id, mode, reason, kind, name, child_id)
    VALUES (delivery, mode, reason, who.kind, who.name, child)
    ON CONFLICT ON CONSTRAINT recall_pkey DO UPDATE SET mode = excluded.mode, reason = excluded.reason, kind = excluded.kind,
        name = excluded.name, recalled_at = excluded.recalled_at, child_id = excluded.child_id, listed_through = 0, listed_at = NULL,
        listed = NULL, removed = NULL, given_up_by = '', earlier_ids = r.earlier_ids || array_remove(ARRAY[r.child_id], NULL);
    PERFORM pg_notify('pushmta_wake', 'control');
    RETURN child;
END $$;
COMMENT ON FUNCTION pushmta.recall_delivery(bigint, text, text, text) IS
    'Recalls a delivery that has begun or ended: what has not left stops at once, as with pushmta.stop_delivery. replace: a second '
    'delivery sends this content under the same collapse id or tag. remove: it asks our SDKs to remove the notification. Both go to those '
    'who may have seen the message and have not opened it. Returns the id of the second delivery. pushmta.recall_report shows what '
    'happened. Once the second delivery has ended, the delivery can be recalled again. The recall of a run pauses its recurrence.';

CREATE FUNCTION pushmta_engine.refuse_unlisted(delivery bigint) RETURNS void LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    recalled bigint := (SELECT r.delivery_id FROM recall r WHERE r.child_id = delivery AND r.listed_at IS NULL);
BEGIN
    IF recalled IS NOT NULL THEN
        RAISE EXCEPTION 'Delivery % recalls delivery %: it starts by itself, once all outcomes of that one are stored.', delivery, recalled
            USING ERRCODE = 'PM008', HINT = 'pushmta.recall_report shows how many are pending; pushmta.stop_delivery gives it up.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_unlisted(bigint) IS
    'Raises an error for the second delivery of a recall until its targets are listed: until then only the recall may start it.';

CREATE FUNCTION pushmta_engine.refuse_recall_change(delivery bigint) RETURNS void LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    recalled bigint := (SELECT r.delivery_id FROM recall r WHERE r.child_id = delivery);
BEGIN
    IF recalled IS NOT NULL AND present_duty() <> 'recall ' || delivery THEN
        RAISE EXCEPTION 'Delivery % recalls delivery % and cannot be changed: stop it before it begins, and recall that one again.',
            delivery, recalled
            USING ERRCODE = 'PM185', HINT = 'pushmta.stop_delivery stops it; pushmta.recall_delivery recalls.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_recall_change(bigint) IS
    'Raises an error for the second delivery of a recall: it goes to those who got the recalled one, at any hour and past all limits, so '
    'only the recall says to whom and with what content. It can be paused and stopped.';

CREATE FUNCTION pushmta_engine.begin_recall(child bigint) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    -- A text is subject to the approvals of its service: the delivery is then counted, and waits.
    UPDATE pushmta_engine.delivery d SET state = 'pending', start_at = now(), log_day = message_day(), valid_until = now() + d.validity,
        gate = CASE WHEN is_gated(d.id) THEN uncounted() ELSE '' END, changed_at = now()
    WHERE d.id = child AND d.state = 'editing';
    PERFORM pg_notify('pushmta_wake', child::text);
END $$;
COMMENT ON FUNCTION pushmta_engine.begin_recall(bigint) IS 'Starts the delivery of a recall whose targets are listed.';

CREATE FUNCTION pushmta_engine.list_recalled(most integer) RETURNS integer LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
DECLARE
    due record;
    parts bigint[];
    day date;
BEGIN
    -- Somebody has stopped it.
    UPDATE recall r SET listed_at = clock_timestamp() WHERE r.delivery_id = ANY(ARRAY(SELECT x.delivery_id FROM recall x
        JOIN delivery c ON c.id = x.child_id
        WHERE x.child_id IS NOT NULL AND x.listed_at IS NULL AND c.state IN ('finished', 'stopped', 'recalled')
        FOR UPDATE OF x SKIP LOCKED));
    -- The last outcome must be stored: a message on the wire may have been seen. A session that changes the second delivery goes first.
    SELECT r.delivery_id, r.child_id, r.listed_through, d.log_day INTO due
    FROM recall r JOIN delivery d ON d.id = r.delivery_id JOIN delivery c ON c.id = r.child_id AND c.state = 'editing'
    WHERE r.child_id IS NOT NULL AND r.listed_at IS NULL AND d.finished_at IS NOT NULL
        -- A message of an earlier second delivery must not arrive after the new one.
        AND NOT EXISTS (SELECT FROM delivery e WHERE e.id = ANY(r.earlier_ids) AND e.finished_at IS NULL)
    ORDER BY r.recalled_at LIMIT 1 FOR UPDATE OF r, c SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    day := due.log_day;
    parts := ARRAY(SELECT p.id FROM delivery_part p WHERE p.delivery_id = due.delivery_id AND p.id > due.listed_through
        ORDER BY p.delivery_id, p.id LIMIT most);
    PERFORM set_config('pushmta.duty', 'recall ' || due.child_id, true);
    INSERT INTO pushmta.delivery_target (delivery_id, subscription_id, variables)
    SELECT due.child_id, u.subscription_id, v.variables
    FROM delivery_part p
    JOIN delivery_application x ON x.delivery_id = due.child_id AND x.application_id = p.application_id
    JOIN delivery_part_target t ON t.log_day = day AND t.part_id = p.id
    CROSS JOIN LATERAL unnest(t.subscription_ids, t.target_ids) WITH ORDINALITY u(subscription_id, target_id, place)
    CROSS JOIN LATERAL (SELECT coalesce(t.sequences[u.place], t.first_sequence + u.place::integer - 1) AS sequence) n
    JOIN broad_log b ON b.log_day = day AND b.delivery_id = due.delivery_id AND b.sequence = n.sequence AND b.status IN (1, 9)
    LEFT JOIN pushmta.delivery_target v ON v.id = u.target_id
    -- Messages that were tried again are in their first part, too.
    WHERE p.id = ANY(parts) AND p.parent_part_id IS NULL AND NOT EXISTS (SELECT FROM tracking_log k
        WHERE k.log_day = day AND k.delivery_id = due.delivery_id AND k.sequence = n.sequence AND k.kind = 2 AND k.first)
    ORDER BY p.id, u.place;
    PERFORM set_config('pushmta.duty', '', true);
    UPDATE recall r SET listed_through = coalesce(parts[cardinality(parts)], r.listed_through),
        listed_at = CASE WHEN cardinality(parts) < most THEN clock_timestamp() END,
        listed = CASE WHEN cardinality(parts) < most
            THEN (SELECT count(*) FROM pushmta.delivery_target t WHERE t.delivery_id = due.child_id) END
    WHERE r.delivery_id = due.delivery_id;
    IF cardinality(parts) < most THEN
        PERFORM begin_recall(due.child_id);
    END IF;
    RETURN greatest(cardinality(parts), 1);
END $$;
COMMENT ON FUNCTION pushmta_engine.list_recalled(integer) IS
    'Lists the messages of up to this many parts of a recalled delivery that people may have seen and have not opened, as the targets of '
    'the delivery that replaces or removes them, and starts that delivery after the last part. Any number of hosts may call it; it never '
    'waits. Returns 0 if there was nothing to do.';

CREATE VIEW pushmta.recall_report AS
SELECT r.delivery_id, p.label, r.mode, r.reason, pushmta_engine.login_text(r.kind, r.name) AS recalled_by, r.recalled_at,
    r.child_id AS recall_delivery_id, c.state AS recall_state, p.target, p.pending,
    p.target - p.pending - p.sent - p.unknown AS unsent, x.replaced, x.removed, u.unreached,
    p.sent + p.unknown - x.replaced - x.removed - u.unreached AS too_late, r.given_up_by
FROM pushmta_engine.recall r
JOIN pushmta.delivery_progress p ON p.id = r.delivery_id
LEFT JOIN pushmta.delivery_progress c ON c.id = r.child_id
CROSS JOIN LATERAL (SELECT CASE r.mode WHEN 'replace' THEN coalesce(c.sent, 0) ELSE 0 END AS replaced,
    CASE r.mode WHEN 'remove' THEN coalesce(r.removed, (SELECT count(*) FROM pushmta_engine.delivery d
        JOIN pushmta_engine.tracking_log t ON t.log_day = d.log_day AND t.delivery_id = d.id AND t.kind = 3 AND t.first
        JOIN pushmta_engine.broad_log b ON b.log_day = d.log_day AND b.delivery_id = d.id AND b.sequence = t.sequence AND b.status IN (1, 9)
        WHERE d.id = r.delivery_id)
        -- A removed replacement stood for a message that the device has not removed itself.
        + (SELECT count(DISTINCT b.subscription_id) FROM pushmta_engine.delivery e
        JOIN pushmta_engine.tracking_log t ON t.log_day = e.log_day AND t.delivery_id = e.id AND t.kind = 3 AND t.first
        JOIN pushmta_engine.broad_log b ON b.log_day = e.log_day AND b.delivery_id = e.id AND b.sequence = t.sequence AND b.status IN (1, 9)
        WHERE e.id = ANY(r.earlier_ids) AND NOT EXISTS (SELECT FROM pushmta_engine.delivery d
            JOIN pushmta_engine.tracking_log o ON o.log_day = d.log_day AND o.delivery_id = d.id AND o.kind = 3 AND o.first
            WHERE d.id = r.delivery_id AND o.subscription_id = b.subscription_id))) ELSE 0 END AS removed
    -- Counted once, not for each column.
    OFFSET 0) x
CROSS JOIN LATERAL (SELECT CASE WHEN r.child_id IS NULL THEN 0
        WHEN c.prepared THEN c.pending + CASE c.state WHEN 'stopped' THEN c.canceled ELSE 0 END
        -- Its messages are not made, or no more. Before they are listed: those of its applications that nobody has opened.
        ELSE coalesce(r.listed, (SELECT sum(s.sent + s.unknown + CASE s.rest_status WHEN 9 THEN s.size - s.handed_over - s.sent - s.failed
                - s.ignored - s.not_applicable - s.canceled - s.unknown ELSE 0 END)::bigint FROM pushmta_engine.delivery_part s
            JOIN pushmta_engine.delivery_application a ON a.delivery_id = r.child_id AND a.application_id = s.application_id
            WHERE s.delivery_id = r.delivery_id) - (SELECT count(*) FROM pushmta_engine.delivery d
            JOIN pushmta_engine.tracking_log t ON t.log_day = d.log_day AND t.delivery_id = d.id AND t.kind = 2 AND t.first
            JOIN pushmta_engine.broad_log b ON b.log_day = d.log_day AND b.delivery_id = d.id AND b.sequence = t.sequence
                AND b.status IN (1, 9)
            JOIN pushmta_engine.delivery_part s ON s.id = b.part_id
            JOIN pushmta_engine.delivery_application a ON a.delivery_id = r.child_id AND a.application_id = s.application_id
            WHERE d.id = r.delivery_id), 0) - c.sent END AS n
    OFFSET 0) w
CROSS JOIN LATERAL (SELECT greatest(least(w.n, p.sent + p.unknown - x.replaced - x.removed), 0) AS unreached) u;
COMMENT ON VIEW pushmta.recall_report IS
    'What became of the messages of recalled deliveries, counted from their outcomes: target = pending + unsent + replaced + removed + '
    'unreached + too_late. pending: without an outcome yet. unsent: stopped, failed or left out before they could be seen. replaced: the '
    'gateway took the second message. removed: the device said so. unreached: the second message has not left; it never will if the '
    'second delivery was stopped, and there are none once it is finished. too_late: all others that may have been seen. given_up_by: who '
    'stopped the second delivery; empty if nobody did. After another recall, the second delivery is the present one.';

CREATE FUNCTION pushmta_engine.keep_removed(day date) RETURNS void LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
    UPDATE recall r SET removed = CASE r.mode WHEN 'remove' THEN p.removed END, listed = coalesce(r.listed, p.unreached)
    FROM pushmta_engine.delivery d, pushmta.recall_report p
    WHERE d.id = r.delivery_id AND d.log_day = keep_removed.day AND p.delivery_id = r.delivery_id
        AND (r.mode = 'remove' AND r.removed IS NULL OR r.child_id IS NOT NULL AND r.listed IS NULL) $$;
COMMENT ON FUNCTION pushmta_engine.keep_removed(date) IS
    'Keeps how many messages of recalled deliveries of a day were removed, and how many the second delivery would have reached that was '
    'stopped before they were listed, before the logs that say so are deleted.';

CREATE FUNCTION pushmta_engine.recall_of(wanted bigint) RETURNS SETOF pushmta.recall_report
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
    SELECT r.* FROM pushmta.recall_report r WHERE r.delivery_id = wanted $$;
COMMENT ON FUNCTION pushmta_engine.recall_of(bigint) IS 'The report of one recalled delivery, as API and console show it.';

CREATE FUNCTION pushmta_engine.recalled_by(child bigint) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
    SELECT r.delivery_id FROM recall r WHERE r.child_id = recalled_by.child OR r.earlier_ids @> ARRAY[recalled_by.child] $$;
COMMENT ON FUNCTION pushmta_engine.recalled_by(bigint) IS
    'The delivery whose messages this one replaces or removes, has replaced or removed, or would have if it had not been given up; null if '
    'it is no recall.';

CREATE FUNCTION pushmta_engine.console_recall(caller pushmta_engine.console_caller, delivery bigint, reason text, mode text, content text)
    RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_user_of(caller, ARRAY['marketing', 'operate', 'admin']);
BEGIN
    IF NOT 'recall' = ANY(console_actions(caller, delivery)) THEN
        -- Raises the error for an insufficient role.
        PERFORM console_user_of(caller, ARRAY['operate', 'admin']);
    END IF;
    -- First, so that it is not logged again under the console's login.
    PERFORM note_audit(who, 'delivery.recall', delivery::text, concat_ws(': ', mode, reason), caller.address);
    RETURN pushmta.recall_delivery(delivery, reason, mode, content);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_recall(pushmta_engine.console_caller, bigint, text, text, text) IS
    'Does what pushmta.recall_delivery does, for a signed-in user who may stop the delivery.';
