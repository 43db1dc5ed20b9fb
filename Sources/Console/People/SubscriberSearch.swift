import PushCore
import Store

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
