import PostgresClient

/// An alarm that there is or was, a row of `pushmta.alarm_history`.
public struct AlarmRecord: Sendable, Hashable {
    /// The id by which it is acknowledged.
    public let id: Int64
    /// What it said last.
    public let alarm: AlarmRow
    public let beganAt: DatabaseTime
    /// When it ended; nil while it goes on.
    public let endedAt: DatabaseTime?
    /// When it was acknowledged, and by whom.
    public let acknowledgement: Acknowledgement?

    /// Who has acknowledged an alarm, and when.
    public struct Acknowledgement: Sendable, Hashable {
        public let at: DatabaseTime
        public let by: String
    }
}

/// How many active alarms are unacknowledged.
public struct AlarmCount: Sendable, Hashable {
    public let critical: Int
    public let all: Int

    public init(critical: Int, all: Int) {
        self.critical = critical
        self.all = all
    }
}

extension Store {
    /// Notes which alarms have begun and ended; false if another process has just looked.
    @discardableResult
    public func noteAlarms() async throws -> Bool {
        try await query("SELECT pushmta_engine.note_alarms()").one { try $0.bool() }
    }

    /// How many seconds ago alarms were last looked at for the history, on the database's clock; nil if never.
    public func secondsSinceAlarmLook() async throws -> Double? {
        try await query(
            "SELECT extract(epoch FROM clock_timestamp() - l.looked_at)::double precision FROM pushmta.alarm_look l"
        ).oneOrNil { try $0.doubleOrNil() } ?? nil
    }

    /// Alarms, those that go on first, then the last that ended.
    ///
    /// - Parameters:
    ///   - openOnly: only those that go on.
    ///   - most: at most so many.
    public func alarmHistory(openOnly: Bool = false, most: Int) async throws -> [AlarmRecord] {
        let result = try await query(
            """
            SELECT r.id, r.severity, r.code, r.subject_kind, r.subject, r.text, r.remedy, r.began_at, r.began_at, r.ended_at,
                r.acknowledged_by, r.acknowledged_at
            FROM pushmta.alarm_history r WHERE NOT $1 OR r.ended_at IS NULL
            ORDER BY r.ended_at DESC NULLS FIRST, r.severity, r.began_at DESC, r.id LIMIT $2
            """,
            [.bool(openOnly), .int64(Int64(most))]
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
    public func unseenAlarms() async throws -> AlarmCount {
        let result = try await query(
            """
            SELECT count(*) FILTER (WHERE r.severity = 'critical'), count(*) FROM pushmta.alarm_history r
            WHERE r.ended_at IS NULL AND r.acknowledged_at IS NULL
            """
        )
        return try result.one { row in AlarmCount(critical: Int(try row.int64()), all: Int(try row.int64())) }
    }

    /// Acknowledges an alarm, and logs that in the same transaction.
    public func acknowledgeAlarm(_ id: Int64, by author: AuditAuthor) async throws {
        try await query(
            "SELECT pushmta_engine.acknowledge_alarm($1, $2, $3)",
            [.int64(id), .text(author.name), .text(author.origin)]
        )
    }

    /// The same for a user who has signed in to the console.
    public func acknowledgeAlarm(_ id: Int64, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_acknowledge($1, \(Self.momentAndIdle), $4, $5)",
            actor.values + [.text(actor.address), .int64(id)]
        )
    }
}
