import Administration
import Foundation
import LaboratoryStore
import PostgresClient
import ProcessProtocol
import PushCore
import Store

/// Measures one delivery, with everything on this machine.
struct DeliveryBench: Sendable {
    /// If no message is resolved for this long, something is wrong.
    private static let timeout = Duration.seconds(120)

    let site: TestSite
    /// The database to use; `nil`: the site's own cluster.
    let database: String?
    let messages: Int64
    /// The messages' route.
    let route: TestRoute
    /// Whether all messages are equal, so that one request can carry many where the protocol allows it.
    let isEqual: Bool
    /// The binary gateway sends an error packet every this many messages; nil: never.
    let errorEvery: Int64?
    /// The gateways' latency in the form of the simulator's option; nil: none.
    let latency: String?
    /// The maximum number of children.
    let children: Int
    /// The project's quota in requests per minute, which all hosts share; nil: unlimited.
    let quota: Int?
    /// The number of readers that hold a snapshot from before the start until the end.
    let readers: Int
    /// Whether it is analysed before its start, so that its messages only have to be released.
    let isAnalysed: Bool

    /// Runs the bench and removes everything it created, except in a named database.
    func run() async throws -> DeliveryBenchReport {
        try await site.cleanly(withCluster: database == nil) { try await measure() }
    }

    private func measure() async throws -> DeliveryBenchReport {
        tell("starting the database, the gateway simulator and a supervisor")
        try await site.prepare(withCluster: database == nil)
        let settings = try site.writeSettings(database: database, children: children)
        _ = try await Store.migrate(StoreSession.configuration(settings, role: "migrate"))
        let options = latency.map { ["--latency", $0] } ?? []
        let simulator = try await site.startSimulator(options + (quota.map { ["--quota", String($0)] } ?? []))
        let gatewayFirst = site.gateways.comeFirst()
        try await site.startSupervisor()
        return try await StoreSession.run(settings, role: "bench") { store in
            var audience = TestAudience(store: store, settings: settings, simulator: simulator)
            audience.prefix = "bench-\(UInt64.random(in: 0...UInt64(UInt32.max)))"
            let applications = [try await audience.create(route)]
            if let quota { try await audience.limitProject(to: Double(quota) / 60) }
            tell("registering \(messages) simulated devices")
            try await audience.seed(applications, count: messages)
            // A named database may not allow a checkpoint.
            if database == nil { try await store.checkpoint() }
            if let errorEvery {
                let faults = #"{"gateway":"\#(route.gateway)","error_packets":{"every":\#(errorEvery),"status":8}}"#
                try await SimulatorControl(simulator).post("/faults", faults)
            }
            return try await deliver(store, applications, simulator, gatewayFirst, settings)
        }
    }

    private func deliver(
        _ store: Store,
        _ applications: [String],
        _ simulator: SimulatorReport,
        _ gatewayFirst: Bool,
        _ testSite: Settings
    ) async throws -> DeliveryBenchReport {
        let id = try await store.createDelivery(
            NewDelivery(
                label: "Bench",
                applications: applications,
                content: isEqual ? TestAudience.equalContent : TestAudience.content
            )
        )
        if isAnalysed { try await analyse(id, store) }
        if readers > 0 { tell("opening \(readers) snapshots") }
        let processes = BenchProcesses(site: site)
        let settings = try await store.durabilitySettings()
        let (run, reads) = try await SnapshotReaders(count: readers, settings: testSite).during {
            try await self.run(id, store, processes)
        }
        return DeliveryBenchReport(
            progress: run.progress,
            messages: messages,
            refused: errorEvery.map { messages / $0 } ?? 0,
            count: try await site.counters(simulator),
            stages: run.stages,
            sustainedRate: run.sustainedRate,
            cpu: run.cpu,
            walBytes: run.walBytes,
            peakChildResidentBytes: run.peakChildResidentBytes,
            readers: readers,
            reads: reads,
            hosts: 1 + site.others.count,
            quota: quota,
            gatewayFirst: gatewayFirst,
            databaseSettings: settings
        )
    }

    private func analyse(_ id: Int64, _ store: Store) async throws {
        let began = ContinuousClock.now
        try await store.analyzeDelivery(id)
        while try await store.deliveryProgress(id).state == .analysing {
            try site.checkProcesses()
            try await Task.sleep(for: .milliseconds(100))
        }
        tell("analysed in \(((ContinuousClock.now - began) / .milliseconds(1)).rounded()) ms")
    }

    /// Runs the measured part.
    private func run(_ id: Int64, _ store: Store, _ processes: BenchProcesses) async throws -> DeliveryBenchRun {
        tell("delivering")
        let walBefore = try await store.walPosition()
        let before = processes.cpuSeconds()
        var stages = DeliveryStages()
        var peak: Int64 = 0
        try await store.startDelivery(id)
        let watch = DeliveryWatch(store: store, id: id, timeout: Self.timeout) { try site.checkProcesses() }
        let progress = try await watch.untilOver { progress in
            stages.note(progress)
            peak = max(peak, processes.peakChildResidentBytes())
        }
        let cpu = processes.cpuSeconds(since: before)
        let walBytes = try await store.walPosition() - walBefore
        stages.lastOutcome = try await store.secondsToLastOutcome(delivery: id)
        return DeliveryBenchRun(
            progress: progress,
            stages: stages,
            cpu: cpu,
            walBytes: walBytes,
            peakChildResidentBytes: peak,
            sustainedRate: try await store.sustainedRate(delivery: id)
        )
    }

    private func tell(_ text: String) {
        StandardError.write("bench delivery: \(text)\n")
    }
}
