-- Changes of a delivery that has sent nothing: edit it, copy it, move its start.

CREATE FUNCTION pushmta_engine.open_for_change(delivery bigint) RETURNS text LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
BEGIN
    PERFORM refuse_day(delivery);
    PERFORM refuse_recall_change(delivery);
    IF found_state IN ('editing', 'analysing', 'ready', 'pending')
        OR found_state = 'paused' AND (SELECT d.started_at IS NULL FROM pushmta_engine.delivery d WHERE d.id = delivery) THEN
        RETURN found_state;
    END IF;
    RAISE EXCEPTION 'Delivery % is % and can no longer be changed.', delivery, found_state
        USING ERRCODE = 'PM006', HINT = 'Change a copy of it: pushmta.copy_delivery makes one.';
END $$;
COMMENT ON FUNCTION pushmta_engine.open_for_change(bigint) IS
    'Locks a delivery that has sent nothing, and returns its state. Refuses any other.';

CREATE FUNCTION pushmta_engine.keep_content(delivery bigint, label text, content text) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    document jsonb := content_document(label, content);
    problems pushmta_engine.input_problem[] := ARRAY(SELECT p FROM content_problems(document,
        ARRAY(SELECT DISTINCT a.platform FROM delivery_application x JOIN application a ON a.id = x.application_id
            WHERE x.delivery_id = delivery)) p);
BEGIN
    IF cardinality(problems) > 0 THEN
        PERFORM refuse_content(label, problems);
    END IF;
    UPDATE pushmta_engine.delivery d SET content = document WHERE d.id = delivery;
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_content(bigint, text, text) IS 'Sets the content of a locked delivery that may be changed.';

CREATE FUNCTION pushmta_engine.require_end(delivery bigint, ends_at timestamptz) RETURNS void LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    IF ends_at IS NULL THEN
        RETURN;
    ELSIF EXISTS (SELECT FROM pushmta_engine.delivery d WHERE d.id = delivery AND (d.kind = 'continuous' OR d.proof)) THEN
        RAISE EXCEPTION 'Delivery % is continuous or a proof, and has no end of its own.', delivery
            USING ERRCODE = 'PM007', HINT = 'Give validity: how long each message may be sent.';
    ELSIF NOT is_usable_moment(ends_at) OR ends_at <= clock_timestamp() THEN
        RAISE EXCEPTION 'Delivery % cannot end at %: that is not in the future, or after the year 2999.', delivery, ends_at
            USING ERRCODE = 'PM009', HINT = 'Give a later time, with its zone, as in 2026-11-24 18:00+01.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.require_end(bigint, timestamptz) IS 'Refuses an end that a delivery cannot have; null is none.';

CREATE FUNCTION pushmta.update_delivery(
    delivery bigint, label text DEFAULT NULL, content text DEFAULT NULL, filter text DEFAULT NULL, exclude text[] DEFAULT NULL,
    priority integer DEFAULT NULL, validity interval DEFAULT NULL, ends_at timestamptz DEFAULT NULL, one_per_user boolean DEFAULT NULL,
    ambiguity_policy text DEFAULT NULL, max_retries integer DEFAULT NULL, retry_period_seconds integer DEFAULT NULL,
    retry_schedule text DEFAULT NULL, category text DEFAULT NULL, audience text DEFAULT NULL
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := open_for_change(delivery);
    name text := coalesce(label, (SELECT d.label FROM pushmta_engine.delivery d WHERE d.id = delivery));
    given jsonb := given_settings(name, priority, validity, NULL, one_per_user, ambiguity_policy, max_retries, retry_period_seconds,
        retry_schedule, NULL) || given_category(category);
BEGIN
    IF label IS NOT NULL THEN
        PERFORM require_label('delivery', label, 'PM007');
    END IF;
    PERFORM require_settings(format('Delivery "%s"', name), default_settings() || given);
    IF validity IS NOT NULL AND ends_at IS NOT NULL THEN
        RAISE EXCEPTION 'Delivery % has both a validity and an end.', delivery
            USING ERRCODE = 'PM007', HINT = 'Give either validity or ends_at.';
    END IF;
    PERFORM require_end(delivery, ends_at);
    -- The messages that were prepared are no longer what it sends.
    IF num_nonnulls(content, filter, exclude, priority, one_per_user, category, audience) > 0 THEN
        PERFORM drop_analysis(delivery, 'its content, target or settings were changed');
        UPDATE pushmta_engine.delivery d SET state = CASE WHEN found_state IN ('analysing', 'ready') THEN 'editing' ELSE d.state END,
            log_day = CASE WHEN found_state IN ('analysing', 'ready') THEN NULL ELSE d.log_day END
        WHERE d.id = delivery;
    END IF;
    IF content IS NOT NULL THEN
        PERFORM keep_content(delivery, name, content);
    END IF;
    IF filter IS NOT NULL OR exclude IS NOT NULL THEN
        PERFORM keep_target(delivery, filter, exclude, NULL);
    END IF;
    PERFORM use_audience(delivery, filter, audience);
    IF category IS NOT NULL THEN
        PERFORM keep_category(delivery, name, category);
    END IF;
    UPDATE pushmta_engine.delivery d SET label = name, priority = coalesce(s.priority, d.priority),
        validity = coalesce(update_delivery.validity, d.validity),
        ends_at = CASE WHEN update_delivery.validity IS NULL THEN coalesce(update_delivery.ends_at, d.ends_at) END,
        one_per_user = coalesce(s.one_per_user, d.one_per_user), ambiguity_policy = coalesce(s.ambiguity_policy, d.ambiguity_policy),
        max_retries = coalesce(s.max_retries, d.max_retries),
        retry_period_seconds = coalesce(s.retry_period_seconds, d.retry_period_seconds),
        retry_schedule = coalesce(s.retry_schedule, d.retry_schedule), changed_at = now(),
        -- The draft that it was made from says something else.
        draft = NULL
    FROM jsonb_to_record(given) AS s(priority numeric, one_per_user boolean, ambiguity_policy text, max_retries numeric,
        retry_period_seconds numeric, retry_schedule text)
    WHERE d.id = delivery;
    UPDATE pushmta_engine.delivery d SET valid_until = end_of(d, d.start_at) WHERE d.id = delivery AND d.start_at IS NOT NULL;
    PERFORM check_plan_again(delivery);
    PERFORM check_recurring_plan(delivery);
    UPDATE console_draft c SET delivery_id = NULL, delivery_version = NULL WHERE c.delivery_id = delivery;
    PERFORM close_gate(delivery);
    PERFORM note_change('delivery.change', delivery::text, name);
END $$;
COMMENT ON FUNCTION pushmta.update_delivery(
    bigint, text, text, text, text[], integer, interval, timestamptz, boolean, text, integer, integer, text, text, text) IS
    'Changes a delivery that has sent nothing. A null leaves a value unchanged; an empty filter removes it; a saved audience '
    'gives it a copy of its filter. The validity is a length (validity) or a moment (ends_at). An analysis is dropped if its '
    'messages change.';

CREATE FUNCTION pushmta_engine.duplicate_delivery(delivery bigint, label text, recurring bigint DEFAULT NULL) RETURNS bigint
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    made bigint;
BEGIN
    INSERT INTO delivery (label, kind, content, target_kind, target_filter, target_sql, one_per_user, allow_duplicates,
        category_id, seed_names, priority, weight, validity, ends_at, ambiguity_policy, max_retries, retry_period_seconds,
        retry_schedule, target_audience, recurrence_of, copied_from, created_by, started_by)
    SELECT coalesce(duplicate_delivery.label, d.label), d.kind, d.content, d.target_kind, d.target_filter, d.target_sql, d.one_per_user,
        d.allow_duplicates, d.category_id, d.seed_names, d.priority, d.weight, d.validity,
        CASE WHEN d.ends_at > now() THEN d.ends_at END, d.ambiguity_policy, d.max_retries, d.retry_period_seconds,
        d.retry_schedule, d.target_audience, recurring, CASE WHEN recurring IS NULL THEN d.id END,
        CASE WHEN recurring IS NULL THEN session_user ELSE d.created_by END,
        CASE WHEN recurring IS NULL THEN '' ELSE d.started_by END
    FROM pushmta_engine.delivery d WHERE d.id = delivery
    RETURNING id INTO made;
    IF made IS NULL THEN
        RAISE EXCEPTION 'There is no delivery %.', delivery
            USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them.';
    END IF;
    INSERT INTO delivery_application (delivery_id, application_id, external_account_id)
    SELECT made, x.application_id, x.external_account_id FROM delivery_application x WHERE x.delivery_id = delivery;
    INSERT INTO delivery_exclusion_list (delivery_id, list_id)
    SELECT made, x.list_id FROM delivery_exclusion_list x WHERE x.delivery_id = delivery;
    INSERT INTO pushmta.delivery_exclusion (delivery_id, subscription_id, user_key, push_token)
    SELECT made, x.subscription_id, x.user_key, x.push_token FROM pushmta.delivery_exclusion x WHERE x.delivery_id = delivery;
    INSERT INTO pushmta.delivery_target (delivery_id, subscription_id, user_key, push_token, variables)
    SELECT made, t.subscription_id, t.user_key, t.push_token, t.variables
    FROM pushmta.delivery_target t WHERE t.delivery_id = delivery ORDER BY t.id;
    -- A moment that has passed is not copied: its wave then begins after the one before.
    INSERT INTO delivery_plan (delivery_id, local_time, on_past, hours)
    SELECT made, p.local_time, p.on_past, p.hours FROM delivery_plan p WHERE p.delivery_id = delivery;
    INSERT INTO delivery_wave (delivery_id, number, share, size, starts_at, starts_after, max_failed, max_token_errors, max_opt_outs)
    SELECT made, w.number, w.share, w.size, CASE WHEN w.starts_at > now() THEN w.starts_at END, w.starts_after, w.max_failed,
        w.max_token_errors, w.max_opt_outs
    FROM delivery_wave w WHERE w.delivery_id = delivery;
    INSERT INTO experiment (delivery_id, metric, decide_after, early, least_sample, hold_out, if_undecided, certainty)
    SELECT made, e.metric, e.decide_after, e.early, e.least_sample, e.hold_out, e.if_undecided, e.certainty FROM experiment e
    WHERE e.delivery_id = delivery;
    INSERT INTO experiment_cell (delivery_id, cell, label, share, content)
    SELECT made, c.cell, c.label, c.share, c.content FROM experiment_cell c WHERE c.delivery_id = delivery;
    INSERT INTO rate_limit (delivery_id, messages_per_second, start_rate)
    SELECT made, r.messages_per_second, r.messages_per_second FROM rate_limit r
    WHERE r.delivery_id = delivery AND NOT EXISTS (SELECT FROM delivery_signal f WHERE f.delivery_id = delivery);
    PERFORM keep_signal(made, s.name, f.target, f.floor, f.ceiling)
    FROM delivery_signal f JOIN health_signal s ON s.id = f.signal_id WHERE f.delivery_id = delivery;
    -- Who made what recurs has made its runs.
    INSERT INTO delivery_maker (delivery_id, kind, name) SELECT made, m.kind, m.name FROM delivery_maker m WHERE m.delivery_id = recurring;
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta_engine.duplicate_delivery(bigint, text, bigint) IS
    'Copies a delivery, as a run of the recurring one if that is given, and returns the copy''s id. The caller has checked who asks.';

CREATE FUNCTION pushmta.copy_delivery(delivery bigint, label text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    PERFORM refuse_day(delivery);
    IF label IS NOT NULL THEN
        PERFORM require_label('delivery', label, 'PM007');
    END IF;
    IF EXISTS (SELECT FROM pushmta_engine.delivery d WHERE d.id = copy_delivery.delivery AND (d.proof
        OR d.target_sql IS NOT NULL AND NOT pg_has_role(session_user, 'pushmta_raw_sql', 'MEMBER'))) THEN
        RAISE EXCEPTION 'Delivery % is a proof, or has a condition in SQL that only members of pushmta_raw_sql may copy.', delivery
            USING ERRCODE = 'PM007', HINT = 'Copy the delivery that the proof is of, or ask a member of the role.';
    END IF;
    RETURN duplicate_delivery(delivery, label);
END $$;
COMMENT ON FUNCTION pushmta.copy_delivery(bigint, text) IS
    'Makes a delivery with the content, target, settings and rate of another one, whatever its state, and returns its id. Targets and '
    'exclusions are copied as far as they are still kept, and a fixed end if it is not over. Whether it carries one-time codes is not: see '
    'pushmta.set_one_time_code.';

CREATE FUNCTION pushmta_engine.copy_source(wanted bigint) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
    SELECT o.id FROM pushmta_engine.delivery d JOIN pushmta_engine.delivery o ON o.id = d.copied_from WHERE d.id = wanted $$;
COMMENT ON FUNCTION pushmta_engine.copy_source(bigint) IS
    'The delivery that another one was copied from; null if it is no copy, or its original is gone.';

CREATE FUNCTION pushmta.reschedule_delivery(delivery bigint, start_at timestamptz) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := open_for_change(delivery);
    begins timestamptz := start_moment(delivery, start_at);
    is_frozen boolean;
BEGIN
    IF start_at IS NULL THEN
        PERFORM drop_preparation(delivery);
        PERFORM return_draft(delivery);
        UPDATE pushmta_engine.delivery d SET state = 'editing', state_reason = '', start_at = NULL, valid_until = NULL, log_day = NULL,
            wait_reason = '', wait_failures = 0, wait_until = NULL, paused_by = '', changed_at = now()
        WHERE d.id = delivery;
    ELSIF found_state NOT IN ('pending', 'paused') THEN
        RAISE EXCEPTION 'Delivery % is % and has no start to move.', delivery, found_state
            USING ERRCODE = 'PM008', HINT = 'Give it one with pushmta.start_delivery.';
    ELSE
        is_frozen := keep_analysis(delivery, begins);
        UPDATE pushmta_engine.delivery d SET start_at = begins, valid_until = end_of(d, begins), wait_reason = '', wait_failures = 0,
            wait_until = NULL, changed_at = now(), starts_approved = false,
            log_day = CASE WHEN is_frozen THEN d.log_day ELSE (begins AT TIME ZONE 'UTC')::date END
        WHERE d.id = delivery;
        PERFORM close_gate(delivery);
        PERFORM check_plan(delivery, begins, (SELECT d.valid_until FROM pushmta_engine.delivery d WHERE d.id = delivery));
    END IF;
    IF NOT is_audited('delivery', 'reschedule', delivery::text, '') THEN
        PERFORM note_change('delivery.reschedule', delivery::text, coalesce(start_at::text, 'editing'));
    END IF;
    PERFORM pg_notify('pushmta_wake', delivery::text);
END $$;
COMMENT ON FUNCTION pushmta.reschedule_delivery(bigint, timestamptz) IS
    'Moves the start of a delivery that has sent nothing, earlier or later; null makes it editing again, and a draft of the console '
    'that it came from is its author''s again.';
