import HTTPTypes
import PushCore
import Store

/// *Exclusion lists*: people who get nothing from the deliveries that use them; for users who compose deliveries. No
/// page lists the people on one.
struct ExclusionPages: Sendable {
    let responder: ConsoleResponder

    static let path = "/exclusions"
    /// The rows of a page.
    private static let maxRows = 50
    /// The maximum number of people in a form, one per line. Larger lists are imported from a file with `pushmta
    /// exclusion import`.
    private static let maxPeople = 5_000
    /// The maximum size of such a form in bytes: long user keys, encoded.
    private static let maxBytes = 1 << 20
    /// The names of the form fields.
    private enum Name {
        static let (name, label, kind, people) = ("name", "label", "by", "people")
        static let action = "go"
    }

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.marketing)) { try await list($0) },
            ConsoleRoute(.get, Self.path + "/new", .role(.marketing)) { _ in form.reply() },
            ConsoleRoute(.post, Self.path + "/new", .role(.marketing)) { try await add($0) },
            ConsoleRoute(.get, Self.path + "/{id}", .role(.marketing)) { try await show($0) },
            ConsoleRoute(.post, Self.path + "/{id}", .role(.marketing), maxBytes: Self.maxBytes) {
                try await change($0)
            },
            ConsoleRoute(.get, Self.path + "/{id}/delete", .role(.marketing)) { try await confirm($0) },
            ConsoleRoute(.post, Self.path + "/{id}/delete", .role(.marketing)) { call in
                let id = try Self.id(call)
                try await responder.database.run { try await $0.deleteExclusionList(id, by: call.actor) }
                return .redirect(Self.path + "?done=delete")
            },
        ]
    }

    private static func id(_ call: ConsoleCall) throws(ConsoleProblem) -> Int32 {
        guard let id = Int32(exactly: try call.number("id")) else { throw .notFound }
        return id
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let behind = String((call.query["behind"] ?? "").prefix(NameRule.maxNameLength))
        // One extra row shows whether there are more.
        let rows = try await responder.database.run {
            try await $0.listsOfExclusions(behind: behind, limit: Self.maxRows + 1, by: call.actor)
        }
        var values: PageValues = [
            "rows": .list(rows.prefix(Self.maxRows).map(row)), "hasRows": .flag(!rows.isEmpty),
            "isLater": .flag(!behind.isEmpty),
        ]
        if call.query["done"] == "delete" { values["done"] = .text(catalogue[.doneListDelete]) }
        if rows.count > Self.maxRows {
            let path = Self.path + "?behind=" + SignIn.encoded(rows[Self.maxRows - 1].name)
            values["next"] = .group(["path": .text(path)])
        }
        return .page(ConsolePage("exclusions", title: catalogue[.listsLabel], values))
    }

    private func row(_ list: CountedList) -> PageValues {
        [
            "id": .text("\(list.id)"), "name": .text(list.name),
            "label": .text(list.label == list.name ? "" : list.label),
            "userKeys": .text(count(list.people[0])), "subscriptions": .text(count(list.people[1])),
            "pushTokens": .text(count(list.people[2])), "changed": .text(Figures.minute(list.changedAt)),
        ]
    }

    private func count(_ number: Int64) -> String {
        let text = Figures.count(number)
        return number >= Store.maxCountedOfList ? catalogue.text(.atLeast, text) : text
    }

    private var form: FormPage {
        FormPage(
            title: catalogue[.newListTitle],
            action: Self.path + "/new",
            back: (Self.path, catalogue[.listsLabel]),
            intro: catalogue[.newListText],
            fields: [
                FormField.ofName(Name.name, catalogue[.listNameHint], catalogue),
                FormField(name: Name.label, label: catalogue[.listLabel], kind: .text),
            ],
            button: catalogue[.newListButton]
        )
    }

    private func add(_ call: ConsoleCall) async throws -> ConsoleReply {
        try await form.reply(to: call) {
            let (name, label) = (call.typed(Name.name), call.typed(Name.label))
            let id = try await responder.database.run {
                try await $0.createExclusionList(name: name, label: label, by: call.actor)
            }
            return .redirect("\(Self.path)/\(id)?done=new")
        }
    }

    private func confirm(_ call: ConsoleCall) async throws -> ConsoleReply {
        let list = try await found(call)
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[.listDeleteTitle],
                [
                    "subject": .text(list.name), "text": .text(catalogue[.listDeleteText]),
                    "action": .text("\(Self.path)/\(list.id)/delete"),
                    "button": .text(catalogue[.listDeleteButton]), "back": .text("\(Self.path)/\(list.id)"),
                ]
            )
        )
    }

    private func found(_ call: ConsoleCall) async throws -> CountedList {
        let id = try Self.id(call)
        return try await responder.database.run { try await $0.listOfExclusions(id, by: call.actor) }
    }
}

extension ExclusionPages {
    /// How people are named.
    private enum Kind: String, CaseIterable {
        case userKeys = "user_key"
        case subscriptions = "subscription"
        case pushTokens = "push_token"

        var name: Phrase {
            switch self {
            case .userKeys: .peopleUserKeys
            case .subscriptions: .peopleSubscriptions
            case .pushTokens: .peoplePushTokens
            }
        }
    }

    private func show(_ call: ConsoleCall) async throws -> ConsoleReply {
        var values: PageValues = [:]
        if call.query["done"] == "new" { values["done"] = .text(catalogue[.doneListAdd]) }
        let kind = call.query[Name.kind].flatMap { Kind(rawValue: $0) } ?? .userKeys
        // The result of an action is in the address, so that reloading the page repeats nothing.
        if let action = call.query["did"].flatMap({ ListAction(rawValue: $0) }),
            let number = call.query["n"].flatMap({ Int64($0) }), let all = call.query["of"].flatMap({ Int64($0) })
        {
            let phrase: Phrase =
                switch action {
                case .put: .doneListPut
                case .take: .doneListTake
                case .find: .doneListFind
                }
            values["done"] = .text(catalogue.text(phrase, count: number, Figures.count(number), Figures.count(all)))
        }
        return try await page(call, kind, values)
    }

    private func page(
        _ call: ConsoleCall,
        _ kind: Kind,
        _ more: PageValues,
        status: HTTPResponse.Status = .ok
    ) async throws -> ConsoleReply {
        let list = try await found(call)
        let facts: [(Phrase, String)] = [
            (.listLabel, list.label == list.name ? "" : list.label), (.peopleUserKeys, count(list.people[0])),
            (.peopleSubscriptions, count(list.people[1])), (.peoplePushTokens, count(list.people[2])),
            (.columnChanged, Figures.time(list.changedAt)),
        ]
        var values: PageValues = [
            "deliveriesPath": .text(DeliveryListQuery.path(exclusionList: list.name)),
            "id": .text("\(list.id)"), "mayDelete": .flag(!list.isUsed), "people": "",
            "facts": .list(
                facts.filter { !$0.1.isEmpty }.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }
            ),
            "kinds": .list(
                Kind.allCases.map {
                    [
                        "value": .text($0.rawValue), "name": .text(catalogue[$0.name]), "isChosen": .flag($0 == kind),
                    ]
                }
            ),
        ]
        values.merge(more) { _, new in new }
        return .page(ConsolePage("exclusion", title: list.name, values, status: status))
    }

    private func change(_ call: ConsoleCall) async throws -> ConsoleReply {
        guard let kind = call.form[Name.kind].flatMap({ Kind(rawValue: $0) }),
            let action = call.form[Name.action].flatMap({ ListAction(rawValue: $0) })
        else { throw ConsoleProblem.malformed }
        let id = try Self.id(call)
        do {
            let people = try people(call.form[Name.people] ?? "", kind)
            let number = try await responder.database.run {
                try await $0.change(action, exclusionList: id, people, by: call.actor)
            }
            let did = "did=\(action.rawValue)&n=\(number)&of=\(people.count)&by=\(kind.rawValue)"
            return .redirect("\(Self.path)/\(id)?\(did)")
        } catch let error as FormRefusal {
            // A push token is never shown, not even to the user who typed it.
            let isShown = kind != .pushTokens
            let words = isShown ? error.words : "\(error.words) \(catalogue[.peopleNotShown])"
            let people = isShown ? call.form[Name.people] ?? "" : ""
            return try await page(
                call,
                kind,
                ["problem": .text(words), "people": .text(people)],
                status: .unprocessableContent
            )
        }
    }

    /// The named people, one per line. An error gives only the line number: the line may be a push token.
    private func people(_ text: String, _ kind: Kind) throws(FormRefusal) -> Addressees {
        var people = Addressees()
        var seen: Set<String> = []
        for (place, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let name = line.trimmed
            guard !name.isEmpty, seen.insert(name).inserted else { continue }
            let isRight =
                switch kind {
                case .userKeys: name.utf8.count <= DeviceRegistration.maxKeyLength
                case .subscriptions: Int64(name).map { $0 > 0 } ?? false
                case .pushTokens: PushTokenForm.canBeToken(name)
                }
            guard isRight else { throw FormRefusal(words: catalogue.text(.peopleWrong, "\(place + 1)")) }
            switch kind {
            case .userKeys: people.userKeys.append(name)
            case .subscriptions: people.subscriptionIDs += Int64(name).map { [$0] } ?? []
            case .pushTokens: people.pushTokens.append(name)
            }
        }
        guard !people.isEmpty else { throw FormRefusal(words: catalogue[.peopleNone]) }
        guard people.count <= Self.maxPeople else {
            throw FormRefusal(words: catalogue.text(.peopleTooMany, Figures.count(Int64(Self.maxPeople))))
        }
        return people
    }
}
