import PostgresClient
import PushCore

/// The subject to explain.
package enum ExplainedSubject: Sendable, Hashable {
    case delivery(Int64)
    case application(Int32)
    /// A host's id.
    case host(String)
}

extension Store {
    /// Each limit on a delivery, an application or a host: its present value, what sets it, and whether it limits now.
    package func limits(of subject: ExplainedSubject) async throws -> [LimitRow] {
        var values: [PostgresValue] = [.null, .null, .null]
        switch subject {
        case .delivery(let id): values[0] = .int64(id)
        case .application(let id): values[1] = .int32(id)
        case .host(let id): values[2] = .text(id)
        }
        let result = try await query(Self.limitsSQL, values)
        return try all(result) { row in
            LimitRow(
                subject: try row.text(),
                limit: try row.text(),
                now: try row.text(),
                maximum: try row.text(),
                setBy: try row.text(),
                binds: try row.bool(),
                why: try row.text()
            )
        }
    }

    /// `pair` are the applications and accounts of the subject: those of the open parts of a delivery or its days, as
    /// declared, or of a host's children. Only pairs that are `moving` can have other deliveries ahead.
    static let limitsSQL = """
        WITH pair AS MATERIALIZED (
            SELECT DISTINCT p.application_id, p.external_account_id FROM pushmta_engine.delivery_part p
            WHERE p.state <> 'done' AND p.delivery_id = ANY(ARRAY(SELECT $1::bigint UNION ALL SELECT y.id FROM pushmta_engine.delivery y
                WHERE y.kind = 'continuous' AND y.parent_delivery_id = $1::bigint AND y.state = 'in_progress'))
            UNION SELECT a.id, a.external_account_id FROM pushmta_engine.application a
            WHERE a.id = $2::integer AND a.external_account_id IS NOT NULL
            UNION SELECT c.application_id, c.external_account_id FROM pushmta_engine.mta_child c
            WHERE c.host_id = $3::uuid AND c.exited_at IS NULL
        ), named AS MATERIALIZED (
            SELECT p.application_id, p.external_account_id, e.active, a.name AS application, e.name AS account,
                format('%s over %s', a.name, e.name) AS subject, e.connector, pushmta_engine.project_of(a.id) AS project
            FROM pair p
            JOIN pushmta_engine.application a ON a.id = p.application_id
            JOIN pushmta_engine.external_account e ON e.id = p.external_account_id
        ), moving AS MATERIALIZED (
            SELECT n.application_id, n.external_account_id FROM named n
            WHERE n.active AND NOT EXISTS (SELECT FROM pushmta_engine.application_health h
                    WHERE h.application_id = n.application_id AND h.state <> 'closed')
                AND NOT EXISTS (SELECT FROM pushmta_engine.gateway_trouble t WHERE t.application_id = n.application_id
                    AND t.external_account_id = n.external_account_id AND t.state = 'trouble')
        )
        SELECT subject, "limit", now, most, set_by, binds, why FROM (
            \(deliveryStateSQL) UNION ALL \(applicationLimitsSQL) UNION ALL \(rateLimitsExplainedSQL)
            UNION ALL \(hostLimitsSQL) UNION ALL \(childLimitsSQL)
        ) all_limits ORDER BY place, subject, "limit"
        """

    private static let deliveryStateSQL = """
        SELECT 1 AS place, format('delivery %s', d.id) AS subject, 'state' AS "limit", d.state AS now, '' AS most,
            'pushmta delivery pause, resume, stop' AS set_by, d.state NOT IN ('preparing', 'in_progress')
                -- -- What circuit, gateway or account delay is marked in their rows.
                OR d.waiting_reason <> '' AND (SELECT count(*) FROM named) = (SELECT count(*) FROM moving) AS binds,
            concat_ws(' ', nullif(d.state_reason, ''), nullif(d.waiting_reason, ''), CASE
                WHEN d.state = 'pending' AND d.start_at > now()
                    THEN to_char(d.start_at AT TIME ZONE 'UTC', '"it starts at" YYYY-MM-DD HH24:MI:SS "UTC"')
                WHEN d.state = 'pending' AND d.waiting_reason = '' THEN 'it is due: a host is about to begin it'
                WHEN d.state = 'paused' AND d.state_reason = '' THEN 'a user has paused it'
                WHEN d.state = 'analysing' THEN 'its messages are prepared without being sent'
                WHEN d.state = 'ready' THEN 'it was analysed and has not been started'
                WHEN d.state = 'editing' THEN 'it has not been started' END) AS why
        FROM pushmta.delivery_progress d WHERE d.id = $1::bigint
        UNION ALL
        SELECT 1, format('delivery %s', d.id), 'priority', d.priority::text, '', 'the delivery', EXISTS (
                SELECT FROM moving n JOIN pushmta_engine.delivery_part o ON o.state = 'ready' AND o.not_before <= now()
                    AND o.application_id = n.application_id AND o.external_account_id = n.external_account_id AND o.priority > d.priority
                -- -- Its own single messages are ahead of the rest, and so are those of its days.
                JOIN pushmta_engine.delivery w ON w.id = o.delivery_id
                WHERE o.delivery_id <> d.id AND NOT (w.kind = 'continuous' AND w.parent_delivery_id IS NOT DISTINCT FROM d.id)),
            'parts of a higher priority go first, then those that are due for longest'
        FROM pushmta_engine.delivery d WHERE d.id = $1::bigint
        UNION ALL
        SELECT 1, format('delivery %s', d.id), 'weight', d.weight::text, '\(DeliverySetting.weights.upperBound)',
            format('pushmta delivery weight %s', d.id), EXISTS (
                -- -- For a large delivery, the next parts are enough.
                SELECT FROM moving n CROSS JOIN LATERAL (
                    SELECT o.delivery_id FROM pushmta_engine.delivery_part o WHERE o.state = 'ready' AND o.not_before <= now()
                        AND o.application_id = n.application_id AND o.external_account_id = n.external_account_id
                        AND o.priority = d.priority ORDER BY o.not_before LIMIT 1000) w
                JOIN pushmta_engine.delivery x ON x.id = w.delivery_id
                WHERE w.delivery_id <> d.id AND NOT (x.kind = 'continuous' AND x.parent_delivery_id IS NOT DISTINCT FROM d.id)),
            'where others of its priority are due too, each has as many messages as its weight says'
        FROM pushmta_engine.delivery d WHERE d.id = $1::bigint
        UNION ALL
        SELECT 1, format('delivery %s', p.delivery_id), 'plan', format('%s messages wait', p.planned_messages), '',
            format('pushmta delivery plan %s', p.delivery_id), NOT EXISTS (SELECT FROM pushmta_engine.delivery_part o
                WHERE o.delivery_id = p.delivery_id AND o.state IN ('ready', 'claimed')),
            coalesce(to_char(p.next_at AT TIME ZONE 'UTC', '"the next leave at" YYYY-MM-DD HH24:MI:SS "UTC"'),
                -- -- Only messages of these have no time yet. Those that wait for a local time or sending hours have one.
                'for ' || nullif(concat_ws(' and ',
                    CASE WHEN EXISTS (SELECT FROM pushmta.delivery_wave w WHERE w.delivery_id = p.delivery_id AND w.opened_at IS NULL)
                        THEN 'a wave that has not begun' END,
                    -- -- It decides only if it has a rest.
                    CASE WHEN EXISTS (SELECT FROM pushmta.experiment e WHERE e.delivery_id = p.delivery_id AND e.winner IS NULL
                        AND e.decide_after IS NOT NULL) THEN 'the winner of its experiment' END), ''), '')
        FROM pushmta.delivery_plan p WHERE p.delivery_id = $1::bigint AND p.planned_messages > 0
        """

    private static let applicationLimitsSQL = """
        SELECT 2, n.subject, 'circuit', coalesce(h.state, 'closed'), '', 'what the gateway answered', coalesce(h.state, 'closed') <> 'closed',
            concat_ws('; ', nullif(rtrim(h.reason, '.'), ''), nullif(h.remedy, ''))
        FROM named n LEFT JOIN pushmta_engine.application_health h ON h.application_id = n.application_id
        UNION ALL
        SELECT 2, n.subject, 'gateway', coalesce(t.state, 'well'), '', 'what the gateway answered', coalesce(t.state, '') = 'trouble',
            coalesce(t.reason, '')
        FROM named n LEFT JOIN pushmta_engine.gateway_trouble t ON t.application_id = n.application_id
            AND t.external_account_id = n.external_account_id AND (t.state = 'trouble' OR t.opened_at > now() - interval '1 minute')
        UNION ALL
        SELECT 2, n.subject, 'account', CASE WHEN n.active THEN 'active' ELSE 'not active' END, '',
            'pushmta account set ' || n.account, NOT n.active, ''
        FROM named n
        UNION ALL
        SELECT 2, n.subject, 'children', c.running::text, m.most::text, 'mta.master.maxSpareServers of each host',
            c.running = 0 AND w.waits, CASE WHEN c.running > 0 OR NOT w.waits THEN '' WHEN m.most = 0 THEN 'no host is alive'
                ELSE 'messages wait for a child: each host starts one a second, up to a maximum for all applications together' END
        FROM named n
        CROSS JOIN LATERAL (SELECT count(*) AS running FROM pushmta_engine.mta_child c WHERE c.exited_at IS NULL
            AND c.application_id = n.application_id AND c.external_account_id = n.external_account_id) c
        CROSS JOIN (SELECT coalesce(sum(h.max_children), 0) AS most FROM pushmta.mta_host h WHERE h.health = 'alive') m
        -- -- Messages that circuit, gateway or account delay do not wait for a child.
        CROSS JOIN LATERAL (SELECT n.active AND NOT EXISTS (SELECT FROM pushmta_engine.application_health h
                WHERE h.application_id = n.application_id AND h.state <> 'closed')
            AND NOT EXISTS (SELECT FROM pushmta_engine.gateway_trouble t WHERE t.application_id = n.application_id
                AND t.external_account_id = n.external_account_id AND t.state = 'trouble')
            AND EXISTS (SELECT FROM pushmta_engine.delivery_part p WHERE p.state = 'ready' AND p.not_before <= now()
            AND p.application_id = n.application_id AND p.external_account_id = n.external_account_id) AS waits) w
        """

    private static let rateLimitsExplainedSQL = """
        SELECT 3, format('%s %s', r.scope, r.name), 'messages a second',
            CASE WHEN r.current_rate = 'Infinity' THEN 'unlimited' ELSE round(r.current_rate::numeric, 1)::text END,
            CASE WHEN r.messages_per_second = 'Infinity' THEN 'unlimited'
                ELSE round(coalesce(g.ceiling, r.messages_per_second)::numeric, 1)::text END,
            CASE WHEN g.signal IS NOT NULL THEN 'pushmta delivery follow ' || r.name ELSE CASE r.scope WHEN 'project' THEN 'Google''s quota, or pushmta rate set project ' || r.name
                WHEN 'delivery' THEN 'pushmta delivery rate ' || r.name ELSE format('pushmta rate set %s %s', r.scope, r.name) END END,
            r.in_use AND r.messages_per_second < 'Infinity',
            concat_ws('; ', CASE WHEN r.cut_at > now() - interval '2 minutes' THEN 'halved, and growing again: ' || r.cut_reason END,
                CASE WHEN g.signal IS NOT NULL THEN format('it follows the signal %s: %s', g.signal, replace(g.state, 'at_', 'at its ')) END)
        FROM pushmta.rate_limit r LEFT JOIN pushmta.delivery_signal g ON r.scope = 'delivery'
            AND g.delivery_id = (SELECT coalesce(d.parent_delivery_id, d.id) FROM pushmta_engine.delivery d WHERE d.id = $1::bigint)
        WHERE r.scope = 'delivery' AND r.name = (SELECT coalesce(d.parent_delivery_id, d.id)::text
                FROM pushmta_engine.delivery d WHERE d.id = $1::bigint)
            OR r.scope = 'application' AND r.name IN (SELECT n.application FROM named n)
            OR r.scope = 'account' AND r.name IN (SELECT n.account FROM named n)
            OR r.scope = 'project' AND r.name IN (SELECT n.project FROM named n)
        UNION ALL
        SELECT 3, format('delivery %s', g.delivery_id), 'signal ' || g.signal, coalesce(g.value::text, 'no value'),
            format('%s %s', g.good, g.target), 'pushmta delivery follow ' || g.delivery_id, g.state IN ('falling', 'at_floor', 'stale'),
            g.reason
        FROM pushmta.delivery_signal g
        WHERE g.delivery_id = (SELECT coalesce(d.parent_delivery_id, d.id) FROM pushmta_engine.delivery d WHERE d.id = $1::bigint)
        """

    private static let hostLimitsSQL = """
        SELECT 4, format('host %s', h.name), 'children', h.children::text, h.max_children::text, 'mta.master.maxSpareServers, maxSmallChildren',
            h.children >= h.max_children AND h.max_children > 0, h.alarm
        FROM pushmta.mta_host h WHERE h.id = $3::uuid
        UNION ALL
        SELECT 4, format('host %s', h.name), 'health', h.health, '', 'its heartbeats', h.health <> 'alive' OR h.drain_requested,
            CASE WHEN h.drain_requested THEN 'it was asked to drain' ELSE '' END
        FROM pushmta.mta_host h WHERE h.id = $3::uuid
        UNION ALL
        SELECT 4, format('host %s', h.name), 'load of the processors', round(h.load::numeric, 1)::text, h.cores::text, 'the machine',
            h.load > 1.5 * h.cores, CASE WHEN h.load > 1.5 * h.cores THEN 'more processes want to run than there are processors' ELSE '' END
        FROM pushmta.mta_host h WHERE h.id = $3::uuid
        """

    private static let childLimitsSQL = """
        SELECT 5, format('child %s on %s', c.id, c.host), l."limit", l.now, l.most, l.set_by, l.binds, l.why
        FROM pushmta.mta_child c
        JOIN named n ON n.application_id = c.application_id AND n.external_account_id = c.external_account_id
        CROSS JOIN LATERAL (VALUES
            ('connections', format('%s of %s wanted', c.connections, c.connections_wanted), c.connections_limit::text,
                CASE WHEN c.connector LIKE 'ios%' THEN 'mta.child.maxAPNsConnectPerChild' ELSE 'mta.child.maxGCMConnectPerChild' END,
                c.limited_by = 'connections', concat_ws('; ',
                    CASE WHEN c.limited_by = 'connections' AND c.latency_p50_ms >= \(ChildOverview.slowAnswerMilliseconds) THEN 'the gateway is slow' END,
                    CASE c.connections_reason
                    WHEN 'start' THEN 'nothing has asked for more yet' WHEN 'grown' THEN 'requests waited for a stream'
                    WHEN 'no gain' THEN 'more of them brought no more rate' WHEN 'backed off' THEN 'the gateway wanted fewer'
                    WHEN 'unused' THEN 'the others were not used' ELSE nullif(c.connections_reason, '') END,
                    format('%s requests without an answer, answers after %s ms (p50)', c.streams_in_flight, round(c.latency_p50_ms::numeric)))),
            ('dispatch window', c.dispatch_window::text, c.dispatch_window_limit::text, 'mta.child.dispatchWindow',
                c.limited_by = 'dispatch window', CASE c.limited_by WHEN 'dispatch window'
                    THEN 'it is full: outcomes are stored more slowly than answers come' ELSE 'follows what may be on the wire' END),
            ('rate', format('%s messages/s', round(c.rate)), '', 'nobody', c.limited_by = 'loading', CASE c.limited_by
                WHEN 'work' THEN 'it has no messages' WHEN 'loading' THEN 'messages are claimed, read and made no faster: the database, '
                    'or the processors of the host' WHEN 'rate' THEN 'a limit of messages a second holds it' WHEN '' THEN ''
                ELSE 'limited by: ' || c.limited_by END)
        ) l("limit", now, most, set_by, binds, why)
        WHERE c.exited_at IS NULL AND ($3::uuid IS NULL OR c.host_id = $3::uuid)
        """
}
