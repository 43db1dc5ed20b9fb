import Administration
import Foundation
import LaboratoryStore
import PushCore
import Store

/// Measures the preparation of a delivery with a filter.
struct PrepareBench: Sendable {
    let site: TestSite
    /// The number of subscriptions to choose from.
    let subscriptions: Int64

    /// One of seven cities, and three of eight names of another: 11 of 56, about a fifth.
    private static let filter =
        "recipient.city = 'Lyon' or recipient.city = 'Oslo' and recipient.firstName in ('Ada', 'Boris', 'Grace')"
    /// The preparation of 100,000,000 subscriptions takes some minutes.
    private static let timeout = Duration.seconds(600)

    /// Runs the bench and removes everything it created.
    func run() async throws -> PrepareBenchReport {
        try await site.cleanly { try await measure() }
    }

    private func measure() async throws -> PrepareBenchReport {
        StandardError.write("bench prepare: starting the database, the gateway simulator and a supervisor\n")
        try await site.prepare()
        let settings = try site.writeSettings(children: 1)
        _ = try await Store.migrate(StoreSession.configuration(settings, role: "migrate"))
        let simulator = try await site.startSimulator()
        try await site.startSupervisor()
        return try await StoreSession.run(settings, role: "bench") { store in
            let audience = TestAudience(store: store, settings: settings, simulator: simulator)
            let applications = try await audience.create([.ios])
            StandardError.write("bench prepare: registering \(subscriptions) simulated devices\n")
            try await audience.seed(applications, count: subscriptions)
            var delivery = NewDelivery(label: "Bench", applications: applications, content: TestAudience.content)
            delivery.messagesPerSecond = 1
            let id = try await store.createDelivery(delivery)
            try await store.setTarget(ofDelivery: id, DeliveryTarget(filter: Self.filter))
            return try await prepare(id, store)
        }
    }

    /// Runs the measured part.
    private func prepare(_ id: Int64, _ store: Store) async throws -> PrepareBenchReport {
        let processes = BenchProcesses(site: site)
        let walBefore = try await store.walPosition()
        let before = processes.cpuSeconds()
        let deadline = ContinuousClock.now.advanced(by: Self.timeout)
        try await store.startDelivery(id)
        var progress = try await store.deliveryProgress(id)
        while !progress.prepared {
            try site.checkProcesses()
            guard ContinuousClock.now < deadline else {
                throw CommandFailure(
                    .software,
                    "The delivery was not prepared within \(Self.timeout.components.seconds) s."
                )
            }
            try await Task.sleep(for: .milliseconds(10))
            progress = try await store.deliveryProgress(id)
        }
        let start = progress.startedAt?.microsecondsSince1970 ?? progress.now.microsecondsSince1970
        return PrepareBenchReport(
            subscriptions: subscriptions,
            target: progress.target,
            seconds: Double(progress.now.microsecondsSince1970 - start) / 1_000_000,
            cpuSeconds: processes.cpuSeconds(since: before).reduce(0) { $0 + $1.seconds },
            walBytes: try await store.walPosition() - walBefore
        )
    }
}

/// The report of a preparation bench.
struct PrepareBenchReport: BenchReport {
    /// The number of subscriptions to choose from, and the number chosen.
    let subscriptions: Int64
    let target: Int64
    /// Seconds from the start of the delivery until all parts were made.
    let seconds: Double
    /// The CPU time of all processes during that time, in seconds.
    let cpuSeconds: Double
    /// The WAL that the database wrote, in bytes.
    let walBytes: Int64

    /// Whether the filter chose the right number; the last, incomplete 56 allow a difference.
    var isComplete: Bool { abs(target - subscriptions * 11 / 56) <= 11 }

    var cell: Cell {
        .object([
            ("subscriptions", .integer(subscriptions)), ("target", .integer(target)), ("seconds", .number(seconds)),
            ("cpuSeconds", .number(cpuSeconds)), ("walBytes", .integer(walBytes)), ("complete", .flag(isComplete)),
        ])
    }

    var text: String {
        String(
            format: "%lld of %lld subscriptions chosen by a filter and prepared in %.2f s; CPU %.2f s, WAL %.1f MiB",
            target,
            subscriptions,
            seconds,
            cpuSeconds,
            Double(walBytes) / 1_048_576
        )
    }
}
