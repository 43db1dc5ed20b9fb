import Administration
import Console
import Foundation
import Gateways
import OperatingSystem
import PostgresClient
import PushCore
import WebServer

/// What the processes would find wrong with settings when they start, found without starting them and without changing anything.
struct SettingsChecks: Sendable {
    /// The settings, with where each came from.
    let loaded: LoadedSettings

    private var settings: Settings { loaded.values }

    /// One result for each thing that was looked at.
    var results: [CheckResult] {
        [file] + [user].compactMap(\.self) + connectionStrings + [key] + folders + web + console + files + [descriptors]
    }

    private var file: CheckResult {
        guard let file = loaded.file else {
            return CheckResult("settings", .ok, "no file: defaults, environment and flags")
        }
        guard loaded.sources.values.contains(.file) else {
            return CheckResult(
                "settings",
                .warning,
                "\(file) sets nothing, as all of its lines are comments or empty: take the # away before what is to count"
            )
        }
        return CheckResult("settings", .ok, "read from \(file)")
    }

    /// Root can read and write everything, and so sees none of what keeps the service's user from its work.
    private var user: CheckResult? {
        let folder = settings.mta.workingPath
        guard MachineUser.isRoot, let owner = MachineUser.owner(of: folder), owner != 0,
            let name = MachineUser(id: owner)?.name
        else { return nil }
        return CheckResult(
            "user",
            .warning,
            "looked at as root, who may do everything, while \(folder) is \(name)'s: add --user \(name) to see what that user sees"
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
            // A host of web processes may need none, and a unit's key is there for the unit only.
            return CheckResult(subject, source == nil ? .warning : .failed, "\(error)")
        }
    }

    private var folders: [CheckResult] {
        // A host need not run a web process: what nobody has set there keeps none from anything.
        let ofWeb: CheckResult.Result = loaded.source(of: "web.workingPath") == .default ? .warning : .failed
        return [
            Self.folder("mta.workingPath", settings.mta.workingPath, .failed),
            Self.folder("web.workingPath", settings.web.workingPath, ofWeb),
        ]
    }

    private static func folder(_ key: String, _ folder: String, _ result: CheckResult.Result) -> CheckResult {
        guard folder.hasPrefix("/") else {
            let text = "“\(folder)” counts from the folder in which a process starts: write the whole path, from / on"
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

    /// What to do about a folder that the service cannot write to. An existing one has an owner, and is not taken away from it: of a
    /// system's folder that would lock out its owner.
    private static func remedy(_ key: String, _ folder: String, _ user: String) -> String {
        if let closed = MachineUser.folderClosed(on: folder) {
            return "\(user) may not enter \(closed). Name a folder in \(key) that \(user) can reach"
        }
        guard FileManager.default.fileExists(atPath: folder) else {
            return "create it (install -d -o \(user) -m 750 \(folder)), or name another one"
        }
        let owner = MachineUser.owner(of: folder).flatMap { MachineUser(id: $0)?.name } ?? "another user"
        return
            "it exists and belongs to \(owner). Name a folder in \(key) that only PushMTA uses; if this one is, give it to \(user)"
    }

    private var web: [CheckResult] {
        let web = settings.web
        var results: [CheckResult] = []
        if web.port == 0, web.tlsPort == 0 {
            let text = "neither web.port nor web.tlsPort is set: `pushmta web` has nothing to listen on"
            results.append(CheckResult("web.port", .warning, text))
        }
        if web.port > 0, web.port == web.tlsPort {
            let text = "\(web.tlsPort) is web.port, too: give two different ones"
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
        let problems = settings.console.problems + [ConsoleCertificate.problem(settings.console)].compactMap(\.self)
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
                    "\(chain) cannot be used: \(error). Give a readable PEM file of the authorities that gateways are trusted by"
                results.append(CheckResult("nmac.relay.trustedCertsChain", .failed, text))
            }
        }
        let program = settings.mta.master.executablePath
        if !program.isEmpty, !FileManager.default.isExecutableFile(atPath: program) {
            let text = "\(program) is no program that this user may run: name pushmta's whole path, or leave it empty"
            results.append(CheckResult("mta.master.executablePath", .failed, text))
        }
        return results
    }

    /// The hard limit is what counts: each process raises its own.
    private var descriptors: CheckResult {
        let needed = OpenFiles.supervisor(settings)
        guard let text = DescriptorLimit.shortage(of: needed, for: "supervisor with these settings") else {
            return CheckResult("open files", .ok, "\(DescriptorLimit.current) allowed here, \(needed) needed at most")
        }
        return CheckResult(
            "open files",
            .warning,
            "\(text) It is the limit of this shell that was looked at; a unit has its own."
        )
    }
}

/// What an operator should know of the certificates that web processes serve HTTPS with.
enum WebCertificateNotice {
    private static let remedy =
        "put another one there, then send its process SIGHUP (systemctl reload): it is read again without a restart"

    /// What the files of this host's settings say; nil if they ask for no HTTPS.
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
