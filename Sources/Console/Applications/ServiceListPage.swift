import HTTPTypes
import PushCore
import Store

/// *Services*: the list of services with their applications and the state of each.
struct ServiceListPage: Sendable {
    let responder: ConsoleResponder

    static let path = "/services"
    /// The rows of a page: what fits on three screens.
    private static let maxRows = 50

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [ConsoleRoute(.get, Self.path, .role(.read)) { try await list($0) }]
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        var after = (service: call.query["service"] ?? "", application: call.query["application"] ?? "")
        // One extra row shows whether there are more.
        func read(_ after: (service: String, application: String)) async throws -> [ServiceLine] {
            try await responder.database.run { try await $0.serviceLines(after: after, limit: Self.maxRows + 1) }
        }
        var lines = try await read(after)
        if let added = call.query[ConsoleRoute.added],
            !lines.prefix(Self.maxRows).contains(where: { $0.service == added })
        {
            after = (String(added.dropLast()), "")
            lines = try await read(after)
        }
        let shown = Array(lines.prefix(Self.maxRows))
        let icons = try await ApplicationIcons.read(responder.database)
        var values: PageValues = [
            "services": .list(services(shown, icons, call)), "hasServices": .flag(!shown.isEmpty),
            "mayDeclare": .flag(call.mayDeclare), "isLater": .flag(!after.service.isEmpty),
            "hasPages": .flag(!after.service.isEmpty || lines.count > Self.maxRows),
        ]
        if lines.count > Self.maxRows, let last = shown.last {
            let name = SignIn.encoded(last.application?.name ?? "")
            let path = "\(Self.path)?service=\(SignIn.encoded(last.service))&application=\(name)"
            values["next"] = .group(["path": .text(path)])
        }
        let done: Phrase? =
            switch call.query["done"] {
            case "service": .serviceDone
            case "pair": .pairDone
            case "changed": .serviceChanged
            case "hours": .hoursChanged
            case "approval": .approvalRuleChanged
            default: nil
            }
        if let done { values["done"] = .text(catalogue[done]) }
        return .page(ConsolePage("services", title: catalogue[.servicesTitle], values))
    }

    /// One section for each service.
    private func services(_ lines: [ServiceLine], _ icons: ApplicationIcons, _ call: ConsoleCall) -> [PageValues] {
        let words = ApplicationWords(catalogue: catalogue)
        var sections: [PageValues] = []
        var start = lines.startIndex
        while start < lines.endIndex {
            let end = lines[start...].firstIndex { $0.service != lines[start].service } ?? lines.endIndex
            let line = lines[start]
            let applications = lines[start..<end].compactMap(\.application)
            sections.append([
                "place": .text("\(sections.count)"), "service": .text(line.service), "label": .text(line.label),
                "hasLabel": .flag(!line.label.isEmpty && line.label != line.service),
                "mapping": .text(line.mapping ?? catalogue[.mappingStandard]), "trust": .text(words.trust(line.trust)),
                "subscribers": .text(ServiceSubscribersPage.path(line.service)),
                "query": .text(SignIn.encoded(line.service)), "mayDeclare": .flag(call.mayDeclare),
                "hoursPath": .text(ServiceHoursPage.path(line.service)),
                "approvalPath": .text(ApprovalRulePage.path(line.service)),
                "capsPath": .text(FrequencyCapPages.path(line.service)),
                "audiencesPath": .text(AudiencePages.path(line.service)), "mayCompose": .flag(call.mayCompose),
                "controlPath": .text(ControlGroupPage.path(line.service)),
                "applications": .list(applications.map { row($0, icons) }),
                "hasApplications": .flag(!applications.isEmpty),
            ])
            start = end
        }
        return sections
    }

    private func row(_ application: ServiceLine.Application, _ icons: ApplicationIcons) -> PageValues {
        let words = ApplicationWords(catalogue: catalogue)
        let standing = words.standing(application)
        var values: PageValues = [
            "id": .text("\(application.id)"), "name": .text(application.name),
            "platform": .text(words.platform(application.platform)),
            "environment": .text(words.environment(application.environment, application.platform)),
            "bundleID": .text(application.bundleID), "account": .text(application.account ?? ""),
            "state": .text(catalogue[standing.phrase]), "stateClass": .text(standing.style),
        ]
        icons.add(to: &values, application.name)
        return values
    }
}
