import HTTPTypes
import PushCore
import Store

/// *Subscriptions* of a service: the list of its subscribers, page by page, and a search.
struct ServiceSubscribersPage: Sendable {
    let responder: ConsoleResponder

    /// The rows of a page: what fits on three screens.
    private static let maxRows = 50
    private static let serviceField = "service"
    private static let path = ServiceListPage.path + "/subscriptions"

    private var catalogue: Catalogue { responder.pages.catalogue }

    /// The path of a service's page.
    static func path(_ service: String) -> String { "\(path)?\(serviceField)=\(SignIn.encoded(service))" }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.read)) { try await list($0) },
            // Not by GET, for the same reasons as the search in all services.
            ConsoleRoute(.post, Self.path, .role(.read)) { try await find($0) },
        ]
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let service = call.query[Self.serviceField] ?? ""
        let below = call.query["below"].flatMap { Int64($0) }
        // One extra row shows whether there are more.
        let rows = try await responder.database.run {
            try await $0.subscribers(ofService: service, below: below ?? .max, limit: Self.maxRows + 1, by: call.actor)
        }
        var values: PageValues = [
            "isList": .flag(true), "hasRows": .flag(!rows.isEmpty),
            "rows": .list(rows.prefix(Self.maxRows).map(catalogue.subscriberRow)), "isLater": .flag(below != nil),
            "hasPages": .flag(below != nil || rows.count > Self.maxRows),
        ]
        if rows.count > Self.maxRows {
            let next = "\(Self.path(service))&below=\(rows[Self.maxRows - 1].id)"
            values["next"] = .group(["path": .text(next)])
        }
        return page(service, .userKey, values)
    }

    private func find(_ call: ConsoleCall) async throws -> ConsoleReply {
        let service = call.query[Self.serviceField] ?? ""
        _ = try await responder.database.run { try await $0.serviceFacts(service) }
        let search = try await SubscriberSearch(call, responder, service: service)
        if let only = search.only { return only }
        return page(service, search.key, search.values(catalogue))
    }

    private func page(_ service: String, _ key: SubscriberKey, _ values: PageValues) -> ConsoleReply {
        var values = values
        values["keys"] = catalogue.subscriberKeys(chosen: key)
        values["action"] = .text(Self.path(service))
        return .page(
            ConsolePage("service-subscriptions", title: catalogue.text(.serviceSubscriptionsTitle, service), values)
        )
    }
}
