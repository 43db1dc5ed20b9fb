-- Lists of deliveries: search, sort, archive, compare.
--
-- A list never skips rows by number. It continues at a place: the time and the id of its last row, or the value by which it is sorted and
-- the id. Labels have no index that finds parts of them, so a search reads newest deliveries first, for a limited time, and its last row
-- says where to continue.

CREATE FUNCTION pushmta.archive_delivery(delivery bigint, archived boolean DEFAULT true) RETURNS boolean LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found_state text := lock_delivery(delivery);
    done text := CASE WHEN archived THEN 'archive' ELSE 'unarchive' END;
BEGIN
    PERFORM refuse_day(delivery);
    IF archived AND (found_state NOT IN ('finished', 'stopped', 'recalled')
        OR (SELECT d.finished_at IS NULL FROM pushmta_engine.delivery d WHERE d.id = delivery)) THEN
        RAISE EXCEPTION 'Delivery % is % and was not archived: only one that has ended can be.', delivery,
                CASE WHEN found_state IN ('stopped', 'recalled') THEN 'ending' ELSE found_state END
            USING ERRCODE = 'PM008', HINT = 'Wait for its end, or stop it with pushmta.stop_delivery.';
    END IF;
    UPDATE pushmta_engine.delivery d SET archived_at = CASE WHEN archived THEN now() END
    WHERE d.id = delivery AND (d.archived_at IS NOT NULL) <> archived;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF NOT is_audited('delivery', done, delivery::text, '') THEN
        PERFORM note_change('delivery.' || done, delivery::text, (SELECT d.label FROM pushmta_engine.delivery d WHERE d.id = delivery));
    END IF;
    RETURN true;
END $$;
COMMENT ON FUNCTION pushmta.archive_delivery(bigint, boolean) IS
    'Hides a delivery that has ended from lists, or (false) shows it there again; returns whether that changed anything. Nothing else '
    'changes: its page, its statistics and its retention stay as they are.';

-- Search.

CREATE FUNCTION pushmta_engine.listed_ids(wanted jsonb, most integer) RETURNS bigint[] LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
DECLARE
    what text;
    ids bigint[];
    fewest bigint[];
BEGIN
    FOREACH what IN ARRAY ARRAY['application', 'service', 'category', 'author', 'list', 'seed'] LOOP
        CONTINUE WHEN NOT wanted ? what;
        ids := CASE what
            WHEN 'application' THEN ARRAY(SELECT x.delivery_id FROM delivery_application x
                WHERE x.application_id = (SELECT a.id FROM application a WHERE a.name = wanted ->> what) LIMIT most + 1)
            WHEN 'service' THEN ARRAY(SELECT x.delivery_id FROM delivery_application x
                WHERE x.application_id = ANY(ARRAY(SELECT a.id FROM application a JOIN service v ON v.id = a.service_id
                    WHERE v.name = wanted ->> what)) LIMIT most + 1)
            WHEN 'category' THEN ARRAY(SELECT d.id FROM delivery d
                WHERE d.category_id = ANY(ARRAY(SELECT k.id FROM category k WHERE k.name = wanted ->> what)) LIMIT most + 1)
            WHEN 'author' THEN ARRAY(SELECT m.delivery_id FROM delivery_maker m WHERE m.name = wanted ->> what LIMIT most + 1)
            WHEN 'list' THEN ARRAY(SELECT x.delivery_id FROM delivery_exclusion_list x
                WHERE x.list_id = (SELECT l.id FROM exclusion_list l WHERE l.name = wanted ->> what) LIMIT most + 1)
            WHEN 'seed' THEN ARRAY(SELECT d.id FROM delivery d WHERE d.seed_names @> ARRAY[wanted ->> what] AND d.seed_names <> '{}'
                LIMIT most + 1)
            END;
        IF cardinality(ids) <= most AND cardinality(ids) < coalesce(cardinality(fewest), most + 1) THEN
            fewest := ids;
        END IF;
    END LOOP;
    RETURN fewest;
END $$;
COMMENT ON FUNCTION pushmta_engine.listed_ids(jsonb, integer) IS
    'The deliveries with one of the wanted values, the rarest, if there are not more than the given number; null if all values are '
    'frequent, so that reading the list in its order soon finds some.';

CREATE FUNCTION pushmta_engine.list_query(wanted jsonb, is_by_ids boolean) RETURNS text LANGUAGE sql IMMUTABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT format(
        'SELECT d.id, d.listed_at, %s AS fits FROM %s d WHERE (d.listed_at, d.id) < ($2, $3) '
            'AND (d.kind = ''batch'' OR d.parent_delivery_id IS NULL) AND d.archived_at IS %s%s%s%s '
            'ORDER BY d.listed_at DESC, d.id DESC LIMIT 200000',
        coalesce((SELECT string_agg(c.sql, ' AND ') FROM (VALUES
            ('label', 'strpos(lower(d.label), lower($1 ->> ''label'')) > 0'),
            ('application', 'EXISTS (SELECT FROM pushmta_engine.delivery_application x JOIN pushmta_engine.application a '
                'ON a.id = x.application_id WHERE x.delivery_id = d.id AND a.name = $1 ->> ''application'')'),
            ('service', 'EXISTS (SELECT FROM pushmta_engine.delivery_application x JOIN pushmta_engine.application a '
                'ON a.id = x.application_id JOIN pushmta_engine.service v ON v.id = a.service_id '
                'WHERE x.delivery_id = d.id AND v.name = $1 ->> ''service'')'),
            ('category', 'd.category_id = ANY(ARRAY(SELECT k.id FROM pushmta_engine.category k WHERE k.name = $1 ->> ''category''))'),
            ('author', 'EXISTS (SELECT FROM pushmta_engine.delivery_maker m '
                'WHERE m.delivery_id = d.id AND m.name = $1 ->> ''author'')'),
            ('list', 'EXISTS (SELECT FROM pushmta_engine.delivery_exclusion_list x JOIN pushmta_engine.exclusion_list l '
                'ON l.id = x.list_id WHERE x.delivery_id = d.id AND l.name = $1 ->> ''list'')'),
            ('seed', 'd.seed_names @> ARRAY[$1 ->> ''seed'']'),
            ('approval', 'EXISTS (SELECT FROM pushmta_engine.release_check c '
                'WHERE c.delivery_id = d.id AND c.size IS NOT NULL AND c.objection <> '''')')
            ) c(kind, sql) WHERE wanted ? c.kind), 'true'),
        -- Found first, and then sorted: the planner would read the whole list in its order.
        CASE WHEN is_by_ids THEN '(SELECT l.* FROM pushmta_engine.delivery l WHERE l.id = ANY($4) OFFSET 0)'
            ELSE 'pushmta_engine.delivery' END,
        CASE WHEN (wanted ->> 'archived')::boolean THEN 'NOT NULL' ELSE 'NULL' END,
        -- Partial indexes serve only statements that name the state.
        CASE WHEN wanted ? 'state' THEN format(' AND d.state = %L', wanted ->> 'state') ELSE '' END,
        CASE WHEN wanted ? 'since' THEN ' AND d.listed_at >= ($1 ->> ''since'')::timestamptz' ELSE '' END,
        CASE WHEN wanted ? 'until' THEN ' AND d.listed_at < ($1 ->> ''until'')::timestamptz' ELSE '' END) $$;
COMMENT ON FUNCTION pushmta_engine.list_query(jsonb, boolean) IS
    'The statement that reads a list in its order, among given deliveries or by the index of its state. Its parameters are the wanted '
    'values, the place after which to begin, and the ids.';

CREATE FUNCTION pushmta_engine.walk_list(wanted jsonb, from_at timestamptz, from_id bigint, most integer, lasts interval)
    RETURNS TABLE (delivery bigint, listed_at timestamptz, is_cut boolean) LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET enable_sort = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    -- So few deliveries are sorted at once: some milliseconds.
    few constant integer := 2000;
    deadline timestamptz := clock_timestamp() + lasts;
    ids bigint[] := listed_ids(wanted, few);
    place_id bigint;
    place_at timestamptz;
    fits boolean;
    looked integer := 0;
    shown integer := 0;
BEGIN
    FOR place_id, place_at, fits IN EXECUTE list_query(wanted, ids IS NOT NULL)
        USING wanted, coalesce(from_at, 'infinity'), coalesce(from_id, 9223372036854775807), ids
    LOOP
        looked := looked + 1;
        IF fits THEN
            shown := shown + 1;
            delivery := place_id;
            listed_at := place_at;
            is_cut := false;
            RETURN NEXT;
            EXIT WHEN shown = most;
        ELSIF looked % 100 = 0 AND clock_timestamp() > deadline OR looked = 200000 THEN
            delivery := place_id;
            listed_at := place_at;
            is_cut := true;
            RETURN NEXT;
            EXIT;
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta_engine.walk_list(jsonb, timestamptz, bigint, integer, interval) IS
    'Up to the given number of deliveries with the wanted values, newest first, after a place. If the time is over, the last row (is_cut) '
    'is where to continue, not a delivery with these values.';

CREATE FUNCTION pushmta_engine.list_figures(deliveries bigint[]) RETURNS TABLE (delivery bigint, sent bigint, clicked bigint)
    LANGUAGE sql STABLE SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off
    SET enable_seqscan = off SET jit = off AS $$
    SELECT d.id, o.sent, least(o.sent, c.n) FROM unnest(deliveries) i(id) JOIN pushmta_engine.delivery d ON d.id = i.id
    CROSS JOIN LATERAL (SELECT coalesce((SELECT u.sent FROM delivery_sum u WHERE u.delivery_id = d.id), 0)
        + coalesce((SELECT sum(p.sent)::bigint FROM open_part p WHERE p.delivery_id = d.id), 0) AS sent) o
    CROSS JOIN LATERAL (SELECT coalesce(sum(h.n), 0)::bigint AS n FROM delivery_hour h
        WHERE h.delivery_id = d.id AND h.measure = 21 AND h.measure IN (19, 21)) c $$;
COMMENT ON FUNCTION pushmta_engine.list_figures(bigint[]) IS
    'How many messages of each delivery a gateway has accepted, and how many of them were opened.';

CREATE FUNCTION pushmta.list_deliveries(
    state text DEFAULT NULL, service text DEFAULT NULL, application text DEFAULT NULL, category text DEFAULT NULL,
    author text DEFAULT NULL, label text DEFAULT NULL, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL,
    exclusion_list text DEFAULT NULL, seed text DEFAULT NULL, archived boolean DEFAULT false, sort text DEFAULT 'date',
    most integer DEFAULT 25, after_at timestamptz DEFAULT NULL, after_value double precision DEFAULT NULL,
    after_id bigint DEFAULT NULL
) RETURNS TABLE (delivery bigint, listed_at timestamptz, sent bigint, clicked bigint, value double precision, is_cut boolean)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
DECLARE
    -- Sorted by a number, a list has the newest of the deliveries with the wanted values: a tenth of a second.
    ranked constant integer := 1000;
    is_ranked boolean := sort IN ('sent', 'click_rate');
    wanted jsonb := jsonb_strip_nulls(jsonb_build_object(
        'state', CASE list_deliveries.state WHEN 'needs_approval' THEN 'ready' WHEN 'awaits_approval' THEN 'pending'
            ELSE nullif(list_deliveries.state, '') END,
        'approval', CASE WHEN list_deliveries.state IN ('needs_approval', 'awaits_approval') THEN true END,
        'service', nullif(list_deliveries.service, ''), 'application', nullif(list_deliveries.application, ''),
        'category', nullif(list_deliveries.category, ''), 'author', nullif(list_deliveries.author, ''),
        'label', nullif(list_deliveries.label, ''), 'since', since, 'until', until,
        'list', nullif(list_deliveries.exclusion_list, ''), 'seed', nullif(list_deliveries.seed, ''),
        'archived', coalesce(archived, false)));
BEGIN
    IF sort IS NULL OR sort NOT IN ('date', 'sent', 'click_rate') THEN
        RAISE EXCEPTION 'A list of deliveries cannot be sorted by "%".', coalesce(sort, '')
            USING ERRCODE = 'PM007', HINT = 'Sort by date, sent or click_rate.';
    END IF;
    RETURN QUERY
    WITH near AS MATERIALIZED (
        SELECT w.* FROM walk_list(wanted, CASE WHEN NOT is_ranked THEN after_at END,
            CASE WHEN NOT is_ranked THEN after_id END, CASE WHEN is_ranked THEN ranked + 1 ELSE most END,
            interval '150 milliseconds') w
    ), valued AS (
        SELECT n.*, f.sent, f.clicked, CASE sort WHEN 'sent' THEN f.sent WHEN 'click_rate' THEN coalesce(f.clicked / nullif(f.sent,
            0)::double precision, -1) END AS value
        FROM (SELECT w.* FROM near w WHERE NOT w.is_cut ORDER BY w.listed_at DESC, w.delivery DESC
            LIMIT CASE WHEN is_ranked THEN ranked END) n
        JOIN list_figures(ARRAY(SELECT w.delivery FROM near w WHERE NOT w.is_cut)) f ON f.delivery = n.delivery
    )
    (SELECT v.delivery, v.listed_at, v.sent, v.clicked, v.value, false FROM valued v
    WHERE NOT is_ranked OR after_value IS NULL OR (v.value, v.delivery) < (after_value, after_id)
    ORDER BY v.value DESC, CASE WHEN NOT is_ranked THEN v.listed_at END DESC, v.delivery DESC LIMIT most)
    UNION ALL SELECT n.delivery, n.listed_at, NULL, NULL, NULL, true FROM near n WHERE n.is_cut AND NOT is_ranked
    -- The place is that of no row, because the order is another one.
    UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, true WHERE is_ranked AND (SELECT count(*) > ranked OR bool_or(n.is_cut) FROM near n);
END $$;
COMMENT ON FUNCTION pushmta.list_deliveries(text, text, text, text, text, text, timestamptz, timestamptz, text, text, boolean, text,
    integer, timestamptz, double precision, bigint) IS
    'Deliveries with the given values (null: any), newest first or sorted by sent or click_rate, the highest first. state may also be '
    'needs_approval (ready) or awaits_approval (pending, requested) for those that somebody has to approve. label is a text within '
    'the label, in any case; author a login, an API key or a user of the console who made or changed the delivery; since and until limit '
    'the start, or the creation of one without a start. Archived deliveries are listed alone (archived). The next page begins after the '
    'last row: give its listed_at (date) or its value as after_at or after_value, and its delivery as after_id. A last row with is_cut '
    'says that the search ran out of time: sorted by date, the next page begins there. Sorted by a number, the list has the newest 1,000.';

-- Compare.

CREATE FUNCTION pushmta_engine.wilson(n double precision, whole double precision, side integer) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN whole > 0 THEN (n / whole + 1.96 ^ 2 / (2 * whole)
        + side * 1.96 * sqrt(n / whole * (1 - n / whole) / whole + 1.96 ^ 2 / (4 * whole ^ 2))) / (1 + 1.96 ^ 2 / whole) END;
COMMENT ON FUNCTION pushmta_engine.wilson(double precision, double precision, integer) IS
    'The lower (side -1) or upper (1) end of the 95 percent interval of a share, by Wilson.';

CREATE FUNCTION pushmta.compare_deliveries(a bigint, b bigint) RETURNS TABLE (measure text, a_count bigint, a_of bigint,
    a_rate double precision, b_count bigint, b_of bigint, b_rate double precision, difference double precision, low double precision,
    high double precision, is_clear boolean) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH counted AS (
        SELECT p.id, m.place, m.measure, least(m.n, m.whole) AS n, m.whole
        FROM (SELECT * FROM pushmta.delivery_status(compare_deliveries.a) UNION
            SELECT * FROM pushmta.delivery_status(compare_deliveries.b)) p
        JOIN pushmta.delivery_statistics s ON s.delivery_id = p.id
        CROSS JOIN LATERAL (VALUES (1, 'sent', p.sent, p.target), (2, 'failed', p.failed, p.target),
            (3, 'received', s.received_unique, p.sent), (4, 'clicked', s.clicked_unique, p.sent)) m(place, measure, n, whole)
    ), paired AS (
        SELECT x.place, x.measure, x.n AS n1, x.whole AS of1, x.n / nullif(x.whole, 0)::double precision AS p1,
            y.n AS n2, y.whole AS of2, y.n / nullif(y.whole, 0)::double precision AS p2,
            wilson(x.n, x.whole, -1) AS l1, wilson(x.n, x.whole, 1) AS u1, wilson(y.n, y.whole, -1) AS l2, wilson(y.n, y.whole, 1) AS u2
        FROM counted x JOIN counted y ON y.id = compare_deliveries.b AND y.place = x.place WHERE x.id = compare_deliveries.a
    ), spread AS (
        -- Newcombe's interval of the difference of two shares.
        SELECT r.*, r.p2 - r.p1 - sqrt((r.p2 - r.l2) ^ 2 + (r.u1 - r.p1) ^ 2) AS low,
            r.p2 - r.p1 + sqrt((r.u2 - r.p2) ^ 2 + (r.p1 - r.l1) ^ 2) AS high
        FROM paired r
    )
    SELECT w.measure, w.n1, w.of1, w.p1, w.n2, w.of2, w.p2, w.p2 - w.p1, w.low, w.high, coalesce(w.low > 0 OR w.high < 0, false)
    FROM spread w ORDER BY w.place;
END $$;
COMMENT ON FUNCTION pushmta.compare_deliveries(bigint, bigint) IS
    'Two deliveries side by side: what share of the target was sent and failed, what share of the sent messages was received and clicked, '
    'the difference of b to a with its 95 percent interval, and whether the interval leaves out 0. The deliveries went to different people '
    'at different times, so a clear difference need not come from their content: an experiment shows that.';

-- For the console.

CREATE FUNCTION pushmta_engine.experiment_document(delivery bigint) RETURNS jsonb LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT jsonb_build_object('metric', e.metric, 'decide_after_seconds', extract(epoch FROM e.decide_after)::bigint, 'early', e.early,
        'least_sample', e.least_sample, 'hold_out_percent', round((e.hold_out * 100)::numeric, 6), 'if_undecided', e.if_undecided,
        'certainty_percent', round((e.certainty * 100)::numeric, 6),
        'variants', (SELECT jsonb_agg(jsonb_build_object('percent', round((c.share * 100)::numeric, 6))
            || CASE WHEN c.content IS NULL THEN '{}' ELSE jsonb_build_object('content', c.content) END ORDER BY c.cell)
            FROM experiment_cell c WHERE c.delivery_id = e.delivery_id AND c.cell < 9))
    FROM experiment e WHERE e.delivery_id = experiment_document.delivery $$;
COMMENT ON FUNCTION pushmta_engine.experiment_document(bigint) IS
    'The experiment of a delivery as a draft says it; null if it has none.';

CREATE FUNCTION pushmta_engine.console_archive(caller pushmta_engine.console_caller, deliveries bigint[], archived boolean)
    RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_composer(caller);
    chosen record;
    changed integer := 0;
BEGIN
    -- A page has no more, and each is locked until the end.
    FOR chosen IN SELECT d.id, d.label FROM pushmta_engine.delivery d
        WHERE d.id = ANY(deliveries[1:100]) AND (d.archived_at IS NOT NULL) <> archived
            AND (NOT archived OR d.state IN ('finished', 'stopped', 'recalled') AND d.finished_at IS NOT NULL)
            AND (d.kind = 'batch' OR d.parent_delivery_id IS NULL) ORDER BY d.id
    LOOP
        -- First, so that it is not logged again under the console's login.
        PERFORM note_audit(who, CASE WHEN archived THEN 'delivery.archive' ELSE 'delivery.unarchive' END, chosen.id::text, chosen.label,
            caller.address);
        PERFORM pushmta.archive_delivery(chosen.id, archived);
        changed := changed + 1;
    END LOOP;
    RETURN changed;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_archive(pushmta_engine.console_caller, bigint[], boolean) IS
    'Archives those of up to 100 deliveries that have ended, or shows them in lists again, for a signed-in user who may compose. Returns '
    'how many were changed.';
