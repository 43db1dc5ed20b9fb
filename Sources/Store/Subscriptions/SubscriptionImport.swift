import PostgresClient
import PushCore

extension Store {
    /// Imports subscriptions of an application, batch by batch, each in a transaction of its own.
    ///
    /// The same token and user again are updated and enabled again; a token that belongs to another user gets a new
    /// subscription and the old one is disabled. Of two lines with the same token the last one counts. Parameters that the
    /// application declares go to their columns. Any number may run at once, and devices register meanwhile.
    ///
    /// - Parameters:
    ///   - rows: the lines in batches, as a file reader makes them.
    ///   - skipMalformed: leave out what cannot be imported, and report it; else the first one ends the import with an
    ///     error, and batches before it stay imported.
    ///   - progress: told the report so far after each batch: if an error ends the import, that is what is in.
    public func importSubscriptions<Batches: AsyncSequence>(
        application: String,
        rows batches: Batches,
        skipMalformed: Bool = false,
        progress: @Sendable (ImportReport) -> Void = { _ in }
    ) async throws -> ImportReport where Batches.Element == [ImportRow] {
        let application = try await self.application(named: application)
        let declared = try await declarations(application: application.name)
        var report = ImportReport()
        for try await batch in batches {
            let placed = batch.map { $0.placed(by: declared) }
            let sound = try SubscriptionCheck(platform: application.platform).sound(placed, skipMalformed, &report)
            let rows = report.lastOfEachToken(sound)
            if !rows.isEmpty { try await importBatch(rows, application: application.id, &report) }
            report.lastLine = batch.last?.line ?? report.lastLine
            progress(report)
        }
        return report
    }

    /// Attempts of a batch that meets somebody's change of the same subscriptions: a gateway's word on a token, an opt-out. Each of
    /// these is over in milliseconds.
    private static let mostAttempts = 8

    private func importBatch(_ rows: [ImportRow], application: Int32, _ report: inout ImportReport) async throws {
        let lines = ImportLines.copyText(rows)
        var attempt = 1
        while true {
            do {
                let counts = try await storeBatch(lines, count: rows.count, application: application)
                report.disabled += counts[0]
                report.updated += counts[1] + counts[2]
                report.created += counts[3]
                return
            } catch let error as PostgresError where Self.isConflict(error) {
                guard attempt < Self.mostAttempts else {
                    throw StoreError(
                        .conflict,
                        "Others keep changing the subscriptions that are imported: \(error.message).",
                        hint: "import the file again"
                    )
                }
                // Nothing of the batch is in.
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...10 * attempt)))
                attempt += 1
            }
        }
    }

    /// A deadlock, a change between two statements, or a token that somebody else has just enabled.
    private static func isConflict(_ error: PostgresError) -> Bool {
        error.isUniqueViolation || error.sqlState == "40P01" || error.sqlState == "40001"
    }

    /// Stores a batch; returns how many rows were disabled, updated, enabled again and made.
    private func storeBatch(_ lines: [UInt8], count: Int, application: Int32) async throws -> [Int] {
        try await transaction { transaction in
            try await transaction.execute(PostgresStatement(Self.stagingSQL, prepare: false))
            _ = try await transaction.copyIn(
                "COPY pg_temp.pushmta_import (line, push_token, user_key, locale, time_zone, recipient, parameters) FROM STDIN",
                rows: ImportLines.chunks(lines)
            )
            // Only now: what was sent before needs no lock, and registrations wait for as short as can be.
            try await transaction.execute(
                PostgresStatement("SELECT pg_advisory_xact_lock($1)", [.int64(Self.registrationLock)], prepare: false)
            )
            let parameters: [PostgresValue] = [.int32(application)]
            var counts: [Int] = []
            for sql in [Self.disableSQL, Self.updateSQL, Self.enableSQL, Self.insertSQL] {
                counts.append(
                    try await transaction.execute(PostgresStatement(sql, parameters, prepare: false)).affectedRows
                )
            }
            guard counts.dropFirst().reduce(0, +) == count else {
                throw PostgresError(
                    code: .sqlState("40001"),
                    message: "subscriptions changed while they were imported"
                )
            }
            return counts
        }
    }

    /// The lock of `register_devices` and of imports: each of them looks at what is there and then adds to it, so that two at once
    /// would miss each other, or wait for each other's rows crosswise. Who waits, waits for one batch.
    private static let registrationLock: Int64 = 5_786_284_502_004

    private static let stagingSQL = """
        CREATE TEMP TABLE IF NOT EXISTS pushmta_import (line bigint, push_token text, user_key text, locale text,
            time_zone text, recipient jsonb, parameters jsonb) ON COMMIT DELETE ROWS
        """

    /// One line of each token, always in the same order of tokens.
    private static let linesSQL = "(SELECT * FROM pg_temp.pushmta_import ORDER BY push_token)"

    private static let disableSQL = """
        UPDATE pushmta_engine.subscription s SET enabled = false, disabled_at = now(), disabled_reason = 'token_moved'
        FROM \(linesSQL) i
        WHERE s.application_id = $1 AND s.push_token = i.push_token AND s.enabled AND s.user_key <> i.user_key
        """

    /// A registration forgets the soft errors before it.
    private static let updateSQL = """
        UPDATE pushmta_engine.subscription s SET registered_at = now(), user_key_proven = true, locale = i.locale, time_zone = i.time_zone,
            recipient = coalesce(i.recipient, s.recipient), parameters = coalesce(i.parameters, s.parameters),
            soft_errors = 0, quarantine_reason = CASE WHEN s.quarantine_status IN (1, 2) THEN '' ELSE s.quarantine_reason END,
            quarantined_at = CASE WHEN s.quarantine_status = 2 THEN NULL ELSE s.quarantined_at END,
            quarantine_status = CASE WHEN s.quarantine_status IN (1, 2) THEN 0 ELSE s.quarantine_status END
        FROM \(linesSQL) i
        WHERE s.application_id = $1 AND s.push_token = i.push_token AND s.enabled AND s.user_key = i.user_key
        """

    /// Of several disabled rows the newest is enabled again.
    private static let enableSQL = """
        UPDATE pushmta_engine.subscription s SET registered_at = now(), user_key_proven = true, locale = i.locale, time_zone = i.time_zone,
            recipient = coalesce(i.recipient, s.recipient), parameters = coalesce(i.parameters, s.parameters),
            enabled = true, disabled_at = NULL, disabled_reason = '', quarantine_status = 0, quarantined_at = NULL,
            quarantine_reason = '', soft_errors = 0
        FROM \(linesSQL) i
        WHERE s.application_id = $1 AND s.push_token = i.push_token AND NOT s.enabled AND s.user_key = i.user_key
            AND NOT EXISTS (SELECT FROM pushmta_engine.subscription e
                WHERE e.application_id = $1 AND e.push_token = i.push_token AND (e.enabled OR e.user_key = s.user_key AND e.id > s.id))
        """

    private static let insertSQL = """
        INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key, user_key_proven, locale, time_zone, recipient,
            parameters)
        SELECT $1, i.push_token, i.user_key, true, i.locale, i.time_zone, i.recipient, i.parameters
        FROM \(linesSQL) i
        WHERE NOT EXISTS (SELECT FROM pushmta_engine.subscription e
            WHERE e.application_id = $1 AND e.push_token = i.push_token AND e.enabled)
        ORDER BY i.line
        ON CONFLICT DO NOTHING
        """
}

/// What an import did.
///
/// Each line is created, updated, replaced or left out, so that the four numbers together are the lines of the file.
public struct ImportReport: Sendable {
    /// Subscriptions that are new.
    public var created = 0
    /// Subscriptions that existed with the same user and were updated.
    public var updated = 0
    /// Older subscriptions of a token that went to another user, now disabled.
    public var disabled = 0
    /// Lines that were left out: the first 100 of them.
    public var problems: [ImportProblem] = []
    /// How many lines were left out.
    public var skipped = 0
    /// Lines in whose place a later one of the same token counts: the first 100 of them.
    public var replacements: [ImportProblem] = []
    /// How many lines were replaced so. A line of an earlier batch is not among them: it was imported, and what it made was updated.
    public var replaced = 0
    /// The number of the last line that was dealt with; 0 before the first batch.
    public var lastLine = 0

    /// Lines that are kept word for word.
    private static let kept = 100

    /// An empty report.
    public init() {}

    /// Takes the last line of each token, and notes the others.
    mutating func lastOfEachToken(_ rows: [ImportRow]) -> [ImportRow] {
        var last: [String: Int] = [:]
        for (index, row) in rows.enumerated() { last[row.pushToken] = index }
        guard last.count < rows.count else { return rows }
        return rows.enumerated().compactMap { index, row in
            guard let counting = last[row.pushToken], counting != index else { return row }
            replaced += 1
            if replacements.count < Self.kept {
                let problem = "its push token is on line \(rows[counting].line) again, which counts: keep one of them"
                replacements.append(ImportProblem(line: row.line, problem: problem))
            }
            return nil
        }
    }
}

/// A line of a subscription file that cannot be imported.
public struct ImportProblem: Sendable, Hashable, CustomStringConvertible {
    /// Line number in the file, 1 for the first.
    public let line: Int
    /// What is wrong with it and what it should be; without the token.
    public let problem: String

    /// A problem of a line.
    public init(line: Int, problem: String) {
        self.line = line
        self.problem = problem
    }

    /// `line 12: …`
    public var description: String { "line \(line): \(problem)" }
}

/// Tells lines that can be imported from those that cannot.
struct SubscriptionCheck {
    let platform: Platform

    /// Problems that a report keeps.
    private static let kept = 100
    /// A user key is in an index, whose entries are limited to a third of a page.
    private static let longestKey = DeviceRegistration.longestKey

    /// The lines that can be imported; the others are reported, or thrown if nothing may be skipped.
    func sound(_ rows: [ImportRow], _ skipMalformed: Bool, _ report: inout ImportReport) throws -> [ImportRow] {
        var sound: [ImportRow] = []
        for var row in rows {
            guard let problem = problem(row) else {
                // Devices and files write hexadecimal in both cases; the gateway takes one token for two otherwise.
                if platform == .ios { row.pushToken = row.pushToken.lowercased() }
                sound.append(row)
                continue
            }
            let found = ImportProblem(line: row.line, problem: problem)
            guard skipMalformed else {
                throw StoreError(
                    .invalid,
                    "Subscription file, \(found).",
                    hint: "fix the line, or skip malformed lines"
                )
            }
            report.skipped += 1
            if report.problems.count < Self.kept { report.problems.append(found) }
        }
        return sound
    }

    private func problem(_ row: ImportRow) -> String? {
        if let problem = PushTokenForm.problem(row.pushToken, platform) { return problem }
        if row.userKey.utf8.count > Self.longestKey { return "the user key is longer than \(Self.longestKey) bytes" }
        if let problem = formProblem(row) { return problem }
        let texts =
            [row.userKey, row.locale, row.timeZone] + row.recipient.flatMap { [$0.key, $0.value] }
            + row.parameters.flatMap { [$0.key, $0.value] }
        return texts.contains { $0.utf8.contains(0) }
            ? "a value holds the character U+0000, which no database stores" : nil
    }

    private func formProblem(_ row: ImportRow) -> String? {
        if let problem = DeviceSetting.problem(locale: row.locale) { return "its locale \(problem)" }
        return DeviceSetting.problem(timeZone: row.timeZone).map { "its time_zone \($0)" }
    }
}
