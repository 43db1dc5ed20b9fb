import HTTPTypes
import PushCore
import Store

/// *Templates*: what deliveries start from.
struct TemplatesPage: Sendable {
    let responder: ConsoleResponder

    static let path = "/templates"
    /// Rows of a page.
    private static let most = 50

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.read)) { try await list($0) },
            ConsoleRoute(.get, Self.path + "/{id}", .role(.read)) { try await show($0) },
            ConsoleRoute(.get, Self.path + "/{id}/delete", .role(.operate)) { try await confirm($0) },
            ConsoleRoute(.post, Self.path + "/{id}/delete", .role(.operate)) { call in
                let template = try await template(call)
                try await responder.database.run { try await $0.removeTemplate(named: template.name, by: call.actor) }
                return .redirect(Self.path + "?done=delete")
            },
        ]
    }

    private func template(_ call: ConsoleCall) async throws -> TemplateRow {
        guard let id = Int32(exactly: try call.number("id")) else { throw ConsoleProblem.notFound }
        return try await responder.database.run { try await $0.template(id) }
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let behind = String((call.query["behind"] ?? "").prefix(NameRule.longestName))
        // One more tells whether there are more.
        let rows = try await responder.database.run {
            try await $0.templateList(behind: behind, most: Self.most + 1)
        }
        var values: PageValues = [
            "rows": .list(rows.prefix(Self.most).map(row)), "hasRows": .flag(!rows.isEmpty),
            "isLater": .flag(!behind.isEmpty),
        ]
        if call.query["done"] == "delete" { values["done"] = .text(catalogue[.doneTemplateDelete]) }
        if rows.count > Self.most {
            let path = Self.path + "?behind=" + SignIn.encoded(rows[Self.most - 1].name)
            values["next"] = .group(["path": .text(path)])
        }
        return .page(ConsolePage("templates", title: catalogue[.templatesTitle], values))
    }

    private func row(_ template: TemplateSummary) -> PageValues {
        [
            "id": .text("\(template.id)"), "name": .text(template.name), "label": .text(template.label),
            "platforms": .text(template.platforms.joined(separator: ", ")),
            "origin": .text(catalogue[template.isReadyMade ? .templateReadyMade : .templateOwn]),
            "changed": .text(Figures.minute(template.changedAt)),
        ]
    }

    private func show(_ call: ConsoleCall) async throws -> ConsoleReply {
        let template = try await template(call)
        let facts: [(Phrase, String)] = [
            (.templateLabel, template.label),
            (.templateOrigin, catalogue[template.isReadyMade ? .templateReadyMade : .templateOwn]),
            (.templateChanged, Figures.time(template.changedAt)),
        ]
        return .page(
            ConsolePage(
                "template",
                title: template.name,
                [
                    "id": .text("\(template.id)"), "content": .text(template.content),
                    "settings": .text(template.settings),
                    "facts": .list(
                        facts.filter { !$0.1.isEmpty }
                            .map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }
                    ),
                    "mayDelete": .flag(call.mayOperate && !template.isReadyMade),
                    "isReadyMade": .flag(template.isReadyMade),
                ]
            )
        )
    }

    private func confirm(_ call: ConsoleCall) async throws -> ConsoleReply {
        let template = try await template(call)
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[.templateDeleteTitle],
                [
                    "subject": .text(template.name), "text": .text(catalogue[.templateDeleteText]),
                    "action": .text("\(Self.path)/\(template.id)/delete"),
                    "button": .text(catalogue[.templateDeleteButton]), "back": .text("\(Self.path)/\(template.id)"),
                ]
            )
        )
    }
}
