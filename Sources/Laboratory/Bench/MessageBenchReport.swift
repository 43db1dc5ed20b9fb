import Administration
import Foundation

/// The report of a bench of transactional messages.
struct MessageBenchReport: BenchReport {
    /// The number of messages sent.
    let messages: Int
    /// The number of sessions that sent them, and of messages per call.
    let sessions: Int
    let batch: Int
    /// The number of messages in the parallel delivery, and how many of them were still pending at the last message.
    let bulk: Int64
    let bulkLeft: Int64
    /// The number of their pushes that reached the gateway.
    let arrivals: Int
    /// Seconds from the first call to the last return.
    let seconds: Double
    /// The CPU time of each kind of process until the last outcome was stored, in seconds. The bench's own is not
    /// included.
    let cpu: [(name: String, seconds: Double)]
    /// Seconds from the return of the last call until the gateway had everything.
    let afterLastCommit: Double
    /// The durations of the calls, in milliseconds, ascending.
    let calls: [Double]
    /// The times from a message's call to its arrival at the gateway, in milliseconds, ascending. Only messages that
    /// arrived are included.
    let fromCall: [Double]
    /// The times from the return of the call, which follows the commit, to the arrival at the gateway, in milliseconds.
    /// Negative if the push was faster than the return.
    let fromCommit: [Double]
    /// Whether the gateway simulator has CPU priority.
    var gatewayFirst = false

    /// Messages a second.
    var rate: Double { Double(messages) / max(seconds, .leastNonzeroMagnitude) }

    /// Whether each message arrived exactly once.
    var isComplete: Bool { fromCall.count == messages && arrivals == messages }

    var cell: Cell {
        .object([
            ("messages", Cell(messages)), ("sessions", Cell(sessions)), ("batch", Cell(batch)),
            ("bulk", .integer(bulk)),
            ("bulkLeft", .integer(bulkLeft)), ("arrived", Cell(fromCall.count)), ("arrivals", Cell(arrivals)),
            ("complete", .flag(isComplete)), ("perSecond", .number(rate)),
            ("afterLastCommitMs", .number(afterLastCommit * 1_000)), ("callMs", Self.cell(calls)),
            ("fromCallMs", Self.cell(fromCall)), ("fromCommitMs", Self.cell(fromCommit)),
            ("cpuMicrosecondsPerMessage", .object(cpu.map { ($0.name, .number(microseconds($0.seconds))) })),
            ("gatewayFirst", .flag(gatewayFirst)),
        ])
    }

    var text: String {
        var table = Table(["ms", "p50", "p90", "p99", "max"])
        for (name, values) in [("a call", calls), ("call to gateway", fromCall), ("commit to gateway", fromCommit)] {
            table.add([.text(name)] + [50, 90, 99, 100].map { Cell.number(Self.percentile($0, values)) })
        }
        let meanwhile = bulk > 0 ? ", while a delivery of \(bulk) messages ran (\(bulkLeft) left at the end)" : ""
        let all = String(
            format: "%.0f a second; all at the gateway %.0f ms after the last commit",
            rate,
            afterLastCommit * 1_000
        )
        return "\(fromCall.count) of \(messages) messages arrived, \(all)\(meanwhile).\n" + table.text
            + "\nCPU a message: "
            + cpu.map { String(format: "%@ %.0f µs", $0.name, microseconds($0.seconds)) }.joined(separator: ", ")
            + "\nThe gateway simulator \(TestSimulator.words(comesFirst: gatewayFirst))."
    }

    private func microseconds(_ seconds: Double) -> Double {
        seconds * 1_000_000 / Double(messages + Int(bulk - bulkLeft))
    }

    /// The smallest value that `percent` percent of the values do not exceed; 0 if there are none.
    static func percentile(_ percent: Int, _ values: [Double]) -> Double {
        guard !values.isEmpty else { return 0 }
        return values[max(0, (values.count * percent + 99) / 100 - 1)]
    }

    private static func cell(_ values: [Double]) -> Cell {
        .object([50, 90, 99, 100].map { ($0 == 100 ? "max" : "p\($0)", .number(percentile($0, values))) })
    }
}
