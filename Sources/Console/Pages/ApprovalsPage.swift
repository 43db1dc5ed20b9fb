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
        let rows = try await responder.database.run { try await $0.deliveriesAwaitingApproval(limit: Self.maxRows) }
        let user = try call.user.user
        let values: PageValues = [
            "rows": .list(rows.map { row($0, isOwn: $0.makers.contains("user \(user)")) }),
            "hasRows": .flag(!rows.isEmpty),
        ]
        return .page(ConsolePage("approvals", title: catalogue[.approvalsTitle], values))
    }

    /// A plan by the recipient's clock has a time before the delivery has a start.
    private func starts(_ row: AwaitedApproval) -> String {
        if row.startsApproved { return catalogue[.whenApproved] }
        if let local = row.localTime { return "\(local.replacing("T", with: " ")) (\(catalogue[.localTimeMoment]))" }
        return row.startAt.map { Figures.minute($0) } ?? "–"
    }

    private func row(_ row: AwaitedApproval, isOwn: Bool) -> PageValues {
        [
            "id": .text("\(row.deliveryID)"),
            "label": .text(row.label.isEmpty ? catalogue.text(.unnamedDelivery, "\(row.deliveryID)") : row.label),
            "state": .text(catalogue.state(row.state)), "stateClass": .text("state-" + row.state.rawValue),
            "service": .text(row.service), "messages": .text(Figures.count(row.messages)),
            "starts": .text(starts(row)),
            "makers": .text(row.makers.joined(separator: ", ")), "problem": .text(row.problem),
            "isOwn": .flag(isOwn),
        ]
    }
}
