import PostgresClient
import PushCore

extension Store {
    /// Ends parts that will not be sent any more. Unclaimed parts of stopped and recalled deliveries are canceled, and
    /// those past their validity are ignored as expired; their ambiguous messages are first recorded as unknown.
    ///
    /// It also corrects parts whose state (ready or waiting) does not fit their delivery's, corrects times that a step
    /// back of the database's clock has moved into the future, and records the end of stopped deliveries.
    /// Any number of hosts may call it at once; it never waits.
    ///
    /// - Parameter limit: the maximum number of parts; call again at once if as many were changed.
    /// - Returns: the number of changed parts.
    @discardableResult
    package func finishRest(limit: Int = 1000) async throws -> Int {
        try await fixClockStep()
        let due = try all(try await query(Self.dueSQL)) { row in try row.int64() }
        guard !due.isEmpty else { return 0 }
        var changed = 0
        for delivery in due where changed < limit {
            changed += try await finish(delivery, limit: limit - changed)
        }
        try await query(Self.endedSQL)
        return changed
    }

    /// Parts that are finished in one transaction. Each may have a thousand ambiguous messages, and a session that
    /// pauses or stops the delivery waits for it.
    private static let partsAtOnce = 50

    private func finish(_ delivery: Int64, limit: Int) async throws -> Int {
        var changed = 0
        while changed < limit {
            let maxParts = min(limit - changed, Self.partsAtOnce)
            let finished = try await query(
                "SELECT pushmta_engine.finish_delivery($1, $2)",
                [.int64(delivery), .int32(Int32(clamping: maxParts))]
            ).one { Int(try $0.int32()) }
            changed += finished
            if finished < maxParts { break }
        }
        return changed
    }

    /// Deliveries with parts to finish. Each branch has its own index that is nearly always empty, or reads only the
    /// unfinished parts of deliveries that are paused or past their validity. The order of the open ones, and the
    /// scalar subquery, leave those indexes as the only plan, whatever the planner estimates for a table that was empty
    /// a moment ago.
    ///
    /// There are many waiting parts while large deliveries are paused, so their index is not scanned but probed for one
    /// delivery after the other. It also finds waiting parts of ended deliveries, which an older program may have left.
    static let dueSQL = """
        WITH RECURSIVE waiting AS (
            (SELECT p.delivery_id FROM pushmta_engine.delivery_part p WHERE p.state = 'waiting' ORDER BY p.delivery_id LIMIT 1)
            UNION ALL
            SELECT (SELECT p.delivery_id FROM pushmta_engine.delivery_part p
                WHERE p.state = 'waiting' AND p.delivery_id > w.delivery_id ORDER BY p.delivery_id LIMIT 1)
            FROM waiting w WHERE w.delivery_id IS NOT NULL
        ), open AS MATERIALIZED (
            SELECT id, state, started_at IS NOT NULL AND valid_until <= now() AS expired FROM pushmta_engine.delivery
            WHERE state IN ('pending', 'preparing', 'in_progress', 'paused')
            ORDER BY priority DESC, start_at, id LIMIT 100000
        )
        SELECT d.id FROM pushmta_engine.delivery d WHERE d.state IN ('stopped', 'recalled') AND d.finished_at IS NULL
        UNION
        SELECT d.id FROM pushmta_engine.delivery d
        WHERE d.id = ANY(ARRAY(SELECT w.delivery_id FROM waiting w))
            AND d.state <> 'paused'
        UNION
        SELECT o.id FROM open o
        WHERE (o.expired OR o.state = 'paused') AND (SELECT true FROM pushmta_engine.delivery_part p
            WHERE p.delivery_id = o.id AND p.state <> 'done'
                AND (p.state IN ('planned', 'ready') OR p.state IN ('held', 'waiting') AND o.expired) LIMIT 1)
        ORDER BY 1
        """

    /// The last part that a child closes ends a stopped delivery; nothing new can follow it. A continuous delivery ends
    /// with the last of its days. A delivery that another transaction has locked is left to a later call and does not
    /// hold up the others.
    private static let endedSQL = """
        UPDATE pushmta_engine.delivery d SET finished_at = now(), changed_at = now()
        WHERE d.state IN ('stopped', 'recalled') AND d.finished_at IS NULL AND d.id = ANY(ARRAY(
            SELECT e.id FROM pushmta_engine.delivery e
            WHERE e.state IN ('stopped', 'recalled') AND e.finished_at IS NULL AND NOT EXISTS (
                SELECT FROM pushmta_engine.delivery_part p WHERE p.delivery_id = e.id AND p.state <> 'done')
                AND NOT EXISTS (SELECT FROM pushmta_engine.delivery c WHERE c.parent_delivery_id = e.id AND c.kind = 'continuous'
                    AND c.finished_at IS NULL)
            FOR NO KEY UPDATE OF e SKIP LOCKED))
        """
}

extension Store {
    /// Corrects times that a step back of the database's clock has moved into the future: they would be reached only
    /// when the clock has caught up, and nothing would be sent until then.
    ///
    /// Every row has the time at which it was written, by the same clock. A row that was written in the future was
    /// written before a step: its waiting time restarts now. Any number of hosts may call it at once; it never waits.
    func fixClockStep() async throws {
        let isStepped = try await query(Self.clockStepSQL).one { try $0.bool() }
        guard isStepped else { return }
        for statement in [
            Self.stepBackPartsSQL, Self.stepBackUnloadedSQL, Self.stepBackDeliveriesSQL, Self.stepBackProbesSQL,
            Self.stepBackTroublesSQL,
        ] {
            try await query(statement)
        }
    }

    /// A clock that is slewed, not stepped, stays within this.
    private static let slew = "interval '1 second'"

    /// Reads only the newest parts, more than can be created in the second between two looks: a chunk creates 50.
    static let clockStepSQL = """
        SELECT coalesce((SELECT max(n.created_at) FROM (
                SELECT p.created_at FROM pushmta_engine.delivery_part p ORDER BY p.id DESC LIMIT 1000) n), '-infinity') > now() + \(slew)
            OR EXISTS (SELECT FROM pushmta_engine.delivery d
                WHERE d.state IN ('analysing', 'pending', 'preparing', 'in_progress', 'paused') AND d.changed_at > now() + \(slew))
            OR EXISTS (SELECT FROM pushmta_engine.application_health h
                WHERE h.next_probe_at IS NOT NULL AND h.changed_at > now() + \(slew))
            OR EXISTS (SELECT FROM pushmta_engine.gateway_trouble t WHERE t.changed_at > now() + \(slew))
            OR EXISTS (SELECT FROM pushmta_engine.delivery_part u WHERE \(waitsTooLong("u")))
        """

    /// A part that could not be loaded does not record when that was, but no part waits longer than the longest wait,
    /// except for the sending hours of its time zone.
    private static func waitsTooLong(_ part: String) -> String {
        """
        \(part).load_failures > 0 AND \(part).state <> 'done' AND (\(part).time_zone IS NULL OR \(part).state = 'ready')
            AND \(part).not_before > now() + \(slew) + \(LoadProblem.maxWait) * interval '1 second'
        """
    }

    private static let stepBackUnloadedSQL = """
        UPDATE pushmta_engine.delivery_part p SET not_before = now()
        WHERE p.id = ANY(ARRAY(SELECT f.id FROM pushmta_engine.delivery_part f
            WHERE \(waitsTooLong("f")) ORDER BY f.id FOR NO KEY UPDATE SKIP LOCKED))
        """

    private static let stepBackPartsSQL = """
        UPDATE pushmta_engine.delivery_part p
        SET created_at = now(), not_before = CASE WHEN p.state = 'planned' OR NOT isfinite(p.not_before) THEN p.not_before
                ELSE now() + greatest(p.not_before - p.created_at, interval '0') END
        WHERE p.id = ANY(ARRAY(SELECT f.id FROM pushmta_engine.delivery_part f
            WHERE f.state <> 'done' AND f.created_at > now() + \(slew) ORDER BY f.id FOR NO KEY UPDATE SKIP LOCKED))
        """

    /// A start that was not in the future when it was requested was meant for that time.
    private static let stepBackDeliveriesSQL = """
        UPDATE pushmta_engine.delivery d
        SET start_at = CASE WHEN d.start_at <= d.changed_at THEN least(d.start_at, now()) ELSE d.start_at END, changed_at = now()
        WHERE d.id = ANY(ARRAY(SELECT f.id FROM pushmta_engine.delivery f
            WHERE f.state IN ('analysing', 'pending', 'preparing', 'in_progress', 'paused') AND f.changed_at > now() + \(slew)
            ORDER BY f.id FOR NO KEY UPDATE SKIP LOCKED))
        """

    private static let stepBackProbesSQL = """
        UPDATE pushmta_engine.application_health h
        SET next_probe_at = now() + greatest(h.next_probe_at - h.changed_at, interval '0'), changed_at = now()
        WHERE h.next_probe_at IS NOT NULL AND h.changed_at > now() + \(slew)
        """

    /// Without this, no child would replace a prober that has died, and sending would restart over and over.
    private static let stepBackTroublesSQL = """
        UPDATE pushmta_engine.gateway_trouble t
        SET next_probe_at = now() + greatest(t.next_probe_at - t.changed_at, interval '0'),
            prober_until = now() + greatest(t.prober_until - t.changed_at, interval '0'),
            began_at = least(t.began_at, now()), opened_at = least(t.opened_at, now()), changed_at = now()
        WHERE t.changed_at > now() + \(slew)
        """
}
