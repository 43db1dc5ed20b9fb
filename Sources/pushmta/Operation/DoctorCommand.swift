import Administration
import ArgumentParser
import Foundation
import Gateways
import OperatingSystem
import PushCore
import Store
import SystemPackage

/// `pushmta doctor`: looks at everything that a host needs and says what is wrong.
struct DoctorCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check settings, database, credentials, gateways and folders of this host.",
        discussion: """
            Each line that is not ok says what to do. Call it with --user and the service's user, or as that user: root may do what that \
            one may not. Exit status 1 if a check failed.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var user: CheckUser

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        do {
            try user.take()
            try await execute(try await global.load())
        } catch {
            throw CommandFailure.report(error)
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        var results = SettingsChecks(loaded: loaded).results
        results += [JournalFolderCheck(folder: loaded.values.mta.workingPath).result].compactMap(\.self)
        results += CredentialKeyFileCheck(settings: loaded.values).results
        results += await HostChecks(settings: loaded.values).results()
        results += await DatabaseChecks(settings: loaded.values).results()
        var table = Table(["check", "result", "detail"])
        for result in results {
            table.add([.text(result.subject), .text(result.result.rawValue), .text(result.detail)])
        }
        table.show(json: json)
        if results.contains(where: { $0.result == .failed }) { throw ExitCode(CommandFailure.Code.negative.rawValue) }
    }
}

/// What one check of the doctor found.
struct CheckResult: Sendable {
    enum Result: String, Sendable {
        case ok
        /// It works, but an operator should know.
        case warning
        case failed
        /// It could not be looked at, because something before it failed.
        case skipped
    }

    let subject: String
    let result: Result
    /// What was found and, if it is not right, what to do.
    let detail: String

    /// The result of a check.
    init(_ subject: String, _ result: Result, _ detail: String) {
        self.subject = subject
        self.result = result
        self.detail = detail
    }
}

/// Whether others than the engine's user may read the key under which credentials are sealed.
struct CredentialKeyFileCheck: Sendable {
    /// The settings of this host.
    let settings: Settings

    /// What was found; nothing without a key file, as the check of each credential says that, and nothing of a file that is none: whose it
    /// is and who reads it is not for us to change.
    var results: [CheckResult] {
        guard let source = CredentialKeySource(settings, environment: ProcessInfo.processInfo.environment),
            (try? source.load()) != nil,
            let attributes = try? FileManager.default.attributesOfItem(
                atPath: URL(fileURLWithPath: source.path).resolvingSymlinksInPath().path
            ), let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue
        else { return [] }
        let subject = "credential key file"
        // systemd's own file is its business; it is readable by the service's user only.
        guard mode & 0o077 != 0, !source.isSystemds else {
            return [CheckResult(subject, .ok, "\(source.path) is for its user only")]
        }
        return [
            CheckResult(
                subject,
                .warning,
                "\(source.path) has the mode \(String(mode & 0o777, radix: 8)): group or others may read it, and with it and the database they can open every credential. \(remedy(source.path, attributes[.ownerAccountName] as? String))"
            )
        ]
    }
}

extension CredentialKeyFileCheck {
    /// Of a file that is the service's user's own, its group's rights are not needed; of another's they may be all that the service has.
    private func remedy(_ path: String, _ owner: String?) -> String {
        guard let owner, owner != MachineUser.current?.name || MachineUser.isRoot else { return "`chmod 600 \(path)`" }
        return
            "Give it to the user that the service runs as, then remove the others' rights: `chown USER: \(path) && chmod 600 \(path)`"
            + " (it is \(owner)'s now)"
    }
}

/// Whether a file can be written into the folder of the journals. A folder that is not there yet is the first supervisor's to make: what
/// root made here would not be the service's.
struct JournalFolderCheck {
    let folder: String

    /// What was found; nil if there is no folder yet.
    var result: CheckResult? {
        let subject = "journal folder"
        guard FileManager.default.fileExists(atPath: folder) else { return nil }
        do {
            let file = FilePath(folder + "/doctor-\(UUID().uuidString)")
            let descriptor = try FileDescriptor.open(
                file,
                .writeOnly,
                options: [.create, .exclusiveCreate],
                permissions: .ownerReadWrite
            )
            defer { try? FileManager.default.removeItem(atPath: file.string) }
            try descriptor.closeAfter { _ = try descriptor.writeAll("x".utf8) }
            return CheckResult(subject, .ok, "\(folder) can be written")
        } catch {
            return CheckResult(
                subject,
                .failed,
                "\(folder) cannot be written: \(error). mta.workingPath must name a folder that only PushMTA uses and its user owns."
            )
        }
    }
}
