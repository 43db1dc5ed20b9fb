import PushCore
import Store

/// What lists show of a delivery.
struct DeliveryWords {
    let row: DeliveryProgress
    let catalogue: Catalogue
    /// Nil if it needs no approval, or has begun, unless it was rejected.
    var standing: ApprovalStanding?
    /// What its last analysis counted, if its messages are made again before its start.
    var lastCount: Int64?

    var other: Int64 { row.ignored + row.notApplicable + row.canceled + row.unknown }
    /// Whether its messages are counted with its days.
    var isInDays: Bool { row.kind == .continuous && row.parentID == nil }
    /// Whether nobody knows yet how many messages it has.
    private var isUncounted: Bool {
        switch TargetNumber(row) {
        case nil: true
        case .growing?: row.target == 0
        default: false
        }
    }
    /// Its name, or its number if it has none.
    var name: String { row.label.isEmpty ? catalogue.text(.unnamedDelivery, "\(row.id)") : row.label }

    /// How many messages it has.
    var target: String { isUncounted ? lastCount.map(count) ?? "–" : count(row.target) }

    var summary: PageValues {
        return [
            "id": .text("\(row.id)"), "label": .text(name),
            "state": .text(state.words), "stateClass": .text(state.style),
            "target": .text(target),
            "sent": .text(count(row.sent)), "failed": .text(count(row.failed)),
            "pending": .text(count(row.pending)),
            "done": .text(done),
            "started": .text(row.startedAt.map { Figures.minute($0) } ?? catalogue[.notStarted]),
            "bar": .drawing(bar), "waiting": .text(Figures.inZone(row.waitingReason)),
            "isWaiting": .flag(!row.waitingReason.isEmpty),
        ]
    }

    /// How much of it is done. What a stop has canceled is not.
    var done: String {
        let ended = row.sent + row.failed + other - row.canceled
        return isInDays ? catalogue[.kindContinuous] : Figures.percent(ended, of: row.target)
    }

    /// Its state, or what it waits for.
    var state: (words: String, style: String) {
        switch (row.state, standing) {
        // A request gives it its start.
        case (.ready, .awaited?): (catalogue[.stateUnrequested], "fair")
        case (.pending, .awaited?): (catalogue[.stateAwaited], "fair")
        case (.ready, .approved?): (catalogue[.stateApproved], "state-ready")
        // Its messages were too old, and are made once more.
        case (.pending, .approved?) where row.startAt == nil: (catalogue[.stateApproved], "state-ready")
        case (.editing, .rejected(let name)?): (catalogue.text(.stateRejected, name), "fair")
        default:
            row.standsStill
                ? (catalogue[.stateWaiting], "fair") : (catalogue.state(row.state), "state-" + row.state.rawValue)
        }
    }

    private func count(_ value: Int64) -> String { isInDays ? "–" : Figures.count(value) }

    /// Its progress: sent, failed, other.
    var bar: Markup {
        let whole = Double(max(row.target, 1))
        return Bar.markup([
            (Double(row.sent) / whole, "s-sent"), (Double(row.failed) / whole, "s-failed"),
            (Double(other) / whole, "s-other"),
        ])
    }
}
