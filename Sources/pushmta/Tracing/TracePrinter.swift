import Administration
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// Shows what is on the wire, for people or as lines of JSON.
final class TracePrinter: Sendable {
    private let json: Bool
    /// What each child has counted, as it said last.
    private let counts = Mutex<[Int64: TraceCounts]>([:])

    /// Prints in one of two forms.
    init(json: Bool) {
        self.json = json
    }

    /// Shows a line of the supervisor.
    func show(_ line: TraceLine) {
        if let child = line.child, let told = line.counts { counts.withLock { $0[child] = told } }
        if let missed = line.missed {
            StandardError.write("(\(missed) exchanges were not shown, as this reader is slower than they come)\n")
        }
        if let notice = line.notice {
            StandardError.write("(\(line.child.map { "child \($0): " } ?? "")\(TerminalText.line(notice)))\n")
        }
        guard let exchange = line.exchange else { return }
        StandardOutput.line(
            json
                ? Self.cell(exchange, child: line.child).json
                : Self.text(exchange, child: line.child, counts: line.counts)
        )
    }

    /// An exchange as people read it.
    static func text(_ exchange: TracedExchange, child: Int64?, counts: TraceCounts?) -> String {
        var head = [
            time(exchange.at), "delivery \(exchange.delivery)", child.map { "child \($0)" } ?? "",
            milliseconds(exchange.latencyMicroseconds),
        ]
        if let counts, counts.matched > 0 { head.append("exchange \(counts.matched)") }
        if let counts, counts.lost > 0 { head.append("\(counts.lost) not shown") }
        if let counts, counts.unchecked > 0 { head.append("\(counts.unchecked) not looked at") }
        var lines = [head.filter { !$0.isEmpty }.joined(separator: "  ")]
        lines += part(exchange.request, ">")
        if let answer = exchange.answer { lines += part(answer, "<") }
        if let failure = exchange.failure { lines.append("< " + TerminalText.line(failure)) }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func part(_ part: TracedExchange.Part, _ mark: String) -> [String] {
        part.headers.map { "\(mark) " + TerminalText.line("\($0.name): \($0.value)") }
            + (part.body.isEmpty ? [] : ["\(mark) ", "\(mark) " + TerminalText.line(part.body)])
    }

    private static func cell(_ exchange: TracedExchange, child: Int64?) -> Cell {
        func cell(_ part: TracedExchange.Part?) -> Cell {
            guard let part else { return .none }
            let headers = part.headers.map { Cell.object([("name", .text($0.name)), ("value", .text($0.value))]) }
            return .object([("headers", .list(headers)), ("body", .text(part.body))])
        }
        return .object([
            ("at", .text(DatabaseTime(microsecondsSince1970: exchange.at * 1_000).internetText)),
            ("child", Cell(child)),
            ("delivery", .integer(exchange.delivery)), ("token_hash", .text(exchange.tokenHash)),
            ("latency_ms", .number(Double(exchange.latencyMicroseconds) / 1_000)), ("request", cell(exchange.request)),
            ("answer", cell(exchange.answer)), ("failure", Cell(exchange.failure)),
        ])
    }

    /// The time of a day to the millisecond.
    private static func time(_ milliseconds: Int64) -> String {
        let text = DatabaseTime(microsecondsSince1970: milliseconds * 1_000).internetText
        return text.drop { $0 != "T" }.dropFirst().prefix(12) + "Z"
    }

    private static func milliseconds(_ microseconds: UInt32) -> String {
        "\(StatusText.tenths(Double(microseconds) / 1_000)) ms"
    }
}
