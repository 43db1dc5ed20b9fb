/// What a bench of single messages measured.
struct MessageBenchReport: Sendable {
    /// Messages that were sent.
    let messages: Int
    /// Messages of the delivery that ran meanwhile, and those of them that were still pending at the last message.
    let bulk: Int64
    let bulkLeft: Int64
    /// Pushes that the gateway had for them.
    let arrivals: Int
    /// Milliseconds from the call of send_message to the gateway, of those that arrived, in rising order.
    let fromCall: [Double]
    /// Milliseconds from its answer, which comes after the commit, to the gateway; below zero when the push was quicker than that.
    let fromCommit: [Double]

    /// Whether each arrived, once.
    var isComplete: Bool { fromCall.count == messages && arrivals == messages }

    /// The figures for programs.
    var cell: Cell {
        .object([
            ("messages", Cell(messages)), ("bulk", .integer(bulk)), ("bulkLeft", .integer(bulkLeft)),
            ("arrived", Cell(fromCall.count)), ("arrivals", Cell(arrivals)), ("complete", .flag(isComplete)),
            ("fromCallMs", Self.cell(fromCall)), ("fromCommitMs", Self.cell(fromCommit)),
        ])
    }

    /// The figures for people.
    var text: String {
        var table = Table(["ms", "p50", "p90", "p99", "max"])
        for (name, values) in [("from the call", fromCall), ("from the commit", fromCommit)] {
            table.add([.text(name)] + [50, 90, 99, 100].map { Cell.number(Self.percentile($0, values)) })
        }
        let meanwhile = bulk > 0 ? ", while a delivery of \(bulk) messages ran (\(bulkLeft) left at the end)" : ""
        return "\(fromCall.count) of \(messages) messages arrived\(meanwhile).\n" + table.text
    }

    private static func cell(_ values: [Double]) -> Cell {
        .object([50, 90, 99, 100].map { ($0 == 100 ? "max" : "p\($0)", .number(percentile($0, values))) })
    }

    private static func percentile(_ percent: Int, _ values: [Double]) -> Double {
        guard !values.isEmpty else { return 0 }
        // The smallest value that so many in a hundred do not exceed.
        return values[max(0, (values.count * percent + 99) / 100 - 1)]
    }
}
