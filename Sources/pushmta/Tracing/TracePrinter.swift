import Administration
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// Shows what is on the wire, for people or as lines of JSON.
final class TracePrinter: Sendable {
    private struct State {
        /// What each child has counted, as it said last.
        var counts: [Int64: TraceCounts] = [:]
        /// What each child has said of itself last; it says so again and again.
        var notices: [Int64?: String] = [:]
        var shown = 0
        var missed: Int64 = 0
    }

    private let json: Bool
    /// After how many exchanges it is enough.
    private let most: Int?
    private let state = Mutex(State())

    /// Prints in one of two forms.
    init(json: Bool, most: Int? = nil) {
        self.json = json
        self.most = most
    }

    /// Shows a line of the supervisor.
    ///
    /// - Returns: whether somebody wants to see more.
    func show(_ line: TraceLine) -> Bool {
        let (isNew, isLast) = state.withLock { state in
            if let child = line.child, let told = line.counts { state.counts[child] = told }
            state.missed += line.missed ?? 0
            if line.exchange != nil { state.shown += 1 }
            let isNew =
                line.notice != nil && state.notices.updateValue(line.notice ?? "", forKey: line.child) != line.notice
            return (isNew, most.map { state.shown >= $0 } ?? false)
        }
        if let missed = line.missed {
            StandardError.write("(\(missed) exchanges were not shown, as this reader is slower than they come)\n")
        }
        if isNew, let notice = line.notice {
            StandardError.write("(\(line.child.map { "child \($0): " } ?? "")\(TerminalText.line(notice)))\n")
        }
        guard let exchange = line.exchange else { return true }
        let isRead = StandardOutput.hasWritten(
            json
                ? Self.cell(exchange, child: line.child, counts: line.counts).json
                : Self.text(exchange, child: line.child, counts: line.counts)
        )
        return isRead && !isLast
    }

    /// How much was shown of how many.
    func summary(of application: String) -> String {
        state.withLock { state in
            let counts = state.counts.values
            var words = "Shown: \(state.shown) of \(counts.reduce(0) { $0 + $1.matched }) messages of \(application)."
            let lost = counts.reduce(state.missed) { $0 + $1.lost }
            if lost > 0 { words += " \(lost) more were to be shown and found no room." }
            let unchecked = counts.reduce(0) { $0 + $1.unchecked }
            if unchecked > 0 { words += " Of \(unchecked) the push token was not looked at, as they were too many." }
            return words
        }
    }

    /// An exchange as people read it.
    static func text(_ exchange: TracedExchange, child: Int64?, counts: TraceCounts?) -> String {
        var head = [
            time(exchange.at), "delivery \(exchange.delivery)", child.map { "child \($0)" } ?? "",
            milliseconds(exchange.latencyMicroseconds),
        ]
        if let counts, counts.matched > 0 { head.append("\(counts.matched) so far") }
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

    private static func cell(_ exchange: TracedExchange, child: Int64?, counts: TraceCounts?) -> Cell {
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
            ("messages_so_far", Cell(counts?.matched)), ("lost_so_far", Cell(counts?.lost)),
            ("unchecked_so_far", Cell(counts?.unchecked)),
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
