import HTTPTypes
import PushCore
import Store

/// The page of a subscription: its user, whether messages reach it, the latest messages, and the actions.
struct SubscriberPage: Sendable {
    let responder: ConsoleResponder

    /// The number of messages after which a page ends; it always ends with a whole delivery.
    private static let maxMessages = 20

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        let path = SubscriberSearchPage.path + "/{id}"
        let pages = [
            ConsoleRoute(.get, path, .role(.read)) { try await show($0) },
            ConsoleRoute(.get, path + "/forget", .role(.admin)) { try await confirm($0) },
            ConsoleRoute(.post, path + "/forget", .role(.admin)) { call in
                let id = try call.number("id")
                _ = try await responder.database.run { try await $0.forget(userOf: id, by: call.actor) }
                return .redirect(SubscriberSearchPage.path + "?done=forget")
            },
        ]
        let questions = SubscriberAction.allCases.map { action in
            ConsoleRoute(.get, path + "/\(action.rawValue)", .role(.operate)) { try await ask($0, action) }
        }
        let changes = SubscriberAction.allCases.map { action in
            ConsoleRoute(.post, path + "/\(action.rawValue)", .role(.operate)) { call in
                let id = try call.number("id")
                try await responder.database.run { try await $0.change(action, subscription: id, by: call.actor) }
                return .redirect("\(SubscriberSearchPage.path)/\(id)?done=\(action.rawValue)")
            }
        }
        return pages + questions + changes + categoryRoutes
    }

    private var categoryRoutes: [ConsoleRoute] {
        [Name.out: true, Name.back: false].flatMap { name, isOut -> [ConsoleRoute] in
            let path = "\(SubscriberSearchPage.path)/{id}/\(name)"
            return [
                ConsoleRoute(.get, path, .role(.operate)) { try await ask($0, isOut: isOut) },
                ConsoleRoute(.post, path, .role(.operate)) { call in
                    let id = try call.number("id")
                    let category = call.form[Name.category] ?? call.query[Name.category] ?? ""
                    try await responder.database.run {
                        try await $0.setOptOut(id, category: category, isOut, by: call.actor)
                    }
                    return .redirect("\(SubscriberSearchPage.path)/\(id)?done=\(Name.category)")
                },
            ]
        }
    }

    private enum Name {
        /// The category of a form, and what was changed.
        static let category = "category"
        static let out = "category_out"
        static let back = "category_in"
    }

    private func show(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        let below = call.query["below"].flatMap { Int64($0) } ?? .max
        let (row, categories, history) = try await responder.database.run { store in
            (
                try await store.subscriber(id, by: call.actor),
                try await store.deviceCategories(id, by: call.actor),
                try await store.history(ofSubscription: id, below: below, limit: Self.maxMessages, by: call.actor)
            )
        }
        var values: PageValues = ["id": .text("\(id)"), "facts": .list(facts(id, row))]
        values.merge(state(row)) { _, new in new }
        values.merge(messages(id, history, isLater: below != .max)) { _, new in new }
        values.merge(actions(row, call)) { _, new in new }
        values["categories"] = .list(
            categories.map { self.values(of: $0, mayChange: call.mayOperate && row.disabledReason != "forgotten") }
        )
        values["hasCategories"] = .flag(!categories.isEmpty)
        if call.query["done"] == Name.category { values["done"] = .text(catalogue[.doneCategory]) }
        if let done = call.query["done"].flatMap({ SubscriberAction(rawValue: $0) }) {
            values["done"] = .text(catalogue.done(done))
        }
        return .page(ConsolePage("subscriber", title: catalogue.text(.subscriberTitle, "\(id)"), values))
    }

    private func confirm(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        let row = try await responder.database.run { try await $0.subscriber(id, by: call.actor) }
        guard !row.userKey.isEmpty else { throw ConsoleProblem.notFound }
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[.forgetTitle],
                [
                    "subject": .text(row.userKey), "text": .text(catalogue.text(.forgetText, row.service)),
                    "action": .text("\(SubscriberSearchPage.path)/\(id)/forget"),
                    "button": .text(catalogue[.forgetButton]), "back": .text("\(SubscriberSearchPage.path)/\(id)"),
                ]
            )
        )
    }

    /// What a person wants is asked of the person, not guessed: so each change names whom it concerns, and its effect.
    private func ask(_ call: ConsoleCall, _ action: SubscriberAction) async throws -> ConsoleReply {
        let id = try call.number("id")
        let row = try await responder.database.run { try await $0.subscriber(id, by: call.actor) }
        let isOfAll = action == .optOutAll || action == .optInAll
        guard !isOfAll || !row.userKey.isEmpty else { throw ConsoleProblem.notFound }
        let words: (title: Phrase, text: String, button: Phrase) =
            switch action {
            case .optOut: (.optOutTitle, catalogue.text(.optOutText, row.application), .optOutButton)
            case .optOutAll: (.optOutTitle, catalogue.text(.optOutAllText, row.service), .optOutAllButton)
            case .optIn: (.optInTitle, catalogue.text(.optInText, row.application), .optInButton)
            case .optInAll: (.optInTitle, catalogue.text(.optInAllText, row.service), .optInAllButton)
            case .lift: (.liftTitle, catalogue.text(.liftText, row.application), .liftButton)
            }
        let path = "\(SubscriberSearchPage.path)/\(id)"
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[words.title],
                [
                    "subject": .text(subject(id, row)), "text": .text(words.text),
                    "action": .text("\(path)/\(action.rawValue)"), "button": .text(catalogue[words.button]),
                    "back": .text(path), "isMild": .flag(action != .optOut && action != .optOutAll),
                ]
            )
        )
    }

    /// The same for a category of deliveries.
    private func ask(_ call: ConsoleCall, isOut: Bool) async throws -> ConsoleReply {
        let id = try call.number("id")
        let name = call.query[Name.category] ?? ""
        let (row, categories) = try await responder.database.run { store in
            (
                try await store.subscriber(id, by: call.actor),
                try await store.deviceCategories(id, by: call.actor)
            )
        }
        guard let category = categories.first(where: { $0.name == name }) else { throw ConsoleProblem.notFound }
        let label = category.label.isEmpty ? category.name : category.label
        let path = "\(SubscriberSearchPage.path)/\(id)"
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[isOut ? .categoryOutTitle : .categoryInTitle],
                [
                    "subject": .text(subject(id, row)),
                    "text": .text(catalogue.text(isOut ? .categoryOutText : .categoryInText, row.application, label)),
                    "action": .text(
                        "\(path)/\(isOut ? Name.out : Name.back)?\(Name.category)=\(SignIn.encoded(name))"
                    ),
                    "button": .text(catalogue[isOut ? .categoryOutButton : .categoryInButton]), "back": .text(path),
                    "isMild": .flag(!isOut),
                ]
            )
        )
    }

    /// Whom a change concerns.
    private func subject(_ id: Int64, _ row: Subscriber) -> String {
        let device = catalogue.text(.subscriberTitle, "\(id)")
        return row.userKey.isEmpty ? device : "\(row.userKey), \(device)"
    }

    private func facts(_ id: Int64, _ row: Subscriber) -> [PageValues] {
        let hasLabel = !["", row.application].contains(row.applicationLabel)
        let application = hasLabel ? "\(row.applicationLabel) (\(row.application))" : row.application
        var pairs: [(Phrase, String)] = [
            (.findUserKey, row.userKey.isEmpty ? catalogue[.nobodyKnown] : row.userKey),
            (.columnApplication, application), (.factService, row.service),
            (.factPlatform, "\(row.platform), \(row.environment)"),
            (.factLocale, row.locale), (.factTimeZone, row.timeZone), (.factAppVersion, row.appVersion),
            (.factDevice, row.device), (.factRegistered, Figures.time(row.createdAt)),
            (.factLastSeen, Figures.time(row.registeredAt)), (.factTokenHash, row.quarantine.tokenHash),
        ]
        if row.others > 0 {
            pairs.append(
                (.factOthers, row.others >= 100 ? catalogue.text(.atLeast, "100") : "\(row.others)")
            )
        }
        if !row.userKey.isEmpty {
            pairs.insert((.factProven, catalogue[row.isProven ? .provenYes : .provenNo]), at: 1)
        }
        return pairs.filter { !$0.1.isEmpty }
            .map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }
    }

    /// Whether messages reach it, and why not.
    private func state(_ row: Subscriber) -> PageValues {
        var notices: [String] = []
        if row.isOptedOut { notices.append(catalogue[.becauseOptedOut]) }
        if !row.isEnabled {
            notices.append(
                catalogue.text(
                    .becauseDisabled,
                    row.disabledAt.map { Figures.time($0) } ?? "–",
                    catalogue.disabledReason(row.disabledReason)
                )
            )
        }
        let quarantine = row.quarantine
        let reason = [quarantine.reason, responder.setup.meanings(quarantine.reason) ?? ""].filter { !$0.isEmpty }
            .joined(separator: ": ")
        switch quarantine.status {
        case .valid: break
        case .withErrors:
            notices.append(
                catalogue.text(.becauseErrors, count: Int64(quarantine.softErrors), "\(quarantine.softErrors)", reason)
            )
        case .quarantine:
            let since = quarantine.since.map { Figures.time($0) } ?? "–"
            notices.append(catalogue.text(.becauseQuarantine, since, reason))
        case .denylisted: notices.append(catalogue[.becauseDenylisted])
        }
        let isSentTo = row.isEnabled && !row.isOptedOut && [.valid, .withErrors].contains(quarantine.status)
        let word =
            row.isOptedOut
            ? "opted_out" : !row.isEnabled && quarantine.status != .quarantine ? "disabled" : "quarantine"
        return [
            "state": .text(isSentTo ? catalogue[.subscriberActive] : catalogue.subscriberState(word)),
            "stateClass": .text(isSentTo ? "health-alive" : "health-late"),
            "notices": .list(notices.map { ["text": .text($0)] }), "isMasked": .flag(row.isMasked),
        ]
    }

    private func messages(_ id: Int64, _ history: SubscriberHistory, isLater: Bool) -> PageValues {
        let rows = history.messages.map { row -> PageValues in
            [
                "delivery": .text("\(row.delivery)"),
                "label": .text(row.label.isEmpty ? catalogue.text(.unnamedDelivery, "\(row.delivery)") : row.label),
                "number": .text("\(row.sequence)"), "status": .text(catalogue.status(row.status)),
                "reason": .text(row.reason),
                "meaning": .text(catalogue.reason(row.reason) ?? responder.setup.meanings(row.reason) ?? ""),
                "at": .text(row.at.map { Figures.time($0) } ?? "–"),
                "told": .text(catalogue[row.isClicked ? .toldClicked : row.isReceived ? .toldReceived : .toldNothing]),
            ]
        }
        var values: PageValues = [
            "messages": .list(rows), "hasMessages": .flag(!rows.isEmpty), "isLater": .flag(isLater),
            "isCut": .flag(history.isCut),
        ]
        if let next = history.next {
            values["next"] = .group(["path": .text("\(SubscriberSearchPage.path)/\(id)?below=\(next)#messages-title")])
        }
        return values
    }

    private func values(of row: DeviceCategory, mayChange: Bool) -> PageValues {
        let words =
            if let since = row.optedOutSince {
                catalogue.text(.categoryUnwanted, Figures.time(since))
            } else {
                catalogue[row.isTransactional ? .categoryAlways : .categoryWanted]
            }
        return [
            "category": .text(row.name), "categoryLabel": .text(row.label.isEmpty ? row.name : row.label),
            "wanted": .text(words),
            "mayCategoryOut": .flag(mayChange && row.optedOutSince == nil && !row.isTransactional),
            "mayCategoryIn": .flag(mayChange && row.optedOutSince != nil),
        ]
    }

    private func actions(_ row: Subscriber, _ call: ConsoleCall) -> PageValues {
        let isForgotten = row.disabledReason == "forgotten"
        let mayOperate = call.mayOperate && !isForgotten
        let mayForget = call.session?.role == .admin && !row.userKey.isEmpty && !isForgotten
        return [
            "mayOptOut": .flag(mayOperate && !row.isOptedOut),
            "mayOptOutAll": .flag(mayOperate && !row.userKey.isEmpty),
            "mayOptIn": .flag(mayOperate && row.isOptedOut),
            "mayOptInAll": .flag(mayOperate && row.isOptedOut && !row.userKey.isEmpty),
            "mayLift": .flag(mayOperate && row.quarantine.status == .quarantine), "mayForget": .flag(mayForget),
            "hasActions": .flag(mayOperate || mayForget),
        ]
    }
}

extension Catalogue {
    /// What was done to a subscription.
    func done(_ action: SubscriberAction) -> String {
        switch action {
        case .optOut, .optOutAll: self[.doneOptOut]
        case .optIn, .optInAll: self[.doneOptIn]
        case .lift: self[.doneLift]
        }
    }

    /// Why a subscription is disabled; the database's word if there is no better one.
    func disabledReason(_ reason: String) -> String {
        switch reason {
        case "token_invalid": self[.disabledTokenInvalid]
        case "token_moved": self[.disabledTokenMoved]
        case "token_renewed", "token_replaced": self[.disabledTokenRenewed]
        case "unregistered": self[.disabledUnregistered]
        case "forgotten": self[.disabledForgotten]
        case "seed", "seed_removed": self[.disabledSeed]
        default: reason
        }
    }
}
