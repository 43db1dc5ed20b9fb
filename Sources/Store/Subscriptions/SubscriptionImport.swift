import PostgresClient
import PushCore

extension Store {
    /// Imports subscriptions of an application in batches, each in a transaction of its own.
    ///
    /// A line changes a known address only if its time, at which the device registered, is later than what the database
    /// has. A line without a time only adds an unknown address. Values that a line does not have stay. An address that
    /// gets no messages is enabled again only if the options ask for it. A token that goes to another user gets a new
    /// subscription, which inherits an opt-out and a quarantine, and the old one is disabled.
    ///
    /// Of several lines with the same token the latest counts, and of those without a time the last one, however far
    /// apart they are. A dry run, which stores nothing, judges each batch separately. Parameters that the application
    /// declares go to their columns. Any number of imports may run at once, and devices can register meanwhile.
    ///
    /// - Parameters:
    ///   - rows: the lines in batches, as a file reader returns them.
    ///   - progress: called with the report so far after each batch. If an error ends the import, this is what was
    ///     imported.
    package func importSubscriptions<Batches: AsyncSequence>(
        application: String,
        rows batches: Batches,
        options: ImportOptions = ImportOptions(),
        progress: @Sendable (ImportReport) -> Void = { _ in }
    ) async throws -> ImportReport where Batches.Element == [ImportRow] {
        let application = try await self.application(named: application)
        let declared = try await declarations(application: application.name)
        let now = try await query("SELECT clock_timestamp()").one { try $0.time() }
        let latest = now.advanced(byMilliseconds: Self.clockTolerance)
        let age = try Self.time(options.age, now: now, latest: latest)
        let check = SubscriptionCheck(platform: application.platform, latest: latest)
        var report = ImportReport()
        for try await batch in batches {
            let placed = batch.map { row in
                var row = row.placed(by: declared)
                row.registeredAt = row.registeredAt ?? age
                return row
            }
            let sound = try check.sound(placed, options.skipsMalformed, &report)
            let rows = report.latestOfEachToken(sound)
            if !rows.isEmpty { try await importBatch(rows, application: application.id, options, &report) }
            report.lastLine = batch.last?.line ?? report.lastLine
            progress(report)
        }
        return report
    }

    /// The clocks of two machines differ by less than this.
    private static let clockTolerance: Int64 = 60_000

    private static func time(_ age: ImportAge?, now: DatabaseTime, latest: DatabaseTime) throws -> DatabaseTime? {
        guard case .at(let time)? = age else { return age == nil ? nil : now }
        guard time <= latest else {
            throw StoreError(
                .invalid,
                "A file cannot be from \(time.internetText): the database's clock says \(now.internetText).",
                hint: "give the time at which the file was exported"
            )
        }
        return time
    }

    /// Attempts of a batch that conflicts with another change of the same subscriptions, such as a gateway's report on
    /// a token, or an opt-out. Most of these end within milliseconds.
    private static let maxAttempts = 8
    /// After that, another session's open transaction may hold a row without end: its lines are skipped, and all others
    /// are imported.
    private static let patientAttempts = 4

    private func importBatch(
        _ rows: [ImportRow],
        application: Int32,
        _ options: ImportOptions,
        _ report: inout ImportReport
    ) async throws {
        let lines = ImportLines.copyText(rows)
        let batch = ImportBatch(
            application: application,
            id: report.id,
            source: options.source,
            isDryRun: options.isDryRun,
            bringsBack: options.bringsBack.map(\.rawValue).sorted()
        )
        var attempt = 1
        while true {
            do {
                let (counts, id) = try await storeBatch(lines, batch, passesBusy: attempt > Self.patientAttempts)
                report.id = id
                for row in counts {
                    try report.add(row.kind, held: row.held, count: row.count, lines: row.lines)
                }
                return
            } catch let error as PostgresError where Self.isConflict(error) {
                guard attempt < Self.maxAttempts else {
                    throw StoreError(
                        .conflict,
                        "Others keep changing the subscriptions that are imported: \(error.message).",
                        hint: "import the file again"
                    )
                }
                // Nothing of the batch was stored. Another session may hold a lock for seconds.
                let maxDelay = error.isLockTimeout ? 500 : 10
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...maxDelay * attempt)))
                attempt += 1
            }
        }
    }

    /// A deadlock, a lock held by another session, a change between two statements, or a token that another session has
    /// just enabled.
    private static func isConflict(_ error: PostgresError) -> Bool {
        error.isUniqueViolation || ["40P01", "55P03", "40001"].contains(error.sqlState)
    }

    /// Judges a batch, and stores it unless it is a dry run. Returns the results with their numbers of lines, and the
    /// import's number once it has changed something.
    ///
    /// - Parameter passesBusy: whether to skip lines whose subscriptions another transaction has locked.
    private func storeBatch(
        _ lines: [UInt8],
        _ batch: ImportBatch,
        passesBusy: Bool
    ) async throws -> ([ImportCount], id: Int64?) {
        try await transaction { transaction in
            func execute(_ sql: String, _ parameters: [PostgresValue] = []) async throws -> PostgresResult {
                try await transaction.execute(PostgresStatement(sql, parameters, prepare: false))
            }
            _ = try await execute(ImportStatements.staging)
            _ = try await transaction.copyIn(ImportStatements.copy, rows: ImportLines.chunks(lines))
            let application = PostgresValue.int32(batch.application)
            let bringsBack = PostgresValue.textArray(batch.bringsBack)
            // Only now: the statements before need no lock, and registrations should wait as briefly as possible.
            if !batch.isDryRun {
                _ = try await execute(Self.lockSQL)
                _ = try await execute(Self.rowLockTimeoutSQL)
            }
            _ = try await execute(ImportStatements.judge, [application, bringsBack, .int64OrNull(batch.id)])
            if passesBusy { _ = try await execute(ImportStatements.passBusy) }
            let counts = try all(try await execute(ImportStatements.counts), ImportCount.init)
            var (changed, moved) = (0, 0)
            for row in counts {
                if row.kind != "kept" && row.kind != "busy" { changed += row.count }
                if row.kind == "moved" { moved += row.count }
            }
            guard !batch.isDryRun, changed > 0 else { return (counts, batch.id) }
            var id = batch.id ?? 0
            if batch.id == nil {
                id = try await execute(ImportStatements.begin, [application, .text(batch.source)])
                    .one { try $0.int64() }
            }
            _ = try await execute(ImportStatements.note, [.int64(id)])
            let ended = try await execute(ImportStatements.end).affectedRows
            let updated = try await execute(ImportStatements.update, [bringsBack]).affectedRows
            let inserted = try await execute(ImportStatements.insert, [application, .int64(id), bringsBack])
                .affectedRows
            _ = try await execute(ImportStatements.inheritCategories, [application])
            guard updated + inserted == changed, ended == moved else {
                throw PostgresError(
                    code: .sqlState("40001"),
                    message: "subscriptions changed while they were imported"
                )
            }
            return (counts, id)
        }
    }

    /// The lock of `register_devices` and of imports. Each reads what is there and then adds to it, so two at once
    /// would miss each other, or deadlock on each other's rows. A wait lasts for one batch.
    private static let lockSQL = "LOCK TABLE pushmta_engine.registration_lock IN SHARE ROW EXCLUSIVE MODE"
    /// While this waits for a row that another transaction has changed, all registrations wait for it.
    private static let rowLockTimeoutSQL = "SET LOCAL lock_timeout = '100ms'"
}

/// What the lines of a batch have in common.
private struct ImportBatch: Sendable {
    let application: Int32
    /// The import's number; nil until it has changed something.
    let id: Int64?
    let source: String
    let isDryRun: Bool
    let bringsBack: [String]
}

/// A number of lines of a batch with the same result.
private struct ImportCount: Sendable {
    let kind: String
    let held: String
    let count: Int
    /// The first of them.
    let lines: [Int64]

    init(_ row: inout RowReader) throws {
        kind = try row.text()
        held = try row.text()
        count = Int(try row.int64())
        lines = try row.int64Array()
    }
}

/// Separates lines that can be imported from those that cannot.
struct SubscriptionCheck {
    let platform: Platform
    /// No line may be newer than this; nil if that is not checked.
    var latest: DatabaseTime?

    /// The maximum number of problems in a report.
    private static let kept = ImportReport.keptWords

    /// The lines that can be imported. The others are reported, or thrown if nothing may be skipped.
    func sound(_ rows: [ImportRow], _ skipMalformed: Bool, _ report: inout ImportReport) throws -> [ImportRow] {
        var sound: [ImportRow] = []
        for var row in rows {
            guard let problem = problem(row) else {
                // Devices and files write hexadecimal digits in both cases; otherwise one token would count as two.
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
        if let problem = row.userKey.flatMap(KeyText.problem(userKey:)) { return "its \(problem)" }
        if let latest, let time = row.registeredAt, time > latest {
            return "its registered_at is in the future"
        }
        if let problem = formProblem(row) { return problem }
        let texts =
            [row.userKey, row.locale, row.timeZone].compactMap(\.self) + row.recipient.flatMap { [$0.key, $0.value] }
            + row.parameters.flatMap { [$0.key, $0.value] }
        return texts.contains { $0.utf8.contains(0) }
            ? "a value holds the character U+0000, which no database stores" : nil
    }

    private func formProblem(_ row: ImportRow) -> String? {
        if let problem = DeviceSetting.problem(locale: row.locale ?? "") { return "its locale \(problem)" }
        return DeviceSetting.problem(timeZone: row.timeZone ?? "").map { "its time_zone \($0)" }
    }
}
