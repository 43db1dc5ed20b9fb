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
    /// The platform.
    let platform: Platform
    /// The most children.
    let children: Int

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
            let applications = try await audience.create([platform])
            tell("registering \(messages) simulated devices")
            try await audience.seed(applications, count: messages)
            tell("delivering")
            return try await deliver(store, applications, simulator)
        }
    }

    private func deliver(_ store: Store, _ applications: [String], _ simulator: SimulatorReport) async throws
        -> DeliveryBenchReport
    {
        let id = try await store.createDelivery(
            NewDelivery(label: "Bench", applications: applications, content: TrialAudience.content)
        )
        let processes = BenchProcesses(site: site)
        let settings = try await store.durabilitySettings()
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
        return DeliveryBenchReport(
            progress: progress,
            messages: messages,
            count: try await site.counters(simulator),
            stages: stages,
            cpu: after.map { use in (use.name, use.seconds - (before.first { $0.name == use.name }?.seconds ?? 0)) },
            walBytes: try await store.walPosition() - walBefore,
            peakChildResidentBytes: peak,
            databaseSettings: settings
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
