import Administration
import CurlClient
import Foundation
import LaboratoryStore
import NIOCore
import NIOPosix
import OperatingSystem
import PushCore
import Store
import Synchronization
import SystemPackage

/// Everything that a test site needs on one machine, in one folder: a private cluster, the gateway simulator, a supervisor; a
/// feedback worker and a web process for those that have devices; and a console for those that people look at.
struct TestSite: Sendable {
    /// The name of the site's database.
    static let databaseName = "pushmta"

    /// The folder: settings, key, journals, logs, the simulator's state.
    let folder: String
    /// The programs that it runs.
    let programs: Executables
    let cluster: PrivateCluster
    let gateways: TestSimulator
    let host: TestHost
    /// The hosts beside it, each with a supervisor, children and journals of its own.
    let others: [TestHost]

    var simulator: BackgroundProcess { gateways.process }
    /// The supervisor's process, whose children are its own.
    var supervisor: BackgroundProcess { host.supervisor }
    let web: BackgroundProcess
    let feedback: BackgroundProcess
    let console: BackgroundProcess
    /// The settings of the processes.
    var settingsFile: String { host.settingsFile }
    var journalFolder: String { host.journalFolder }
    /// The connection string of its database.
    var database: String { cluster.connectionString(Self.databaseName) }

    /// A site in `folder`; nothing is started.
    ///
    /// - Parameter programs: The folder of the product's programs; that of this program if none is given.
    /// - Parameter hosts: Supervisors of the site, each as on a host of its own.
    init(folder: String, programs: String? = nil, hosts: Int = 1) throws {
        let folder = URL(fileURLWithPath: folder).standardizedFileURL.path
        self.folder = folder
        self.programs = Executables(folder: programs)
        cluster = try PrivateCluster(site: folder)
        gateways = TestSimulator(site: folder)
        let executables = self.programs
        host = TestHost(folder: folder, programs: executables)
        others = (0..<hosts).dropFirst().map {
            TestHost(folder: folder + "/host\($0 + 1)", programs: executables)
        }
        web = BackgroundProcess(
            name: "web process",
            recordFile: folder + "/run/web.pid",
            logFile: folder + "/log/web.log"
        )
        feedback = BackgroundProcess(
            name: "feedback worker",
            recordFile: folder + "/run/feedback.pid",
            logFile: folder + "/log/feedback.log"
        )
        console = BackgroundProcess(
            name: "console",
            recordFile: folder + "/run/console.pid",
            logFile: folder + "/log/console.log"
        )
    }

    /// Ends what an earlier run left, and makes the folder and, with a cluster, an empty database.
    func prepare(withCluster: Bool = true) async throws {
        try await stopProcesses()
        for host in [host] + others {
            try host.makeFolders()
            try host.clearJournals()
        }
        guard withCluster else { return }
        let manager = FileManager.default
        let link = folder + "/" + PrivateCluster.siteFolder
        // A link of a site whose data lay elsewhere; never a folder.
        unlink(link)
        if !cluster.hasOwnDataFolder {
            try manager.createSymbolicLink(atPath: link, withDestinationPath: cluster.folder)
        }
        try await cluster.start()
        try await cluster.recreateDatabase(Self.databaseName)
    }

    /// Ends everything, the server last.
    func stop(withCluster: Bool = true) async throws {
        try await stopProcesses()
        if withCluster { try await cluster.stop() }
    }

    /// Removes everything. It has to be stopped.
    func remove() throws {
        try cluster.remove()
        if FileManager.default.fileExists(atPath: folder) { try FileManager.default.removeItem(atPath: folder) }
    }

    /// Runs a measurement, then ends and removes everything, also when it throws or its task is cancelled.
    ///
    /// - Parameter withCluster: Whether the site has a cluster of its own.
    func cleanly<Report: Sendable>(withCluster: Bool = true, _ measure: () async throws -> Report) async throws
        -> Report
    {
        do {
            let report = try await measure()
            try await clear(withCluster)
            return report
        } catch {
            try? await clear(withCluster)
            throw error
        }
    }

    /// Detached: a cancelled task could not wait for the processes.
    private func clear(_ withCluster: Bool) async throws {
        try await Task.detached {
            try await stop(withCluster: withCluster)
            try remove()
        }.value
    }

    private func stopProcesses() async throws {
        for host in [host] + others { try await host.supervisor.stop() }
        try await console.stop()
        try await web.stop()
        try await feedback.stop()
        try await simulator.stop()
    }
}

extension TestSite {
    /// Writes the key and the settings that the processes of the site use.
    ///
    /// - Parameter database: The database if it is not the site's own.
    /// - Parameter webPort: The port of the web process, on this machine only.
    /// - Parameter consolePort: The port of the console, on this machine only.
    /// - Parameter metrics: Where the processes serve metrics; nowhere unless given, as several sites may be up at once.
    func writeSettings(
        database: String? = nil,
        children: Int,
        webPort: Int? = nil,
        consolePort: Int? = nil,
        metrics: MetricsSettings = .off
    ) throws -> Settings {
        var settings = Settings()
        settings.metrics = metrics
        settings.database.url = database ?? self.database
        settings.credentialKeyFile = host.keyFile
        settings.mta.workingPath = host.journalFolder
        settings.mta.master.maxSpareServers = children
        settings.mta.master.startSpareServers = children
        if let webPort {
            settings.web.address = "127.0.0.1"
            settings.web.port = webPort
            settings.web.workingPath = folder + "/web"
            settings.web.accessLog = folder + "/log/access.log"
        }
        if let consolePort {
            settings.console.port = consolePort
            settings.console.databaseUrl = cluster.connectionString(
                Self.databaseName,
                host: cluster.folder,
                user: SiteConsole.databaseUser
            )
        }
        try host.write(settings)
        for other in others {
            var own = settings
            own.mta.workingPath = other.journalFolder
            try other.write(own)
        }
        return settings
    }

    /// Starts the supervisors with the site's settings; they start their children when there is work.
    func startSupervisor() async throws {
        for host in [host] + others { try await host.start() }
    }

    /// Starts the feedback worker with the site's settings.
    func startFeedback() async throws {
        try await host.start(feedback, "feedback")
    }

    /// Throws if one of the processes that were started has ended, with the end of its log.
    func checkProcesses(withDevices: Bool = false, withConsole: Bool = false) throws {
        let expected =
            [supervisor, simulator] + others.map(\.supervisor) + (withDevices ? [web, feedback] : [])
            + (withConsole ? [console] : [])
        for process in expected where process.running == nil {
            throw CommandFailure(
                .software,
                "The \(process.name) has ended. Its log \(process.logFile) ends with:\n\(process.stderrTail)"
            )
        }
    }
}

extension TestSite {
    /// How long the web process may take until it serves.
    private static let startLimit = Duration.seconds(30)
    private static let lookInterval = Duration.milliseconds(20)

    /// Starts the web process with the site's settings.
    ///
    /// - Returns: Its base address, when it is ready.
    func startWeb(_ settings: Settings) async throws -> String {
        try await host.start(web, "web")
        let base = "http://127.0.0.1:\(settings.web.port)"
        try await wait(for: web, toServe: base + "/health/ready")
        return base
    }

    /// Returns when a process answers at an address.
    func wait(for process: BackgroundProcess, toServe address: String) async throws {
        let client = CurlClient()
        let deadline = ContinuousClock.now.advanced(by: Self.startLimit)
        while ContinuousClock.now < deadline, process.running != nil {
            let response = try? await client.perform(CurlRequest(url: address))
            if response?.status == 200 { return }
            try await Task.sleep(for: Self.lookInterval)
        }
        throw CommandFailure(
            .software,
            "The \(process.name) does not start. Its log \(process.logFile) ends with:\n\(process.stderrTail)"
        )
    }
}

extension TestSite {
    /// Starts the simulator and returns where it listens and what it accepts.
    func startSimulator(_ arguments: [String] = []) async throws -> SimulatorReport {
        try await gateways.start(programs, arguments)
    }

    /// What the simulator has counted so far.
    func counters(_ report: SimulatorReport) async throws -> SimulatorCount {
        try await SimulatorControl(report).counters()
    }
}

extension TestSite {
    /// Refuses to take from people what they have put into a site: a new run ends its processes and makes its database anew.
    ///
    /// - Parameter fresh: whether that is what they ask for.
    /// - Throws: `CommandFailure` that says what is there and what can be done.
    func requireSampleOnly(_ sample: TestContents, fresh: Bool) async throws {
        try requireOwnSettings()
        guard !fresh else { return }
        let running = [simulator, supervisor, web, feedback, console].filter { $0.running != nil }.map(\.name)
        guard running.isEmpty else {
            throw CommandFailure(
                .temporary,
                "A site is up in \(folder) (\(running.joined(separator: ", "))): a new run would end it and delete its database with all that was added to it. `./Deploy/quickstart stop --folder \(folder)` ends it and keeps its data, --folder OTHER makes another site beside it, and --fresh starts over."
            )
        }
        let found = try await contents(besides: sample)
        guard !found.isEmpty else { return }
        throw CommandFailure(
            .data,
            "The database of the site in \(folder) holds more than the sample: \(found.joined(separator: ", ")). A new run would delete it: --folder OTHER makes another site beside it, and --fresh starts over. The site as it is comes up again with the commands that read \(settingsFile)."
        )
    }

    /// Settings of another installation stand for journals that must not go.
    private func requireOwnSettings() throws {
        guard let text = try? String(contentsOfFile: settingsFile, encoding: .utf8), !text.contains(cluster.folder)
        else {
            return
        }
        throw CommandFailure(
            .data,
            "\(settingsFile) is not the settings file of a site of quickstart, which would write over it and clear the journals beside it: choose another --folder."
        )
    }

    /// What the database holds besides the sample; the server runs afterwards only if it did before, or if there is nothing.
    private func contents(besides sample: TestContents) async throws -> [String] {
        guard FileManager.default.fileExists(atPath: cluster.data + "/PG_VERSION") else { return [] }
        let wasRunning = await cluster.isRunning()
        try await cluster.start()
        do {
            var settings = Settings()
            settings.database.url = database
            let configuration = StoreSession.configuration(settings, role: "quickstart")
            let found = try await Store.contents(besides: sample, configuration)
            if !found.isEmpty, !wasRunning { try await cluster.stop() }
            return found
        } catch {
            if !wasRunning { try? await cluster.stop() }
            throw error
        }
    }
}

/// Keeps a second run out of a folder for as long as this process lives.
struct FolderLock: Sendable {
    /// Takes the folder; the lock ends with the process, however it ends.
    ///
    /// - Throws: `CommandFailure` if another process has it, or if the folder cannot be written.
    init(folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/lock"
        let file: SystemPackage.FileDescriptor
        do {
            file = try .open(
                FilePath(path),
                .readWrite,
                options: [.create, .closeOnExec],
                permissions: .ownerReadWrite
            )
        } catch {
            throw CommandFailure(.unavailable, "\(path) cannot be written: \(error)")
        }
        // It stays open to the end of the process.
        guard (try? file.tryLock()) == true else {
            try? file.close()
            throw CommandFailure(
                .unavailable,
                "Another run works in \(folder): wait for its end, or choose another folder with --folder."
            )
        }
    }
}

/// Ports for servers that do not choose one by themselves.
enum FreePort {
    private static let given = Mutex<Set<Int>>([])

    /// A port of this machine that was free a moment ago, and that this process has asked for only once.
    static func any() async throws -> Int {
        while true {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(host: "127.0.0.1", port: 0).get()
            let port = channel.localAddress?.port ?? 0
            try await channel.close()
            if given.withLock({ $0.insert(port).inserted }) { return port }
        }
    }

    /// Waits until something listens on a port of this machine.
    static func untilOpen(_ port: Int) async throws {
        let deadline = ContinuousClock.now.advanced(by: .seconds(10))
        while true {
            do {
                return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(host: "127.0.0.1", port: port).get().close().get()
            } catch {
                guard ContinuousClock.now < deadline else { throw error }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }
}
