import HTTPTypes
import PushCore
import Store

/// *Templates*: what deliveries start from, with their services, applications and target.
struct TemplatesPage: Sendable {
    let responder: ConsoleResponder

    static let path = "/templates"
    /// The rows of a page.
    private static let maxRows = 50
    /// The characters of a filter that a row shows.
    private static let filterCharacters = 80

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.read)) { try await list($0) },
            ConsoleRoute(.get, Self.path + "/{id}", .role(.read)) { try await show($0) },
            ConsoleRoute(.get, Self.path + "/{id}/delete", .role(.marketing)) { try await confirm($0) },
            ConsoleRoute(.post, Self.path + "/{id}/delete", .role(.marketing)) { call in
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
        let behind = String((call.query["behind"] ?? "").prefix(NameRule.maxNameLength))
        // One extra row shows whether there are more.
        let rows = try await responder.database.run {
            try await $0.templateList(behind: behind, limit: Self.maxRows + 1)
        }
        var values: PageValues = [
            "rows": .list(rows.prefix(Self.maxRows).map(row)), "hasRows": .flag(!rows.isEmpty),
            "isLater": .flag(!behind.isEmpty), "mayCompose": .flag(call.mayCompose),
        ]
        if call.query["done"] == "delete" { values["done"] = .text(catalogue[.doneTemplateDelete]) }
        if rows.count > Self.maxRows {
            let path = Self.path + "?behind=" + SignIn.encoded(rows[Self.maxRows - 1].name)
            values["next"] = .group(["path": .text(path)])
        }
        return .page(ConsolePage("templates", title: catalogue[.templatesTitle], values))
    }

    private func row(_ template: TemplateSummary) -> PageValues {
        let filter = template.target.filter
        let shown = filter.prefix(Self.filterCharacters)
        return [
            "id": .text("\(template.id)"), "name": .text(template.name), "label": .text(template.label),
            "platforms": .text(template.platforms.map(Self.words).joined(separator: ", ")),
            "services": .text(template.services.joined(separator: ", ")),
            "applications": .text(template.target.applications.joined(separator: ", ")),
            "target": .text(shown.count < filter.count ? shown + "…" : filter),
            "isReadyMade": .flag(template.isReadyMade), "changed": .text(Figures.minute(template.changedAt)),
        ]
    }

    private static func words(_ platform: Platform) -> String { platform == .ios ? "iOS" : "Android" }

    private func show(_ call: ConsoleCall) async throws -> ConsoleReply {
        let template = try await template(call)
        let target = template.target
        let isOpen = target.applications.isEmpty
        let facts: [(Phrase, String)] = [
            (.templateLabel, template.label),
            (.templateOrigin, catalogue[template.isReadyMade ? .templateReadyMade : .templateOwn]),
            (.factService, template.services.joined(separator: ", ")),
            (.columnApplications, isOpen ? catalogue[.templateOpen] : target.applications.joined(separator: ", ")),
            (.stepTarget, !target.filter.isEmpty ? target.filter : isOpen ? "" : catalogue[.everybody]),
            (.listsLabel, target.excludedLists.joined(separator: ", ")),
            (.columnChanged, Figures.time(template.changedAt)),
        ]
        let mayCompose = call.mayCompose
        var values: PageValues = [
            "id": .text("\(template.id)"), "content": .text(template.content), "settings": .text(template.settings),
            "hasSettings": .flag(template.settings != "{}" && template.settings != "{\n}"),
            "facts": .list(
                facts.filter { !$0.1.isEmpty }.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }
            ),
            "mayDelete": .flag(mayCompose && !template.isReadyMade), "isReadyMade": .flag(template.isReadyMade),
        ]
        let isForSystems = ComposedDraft.isForSystems(template)
        values["isForSystems"] = .flag(isForSystems)
        if mayCompose, !isForSystems {
            let path = "\(Composer.path)?\(Composer.Field.template)=\(SignIn.encoded(template.name))"
            values["compose"] = .group(["path": .text(path)])
        }
        if call.query["done"] == "add" { values["done"] = .text(catalogue[.doneTemplateAdd]) }
        return .page(ConsolePage("template", title: template.name, values))
    }

    private func confirm(_ call: ConsoleCall) async throws -> ConsoleReply {
        let template = try await template(call)
        guard !template.isReadyMade else { throw ConsoleProblem.conflict(catalogue[.templateStays]) }
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
