import Administration
import PushCore
import Store

/// What a bench of a delivery measured.
struct DeliveryBenchReport: BenchReport {
    /// The delivery's last counts.
    let progress: DeliveryProgress
    /// The messages that were asked for.
    let messages: Int64
    /// Those that the gateway was told to refuse.
    let refused: Int64
    let count: SimulatorCount
    /// When each stage was reached.
    let stages: DeliveryStages
    /// Messages that were sent a second from the first tenth to the last; nil if those were stored at one moment.
    let sustainedRate: Double?
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
    /// How many hosts sent.
    let hosts: Int
    /// Requests that the gateway's project took a minute; nil: any number.
    let quota: Int?
    /// Whether the gateway simulator goes before others on the CPU.
    let gatewayFirst: Bool
    /// PostgreSQL's settings that decide about durability.
    let databaseSettings: [(name: String, value: String)]

    /// Whether every message that was not to be refused was sent, once, and both counts agree.
    var isComplete: Bool {
        progress.state == .finished && progress.sent == messages - refused && progress.failed == refused
            && count.accepted == progress.sent && count.duplicates == 0
    }

    /// From the start of the delivery to its last stored outcome.
    var messagesPerSecond: Double {
        guard let seconds = stages.lastOutcome, seconds > 0 else { return 0 }
        return Double(progress.sent) / seconds
    }

    var peakChildMiB: Double { Cell.mebibytes(peakChildResidentBytes) }
    var walBytesPerMessage: Double { Double(walBytes) / Double(messages) }

    /// The CPU time of all processes together, in microseconds a message.
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
            \(progress.sent) of \(messages) messages sent\(refused > 0 ? ", \(progress.failed) refused" : ""), \(count.accepted) accepted by the simulator, \(count.duplicates) twice; \
            delivery \(progress.state.rawValue)\(progress.stateReason.isEmpty ? "" : ": " + progress.stateReason)
            \(Int(messagesPerSecond)) messages a second from the start of the delivery to its last stored outcome\(quotaWords)
            \(sustainedRate.map { String(Int($0)) } ?? "-") messages a second from its first tenth to its last

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
    /// Messages that were sent a second from the first tenth to the last; nil if those were stored at one moment.
    let sustainedRate: Double?
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
