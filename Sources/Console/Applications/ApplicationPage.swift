import Content
import HTTPTypes
import PushCore
import Store

/// Everything that the page of an application shows.
private struct ApplicationFacts: Sendable {
    let application: ApplicationRow
    let service: String
    let account: AccountRow?
    let credential: CredentialFacts?
    let declared: ApplicationDeclarations
    let hasIcon: Bool
    let health: ApplicationHealthRow?
    let troubles: [AccountTrouble]
    let limits: [LimitRow]

    static func read(_ store: Store, _ id: Int32) async throws -> ApplicationFacts {
        let application = try await store.application(id)
        var account: AccountRow?
        if let id = application.accountID { account = try await store.account(id) }
        var credential: CredentialFacts?
        if let id = application.credentialID { credential = try await store.credentialFacts(id) }
        return ApplicationFacts(
            application: application,
            service: try await store.serviceName(application.serviceID),
            account: account,
            credential: credential,
            declared: try await store.declarations(application: application.name),
            hasIcon: try await store.icon(application: application.name) != nil,
            health: try await store.applicationHealth(id),
            troubles: try await store.troubles(application: application.name),
            limits: try await store.limits(of: .application(id))
        )
    }
}

/// The page of an application: its route to the gateway, what it declares, what its app needs, and the actions.
struct ApplicationPage: Sendable {
    let responder: ConsoleResponder

    private var catalogue: Catalogue { responder.pages.catalogue }
    private var words: ApplicationWords { ApplicationWords(catalogue: catalogue) }

    var routes: [ConsoleRoute] {
        let path = Self.path("{id}")
        return [
            ConsoleRoute(.get, path, .role(.read)) { try await show($0) },
            ConsoleRoute(.get, path + "/icon", .role(.read)) { try await icon($0) },
            ConsoleRoute(.get, path + "/resume", .role(.operate)) { call in
                let (application, health) = try await resumable(call)
                return resumeForm(application, health).reply()
            },
            ConsoleRoute(.post, path + "/resume", .role(.operate)) { try await resume($0) },
        ]
    }

    /// The path of an application's page.
    static func path(_ id: String) -> String { "\(ServiceListPage.path)/applications/\(id)" }

    private func icon(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.smallID()
        let png = try await responder.database.run { store in
            try await store.icon(application: try await store.application(id).name)
        }
        guard let png else { throw ConsoleProblem.notFound }
        return .image(png, isKept: call.query[ApplicationIcons.version] != nil)
    }

    private func show(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.smallID()
        let facts = try await responder.database.run { try await ApplicationFacts.read($0, id) }
        let row = facts.application
        var values: PageValues = [
            "id": .text("\(id)"), "facts": .list(head(facts)), "hasIcon": .flag(facts.hasIcon),
            "integrationKey": .text(row.integrationKey), "host": .text(SDKSnippet.host),
            "snippets": .list(
                SDKSnippet.all(row.platform, key: row.integrationKey).map {
                    ["name": .text($0.name), "code": .text($0.code)]
                }
            ),
            "mayDeclare": .flag(call.mayDeclare), "mayOperate": .flag(call.mayOperate),
        ]
        values.merge(problems(facts)) { _, new in new }
        values.merge(credential(facts)) { _, new in new }
        values.merge(declarations(facts.declared)) { _, new in new }
        values.merge(LimitTables.values(facts.limits, catalogue)) { _, new in new }
        let done: Phrase? =
            switch call.query["done"] {
            case "made": .applicationDone
            case "changed": .applicationChanged
            case "resumed": .resumeDone
            case "credential": .credentialDone
            default: nil
            }
        if let done { values["done"] = .text(catalogue[done]) }
        return .page(ConsolePage("application", title: row.name, values))
    }

    private func head(_ facts: ApplicationFacts) -> [PageValues] {
        let row = facts.application
        let environment = words.environment(row.environment, row.platform)
        var pairs: [(Phrase, String)] = [(.factService, facts.service), (.factPlatform, words.platform(row.platform))]
        if !environment.isEmpty { pairs.append((.factEnvironment, environment)) }
        pairs.append((row.platform == .ios ? .factBundleID : .factPackage, row.bundleID))
        pairs.append((.factMessageIDs, words.messageIDs(row.messageIDFormat)))
        if let account = facts.account {
            pairs.append((.columnAccount, account.name))
            pairs.append((.factConnector, account.connector.rawValue))
            pairs.append((.factGateway, "\(account.host):\(account.port)"))
        } else {
            pairs.append((.columnAccount, catalogue[.noAccount]))
        }
        if !row.label.isEmpty, row.label != row.name { pairs.append((.factLabel, row.label)) }
        return pairs.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }
    }

    /// What holds its messages back, with remedies.
    private func problems(_ facts: ApplicationFacts) -> PageValues {
        var problems: [PageValues] = []
        func add(_ text: String, _ remedy: String, isBad: Bool) {
            problems.append([
                "text": .text(text), "remedy": .text(remedy), "hasRemedy": .flag(!remedy.isEmpty),
                "isBad": .flag(isBad),
            ])
        }
        if let health = facts.health, health.state != .closed {
            // The tick box of “Send again now” does what its command does.
            add(catalogue.text(.circuitIsOpen, health.reason), health.remedy.withoutCommands, isBad: true)
        } else if let health = facts.health, !health.reason.isEmpty {
            add(health.reason, health.remedy.withoutCommands, isBad: false)
        }
        for trouble in facts.troubles {
            let (seconds, waiting) = (Figures.duration(trouble.seconds), Figures.count(trouble.waiting))
            let text = catalogue.text(
                .gatewayTakesNothing,
                trouble.account,
                seconds,
                trouble.reason,
                waiting,
                "\(trouble.probes)"
            )
            add(text, catalogue[.gatewayRemedy], isBad: true)
        }
        if let account = facts.account {
            if let problem = RouteCheck.problem(facts.application, account) {
                add(catalogue.text(.routeIsWrong, problem), "", isBad: true)
            }
            if let kind = facts.credential?.kind, !kind.suits(account.connector) {
                add(
                    catalogue.text(.credentialUnfit, account.connector.rawValue, words.kind(kind)),
                    catalogue[.credentialUnfitRemedy],
                    isBad: true
                )
            }
            if !account.active { add(catalogue.text(.accountInactive, account.name), "", isBad: false) }
        } else {
            add(catalogue[.noAccountText], catalogue[.noAccountRemedy], isBad: false)
        }
        return ["problems": .list(problems), "hasProblems": .flag(!problems.isEmpty)]
    }

    private func credential(_ facts: ApplicationFacts) -> PageValues {
        guard let credential = facts.credential else { return ["hasCredential": .flag(false)] }
        let expiry = words.expiry(credential)
        var pairs: [(name: String, value: String)] = [
            (catalogue[.credentialKind], words.kind(credential.kind)),
            (catalogue[.credentialStored], Figures.minute(credential.createdAt)),
            (catalogue[.credentialFingerprint], String(credential.fingerprint.prefix(16)) + "…"),
        ]
        for (name, value) in credential.attributes.sorted(by: { $0.key < $1.key }) where !value.isEmpty {
            pairs.append((words.attribute(name), value))
        }
        let others = credential.applications.filter { $0 != facts.application.name }
        if !others.isEmpty { pairs.append((catalogue[.credentialOthers], others.joined(separator: ", "))) }
        return [
            "hasCredential": .flag(true), "expiry": .text(expiry.text), "expiryClass": .text(expiry.style),
            "credential": .list(pairs.map { ["name": .text($0.name), "value": .text($0.value)] }),
        ]
    }

    private func declarations(_ declared: ApplicationDeclarations) -> PageValues {
        let variables = declared.variables.map { variable -> PageValues in
            [
                "name": .text(variable.name), "type": .text(variable.type.rawValue),
                "default": .text(variable.defaultValue ?? ""), "label": .text(variable.label),
            ]
        }
        let sounds = declared.sounds.map { sound -> PageValues in
            [
                "name": .text(sound.name), "label": .text(sound.label),
                "system": .text(catalogue[sound.isSystem ? .soundOfSystem : .soundOfApplication]),
            ]
        }
        let parameters = declared.parameters.map { parameter -> PageValues in
            let zone = parameter.isTimeZone ? " · \(catalogue[.columnZone])" : ""
            return ["name": .text(parameter.name), "column": .text(parameter.column.description + zone)]
        }
        return [
            "variables": .list(variables), "hasVariables": .flag(!variables.isEmpty), "sounds": .list(sounds),
            "hasSounds": .flag(!sounds.isEmpty), "parameters": .list(parameters),
            "hasParameters": .flag(!parameters.isEmpty),
            "declaresNothing": .flag(variables.isEmpty && sounds.isEmpty && parameters.isEmpty),
        ]
    }
}

extension ApplicationPage {
    private static let believe = "believe"

    private func resumable(_ call: ConsoleCall) async throws -> (ApplicationRow, ApplicationHealthRow?) {
        let id = try call.smallID()
        return try await responder.database.run { store in
            (try await store.application(id), try await store.applicationHealth(id))
        }
    }

    private func resumeForm(_ application: ApplicationRow, _ health: ApplicationHealthRow?) -> FormPage {
        let path = Self.path("\(application.id)")
        // There is something to believe only if tokens were refused.
        let tick = FormField(
            name: Self.believe,
            label: catalogue[.resumeBelieve],
            kind: .tick,
            hint: catalogue[.resumeBelieveHint]
        )
        return FormPage(
            title: catalogue.text(.resumeTitle, application.name),
            action: path + "/resume",
            back: (path, application.name),
            intro: catalogue[.resumeText],
            fields: health?.tokenEffectsHeld == true ? [tick] : [],
            button: catalogue[.resumeNow]
        )
    }

    private func resume(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.smallID()
        let believes = call.isTicked(Self.believe)
        try await responder.database.run {
            try await $0.resumeApplication(id, believingRefusals: believes, by: call.actor)
        }
        return .redirect(Self.path("\(id)") + "?done=resumed")
    }
}
