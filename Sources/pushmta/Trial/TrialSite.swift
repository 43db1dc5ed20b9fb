import Foundation
import PushCore

/// Everything that a trial needs on one machine, in one folder: a private cluster, the gateway simulator, a supervisor.
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
    let simulator: BackgroundProcess
    /// The supervisor, whose children are its own.
    let supervisor: BackgroundProcess

    /// Where the simulator keeps its certificate authority, credentials and ports.
    var simulatorFolder: String { folder + "/simulator" }
    /// The settings of the processes.
    var settingsFile: String { folder + "/pushmta.yaml" }
    /// The key that seals the credentials.
    var keyFile: String { folder + "/credential.key" }
    /// The journals.
    var journalFolder: String { folder + "/journal" }
    /// The database.
    var database: String { cluster.connectionString(Self.databaseName) }

    /// A site in `folder`; nothing is started.
    ///
    /// - Parameter programs: The folder of the product's programs; that of this program if none is given.
    init(folder: String, programs: String? = nil) throws {
        let folder = URL(fileURLWithPath: folder).standardizedFileURL.path
        self.folder = folder
        self.programs = Executables(folder: programs)
        cluster = try PrivateCluster(folder: "/tmp/pushmta-\(getuid())-\(Self.shortName(of: folder))")
        simulator = Self.process("gateway simulator", "simulator", folder)
        supervisor = Self.process("supervisor", "supervisor", folder)
    }

    /// Ends what an earlier run left, and makes the folder and, with a cluster, an empty database.
    func prepare(withCluster: Bool = true) async throws {
        try await stopProcesses()
        let manager = FileManager.default
        for part in ["", "/log", "/run"] {
            try manager.createDirectory(atPath: folder + part, withIntermediateDirectories: true)
        }
        // Journals speak of parts of a database that is about to go.
        if manager.fileExists(atPath: journalFolder) { try manager.removeItem(atPath: journalFolder) }
        try manager.createDirectory(atPath: journalFolder, withIntermediateDirectories: true)
        guard withCluster else { return }
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
        try await simulator.stop()
    }

    private static func process(_ name: String, _ file: String, _ folder: String) -> BackgroundProcess {
        BackgroundProcess(name: name, recordFile: "\(folder)/run/\(file).pid", logFile: "\(folder)/log/\(file).log")
    }

    /// Eight hexadecimal digits that tell folders apart (FNV-1a): the path itself would make the socket's path too long.
    private static func shortName(of path: String) -> String {
        let hash = path.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let text = String(UInt32(truncatingIfNeeded: hash ^ (hash >> 32)), radix: 16)
        return String(repeating: "0", count: 8 - text.count) + text
    }
}
