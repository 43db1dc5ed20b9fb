import HTTPTypes
import PushCore
import Store

/// *Subscribers*: finds a person in all services. ``ServiceSubscribersPage`` lists those of one service.
struct SubscriberSearchPage: Sendable {
    let responder: ConsoleResponder

    static let path = "/subscribers"

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.read)) { call in
                var values: PageValues = [:]
                if call.query["done"] == "forget" { values["done"] = .text(catalogue[.doneForget]) }
                return page(call, .userKey, values)
            },
            // Not by GET: the search text would appear in proxy logs and browser history, and each search is
            // recorded.
            ConsoleRoute(.post, Self.path, .role(.read)) { try await find($0) },
        ]
    }

    private func find(_ call: ConsoleCall) async throws -> ConsoleReply {
        let search = try await SubscriberSearch(call, responder)
        if let only = search.only { return only }
        return page(call, search.key, search.values(catalogue))
    }

    private func page(_ call: ConsoleCall, _ key: SubscriberKey, _ values: PageValues) -> ConsoleReply {
        var values = values
        values["mayCompose"] = .flag(call.mayCompose)
        values["keys"] = catalogue.subscriberKeys(chosen: key)
        values["action"] = .text(Self.path)
        return .page(ConsolePage("subscribers", title: catalogue[.subscribersTitle], values))
    }
}

extension Catalogue {
    /// A subscription as a row of a list.
    func subscriberRow(_ found: FoundSubscriber) -> PageValues {
        [
            "id": .text("\(found.id)"), "application": .text(found.application), "userKey": .text(found.userKey),
            "platform": .text(
                Platform(rawValue: found.platform).map(ApplicationWords(catalogue: self).platform) ?? found.platform
            ),
            "locale": .text(found.locale), "created": .text(Figures.minute(found.createdAt)),
            "registered": .text(Figures.minute(found.registeredAt)),
            "state": .text(found.exclusion.isEmpty ? self[.subscriberActive] : subscriberState(found.exclusion)),
            "stateClass": .text(found.exclusion.isEmpty ? "health-alive" : "health-late"),
        ]
    }

    /// The kinds of key that a form offers.
    func subscriberKeys(chosen key: SubscriberKey) -> PageValue {
        .list(
            SubscriberKey.allCases.map { choice in
                [
                    "value": .text(choice.rawValue), "name": .text(subscriberKey(choice)),
                    "isChosen": .flag(choice == key),
                ]
            }
        )
    }

    /// The name of a kind of key.
    func subscriberKey(_ key: SubscriberKey) -> String {
        switch key {
        case .userKey: self[.findUserKey]
        case .subscription: self[.findSubscription]
        case .pushToken: self[.findPushToken]
        }
    }

    /// Why nothing is sent to a subscription, in a word.
    func subscriberState(_ exclusion: String) -> String {
        switch exclusion {
        case "opted_out": self[.subscriberOptedOut]
        case "quarantine": self[.subscriberQuarantine]
        default: self[.subscriberDisabled]
        }
    }
}
