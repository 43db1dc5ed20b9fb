import Foundation
import PushCore
import Store
import Synchronization

extension DrillSite {
    /// Starts the cluster, makes the database and its schema, and begins to watch.
    func startCluster() async throws {
        note("seed \(seed), folder \(folder)")
        try leaveClusterFolder()
        let cluster = cluster
        try await cluster.start()
        try await cluster.recreateDatabase(TrialSite.databaseName)
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
        var place = TrialHost(folder: folder, programs: programs)
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
        return settings
    }

    /// Pushes that the gateways have accepted, each time.
    private func acceptedPushes() async throws -> Int64 {
        if let control { return try await control.counters().acceptedTimes }
        return try tail?.accepted() ?? 0
    }

    private var keyFile: String { folder + "/credential.key" }
}
