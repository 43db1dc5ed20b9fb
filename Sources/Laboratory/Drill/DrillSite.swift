import Administration
import Foundation
import PostgresClient
import PushCore
import Store
import Synchronization

/// A drill's site: a private cluster, the gateways, any number of hosts, the deliveries, and what was observed.
final class DrillSite: Sendable {
    /// The state that changes while the drill runs.
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
        var campaigns: CampaignLoad?
        /// The subscriptions that each campaign was made for, by delivery.
        var campaignPeople: [Int64: Set<Int64>] = [:]
        var faults: [DrillFault] = []
        var recoveries: [Double] = []
        var problems: [String] = []
        var exceptions = DrillExceptions()
        var endings: [@Sendable () async -> Void] = []
    }

    let name: String
    /// The caller's options.
    let options: DrillOptions
    /// The number of messages in a delivery.
    let messages: Int64
    /// The folder of the hosts, logs and records.
    let folder: String
    let programs: Executables
    /// The simulator's process; not started if there is an external gateway.
    let simulator: TestSimulator
    /// Samples the number of accepted pushes continuously.
    let meter = RateMeter()
    /// Checks continuously that each delivery's counts add up.
    let watcher = SnapshotWatcher()
    /// Counts the accepted pushes in an external gateway's record as they arrive.
    let tail: RecordTail?
    let state: Mutex<State>
    let tasks = Mutex<[Task<Void, Never>]>([])

    /// A site in `folder`, which is created; nothing is started.
    init(_ drill: any Drill, options: DrillOptions, folder: String) throws {
        name = drill.name
        self.options = options
        self.folder = folder
        messages = options.messages ?? drill.messages
        programs = Executables()
        simulator = TestSimulator(site: folder)
        tail = options.gateway.map { RecordTail(file: $0.recordFile) }
        let cluster = try PrivateCluster(folder: PrivateCluster.folder(forSite: folder))
        state = Mutex(State(random: DrillRandom(seed: options.seed), cluster: cluster))
        for part in ["", "/log", "/run"] {
            try FileManager.default.createDirectory(atPath: folder + part, withIntermediateDirectories: true)
        }
    }

    var seed: UInt64 { options.seed }
    var cluster: PrivateCluster { state.withLock { $0.cluster } }
    /// The hosts, in the order in which they were added.
    var hosts: [DrillHost] { state.withLock { $0.hosts } }
    /// The deliveries, in the order of their start.
    var deliveries: [DrillDelivery] { state.withLock { $0.deliveries } }
    /// The simulator's control port; `nil` before its start, and with an external gateway.
    var control: SimulatorControl? { state.withLock { $0.control } }
    var faults: [DrillFault] { state.withLock { $0.faults } }
    /// The file in which the gateways record each push.
    var recordFile: String { options.gateway?.recordFile ?? folder + "/record.jsonl" }
    /// The database's connection string: over the socket, unless the drill has chosen another way.
    var databaseURL: String {
        state.withLock { $0.database } ?? cluster.connectionString(TestSite.databaseName)
    }

    /// The database's connection string over the network.
    func databaseURL(host: String) -> String {
        cluster.connectionString(TestSite.databaseName, host: host)
    }

    /// The drill's own access to the database.
    func store() throws -> Store {
        guard let store = state.withLock({ $0.store }) else { throw DrillFailure("the cluster was not started") }
        return store
    }

    /// Sets the connection string for the drill's own connections and for hosts without one of their own. Call it
    /// before the cluster is started.
    func useDatabase(_ connectionString: String) {
        state.withLock { $0.database = connectionString }
    }

    /// Where the gateways are and what they accept.
    func gateway() throws -> SimulatorReport {
        guard let gateway = state.withLock({ $0.gateway }) else { throw DrillFailure("the gateways were not started") }
        return gateway
    }

    /// Changes the cluster's settings, for everything done with it later.
    func configureCluster(_ change: (inout PrivateCluster) -> Void) {
        state.withLock { change(&$0.cluster) }
    }

    /// Records a problem. The drill continues, but does not pass.
    func problem(_ text: String) {
        note("WRONG: " + text)
        state.withLock { $0.problems.append(text) }
    }

    /// Records a problem unless the condition holds.
    func expect(_ condition: Bool, _ wrong: @autoclosure () -> String) {
        if !condition { problem(wrong()) }
    }

    /// Reports what happens, on standard error and in the site's log.
    func note(_ text: String) {
        let time = Date.now.formatted(.iso8601.time(includingFractionalSeconds: true))
        let line = "\(time) \(name): \(text)\n"
        if !options.isQuiet { StandardError.write(line) }
        AppendedFile.append(line, to: folder + "/log/drill.log")
    }

    /// Adds a task that always runs at the end, after all processes have ended. The last one added runs first.
    func onCleanup(_ ending: @escaping @Sendable () async -> Void) {
        state.withLock { $0.endings.append(ending) }
    }
}

extension DrillSite {
    /// Starts the cluster, creates the database and its schema, and starts watching.
    func startCluster() async throws {
        note("seed \(seed), folder \(folder)")
        try leaveClusterFolder()
        let cluster = cluster
        try await cluster.start()
        try await cluster.recreateDatabase(TestSite.databaseName)
        try await openDatabase()
    }

    /// Creates the schema in the site's empty database, and starts watching.
    func openDatabase() async throws {
        _ = try await Store.migrate(StoreSession.configuration(settings(), role: "migrate"))
        if !FileManager.default.fileExists(atPath: keyFile) { try CredentialKeyFile.create(at: keyFile) }
        let store = try await Store.connect(StoreSession.configuration(settings(), role: "drill"))
        let watched = try await Store.connect(StoreSession.configuration(settings(), role: "drill-watch"))
        state.withLock { $0.store = store }
        keepRunning { site in await site.watcher.watch(watched) { site.deliveries.map(\.id) } }
    }

    /// Starts the simulator, or uses the caller's external gateway, and starts measuring the rate.
    func startSimulator(_ plan: DrillGateway = DrillGateway()) async throws {
        if let gateway = options.gateway {
            let helper = gateway.credentials == nil ? try await simulator.start(programs) : nil
            let report = try gateway.report(helper, folder: folder)
            state.withLock { $0.gateway = report }
        } else {
            let report = try await simulator.start(programs, plan.commandLine + ["--record", recordFile])
            state.withLock {
                $0.gateway = report
                $0.control = SimulatorControl(report)
            }
        }
        keepRunning { site in await site.meter.measure { try await site.acceptedPushes() } }
    }

    /// Adds a host, without starting it.
    func addHost(_ name: String = "host", _ setup: DrillHostSetup = DrillHostSetup()) throws -> DrillHost {
        let folder = folder + "/" + name
        var settings = settings()
        settings.database.url = setup.database ?? databaseURL
        settings.mta.workingPath = setup.journalFolder ?? folder + "/journal"
        settings.mta.master.maxSpareServers = setup.children
        settings.mta.master.startSpareServers = setup.children
        // A dead child is replaced at once, however few parts are left.
        settings.mta.master.minSpareServers = setup.children
        setup.adjust(&settings)
        var place = TestHost(folder: folder, programs: programs)
        place.wrapper = setup.wrapper
        place.environment = setup.environment
        place.supervisor.appendsLog = true
        try place.makeFolders()
        try place.write(settings)
        let host = DrillHost(name: name, place: place, settings: settings)
        state.withLock { $0.hosts.append(host) }
        return host
    }

    /// Runs a task in parallel with the drill, until the drill ends.
    func keepRunning(_ work: @escaping @Sendable (DrillSite) async -> Void) {
        let task = Task { await work(self) }
        tasks.withLock { $0.append(task) }
    }

    /// The settings of the drill's own commands.
    func settings() -> Settings {
        var settings = Settings()
        settings.database.url = databaseURL
        settings.credentialKeyFile = keyFile
        // A drill's hosts share one machine, where the metrics ports would collide.
        settings.metrics = .off
        return settings
    }

    /// The number of pushes that the gateways have accepted; a message accepted twice counts twice.
    func acceptedPushes() async throws -> Int64 {
        if let control { return try await control.counters().acceptedTimes }
        return try tail?.accepted() ?? 0
    }

    private var keyFile: String { folder + "/credential.key" }
}

extension DrillSite {
    /// The database's answer; `nil` while the database is unreachable, which is normal in a drill.
    @discardableResult
    func ifReachable<Answer>(_ ask: () async throws -> Answer) async throws -> Answer? {
        do {
            return try await ask()
        } catch let error as PostgresError {
            note("the database: \(error)")
            return nil
        }
    }

    /// Waits until a condition holds. While the database is unreachable it counts as false.
    ///
    /// - Throws: `DrillFailure` with `what` if the condition does not hold within the limit.
    func until(
        _ what: String,
        within limit: Duration,
        every interval: Duration = .milliseconds(20),
        _ condition: () async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now.advanced(by: limit)
        while try await !(ifReachable { try await condition() } ?? false) {
            guard ContinuousClock.now < deadline else { throw DrillFailure("\(what): not within \(limit)") }
            try await Task.sleep(for: interval)
        }
    }
}

extension DrillSite {
    /// A random number from the seed's sequence.
    func random<Number: FixedWidthInteger & Sendable>(in range: ClosedRange<Number>) -> Number {
        state.withLock { Number.random(in: range, using: &$0.random) }
    }

    /// A random element, by the seed's sequence; `nil` if there is none.
    func randomElement<Element: Sendable>(of elements: [Element]) -> Element? {
        state.withLock { elements.randomElement(using: &$0.random) }
    }

    /// The elements in a random order, by the seed's sequence.
    func shuffled<Element: Sendable>(_ elements: [Element]) -> [Element] {
        state.withLock { elements.shuffled(using: &$0.random) }
    }

    /// Sleeps for a random time, so that faults land at arbitrary moments.
    func pause(milliseconds range: ClosedRange<Int>) async throws {
        try await Task.sleep(for: .milliseconds(random(in: range)))
    }
}

/// A drill's only source of randomness: the same seed gives the same numbers (SplitMix64).
struct DrillRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
