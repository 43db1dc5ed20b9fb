import Administration
import Store

/// A line of the screen.
struct TopLine: Sendable, Hashable {
    let text: String
    let style: TopStyle

    init(_ text: String, _ style: TopStyle = .plain) {
        self.text = text
        self.style = style
    }
}

/// The screen of `pushmta top`: how a state looks in the given columns and lines.
///
/// It reads nothing: the same state gives the same lines.
struct TopFrame: Sendable {
    /// The columns of the sparkline for the total rate.
    private static let sparks = 12
    /// A small screen shows what fits; with fewer rows than this it would be confusing.
    private static let minRows = 1

    private let state: TopState
    /// The last column stays free, as some terminals wrap there.
    private let width: Int

    /// Creates the screen of a state.
    init(_ state: TopState) {
        self.state = state
        width = max(1, state.size.columns - 1)
    }

    /// The screen: as many lines as it has.
    func lines(at now: ContinuousClock.Instant) -> [TopLine] {
        let top = heading(at: now)
        let room = max(0, state.size.lines - top.count - 1)
        var body = state.showsHelp ? help : tables(room, at: now)
        if body.count < room { body += Array(repeating: TopLine(""), count: room - body.count) }
        return (top + body.prefix(room) + [footer]).suffix(max(1, state.size.lines)).map(fitted)
    }

    /// Everything with all rows, as text for files and other programs.
    func text(at now: ContinuousClock.Instant) -> [String] {
        let tables = TopTable.all(state, width: width).filter { !$0.rows.isEmpty }
        let lines =
            heading(at: now) + tables.flatMap { [TopLine("")] + section($0, $0.rows, rows: $0.rows.count, at: now) }
        return lines.map { fitted($0).text }
    }

    /// The maximum number of rows above the visible ones.
    var maxScroll: Int {
        guard state.pane != .overview, let table = table(state.pane) else { return 0 }
        return max(0, table.rows.count - 1)
    }

    /// No line is wider than the screen, and none moves its cursor.
    private func fitted(_ line: TopLine) -> TopLine {
        TopLine(DisplayWidth.cut(TerminalText.line(line.text), to: width), line.style)
    }

    private func table(_ pane: TopState.Pane) -> TopTable? {
        TopTable.all(state, width: width).first { $0.pane == pane }
    }
}

extension TopFrame {
    /// The lines about the whole site.
    private func heading(at now: ContinuousClock.Instant) -> [TopLine] {
        let figures = state.figures
        var title = ["pushmta top", clock, "every \(state.interval.words)", alarmWords]
        if state.isPaused { title.append("PAUSED") }
        let alive = figures.hosts.filter(\.isHeardOf).count
        let ready = figures.queue.map { $0.ready + $0.later + $0.held }.reduce(0, +)
        let claimed = figures.queue.map(\.claimed).reduce(0, +)
        let isAtLeast = figures.queue.contains { $0.isReadyAtLeast || $0.isHeldAtLeast }
        let spark = state.history.all.sparkline(true, width: Self.sparks)
        let summary = [
            "\(StatusText.tenths(state.history.all.last(true) ?? 0))/s", spark,
            "hosts \(alive)/\(figures.hosts.count)", "children \(figures.children.count)",
            "deliveries \(figures.deliveries.count)\(figures.areDeliveriesCut ? "+" : "")",
            "waiting \(isAtLeast ? "≥" : "")\(ready)", claimed > 0 ? "claimed \(claimed)" : "",
        ]
        var lines = [
            TopLine(DisplayWidth.padded(title.joined(separator: "  "), to: width), .bar),
            TopLine(summary.filter { !$0.isEmpty }.joined(separator: "  "), .head),
        ]
        if let trouble = state.trouble {
            let since = (now - trouble.since).words
            let words = "No new figures for \(since); those shown are older. The reason: \(trouble.words)"
            lines += DisplayWidth.wrapped(TerminalText.line(words), to: width).prefix(3).map { TopLine($0, .critical) }
        }
        return lines
    }

    private var clock: String {
        guard let time = state.time else { return "nothing has been read yet" }
        return time.internetText.drop { $0 != "T" }.dropFirst().prefix { $0 != "." } + " UTC"
    }

    private var alarmWords: String {
        let critical = state.figures.alarms.filter { $0.severity == .critical }.count
        let warnings = state.figures.alarms.count - critical
        if critical + warnings == 0 { return "no alarms" }
        return "alarms "
            + [critical > 0 ? "\(critical) critical" : "", warnings > 0 ? "\(warnings) warning" : ""]
            .filter { !$0.isEmpty }.joined(separator: ", ")
    }

    private var footer: TopLine {
        if state.isTyping { return TopLine("filter: \(state.filter)_   Enter keeps it, Esc removes it", .bar) }
        let order = "\(state.order)\(state.isReversed ? " reversed" : "")"
        let filter = state.filter.isEmpty ? "" : ": \(state.filter)"
        let keys = [
            "q quit", "? help", "Tab 0-5 shown: \(state.pane.name)", "s order: \(order)", "/ filter\(filter)",
            state.isPaused ? "p resume" : "p pause",
        ]
        return TopLine(DisplayWidth.padded(keys.joined(separator: "  "), to: width), .bar)
    }

    private var help: [TopLine] {
        let keys = [
            ("q, Ctrl-C", "quit"),
            ("Tab, Shift-Tab, 0 to 5", "all tables, or a single one with its reasons"),
            (
                "s, S",
                "order: urgent (broken, waiting, sending, idle), rate, waiting, failed, name; S: the previous order"
            ),
            ("r", "reverse the order"),
            ("/", "only rows that contain a text, such as a name; Esc: all"),
            ("p, Space", "freeze the figures, and resume"),
            ("arrows, Page, Home, End", "move through the rows of one table; so do k j g G"),
            ("Ctrl-Z", "back to the shell; fg resumes"),
            ("?, h", "this help"),
        ]
        let notes =
            "rate is messages per second: for hosts, applications and children as their children report it, for deliveries what "
            + "ended since the previous reading. lately shows the last rates, relative to the row's maximum. waiting is what has not been sent. "
            + "claimed is what children hold: on the wire, or waiting for a rate limit. "
            + "If there are many idle applications and children, the first page counts them instead of listing them. "
            + "A table that is expensive to read is read less often, and shows its age."
        return [TopLine("")]
            + keys.map { TopLine("  " + DisplayWidth.padded($0.0, to: 25) + $0.1) } + [TopLine("")]
            + DisplayWidth.wrapped(notes, to: width - 2).map { TopLine("  " + $0, .note) }
    }
}

extension TopFrame {
    private func tables(_ room: Int, at now: ContinuousClock.Instant) -> [TopLine] {
        if state.pane != .overview { return table(state.pane).map { alone($0, room, at: now) } ?? [] }
        let tables = TopTable.all(state, width: width).filter { !$0.rows.isEmpty }
        guard !tables.isEmpty else {
            let isEmpty = state.filter.isEmpty
            return [
                TopLine(""),
                TopLine(isEmpty ? "There is nothing to show." : "No row contains \"\(state.filter)\".", .note),
            ]
        }
        // One line for each header and the rest for rows, with blank lines between the tables if everything fits.
        let wanted = tables.map(\.unfolded.count)
        let gaps = wanted.reduce(0, +) + 2 * tables.count <= room ? 1 : 0
        let rows = Self.shares(wanted, of: room - tables.count * (1 + gaps))
        return zip(tables, rows).flatMap { table, rows in
            section(table, table.unfolded, rows: rows, at: now) + (gaps == 1 ? [TopLine("")] : [])
        }
    }

    /// The number of rows of each table: equal shares, where rows that a table does not need go to the others.
    static func shares(_ wanted: [Int], of room: Int) -> [Int] {
        var shares = wanted.map { _ in 0 }
        var left = max(0, room)
        while left > 0 {
            let hungry = wanted.indices.filter { shares[$0] < wanted[$0] }
            guard !hungry.isEmpty else { break }
            let each = max(1, left / hungry.count)
            for index in hungry where left > 0 {
                let more = min(each, wanted[index] - shares[index], left)
                shares[index] += more
                left -= more
            }
        }
        return shares
    }

    /// A table in the overview, with one line per row.
    ///
    /// - Parameter all: its rows, or those that are not folded.
    private func section(_ table: TopTable, _ all: [TopTable.Row], rows: Int, at now: ContinuousClock.Instant)
        -> [TopLine]
    {
        let shown = Array(all.prefix(rows))
        var fitted = FittedTable(table.columns)
        for row in shown { fitted.add(row.cells) }
        let (head, lines) = fitted.lines(width: width)
        return [headLine(table, head, shown: shown.count, of: all.count, at: now)]
            + zip(shown, lines).flatMap { row, lines in lines.map { TopLine($0, row.style) } }
    }

    private func headLine(
        _ table: TopTable,
        _ head: String,
        shown: Int,
        of all: Int,
        at now: ContinuousClock.Instant
    ) -> TopLine {
        var notes: [String] = []
        if shown < all || table.isCut { notes.append("\(shown) of \(all)\(table.isCut ? "+" : "")") }
        if all < table.rows.count { notes.append("\(table.rows.count - all) idle") }
        if table.rows.count < table.count { notes.append("\(table.count - table.rows.count) filtered out") }
        if let age = state.age(of: table.part, at: now) { notes.append("\(age.words) old") }
        guard !notes.isEmpty else { return TopLine(head, .head) }
        let note = "(\(notes.joined(separator: ", ")))"
        let room = max(0, width - DisplayWidth.of(note) - 2)
        return TopLine(DisplayWidth.padded(DisplayWidth.cut(head, to: room), to: room) + "  " + note, .head)
    }

    /// A single table with its notes, from the row that was scrolled to.
    private func alone(_ table: TopTable, _ room: Int, at now: ContinuousClock.Instant) -> [TopLine] {
        guard !table.rows.isEmpty else {
            let words = table.count == 0 ? "There are no rows." : "No row contains \"\(state.filter)\"."
            return [TopLine(""), TopLine(words, .note)]
        }
        let rows = Array(table.rows.dropFirst(state.scroll).prefix(max(Self.minRows, room)))
        var fitted = FittedTable(table.columns)
        for row in rows { fitted.add(row.cells, notes: row.notes) }
        let (head, lines) = fitted.lines(width: width)
        var body: [TopLine] = []
        var shown = 0
        for (row, lines) in zip(rows, lines) where body.count < room - 1 {
            body += lines.enumerated().map { TopLine($1, $0 == 0 || row.style != .plain ? row.style : .note) }
            shown += 1
        }
        return [headLine(table, head, shown: shown, of: table.rows.count, at: now)] + body
    }
}

extension Duration {
    fileprivate var words: String {
        let seconds = self / .seconds(1)
        return seconds < 10 && seconds != seconds.rounded() ? "\(StatusText.tenths(seconds)) s" : AgeWords.text(seconds)
    }
}
