import HTTPTypes
import PushCore
import Store

/// The frequency caps of a service: how many messages a person may get in a time.
struct FrequencyCapPages: Sendable {
    let responder: ConsoleResponder

    private static let base = ServiceListPage.path + "/caps"
    /// The names of the form fields.
    private enum Name {
        static let (service, name) = ("service", "name")
        static let (maxMessages, per, length) = ("max_messages", "per", "length")
        /// Followed by the name of a category.
        static let category = "category."
    }

    private var catalogue: Catalogue { responder.pages.catalogue }

    static func path(_ service: String) -> String { path("", service) }

    private static func path(_ action: String, _ service: String, _ name: String? = nil) -> String {
        "\(base)\(action)?service=\(SignIn.encoded(service))" + (name.map { "&name=" + SignIn.encoded($0) } ?? "")
    }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.base, .role(.read)) { try await list($0) },
            ConsoleRoute(.get, Self.base + "/new", .role(.operate)) { try await form($0, nil).reply() },
            ConsoleRoute(.post, Self.base + "/new", .role(.operate)) { try await save($0, nil) },
            ConsoleRoute(.get, Self.base + "/change", .role(.operate)) { call in
                try await form(call, try await cap(call)).reply()
            },
            ConsoleRoute(.post, Self.base + "/change", .role(.operate)) { try await save($0, try await cap($0)) },
            ConsoleRoute(.get, Self.base + "/remove", .role(.operate)) { confirm(try await cap($0)) },
            ConsoleRoute(.post, Self.base + "/remove", .role(.operate)) { call in
                let service = call.query[Name.service] ?? ""
                let name = call.query[Name.name] ?? ""
                try await responder.database.run {
                    try await $0.dropFrequencyCap(name, ofService: service, by: call.actor)
                }
                return .redirect(Self.path(service) + "&done=remove")
            },
        ]
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let service = call.query[Name.service] ?? ""
        let caps = try await responder.database.run { store in
            // Throws if there is no such service.
            _ = try await store.serviceFacts(service)
            return try await store.frequencyCaps(ofService: service)
        }
        var values: PageValues = [
            "rows": .list(caps.map(row)), "hasRows": .flag(!caps.isEmpty), "mayOperate": .flag(call.mayOperate),
            "newPath": .text(Self.path("/new", service)),
        ]
        if call.query["done"] == "set" { values["done"] = .text(catalogue[.doneCapSet]) }
        if call.query["done"] == "remove" { values["done"] = .text(catalogue[.doneCapRemove]) }
        return .page(ConsolePage("caps", title: catalogue.text(.capsOfService, service), values))
    }

    private func row(_ cap: FrequencyCapRow) -> PageValues {
        [
            "name": .text(cap.name), "rule": .text(words(cap)),
            "changePath": .text(Self.path("/change", cap.service, cap.name)),
            "removePath": .text(Self.path("/remove", cap.service, cap.name)),
        ]
    }

    /// The cap as a sentence.
    private func words(_ cap: FrequencyCapRow) -> String {
        let maxMessages = Int64(cap.maxMessages)
        return catalogue.text(
            .capSentence,
            count: maxMessages,
            Figures.count(maxMessages),
            cap.categories?.joined(separator: ", ") ?? catalogue[.capAllCategories],
            catalogue.period(cap)
        )
    }

    /// The cap that the query names.
    private func cap(_ call: ConsoleCall) async throws -> FrequencyCapRow {
        let service = call.query[Name.service] ?? ""
        let caps = try await responder.database.run { try await $0.frequencyCaps(ofService: service) }
        guard let cap = caps.first(where: { $0.name == call.query[Name.name] }) else { throw ConsoleProblem.notFound }
        return cap
    }

    private func confirm(_ cap: FrequencyCapRow) -> ConsoleReply {
        .page(
            ConsolePage(
                "confirm",
                title: catalogue[.capRemoveTitle],
                [
                    "subject": .text("\(cap.name): \(words(cap))"), "text": .text(catalogue[.capRemoveText]),
                    "action": .text(Self.path("/remove", cap.service, cap.name)),
                    "button": .text(catalogue[.removeDraft]), "back": .text(Self.path(cap.service)),
                ]
            )
        )
    }
}

/// The form of a cap.
extension FrequencyCapPages {
    /// - Parameter known: the cap to change; nil for a new one.
    private func form(_ call: ConsoleCall, _ known: FrequencyCapRow?) async throws -> FormPage {
        let service = call.query[Name.service] ?? ""
        let categories = try await responder.database.run { store in
            _ = try await store.serviceFacts(service)
            return try await store.categories().filter { $0.service == service }
        }
        let name = known == nil ? [FormField.ofName(Name.name, catalogue[.fieldNameHint], catalogue)] : []
        let ticks = categories.enumerated().map { place, category -> FormField in
            FormField(
                name: Name.category + category.name,
                label: catalogue.text(.capCategory, category.name),
                kind: .tick,
                hint: place == 0 ? catalogue[.capCategoryHint] : "",
                value: known?.categories?.contains(category.name) == true ? FormField.yes : ""
            )
        }
        return FormPage(
            title: known.map { catalogue.text(.capChangeTitle, $0.name) } ?? catalogue[.capNew],
            action: Self.path(known == nil ? "/new" : "/change", service, known?.name),
            back: (Self.path(service), catalogue.text(.capsOfService, service)),
            intro: catalogue[.capFormText],
            fields: name + numberFields(known) + ticks,
            button: catalogue[.save]
        )
    }

    private func numberFields(_ known: FrequencyCapRow?) -> [FormField] {
        let units: [(FrequencyCapRow.Unit, Phrase)] = [
            (.days, .capPerDays), (.hours, .capPerHours), (.recipientDay, .capPerRecipientDay),
        ]
        return [
            FormField(
                name: Name.maxMessages,
                label: catalogue[.capMaxMessages],
                kind: .text,
                isRequired: true,
                value: known.map { "\($0.maxMessages)" } ?? "",
                maxLength: 4
            ),
            FormField(
                name: Name.length,
                label: catalogue[.capLength],
                kind: .text,
                hint: catalogue[.capLengthHint],
                isRequired: true,
                value: known.map { "\($0.length)" } ?? "",
                maxLength: 3
            ),
            FormField(
                name: Name.per,
                label: catalogue[.capPer],
                kind: .choice(units.map { FormOption($0.0.rawValue, catalogue[$0.1]) }),
                isRequired: true,
                value: (known?.unit ?? .days).rawValue
            ),
        ]
    }

    private func save(_ call: ConsoleCall, _ known: FrequencyCapRow?) async throws -> ConsoleReply {
        try await form(call, known).reply(to: call) {
            let cap = try typed(call, known)
            try await responder.database.run {
                try await $0.setFrequencyCap(cap, isNew: known == nil, by: call.actor)
            }
            return .redirect(Self.path(cap.service) + "&done=set")
        }
    }

    private func typed(_ call: ConsoleCall, _ known: FrequencyCapRow?) throws(FormRefusal) -> FrequencyCapRow {
        let unit = FrequencyCapRow.Unit(rawValue: call.typed(Name.per)) ?? .days
        var problems: [String: String] = [:]
        let maxMessages = Int32(call.typed(Name.maxMessages)) ?? 0
        if !FrequencyCapRow.counts.contains(maxMessages) { problems[Name.maxMessages] = catalogue[.capNumberWrong] }
        let length = Int32(call.typed(Name.length)) ?? 0
        if !unit.lengths.contains(length) { problems[Name.length] = catalogue[.capLengthWrong] }
        guard problems.isEmpty else { throw FormRefusal(problems) }
        let categories = call.form.values.keys.filter { $0.hasPrefix(Name.category) && call.isTicked($0) }
            .map { String($0.dropFirst(Name.category.count)) }
        return FrequencyCapRow(
            service: call.query[Name.service] ?? "",
            name: known?.name ?? call.typed(Name.name),
            maxMessages: maxMessages,
            unit: unit,
            length: length,
            categories: categories.isEmpty ? nil : categories.sorted()
        )
    }
}

extension Catalogue {
    /// The frequency caps that a delivery is subject to, in a line; empty if there are none.
    func facts(of caps: [FrequencyCapRow]) -> [(name: String, value: String)] {
        let lines = caps.map { "\($0.name): \(short($0))" }
        return lines.isEmpty ? [] : [(self[.capsTitle], lines.joined(separator: " · "))]
    }

    /// What a cap allows, in a few words.
    func short(_ cap: FrequencyCapRow) -> String {
        text(.capShort, Figures.count(Int64(cap.maxMessages)), period(cap))
    }

    /// The time in which a cap counts messages.
    func period(_ cap: FrequencyCapRow) -> String {
        let length = Int64(cap.length)
        return switch cap.unit {
        case .hours: text(.capInHours, count: length, Figures.count(length))
        case .days: text(.capInDays, count: length, Figures.count(length))
        case .recipientDay: self[.capOnRecipientDay]
        }
    }
}
