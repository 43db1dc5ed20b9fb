import ArgumentParser
import PushCore
import Store

/// `pushmta subscription import FILE`.
struct SubscriptionImportCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import subscriptions from a CSV file.",
        discussion: """
            The first line names the columns: push_token, user_key, locale, time_zone, parameter.NAME for parameters of the \
            subscription; every other name is a field of the recipient. A malformed line is reported with its number and left \
            out, the rest goes in; the exit status is then 65.
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
        let report = try await StoreSession.run(loaded.values) { store in
            try await store.importSubscriptions(application: application, rows: source, skipMalformed: true) { done in
                bar.show(bytes: source.findings.bytes, subscriptions: done.created + done.updated)
            }
        }
        bar.finish()
        let findings = source.findings
        let faults = (findings.faults + report.problems).sorted { $0.line < $1.line }
        for fault in faults { StandardError.write("\(file), \(fault)\n") }
        let skipped = findings.faultyLines + report.skipped
        if skipped > faults.count { StandardError.write("… and \(skipped - faults.count) more lines\n") }
        StandardOutput.line(
            "\(report.created) created, \(report.updated) updated, \(report.disabled) disabled because their token went to another "
                + "user, \(skipped) lines left out"
        )
        if skipped > 0 { throw ExitCode(CommandFailure.Code.data.rawValue) }
    }
}
