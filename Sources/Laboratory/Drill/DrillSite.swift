import Administration
import Foundation
import PostgresClient
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
        var problems: [String] = []
        var exceptions = DrillExceptions()
        var endings: [@Sendable () async -> Void] = []
    }

    let name: String
    /// What the caller asked for.
    let options: DrillOptions
    /// The messages of a delivery.
    let messages: Int64
    /// The folder of hosts, logs, records.
    let folder: String
    let programs: Executables
    /// The simulator's process; not started with another gateway.
    let simulator: TestSimulator
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
    /// The simulator's control port; `nil` before its start, and with another gateway.
    var control: SimulatorControl? { state.withLock { $0.control } }
    var faults: [DrillFault] { state.withLock { $0.faults } }
    /// The file that the gateways record each push in.
    var recordFile: String { options.gateway?.recordFile ?? folder + "/record.jsonl" }
    /// The database: over its socket unless the drill has chosen another way.
    var databaseURL: String {
        state.withLock { $0.database } ?? cluster.connectionString(TestSite.databaseName)
    }

    /// The database over the network.
    func databaseURL(host: String) -> String {
        cluster.connectionString(TestSite.databaseName, host: host)
    }

    /// The drill's own way to the database.
    func store() throws -> Store {
        guard let store = state.withLock({ $0.store }) else { throw DrillFailure("the cluster was not started") }
        return store
    }

    /// Chooses the way to the database, for the drill's own connections and for hosts that have none of their own: before the
    /// cluster is started.
    func useDatabase(_ connectionString: String) {
        state.withLock { $0.database = connectionString }
    }

    /// Where the gateways are and what they accept.
    func gateway() throws -> SimulatorReport {
        guard let gateway = state.withLock({ $0.gateway }) else { throw DrillFailure("the gateways were not started") }
        return gateway
    }

    /// Changes the cluster; it counts for what is done with it later.
    func configureCluster(_ change: (inout PrivateCluster) -> Void) {
        state.withLock { change(&$0.cluster) }
    }

    /// Notes that something is wrong; the drill goes on and does not pass.
    func problem(_ text: String) {
        note("WRONG: " + text)
        state.withLock { $0.problems.append(text) }
    }

    /// Notes that something is wrong unless the condition holds.
    func expect(_ condition: Bool, _ wrong: @autoclosure () -> String) {
        if !condition { problem(wrong()) }
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

extension DrillSite {
    /// Starts the cluster, makes the database and its schema, and begins to watch.
    func startCluster() async throws {
        note("seed \(seed), folder \(folder)")
        try leaveClusterFolder()
        let cluster = cluster
        try await cluster.start()
        try await cluster.recreateDatabase(TestSite.databaseName)
        try await openDatabase()
    }

    /// Makes the schema in the site's empty database, and begins to watch.
    func openDatabase() async throws {
        _ = try await Store.migrate(StoreSession.configuration(settings(), role: "migrate"))
        if !FileManager.default.fileExists(atPath: keyFile) { try CredentialKeyFile.create(at: keyFile) }
        let store = try await Store.connect(StoreSession.configuration(settings(), role: "drill"))
        let watched = try await Store.connect(StoreSession.configuration(settings(), role: "drill-watch"))
        state.withLock { $0.store = store }
        keepRunning { site in await site.watcher.watch(watched) { site.deliveries.map(\.id) } }
    }

    /// Starts the simulator, or takes the gateway that the caller named, and begins to measure the rate.
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

    /// A further host. It is not started.
    func addHost(_ name: String = "host", _ setup: DrillHostSetup = DrillHostSetup()) throws -> DrillHost {
        let folder = folder + "/" + name
        var settings = settings()
        settings.database.url = setup.database ?? databaseURL
        settings.mta.workingPath = setup.journalFolder ?? folder + "/journal"
        settings.mta.master.maxSpareServers = setup.children
        settings.mta.master.startSpareServers = setup.children
        // They are replaced at once when they die, however few parts are left.
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

    /// Runs something beside the drill until its end.
    func keepRunning(_ work: @escaping @Sendable (DrillSite) async -> Void) {
        let task = Task { await work(self) }
        tasks.withLock { $0.append(task) }
    }

    /// The settings of the drill's own commands.
    func settings() -> Settings {
        var settings = Settings()
        settings.database.url = databaseURL
        settings.credentialKeyFile = keyFile
        // Several hosts of a drill are one machine.
        settings.metrics = .off
        return settings
    }

    /// Pushes that the gateways have accepted, each time.
    func acceptedPushes() async throws -> Int64 {
        if let control { return try await control.counters().acceptedTimes }
        return try tail?.accepted() ?? 0
    }

    private var keyFile: String { folder + "/credential.key" }
}

extension DrillSite {
    /// What the database says; `nil` while it cannot be asked, which in a drill is nothing special.
    @discardableResult
    func ifReachable<Answer>(_ ask: () async throws -> Answer) async throws -> Answer? {
        do {
            return try await ask()
        } catch let error as PostgresError {
            note("the database: \(error)")
            return nil
        }
    }

    /// Waits until a condition holds. While the database cannot be asked it does not.
    ///
    /// - Throws: `DrillFailure` that names what was waited for.
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
    /// A number of the seed's sequence.
    func random<Number: FixedWidthInteger & Sendable>(in range: ClosedRange<Number>) -> Number {
        state.withLock { Number.random(in: range, using: &$0.random) }
    }

    /// One of these, by the seed's sequence; `nil` if there is none.
    func randomElement<Element: Sendable>(of elements: [Element]) -> Element? {
        state.withLock { elements.randomElement(using: &$0.random) }
    }

    /// These in an order by the seed's sequence.
    func shuffled<Element: Sendable>(_ elements: [Element]) -> [Element] {
        state.withLock { elements.shuffled(using: &$0.random) }
    }

    /// Lets a random time pass, so that faults land at moments that nobody chose. It waits for nothing.
    func pause(milliseconds range: ClosedRange<Int>) async throws {
        try await Task.sleep(for: .milliseconds(random(in: range)))
    }
}

/// The one source of chance of a drill: the same seed gives the same numbers (SplitMix64).
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

/// A drill that cannot go on: what it waited for did not come, or a part of the site does not work.
struct DrillFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
