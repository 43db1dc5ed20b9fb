import Foundation
import Gateways
import NIOCore
import NIOPosix
import OperatingSystem
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// The messages for a wrong setup: which setting, where it was set, and what to do.
@Suite struct DoorTests {
    private let folder: TemporaryFolder
    private let program: Program

    init() throws {
        folder = try TemporaryFolder()
        program = try Program.pushmta()
    }

    private func run(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> Program.Ending {
        try await program.run(arguments, environment: environment)
    }

    private func settings(_ lines: String) throws -> String { try folder.write(lines, to: "pushmta.yaml") }

    @Test func aConnectionErrorNamesTheSettingItsPlaceAndTheWayOut() async throws {
        let file = try settings("database:\n  url: \"host=\(folder.path) dbname=x\"\n")
        let fromFile = try await run(["status", "--config", file]).errors
        #expect(
            fromFile.contains("database.url (file \(file))") && fromFile.contains("start PostgreSQL"),
            "\(fromFile)"
        )
        let environment = ["PUSHMTA_DATABASE_URL": "host=no-such-host.invalid dbname=x"]
        let fromEnvironment = try await run(["status"], environment).errors
        #expect(fromEnvironment.contains("environment, PUSHMTA_DATABASE_URL"), "\(fromEnvironment)")
        #expect(fromEnvironment.contains("this machine's DNS"), "\(fromEnvironment)")
        let port = try await FreePort.any()
        let fromFlag = try await run(["status", "--database", "host=127.0.0.1 port=\(port) dbname=x"])
        #expect(fromFlag.status == 69 && fromFlag.errors.contains("database.url (--database or --set)"))
        #expect(fromFlag.errors.contains("listen_addresses"), "\(fromFlag.errors)")
    }

    @Test func aDatabaseThatDoesNotAnswerIsSaidToBeWaitedForAndNotForLong() async throws {
        let silent = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(silent.localAddress?.port)
        let ending = try await run(["status", "--database", "host=127.0.0.1 port=\(port) dbname=x"])
        #expect(ending.status == 69 && ending.errors.contains("no answer within 5.0 seconds"), "\(ending.errors)")
        #expect(ending.errors.contains("waiting for the database") && ending.output.isEmpty, "\(ending.errors)")
        let own = try await run(["queue", "--database", "host=127.0.0.1 port=\(port) dbname=x connect_timeout=2"])
        #expect(own.status == 69 && own.errors.contains("no answer within 2.0 seconds"), "\(own.errors)")
        try await silent.close()
    }

    @Test func whatTheServerRefusesHasItsWayOut() async throws {
        let database = try await TestDatabase.create(.empty)
        let missing = try await run(["status", "--database", database.connectionString + " dbname=nobody_made_it"])
            .errors
        #expect(missing.contains("SQLSTATE 3D000") && missing.contains("createdb"), "\(missing)")
        let nobody = try await run(["status", "--database", database.connectionString + " user=nobody_is_this"]).errors
        #expect(nobody.contains("user=") && nobody.contains("--database or --set"), "\(nobody)")
    }

    @Test func aStringThatCannotBeReadShowsNoPassword() async throws {
        let secret = "pa%ss-word-of-somebody"
        for text in ["postgresql://me:\(secret)@host/db", "host=x \(secret)", "hots=x password=\(secret)"] {
            let ending = try await run(["status", "--database", text])
            #expect(ending.status == 69 && ending.errors.contains("Connection Strings"), "\(ending.errors)")
            #expect(!(ending.errors + ending.output).contains(secret), "\(ending.errors)")
            let check = try await run(["config", "check", "--database", text])
            #expect(check.status == 78 && check.errors.contains("database.url"), "\(check.errors)")
            #expect(!(check.errors + check.output).contains(secret), "\(check.errors)")
        }
        let wrong = PostgresConfiguration(
            "hots=x",
            applicationName: PostgresApplicationName(role: "test", host: "h", pid: 1)
        )
        #expect(wrong.formProblem?.contains("hots") == true)
    }

    /// The errors that `config check` finds, which are those that the processes would find.
    private static let wrong: [(setting: String, words: String)] = [
        ("web.tlsPort=8443", "web.certificateFile"), ("mta.workingPath=~/mta", "shells"),
        ("credentialKeyFile=/nowhere/key", "create-key"), ("web.tlsPort=8080", "web.port"),
        ("web.limits.trustedProxies=everybody", "10.0.0.0/8"),
        ("mta.workingPath=/proc/version/mta", "cannot be written"),
        ("nmac.relay.trustedCertsChain=/etc/hostname", "PEM"), ("mta.master.executablePath=/etc/passwd", "program"),
        ("web.accessLog=/proc/version/log", "cannot be written"),
    ]

    /// Following a remedy literally does no harm: it does not change the owner of an existing folder.
    @Test func noRemedyTakesAFolderAway() throws {
        var settings = LoadedSettings()
        settings.values.mta.workingPath = "/proc/version"
        let there = SettingsChecks(loaded: settings).results.first { $0.subject == "mta.workingPath" }
        #expect(there?.detail.contains("install -d") == false, "\(String(describing: there))")
        settings.values.mta.workingPath = "/proc/version/mta"
        let missing = SettingsChecks(loaded: settings).results.first { $0.subject == "mta.workingPath" }
        #expect(missing?.detail.contains("install -d -o") == true, "\(String(describing: missing))")
        // A file that is not a key belongs to other users, who may need to read it.
        settings.values.credentialKeyFile = "/etc/passwd"
        #expect(CredentialKeyFileCheck(settings: settings.values).results.isEmpty)
    }

    @Test func aFolderThatEverybodyWritesToIsNotOurs() {
        var settings = LoadedSettings()
        settings.values.mta.workingPath = "/tmp"
        let result = SettingsChecks(loaded: settings).results.first { $0.subject == "mta.workingPath" }
        #expect(result?.result == .warning, "\(String(describing: result))")
        #expect(result?.detail.contains("that only PushMTA uses") == true, "\(String(describing: result))")
    }

    @Test func aCertificateThatIsNoneIsSaidInWords() {
        var settings = LoadedSettings()
        settings.values.web.tlsPort = 8443
        settings.values.web.certificateFile = "/etc/hostname"
        settings.values.web.privateKeyFile = "/etc/hostname"
        settings.values.console.certificateFile = "/etc/hostname"
        settings.values.console.privateKeyFile = "/etc/hostname"
        let results = SettingsChecks(loaded: settings).results
        let result = results.first { $0.subject == "web certificate" }
        #expect(results.contains { $0.subject == "console" && $0.detail.contains("or is not in PEM format") })
        #expect(result?.detail.contains("the certificate cannot be read or is not in PEM format") == true)
        #expect(result?.detail.contains("failedTo") == false, "\(String(describing: result))")
    }

    @Test func anUnknownSettingGetsANearOneOrNone() async throws {
        func words(_ setting: String) async throws -> String {
            try await run(["config", "check", "--set", setting]).errors
        }
        let none = try await words("mta.foo=1")
        #expect(none.contains("Unknown setting mta.foo") && !none.contains("did you mean"), "\(none)")
        let near = try await words("web.prot=1")
        #expect(near.contains("did you mean web.port?"), "\(near)")
        let whole = try await words("maxAgeSec=1")
        #expect(whole.contains("did you mean mta.child.maxAgeSec?"), "\(whole)")
    }

    @Test(arguments: wrong.indices) func checksAreThoseOfTheProcesses(_ index: Int) async throws {
        let (setting, words) = Self.wrong[index]
        let good = ["--set", "mta.workingPath=\(folder.path)/mta", "--set", "web.workingPath=\(folder.path)/web"]
        #expect(try await run(["config", "check"] + good).status == 0)
        let ending = try await run(["config", "check"] + good + ["--set", setting])
        let key = String(setting.prefix { $0 != "=" })
        #expect(ending.status == 78 && ending.errors.contains(words), "\(ending.errors)")
        #expect(ending.errors.contains(key), "\(ending.errors)")
        // The check changes nothing.
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/mta"))
    }

    @Test func aFileOfCommentsSetsNothingAndIsToldSo() async throws {
        let file = try settings("# database:\n#   url: x\n\n")
        let loaded = try await SettingsLoader(file: file, environment: [:], flags: []).load()
        #expect(loaded.sources.isEmpty)
        let good = ["--set", "mta.workingPath=\(folder.path)/mta", "--set", "web.workingPath=\(folder.path)/web"]
        let ending = try await run(["config", "check", "--config", file] + good)
        #expect(ending.status == 0 && ending.errors.contains("sets nothing"), "\(ending.errors)")
    }

    @Test func aFileThatIsNotThereIsSaidToBeSo() async throws {
        let ending = try await run(["config", "check", "--config", "/nowhere/pushmta.yaml"])
        #expect(ending.status == 78 && ending.errors.contains("it does not exist"), "\(ending.errors)")
    }

    /// A supervisor without its key would start children that cannot send.
    @Test func aSupervisorThatCannotReadItsKeyEndsAndSaysSo() async throws {
        let words = [
            "supervisor", "run", "--set", "mta.workingPath=\(folder.path)/mta", "--database", "host=\(folder.path)",
        ]
        let missing = try await run(words + ["--set", "credentialKeyFile=\(folder.path)/key"])
        #expect(missing.status == 78 && missing.errors.contains("credential_key_unreadable"), "\(missing.errors)")
        #expect(missing.errors.contains("\(folder.path)/key") && missing.errors.contains("create-key"))
        let file = try folder.write("no key\n", to: "broken")
        #expect(try await run(words + ["--set", "credentialKeyFile=\(file)"]).status == 78)
    }

    /// Files that another user may not read. Root checks with that user's rights; other users are told how to check.
    @Test(.enabled(if: MachineUser.isRoot)) func rootLooksWithTheRightsOfTheServicesUser() async throws {
        let key = folder.path + "/key"
        try CredentialKeyFile.create(at: key)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        let common = [
            "--set", "credentialKeyFile=\(key)", "--set", "mta.workingPath=\(folder.path)/mta", "--set",
            "web.workingPath=\(folder.path)/web", "--database", "host=\(folder.path)",
        ]
        #expect(try await run(["config", "check"] + common).status == 0, "root sees nothing wrong")
        let asNobody = try await run(["config", "check", "--user", "nobody"] + common)
        #expect(asNobody.status == 78, "\(asNobody.errors)")
        #expect(asNobody.errors.contains("chown nobody \(key)"), "\(asNobody.errors)")
        #expect(asNobody.errors.contains("cannot be written by the user nobody"), "\(asNobody.errors)")
        // A file created in a closed folder cannot be reached either.
        let closed = folder.path + "/closed"
        try FileManager.default.createDirectory(
            atPath: closed,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        let inside = common.map { $0.hasPrefix("mta.workingPath=") ? "mta.workingPath=\(closed)/mta" : $0 }
        let unreachable = try await run(["config", "check", "--user", "nobody"] + inside).errors
        #expect(unreachable.contains("nobody may not enter \(closed)"), "\(unreachable)")
        #expect(!unreachable.contains("install -d -o nobody -m 750 \(closed)"), "\(unreachable)")
        let doctor = try await run(["doctor", "--json", "--user", "nobody"] + common)
        let failed = try doctor.rows().filter { $0["result"] as? String == "failed" }.compactMap {
            $0["check"] as? String
        }
        #expect(
            doctor.status == 1 && Set(failed).isSuperset(of: ["credentialKeyFile", "mta.workingPath", "database"]),
            "\(failed)"
        )
        let unknown = try await run(["doctor", "--user", "nobody-has-this-name"])
        #expect(unknown.status == 64 && unknown.errors.contains("getent"), "\(unknown.errors)")
    }

    @Test func theConnectionTheClockAndReplicasAreJudged() {
        func facts(
            local: Bool = false,
            address: String = "10.0.0.1",
            tls: String? = "TLSv1.3",
            superuser: Bool = false,
            run: Bool = true
        )
            -> SessionFacts
        {
            SessionFacts(
                user: "u",
                isLocal: local,
                serverAddress: address,
                tls: tls,
                isSuperuser: superuser,
                mayRun: run
            )
        }
        #expect(SessionChecks.transport(facts(), sslMode: "verify-full").result == .ok)
        #expect(SessionChecks.transport(facts(local: true, tls: nil), sslMode: "prefer").result == .ok)
        let open = SessionChecks.transport(facts(tls: nil), sslMode: "prefer")
        #expect(open.result == .warning && open.detail.contains("verify-full") && open.detail.contains("not encrypted"))
        #expect(SessionChecks.transport(facts(), sslMode: "require").result == .warning)
        #expect(SessionChecks.user(facts(run: false)).detail.contains("GRANT pushmta_runtime TO u"))
        #expect(SessionChecks.user(facts(superuser: true)).result == .warning)
        let now = Date()
        func clock(_ seconds: Double) -> CheckResult {
            ClockCheck.result("clock", ours: now, theirs: now.addingTimeInterval(seconds), uncertainty: 0.01)
        }
        #expect(clock(0.05).result == .ok && clock(-5).result == .warning && clock(90).result == .failed)
        #expect(clock(90).detail.contains("slow") && clock(-5).detail.contains("fast"))
        #expect(ClockCheck.date("Sun, 06 Nov 1994 08:49:37 GMT") == Date(timeIntervalSince1970: 784_111_777))
        func replica(_ state: String, _ seconds: Double?, _ bytes: Int64?) -> CheckResult {
            DatabaseChecks.replica(ReplicaFacts(name: "r", syncState: state, lagSeconds: seconds, lagBytes: bytes))
        }
        #expect(replica("sync", nil, 0).result == .ok && replica("async", 60, 5).result == .warning)
        #expect(replica("", nil, nil).detail.contains("pg_monitor"))
        #expect(HostChecks.disk("x", "/x", free: 1 << 20).result == .failed)
        #expect(HostChecks.disk("x", "/x", free: 1 << 40).result == .ok)
    }

    /// The check itself listens on a free port for a moment. So the process that needs the port must have it before the
    /// check.
    @Test func portsAreFreeOrOursOrSomebodyElses() async throws {
        func found(_ port: Int) async -> String {
            await PortCheck(key: "web.port", address: "127.0.0.1", port: port, owner: .web).result().detail
        }
        try await eventually("a port is free") { await found(try await FreePort.any()).hasPrefix("free") }
        let process = BackgroundProcess(name: "web", recordFile: folder.path + "/record", logFile: folder.path + "/log")
        var port = 0
        try await eventually("the web process listens on a port that nobody took before it") {
            if process.running == nil {
                port = try await FreePort.any()
                try await process.start(
                    program.path,
                    [
                        "web", "--database", "host=\(folder.path)", "--set", "web.port=\(port)", "--set",
                        "web.address=127.0.0.1", "--set", "web.workingPath=\(folder.path)/web",
                    ]
                )
            }
            let connection = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: port).get()
            try await connection?.close().get()
            return connection != nil && process.running != nil
        }
        #expect(await found(port).hasPrefix("used by our own `pushmta web`"))
        let wrong = PortCheck(key: "console.port", address: "127.0.0.1", port: port, owner: .console)
        #expect(await wrong.result().detail.contains("if this host should run `pushmta console`"))
        try await process.stop()
        let other = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { $0.close() }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        #expect(await found(try #require(other.localAddress?.port)).hasPrefix("another program"))
        try await other.close().get()
    }

    /// The check finds Apple's root certificate in the system's authorities, and reports if it is missing.
    @Test func applesRootIsLookedFor() async throws {
        let roots = try #require(try TrustedRoots(file: nil))
        #expect(roots.holdsAppleRoot && roots.count > 50, "\(roots.file)")
    }
}
