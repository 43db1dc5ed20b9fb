import PushCore
import Store

/// The values of *Now*.
struct NowView {
    let snapshot: NowSnapshot
    let history: RateHistory
    let catalogue: Catalogue
    private let slowGateways: [Int64: [String]]
    /// The waiting messages of each queue: those that are due, and those that a child holds unsent, for example
    /// because of a rate limit.
    private let waitingOf: [EngineFigures.Queue: Int64]

    init(snapshot: NowSnapshot, history: RateHistory, catalogue: Catalogue) {
        self.snapshot = snapshot
        self.history = history
        self.catalogue = catalogue
        slowGateways = snapshot.children.slowGateways
        var flight = Dictionary(grouping: snapshot.children, by: \.applicationName).mapValues { children in
            children.reduce(Int64(0)) { $0 + Int64($1.report.connections.streamsInFlight) }
        }
        var waitingOf: [EngineFigures.Queue: Int64] = [:]
        for queue in snapshot.queues {
            let sent = min(queue.claimed, flight[queue.application] ?? 0)
            flight[queue.application, default: 0] -= sent
            waitingOf[queue] = queue.messages + queue.claimed - sent
        }
        self.waitingOf = waitingOf
    }

    /// The maximum number of children shown, those that send most; the page of hosts has all.
    private static let maxChildren = 12

    private var running: [HostRow] { snapshot.hosts.filter { $0.report.state != .stopped } }
    private var waiting: Int64 { waitingOf.values.reduce(0, +) }
    /// Messages of the shown deliveries of which none can leave now, so that no queue has them.
    private var standing: Int64 {
        snapshot.deliveries.rows.filter { $0.standsStill || $0.state == .pending || $0.state == .paused }
            .reduce(0) { $0 + $1.pending }
    }
    private var oldest: Double { snapshot.queues.map(\.oldestSeconds).max() ?? 0 }

    var values: PageValues {
        let critical = snapshot.alarms.count { $0.severity == .critical }
        let minutes = snapshot.hour.minutes
        let sent = minutes.reduce(0) { $0 + $1.sent }
        let failed = minutes.reduce(0) { $0 + $1.failed }
        let other = minutes.reduce(0) { $0 + $1.other }
        let chart = OutcomeChart(
            hour: snapshot.hour,
            now: snapshot.readAt,
            catalogue: catalogue,
            alarms: snapshot.history
        )
        let rows = HostRows(children: snapshot.children, history: history, catalogue: catalogue)
        return [
            "summary": .text(summary(critical)), "isBad": .flag(critical > 0 || running.isEmpty),
            "isFair": .flag(critical == 0 && !snapshot.alarms.isEmpty && !running.isEmpty),
            "readAt": .text(Figures.clock(snapshot.readAt)), "zone": .text(Figures.zoneName),
            "figures": .list(figures(sent, failed)), "chart": .drawing(chart.markup),
            "chartTop": .text(Figures.short(chart.top)), "chartWords": .text(chart.words),
            "sentTotal": .text(Figures.count(sent)), "failedTotal": .text(Figures.count(failed)),
            "otherTotal": .text(Figures.count(other)), "isPartial": .flag(snapshot.hour.isPartial),
            "hasOutcomes": .flag(!minutes.isEmpty),
            "alarms": .list(AlarmsPage.rows(snapshot.alarms, catalogue)), "hasAlarms": .flag(!snapshot.alarms.isEmpty),
            "deliveries": .list(snapshot.deliveries.rows.map(delivery)),
            "hasDeliveries": .flag(!snapshot.deliveries.rows.isEmpty),
            "queues": .list(queues), "hasQueues": .flag(!snapshot.queues.isEmpty),
            "standing": .text(catalogue.text(.queueStanding, count: standing, Figures.count(standing))),
            "hasStanding": .flag(standing > 0),
            "hosts": .list(rows.hosts(running)), "hasHosts": .flag(!running.isEmpty),
            "children": .list(rows.children(children)), "hasChildren": .flag(!children.isEmpty),
            "isChildrenCut": .flag(children.count < snapshot.children.count),
            "childrenCut": .text(
                catalogue.text(
                    .childrenCut,
                    Figures.count(Int64(children.count)),
                    Figures.count(Int64(snapshot.children.count))
                )
            ),
        ]
    }

    /// A delivery, with the gateways that limit it, as its children report them.
    private func delivery(_ row: DeliveryProgress) -> PageValues {
        let standing = snapshot.deliveries.standings[row.id]
        let lastCount = snapshot.deliveries.lastCounts[row.id]
        var values = DeliveryWords(row: row, catalogue: catalogue, standing: standing, lastCount: lastCount).summary
        if let slow = slowGateways[row.id] {
            let names = slow.joined(separator: ", ")
            values["slow"] = .group(["words": .text(catalogue.text(.gatewaySlowHint, names))])
        }
        return values
    }

    private var children: [ChildOverview] {
        let sorted = snapshot.children.sorted {
            ($1.report.rate, $0.applicationName, $0.id)
                < ($0.report.rate, $1.applicationName, $1.id)
        }
        return Array(sorted.prefix(Self.maxChildren))
    }

    private func summary(_ critical: Int) -> String {
        if running.isEmpty { return catalogue[.summaryNoHost] }
        switch (critical, snapshot.alarms.count - critical) {
        case (0, 0): return catalogue[.summaryWell]
        case (0, let warnings): return catalogue.text(.summaryWarnings, count: Int64(warnings), "\(warnings)")
        default: return catalogue.text(.summaryCritical, count: Int64(critical), "\(critical)")
        }
    }

    private func figures(_ sent: Int64, _ failed: Int64) -> [PageValues] {
        let rate = snapshot.children.reduce(0) { $0 + $1.report.rate }
        let flight = snapshot.children.reduce(Int64(0)) { $0 + Int64($1.report.connections.streamsInFlight) }
        let latency = snapshot.children.filter { $0.report.rate > 0 }.map(\.report.latencyP99Milliseconds).max()
        let ended = sent + failed
        return [
            figure(.figureRate, Figures.rate(rate), catalogue[.figureRateUnit]),
            figure(.figureFlight, Figures.short(flight), catalogue.text(.figureFlightUnit, count: flight)),
            figure(
                .figureWaiting,
                atLeast(Figures.short(waiting), snapshot.queues.contains(where: \.isPartial)),
                catalogue.text(.figureWaitingUnit, count: waiting, Figures.duration(oldest))
            ),
            figure(
                .figureSent,
                Figures.short(sent),
                catalogue.text(.figureSentUnit, ended > 0 ? Figures.percent(failed, of: ended) : "0 %")
            ),
            figure(
                .figureLatency,
                latency.map { Figures.milliseconds($0) } ?? "–",
                catalogue[.figureLatencyUnit]
            ),
        ]
    }

    private func figure(_ name: Phrase, _ value: String, _ unit: String) -> PageValues {
        ["name": .text(catalogue[name]), "value": .text(value), "unit": .text(unit)]
    }

    private func atLeast(_ count: String, _ isPartial: Bool) -> String {
        isPartial ? catalogue.text(.atLeast, count) : count
    }

    private var queues: [PageValues] {
        let longest = max(oldest, 1)
        return snapshot.queues.sorted { $0.oldestSeconds > $1.oldestSeconds }.map { queue in
            [
                "application": .text(queue.application),
                "lane": .text(catalogue[queue.isTransactional ? .laneSingle : .laneBatch]),
                "messages": .text(atLeast(Figures.count(waitingOf[queue] ?? 0), queue.isPartial)),
                "age": .text(Figures.duration(queue.oldestSeconds)),
                "bar": .drawing(Bar.markup([(queue.oldestSeconds / longest, "s-wait")])),
            ]
        }
    }
}
