import HTTPTypes
import PushCore
import Store

/// *Deliveries*: the list with its filter.
struct DeliveryListPage: Sendable {
    let responder: ConsoleResponder

    /// The rows of a page: what fits on two screens.
    private static let maxRows = 25
    /// A search text is at most as long as a label.
    private static let maxTextLength = 500

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [ConsoleRoute(.get, "/deliveries", .role(.read)) { try await list($0) }]
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let filter = DeliveryFilter(
            state: call.query["state"].flatMap { DeliveryState(rawValue: $0) },
            application: String((call.query["application"] ?? "").prefix(NameRule.maxNameLength)),
            text: String((call.query["text"] ?? "").prefix(Self.maxTextLength)),
            below: call.query["below"].flatMap { Int64($0) } ?? .max
        )
        let (page, names) = try await responder.database.run { store in
            (try await store.deliveryPage(filter, maxRows: Self.maxRows), try await store.applicationNames())
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
