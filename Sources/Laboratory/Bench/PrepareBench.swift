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
    /// Whether to compare with a delivery under frequency caps.
    var hasCaps = false

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
            let id = try await delivery(to: applications, store)
            guard hasCaps else { return try await prepare(id, store) }
            StandardError.write("bench prepare: writing \(Self.historyDays) days of history\n")
            try await store.makeCapHistory(like: id, days: Self.historyDays)
            try await store.checkpoint()
            let before = try await prepare(id, store)
            for cap in Self.caps { try await store.setFrequencyCap(cap) }
            let capped = try await delivery(to: applications, store)
            var report = try await prepare(capped, store)
            for cap in Self.caps { try await store.dropFrequencyCap(cap.name, ofService: cap.service) }
            let after = try await prepare(try await delivery(to: applications, store), store)
            report.comparison = PrepareBenchReport.Comparison(
                cpuSeconds: (before.cpuSeconds + after.cpuSeconds) / 2,
                walBytes: (before.walBytes + after.walBytes) / 2,
                historyRows: try await store.capHistoryRows(delivery: capped),
                isComplete: before.isComplete && after.isComplete
            )
            return report
        }
    }

    private static let historyDays = 180
    private static let caps = [
        FrequencyCapRow(service: TestAudience.samplePrefix, name: "week", maxMessages: 6, unit: .days, length: 7),
        FrequencyCapRow(service: TestAudience.samplePrefix, name: "month", maxMessages: 14, unit: .days, length: 30),
    ]

    private func delivery(to applications: [String], _ store: Store) async throws -> Int64 {
        var delivery = NewDelivery(label: "Bench", applications: applications, content: TestAudience.content)
        delivery.messagesPerSecond = 1
        let id = try await store.createDelivery(delivery)
        try await store.setTarget(ofDelivery: id, DeliveryTarget(filter: Self.filter))
        return id
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
            excluded: progress.excluded,
            seconds: Double(progress.now.microsecondsSince1970 - start) / 1_000_000,
            cpuSeconds: processes.cpuSeconds(since: before).reduce(0) { $0 + $1.seconds },
            walBytes: try await store.walPosition() - walBefore
        )
    }
}

/// The report of a preparation bench.
struct PrepareBenchReport: BenchReport {
    /// The same preparation without frequency caps: the mean of one before and one after it.
    struct Comparison: Sendable {
        let cpuSeconds: Double
        let walBytes: Int64
        /// The rows that the delivery added to the history.
        let historyRows: Int64
        let isComplete: Bool
    }

    /// The number of subscriptions to choose from, the number chosen, and those of the chosen that were left out.
    let subscriptions: Int64
    let target: Int64
    let excluded: Int64
    /// Seconds from the start of the delivery until all parts were made.
    let seconds: Double
    /// The CPU time of all processes during that time, in seconds.
    let cpuSeconds: Double
    /// The WAL that the database wrote, in bytes.
    let walBytes: Int64
    /// Set if the delivery was under frequency caps.
    var comparison: Comparison?

    /// Whether the filter chose the right number; the last, incomplete 56 allow a difference.
    var isComplete: Bool {
        abs(target + excluded - subscriptions * 11 / 56) <= 11 && comparison?.isComplete != false
    }

    var cell: Cell {
        var members: [(String, Cell)] = [
            ("subscriptions", .integer(subscriptions)), ("target", .integer(target)), ("seconds", .number(seconds)),
            ("cpuSeconds", .number(cpuSeconds)), ("walBytes", .integer(walBytes)), ("complete", .flag(isComplete)),
        ]
        if let comparison {
            members += [
                ("excluded", .integer(excluded)), ("historyRows", .integer(comparison.historyRows)),
                ("cpuSecondsWithoutCaps", .number(comparison.cpuSeconds)),
                ("walBytesWithoutCaps", .integer(comparison.walBytes)),
            ]
        }
        return .object(members)
    }

    var text: String {
        let text = String(
            format: "%lld of %lld subscriptions chosen by a filter and prepared in %.2f s; CPU %.2f s, WAL %.1f MiB",
            target,
            subscriptions,
            seconds,
            cpuSeconds,
            Double(walBytes) / 1_048_576
        )
        guard let comparison else { return text }
        return text
            + String(
                format:
                    "; %lld left out by two frequency caps; without caps CPU %.2f s (%.2f times as much with them), WAL %.1f MiB; %lld rows of history",
                excluded,
                comparison.cpuSeconds,
                cpuSeconds / max(comparison.cpuSeconds, 0.001),
                Double(comparison.walBytes) / 1_048_576,
                comparison.historyRows
            )
    }
}
