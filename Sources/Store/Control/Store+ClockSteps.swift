import PostgresClient

extension Store {
    /// Puts right what a step back of the database's clock has put into the future: moments from before the step would come
    /// only when the clock has caught up, and nothing would be sent until then.
    ///
    /// Every row carries the moment at which it was written on the same clock. One that was written in the future was written
    /// before a step: its waiting time counts from now. Any number of hosts may call it at once; it waits for nobody.
    func mendClockStep() async throws {
        guard try await query(Self.clockStepSQL).bool(0, 0) else { return }
        for statement in [
            Self.stepBackPartsSQL, Self.stepBackUnloadedSQL, Self.stepBackDeliveriesSQL, Self.stepBackProbesSQL,
        ] {
            try await query(statement)
        }
    }

    /// A clock that is slewed, and not stepped, stays within this.
    private static let slew = "interval '1 second'"

    /// Looks at the newest parts only, more than a step can hide behind in the second until the next look: a chunk makes 50.
    static let clockStepSQL = """
        SELECT coalesce((SELECT max(n.created_at) FROM (
                SELECT p.created_at FROM pushmta_engine.delivery_part p ORDER BY p.id DESC LIMIT 1000) n), '-infinity') > now() + \(slew)
            OR EXISTS (SELECT FROM pushmta_engine.delivery d
                WHERE d.state IN ('pending', 'preparing', 'in_progress', 'paused') AND d.changed_at > now() + \(slew))
            OR EXISTS (SELECT FROM pushmta_engine.application_health h
                WHERE h.next_probe_at IS NOT NULL AND h.changed_at > now() + \(slew))
            OR EXISTS (SELECT FROM pushmta_engine.delivery_part u WHERE \(waitsTooLong("u")))
        """

    /// A part that could not be loaded says not when that was, but nobody waits longer than the longest wait.
    private static func waitsTooLong(_ part: String) -> String {
        """
        \(part).load_failures > 0 AND \(part).state <> 'done'
            AND \(part).not_before > now() + \(slew) + \(LoadProblem.longestWait) * interval '1 second'
        """
    }

    private static let stepBackUnloadedSQL = """
        UPDATE pushmta_engine.delivery_part p SET not_before = now()
        WHERE p.id = ANY(ARRAY(SELECT f.id FROM pushmta_engine.delivery_part f
            WHERE \(waitsTooLong("f")) ORDER BY f.id FOR NO KEY UPDATE SKIP LOCKED))
        """

    private static let stepBackPartsSQL = """
        UPDATE pushmta_engine.delivery_part p
        SET not_before = now() + greatest(p.not_before - p.created_at, interval '0'), created_at = now()
        WHERE p.id = ANY(ARRAY(SELECT f.id FROM pushmta_engine.delivery_part f
            WHERE f.state <> 'done' AND f.created_at > now() + \(slew) ORDER BY f.id FOR NO KEY UPDATE SKIP LOCKED))
        """

    /// A start that was not in the future when it was asked for was meant for that moment.
    private static let stepBackDeliveriesSQL = """
        UPDATE pushmta_engine.delivery d
        SET start_at = CASE WHEN d.start_at <= d.changed_at THEN least(d.start_at, now()) ELSE d.start_at END, changed_at = now()
        WHERE d.id = ANY(ARRAY(SELECT f.id FROM pushmta_engine.delivery f
            WHERE f.state IN ('pending', 'preparing', 'in_progress', 'paused') AND f.changed_at > now() + \(slew)
            ORDER BY f.id FOR NO KEY UPDATE SKIP LOCKED))
        """

    private static let stepBackProbesSQL = """
        UPDATE pushmta_engine.application_health h
        SET next_probe_at = now() + greatest(h.next_probe_at - h.changed_at, interval '0'), changed_at = now()
        WHERE h.next_probe_at IS NOT NULL AND h.changed_at > now() + \(slew)
        """
}
