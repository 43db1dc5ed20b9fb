import Administration
import ArgumentParser
import PushCore
import Store
import Synchronization

/// `pushmta subscription`.
struct SubscriptionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscription",
        abstract: "Subscriptions: the devices of users.",
        subcommands: [SubscriptionImportCommand.self, SubscriptionListCommand.self, SubscriptionForgetCommand.self]
    )
}

/// `pushmta subscription import FILE`.
struct SubscriptionImportCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import subscriptions from a CSV file.",
        discussion: """
            The first line names the columns: push_token, user_key, locale, time_zone, parameter.NAME for parameters of the \
            subscription; every other name is a field of the recipient. A malformed line is reported with its number and left \
            out, the rest goes in; the exit status is then 65, as it is when a quote that is never closed has swallowed the rest of the \
            file: the report says on which line it opens and how many lines were never read. Of several lines with one token the last one counts. Any number of \
            imports may run at once, also while devices register.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The file; - for standard input.")
    var file: String

    @Option(name: .customLong("app"), help: "The application that the subscriptions belong to.")
    var application: String

    func execute(_ loaded: LoadedSettings) async throws {
        let source = try SubscriptionFile(path: file)
        let bar = ImportBar(size: source.size)
        // What is in if an error ends the import.
        let reached = Mutex(ImportReport())
        let report: ImportReport
        do {
            report = try await StoreSession.run(loaded.values) { store in
                try await store.importSubscriptions(application: application, rows: source, skipMalformed: true) {
                    done in
                    reached.withLock { $0 = done }
                    bar.show(bytes: source.report.bytes, subscriptions: done.created + done.updated)
                }
            }
        } catch {
            bar.finish()
            let done = reached.withLock { $0 }
            if done.lastLine > 0 {
                tell(done, source.report)
                StandardError.write(
                    "pushmta: the import ends behind line \(done.lastLine): until there \(Self.numbers(done)). That stays; the same file may be imported again.\n"
                )
            }
            throw error
        }
        bar.finish()
        tell(report, source.report)
        let skipped = source.report.faultyLines + report.skipped
        let replaced = report.replaced > 0 ? ", \(report.replaced) lines replaced by a later one of the same token" : ""
        StandardOutput.line("\(Self.numbers(report)), \(skipped) lines left out\(replaced)")
        if skipped > 0 { throw ExitCode(CommandFailure.Code.data.rawValue) }
    }

    private static func numbers(_ report: ImportReport) -> String {
        "\(report.created) created, \(report.updated) updated, \(report.disabled) disabled because their token went to another user"
    }

    /// Names the first lines that were left out, and those that a later one has replaced.
    private func tell(_ report: ImportReport, _ fileReport: CSVReport) {
        let faults = (fileReport.faults + report.problems).sorted { $0.line < $1.line }
        tell(faults.prefix(CSVReport.keptFaults), of: fileReport.faultyLines + report.skipped, "")
        tell(report.replacements[...], of: report.replaced, " with a token of a later one")
        if let words = fileReport.wordsOnValues { StandardError.write("\(file): \(words)\n") }
    }

    private func tell(_ lines: ArraySlice<ImportProblem>, of count: Int, _ words: String) {
        for line in lines { StandardError.write("\(file), \(line)\n") }
        if count > lines.count { StandardError.write("… and \(count - lines.count) more lines\(words)\n") }
    }
}

/// `pushmta subscription list`.
struct SubscriptionListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List subscriptions.")

    @OptionGroup var global: GlobalOptions

    @Option(name: .customLong("app"), help: "Only those of this application.")
    var application: String?

    @Option(help: "Only those of this service.")
    var service: String?

    @OptionGroup var limit: RowLimit

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { store in
            // A name that nothing has would look like nobody's subscriptions.
            if let application { _ = try await store.application(named: application) }
            if let service { _ = try await store.service(named: service) }
            return try await store.subscriptions(application: application, service: service, limit: limit.rows)
        }
        var table = Table([
            "id", "application", "push_token", "user_key", "enabled", "disabled_reason", "quarantine_status",
            "recipient", "parameters",
        ])
        for row in rows {
            table.add([
                .integer(row.id), .text(row.application), .text(row.pushToken), .text(row.userKey), .flag(row.enabled),
                .text(row.disabledReason), .text(row.quarantineStatus), .text(row.recipient), .text(row.parameters),
            ])
        }
        table.show(json: json)
    }
}

/// `pushmta subscription forget`: what a data-protection request asks for.
struct SubscriptionForgetCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget a user of a service, for good.",
        discussion: """
            Empties the user's subscriptions and deletes the user from targets, variables, exclusions and seed addresses of all deliveries.
            Logs keep ids that lead to nobody; `pushmta feedback` takes addresses, browsers and variables out of them, beginning a minute
            later, day by day: pushmta.forgotten_subscription tells when all are clean. A message that a child has loaded already may still
            leave. An app that registers later is somebody new. There is no way back.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Option(help: "The service.")
    var service: String

    @Option(help: "The user's key in that service.")
    var userKey: String

    func execute(_ loaded: LoadedSettings) async throws {
        let found = try await StoreSession.run(loaded.values) { store in
            try await store.forgetUser(service: service, userKey: userKey)
        }
        guard !found.isNothing else {
            StandardOutput.line("Service \(service) knows no such user; nothing was changed.")
            return
        }
        StandardOutput.line(
            "Forgotten: subscriptions \(found.subscriptions), targets \(found.targets), exclusions \(found.exclusions), seed addresses \(found.seeds)."
        )
    }
}
