import PostgresClient

/// How many active alarms are unacknowledged.
package struct AlarmCount: Sendable, Hashable {
    package let critical: Int
    package let all: Int
}

extension Store {
    /// Records which alarms have started and ended; false if another process has just done so.
    @discardableResult
    package func noteAlarms() async throws -> Bool {
        try await query("SELECT pushmta_engine.note_alarms()").one { try $0.bool() }
    }

    /// How many seconds ago alarms were last checked for the history, by the database's clock; nil if never.
    package func secondsSinceAlarmLook() async throws -> Double? {
        try await query(
            "SELECT extract(epoch FROM clock_timestamp() - l.looked_at)::double precision FROM pushmta.alarm_look l"
        ).oneOrNil { try $0.doubleOrNil() } ?? nil
    }

    /// Alarms: active ones first, then those that ended last.
    ///
    /// - Parameters:
    ///   - openOnly: only active alarms.
    ///   - limit: the maximum number.
    package func alarmHistory(openOnly: Bool = false, limit: Int) async throws -> [AlarmRecord] {
        let result = try await query(
            """
            SELECT r.id, r.severity, r.code, r.subject_kind, r.subject, r.text, r.remedy, r.began_at, r.began_at, r.ended_at,
                r.acknowledged_by, r.acknowledged_at
            FROM pushmta.alarm_history r WHERE NOT $1 OR r.ended_at IS NULL
            ORDER BY r.ended_at DESC NULLS FIRST, r.severity, r.began_at DESC, r.id LIMIT $2
            """,
            [.bool(openOnly), .int64(Int64(limit))]
        )
        return try all(result) { row in
            let (id, alarm, beganAt) = (try row.int64(), try Self.alarm(&row), try row.time())
            let (endedAt, by) = (try row.timeOrNil(), try row.text())
            return AlarmRecord(
                id: id,
                alarm: alarm,
                beganAt: beganAt,
                endedAt: endedAt,
                acknowledgement: try row.timeOrNil().map { AlarmRecord.Acknowledgement(at: $0, by: by) }
            )
        }
    }

    /// How many active alarms are unacknowledged.
    package func unseenAlarms() async throws -> AlarmCount {
        let result = try await query(
            """
            SELECT count(*) FILTER (WHERE r.severity = 'critical'), count(*) FROM pushmta.alarm_history r
            WHERE r.ended_at IS NULL AND r.acknowledged_at IS NULL
            """
        )
        return try result.one { row in AlarmCount(critical: Int(try row.int64()), all: Int(try row.int64())) }
    }

    /// Acknowledges an alarm, and logs that in the same transaction.
    package func acknowledgeAlarm(_ id: Int64, by author: AuditAuthor) async throws {
        try await query(
            "SELECT pushmta_engine.acknowledge_alarm($1, $2, $3)",
            [.int64(id), .text(author.name), .text(author.origin)]
        )
    }

    /// Does the same for a signed-in console user.
    package func acknowledgeAlarm(_ id: Int64, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_acknowledge(\(ConsoleActor.caller), $5)",
            actor.values + [.int64(id)]
        )
    }
}
