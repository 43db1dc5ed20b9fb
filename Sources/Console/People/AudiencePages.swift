import HTTPTypes
import PushCore
import Store

/// *Saved audiences* of a service: named filters, for users who compose deliveries.
struct AudiencePages: Sendable {
    let responder: ConsoleResponder

    /// The names of parameters and form fields.
    private enum Name {
        static let (service, name, filter, action) = ("service", "name", "filter", "go")
    }

    /// The buttons of an audience's page.
    private enum Action: String {
        case save, count
    }

    private static let list = ServiceListPage.path + "/audiences"
    private static let one = ServiceListPage.path + "/audience"
    /// The size of a form in bytes: the longest filter, encoded.
    private static let maxBytes = 300 << 10

    private var catalogue: Catalogue { responder.pages.catalogue }

    /// The page of a service's audiences.
    static func path(_ service: String) -> String { "\(list)?\(Name.service)=\(SignIn.encoded(service))" }

    private static func path(_ service: String, _ name: String, _ page: String = "") -> String {
        "\(one)\(page)?\(Name.service)=\(SignIn.encoded(service))&\(Name.name)=\(SignIn.encoded(name))"
    }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.list, .role(.marketing)) { try await list($0) },
            ConsoleRoute(.get, Self.list + "/new", .role(.marketing)) { call in
                form(try await service(call)).reply()
            },
            ConsoleRoute(.post, Self.list + "/new", .role(.marketing), maxBytes: Self.maxBytes) { try await add($0) },
            ConsoleRoute(.get, Self.one, .role(.marketing)) { try await show($0) },
            ConsoleRoute(.post, Self.one, .role(.marketing), maxBytes: Self.maxBytes) { try await change($0) },
            ConsoleRoute(.get, Self.one + "/delete", .role(.marketing)) { try await confirm($0) },
            ConsoleRoute(.post, Self.one + "/delete", .role(.marketing)) { call in
                let service = try await service(call)
                let name = call.query[Name.name] ?? ""
                try await responder.database.run {
                    try await $0.removeAudience(name, ofService: service, by: call.actor)
                }
                return .redirect(Self.path(service) + "&done=delete")
            },
        ]
    }

    /// The service in the address, if there is one of this name.
    private func service(_ call: ConsoleCall) async throws -> String {
        let name = call.query[Name.service] ?? ""
        _ = try await responder.database.run { try await $0.serviceFacts(name) }
        return name
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let service = try await service(call)
        let (rows, meanings) = try await responder.database.run { store in
            let rows = try await store.audiences(ofService: service)
            return (rows, try await store.parseFilters(rows.map(\.filter)))
        }
        var values: PageValues = [
            "rows": .list(zip(rows, meanings).map { row($0, $1) }), "hasRows": .flag(!rows.isEmpty),
            "newPath": .text("\(Self.list)/new?\(Name.service)=\(SignIn.encoded(service))"),
        ]
        if call.query["done"] == "delete" { values["done"] = .text(catalogue[.doneAudienceDelete]) }
        return .page(ConsolePage("audiences", title: catalogue.text(.audiencesOf, service), values))
    }

    private func row(_ row: AudienceRow, _ filter: Result<TargetFilter, TargetFilterError>) -> PageValues {
        [
            "path": .text(Self.path(row.service, row.name)), "name": .text(row.name),
            "filter": .text(catalogue.words(of: row.filter, filter)), "count": .text(count(row)),
            "changed": .text(Figures.minute(row.changedAt)),
        ]
    }

    /// How many subscriptions it has, or why that is not known.
    private func count(_ row: AudienceRow) -> String {
        if row.isBeingCounted { return catalogue[.audienceCounting] }
        if !row.problem.isEmpty { return row.problem }
        guard let number = row.subscriptions else { return catalogue[.audienceUncounted] }
        let text = Figures.count(number)
        return row.margin.map { catalogue.text(.aboutWithin, text, Figures.count($0)) } ?? text
    }

    private func form(_ service: String) -> FormPage {
        FormPage(
            title: catalogue[.newAudienceTitle],
            action: "\(Self.list)/new?\(Name.service)=\(SignIn.encoded(service))",
            back: (Self.path(service), catalogue.text(.audiencesOf, service)),
            intro: catalogue[.newAudienceText],
            fields: [
                FormField.ofName(Name.name, catalogue[.audienceNameHint], catalogue),
                FormField(
                    name: Name.filter,
                    label: catalogue[.columnFilter],
                    kind: .text,
                    hint: catalogue[.audienceFilterHint],
                    isRequired: true,
                    maxLength: TargetFilter.maxBytes
                ),
            ],
            button: catalogue[.newAudienceButton]
        )
    }

    private func add(_ call: ConsoleCall) async throws -> ConsoleReply {
        let service = try await service(call)
        return try await form(service).reply(to: call) {
            let (name, filter) = (call.typed(Name.name), call.typed(Name.filter))
            try await responder.database.run { store in
                guard try await !store.audiences(ofService: service).contains(where: { $0.name == name }) else {
                    throw FormRefusal([Name.name: catalogue[.audienceExists]])
                }
                try await store.saveAudience(name, ofService: service, filter: filter, by: call.actor)
            }
            return .redirect(Self.path(service, name) + "&done=save")
        }
    }

    private func found(_ call: ConsoleCall) async throws -> AudienceRow {
        let (service, name) = (call.query[Name.service] ?? "", call.query[Name.name] ?? "")
        let rows = try await responder.database.run { try await $0.audiences(ofService: service) }
        guard let row = rows.first(where: { $0.name == name }) else { throw ConsoleProblem.notFound }
        return row
    }

    private func confirm(_ call: ConsoleCall) async throws -> ConsoleReply {
        let row = try await found(call)
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[.audienceDeleteTitle],
                [
                    "subject": .text(row.name), "text": .text(catalogue[.audienceDeleteText]),
                    "action": .text(Self.path(row.service, row.name, "/delete")),
                    "button": .text(catalogue[.audienceDeleteButton]), "back": .text(Self.path(row.service, row.name)),
                ]
            )
        )
    }
}

extension AudiencePages {
    private func show(_ call: ConsoleCall) async throws -> ConsoleReply {
        let done: Phrase? =
            switch call.query["done"] {
            case "save": .doneAudienceSave
            case "count": .doneAudienceCount
            default: nil
            }
        return try await page(call, done.map { ["done": .text(catalogue[$0])] } ?? [:])
    }

    private func page(
        _ call: ConsoleCall,
        _ more: PageValues,
        status: HTTPResponse.Status = .ok
    ) async throws -> ConsoleReply {
        let row = try await found(call)
        let (filter, sample) = try await responder.database.run { store in
            (
                try await store.parseFilter(row.filter),
                try await store.sample(ofAudience: row.name, ofService: row.service, by: call.actor)
            )
        }
        let facts: [(Phrase, String)] = [
            (.audienceMeaning, catalogue.words(of: row.filter, filter)), (.countLabel, count(row)),
            (.audienceExcluded, row.excluded.map(Figures.count) ?? ""),
            (.audienceCounted, row.countedAt.map(Figures.time) ?? ""),
            (.audienceMadeBy, "\(row.madeBy), \(Figures.minute(row.createdAt))"),
            (.audienceChangedBy, "\(row.changedBy), \(Figures.minute(row.changedAt))"),
        ]
        var values: PageValues = [
            "action": .text(Self.path(row.service, row.name)), "back": .text(Self.path(row.service)),
            "backName": .text(catalogue.text(.audiencesOf, row.service)),
            "deletePath": .text(Self.path(row.service, row.name, "/delete")), "filter": .text(row.filter),
            "facts": .list(
                facts.filter { !$0.1.isEmpty }.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }
            ),
            "rows": .list(sample.map(catalogue.subscriberRow)), "hasRows": .flag(!sample.isEmpty),
            "isBeingCounted": .flag(row.isBeingCounted),
        ]
        values.merge(more) { _, new in new }
        return .page(ConsolePage("audience", title: row.name, values, status: status))
    }

    private func change(_ call: ConsoleCall) async throws -> ConsoleReply {
        guard let action = call.form[Name.action].flatMap({ Action(rawValue: $0) }) else {
            throw ConsoleProblem.malformed
        }
        let row = try await found(call)
        let path = Self.path(row.service, row.name)
        switch action {
        case .count:
            try await responder.database.run { try await $0.askAudienceCount(row.name, ofService: row.service) }
            return .redirect(path + "&done=count")
        case .save:
            let filter = (call.form[Name.filter] ?? "").replacing("\r\n", with: "\n").trimmed
            do {
                try await responder.database.run {
                    try await $0.saveAudience(row.name, ofService: row.service, filter: filter, by: call.actor)
                }
            } catch let error as StoreError {
                guard let refusal = FormRefusal(error) else { throw error }
                return try await page(
                    call,
                    ["problem": .text(refusal.words), "filter": .text(filter)],
                    status: .unprocessableContent
                )
            }
            return .redirect(path + "&done=save")
        }
    }
}

extension Catalogue {
    /// A filter in words: its tests as the composer's rows name them; the text itself if rows cannot express it.
    func words(of text: String, _ filter: Result<TargetFilter, TargetFilterError>) -> String {
        guard case .success(let filter) = filter, let rows = FilterRows(filter) else { return text }
        let tests = rows.rows.map { row in
            [row.field, comparison(row.comparison), row.value].filter { !$0.isEmpty }.joined(separator: " ")
        }
        return tests.count == 1 ? tests[0] : "\(join(rows.join)): \(tests.joined(separator: "; "))"
    }
}
