import Administration
import Foundation

/// The report of a release bench.
struct ReleaseBenchReport: BenchReport {
    /// The start of one analysed delivery.
    struct Start: Sendable, Equatable {
        /// The number of its messages.
        let target: Int64
        /// Seconds that its analysis took.
        let analysisSeconds: Double
        /// Milliseconds that the call of its start took.
        let callMilliseconds: Double
        /// Milliseconds from that call until the gateway had its first message.
        let firstMilliseconds: Double

        var cell: Cell {
            .object([
                ("target", .integer(target)), ("analysisSeconds", .number(analysisSeconds)),
                ("callMilliseconds", .number(callMilliseconds)), ("firstMilliseconds", .number(firstMilliseconds)),
            ])
        }
    }

    /// The number of messages in each delivery.
    let messages: Int64
    /// Whether the gateway simulator has CPU priority.
    let gatewayFirst: Bool
    /// The starts. At the first one no child was connected.
    var starts: [Start] = []

    /// Whether each delivery had its messages, and one of them arrived.
    var isComplete: Bool {
        starts.count > 1 && starts.allSatisfy { $0.target >= messages && $0.firstMilliseconds.isFinite }
    }

    /// The longest time until the first message where a child was connected, in milliseconds.
    var longestMilliseconds: Double { starts.dropFirst().map(\.firstMilliseconds).max() ?? .infinity }

    var cell: Cell {
        .object([
            ("messages", .integer(messages)), ("longestMilliseconds", .number(longestMilliseconds)),
            ("complete", .flag(isComplete)), ("starts", .list(starts.map(\.cell))),
            ("gatewayFirst", .flag(gatewayFirst)),
        ])
    }

    var text: String {
        var table = Table(["child", "analysis_s", "call_ms", "first_message_ms"])
        for (number, start) in starts.enumerated() {
            table.add([
                .text(number == 0 ? "started" : "connected"), .number(start.analysisSeconds),
                .number(start.callMilliseconds), .number(start.firstMilliseconds),
            ])
        }
        return """
            \(table.text)

            \(Int(longestMilliseconds)) ms at most from the start of an analysed delivery of \(messages) messages until the \
            gateway has its first one, with a connected child
            gateway simulator: \(TestSimulator.words(comesFirst: gatewayFirst))
            """
    }
}
