import Foundation
import PushCore

/// Everything that a trial needs on one machine, in one folder: a private cluster, the gateway simulator, a supervisor; and a
/// feedback worker and a web process for those that have devices.
struct TrialSite: Sendable {
    /// The name of the site's database.
    static let databaseName = "pushmta"

    /// The folder: settings, key, journals, logs, the simulator's state.
    let folder: String
    /// The programs that it runs.
    let programs: Executables
    /// The database's server.
    let cluster: PrivateCluster
    /// The simulated gateways.
    let gateways: TrialSimulator
    /// The host.
    let host: TrialHost

    /// The simulator's process.
    var simulator: BackgroundProcess { gateways.process }
    /// The supervisor's process, whose children are its own.
    var supervisor: BackgroundProcess { host.supervisor }
    /// The web process.
    let web: BackgroundProcess
    /// The feedback worker.
    let feedback: BackgroundProcess
    /// The settings of the processes.
    var settingsFile: String { host.settingsFile }
    /// The journals.
    var journalFolder: String { host.journalFolder }
    /// The database.
    var database: String { cluster.connectionString(Self.databaseName) }

    /// A site in `folder`; nothing is started.
    ///
    /// - Parameter programs: The folder of the product's programs; that of this program if none is given.
    init(folder: String, programs: String? = nil) throws {
        let folder = URL(fileURLWithPath: folder).standardizedFileURL.path
        self.folder = folder
        self.programs = Executables(folder: programs)
        cluster = try PrivateCluster(folder: PrivateCluster.folder(forSite: folder))
        gateways = TrialSimulator(site: folder)
        host = TrialHost(folder: folder, programs: self.programs)
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
    }

    /// Ends what an earlier run left, and makes the folder and, with a cluster, an empty database.
    func prepare(withCluster: Bool = true) async throws {
        try await stopProcesses()
        try host.makeFolders()
        try host.clearJournals()
        guard withCluster else { return }
        let manager = FileManager.default
        let link = folder + "/postgres"
        try? manager.removeItem(atPath: link)
        try manager.createSymbolicLink(atPath: link, withDestinationPath: cluster.folder)
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

    private func stopProcesses() async throws {
        try await supervisor.stop()
        try await web.stop()
        try await feedback.stop()
        try await simulator.stop()
    }
}
