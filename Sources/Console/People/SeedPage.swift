import Content
import HTTPTypes
import PushCore
import Store

/// *Seed addresses*: who gets proofs; for users who compose deliveries.
struct SeedPage: Sendable {
    let responder: ConsoleResponder

    static let path = "/seeds"
    /// The rows of a page.
    private static let maxRows = 50
    /// The names of the form fields.
    private enum Name {
        static let (name, label, application) = ("name", "label", "application")
        static let (kind, wanted) = ("by", "wanted")
        static let (locale, variables) = ("locale", "variables")
        /// The page of the console that led here.
        static let back = "back"
    }

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.marketing)) { try await list($0) },
            ConsoleRoute(.get, Self.path + "/new", .role(.marketing)) { try await form($0).reply() },
            ConsoleRoute(.post, Self.path + "/new", .role(.marketing)) { try await add($0) },
            ConsoleRoute(.get, Self.path + "/remove", .role(.marketing)) { try confirm($0) },
            ConsoleRoute(.post, Self.path + "/remove", .role(.marketing)) { call in
                let name = try Self.name(call)
                try await responder.database.run { try await $0.removeSeed(named: name, by: call.actor) }
                return .redirect(Self.path + "?done=remove")
            },
        ]
    }

    /// The page that led here; nil if none did.
    private static func back(_ call: ConsoleCall) -> String? {
        let path = SignIn.next(call.query[Name.back])
        return path == "/" ? nil : path
    }

    /// The path of the form, which leads back there afterwards.
    private static func newPath(_ call: ConsoleCall) -> String {
        path + "/new" + (back(call).map { "?\(Name.back)=\(SignIn.encoded($0))" } ?? "")
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        var behind = String((call.query["behind"] ?? "").prefix(NameRule.maxNameLength))
        // One extra row shows whether there are more.
        func read(_ behind: String) async throws -> [SeedRow] {
            try await responder.database.run {
                try await $0.seedList(behind: behind, limit: Self.maxRows + 1, by: call.actor)
            }
        }
        var rows = try await read(behind)
        if let added = call.query[ConsoleRoute.added],
            !rows.prefix(Self.maxRows).contains(where: { $0.name == added })
        {
            behind = String(added.prefix(NameRule.maxNameLength).dropLast())
            rows = try await read(behind)
        }
        var values: PageValues = [
            "rows": .list(rows.prefix(Self.maxRows).map(row)), "hasRows": .flag(!rows.isEmpty),
            "isLater": .flag(!behind.isEmpty), "newPath": .text(Self.newPath(call)),
        ]
        if let back = Self.back(call) { values["back"] = .group(["path": .text(back)]) }
        if call.query["done"] == "add" { values["done"] = .text(catalogue[.doneSeedAdd]) }
        if call.query["done"] == "remove" { values["done"] = .text(catalogue[.doneSeedRemove]) }
        if rows.count > Self.maxRows {
            let path = Self.path + "?behind=" + SignIn.encoded(rows[Self.maxRows - 1].name)
            values["next"] = .group(["path": .text(path)])
        }
        return .page(ConsolePage("seeds", title: catalogue[.seedsTitle], values))
    }

    private func row(_ seed: SeedRow) -> PageValues {
        let fields = ContentForm.texts(json: seed.variables).sorted { $0.key < $1.key }
        return [
            "name": .text(seed.name), "label": .text(seed.label), "application": .text(seed.application),
            "subscription": .text("\(seed.subscriptionID)"), "locale": .text(seed.locale),
            "fields": .text(fields.map { "\($0.key) = \($0.value)" }.joined(separator: ", ")),
            "isSeedOnly": .flag(seed.isSeedOnly),
            "state": .text(
                seed.problem.isEmpty
                    ? catalogue[.seedWell] : catalogue.reason(seed.problem) ?? seed.problem
            ),
            "stateClass": .text(seed.problem.isEmpty ? "health-alive" : "health-late"),
            "deliveriesPath": .text(DeliveryListQuery.path(seed: seed.name)),
            "removePath": .text(Self.path + "/remove?name=" + SignIn.encoded(seed.name)),
        ]
    }

    private static func name(_ call: ConsoleCall) throws(ConsoleProblem) -> String {
        guard let name = call.query[Name.name], !name.isEmpty else { throw .notFound }
        return name
    }

    private func confirm(_ call: ConsoleCall) throws -> ConsoleReply {
        let name = try Self.name(call)
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[.seedRemoveTitle],
                [
                    "subject": .text(name), "text": .text(catalogue[.seedRemoveText]),
                    "action": .text(Self.path + "/remove?name=" + SignIn.encoded(name)),
                    "button": .text(catalogue[.seedRemoveButton]), "back": .text(Self.path),
                ]
            )
        )
    }
}

extension SeedPage {
    /// What names a subscription.
    private enum Kind: String, CaseIterable {
        case pushToken = "push_token"
        case userKey = "user_key"
        case subscription

        var name: Phrase {
            switch self {
            case .pushToken: .seedPushToken
            case .userKey: .findUserKey
            case .subscription: .findSubscription
            }
        }
    }

    private func form(_ call: ConsoleCall) async throws -> FormPage {
        let names = try await responder.database.run { try await $0.applicationNames() }
        let applications = names.map { FormOption($0, $0) }
        func line(_ name: String, _ label: Phrase, _ hint: Phrase, maxLength: Int = 1_000) -> FormField {
            FormField(name: name, label: catalogue[label], kind: .text, hint: catalogue[hint], maxLength: maxLength)
        }
        return FormPage(
            title: catalogue[.newSeedTitle],
            action: Self.newPath(call),
            back: Self.back(call).map { ($0, catalogue[.backToPage]) } ?? (Self.path, catalogue[.seedsTitle]),
            intro: catalogue[.newSeedText],
            fields: [
                FormField.ofName(Name.name, catalogue[.seedNameHint], catalogue),
                line(Name.label, .seedLabel, .seedLabelHint),
                FormField(
                    name: Name.application,
                    label: catalogue[.columnApplication],
                    kind: .choice([FormOption("", catalogue[.chooseOne])] + applications),
                    isRequired: true
                ),
                FormField(
                    name: Name.kind,
                    label: catalogue[.seedBy],
                    kind: .choice(Kind.allCases.map { FormOption($0.rawValue, catalogue[$0.name]) })
                ),
                FormField(
                    name: Name.wanted,
                    label: catalogue[.seedWanted],
                    kind: .text,
                    hint: catalogue[.seedWantedHint],
                    isRequired: true,
                    maxLength: PushTokenForm.androidLength.upperBound,
                    isPersonal: true
                ),
                line(Name.locale, .localeLabel, .seedLocaleHint, maxLength: 64),
                line(Name.variables, .seedVariables, .seedVariablesHint, maxLength: 4_000),
            ],
            button: catalogue[.newSeedButton],
            obstacle: names.isEmpty ? catalogue[.noApplications] : ""
        )
    }

    private func add(_ call: ConsoleCall) async throws -> ConsoleReply {
        try await form(call).reply(to: call) {
            let seed = try seed(call)
            try await responder.database.run { try await $0.addSeed(seed, by: call.actor) }
            let list = Self.path + "?done=add&\(ConsoleRoute.added)=\(SignIn.encoded(seed.name))"
            return .redirect(Self.back(call) ?? list)
        }
    }

    private func seed(_ call: ConsoleCall) throws -> NewSeed {
        let wanted = call.typed(Name.wanted)
        guard !wanted.isEmpty else { throw FormRefusal(words: catalogue[.findNothing]) }
        let address: Addressee
        switch Kind(rawValue: call.typed(Name.kind)) {
        case .userKey: address = .userKey(wanted)
        case .subscription:
            guard let id = Int64(wanted), id > 0 else { throw FormRefusal(words: catalogue[.findNoNumber]) }
            address = .subscription(id)
        case .pushToken: address = .pushToken(wanted)
        case nil: throw ConsoleProblem.malformed
        }
        let locale = call.typed(Name.locale)
        if DeviceSetting.problem(locale: locale) != nil {
            throw FormRefusal([Name.locale: catalogue[.seedLocaleWrong]])
        }
        let variables = call.typed(Name.variables)
        if !variables.isEmpty {
            guard case .object? = try? JSONValue(parsing: variables.utf8) else {
                throw FormRefusal(words: catalogue[.seedVariablesWrong])
            }
        }
        return NewSeed(
            name: call.typed(Name.name),
            label: call.typed(Name.label),
            application: call.typed(Name.application),
            address: address,
            variables: variables.isEmpty ? nil : variables,
            locale: locale
        )
    }
}
