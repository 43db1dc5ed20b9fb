import Administration
import PushCore
import Store

/// The report of a delivery bench.
struct DeliveryBenchReport: BenchReport {
    /// The delivery's final counters.
    let progress: DeliveryProgress
    /// The number of requested messages.
    let messages: Int64
    /// The number of messages that the gateway was configured to refuse.
    let refused: Int64
    let count: SimulatorCount
    /// When each stage was reached.
    let stages: DeliveryStages
    /// The sending rate in messages a second between the first and the last tenth; nil if both were stored at one
    /// moment.
    let sustainedRate: Double?
    /// The CPU time of each kind of process, in seconds.
    let cpu: [(name: String, seconds: Double)]
    /// The WAL that the database wrote, in bytes.
    let walBytes: Int64
    /// The maximum resident memory of a child, in bytes.
    let peakChildResidentBytes: Int64
    /// The number of readers that held a snapshot from before the start until the end.
    let readers: Int
    /// The total number of their reads.
    let reads: Int64
    /// The number of hosts that sent.
    let hosts: Int
    /// The project's quota in requests per minute; nil: unlimited.
    let quota: Int?
    /// Whether the gateway simulator has CPU priority.
    let gatewayFirst: Bool
    /// PostgreSQL's durability settings.
    let databaseSettings: [(name: String, value: String)]

    /// Whether every message that should not be refused was sent exactly once, and both counts agree.
    var isComplete: Bool {
        progress.state == .finished && progress.sent == messages - refused && progress.failed == refused
            && count.accepted == progress.sent && count.duplicates == 0
    }

    /// The rate from the start of the delivery to its last stored outcome.
    var messagesPerSecond: Double {
        guard let seconds = stages.lastOutcome, seconds > 0 else { return 0 }
        return Double(progress.sent) / seconds
    }

    var peakChildMiB: Double { Cell.mebibytes(peakChildResidentBytes) }
    var walBytesPerMessage: Double { Double(walBytes) / Double(messages) }

    /// The CPU time of all processes, in microseconds per message.
    var cpuMicroseconds: Double { microseconds(cpu.reduce(0) { $0 + $1.seconds }) }

    private func microseconds(_ seconds: Double) -> Double { seconds * 1_000_000 / Double(messages) }

    var cell: Cell {
        .object([
            ("messagesPerSecond", .number(messagesPerSecond)),
            ("sustainedMessagesPerSecond", Self.cell(sustainedRate)), ("messages", .integer(messages)),
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
            ("hosts", Cell(hosts)), ("quota", Cell(quota)), ("rejected", .integer(count.rejected)),
            ("readers", Cell(readers)), ("reads", .integer(reads)),
            ("walBytesPerMessage", .number(walBytesPerMessage)), ("childPeakResidentMiB", .number(peakChildMiB)),
            ("gatewayFirst", .flag(gatewayFirst)),
            ("database", .object(databaseSettings.map { ($0.name, .text($0.value)) })),
        ])
    }

    var text: String {
        var table = Table(["process", "cpu_s", "us_per_message"])
        for use in cpu { table.add([.text(use.name), .number(use.seconds), .number(microseconds(use.seconds))]) }
        let total = cpu.reduce(0) { $0 + $1.seconds }
        table.add([.text("all"), .number(total), .number(microseconds(total))])
        return """
            \(progress.sent) of \(messages) messages sent\(refused > 0 ? ", \(progress.failed) refused" : ""), \
            \(count.accepted) accepted by the simulator, \(count.duplicates) twice; delivery \
            \(progress.state.rawValue)\(progress.stateReason.isEmpty ? "" : ": " + progress.stateReason)
            \(Int(messagesPerSecond)) messages a second from the start of the delivery to its last stored \
            outcome\(quotaWords)
            \(sustainedRate.map { String(Int($0)) } ?? "-") messages a second from the first tenth to the last

            seconds after the start: first outcome stored \(Self.cell(stages.firstOutcome).shown), \
            prepared \(Self.cell(stages.prepared).shown), last outcome stored \(Self.cell(stages.lastOutcome).shown)

            \(table.text)

            WAL: \(Int(walBytesPerMessage)) bytes a message
            child, at most: \(Cell.number(peakChildMiB).shown) MiB resident
            readers with an open REPEATABLE READ snapshot: \(readers)\(readers > 0 ? ", which read \(reads) times" : "")
            gateway simulator: \(TestSimulator.words(comesFirst: gatewayFirst))
            PostgreSQL: \(databaseSettings.map { "\($0.name)=\($0.value)" }.joined(separator: " "))
            """
    }

    private var quotaWords: String {
        quota.map { "; \(hosts) hosts, a quota of \($0) a minute, \(count.rejected) requests rejected" } ?? ""
    }

    private static func cell(_ seconds: Double?) -> Cell { seconds.map { .number($0) } ?? .none }
}

/// What was measured from the start of a delivery to its end.
struct DeliveryBenchRun: Sendable {
    /// The delivery's final counters.
    let progress: DeliveryProgress
    /// When each stage was reached.
    let stages: DeliveryStages
    /// The CPU time of each kind of process, in seconds.
    let cpu: [(name: String, seconds: Double)]
    /// The WAL that the database wrote, in bytes.
    let walBytes: Int64
    /// The maximum resident memory of a child, in bytes.
    let peakChildResidentBytes: Int64
    /// The sending rate in messages a second between the first and the last tenth; nil if both were stored at one
    /// moment.
    let sustainedRate: Double?
}

/// When a delivery reached each stage, in seconds after its start by the database's clock.
struct DeliveryStages: Sendable {
    /// When the counters first showed an outcome.
    private(set) var firstOutcome: Double?
    /// When the counters first showed that all parts are made.
    private(set) var prepared: Double?
    /// When the last outcome was stored.
    var lastOutcome: Double?

    /// Records the stages that these counters show as reached.
    mutating func note(_ progress: DeliveryProgress) {
        guard let start = progress.startedAt else { return }
        let seconds = Double(progress.now.microsecondsSince1970 - start.microsecondsSince1970) / 1_000_000
        if firstOutcome == nil, progress.target > progress.pending { firstOutcome = seconds }
        if prepared == nil, progress.prepared { prepared = seconds }
    }
}
