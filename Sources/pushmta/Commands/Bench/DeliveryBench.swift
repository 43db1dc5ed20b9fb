import Foundation
import PostgresClient
import PushCore
import Store

/// Measures one delivery, everything on this machine.
struct DeliveryBench: Sendable {
    /// So long without a single settled message means that something is wrong.
    private static let patience = Duration.seconds(120)

    /// Where everything runs.
    let site: TrialSite
    /// The database to use; `nil`: the site's own cluster.
    let database: String?
    /// The number of messages.
    let messages: Int64
    /// The way of the messages.
    let route: TrialRoute
    /// Whether all messages are the same, so that a request can carry many where the protocol allows it.
    let isEqual: Bool
    /// The binary gateway answers every so many messages with an error packet; nil: it does not.
    let errorEvery: Int64?
    /// The most children.
    let children: Int
    /// Readers that hold a snapshot from before the start until the end.
    let readers: Int

    /// Runs the bench and removes all that it made outside of a database that was named.
    func run() async throws -> DeliveryBenchReport {
        do {
            let report = try await measure()
            try await cleanUp()
            return report
        } catch {
            try? await cleanUp()
            throw error
        }
    }

    private func measure() async throws -> DeliveryBenchReport {
        tell("starting the database, the gateway simulator and a supervisor")
        try await site.prepare(withCluster: database == nil)
        let settings = try site.writeSettings(database: database, children: children)
        _ = try await Store.migrate(StoreSession.configuration(settings, role: "migrate"))
        let simulator = try await site.startSimulator()
        try await site.startSupervisor()
        return try await StoreSession.run(settings, role: "bench") { store in
            var audience = TrialAudience(store: store, settings: settings, simulator: simulator)
            audience.prefix = "bench-\(UInt64.random(in: 0...UInt64(UInt32.max)))"
            let applications = [try await audience.create(route)]
            tell("registering \(messages) simulated devices")
            try await audience.seed(applications, count: messages)
            if let errorEvery {
                let faults = #"{"gateway":"\#(route.gateway)","error_packets":{"every":\#(errorEvery),"status":8}}"#
                try await SimulatorControl(simulator).post("/faults", faults)
            }
            return try await deliver(store, applications, simulator, settings)
        }
    }

    private func deliver(
        _ store: Store,
        _ applications: [String],
        _ simulator: SimulatorReport,
        _ trial: Settings
    ) async throws -> DeliveryBenchReport {
        let id = try await store.createDelivery(
            NewDelivery(
                label: "Bench",
                applications: applications,
                content: isEqual ? TrialAudience.equalContent : TrialAudience.content
            )
        )
        if readers > 0 { tell("opening \(readers) snapshots") }
        let processes = BenchProcesses(site: site)
        let settings = try await store.durabilitySettings()
        let (run, reads) = try await SnapshotReaders(count: readers, settings: trial).during {
            try await self.run(id, store, processes)
        }
        return DeliveryBenchReport(
            progress: run.progress,
            messages: messages,
            refused: errorEvery.map { messages / $0 } ?? 0,
            count: try await site.counters(simulator),
            stages: run.stages,
            cpu: run.cpu,
            walBytes: run.walBytes,
            peakChildResidentBytes: run.peakChildResidentBytes,
            readers: readers,
            reads: reads,
            databaseSettings: settings
        )
    }

    /// The part that is measured.
    private func run(_ id: Int64, _ store: Store, _ processes: BenchProcesses) async throws -> DeliveryBenchRun {
        tell("delivering")
        let walBefore = try await store.walPosition()
        let before = processes.cpuSeconds()
        var stages = DeliveryStages()
        var peak: Int64 = 0
        try await store.startDelivery(id)
        let watch = DeliveryWatch(store: store, id: id, patience: Self.patience) { try site.checkProcesses() }
        let progress = try await watch.untilOver { progress in
            stages.note(progress)
            peak = max(peak, processes.peakChildResidentBytes())
        }
        let after = processes.cpuSeconds()
        stages.lastOutcome = try await store.secondsToLastOutcome(delivery: id)
        return DeliveryBenchRun(
            progress: progress,
            stages: stages,
            cpu: after.map { use in (use.name, use.seconds - (before.first { $0.name == use.name }?.seconds ?? 0)) },
            walBytes: try await store.walPosition() - walBefore,
            peakChildResidentBytes: peak
        )
    }

    /// Also when the task is cancelled: the detached one is not.
    private func cleanUp() async throws {
        let site = site
        let withCluster = database == nil
        try await Task.detached {
            try await site.stop(withCluster: withCluster)
            try site.remove()
        }.value
    }

    private func tell(_ text: String) {
        StandardError.write("bench delivery: \(text)\n")
    }
}
