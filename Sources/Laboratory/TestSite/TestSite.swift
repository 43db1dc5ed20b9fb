import Administration
import CurlClient
import Foundation
import LaboratoryStore
import PushCore
import Store

/// A test site on one machine, in one folder: a private cluster, the gateway simulator and a supervisor. Sites with
/// devices also have a feedback worker and a web process, and sites for users a console.
struct TestSite: Sendable {
    /// The name of the site's database.
    static let databaseName = "pushmta"

    /// The folder of settings, key, journals, logs and the simulator's state.
    let folder: String
    /// The site's programs.
    let programs: Executables
    let cluster: PrivateCluster
    let gateways: TestSimulator
    let host: TestHost
    /// The additional hosts, each with its own supervisor, children and journals.
    let others: [TestHost]

    var simulator: BackgroundProcess { gateways.process }
    /// The supervisor's process, which starts the children.
    var supervisor: BackgroundProcess { host.supervisor }
    let web: BackgroundProcess
    let feedback: BackgroundProcess
    let console: BackgroundProcess
    /// The processes' settings file.
    var settingsFile: String { host.settingsFile }
    var journalFolder: String { host.journalFolder }
    /// The connection string of the site's database.
    var database: String { cluster.connectionString(Self.databaseName) }

    /// A site in `folder`; nothing is started.
    ///
    /// - Parameter programs: The folder of PushMTA's programs; by default this program's folder.
    /// - Parameter hosts: The number of the site's supervisors, each acting as its own host.
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

    /// Ends what an earlier run left, and creates the folder and, with a cluster, an empty database.
    func prepare(withCluster: Bool = true) async throws {
        try await stopProcesses()
        for host in [host] + others {
            try host.makeFolders()
            try host.clearJournals()
        }
        guard withCluster else { return }
        let manager = FileManager.default
        let link = folder + "/" + PrivateCluster.siteFolder
        // The link of an earlier site whose data was elsewhere; `unlink` never removes a folder.
        unlink(link)
        if !cluster.hasOwnDataFolder {
            try manager.createSymbolicLink(atPath: link, withDestinationPath: cluster.folder)
        }
        try await cluster.start()
        try await cluster.recreateDatabase(Self.databaseName)
    }

    /// Stops everything, the database server last.
    func stop(withCluster: Bool = true) async throws {
        try await stopProcesses()
        if withCluster { try await cluster.stop() }
    }

    /// Removes everything. The site must be stopped.
    func remove() throws {
        try cluster.remove()
        if FileManager.default.fileExists(atPath: folder) { try FileManager.default.removeItem(atPath: folder) }
    }

    /// Runs a measurement, then stops and removes everything, even if the measurement throws or its task is cancelled.
    ///
    /// - Parameter withCluster: Whether the site has its own cluster.
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

    /// Stops and removes everything in a detached task: a cancelled task could not wait for the processes.
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
    /// Writes the key and the settings for the site's processes.
    ///
    /// - Parameter database: The connection string of the database; by default the site's own.
    /// - Parameter webPort: The web process's port, on loopback only.
    /// - Parameter consolePort: The console's port, on loopback only.
    /// - Parameter metrics: Where the processes serve metrics. By default they serve none, as several sites may be
    ///   running.
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

    /// Starts the supervisors with the site's settings. They start children when there is work.
    func startSupervisor() async throws {
        for host in [host] + others { try await host.start() }
    }

    /// Starts the feedback worker with the site's settings.
    func startFeedback() async throws {
        try await host.start(feedback, "feedback")
    }

    /// Throws an error with the end of the log if one of the started processes has ended.
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
    /// How long the web process may take to serve requests.
    private static let startLimit = Duration.seconds(30)
    private static let lookInterval = Duration.milliseconds(20)

    /// Starts the web process with the site's settings.
    ///
    /// - Returns: The base address of the ready process.
    func startWeb(_ settings: Settings) async throws -> String {
        try await host.start(web, "web")
        let base = "http://127.0.0.1:\(settings.web.port)"
        try await wait(for: web, toServe: base + "/health/ready")
        return base
    }

    /// Waits until a process answers at an address.
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
            "The \(process.name) did not start. Its log \(process.logFile) ends with:\n\(process.stderrTail)"
        )
    }
}

extension TestSite {
    /// Starts the simulator and returns its addresses and credentials.
    func startSimulator(_ arguments: [String] = []) async throws -> SimulatorReport {
        try await gateways.start(programs, arguments)
    }

    /// The simulator's counters.
    func counters(_ report: SimulatorReport) async throws -> SimulatorCount {
        try await SimulatorControl(report).counters()
    }
}

extension TestSite {
    /// Protects what users have added to a site: a new run would end its processes and recreate its database.
    ///
    /// - Parameter fresh: Whether the user has asked for that.
    /// - Throws: `CommandFailure` that says what exists and what can be done.
    func requireSampleOnly(_ sample: TestContents, fresh: Bool) async throws {
        try requireOwnSettings()
        guard !fresh else { return }
        let running = [simulator, supervisor, web, feedback, console].filter { $0.running != nil }.map(\.name)
        guard running.isEmpty else {
            throw CommandFailure(
                .temporary,
                "A site is running in \(folder) (\(running.joined(separator: ", "))): a new run would stop it and "
                    + "delete its database with everything added to it. `./Deploy/quickstart stop --folder \(folder)` "
                    + "stops it and keeps its data, --folder OTHER creates another site, and --fresh starts over."
            )
        }
        let found = try await contents(besides: sample)
        guard !found.isEmpty else { return }
        throw CommandFailure(
            .data,
            "The database of the site in \(folder) holds more than the sample: \(found.joined(separator: ", ")). A "
                + "new run would delete it: --folder OTHER creates another site, and --fresh starts over. To restart "
                + "the existing site, use the commands that read \(settingsFile)."
        )
    }

    /// Refuses a folder with the settings of another installation, whose journals must not be removed.
    private func requireOwnSettings() throws {
        guard let text = try? String(contentsOfFile: settingsFile, encoding: .utf8), !text.contains(cluster.folder)
        else {
            return
        }
        throw CommandFailure(
            .data,
            "\(settingsFile) is not the settings file of a quickstart site. A run would overwrite it and delete the "
                + "journals in its folder: choose another --folder."
        )
    }

    /// What the database holds besides the sample. Afterwards the server runs only if it ran before or if there is
    /// nothing.
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
