import Administration
import Console
import Foundation
import Gateways
import OperatingSystem
import PostgresClient
import PushCore
import Supervisor
import WebServer

/// What the processes would object to in the settings at startup, found without starting them or changing anything.
struct SettingsChecks: Sendable {
    /// The settings with their sources.
    let loaded: LoadedSettings

    private var settings: Settings { loaded.values }

    /// One result for each check.
    var results: [CheckResult] {
        [file] + [user].compactMap(\.self) + connectionStrings + [key] + folders + signals + web + console + files
            + [descriptors]
    }

    private var file: CheckResult {
        guard let file = loaded.file else {
            return CheckResult("settings", .ok, "no file: defaults, environment and flags")
        }
        guard loaded.sources.values.contains(.file) else {
            return CheckResult(
                "settings",
                .warning,
                "\(file) sets nothing, as all of its lines are comments or empty: remove the # before the settings to use"
            )
        }
        return CheckResult("settings", .ok, "read from \(file)")
    }

    /// Root can read and write everything, and so does not see what stops the service's user.
    private var user: CheckResult? {
        let folder = settings.mta.workingPath
        guard MachineUser.isRoot, let owner = MachineUser.owner(of: folder), owner != 0,
            let name = MachineUser(id: owner)?.name
        else { return nil }
        return CheckResult(
            "user",
            .warning,
            "checked as root, who may do everything, but \(folder) belongs to \(name): add --user \(name) to check with that user's rights"
        )
    }

    private var connectionStrings: [CheckResult] {
        [
            ("database.url", settings.database.url), ("web.databaseUrl", settings.web.databaseUrl),
            ("console.databaseUrl", settings.console.databaseUrl),
        ].compactMap { key, text in
            var configuration = StoreSession.configuration(settings, role: "config")
            configuration.connectionString = text
            return configuration.formProblem.map {
                CheckResult(
                    key,
                    .failed,
                    "\($0) (set by \(loaded.source(of: key).rawValue)). Write host=… dbname=… user=…, or postgresql://user@host/database"
                )
            }
        }
    }

    private var key: CheckResult {
        let subject = "credentialKeyFile"
        let environment = ProcessInfo.processInfo.environment
        let source = CredentialKeySource(settings, environment: environment)
        do {
            _ = try CredentialKeySource.load(settings, environment: environment)
            return CheckResult(subject, .ok, "\(source?.path ?? "") can be read")
        } catch {
            // A host with only web processes may need no key, and systemd provides a unit's key only to the unit.
            return CheckResult(subject, source == nil ? .warning : .failed, "\(error)")
        }
    }

    private var folders: [CheckResult] {
        // A host need not run a web process: a folder left at its default is at most a warning.
        let ofWeb: CheckResult.Result = loaded.source(of: "web.workingPath") == .default ? .warning : .failed
        return [
            Self.folder("mta.workingPath", settings.mta.workingPath, .failed),
            Self.folder("web.workingPath", settings.web.workingPath, ofWeb),
        ]
    }

    private static func folder(_ key: String, _ folder: String, _ result: CheckResult.Result) -> CheckResult {
        guard folder.hasPrefix("/") else {
            let text =
                "“\(folder)” is relative to the folder in which a process starts: write the absolute path, beginning with /"
            return CheckResult(key, .warning, text)
        }
        guard let problem = MachineUser.problemOfWriting(into: folder) else {
            guard !MachineUser.isEverybodys(folder) else {
                let text = "every user of this machine may write to \(folder): name a folder that only PushMTA uses"
                return CheckResult(key, .warning, text)
            }
            return CheckResult(key, .ok, "\(folder) can be written")
        }
        let user = MachineUser.current?.name ?? "of the service"
        return CheckResult(
            key,
            result,
            "\(folder) cannot be written by the user \(user) (\(problem)): \(remedy(key, folder, user))"
        )
    }

    /// What to do about a folder that the service cannot write to. An existing folder is not taken away from its
    /// owner: for a system folder, that would lock the owner out.
    private static func remedy(_ key: String, _ folder: String, _ user: String) -> String {
        if let closed = MachineUser.folderClosed(on: folder) {
            return "\(user) may not enter \(closed). Set \(key) to a folder that \(user) can reach"
        }
        guard FileManager.default.fileExists(atPath: folder) else {
            return "create it (install -d -o \(user) -m 750 \(folder)), or name another one"
        }
        let owner = MachineUser.owner(of: folder).flatMap { MachineUser(id: $0)?.name } ?? "another user"
        return
            "it exists and belongs to \(owner). Set \(key) to a folder that only PushMTA uses; if this is one, give it to \(user)"
    }

    private var signals: [CheckResult] {
        SignalAllowList(settings.mta.signals.allowedAddresses).problems
            .map { CheckResult("mta.signals.allowedAddresses", .failed, $0) }
    }

    private var web: [CheckResult] {
        let web = settings.web
        var results: [CheckResult] = []
        if web.port == 0, web.tlsPort == 0 {
            let text = "neither web.port nor web.tlsPort is set: `pushmta web` has nothing to listen on"
            results.append(CheckResult("web.port", .warning, text))
        }
        if web.port > 0, web.port == web.tlsPort {
            let text = "\(web.tlsPort) is also web.port: give two different ports"
            results.append(CheckResult("web.tlsPort", .failed, text))
        }
        results += WebSettingsCheck.problems(web).map { CheckResult("web", .failed, $0) }
        results += [WebCertificateNotice.check(web)].compactMap(\.self)
        if !web.accessLog.isEmpty, web.accessLog != "-" {
            let folder = URL(fileURLWithPath: web.accessLog).deletingLastPathComponent().path
            let isThere = FileManager.default.fileExists(atPath: web.accessLog)
            let problem =
                isThere
                ? (FileManager.default.isWritableFile(atPath: web.accessLog) ? nil : "it may not be written")
                : MachineUser.problemOfWriting(into: folder)
            if let problem {
                let text =
                    "\(web.accessLog) cannot be written (\(problem)): give it to the service's user, or name another one"
                results.append(CheckResult("web.accessLog", .failed, text))
            }
        }
        return results
    }

    private var console: [CheckResult] {
        let problems =
            settings.console.problems + [ConsoleCertificateCheck.problem(settings.console)].compactMap(\.self)
        let notice = settings.console.proxyNotice.map { CheckResult("console.trustedProxies", .ok, $0) }
        return problems.map { CheckResult("console", .failed, $0) } + [notice].compactMap(\.self)
    }

    private var files: [CheckResult] {
        var results: [CheckResult] = []
        let chain = settings.nmac.relay.trustedCertsChain
        if !chain.isEmpty {
            do {
                try CertificateAuthorities.check(Array(try Data(contentsOf: URL(fileURLWithPath: chain))))
                let number = try TrustedRoots(file: chain)?.count ?? 0
                results.append(CheckResult("nmac.relay.trustedCertsChain", .ok, "\(chain): authorities \(number)"))
            } catch {
                let text =
                    "\(chain) cannot be used: \(error). Give a readable PEM file of the authorities that sign the gateways' certificates"
                results.append(CheckResult("nmac.relay.trustedCertsChain", .failed, text))
            }
        }
        let program = settings.mta.master.executablePath
        if !program.isEmpty, !FileManager.default.isExecutableFile(atPath: program) {
            let text =
                "\(program) is not a program that this user may run: give the absolute path of pushmta, or leave the setting empty"
            results.append(CheckResult("mta.master.executablePath", .failed, text))
        }
        return results
    }

    /// The hard limit is what counts: each process raises its own soft limit.
    private var descriptors: CheckResult {
        let needed = OpenFiles.supervisor(settings)
        guard let text = DescriptorLimit.shortage(of: needed, for: "supervisor with these settings") else {
            return CheckResult("open files", .ok, "\(DescriptorLimit.current) allowed here, \(needed) needed at most")
        }
        return CheckResult(
            "open files",
            .warning,
            "\(text) This is the limit of the current shell; a systemd unit has its own."
        )
    }
}

/// What an operator should know about the certificates of the web processes.
enum WebCertificateNotice {
    private static let remedy =
        "replace it, then send the process SIGHUP (systemctl reload), which reloads it without a restart"

    /// The result for the files that this host's settings name; nil if they do not ask for HTTPS.
    static func check(_ settings: WebSettings) -> CheckResult? {
        let subject = "web certificate"
        let file = settings.certificateFile
        switch WebCertificateCheck.result(settings) {
        case nil: return nil
        case .unusable(let reason): return CheckResult(subject, .failed, reason)
        case .good(let seconds):
            let text = "\(file) \(ExpiryNotice.text(secondsLeft: seconds))"
            switch ExpiryNotice(secondsLeft: seconds) {
            case nil: return CheckResult(subject, .ok, text)
            case .over: return CheckResult(subject, .failed, "\(text): \(remedy)")
            case .month, .week, .day: return CheckResult(subject, .warning, "\(text): \(remedy)")
            }
        }
    }
}
