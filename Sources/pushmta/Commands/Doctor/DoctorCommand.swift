import ArgumentParser
import PushCore
import Store

/// `pushmta doctor`: looks at everything that a host needs and says what is wrong.
struct DoctorCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check settings, database, credentials, gateways and folders of this host.",
        discussion: "Exit status 1 if a check failed."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        var results = [
            CheckResult("settings", .ok, loaded.file.map { "read from \($0)" } ?? "no file, defaults and environment")
        ]
        results.append(JournalFolderCheck(folder: loaded.values.mta.workingPath).result)
        results += CredentialKeyFileCheck(settings: loaded.values).results
        results += [WebCertificateNotice.check(loaded.values.web)].compactMap(\.self)
        results += await DatabaseChecks(settings: loaded.values).results()
        var table = Table(["check", "verdict", "finding"])
        for result in results {
            table.add([.text(result.subject), .text(result.verdict.rawValue), .text(result.finding)])
        }
        table.show(json: json)
        if results.contains(where: { $0.verdict == .failed }) { throw ExitCode(CommandFailure.Code.negative.rawValue) }
    }
}
