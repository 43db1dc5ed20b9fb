import HTTPTypes
import PushCore
import Store

/// What stands in lists of a delivery.
struct DeliveryWords {
    let row: DeliveryProgress
    let catalogue: Catalogue

    var other: Int64 { row.ignored + row.notApplicable + row.canceled + row.unknown }
    /// Whether its messages are counted with its days.
    var isInDays: Bool { row.kind == .continuous && row.parentID == nil }
    /// The name, or its number where it has none.
    var name: String { row.label.isEmpty ? catalogue.text(.unnamedDelivery, "\(row.id)") : row.label }

    var summary: PageValues {
        let ended = row.sent + row.failed + other
        return [
            "id": .text("\(row.id)"), "label": .text(name),
            "state": .text(row.standsStill ? catalogue[.stateWaiting] : catalogue.state(row.state)),
            "stateClass": .text(row.standsStill ? "fair" : "state-" + row.state.rawValue),
            "target": .text(count(row.target)),
            "sent": .text(count(row.sent)), "failed": .text(count(row.failed)),
            "pending": .text(count(row.pending)),
            "done": .text(isInDays ? catalogue[.kindContinuous] : Figures.percent(ended, of: row.target)),
            "started": .text(row.startedAt.map { Figures.minute($0) } ?? catalogue[.notStarted]),
            "bar": .drawing(bar), "waiting": .text(row.waitingReason), "isWaiting": .flag(!row.waitingReason.isEmpty),
        ]
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

/// *Deliveries*: the list with its filter.
struct DeliveryListPage: Sendable {
    let responder: ConsoleResponder

    /// Rows of a page: what fits on two screens.
    private static let most = 25
    /// A text to look for is a label's, at most.
    private static let longestText = 500

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [ConsoleRoute(.get, "/deliveries", .role(.read)) { try await list($0) }]
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let filter = DeliveryFilter(
            state: call.query["state"].flatMap { DeliveryState(rawValue: $0) },
            application: String((call.query["application"] ?? "").prefix(NameRule.longestName)),
            text: String((call.query["text"] ?? "").prefix(Self.longestText)),
            below: call.query["below"].flatMap { Int64($0) } ?? .max
        )
        let (page, names) = try await responder.database.run { store in
            (try await store.deliveryPage(filter, most: Self.most), try await store.applicationNames())
        }
        let icons = try await ApplicationIcons.read(responder.database)
        let rows = page.rows.map { row in
            var values = DeliveryWords(row: row, catalogue: catalogue).summary
            let names = page.applications[row.id] ?? []
            values["applications"] = .list(
                names.enumerated().map { place, name in
                    var values: PageValues = ["name": .text(name), "isFurther": .flag(place > 0)]
                    icons.add(to: &values, name)
                    return values
                }
            )
            return values
        }
        var values: PageValues = [
            "rows": .list(rows), "hasRows": .flag(!rows.isEmpty), "text": .text(filter.text),
            "states": .list(states(filter)), "names": .list(options(names, filter.application)),
            "isFiltered": .flag(filter.state != nil || !filter.text.isEmpty || !filter.application.isEmpty),
            "isCut": .flag(page.isCut), "isLater": .flag(filter.below != .max), "query": .text(query(filter)),
        ]
        if let next = page.next { values["next"] = .group(["path": .text(path(filter, below: next))]) }
        return .page(ConsolePage("deliveries", title: catalogue[.deliveriesTitle], values))
    }

    private func states(_ filter: DeliveryFilter) -> [PageValues] {
        DeliveryState.allCases.map { state in
            [
                "value": .text(state.rawValue), "name": .text(catalogue.state(state)),
                "isChosen": .flag(filter.state == state),
            ]
        }
    }

    private func options(_ names: [String], _ chosen: String) -> [PageValues] {
        names.map { ["value": .text($0), "name": .text($0), "isChosen": .flag($0 == chosen)] }
    }

    private func query(_ filter: DeliveryFilter) -> String {
        [("state", filter.state?.rawValue ?? ""), ("application", filter.application), ("text", filter.text)]
            .filter { !$0.1.isEmpty }.map { "\($0.0)=\(SignIn.encoded($0.1))" }.joined(separator: "&")
    }

    private func path(_ filter: DeliveryFilter, below: Int64) -> String {
        let query = query(filter)
        return "/deliveries?" + (query.isEmpty ? "" : query + "&") + "below=\(below)"
    }
}
