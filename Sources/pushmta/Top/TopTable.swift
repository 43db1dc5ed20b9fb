import Administration
import PushCore
import Store

/// The style of a line. A terminal without colours shows it plain, with the same text.
enum TopStyle: Sendable, Hashable {
    case plain, bar, head, critical, warning, note
}

/// One of the tables of `pushmta top`, with its rows filtered and ordered.
struct TopTable: Sendable {
    /// A row, with the values by which it is ordered and found.
    struct Row: Sendable {
        let cells: [String]
        /// Sentences about it.
        var notes: [String] = []
        var style = TopStyle.plain
        let name: String
        var rate = 0.0
        var waiting = 0.0
        var failed = 0.0
        /// Other texts by which it is found.
        var words: [String] = []

        /// How soon an operator should see it: broken, uncertain, waiting but stalled, sending, idle.
        var rank: Int {
            switch style {
            case .critical: 0
            case .warning: 1
            case _ where rate > 0: 3
            default: waiting > 0 ? 2 : 4
            }
        }

        /// Whether it has nothing to report.
        var isIdle: Bool { rank == 4 && failed == 0 }
    }

    /// The pane that shows only this table.
    let pane: TopState.Pane
    /// The part of the figures that it shows.
    let part: TopPart
    let columns: [FittedTable.Column]
    /// The visible rows.
    let rows: [Row]
    /// The number of all rows.
    let count: Int
    /// Whether there are more rows than were read.
    let isCut: Bool

    private init(
        _ state: TopState,
        _ pane: TopState.Pane,
        _ part: TopPart,
        _ columns: [FittedTable.Column],
        _ rows: [Row],
        isCut: Bool = false
    ) {
        self.pane = pane
        self.part = part
        self.columns = columns
        count = rows.count
        self.isCut = isCut
        let filter = state.filter.lowercased()
        let found =
            filter.isEmpty
            ? rows
            : rows.filter { ([$0.name] + $0.words).contains { $0.lowercased().contains(filter) } }
        // Alarms have their own order, critical ones first.
        self.rows = pane == .alarms ? found : Self.ordered(found, by: state.order, isReversed: state.isReversed)
    }

    static func all(_ state: TopState, width: Int) -> [TopTable] {
        [
            alarms(state), hosts(state, width), children(state, width), applications(state, width),
            deliveries(state, width),
        ]
    }

    private static func ordered(_ rows: [Row], by order: TopState.Order, isReversed: Bool) -> [Row] {
        let ordered = rows.sorted { left, right in
            switch order {
            case .urgent where left.rank != right.rank: left.rank < right.rank
            case .urgent where left.waiting != right.waiting: left.waiting > right.waiting
            case .urgent where left.rate != right.rate: left.rate > right.rate
            case .rate where left.rate != right.rate: left.rate > right.rate
            case .waiting where left.waiting != right.waiting: left.waiting > right.waiting
            case .failed where left.failed != right.failed: left.failed > right.failed
            default: left.name < right.name
            }
        }
        return isReversed ? ordered.reversed() : ordered
    }

    /// The maximum number of idle rows shown; if there are more, the overview only counts them.
    private static let maxIdle = 3

    /// The rows of the overview: without idle ones, if there are many.
    var unfolded: [Row] {
        guard pane == .applications || pane == .children else { return rows }
        let busy = rows.filter { !$0.isIdle }
        return rows.count - busy.count > Self.maxIdle ? busy : rows
    }

    /// From this width on, there is room for wider columns.
    private static let wide = 110
    /// The columns of a sparkline in a row.
    private static func sparks(_ width: Int) -> Int { width < wide ? 8 : 20 }

    private static func number(_ value: Double) -> String { value > 0 ? StatusText.tenths(value) : "" }
}

extension TopTable {
    private static func alarms(_ state: TopState) -> TopTable {
        let rows = state.figures.alarms.map { alarm in
            let text = state.pane == .alarms ? "" : alarm.sentence
            return Row(
                cells: [alarm.severity.rawValue, alarm.fullSubject, alarm.code, text],
                notes: [alarm.text, alarm.remedy.isEmpty ? "" : "To do: \(alarm.remedy)"],
                style: alarm.severity == .critical ? .critical : .warning,
                name: alarm.fullSubject,
                words: [alarm.code, alarm.severity.rawValue, alarm.text]
            )
        }
        return TopTable(
            state,
            .alarms,
            .alarms,
            [.text("alarm"), .text("subject"), .text("code"), .text("what")],
            rows
        )
    }

    private static func hosts(_ state: TopState, _ width: Int) -> TopTable {
        let names = HostNames(state.figures.hosts)
        let busy = Dictionary(grouping: state.figures.children, by: \.row.hostID)
        let rows = state.figures.hosts.map { host in
            let report = host.report
            let name = names.name(report.id, report.name)
            let condition = host.health == "alive" ? report.state.rawValue : host.health
            let children = busy[report.id] ?? []
            let rate = state.history.hosts.last(report.id) ?? 0
            return Row(
                cells: [
                    name, condition, number(rate), state.history.hosts.sparkline(report.id, width: sparks(width)),
                    "\(report.children)/\(report.maxChildren)", StatusText.tenths(report.load),
                    StatusText.bytes(report.residentBytes),
                    width < wide ? "" : StatusText.bytes(report.journalFreeBytes),
                    AgeWords.text(host.heartbeatAgeSeconds), width < wide ? "" : report.version,
                ],
                notes: [
                    CounterWords.text([
                        ("unknown", host.unknown), ("resent after ambiguity", host.resentAfterAmbiguity),
                        ("journal replayed", report.journalReplayed), ("late outcomes", host.lateOutcomes),
                    ]), report.alarm,
                ],
                style: host.isGone || !report.alarm.isEmpty
                    ? .critical : host.health == "late" || host.isVersionMixed ? .warning : .plain,
                name: name,
                rate: rate,
                waiting: Double(children.map { Int($0.report.connections.streamsInFlight) }.reduce(0, +)),
                failed: Double(children.map(\.report.counts.failed).reduce(0, +)),
                words: [report.id, condition, report.version]
            )
        }
        let columns: [FittedTable.Column] = [
            .text("host"), .text("state"), .number("rate"), .number("lately"), .number("children"), .number("load"),
            .number("memory"), .number("journal free"), .number("heartbeat"), .text("version"),
        ]
        return TopTable(state, .hosts, .processes, columns, rows)
    }

    private static func children(_ state: TopState, _ width: Int) -> TopTable {
        let names = HostNames(state.figures.hosts)
        let rows = state.figures.children.map { child in
            let report = child.report
            let condition = child.health == "alive" ? child.state.rawValue : child.health
            let rate = state.history.children.last(child.id) ?? 0
            let limit = report.connections.limitedBy?.rawValue ?? ""
            return Row(
                cells: [
                    names.name(child), width < wide ? "" : String(report.pid), child.applicationName, condition,
                    report.deliveryID.map(String.init) ?? "", number(rate),
                    state.history.children.sparkline(child.id, width: sparks(width)),
                    number(report.latencyP99Milliseconds),
                    width < wide ? "" : "\(report.connections.open)/\(report.connections.wanted)",
                    CounterWords.cell(report.connections.streamsInFlight), limit,
                    width < wide ? "" : CounterWords.cell(report.counts.sent), CounterWords.cell(report.counts.failed),
                ],
                notes: [report.lastError.isEmpty ? "" : "Last error: \(report.lastError)"],
                style: child.health == "alive" ? .plain : .warning,
                name: "\(names.name(child)) \(child.applicationName) \(child.id)",
                rate: rate,
                waiting: Double(report.connections.streamsInFlight),
                failed: Double(report.counts.failed),
                words: [
                    condition, child.accountName, limit, String(report.pid),
                    report.deliveryID.map(String.init) ?? "", report.lastError,
                ]
            )
        }
        let columns: [FittedTable.Column] = [
            .text("child on"), .number("pid"), .text("application"), .text("state"), .number("delivery"),
            .number("rate"), .number("lately"), .number("p99 ms"), .number("conns"), .number("on wire"),
            .text("limited by"), .number("sent"), .number("failed"),
        ]
        return TopTable(state, .children, .processes, columns, rows)
    }

    private static func applications(_ state: TopState, _ width: Int) -> TopTable {
        let queues = Dictionary(grouping: state.figures.queue, by: \.application)
        let children = Dictionary(grouping: state.figures.children, by: \.applicationName)
        // A line for each reason, or a column for the first one if there is room.
        let hasNotes = width < wide || state.pane == .applications
        let rows = state.figures.applications.map { application in
            let queue = queues[application.application] ?? []
            let served = children[application.application] ?? []
            let rate = state.history.applications.last(application.application) ?? 0
            let waiting = queue.map { $0.ready + $0.later + $0.held }.reduce(0, +)
            let failed = served.map(\.report.counts.failed).reduce(0, +)
            let isOpen = application.health.state != .closed
            let reasons = queue.map { $0.waitingReason.isEmpty ? "" : "Waits over \($0.account): \($0.waitingReason)" }
            return Row(
                cells: [
                    application.application, isOpen ? application.health.state.rawValue : "", number(rate),
                    state.history.applications.sparkline(application.application, width: sparks(width)),
                    QueueTable.counted(waiting, atLeast: queue.contains { $0.isReadyAtLeast || $0.isHeldAtLeast }),
                    CounterWords.cell(queue.map(\.claimed).reduce(0, +)),
                    queue.compactMap(\.oldestSeconds).max().map(AgeWords.text) ?? "",
                    CounterWords.cell(served.count), CounterWords.cell(failed),
                    hasNotes ? "" : queue.map(\.waitingReason).first { !$0.isEmpty } ?? "",
                ],
                notes: [application.health.reason] + (hasNotes ? reasons : []),
                style: isOpen ? .critical : application.health.reason.isEmpty ? .plain : .warning,
                name: application.application,
                rate: rate,
                waiting: Double(waiting),
                failed: Double(failed),
                words: queue.map(\.account) + [application.platform.rawValue, application.health.state.rawValue]
            )
        }
        let columns: [FittedTable.Column] = [
            .text("application"), .text("circuit"), .number("rate"), .number("lately"), .number("waiting"),
            .number("claimed"), .number("oldest"), .number("children"), .number("failed"), .text("why it waits"),
        ]
        return TopTable(state, .applications, .queues, columns, rows)
    }

    private static func deliveries(_ state: TopState, _ width: Int) -> TopTable {
        let byChildren = Dictionary(grouping: state.figures.children) { $0.report.deliveryID }
        let slow = state.figures.children.slowGateways
        let rows = state.figures.deliveries.map { delivery in
            // A single reading has no rate; what the children report comes close.
            let said = (byChildren[delivery.id] ?? []).map(\.report.rate).reduce(0, +)
            let rate = state.history.deliveries.last(delivery.id) ?? said
            let ended = max(0, delivery.target - delivery.pending)
            let reason = delivery.reasonLine
            let slowness = slow[delivery.id].map(StatusText.slowGateway) ?? ""
            return Row(
                cells: [
                    String(delivery.id), delivery.label,
                    delivery.state.rawValue + (delivery.standsStill ? ", waits" : "")
                        + (slowness.isEmpty ? "" : ", slow gateway"), number(rate),
                    state.history.deliveries.sparkline(delivery.id, width: sparks(width)),
                    delivery.target > 0 ? "\(Int(Double(ended) / Double(delivery.target) * 100)) %" : "",
                    CounterWords.cell(delivery.pending), CounterWords.cell(delivery.sent),
                    CounterWords.cell(delivery.failed), width < wide ? "" : CounterWords.cell(delivery.excluded),
                ],
                notes: [delivery.otherCounters, slowness, reason],
                style: reason.isEmpty && slowness.isEmpty ? .plain : .warning,
                name: "\(delivery.label) \(delivery.id)",
                rate: rate,
                waiting: Double(delivery.pending),
                failed: Double(delivery.failed),
                words: [delivery.state.rawValue, delivery.kind.rawValue, slowness, reason]
            )
        }
        let columns: [FittedTable.Column] = [
            .number("delivery"), .text("label"), .text("state"), .number("rate"), .number("lately"), .number("done"),
            .number("pending"), .number("sent"), .number("failed"), .number("excluded"),
        ]
        let isCut = state.figures.areDeliveriesCut
        return TopTable(state, .deliveries, .deliveries, columns, rows, isCut: isCut)
    }
}
