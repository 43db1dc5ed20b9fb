import Foundation
import HTTPTypes
import PushCore
import Store

/// The choices that the forms of applications offer.
private struct DeclarationChoices: Sendable {
    let services: [String]
    let accounts: [AccountRow]

    /// No one scrolls through more; sites with more use the command line.
    private static let maxRows = 500

    static func read(_ store: Store, _ platform: Platform) async throws -> DeclarationChoices {
        DeclarationChoices(
            services: try await store.serviceNames(limit: maxRows),
            accounts: try await store.accounts(after: "", platform: platform, limit: maxRows)
        )
    }

    /// The first account that uses the gateway's own address of an environment; "" if there is none.
    func account(_ environment: ApplicationEnvironment) -> String {
        accounts.first { ApplicationEnvironment(gatewayHost: $0.host) == environment }?.name ?? ""
    }
}

/// Declaring services and applications: a single one, the pair of iOS, or a copy.
struct DeclarationPages: Sendable {
    let responder: ConsoleResponder

    private var catalogue: Catalogue { responder.pages.catalogue }
    private var words: ApplicationWords { ApplicationWords(catalogue: catalogue) }
    private var toServices: (path: String, name: String) { (ServiceListPage.path, catalogue[.servicesTitle]) }

    /// The names of the fields.
    private enum Name {
        static let name = "name"
        static let label = "label"
        static let mapping = "mapping"
        static let trust = "trust"
        static let service = "service"
        static let bundleID = "bundle"
        static let format = "format"
        static let account = "account"
        static let sandboxAccount = "sandbox_account"
        static let key = "key"
        static let sandboxKey = "sandbox_key"
        static let version = "version"
        static let environment = "environment"
    }

    /// No one scrolls through more; sites with more use the command line.
    private static let maxMappings = 500

    var routes: [ConsoleRoute] {
        let base = ServiceListPage.path
        let copy = ApplicationPage.path("{id}") + "/copy"
        return [
            ConsoleRoute(.get, base + "/new", .role(.admin)) { _ in serviceForm.reply() },
            ConsoleRoute(.post, base + "/new", .role(.admin)) { try await addService($0) },
            ConsoleRoute(.get, base + "/change", .role(.admin)) { try await changeForm($0).form.reply() },
            ConsoleRoute(.post, base + "/change", .role(.admin)) { try await changeService($0) },
            ConsoleRoute(.get, base + "/ios-pair", .role(.admin)) { try await pairForm($0).reply() },
            ConsoleRoute(.post, base + "/ios-pair", .role(.admin)) { try await addPair($0) },
            ConsoleRoute(.get, base + "/android", .role(.admin)) { try await androidForm($0).reply() },
            ConsoleRoute(.post, base + "/android", .role(.admin)) { try await addAndroid($0) },
            ConsoleRoute(.get, copy, .role(.admin)) { try await copyForm($0).form.reply() },
            ConsoleRoute(.post, copy, .role(.admin)) { try await addCopy($0) },
        ]
    }

    // A service.

    private var serviceForm: FormPage {
        FormPage(
            title: catalogue[.newServiceTitle],
            action: ServiceListPage.path + "/new",
            back: toServices,
            intro: catalogue[.newServiceText],
            fields: [
                .ofName(Name.name, catalogue[.fieldNameHint], catalogue),
                FormField(name: Name.label, label: catalogue[.fieldLabel], kind: .text, maxLength: 500),
            ],
            button: catalogue[.newServiceButton]
        )
    }

    private func addService(_ call: ConsoleCall) async throws -> ConsoleReply {
        try await serviceForm.reply(to: call) {
            let name = call.typed(Name.name)
            let label = call.typed(Name.label)
            try await responder.database.run {
                try await $0.declareService(name: name, label: label.isEmpty ? name : label, by: call.actor)
            }
            return .redirect(ServiceListPage.path + "?done=service&\(ConsoleRoute.added)=\(SignIn.encoded(name))")
        }
    }

    private func changeForm(_ call: ConsoleCall) async throws -> (form: FormPage, facts: ServiceFacts) {
        let name = call.query[Name.service] ?? ""
        let (service, mappings) = try await responder.database.run { store in
            (try await store.serviceFacts(name), try await store.mappingNames(limit: Self.maxMappings))
        }
        let (facts, version) = service
        // The current mapping is always offered, however many there are.
        let offered = mappings + (facts.mapping.map { mappings.contains($0) ? [] : [$0] } ?? [])
        let form = FormPage(
            title: catalogue.text(.changeTitle, name),
            action: "\(ServiceListPage.path)/change?service=\(SignIn.encoded(name))",
            back: toServices,
            fields: [
                FormField(
                    name: Name.label,
                    label: catalogue[.fieldLabel],
                    kind: .text,
                    hint: catalogue[.serviceLabelHint],
                    value: facts.label,
                    maxLength: NameRule.maxLabelLength
                ),
                FormField(
                    name: Name.mapping,
                    label: catalogue[.fieldMapping],
                    kind: .choice([FormOption("", catalogue[.mappingStandard])] + offered.map { FormOption($0, $0) }),
                    hint: catalogue[.mappingHint],
                    value: facts.mapping ?? ""
                ),
                FormField(
                    name: Name.trust,
                    label: catalogue[.fieldTrust],
                    kind: .choice(UserKeyTrust.allCases.map { FormOption($0.rawValue, words.trust($0)) }),
                    hint: catalogue[.trustHint],
                    isRequired: true,
                    value: facts.trust.rawValue
                ),
            ],
            hidden: [Name.version: "\(version)"],
            button: catalogue[.save]
        )
        return (form, facts)
    }

    private func changeService(_ call: ConsoleCall) async throws -> ConsoleReply {
        let (form, earlier) = try await changeForm(call)
        return try await form.reply(to: call) {
            let label = call.typed(Name.label)
            if let problem = NameRule.problem(label: label) {
                throw FormRefusal([Name.label: "\(catalogue[.fieldLabel]): \(problem); \(NameRule.labelWords)"])
            }
            guard let trust = UserKeyTrust(rawValue: call.typed(Name.trust)) else {
                throw FormRefusal([Name.trust: catalogue[.trustMissing]])
            }
            let mapping = nonEmpty(call.typed(Name.mapping))
            do {
                try await responder.database.run {
                    try await $0.changeService(
                        ServiceFacts(name: earlier.name, label: label, mapping: mapping, trust: trust),
                        version: Int64(call.typed(Name.version)) ?? 0,
                        by: call.actor
                    )
                }
            } catch let error as StoreError where error.sqlState == "PM136" {
                throw FormRefusal([Name.trust: catalogue.text(.trustNoKey, earlier.name)])
            }
            return .redirect(ServiceListPage.path + "?done=changed")
        }
    }

    // The pair of iOS.

    private func pairForm(_ call: ConsoleCall) async throws -> FormPage {
        let choices = try await responder.database.run { try await DeclarationChoices.read($0, .ios) }
        return FormPage(
            title: catalogue[.newPairTitle],
            action: ServiceListPage.path + "/ios-pair",
            back: toServices,
            intro: catalogue[.newPairText],
            fields: [
                serviceField(choices, call.query[Name.service] ?? ""),
                .ofName(Name.name, catalogue.text(.pairNameHint, NewApplication.sandboxEnding), catalogue),
                bundleField(.ios, ""),
                formatField(""),
                accountField(Name.account, .fieldProductionAccount, choices, choices.account(.production)),
                accountField(Name.sandboxAccount, .fieldSandboxAccount, choices, choices.account(.sandbox)),
                keyField(Name.key, .fieldProductionKey), keyField(Name.sandboxKey, .fieldSandboxKey),
            ],
            button: catalogue[.newPairButton],
            obstacle: choices.services.isEmpty ? catalogue[.noServicesForForm] : ""
        )
    }

    private func addPair(_ call: ConsoleCall) async throws -> ConsoleReply {
        try await pairForm(call).reply(to: call) {
            let pair = try ApplicationEnvironment.allCases.reversed().map { environment in
                var half = try application(call, .ios, environment)
                guard environment == .sandbox else { return half }
                half.integrationKey = key(call, Name.sandboxKey)
                half.name += NewApplication.sandboxEnding
                half.label = half.name
                half.account = nonEmpty(call.typed(Name.sandboxAccount))
                return half
            }
            _ = try await responder.database.run { try await $0.declareApplications(pair, by: call.actor) }
            return .redirect(ServiceListPage.path + "?done=pair")
        }
    }

    // An application of Android.

    private func androidForm(_ call: ConsoleCall) async throws -> FormPage {
        let choices = try await responder.database.run { try await DeclarationChoices.read($0, .android) }
        return FormPage(
            title: catalogue[.newAndroidTitle],
            action: ServiceListPage.path + "/android",
            back: toServices,
            fields: [
                serviceField(choices, call.query[Name.service] ?? ""),
                .ofName(Name.name, catalogue[.fieldNameHint], catalogue),
                bundleField(.android, ""),
                formatField(""),
                accountField(Name.account, .columnAccount, choices, choices.accounts.first?.name ?? ""),
                keyField(),
            ],
            button: catalogue[.newAndroidButton],
            obstacle: choices.services.isEmpty ? catalogue[.noServicesForForm] : ""
        )
    }

    private func addAndroid(_ call: ConsoleCall) async throws -> ConsoleReply {
        try await androidForm(call).reply(to: call) {
            let new = try application(call, .android, .production)
            let ids = try await responder.database.run { try await $0.declareApplications([new], by: call.actor) }
            return made(ids)
        }
    }

    // A copy.

    private func copyForm(_ call: ConsoleCall) async throws -> (form: FormPage, original: ApplicationRow) {
        let id = try call.smallID()
        let (original, service, choices) = try await responder.database.run { store in
            let original = try await store.application(id)
            let service = try await store.serviceName(original.serviceID)
            return (original, service, try await DeclarationChoices.read(store, original.platform))
        }
        let path = ApplicationPage.path("\(id)")
        let own = choices.accounts.first { $0.id == original.accountID }?.name ?? ""
        let environment = FormField(
            name: Name.environment,
            label: catalogue[.factEnvironment],
            kind: .choice(
                ApplicationEnvironment.allCases.reversed().map { FormOption($0.rawValue, words.environment($0, .ios)) }
            ),
            isRequired: true,
            value: original.environment.rawValue
        )
        let form = FormPage(
            title: catalogue.text(.copyTitle, original.name),
            action: path + "/copy",
            back: (path, original.name),
            intro: catalogue[.copyText],
            fields: [serviceField(choices, service), .ofName(Name.name, catalogue[.fieldNameHint], catalogue)]
                + (original.platform == .ios ? [environment] : [])
                + [
                    bundleField(original.platform, original.bundleID),
                    formatField(original.messageIDFormat.rawValue),
                    accountField(Name.account, .columnAccount, choices, own), keyField(),
                ],
            button: catalogue[.copyButton]
        )
        return (form, original)
    }

    private func addCopy(_ call: ConsoleCall) async throws -> ConsoleReply {
        let (form, original) = try await copyForm(call)
        return try await form.reply(to: call) {
            let environment = ApplicationEnvironment(rawValue: call.typed(Name.environment)) ?? .production
            let new = try application(call, original.platform, environment)
            let ids = try await responder.database.run {
                try await $0.declareApplications([new], copying: original.id, by: call.actor)
            }
            return made(ids)
        }
    }
}

extension DeclarationPages {
    private func made(_ ids: [Int32]) -> ConsoleReply {
        .redirect(ids.first.map { ApplicationPage.path("\($0)") + "?done=made" } ?? ServiceListPage.path)
    }

    /// The typed values. A forged form may lack any field.
    private func application(_ call: ConsoleCall, _ platform: Platform, _ environment: ApplicationEnvironment) throws
        -> NewApplication
    {
        // There is no default: an app that reads a uuid with Integer.valueOf crashes or loses its receipts.
        guard let format = MessageIDFormat(rawValue: call.typed(Name.format)) else {
            throw FormRefusal([Name.format: catalogue[.formatMissing]])
        }
        return NewApplication(
            service: call.typed(Name.service),
            name: call.typed(Name.name),
            platform: platform,
            environment: environment,
            integrationKey: key(call, Name.key),
            bundleID: call.typed(Name.bundleID),
            messageIDFormat: format,
            account: nonEmpty(call.typed(Name.account))
        )
    }

    /// The key that the app already has, or a new one.
    private func key(_ call: ConsoleCall, _ field: String) -> String {
        nonEmpty(call.typed(field)) ?? UUID().uuidString.lowercased()
    }

    private func nonEmpty(_ text: String) -> String? { text.isEmpty ? nil : text }

    private func serviceField(_ choices: DeclarationChoices, _ chosen: String) -> FormField {
        FormField(
            name: Name.service,
            label: catalogue[.factService],
            kind: .choice(choices.services.map { FormOption($0, $0) }),
            isRequired: true,
            value: chosen
        )
    }

    private func bundleField(_ platform: Platform, _ value: String) -> FormField {
        FormField(
            name: Name.bundleID,
            label: catalogue[platform == .ios ? .factBundleID : .factPackage],
            kind: .text,
            hint: catalogue[platform == .ios ? .bundleHint : .packageHint],
            isRequired: true,
            value: value,
            maxLength: 255
        )
    }

    private func formatField(_ value: String) -> FormField {
        FormField(
            name: Name.format,
            label: catalogue[.factMessageIDs],
            kind: .choice(
                [FormOption("", catalogue[.chooseOne])]
                    + [MessageIDFormat.uuid, .int32].map { FormOption($0.rawValue, words.messageIDs($0)) }
            ),
            hint: catalogue[.formatHint],
            isRequired: true,
            value: value
        )
    }

    private func accountField(_ name: String, _ label: Phrase, _ choices: DeclarationChoices, _ value: String)
        -> FormField
    {
        FormField(
            name: name,
            label: catalogue[label],
            kind: .choice(
                [FormOption("", catalogue[.noAccountYet])]
                    + choices.accounts.map { FormOption($0.name, "\($0.name) (\($0.connector.rawValue), \($0.host))") }
            ),
            value: value
        )
    }

    private func keyField(_ name: String = Name.key, _ label: Phrase = .integrationKeyTitle) -> FormField {
        FormField(name: name, label: catalogue[label], kind: .text, hint: catalogue[.keyHint])
    }
}
