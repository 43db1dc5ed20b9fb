import PostgresClient

/// Something that an operator should look at, a row of `pushmta.alarm`.
public struct AlarmRow: Sendable, Hashable {
    public enum Severity: String, Sendable, CaseIterable {
        /// Messages do not go out, go out in vain, or soon will.
        case critical
        /// Somebody should look at it.
        case warning
    }

    public let severity: Severity
    /// Its kind, for programs, such as `gateway_trouble`.
    public let code: String
    /// What its subject is: `application`, `account`, `credential`, `host`, `child`, `versions`, `web process`, `delivery`, `feedback`,
    /// `retention`.
    public let subjectKind: String
    /// The subject's name or id, "" where there is but one of the kind.
    public let subject: String
    /// What is wrong.
    public let text: String
    /// What to do, "" if nothing.
    public let remedy: String
    /// Since when; nil if that is not known.
    public let since: DatabaseTime?

    public init(
        severity: Severity,
        code: String,
        subjectKind: String,
        subject: String = "",
        text: String,
        remedy: String = "",
        since: DatabaseTime? = nil
    ) {
        self.severity = severity
        self.code = code
        self.subjectKind = subjectKind
        self.subject = subject
        self.text = text
        self.remedy = remedy
        self.since = since
    }

    /// The kind of the subject with its name.
    public var fullSubject: String { subject.isEmpty ? subjectKind : "\(subjectKind) \(subject)" }

    /// What is wrong, with what to do.
    public var sentence: String { remedy.isEmpty ? text : "\(text): \(remedy)" }
}

extension Store {
    /// What somebody should look at, critical things first; the rights of monitoring suffice.
    ///
    /// - Parameter delivery: alarms of this delivery and its days only.
    public func alarms(delivery: Int64? = nil) async throws -> [AlarmRow] {
        guard let delivery else {
            do {
                return try await alarms(Self.alarmsSQL(where: "true"), [])
            } catch let error as PostgresError where error.isLockTimeout {
                // The session that has locked a table with alarm data is the alarm.
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

    /// An array of the ids, so that each part of the view looks them up by its index.
    private static let isOfDelivery = """
        a.subject_kind IN ('delivery', 'account') AND a.delivery_id = ANY(ARRAY(
            SELECT $1::bigint UNION ALL SELECT d.day_id FROM pushmta.delivery_day d WHERE d.delivery_id = $1))
        """

    /// Of critical ones first who holds a lock: others may follow from it.
    private static func alarmsSQL(where condition: String) -> String {
        """
        SELECT a.severity, a.code, a.subject_kind, a.subject, a.text, a.remedy, a.since FROM pushmta.alarm a WHERE \(condition)
        ORDER BY a.severity, a.code <> 'lock_held', a.subject_kind, a.subject, a.code, a.text
        """
    }
}
