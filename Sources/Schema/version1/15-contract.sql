-- The contract with which marketing systems and monitoring make deliveries and watch them.

CREATE VIEW pushmta_engine.obstacle AS
SELECT t.application_id, t.external_account_id, a.name AS application, e.name AS account,
    format('The gateway of account %s has accepted nothing from application %s since %s (%s): its messages wait and lose no attempts, '
        'and sending resumes when a probe is accepted.', e.name, a.name,
        to_char(t.began_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'), t.reason) AS words
FROM pushmta_engine.gateway_trouble t
JOIN pushmta_engine.application a ON a.id = t.application_id
JOIN pushmta_engine.external_account e ON e.id = t.external_account_id
WHERE t.state = 'trouble'
UNION ALL
SELECT a.id, NULL, a.name, '', format('The circuit of application %s is open: its messages wait until a probe is accepted.', a.name)
FROM pushmta_engine.application_health h
JOIN pushmta_engine.application a ON a.id = h.application_id
WHERE h.state <> 'closed'
UNION ALL
SELECT NULL, e.id, '', e.name, format('External account %s is not active: messages wait until it is.', e.name)
FROM pushmta_engine.external_account e WHERE NOT e.active;
COMMENT ON VIEW pushmta_engine.obstacle IS
    'What prevents messages of an application over an account from being sent now, in words: the gateway''s trouble, an open circuit '
    '(for every account), an inactive account (for every application).';

CREATE VIEW pushmta.delivery_progress AS
SELECT d.id, d.label, d.kind, d.state, d.state_reason, d.priority,
    CASE WHEN d.kind = 'continuous' THEN coalesce(c.made, 0) + coalesce(u.made, 0) ELSE d.target END AS target, d.excluded,
    coalesce(c.pending, 0) AS pending, coalesce(c.sent, 0) + coalesce(u.sent, 0) AS sent,
    coalesce(c.failed, 0) + coalesce(u.failed, 0) AS failed, coalesce(c.ignored, 0) + coalesce(u.ignored, 0) AS ignored,
    coalesce(c.not_applicable, 0) + coalesce(u.not_applicable, 0) AS not_applicable,
    coalesce(c.canceled, 0) + coalesce(u.canceled, 0) AS canceled, coalesce(c.unknown, 0) + coalesce(u.unknown, 0) AS unknown,
    coalesce(c.late_outcomes, 0) + coalesce(u.late_outcomes, 0) AS late_outcomes,
    coalesce(c.resent_after_ambiguity, 0) + coalesce(u.resent_after_ambiguity, 0) AS resent_after_ambiguity,
    coalesce(c.journal_replayed, 0) + coalesce(u.journal_replayed, 0) AS journal_replayed,
    coalesce(c.parts_ready, 0) AS parts_ready, coalesce(c.parts_claimed, 0) AS parts_claimed,
    coalesce(c.parts_waiting, 0) AS parts_waiting, coalesce(c.parts_done, 0) + coalesce(u.parts, 0) AS parts_done, d.prepared,
    d.created_at, CASE WHEN NOT d.starts_approved THEN d.start_at END AS start_at, d.started_at, d.finished_at,
    CASE WHEN NOT d.starts_approved THEN d.valid_until END AS valid_until, now() AS snapshot_at,
    CASE WHEN d.kind = 'continuous' THEN d.parent_delivery_id END AS parent_delivery_id, d.proof,
    CASE WHEN d.state IN ('analysing', 'pending', 'preparing') AND d.wait_reason <> '' THEN d.wait_reason
        WHEN d.state = 'pending' AND d.gate <> '' AND (d.analysed OR d.start_at <= now()) THEN d.gate
        WHEN c.load_error IS NOT NULL THEN c.load_error
        WHEN d.state IN ('preparing', 'in_progress') THEN coalesce((
            SELECT string_agg(o.words, ' ' ORDER BY o.application, o.account) FROM pushmta_engine.obstacle o
            -- The messages of a continuous delivery are those of its days.
            WHERE EXISTS (SELECT FROM pushmta_engine.delivery_part w
                WHERE w.delivery_id = ANY(ARRAY(SELECT d.id UNION ALL SELECT y.id FROM pushmta_engine.delivery y
                    WHERE d.kind = 'continuous' AND y.kind = 'continuous' AND y.parent_delivery_id = d.id AND y.state = 'in_progress'))
                AND w.state <> 'done'
                AND (w.application_id = o.application_id OR o.application_id IS NULL)
                AND (w.external_account_id = o.external_account_id OR o.external_account_id IS NULL))), (
            SELECT string_agg(format('Some of its messages to application %s wait for a credential stored with the gateway of '
                'account %s (%s); all others continue.', a.name, e.name, w.reason), ' ' ORDER BY a.name, e.name, w.reason)
            FROM pushmta_engine.credential_wait w
            JOIN pushmta_engine.application a ON a.id = w.application_id
            JOIN pushmta_engine.external_account e ON e.id = w.external_account_id
            WHERE EXISTS (SELECT FROM pushmta_engine.delivery_part p WHERE p.application_id = w.application_id
                AND p.external_account_id = w.external_account_id AND p.waits_for = w.reason AND p.state <> 'done'
                AND p.delivery_id = d.id)), '')
        ELSE '' END AS waiting_reason,
    -- Whether it also goes to subscribers who opted out.
    d.one_time_code,
    -- How many of its messages went to seed addresses in addition to the target.
    d.seeds, (SELECT k.name FROM pushmta_engine.category k WHERE k.id = d.category_id) AS category,
    -- Since when lists leave it out.
    d.archived_at,
    d.copied_from,
    -- With priority and id the order in which deliveries are served, also of those whose start is not known yet.
    d.start_at AS served_from
FROM pushmta_engine.delivery d
LEFT JOIN pushmta_engine.delivery_sum u ON u.delivery_id = d.id
LEFT JOIN LATERAL (
    SELECT sum(p.size - p.handed_over)::bigint AS made, sum(CASE WHEN p.state <> 'done' THEN r.rest END)::bigint AS pending,
        sum(p.sent)::bigint AS sent,
        sum(p.failed + CASE WHEN p.rest_status = 2 THEN r.rest ELSE 0 END)::bigint AS failed,
        sum(p.ignored + CASE WHEN p.rest_status = 0 THEN r.rest ELSE 0 END)::bigint AS ignored,
        sum(p.not_applicable + CASE WHEN p.rest_status = 8 THEN r.rest ELSE 0 END)::bigint AS not_applicable,
        sum(p.canceled + CASE WHEN p.rest_status = 7 THEN r.rest ELSE 0 END)::bigint AS canceled,
        sum(p.unknown + CASE WHEN p.rest_status = 9 THEN r.rest ELSE 0 END)::bigint AS unknown,
        sum(p.late_outcomes)::bigint AS late_outcomes, sum(p.resent_after_ambiguity)::bigint AS resent_after_ambiguity,
        sum(p.journal_replayed)::bigint AS journal_replayed,
        count(*) FILTER (WHERE p.state = 'ready' AND p.not_before <= now()) AS parts_ready,
        count(*) FILTER (WHERE p.state = 'claimed') AS parts_claimed,
        count(*) FILTER (WHERE p.state IN ('planned', 'waiting') OR p.state = 'ready' AND p.not_before > now()) AS parts_waiting,
        count(*) FILTER (WHERE p.state = 'done') AS parts_done,
        -- A part with a dispatch mark has been loaded.
        max(p.load_error) FILTER (WHERE p.load_failures > 0 AND p.state <> 'done' AND p.dispatch_mark = 0) AS load_error
    FROM pushmta_engine.open_part p
    CROSS JOIN LATERAL (SELECT p.size - p.handed_over - p.sent - p.failed - p.ignored - p.not_applicable - p.canceled
        - p.unknown AS rest) r
    WHERE p.delivery_id = d.id
) c ON true;
COMMENT ON VIEW pushmta.delivery_progress IS
    'A delivery''s counts, from its open parts and the sums of its counted ones, in the statement''s snapshot; and what it waits for. '
    'target = pending + sent + failed + ignored + not_applicable + canceled + unknown. parts_done counts all parts that ended, whether '
    'or not they were summed up since.';

CREATE TABLE pushmta_engine.delivery_refusal (
    delivery_id bigint NOT NULL,
    first_at timestamptz NOT NULL DEFAULT now(),
    reason text NOT NULL,
    words text NOT NULL,
    PRIMARY KEY (delivery_id, reason, words)
);
COMMENT ON TABLE pushmta_engine.delivery_refusal IS
    'How gateways explained final refusals of a delivery''s messages, such as the field that they reject: each text once, at most 20 for '
    'a delivery.';
CREATE INDEX delivery_refusal_age ON pushmta_engine.delivery_refusal (first_at);

CREATE VIEW pushmta.delivery_refusal AS
SELECT r.delivery_id, r.reason, r.words, r.first_at FROM pushmta_engine.delivery_refusal r;
COMMENT ON VIEW pushmta.delivery_refusal IS
    'How gateways explained final refusals of a delivery''s messages: each text once, without its quotes from a message. Those of a '
    'continuous delivery are listed under its days.';

CREATE FUNCTION pushmta.delivery_status(delivery bigint) RETURNS SETOF pushmta.delivery_progress
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT * FROM pushmta.delivery_progress p WHERE p.id = delivery;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no delivery %.', delivery
            USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta.delivery_status(bigint) IS
    'A delivery''s row of pushmta.delivery_progress; an error if there is no such delivery.';

-- The days of continuous deliveries, with their counts.
CREATE VIEW pushmta.delivery_day AS
SELECT d.parent_delivery_id AS delivery_id, p.id AS day_id, d.log_day, p.state, p.target, p.pending, p.sent, p.failed, p.ignored,
    p.not_applicable, p.canceled, p.unknown, p.started_at, p.finished_at, p.waiting_reason
FROM pushmta_engine.delivery d
JOIN pushmta.delivery_progress p ON p.id = d.id
WHERE d.kind = 'continuous' AND d.parent_delivery_id IS NOT NULL;
COMMENT ON VIEW pushmta.delivery_day IS
    'A continuous delivery''s messages belong to a delivery for their day (UTC), which ends once the next day has begun.';

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
COMMENT ON VIEW pushmta.ambiguous_message IS
    'Messages that a gateway may have received without a known answer, as far as recorded; if one of them was sent twice, this is why. '
    'If a journal was lost, every message that may have left is listed.';

CREATE VIEW pushmta.exclusion_log AS
SELECT e.delivery_id, a.name AS application, e.reason, e.subscription_id, s.user_key, e.target_id,
    t.user_key AS target_user_key, pushmta_engine.token_hash(t.push_token) AS target_token_hash,
    right(t.push_token, 6) AS target_token_end, t.variables AS target_variables, e.logged_at
FROM pushmta_engine.delivery d
JOIN pushmta_engine.exclusion_log e ON e.log_day = d.log_day AND e.delivery_id = d.id
LEFT JOIN pushmta_engine.application a ON a.id = e.application_id
LEFT JOIN pushmta_engine.subscription s ON s.id = e.subscription_id
LEFT JOIN pushmta.delivery_target t ON t.id = e.target_id;
COMMENT ON VIEW pushmta.exclusion_log IS
    'Who was left out of a delivery at its preparation, and why. target_… is the row of pushmta.delivery_target that named the '
    'recipient; of its push token only the SHA-256 and the last six characters are shown.';

CREATE FUNCTION pushmta_engine.setting_problem(settings jsonb, OUT problem text, OUT remedy text) LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT format('%s: %s', coalesce(nullif(substr(p.pointer, 2), ''), 'settings'), p.problem), p.remedy
    FROM input_rule r, schema_problems(r.document, r.document, coalesce(setting_problem.settings, 'null'), '') p
    WHERE r.name = 'delivery' LIMIT 1 $$;
COMMENT ON FUNCTION pushmta_engine.setting_problem(jsonb) IS
    'The first problem of a delivery''s settings, and its remedy; nulls if there is none.';

CREATE FUNCTION pushmta_engine.require_settings(subject text, settings jsonb) RETURNS void LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    wrong record;
BEGIN
    SELECT p.* INTO wrong FROM setting_problem(settings) p;
    IF wrong.problem IS NOT NULL THEN
        RAISE EXCEPTION '%: %.', subject, wrong.problem USING ERRCODE = 'PM007', HINT = wrong.remedy;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.require_settings(text, jsonb) IS
    'Raises an error about the subject if one of these settings of a delivery has an invalid value.';

CREATE FUNCTION pushmta_engine.default_settings() RETURNS jsonb LANGUAGE sql STABLE SET search_path = pushmta_engine, pg_temp AS $$
    SELECT coalesce(jsonb_object_agg(p.key, p.value -> 'default'), '{}')
    FROM input_rule r, jsonb_each(r.document -> 'properties') p
    WHERE r.name = 'delivery' AND p.value ? 'default' $$;
COMMENT ON FUNCTION pushmta_engine.default_settings() IS 'The default settings of a delivery.';

CREATE FUNCTION pushmta_engine.interval_seconds(span interval) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    -- extract() counts a year as 365.25 days, comparisons count it as 360.
    RETURN ceil(extract(epoch FROM span) - 453600 * extract(year FROM span));
COMMENT ON FUNCTION pushmta_engine.interval_seconds(interval) IS
    'The seconds of a finite interval, rounded up, as PostgreSQL compares intervals: a month has 30 days.';

CREATE FUNCTION pushmta_engine.refuse_setting(subject text, setting text, value text) RETURNS void LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '%: %: % is out of range.', subject, setting, value
        USING ERRCODE = 'PM007', HINT = (SELECT r.document #>> ARRAY['properties', setting, '$comment'] FROM input_rule r
            WHERE r.name = 'delivery');
END $$;
COMMENT ON FUNCTION pushmta_engine.refuse_setting(text, text, text) IS
    'Raises an error about a setting whose value JSON cannot write: an infinite interval, or NaN.';

CREATE FUNCTION pushmta_engine.given_settings(
    label text, priority integer, validity interval, explicit_targets boolean, one_per_user boolean, ambiguity_policy text,
    max_retries integer, retry_period_seconds integer, retry_schedule text, messages_per_second double precision
) RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    subject CONSTANT text := format('Delivery "%s"', label);
BEGIN
    PERFORM require_rate(subject, messages_per_second);
    -- Years and days that cancel each other out. A long validity is refused by its seconds.
    IF NOT isfinite(validity) OR NOT is_usable_interval(validity) AND validity < interval '20 years' THEN
        PERFORM refuse_setting(subject, 'validity_seconds', validity::text);
    END IF;
    RETURN jsonb_strip_nulls(jsonb_build_object('priority', priority, 'validity_seconds', interval_seconds(validity),
        'explicit_targets', explicit_targets, 'one_per_user', one_per_user, 'ambiguity_policy', ambiguity_policy,
        'max_retries', max_retries, 'retry_period_seconds', retry_period_seconds, 'retry_schedule', retry_schedule,
        'messages_per_second', nullif(messages_per_second, 'Infinity')));
END $$;
COMMENT ON FUNCTION pushmta_engine.given_settings(
    text, integer, interval, boolean, boolean, text, integer, integer, text, double precision) IS
    'The settings that a caller gives a delivery: those that are not null. An infinite rate is no limit, so it is no setting.';

CREATE FUNCTION pushmta_engine.given_category(category text) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN category IS NULL THEN '{}'::jsonb ELSE jsonb_build_object('category', category) END;
COMMENT ON FUNCTION pushmta_engine.given_category(text) IS 'The setting of a category that a caller gives a delivery; none for a null.';

CREATE FUNCTION pushmta_engine.content_document(label text, content text) RETURNS jsonb LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    document jsonb;
BEGIN
    BEGIN
        document := content::jsonb;
    EXCEPTION WHEN invalid_text_representation OR untranslatable_character OR program_limit_exceeded THEN
        RAISE EXCEPTION 'The content of delivery "%" is not JSON: %', label, SQLERRM
            USING ERRCODE = 'PM004', HINT = 'Give an object such as {"ios": {"title": "Hello"}, "android": {"title": "Hello"}}.';
    END;
    IF document IS NULL OR jsonb_typeof(document) <> 'object' THEN
        RAISE EXCEPTION 'The content of delivery "%" is %, not a JSON object.', label, coalesce(jsonb_typeof(document), 'null')
            USING ERRCODE = 'PM004', HINT = 'Give an object such as {"ios": {"title": "Hello"}, "android": {"title": "Hello"}}.';
    END IF;
    RETURN document;
END $$;
COMMENT ON FUNCTION pushmta_engine.content_document(text, text) IS 'A content as a JSON object; an error if it is not one.';

CREATE FUNCTION pushmta_engine.route_delivery(delivery bigint, applications text[], accounts text[]) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    app record;
BEGIN
    FOR place IN 1 .. cardinality(applications) LOOP
        SELECT a.id, a.platform, coalesce(e.id, own.id) AS account_id, coalesce(e.connector, own.connector) AS connector,
            coalesce(e.name, own.name) AS account
        INTO app FROM application a
        LEFT JOIN external_account own ON own.id = a.external_account_id
        LEFT JOIN external_account e ON e.name = accounts[place]
        WHERE a.name = applications[place];
        IF NOT FOUND THEN
            RAISE EXCEPTION 'There is no application "%".', applications[place]
                USING ERRCODE = 'PM001', HINT = 'pushmta.application lists them; pushmta app add makes one.';
        END IF;
        IF accounts[place] IS NOT NULL AND app.account IS DISTINCT FROM accounts[place] THEN
            RAISE EXCEPTION 'There is no external account "%".', accounts[place]
                USING ERRCODE = 'PM005', HINT = 'pushmta account list shows them.';
        END IF;
        IF app.account_id IS NULL THEN
            RAISE EXCEPTION 'Application "%" has no external account, so nothing can be sent to it.', applications[place]
                USING ERRCODE = 'PM005', HINT = 'Name one in accounts, or give the application one with pushmta app add --account.';
        END IF;
        IF app.connector NOT LIKE app.platform || '-%' THEN
            RAISE EXCEPTION 'External account "%" is a % connector and cannot serve application "%" on %.',
                app.account, app.connector, applications[place], app.platform
                USING ERRCODE = 'PM005', HINT = 'Name an account of the same platform.';
        END IF;
        INSERT INTO delivery_application (delivery_id, application_id, external_account_id)
        VALUES (delivery, app.id, app.account_id) ON CONFLICT DO NOTHING;
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta_engine.route_delivery(bigint, text[], text[]) IS
    'Adds a delivery''s applications, each with the account at the same position or, if that is null, with its own account.';

CREATE FUNCTION pushmta_engine.write_delivery(revised bigint, label text, content jsonb, chosen jsonb, validity interval) RETURNS bigint
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    written bigint := revised;
    own record;
BEGIN
    -- Whole numbers may be written as 5.0.
    SELECT s.priority, s.weight, coalesce(validity, make_interval(secs => s.validity_seconds)) AS validity,
        CASE WHEN s.explicit_targets THEN 'explicit' ELSE 'subscribers' END AS target_kind, s.one_per_user, s.ambiguity_policy,
        s.max_retries, s.retry_period_seconds, s.retry_schedule INTO own
    FROM jsonb_to_record(chosen) AS s(priority numeric, weight numeric, validity_seconds double precision, explicit_targets boolean,
        one_per_user boolean, ambiguity_policy text, max_retries numeric, retry_period_seconds numeric, retry_schedule text);
    IF revised IS NULL THEN
        INSERT INTO delivery (label, content, priority, weight, validity, target_kind, one_per_user, ambiguity_policy, max_retries,
            retry_period_seconds, retry_schedule)
        VALUES (label, content, own.priority, own.weight, own.validity, own.target_kind, own.one_per_user, own.ambiguity_policy,
            own.max_retries, own.retry_period_seconds, own.retry_schedule)
        RETURNING id INTO written;
    ELSE
        PERFORM clear_delivery(revised);
        UPDATE delivery d SET label = write_delivery.label, content = write_delivery.content, priority = own.priority, weight = own.weight,
            validity = own.validity, target_kind = own.target_kind, one_per_user = own.one_per_user,
            ambiguity_policy = own.ambiguity_policy, max_retries = own.max_retries, retry_period_seconds = own.retry_period_seconds,
            retry_schedule = own.retry_schedule, changed_at = now()
        WHERE d.id = revised;
    END IF;
    RETURN written;
END $$;
COMMENT ON FUNCTION pushmta_engine.write_delivery(bigint, text, jsonb, jsonb, interval) IS
    'Writes the row of a new delivery, or that of a locked one which is editing and then says nothing else. Returns its id.';

CREATE FUNCTION pushmta_engine.make_delivery(
    label text, applications text[], content text, settings jsonb, accounts text[] DEFAULT NULL, validity interval DEFAULT NULL,
    revised bigint DEFAULT NULL
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    subject text := format('Delivery "%s"', label);
    document jsonb;
    chosen jsonb := default_settings() || settings;
    made bigint;
    problems pushmta_engine.input_problem[];
BEGIN
    IF coalesce(label, '') = '' THEN
        RAISE EXCEPTION 'The delivery has no label.'
            USING ERRCODE = 'PM007', HINT = 'A label has 1 to 500 characters, is not blank, and has no line breaks or control characters.';
    END IF;
    PERFORM require_label('delivery', label, 'PM007');
    PERFORM require_settings(subject, chosen);
    document := content_document(label, content);
    IF coalesce(cardinality(applications), 0) = 0 THEN
        RAISE EXCEPTION 'Delivery "%" names no application.', label
            USING ERRCODE = 'PM007', HINT = 'pushmta.application lists them by name.';
    END IF;
    IF accounts IS NOT NULL AND cardinality(accounts) <> cardinality(applications) THEN
        RAISE EXCEPTION 'Delivery "%" has % applications and % accounts.', label, cardinality(applications), cardinality(accounts)
            USING ERRCODE = 'PM007', HINT = 'Give one account for each application, or none for their own.';
    END IF;
    made := write_delivery(revised, label, document, chosen, validity);
    PERFORM route_delivery(made, applications, accounts);
    PERFORM keep_category(made, label, chosen ->> 'category');
    problems := ARRAY(SELECT p FROM content_problems(document,
        ARRAY(SELECT DISTINCT a.platform FROM application a WHERE a.name = ANY(applications))) p);
    IF cardinality(problems) > 0 THEN
        PERFORM refuse_content(label, problems);
    END IF;
    IF chosen ? 'messages_per_second' OR revised IS NOT NULL THEN
        PERFORM pushmta.set_delivery_rate(made, (chosen ->> 'messages_per_second')::double precision);
    END IF;
    IF (chosen ->> 'all_seeds')::boolean THEN
        PERFORM pushmta.set_seeds(made);
    END IF;
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta_engine.make_delivery(text, text[], text, jsonb, text[], interval, bigint) IS
    'Implements create_delivery: makes a delivery with these settings, and the defaults for all others, or lets a locked one that is '
    'editing (revised) say this and nothing else. A validity given as an interval is kept as an interval.';

CREATE FUNCTION pushmta.create_delivery(
    label text, applications text[], content text, priority integer DEFAULT NULL, validity interval DEFAULT NULL,
    explicit_targets boolean DEFAULT NULL, one_per_user boolean DEFAULT NULL, ambiguity_policy text DEFAULT NULL,
    accounts text[] DEFAULT NULL, max_retries integer DEFAULT NULL, retry_period_seconds integer DEFAULT NULL,
    retry_schedule text DEFAULT NULL, messages_per_second double precision DEFAULT NULL, category text DEFAULT NULL,
    audience text DEFAULT NULL
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    made bigint := make_delivery(label, applications, content, given_settings(label, priority, validity, explicit_targets, one_per_user,
        ambiguity_policy, max_retries, retry_period_seconds, retry_schedule, messages_per_second) || given_category(category), accounts,
        validity);
BEGIN
    PERFORM use_audience(made, NULL, audience);
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta.create_delivery(
    text, text[], text, integer, interval, boolean, boolean, text, text[], integer, integer, text, double precision, text, text) IS
    'Creates a delivery in state editing to the subscribers of applications, named as in pushmta.application, and returns its id. A '
    'setting that is null has its default, which pushmta delivery create --help shows. Without retry_period_seconds the period is the '
    'schedule''s own, without messages_per_second there is no limit. Without a category it is marketing of the applications'' service. '
    'Its target is everybody, or a copy of the filter of a saved audience (audience).';

CREATE FUNCTION pushmta.create_delivery(
    label text, applications text[], content jsonb, priority integer DEFAULT NULL, validity interval DEFAULT NULL,
    explicit_targets boolean DEFAULT NULL, one_per_user boolean DEFAULT NULL, ambiguity_policy text DEFAULT NULL,
    accounts text[] DEFAULT NULL, max_retries integer DEFAULT NULL, retry_period_seconds integer DEFAULT NULL,
    retry_schedule text DEFAULT NULL, messages_per_second double precision DEFAULT NULL, category text DEFAULT NULL,
    audience text DEFAULT NULL
) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
    SELECT pushmta.create_delivery(label, applications, content::text, priority, validity, explicit_targets, one_per_user,
        ambiguity_policy, accounts, max_retries, retry_period_seconds, retry_schedule, messages_per_second, category, audience) $$;
COMMENT ON FUNCTION pushmta.create_delivery(
    text, text[], jsonb, integer, interval, boolean, boolean, text, text[], integer, integer, text, double precision, text, text) IS
    'The same with the content as jsonb.';

CREATE FUNCTION pushmta.set_retry_schedule(delivery bigint, schedule text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    PERFORM require_settings(format('Delivery %s', delivery), jsonb_strip_nulls(jsonb_build_object('retry_schedule', schedule)));
    PERFORM lock_delivery(delivery);
    UPDATE pushmta_engine.delivery d SET retry_schedule = coalesce(schedule, default_settings() ->> 'retry_schedule'),
        changed_at = now()
    WHERE d.id = delivery;
END $$;
COMMENT ON FUNCTION pushmta.set_retry_schedule(bigint, text) IS
    'Sets how the attempts of a delivery are spaced: daily, exponential, or default, the schedule of its kind.';

CREATE FUNCTION pushmta_engine.keep_one_time_code(delivery bigint, one_time_code boolean) RETURNS boolean LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
BEGIN
    IF found_state <> 'editing' THEN
        RAISE EXCEPTION 'Delivery % is %: whether it carries one-time codes can no longer be changed.', delivery, found_state
            USING ERRCODE = 'PM006', HINT = 'Set it before start_delivery, or create another delivery.';
    END IF;
    UPDATE pushmta_engine.delivery d SET one_time_code = keep_one_time_code.one_time_code, changed_at = now()
    WHERE d.id = delivery AND d.one_time_code <> keep_one_time_code.one_time_code;
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_one_time_code(bigint, boolean) IS
    'Implements pushmta.set_one_time_code; returns whether it changed anything. The caller writes the audit log.';

CREATE FUNCTION pushmta.set_one_time_code(delivery bigint, one_time_code boolean DEFAULT true) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    IF keep_one_time_code(delivery, coalesce(one_time_code, false)) THEN
        PERFORM note_change(CASE WHEN one_time_code THEN 'delivery.one_time_code' ELSE 'delivery.no_code' END, delivery::text,
            (SELECT d.label FROM pushmta_engine.delivery d WHERE d.id = delivery));
    END IF;
END $$;
COMMENT ON FUNCTION pushmta.set_one_time_code(bigint, boolean) IS
    'Declares, before its start, that a delivery carries a code that the user has requested, such as one for signing in: it also goes to '
    'those who opted out. Disabled tokens, quarantine and exclusion lists still apply. The audit log records the caller.';

CREATE FUNCTION pushmta_engine.keep_target(delivery bigint, filter text, exclude text[], allow_duplicates boolean) RETURNS void
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    wanted text := nullif(btrim(filter, E' \t\r\n'), '');
    kind text;
    wrong pushmta_engine.input_problem;
    lists integer[];
BEGIN
    SELECT d.target_kind INTO kind FROM pushmta_engine.delivery d WHERE d.id = delivery;
    IF wanted IS NOT NULL AND kind = 'explicit' THEN
        RAISE EXCEPTION 'Delivery % has explicit targets, to which no filter applies.', delivery
            USING ERRCODE = 'PM007', HINT = 'Remove unwanted recipients from pushmta.delivery_target, or use exclusions.';
    END IF;
    IF wanted IS NOT NULL THEN
        wrong := filter_problem(delivery, wanted);
        IF wrong.problem IS NOT NULL THEN
            RAISE EXCEPTION 'The target filter of delivery % cannot be used: %.', delivery, wrong.problem
                USING ERRCODE = 'PM021', HINT = wrong.remedy;
        END IF;
    END IF;
    UPDATE pushmta_engine.delivery d SET changed_at = now(),
        target_filter = CASE WHEN filter IS NULL THEN d.target_filter ELSE wanted END,
        target_audience = CASE WHEN filter IS NULL THEN d.target_audience ELSE '' END,
        allow_duplicates = coalesce(keep_target.allow_duplicates, d.allow_duplicates)
    WHERE d.id = delivery;
    IF exclude IS NOT NULL THEN
        lists := ARRAY(SELECT DISTINCT find_exclusion_list(coalesce(u.name, '')) FROM unnest(exclude) u(name));
        DELETE FROM delivery_exclusion_list x WHERE x.delivery_id = delivery AND x.list_id <> ALL(lists);
        INSERT INTO delivery_exclusion_list (delivery_id, list_id) SELECT delivery, l.id FROM unnest(lists) l(id) ON CONFLICT DO NOTHING;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_target(bigint, text, text[], boolean) IS
    'Sets the target of a locked delivery that may be changed. A null leaves a value unchanged.';

CREATE FUNCTION pushmta.set_target(
    delivery bigint, filter text DEFAULT NULL, exclude text[] DEFAULT NULL, allow_duplicates boolean DEFAULT NULL,
    audience text DEFAULT NULL
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
BEGIN
    IF found_state <> 'editing' THEN
        RAISE EXCEPTION 'Delivery % is %: its targets can no longer be changed.', delivery, found_state
            USING ERRCODE = 'PM006', HINT = 'Set them before start_delivery, or change it with pushmta.update_delivery.';
    END IF;
    PERFORM keep_target(delivery, filter, exclude, allow_duplicates);
    PERFORM use_audience(delivery, filter, audience);
END $$;
COMMENT ON FUNCTION pushmta.set_target(bigint, text, text[], boolean, text) IS
    'Sets, before its start, which subscribers a delivery goes to: those that the filter matches, except those on the lists. A null '
    'leaves a value unchanged; an empty filter removes it. In place of a filter, a saved audience of the applications'' service may be '
    'named. Its filter is copied: later changes of the audience do not change the delivery. Whether the columns of a mapping exist is '
    'checked when the delivery is prepared.';

CREATE FUNCTION pushmta.set_seeds(delivery bigint, seeds text[] DEFAULT NULL) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
    wrong record;
BEGIN
    IF found_state <> 'editing' THEN
        RAISE EXCEPTION 'Delivery % is %: its seed addresses can no longer be changed.', delivery, found_state
            USING ERRCODE = 'PM006', HINT = 'Set them before start_delivery, or create another delivery.';
    ELSIF EXISTS (SELECT FROM pushmta_engine.delivery d WHERE d.id = delivery AND (d.kind = 'continuous' OR d.proof)) THEN
        RAISE EXCEPTION 'Delivery % is continuous or a proof, and cannot have seed addresses.', delivery
            USING ERRCODE = 'PM007', HINT = 'Send a proof to them with pushmta.proof_delivery.';
    END IF;
    SELECT w.name, a.name AS application INTO wrong
    FROM unnest(seeds) WITH ORDINALITY w(name, n)
    LEFT JOIN seed s ON s.name = w.name
    LEFT JOIN subscription b ON b.id = s.subscription_id
    LEFT JOIN application a ON a.id = b.application_id
    WHERE s.id IS NULL OR NOT EXISTS (SELECT FROM delivery_application x
        WHERE x.delivery_id = delivery AND x.application_id = b.application_id)
    ORDER BY w.n LIMIT 1;
    IF FOUND AND wrong.application IS NULL THEN
        RAISE EXCEPTION 'There is no seed address "%".', coalesce(wrong.name, '')
            USING ERRCODE = 'PM041', HINT = 'pushmta.seed lists them; pushmta.add_seed makes one.';
    ELSIF FOUND THEN
        RAISE EXCEPTION 'Seed address "%" belongs to application "%", to which delivery % does not go.', wrong.name, wrong.application,
            delivery
            USING ERRCODE = 'PM044', HINT = 'Name seed addresses of the delivery''s applications; pushmta.seed lists them.';
    END IF;
    UPDATE pushmta_engine.delivery d SET seed_names = seeds, changed_at = now()
    WHERE d.id = delivery AND d.seed_names IS DISTINCT FROM seeds;
END $$;
COMMENT ON FUNCTION pushmta.set_seeds(bigint, text[]) IS
    'Sets, before its start, which seed addresses get a delivery in addition to its target: those of these names, null for all that its '
    'applications have when it begins, an empty array for none. pushmta.delivery_progress counts their messages as seeds.';

-- The caller's own condition in SQL. It runs with the rights of the supervisor, so its author can read, and change through functions,
-- everything that the supervisor can. Only members of the role pushmta_raw_sql may set one.
CREATE SCHEMA IF NOT EXISTS pushmta_raw;
COMMENT ON SCHEMA pushmta_raw IS 'PushMTA: functions that only members of pushmta_raw_sql may call.';

CREATE FUNCTION pushmta_raw.set_target_sql(delivery bigint, condition text) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
    kind text;
BEGIN
    SELECT d.target_kind INTO kind FROM pushmta_engine.delivery d WHERE d.id = delivery;
    IF found_state <> 'editing' THEN
        RAISE EXCEPTION 'Delivery % is %: its targets can no longer be changed.', delivery, found_state
            USING ERRCODE = 'PM006', HINT = 'Set them before start_delivery, or create another delivery.';
    ELSIF kind = 'explicit' OR octet_length(condition) > 65536 THEN
        RAISE EXCEPTION 'Delivery % cannot have this condition.', delivery
            USING ERRCODE = 'PM007', HINT = 'It has explicit targets, or the condition has more than 65,536 bytes.';
    END IF;
    UPDATE pushmta_engine.delivery d SET target_sql = nullif(btrim(condition, E' \t\r\n'), ''), changed_at = now()
    WHERE d.id = delivery;
END $$;
COMMENT ON FUNCTION pushmta_raw.set_target_sql(bigint, text) IS
    'Sets a condition in SQL in addition to the filter of a delivery: one expression over s, a row of pushmta_engine.subscription. It is '
    'checked when the delivery is prepared and not here, because planning can call functions, with the rights of the planning role.';

CREATE FUNCTION pushmta_engine.try_condition(delivery bigint, subscription bigint) RETURNS smallint LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_variable
DECLARE
    chosen boolean;
BEGIN
    EXECUTE (SELECT format(E'SELECT ((%s\n)) IS TRUE FROM pushmta_engine.subscription s WHERE s.id = $1', d.target_sql)
        FROM pushmta_engine.delivery d WHERE d.id = delivery) INTO chosen USING subscription;
    RETURN CASE WHEN chosen THEN 0 ELSE -1 END;
EXCEPTION WHEN data_exception OR cardinality_violation OR external_routine_exception OR external_routine_invocation_exception
    OR program_limit_exceeded OR plpgsql_error THEN
    RETURN 8;
END $$;
COMMENT ON FUNCTION pushmta_engine.try_condition(bigint, bigint) IS
    'The result of a delivery''s condition in SQL for one subscription: 0 chosen, -1 not chosen, 8 cannot be computed. Much slower than '
    'the condition in a statement, so only for chunks with a value on which it fails. It runs with the rights and the search path of its '
    'caller, as the condition does.';

CREATE VIEW pushmta.delivery_targeting AS
SELECT d.id AS delivery_id, d.target_kind, d.target_filter, d.target_sql IS NOT NULL AS has_target_sql, d.one_per_user,
    d.allow_duplicates, ARRAY(SELECT l.name FROM pushmta_engine.delivery_exclusion_list x
        JOIN pushmta_engine.exclusion_list l ON l.id = x.list_id WHERE x.delivery_id = d.id ORDER BY l.name) AS exclusion_lists,
    -- Null: all seed addresses of its applications.
    d.seed_names AS seeds, d.target_audience AS audience
FROM pushmta_engine.delivery d;
COMMENT ON VIEW pushmta.delivery_targeting IS
    'The targeting of a delivery: its filter, the saved audience that it was copied from (audience; empty for none), its exclusions and '
    'its seed addresses.';

CREATE FUNCTION pushmta.add_targets(
    delivery bigint, user_keys text[], subscription_ids bigint[], push_tokens text[], variable_sets text[]
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text;
    kind text;
    added bigint;
BEGIN
    -- The same lock as an insert's foreign key takes: start_delivery waits for it, and other sessions that add targets do not.
    SELECT d.state, d.target_kind INTO found_state, kind FROM pushmta_engine.delivery d WHERE d.id = delivery FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no delivery %.', delivery
            USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery makes one.';
    ELSIF found_state <> 'editing' THEN
        RAISE EXCEPTION 'Delivery % is %: its targets can no longer be changed.', delivery, found_state
            USING ERRCODE = 'PM006', HINT = 'Set them before start_delivery, or create another delivery.';
    ELSIF kind <> 'explicit' THEN
        RAISE EXCEPTION 'Delivery % goes to all subscribers, so targets would change nothing.', delivery
            USING ERRCODE = 'PM006', HINT = 'Create a delivery with explicit targets.';
    END IF;
    INSERT INTO pushmta.delivery_target (delivery_id, user_key, subscription_id, push_token, variables)
    SELECT delivery, u.user_key, u.subscription_id, u.push_token, u.variables::jsonb
    FROM unnest(user_keys, subscription_ids, push_tokens, variable_sets)
        WITH ORDINALITY u(user_key, subscription_id, push_token, variables, place)
    ORDER BY u.place;
    GET DIAGNOSTICS added = ROW_COUNT;
    RETURN added;
END $$;
COMMENT ON FUNCTION pushmta.add_targets(bigint, text[], bigint[], text[], text[]) IS
    'Adds recipients to a delivery with explicit targets. Each is named by one of user_keys, subscription_ids and push_tokens, arrays of '
    'equal length, and has its own variables or null. Returns how many were added.';

CREATE FUNCTION pushmta_engine.find_exclusion_list(list text) RETURNS integer LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    found_id integer;
BEGIN
    SELECT l.id INTO found_id FROM exclusion_list l WHERE l.name = list;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no exclusion list "%".', list
            USING ERRCODE = 'PM050', HINT = 'pushmta.exclusion_list lists them; pushmta.create_exclusion_list makes one.';
    END IF;
    RETURN found_id;
END $$;
COMMENT ON FUNCTION pushmta_engine.find_exclusion_list(text) IS 'The id of the exclusion list with a name; an error if there is none.';

CREATE FUNCTION pushmta.create_exclusion_list(name text, label text DEFAULT '') RETURNS integer LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    made integer;
BEGIN
    PERFORM require_name('exclusion list', name, 'PM052');
    PERFORM require_label('exclusion list', coalesce(label, ''), 'PM052');
    INSERT INTO pushmta_engine.exclusion_list (name, label) VALUES (name, coalesce(label, ''))
    ON CONFLICT ON CONSTRAINT exclusion_list_name_key DO NOTHING RETURNING id INTO made;
    IF made IS NULL THEN
        RAISE EXCEPTION 'Exclusion list "%" already exists.', name
            USING ERRCODE = 'PM051', HINT = 'Choose another name, or add to that one.';
    END IF;
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta.create_exclusion_list(text, text) IS 'Creates an exclusion list and returns its id.';

CREATE FUNCTION pushmta.remove_targets(delivery bigint, ids bigint[] DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET lock_timeout = '2s' AS $$
#variable_conflict use_variable
DECLARE
    removed bigint;
BEGIN
    -- Any role can set this variable for its session, and with the rights of this function it would take effect.
    PERFORM set_config('pushmta.forgetting', '', true);
    DELETE FROM pushmta.delivery_target t WHERE t.delivery_id = delivery AND (ids IS NULL OR t.id = ANY(ids));
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END $$;
COMMENT ON FUNCTION pushmta.remove_targets(bigint, bigint[]) IS
    'Removes targets of a delivery by their ids, or all of them, before its start or after its end. Returns how many.';

CREATE FUNCTION pushmta.remove_delivery_exclusions(delivery bigint, ids bigint[] DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET lock_timeout = '2s' AS $$
#variable_conflict use_variable
DECLARE
    removed bigint;
BEGIN
    -- Any role can set this variable for its session, and with the rights of this function it would take effect.
    PERFORM set_config('pushmta.forgetting', '', true);
    DELETE FROM pushmta.delivery_exclusion t WHERE t.delivery_id = delivery AND (ids IS NULL OR t.id = ANY(ids));
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END $$;
COMMENT ON FUNCTION pushmta.remove_delivery_exclusions(bigint, bigint[]) IS
    'Removes exclusions of a delivery by their ids, or all of them, before its start or after its end. Returns how many.';

CREATE FUNCTION pushmta_engine.put_exclusions(list text, user_keys text[], subscription_ids bigint[], push_tokens text[])
    RETURNS bigint LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    found_id integer := find_exclusion_list(list);
    added bigint;
    place bigint;
BEGIN
    -- A misspelt recipient would continue to get everything. The error never contains the token itself, as errors are logged.
    SELECT u.n INTO place FROM unnest(push_tokens) WITH ORDINALITY u(token, n)
    WHERE u.token <> '' AND NOT is_push_token(u.token) ORDER BY u.n LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'Push token number % for exclusion list "%" is not valid.', place, list
            USING ERRCODE = 'PM053', HINT = 'A push token has 8 to 2,000 printable characters, and no spaces.';
    END IF;
    SELECT u.id INTO place FROM unnest(subscription_ids) WITH ORDINALITY u(id, n) WHERE u.id < 1 ORDER BY u.n LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'Subscription id % for exclusion list "%" is not valid.', place, list
            USING ERRCODE = 'PM053', HINT = 'Ids of subscriptions begin with 1; pushmta.subscription lists them.';
    END IF;
    WITH given AS (
        SELECT NULL::bigint AS subscription_id, u AS user_key, NULL::text AS push_token FROM unnest(user_keys) u WHERE trimmed(u) <> ''
        UNION ALL
        SELECT s, NULL, NULL FROM unnest(subscription_ids) s WHERE s IS NOT NULL
        UNION ALL
        SELECT NULL, NULL, t FROM unnest(push_tokens) t WHERE t <> ''
    ), made AS (
        INSERT INTO exclusion_entry (list_id, subscription_id, user_key, push_token)
        SELECT found_id, g.subscription_id, g.user_key, g.push_token FROM given g ON CONFLICT DO NOTHING RETURNING 1
    )
    SELECT count(*) INTO added FROM made;
    UPDATE pushmta_engine.exclusion_list l SET changed_at = now() WHERE l.id = found_id AND added > 0;
    RETURN added;
END $$;
COMMENT ON FUNCTION pushmta_engine.put_exclusions(text, text[], bigint[], text[]) IS
    'Adds to an exclusion list; returns how many entries are new. The caller writes the audit log.';

CREATE FUNCTION pushmta.add_exclusions(
    list text, user_keys text[] DEFAULT NULL, subscription_ids bigint[] DEFAULT NULL, push_tokens text[] DEFAULT NULL
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    n bigint := put_exclusions(list, user_keys, subscription_ids, push_tokens);
BEGIN
    -- The number, never the recipients: rows of the audit log are never removed, and a person may ask for erasure.
    IF n > 0 THEN
        PERFORM note_change('list.put', list, n::text);
    END IF;
    RETURN n;
END $$;
COMMENT ON FUNCTION pushmta.add_exclusions(text, text[], bigint[], text[]) IS
    'Adds to an exclusion list; returns how many entries are new.';

CREATE FUNCTION pushmta_engine.take_exclusions(list text, user_keys text[], subscription_ids bigint[], push_tokens text[])
    RETURNS bigint LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    found_id integer := find_exclusion_list(list);
    removed bigint;
BEGIN
    WITH taken AS (
        DELETE FROM exclusion_entry e WHERE e.list_id = found_id AND (e.user_key = ANY(ARRAY(SELECT trimmed(u) FROM unnest(user_keys) u))
            OR e.subscription_id = ANY(subscription_ids) OR e.push_token = ANY(push_tokens)
            OR e.push_token ~ '^[0-9a-f]{64,200}$' AND e.push_token = ANY(ARRAY(SELECT lower(t) FROM unnest(push_tokens) t)))
        RETURNING 1
    )
    SELECT count(*) INTO removed FROM taken;
    UPDATE pushmta_engine.exclusion_list l SET changed_at = now() WHERE l.id = found_id AND removed > 0;
    RETURN removed;
END $$;
COMMENT ON FUNCTION pushmta_engine.take_exclusions(text, text[], bigint[], text[]) IS
    'Removes entries from an exclusion list; returns how many were on it. The caller writes the audit log.';

CREATE FUNCTION pushmta.remove_exclusions(
    list text, user_keys text[] DEFAULT NULL, subscription_ids bigint[] DEFAULT NULL, push_tokens text[] DEFAULT NULL
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    n bigint := take_exclusions(list, user_keys, subscription_ids, push_tokens);
BEGIN
    IF n > 0 THEN
        PERFORM note_change('list.take', list, n::text);
    END IF;
    RETURN n;
END $$;
COMMENT ON FUNCTION pushmta.remove_exclusions(text, text[], bigint[], text[]) IS
    'Removes entries from an exclusion list; returns how many were on it.';

CREATE VIEW pushmta.exclusion_list AS
SELECT l.id, l.name, l.label,
    (SELECT count(*) FROM pushmta_engine.exclusion_entry e WHERE e.list_id = l.id AND e.user_key IS NOT NULL) AS user_keys,
    (SELECT count(*) FROM pushmta_engine.exclusion_entry e WHERE e.list_id = l.id AND e.subscription_id IS NOT NULL)
        AS subscriptions,
    (SELECT count(*) FROM pushmta_engine.exclusion_entry e WHERE e.list_id = l.id AND e.push_token IS NOT NULL) AS push_tokens,
    l.created_at, l.changed_at
FROM pushmta_engine.exclusion_list l;
COMMENT ON VIEW pushmta.exclusion_list IS 'Exclusion lists with their numbers of entries.';
