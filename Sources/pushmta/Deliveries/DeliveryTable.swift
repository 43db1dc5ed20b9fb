import Administration
import PushCore
import Store

enum DeliveryTable {
    /// The columns, named as in the view `pushmta.delivery_progress`.
    static let columns = [
        "id", "label", "state", "target", "pending", "sent", "failed", "ignored", "not_applicable", "canceled",
        "unknown", "excluded", "resent_after_ambiguity", "journal_replayed", "late_outcomes", "reason",
        "kind",
    ]

    static func row(_ progress: DeliveryProgress) -> [Cell] {
        [
            .integer(progress.id), .text(progress.label), .text(progress.state.rawValue), .integer(progress.target),
            .integer(progress.pending), .integer(progress.sent), .integer(progress.failed), .integer(progress.ignored),
            .integer(progress.notApplicable), .integer(progress.canceled), .integer(progress.unknown),
            .integer(progress.excluded), .integer(progress.resentAfterAmbiguity), .integer(progress.journalReplayed),
            .integer(progress.lateOutcomes),
            .text(progress.stateReason.isEmpty ? progress.waitingReason : progress.stateReason),
            .text(progress.kind.rawValue),
        ]
    }

    /// The days of a continuous delivery.
    static func table(_ days: [DeliveryDay]) -> Table {
        let statuses: [MessageStatus] = [.pending, .sent, .failed, .ignored, .notApplicable, .canceled, .unknown]
        var table = Table(["day", "id", "state", "target"] + statuses.map(\.name))
        for day in days {
            table.add(
                [.text("\(day.logDay)"), .integer(day.id), .text(day.state.rawValue), .integer(day.target)]
                    + statuses.map { .integer(day.counts[$0, default: 0]) }
            )
        }
        return table
    }

    /// A table of deliveries.
    static func table(_ deliveries: [DeliveryProgress]) -> Table {
        var table = Table(columns)
        for delivery in deliveries { table.add(row(delivery)) }
        return table
    }
}
