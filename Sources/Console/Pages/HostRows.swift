import PushCore
import Store

/// The values of hosts and children, for all pages that show them.
struct HostRows {
    let children: [ChildOverview]
    let history: RateHistory
    let catalogue: Catalogue
    /// Whether the user may drain and recycle.
    var mayOperate = false

    /// The values of hosts, each with its children.
    func hosts(_ hosts: [HostRow]) -> [PageValues] {
        hosts.map { host in
            let report = host.report
            let own = children.filter { $0.row.hostID == report.id }
            let isDraining = host.isDrainRequested && host.isHeardOf
            return [
                "id": .text(report.id), "name": .text(report.name),
                "health": .text(isDraining ? catalogue[.healthDraining] : catalogue.health(host.health)),
                "healthClass": .text(isDraining ? "health-late" : "health-" + host.health),
                "version": .text(report.version), "children": .text("\(report.children) / \(report.maxChildren)"),
                "load": .text("\(Figures.oneDigit(report.load)) / \(report.cores)"),
                "memory": .text(Figures.bytes(report.residentBytes)),
                "disk": .text(Figures.bytes(report.journalFreeBytes)),
                "rate": .text(Figures.rate(own.reduce(0) { $0 + $1.report.rate })),
                "trend": .drawing(trend(.host(report.id))),
                "alarm": .text(report.alarm), "hasAlarm": .flag(!report.alarm.isEmpty),
                "heard": .text(Figures.duration(host.heartbeatAgeSeconds)),
                "own": .list(self.children(own)), "hasOwn": .flag(!own.isEmpty),
                "mayDrain": .flag(mayOperate && report.state != .stopped && !host.isDrainRequested),
                "mayOperate": .flag(mayOperate),
            ]
        }
    }

    func children(_ shown: [ChildOverview]) -> [PageValues] {
        shown.map { child in
            let report = child.report
            let isLeaving = child.isRecycleRequested || child.state == .draining
            return [
                "childID": .text("\(child.id)"), "application": .text(child.applicationName),
                "account": .text(child.accountName),
                "childState": .text(catalogue.childState(child.state)), "isRecycling": .flag(child.isRecycleRequested),
                "rate": .text(Figures.rate(report.rate)), "trend": .drawing(trend(.child(child.id))),
                "flight": .text(Figures.short(Int64(report.connections.streamsInFlight))),
                "connections": .text("\(report.connections.open)"),
                "latency": .text(Figures.milliseconds(report.latencyP50Milliseconds)),
                "sent": .text(Figures.count(report.counts.sent)), "failed": .text(Figures.count(report.counts.failed)),
                "error": .text(report.lastError), "hasError": .flag(!report.lastError.isEmpty),
                "mayRecycle": .flag(mayOperate && !isLeaving),
            ]
        }
    }

    private func trend(_ subject: RateHistory.Subject) -> Markup {
        Sparkline(rates: history.rates(of: subject), catalogue: catalogue).markup
    }
}
