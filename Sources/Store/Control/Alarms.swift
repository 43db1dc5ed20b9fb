import PostgresClient

extension Store {
    /// The active alarms, critical ones first; monitoring rights suffice.
    ///
    /// - Parameter delivery: only alarms of this delivery and its days.
    package func alarms(delivery: Int64? = nil) async throws -> [AlarmRow] {
        guard let delivery else {
            do {
                return try await alarms(Self.alarmsSQL(where: "true"), [])
            } catch let error as PostgresError where error.isLockTimeout {
                // The session that has locked a table with alarm data is itself an alarm.
                return try await lockedAlarms()
            }
        }
        return try await alarms(Self.alarmsSQL(where: Self.isOfDelivery), [.int64(delivery)])
    }

    private func lockedAlarms() async throws -> [AlarmRow] {
        let waits = try await lockWaits()
        let unreadable = AlarmRow(
            severity: .critical,
            code: "alarms_unreadable",
            subjectKind: "database",
            text: "a table that alarms are read from is locked, so some may be missing",
            remedy: "end the transaction that has locked it"
        )
        return [unreadable]
            + waits.map { wait in
                AlarmRow(
                    severity: .critical,
                    code: "lock_held",
                    subjectKind: "session",
                    subject: String(wait.pid),
                    text: wait.text,
                    remedy: "let it end its transaction, or end it",
                    since: wait.since
                )
            }
    }

    private func alarms(_ sql: String, _ parameters: [PostgresValue]) async throws -> [AlarmRow] {
        try all(try await query(sql, parameters), Self.alarm)
    }

    static func alarm(_ row: inout RowReader) throws -> AlarmRow {
        AlarmRow(
            severity: try row.choice(),
            code: try row.text(),
            subjectKind: try row.text(),
            subject: try row.text(),
            text: try row.text(),
            remedy: try row.text(),
            since: try row.timeOrNil()
        )
    }

    /// The ids as an array, so that each branch of the view looks them up by its index.
    private static let isOfDelivery = """
        a.subject_kind IN ('delivery', 'account') AND a.delivery_id = ANY(ARRAY(
            SELECT $1::bigint UNION ALL SELECT d.day_id FROM pushmta.delivery_day d WHERE d.delivery_id = $1))
        """

    /// Of the critical ones, held locks come first: others may follow from them.
    private static func alarmsSQL(where condition: String) -> String {
        """
        SELECT a.severity, a.code, a.subject_kind, a.subject, a.text, a.remedy, a.since FROM pushmta.alarm a WHERE \(condition)
        ORDER BY a.severity, a.code <> 'lock_held', a.subject_kind, a.subject, a.code, a.text
        """
    }
}
