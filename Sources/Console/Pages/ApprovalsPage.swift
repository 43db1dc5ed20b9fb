import HTTPTypes
import PushCore
import Store

/// *Approvals*: the deliveries that wait for one, for users who may approve.
struct ApprovalsPage: Sendable {
    let responder: ConsoleResponder

    static let path = "/approvals"
    /// Who may approve.
    static let role = ConsoleRole.marketing
    /// The number in the menu stops there, too.
    static let maxRows = 100

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [ConsoleRoute(.get, Self.path, .role(Self.role)) { try await list($0) }]
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let (rows, clocks, standings, reasons) = try await responder.database.run { store in
            let rows = try await store.deliveriesAwaitingApproval(limit: Self.maxRows)
            let recurring = rows.filter(\.recurs).map(\.deliveryID)
            return (
                rows, try await Self.clocks(store, rows), try await RecurrenceStanding.read(store, recurring),
                try await self.reasons(store, rows)
            )
        }
        let user = try call.user.user
        let values: PageValues = [
            "rows": .list(
                rows.map { row in
                    Figures.$zone.withValue(clocks[row.service]) {
                        self.row(
                            row,
                            standings[row.deliveryID],
                            why: reasons[row.deliveryID],
                            isOwn: row.makers.contains("user \(user)")
                        )
                    }
                }
            ),
            "hasRows": .flag(!rows.isEmpty),
        ]
        return .page(ConsolePage("approvals", title: catalogue[.approvalsTitle], values))
    }

    /// The clocks of services that are not in UTC, as the pages of their deliveries have them.
    private static func clocks(_ store: Store, _ rows: [AwaitedApproval]) async throws -> [String: ZoneClock] {
        var clocks: [String: ZoneClock] = [:]
        var read: Set<String> = []
        for row in rows where read.insert(row.service).inserted {
            clocks[row.service] = try await store.clock(ofDelivery: row.deliveryID)
        }
        return clocks
    }

    /// The start, or what a recurring delivery goes on with, and the time by the recipients' clocks at which messages
    /// leave after it.
    private func starts(_ row: AwaitedApproval, _ standing: RecurrenceStanding?) -> String {
        if let standing { return standing.words(catalogue) }
        let start: String? =
            row.startsApproved ? catalogue[.whenApproved] : row.startAt.map { Figures.minute($0) }
        let local = row.localTime.map { Figures.local($0, "(\(catalogue[.localTimeMoment]))") }
        let shown = [start, local].compactMap(\.self)
        return shown.isEmpty ? "–" : shown.joined(separator: " · ")
    }

    /// Why deliveries recall others, by the delivery that does so.
    private func reasons(_ store: Store, _ rows: [AwaitedApproval]) async throws -> [Int64: String] {
        var reasons: [Int64: String] = [:]
        for id in rows.map(\.deliveryID) {
            guard let recalled = try await store.delivery(recalledBy: id),
                let report = try await store.recallReport(ofDelivery: recalled)
            else { continue }
            reasons[id] = catalogue.text(.recallBecause, "\(recalled)", report.reason)
        }
        return reasons
    }

    /// - Parameter why: the reason of the recall that it is part of; nil if it recalls nothing.
    private func row(_ row: AwaitedApproval, _ standing: RecurrenceStanding?, why: String?, isOwn: Bool) -> PageValues {
        [
            "id": .text("\(row.deliveryID)"),
            "label": .text(row.label.isEmpty ? catalogue.text(.unnamedDelivery, "\(row.deliveryID)") : row.label),
            "state": .text(catalogue[row.isRequested ? .stateAwaited : .stateUnrequested]),
            "stateClass": .text("fair"),
            "service": .text(row.service), "messages": .text(Figures.count(row.messages)),
            "isLate": .flag(row.late > 0),
            "late": .text(catalogue.text(.lateOf, count: row.late, Figures.count(row.late))),
            "starts": .text(starts(row, standing)),
            "makers": .text(row.makers.joined(separator: ", ")),
            // Without an earlier approval it would say again what the list is about.
            "problem": .text(row.wasApproved ? row.problem : why ?? "–"),
            "isEnglish": .flag(row.wasApproved || why == nil),
            "isOwn": .flag(isOwn), "isPaused": .flag(row.state == .paused),
        ]
    }
}
