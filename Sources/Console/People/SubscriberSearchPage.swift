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

/// A search for a person, shared by both pages with such a form.
struct SubscriberSearch: Sendable {
    /// The kind of key.
    let key: SubscriberKey
    private let text: String
    private let problem: Phrase?
    private let found: [FoundSubscriber]

    /// The names of the form fields.
    private static let (keyField, textField) = ("by", "wanted")
    /// The maximum number of subscriptions on a page: a person has few devices; a key shared by many names no person.
    private static let maxRows = 50
    /// The digits of an id; the database has at most 18.
    private static let idDigits = 1...18

    /// Searches for what a form names.
    ///
    /// - Parameter service: the service to search; "" for all services.
    init(_ call: ConsoleCall, _ responder: ConsoleResponder, service: String = "") async throws {
        guard let key = call.form[Self.keyField].flatMap({ SubscriberKey(rawValue: $0) }) else {
            throw ConsoleProblem.malformed
        }
        let text = Self.trimmed(call.form[Self.textField] ?? "")
        self.key = key
        self.text = text
        problem = Self.problem(key, text)
        found =
            problem == nil
            ? try await responder.database.run {
                try await $0.findSubscribers(key, text, service: service, limit: Self.maxRows + 1, by: call.actor)
            } : []
    }

    /// A redirect to the only result; nil if there is none, or several.
    var only: ConsoleReply? {
        guard found.count == 1, let only = found.first else { return nil }
        return .redirect("\(SubscriberSearchPage.path)/\(only.id)")
    }

    /// What was found, or what is wrong, as a template shows it.
    func values(_ catalogue: Catalogue) -> PageValues {
        if let problem { return ["problem": .text(catalogue[problem])] }
        var values: PageValues = [
            // No page shows a push token.
            "wanted": .text(key == .pushToken ? "" : text), "isSearched": .flag(true), "hasRows": .flag(!found.isEmpty),
            "rows": .list(found.prefix(Self.maxRows).map(catalogue.subscriberRow)),
        ]
        if found.count > Self.maxRows { values["cut"] = .text(catalogue.text(.findCut, "\(Self.maxRows)")) }
        return values
    }

    /// What is wrong with a search text. It is not shown again: it may be a pasted push token.
    private static func problem(_ key: SubscriberKey, _ text: String) -> Phrase? {
        guard !text.isEmpty else { return .findNothing }
        switch key {
        case .userKey: return text.utf8.count <= DeviceRegistration.maxKeyLength ? nil : .findLongKey
        case .subscription:
            let isNumber = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            return isNumber && idDigits.contains(text.utf8.count) ? nil : .findNoNumber
        case .pushToken: return PushTokenForm.canBeToken(text) ? nil : .findNoToken
        }
    }

    /// Pasted text often has surrounding blanks.
    private static func trimmed(_ text: String) -> String {
        var rest = text[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
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
