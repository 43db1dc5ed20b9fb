import Administration
import PushCore
import Store

/// What `pushmta delivery watch` shows: a history with one line per period, and below it the current progress.
///
/// A value: it takes in counts with the time of their reading, and returns the lines to add and those below them.
struct DeliveryHistory: Sendable {
    /// The length of the first periods: short, so that lines appear soon.
    static let firstPeriod = Duration.seconds(5)
    /// After this many lines the period doubles, so that the history of a long delivery stays readable.
    static let linesOfPeriod = 12
    static let maxPeriod = Duration.seconds(600)
    private static let barWidth = 24
    /// The maximum number of applications shown; a line counts the others.
    static let maxApplications = 12

    private var begin: ContinuousClock.Instant?
    private var last: (time: ContinuousClock.Instant, counts: DeliveryProgress)?
    private var period = Self.firstPeriod
    private var lines = 0
    /// The last counts, and the rate since the ones before.
    private var now: DeliveryProgress?
    private var rate: Double = 0
    private var applications: [ApplicationProgress] = []

    /// Takes in counts; returns the new lines of the history.
    mutating func add(_ progress: DeliveryProgress, at time: ContinuousClock.Instant) -> [String] {
        let state = now?.state
        now = progress
        guard let begin, let last else {
            self.begin = time
            self.last = (time, progress)
            return [Self.title, line(progress, since: nil, after: .zero)]
        }
        if time > last.time { rate = Self.rate(from: last.counts, to: progress, in: time - last.time) }
        // A change of state has a line of its own, and so has the end.
        guard time - last.time >= period || state != progress.state else { return [] }
        let text = line(progress, since: last, after: time - begin, at: time)
        self.last = (time, progress)
        lines += 1
        if lines % Self.linesOfPeriod == 0 { period = min(period * 2, Self.maxPeriod) }
        return [text]
    }

    /// Takes in the progress of the applications.
    mutating func set(_ applications: [ApplicationProgress]) {
        self.applications = applications
    }

    /// The current progress: a bar, what the delivery waits for, and one line per application. No line is wider than
    /// `width`.
    func current(width: Int) -> [String] {
        guard let now else { return [] }
        let resolved = now.target - now.pending
        let share = now.target > 0 ? min(1, max(0, Double(resolved) / Double(now.target))) : 0
        let filled = Int(share * Double(Self.barWidth))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.barWidth - filled)
        var text = "[\(bar)] \(Int(share * 100)) %  \(resolved)/\(now.target)  \(now.state.rawValue)"
        if !now.state.isFinal { text += "  \(StatusText.tenths(rate))/s" }
        if rate >= 1, now.pending > 0, now.prepared, !now.state.isFinal {
            text += "  ready in \(AgeWords.text(Double(now.pending) / rate + 1))"
        }
        let notes = [now.otherCounters, TerminalText.cut(TerminalText.line(now.reasonLine), to: Table.maxCellLength)]
        return [DisplayWidth.cut(text, to: width)]
            + notes.filter { !$0.isEmpty }.flatMap { DisplayWidth.wrapped($0, to: width - 2) }.map { "  " + $0 }
            + applicationLines(width: width)
    }

    private func applicationLines(width: Int) -> [String] {
        guard !applications.isEmpty else { return [] }
        var table = FittedTable([
            .text("application"), .number("done"), .number("target"), .number("pending"), .number("sent"),
            .number("failed"), .number("other"),
        ])
        for row in applications.prefix(Self.maxApplications) {
            let share = row.target > 0 ? Double(row.target - row.pending) / Double(row.target) : 0
            table.add([
                row.application.isEmpty ? "(removed)" : row.application, "\(Int(share * 100)) %", String(row.target),
                CounterWords.cell(row.pending), CounterWords.cell(row.sent), CounterWords.cell(row.failed),
                CounterWords.cell(row.other),
            ])
        }
        let shown = table.lines(width: width)
        let rest = applications.count - Self.maxApplications
        return [shown.head] + shown.rows.flatMap(\.self) + (rest > 0 ? ["and \(rest) more applications"] : [])
    }

    /// The columns of the history.
    private static let columns: [(title: String, width: Int)] = [
        ("after", 9), ("sent", 12), ("failed", 10), ("other", 10), ("a second", 10), ("pending", 12), ("state", 0),
    ]

    private static let title = row(columns.map(\.title))

    private static func row(_ cells: [String]) -> String {
        zip(cells, columns).map { DisplayWidth.padded($0, to: $1.width, alignsRight: true) }.joined(separator: "  ")
    }

    /// What was added since the line before, what is pending, and the state.
    private func line(
        _ progress: DeliveryProgress,
        since last: (time: ContinuousClock.Instant, counts: DeliveryProgress)?,
        after: Duration,
        at time: ContinuousClock.Instant? = nil
    ) -> String {
        func added(_ count: Int64, _ before: Int64?) -> String {
            guard let before else { return String(count) }
            return count >= before ? "+\(count - before)" : String(count - before)
        }
        let counts = last?.counts
        let rate = last.flatMap { last in
            time.map { Self.rate(from: last.counts, to: progress, in: $0 - last.time) }
        }
        return Self.row([
            Self.clock(after), added(progress.sent, counts?.sent), added(progress.failed, counts?.failed),
            added(progress.otherEnded, counts?.otherEnded), rate.map(StatusText.tenths) ?? "",
            String(progress.pending),
            progress.state.rawValue,
        ])
    }

    private static func rate(from old: DeliveryProgress, to new: DeliveryProgress, in time: Duration) -> Double {
        let seconds = time / .seconds(1)
        guard seconds > 0 else { return 0 }
        return Double(max(0, (new.target - new.pending) - (old.target - old.pending))) / seconds
    }

    /// A duration as hours, minutes and seconds: `0:01:05`.
    private static func clock(_ span: Duration) -> String {
        let seconds = max(0, span.components.seconds)
        func digits(_ number: Int64) -> String { number < 10 ? "0\(number)" : String(number) }
        return "\(seconds / 3_600):\(digits(seconds / 60 % 60)):\(digits(seconds % 60))"
    }
}

extension DeliveryProgress {
    /// Messages that have ended, but were neither sent nor failed.
    fileprivate var otherEnded: Int64 { ignored + notApplicable + canceled + unknown }
}
