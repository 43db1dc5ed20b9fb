import Foundation
import PushCore
import Store
import Synchronization

/// Everything that a drill has: a private cluster, the gateways, any number of hosts, deliveries, and what was seen of them.
final class DrillSite: Sendable {
    /// What changes while the drill runs.
    struct State: Sendable {
        var random: DrillRandom
        var cluster: PrivateCluster
        var database: String?
        var store: Store?
        var gateway: SimulatorReport?
        var control: SimulatorControl?
        var hosts: [DrillHost] = []
        var deliveries: [DrillDelivery] = []
        var load: DrillLoad?
        var faults: [DrillFault] = []
        var recoveries: [Double] = []
        var findings: [String] = []
        var endings: [@Sendable () async -> Void] = []
    }

    /// The drill's name.
    let name: String
    /// What the caller asked for.
    let options: DrillOptions
    /// The messages of a delivery.
    let messages: Int64
    /// The folder of hosts, logs, records.
    let folder: String
    /// The product's programs.
    let programs: Executables
    /// The simulator's process; not started with another gateway.
    let simulator: TrialSimulator
    /// How many pushes the gateways have accepted, sampled all the time.
    let meter = RateMeter()
    /// The equation of the outcomes, looked at all the time.
    let watcher = SnapshotWatcher()
    /// The acceptances of another gateway's record, counted as they come.
    let tail: RecordTail?
    let state: Mutex<State>
    let tasks = Mutex<[Task<Void, Never>]>([])

    /// A site in `folder`, which is made; nothing is started.
    init(_ drill: any Drill, options: DrillOptions, folder: String) throws {
        name = drill.name
        self.options = options
        self.folder = folder
        messages = options.messages ?? drill.messages
        programs = Executables()
        simulator = TrialSimulator(site: folder)
        tail = options.gateway.map { RecordTail(file: $0.recordFile) }
        let cluster = try PrivateCluster(folder: PrivateCluster.folder(forSite: folder))
        state = Mutex(State(random: DrillRandom(seed: options.seed), cluster: cluster))
        for part in ["", "/log", "/run"] {
            try FileManager.default.createDirectory(atPath: folder + part, withIntermediateDirectories: true)
        }
    }

    /// The seed.
    var seed: UInt64 { options.seed }
    /// The database's server.
    var cluster: PrivateCluster { state.withLock { $0.cluster } }
    /// The hosts, in the order in which they were added.
    var hosts: [DrillHost] { state.withLock { $0.hosts } }
    /// The deliveries, in the order of their start.
    var deliveries: [DrillDelivery] { state.withLock { $0.deliveries } }
    /// The simulator's control port; `nil` before its start, and with another gateway.
    var control: SimulatorControl? { state.withLock { $0.control } }
    /// The faults so far.
    var faults: [DrillFault] { state.withLock { $0.faults } }
    /// The file that the gateways record each push in.
    var recordFile: String { options.gateway?.recordFile ?? folder + "/record.jsonl" }
    /// The database: over its socket unless the drill has chosen another way.
    var databaseURL: String {
        state.withLock { $0.database } ?? cluster.connectionString(TrialSite.databaseName)
    }

    /// The database over the network.
    func databaseURL(host: String) -> String {
        cluster.connectionString(TrialSite.databaseName, host: host)
    }

    /// The drill's own way to the database.
    func store() throws -> Store {
        guard let store = state.withLock({ $0.store }) else { throw DrillSetback("the cluster was not started") }
        return store
    }

    /// Chooses the way to the database, for the drill's own connections and for hosts that have none of their own: before the
    /// cluster is started.
    func useDatabase(_ connectionString: String) {
        state.withLock { $0.database = connectionString }
    }

    /// Where the gateways are and what they accept.
    func gateway() throws -> SimulatorReport {
        guard let gateway = state.withLock({ $0.gateway }) else { throw DrillSetback("the gateways were not started") }
        return gateway
    }

    /// Changes the cluster; it counts for what is done with it later.
    func configureCluster(_ change: (inout PrivateCluster) -> Void) {
        state.withLock { change(&$0.cluster) }
    }

    /// Notes that something is wrong; the drill goes on and does not pass.
    func finding(_ text: String) {
        note("WRONG: " + text)
        state.withLock { $0.findings.append(text) }
    }

    /// Notes that something is wrong unless the condition holds.
    func expect(_ condition: Bool, _ wrong: @autoclosure () -> String) {
        if !condition { finding(wrong()) }
    }

    /// Tells what happens, on standard error and in the site's log.
    func note(_ text: String) {
        let time = Date.now.formatted(.iso8601.time(includingFractionalSeconds: true))
        let line = "\(time) \(name): \(text)\n"
        if !options.isQuiet { StandardError.write(line) }
        AppendedFile.append(line, to: folder + "/log/drill.log")
    }

    /// What is done at the end in every case, when all processes have ended; the last one first.
    func onCleanup(_ ending: @escaping @Sendable () async -> Void) {
        state.withLock { $0.endings.append(ending) }
    }
}
