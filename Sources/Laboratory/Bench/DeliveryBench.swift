import Administration
import Foundation
import PostgresClient
import ProcessProtocol
import PushCore
import Store

/// Measures one delivery, everything on this machine.
struct DeliveryBench: Sendable {
    /// So long without a single resolved message means that something is wrong.
    private static let timeout = Duration.seconds(120)

    /// Where everything runs.
    let site: TestSite
    /// The database to use; `nil`: the site's own cluster.
    let database: String?
    /// The number of messages.
    let messages: Int64
    /// The way of the messages.
    let route: TestRoute
    /// Whether all messages are the same, so that a request can carry many where the protocol allows it.
    let isEqual: Bool
    /// The binary gateway answers every so many messages with an error packet; nil: it does not.
    let errorEvery: Int64?
    /// How long the gateways take to answer, as the simulator's option has it; nil: no time.
    let latency: String?
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
        let simulator = try await site.startSimulator(latency.map { ["--latency", $0] } ?? [])
        try await site.startSupervisor()
        return try await StoreSession.run(settings, role: "bench") { store in
            var audience = TestAudience(store: store, settings: settings, simulator: simulator)
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
        _ testSite: Settings
    ) async throws -> DeliveryBenchReport {
        let id = try await store.createDelivery(
            NewDelivery(
                label: "Bench",
                applications: applications,
                content: isEqual ? TestAudience.equalContent : TestAudience.content
            )
        )
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
        let watch = DeliveryWatch(store: store, id: id, timeout: Self.timeout) { try site.checkProcesses() }
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

/// What a bench of a delivery measured.
struct DeliveryBenchReport: Sendable {
    /// The delivery's last counts.
    let progress: DeliveryProgress
    /// The messages that were asked for.
    let messages: Int64
    /// Those that the gateway was told to refuse.
    let refused: Int64
    /// The simulator's counts.
    let count: SimulatorCount
    /// When each stage was reached.
    let stages: DeliveryStages
    /// The CPU time of each kind of process, in seconds.
    let cpu: [(name: String, seconds: Double)]
    /// The WAL that the database wrote, in bytes.
    let walBytes: Int64
    /// The most memory that a child had in RAM, in bytes.
    let peakChildResidentBytes: Int64
    /// The readers that held a snapshot from before the start until the end.
    let readers: Int
    /// How often all of them together have read.
    let reads: Int64
    /// PostgreSQL's settings that decide about durability.
    let databaseSettings: [(name: String, value: String)]

    /// Whether every message that was not to be refused was sent, once, and both counts agree.
    var isComplete: Bool {
        progress.state == .finished && progress.sent == messages - refused && progress.failed == refused
            && count.accepted == progress.sent && count.duplicates == 0
    }

    private var messagesPerSecond: Double {
        guard let seconds = stages.lastOutcome, seconds > 0 else { return 0 }
        return Double(progress.sent) / seconds
    }

    private var peakChildMiB: Double { Cell.mebibytes(peakChildResidentBytes) }
    private var walBytesPerMessage: Double { Double(walBytes) / Double(messages) }

    private func microseconds(_ seconds: Double) -> Double { seconds * 1_000_000 / Double(messages) }

    /// One line for programs.
    var json: String {
        Cell.object([
            ("messagesPerSecond", .number(messagesPerSecond)), ("messages", .integer(messages)),
            ("sent", .integer(progress.sent)),
            ("failed", .integer(progress.failed)), ("pending", .integer(progress.pending)),
            ("accepted", .integer(count.accepted)),
            ("duplicates", .integer(count.duplicates)), ("complete", .flag(isComplete)),
            (
                "seconds",
                .object([
                    ("firstOutcome", Self.cell(stages.firstOutcome)), ("prepared", Self.cell(stages.prepared)),
                    ("lastOutcome", Self.cell(stages.lastOutcome)),
                ])
            ),
            ("cpuMicrosecondsPerMessage", .object(cpu.map { ($0.name, .number(microseconds($0.seconds))) })),
            ("readers", Cell(readers)), ("reads", .integer(reads)),
            ("walBytesPerMessage", .number(walBytesPerMessage)), ("childPeakResidentMiB", .number(peakChildMiB)),
            ("database", .object(databaseSettings.map { ($0.name, .text($0.value)) })),
        ]).json
    }

    /// For people.
    var text: String {
        var table = Table(["process", "cpu_s", "us_per_message"])
        for use in cpu { table.add([.text(use.name), .number(use.seconds), .number(microseconds(use.seconds))]) }
        let total = cpu.reduce(0) { $0 + $1.seconds }
        table.add([.text("all"), .number(total), .number(microseconds(total))])
        return """
            \(progress.sent) of \(messages) messages sent\(refused > 0 ? ", \(progress.failed) refused" : ""), \(count.accepted) accepted by the simulator, \(count.duplicates) twice; \
            delivery \(progress.state.rawValue)\(progress.stateReason.isEmpty ? "" : ": " + progress.stateReason)
            \(Int(messagesPerSecond)) messages a second from the start of the delivery to its last stored outcome

            seconds after the start: first outcome stored \(Self.cell(stages.firstOutcome).shown), \
            prepared \(Self.cell(stages.prepared).shown), last outcome stored \(Self.cell(stages.lastOutcome).shown)

            \(table.text)

            WAL: \(Int(walBytesPerMessage)) bytes a message
            child, at most: \(Cell.number(peakChildMiB).shown) MiB resident
            readers with an open REPEATABLE READ snapshot: \(readers)\(readers > 0 ? ", which read \(reads) times" : "")
            PostgreSQL: \(databaseSettings.map { "\($0.name)=\($0.value)" }.joined(separator: " "))
            """
    }

    private static func cell(_ seconds: Double?) -> Cell { seconds.map { .number($0) } ?? .none }
}

/// What was measured between the start of a delivery and its end.
struct DeliveryBenchRun: Sendable {
    /// The delivery's last counts.
    let progress: DeliveryProgress
    /// When each stage was reached.
    let stages: DeliveryStages
    /// The CPU time of each kind of process, in seconds.
    let cpu: [(name: String, seconds: Double)]
    /// The WAL that the database wrote, in bytes.
    let walBytes: Int64
    /// The most memory that a child had in RAM, in bytes.
    let peakChildResidentBytes: Int64
}

/// When a delivery reached each of its stages, in seconds of the database's clock after its start.
struct DeliveryStages: Sendable {
    /// The first outcome was seen in the counts.
    private(set) var firstOutcome: Double?
    /// All parts were seen to be made.
    private(set) var prepared: Double?
    /// The last outcome was stored.
    var lastOutcome: Double?

    /// Notes what is new in these counts.
    mutating func note(_ progress: DeliveryProgress) {
        guard let start = progress.startedAt else { return }
        let seconds = Double(progress.now.microsecondsSince1970 - start.microsecondsSince1970) / 1_000_000
        if firstOutcome == nil, progress.target > progress.pending { firstOutcome = seconds }
        if prepared == nil, progress.prepared { prepared = seconds }
    }
}

/// The processes of a bench and what they use.
struct BenchProcesses: Sendable {
    /// Where they run.
    let site: TestSite

    /// The CPU time used so far, by kind of process; that of processes which have ended is in.
    func cpuSeconds() -> [(name: String, seconds: Double)] {
        var uses: [(String, Double)] = []
        if let simulator = site.simulator.running { uses.append(("simulator", simulator.cpuSeconds)) }
        if let supervisor = site.supervisor.running {
            uses.append(("supervisor", supervisor.cpuSeconds))
            let children = ProcessRecord.family(of: supervisor.id).filter { $0.id != supervisor.id }
            uses.append(("children", children.reduce(supervisor.endedChildrenCPUSeconds) { $0 + $1.cpuSeconds }))
        }
        uses += serverUses
        return uses
    }

    /// The most memory that a child of the supervisor has had in RAM, in bytes.
    func peakChildResidentBytes() -> Int64 {
        guard let supervisor = site.supervisor.running else { return 0 }
        let children = ProcessRecord.family(of: supervisor.id).filter {
            $0.commandLine.contains(" \(ChildArguments.command) ")
        }
        return children.compactMap(\.peakResidentBytes).max() ?? 0
    }

    /// The server's processes: those that serve a connection, and the rest (WAL writer, checkpointer, autovacuum, …).
    private var serverUses: [(String, Double)] {
        guard let id = site.cluster.processID, let server = ProcessRecord(id) else { return [] }
        let family = ProcessRecord.family(of: id)
        // The title of such a process is "postgres: USER DATABASE [local] …".
        let serving = family.filter { $0.commandLine.contains("[local]") }
        let others = family.filter { !$0.commandLine.contains("[local]") }
        return [
            ("postgres backends", serving.reduce(server.endedChildrenCPUSeconds) { $0 + $1.cpuSeconds }),
            ("postgres background", others.reduce(0) { $0 + $1.cpuSeconds }),
        ]
    }
}
