import Administration
import ArgumentParser
import PushCore
import Store
import Synchronization

/// `pushmta subscription import FILE`.
struct SubscriptionImportCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import subscriptions from a CSV file.",
        discussion: """
            The first line names the columns: push_token, user_key, locale, time_zone, registered_at, parameter.NAME \
            for parameters of the subscription, and recipient.NAME for fields of the recipient. Other columns are \
            refused.

            The age of a line is its registered_at, or --as-of for lines without one. A line newer than what is known \
            about its address updates it, an older one changes nothing, and one without an age only adds an unknown \
            address. Fields without a column are not changed; an empty cell empties its field. An address that gets no \
            messages (opted out, denylisted, in quarantine, unregistered, renewed, moved, disabled) stays so, unless \
            --bring-back names its state and the line is newer. An opt-out stays when the address moves to another \
            user.

            --dry-run changes nothing and reports the same numbers, except that lines far apart with the same token \
            are counted independently. --undo reverts an import of the last day, except for what has changed since.

            A malformed line is reported with its number and skipped, and the rest is imported; the exit status is \
            then 65. It is also 65 if a quote that is never closed has swallowed the rest of the file. The report says \
            on which line the quote opens, and how many lines were never read. Of several lines with the same token, \
            the last one counts. Imports may run in parallel, and while devices register.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The file; - for standard input.")
    var file: String?

    @Option(name: .customLong("app"), help: "The application that the subscriptions belong to.")
    var application: String?

    @Option(
        name: .customLong("as-of"),
        help: "When the file was exported, for lines without registered_at: a time with its zone, or now."
    )
    var asOf: String?

    @Option(
        name: .customLong("bring-back"),
        help:
            "States of addresses that shall get messages again, separated by commas: \(ImportState.words)."
    )
    var bringBack: String?

    @Flag(name: .customLong("dry-run"), help: "Change nothing; report what would change.")
    var isDryRun = false

    @Option(help: "Undo the import with this number.")
    var undo: Int64?

    func validate() throws {
        if undo != nil {
            guard file == nil, application == nil, asOf == nil, bringBack == nil, !isDryRun else {
                throw ValidationError("--undo takes only a number.")
            }
            return
        }
        guard file != nil else { throw ValidationError("Name the file, or an import to --undo.") }
        guard application != nil else { throw ValidationError("Name the application with --app.") }
        _ = try options()
    }

    private func options() throws -> ImportOptions {
        var options = ImportOptions()
        options.skipsMalformed = true
        options.isDryRun = isDryRun
        options.source = file ?? ""
        if let asOf {
            guard asOf != "now" else {
                options.age = .now
                return try bringing(options)
            }
            guard let time = ZonedTime(asOf) else { throw ValidationError("--as-of \(ZonedTime.words), nor now.") }
            options.age = .at(DatabaseTime(microsecondsSince1970: time.microsecondsSince1970))
        }
        return try bringing(options)
    }

    private func bringing(_ options: ImportOptions) throws -> ImportOptions {
        var options = options
        for word in (bringBack ?? "").split(separator: ",") {
            guard let state = ImportState.allCases.first(where: { $0.word == KeyText.trimmed(String(word)) }) else {
                throw ValidationError("--bring-back does not know the state \(word); it takes \(ImportState.words).")
            }
            options.bringsBack.insert(state)
        }
        return options
    }

    func execute(_ loaded: LoadedSettings) async throws {
        if let undo { return try await takeBack(undo, loaded) }
        guard let file, let application else { return }
        let source = try SubscriptionFile(path: file)
        let bar = ImportBar(size: source.size)
        let options = try options()
        // What is stored if an error ends the import.
        let reached = Mutex(ImportReport())
        let report: ImportReport
        do {
            report = try await StoreSession.run(loaded.values) { store in
                try await store.importSubscriptions(application: application, rows: source, options: options) { done in
                    reached.withLock { $0 = done }
                    bar.show(bytes: source.report.bytes, subscriptions: done.created + done.updated)
                }
            }
        } catch {
            bar.finish()
            let done = reached.withLock { $0 }
            if done.lastLine > 0 {
                tell(file, done, source)
                StandardError.write(
                    "pushmta: the import ended after line \(done.lastLine): up to there \(ImportWords.numbers(done)). These changes stay; you may import the same file again.\n"
                )
                tellUndo(done)
            }
            throw error
        }
        bar.finish()
        tell(file, report, source)
        let lines = ImportWords.lines(report, faulty: source.report.faultyLines, isDryRun: isDryRun)
        for (place, line) in lines.enumerated() {
            StandardOutput.line(line, place == 0 ? ImportWords.values(report, faulty: source.report.faultyLines) : [])
        }
        tellUndo(report)
        if source.report.faultyLines + report.skipped > 0 { throw ExitCode(CommandFailure.Code.data.rawValue) }
    }

    private func takeBack(_ id: Int64, _ loaded: LoadedSettings) async throws {
        let report = try await StoreSession.run(loaded.values) { try await $0.undoImport(id) }
        StandardOutput.line(
            "Import \(id) was undone: \(report.removed) removed, \(report.restored) restored, \(report.left) not undone: "
                + "changed since, or locked by an open transaction, after which they can be undone too.",
            [("removed", Cell(report.removed)), ("restored", Cell(report.restored)), ("left", Cell(report.left))]
        )
    }

    private func tellUndo(_ report: ImportReport) {
        guard let id = report.id else { return }
        StandardOutput.line(
            "To undo it within a day: pushmta subscription import --undo \(id)",
            [("import", .integer(id))]
        )
    }

    /// Reports how the columns were interpreted. Then it lists the first lines that were skipped, those replaced by a
    /// later line, and those whose address still gets no messages.
    private func tell(_ file: String, _ report: ImportReport, _ source: SubscriptionFile) {
        let fileReport = source.report
        StandardError.write("\(file): \(source.columnWords)\n")
        let faults = (fileReport.faults + report.problems).sorted { $0.line < $1.line }
        tell(file, faults.prefix(CSVReport.keptFaults), of: fileReport.faultyLines + report.skipped, "")
        tell(file, report.replacements[...], of: report.replaced, " with the same token as a later one")
        let quiet = ImportState.allCases.reduce(0) {
            $0 + report.kept[.state($1), default: 0] + report.movedInState[$1, default: 0]
        }
        tell(file, report.keptLines[...], of: quiet, " whose address gets nothing")
        if let words = fileReport.wordsOnValues { StandardError.write("\(file): \(words)\n") }
    }

    private func tell(_ file: String, _ lines: ArraySlice<ImportProblem>, of count: Int, _ words: String) {
        for line in lines { StandardError.write("\(file), \(line)\n") }
        if count > lines.count { StandardError.write("… and \(count - lines.count) more lines\(words)\n") }
    }
}

/// The numbers of an import, in words.
enum ImportWords {
    /// The numbers of changes, in one line.
    static func numbers(_ report: ImportReport) -> String {
        let returned = report.returned.values.reduce(0, +)
        return
            "\(report.created) created, \(report.updated) updated, \(report.moved) moved to another user, \(returned) brought back"
    }

    /// The numbers of all lines, under their `--json` names.
    static func values(_ report: ImportReport, faulty: Int) -> [(String, Cell)] {
        [
            ("created", Cell(report.created)), ("updated", Cell(report.updated)), ("moved", Cell(report.moved)),
            ("brought_back", Cell(report.returned.values.reduce(0, +))),
            ("kept", Cell(report.kept.values.reduce(0, +))), ("left_out", Cell(faulty + report.skipped)),
            ("replaced", Cell(report.replaced)), ("lines", Cell(report.lines + faulty)),
        ]
    }

    /// What became of all lines, by kind.
    static func lines(_ report: ImportReport, faulty: Int, isDryRun: Bool) -> [String] {
        var first =
            "\(numbers(report)), \(report.kept.values.reduce(0, +)) not changed, \(faulty + report.skipped) lines skipped"
        if report.replaced > 0 { first += ", \(report.replaced) lines replaced by a later one with the same token" }
        first += " (\(report.lines + faulty) lines)"
        var lines = [first]
        for state in ImportState.allCases {
            if let count = report.returned[state] { lines.append("  brought back, \(state.word) before: \(count)") }
            if let count = report.movedInState[state] {
                lines.append("  moved to another user, and still \(state.word): \(count)")
            }
        }
        if let count = report.kept[.known] {
            lines.append("  kept: \(count) known, and the line has no age (registered_at, or --as-of)")
        }
        if let count = report.kept[.older] { lines.append("  kept: \(count) older than what is known") }
        for state in ImportState.allCases {
            guard let count = report.kept[.state(state)] else { continue }
            lines.append(
                "  kept: \(count) \(state.word); --bring-back \(state.word) with a newer time would send to them again"
            )
        }
        if isDryRun {
            lines.append(
                "This was a dry run: nothing was changed. Lines far apart with the same token are counted independently."
            )
        }
        return lines
    }
}

extension ImportState {
    /// The state as commands write it.
    var word: String { rawValue.replacing("_", with: "-") }

    static let words = allCases.map(\.word).joined(separator: ", ")
}
