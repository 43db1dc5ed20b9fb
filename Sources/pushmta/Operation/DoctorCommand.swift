import Administration
import ArgumentParser
import Foundation
import Gateways
import OperatingSystem
import PushCore
import Store
import SystemPackage

/// `pushmta doctor`: checks everything that a host needs, and says what is wrong.
struct DoctorCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check settings, database, credentials, gateways and folders of this host.",
        discussion: """
            Each line that is not ok says what to do. Run it as the service's user, or with --user and that user's \
            name: root may do what the service may not. Exit status 1 if a check failed.
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

/// Whether users other than the engine's may read the key that seals credentials.
struct CredentialKeyFileCheck: Sendable {
    /// The settings of this host.
    let settings: Settings

    /// The results. Empty without a key file, as the check of each credential reports that. Also empty for a file
    /// that is not a key file, whose owner and permissions are not ours to change.
    var results: [CheckResult] {
        guard let source = CredentialKeySource(settings, environment: ProcessInfo.processInfo.environment),
            (try? source.load()) != nil,
            let attributes = try? FileManager.default.attributesOfItem(
                atPath: URL(fileURLWithPath: source.path).resolvingSymlinksInPath().path
            ), let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue
        else { return [] }
        let subject = "credential key file"
        // systemd manages its own file, which only the service's user can read.
        guard mode & 0o077 != 0, !source.isSystemds else {
            return [CheckResult(subject, .ok, "\(source.path) is readable by its user only")]
        }
        return [
            CheckResult(
                subject,
                .warning,
                "\(source.path) has the mode \(String(mode & 0o777, radix: 8)): its group or others may read it, and open every credential in the database with it. \(remedy(source.path, attributes[.ownerAccountName] as? String))"
            )
        ]
    }
}

extension CredentialKeyFileCheck {
    /// If the service's user owns the file, the group needs no rights. If another user owns it, the group's rights
    /// may be all that the service has.
    private func remedy(_ path: String, _ owner: String?) -> String {
        guard let owner, owner != MachineUser.current?.name || MachineUser.isRoot else { return "`chmod 600 \(path)`" }
        return
            "Give it to the user that the service runs as, then remove other users' rights: `chown USER: \(path) && chmod 600 \(path)`"
            + " (it now belongs to \(owner))"
    }
}

/// Whether a file can be written to the folder of the journals. The first supervisor creates a missing folder: one
/// created here as root would not belong to the service.
struct JournalFolderCheck {
    let folder: String

    /// The result; nil if there is no folder yet.
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
