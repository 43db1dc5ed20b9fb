import Foundation
import Gateways
import HTTPTypes
import PushCore
import Store

/// External accounts: the list, the page of one account, and the forms to declare and change one.
struct AccountPages: Sendable {
    let responder: ConsoleResponder

    static let path = ServiceListPage.path + "/accounts"
    /// The rows of a page.
    private static let maxRows = 50
    /// The maximum number of an account's applications that its page names.
    private static let maxApplications = 100
    /// The maximum length of a path in bytes: Linux's PATH_MAX without the terminating zero.
    private static let maxPathLength = 4_095

    private var catalogue: Catalogue { responder.pages.catalogue }

    /// The names of the form fields.
    private enum Name {
        static let name = "name"
        static let connector = "connector"
        static let environment = "environment"
        static let url = "url"
        static let authorities = "ca_file"
        static let host = "host"
        static let port = "port"
        static let connections = "connections"
        static let feedbackHost = "feedback_host"
        static let feedbackPort = "feedback_port"
        static let rate = "rate"
        static let state = "state"
        static let version = "version"
    }

    /// The value of the state field for an account that is not used.
    private static let paused = "paused"

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.read)) { try await list($0) },
            ConsoleRoute(.get, Self.path + "/new", .role(.admin)) { _ in form.reply() },
            ConsoleRoute(.post, Self.path + "/new", .role(.admin)) { try await add($0) },
            ConsoleRoute(.get, Self.path + "/{id}", .role(.read)) { try await show($0) },
            ConsoleRoute(.get, Self.path + "/{id}/change", .role(.admin)) { call in
                let (account, version) = try await changeable(call)
                return changeForm(account, version).reply()
            },
            ConsoleRoute(.post, Self.path + "/{id}/change", .role(.admin)) { try await change($0) },
        ]
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        var after = call.query["after"] ?? ""
        // One extra row shows whether there are more.
        func read(_ after: String) async throws -> [AccountRow] {
            try await responder.database.run { try await $0.accounts(after: after, limit: Self.maxRows + 1) }
        }
        var accounts = try await read(after)
        if let added = call.query[ConsoleRoute.added],
            !accounts.prefix(Self.maxRows).contains(where: { $0.name == added })
        {
            after = String(added.dropLast())
            accounts = try await read(after)
        }
        let rows = accounts.prefix(Self.maxRows).map { account -> PageValues in
            [
                "id": .text("\(account.id)"), "name": .text(account.name),
                "connector": .text(account.connector.rawValue),
                "meaning": .text(meaning(account.connector)),
                "gateway": .text(GatewayAddress(host: account.host, port: Int(account.port)).description),
                "state": .text(catalogue[account.active ? .accountActive : .accountPaused]),
                "stateClass": .text(account.active ? "health-alive" : "fair"),
            ]
        }
        var values: PageValues = [
            "accounts": .list(Array(rows)), "hasAccounts": .flag(!rows.isEmpty), "mayDeclare": .flag(call.mayDeclare),
            "isLater": .flag(!after.isEmpty), "hasPages": .flag(!after.isEmpty || accounts.count > Self.maxRows),
        ]
        if accounts.count > Self.maxRows {
            let name = SignIn.encoded(accounts[Self.maxRows - 1].name)
            values["next"] = .group(["path": .text("\(Self.path)?after=\(name)")])
        }
        if call.query["done"] == "account" { values["done"] = .text(catalogue[.accountDone]) }
        return .page(ConsolePage("accounts", title: catalogue[.accountsTitle], values))
    }

    private func meaning(_ connector: Connector) -> String {
        switch connector {
        case .iosHTTP2: catalogue[.connectorIOSHTTP2]
        case .iosBinary: catalogue[.connectorIOSBinary]
        case .androidV1: catalogue[.connectorAndroidV1]
        case .androidV2: catalogue[.connectorAndroidV2]
        }
    }

    private var form: FormPage {
        // One that works only with a stand-in comes last.
        let connectors =
            Connector.allCases.filter { !$0.facts.isClosed } + Connector.allCases.filter { $0.facts.isClosed }
        let environments = ApplicationEnvironment.allCases.reversed().map { environment in
            FormOption(environment.rawValue, ApplicationWords(catalogue: catalogue).environment(environment, .ios))
        }
        return FormPage(
            title: catalogue[.newAccountTitle],
            action: Self.path + "/new",
            back: (Self.path, catalogue[.accountsTitle]),
            intro: catalogue[.newAccountText],
            fields: [
                .ofName(Name.name, catalogue[.fieldNameHint], catalogue),
                connectorField(connectors, .iosHTTP2), urlField(connectors),
                FormField(
                    name: Name.environment,
                    label: catalogue[.factEnvironment],
                    kind: .choice(environments),
                    hint: catalogue[.accountEnvironmentHint],
                    value: ApplicationEnvironment.production.rawValue
                ),
                FormField(
                    name: Name.host,
                    label: catalogue[.fieldHost],
                    kind: .text,
                    hint: catalogue[.fieldHostHint],
                    maxLength: 253
                ),
                FormField(name: Name.port, label: catalogue[.fieldPort], kind: .text, maxLength: 5),
                authoritiesField(""),
            ],
            button: catalogue[.newAccountButton]
        )
    }

    private func connectorField(_ connectors: [Connector], _ chosen: Connector) -> FormField {
        FormField(
            name: Name.connector,
            label: catalogue[.factConnector],
            kind: .choice(connectors.map { FormOption($0.rawValue, "\($0.rawValue): \(meaning($0))") }),
            isRequired: true,
            value: chosen.rawValue
        )
    }

    /// The field for Adobe Campaign's URL of a connector.
    private func urlField(_ connectors: [Connector]) -> FormField {
        FormField(
            name: Name.url,
            label: catalogue[.fieldAccessURL],
            kind: .text,
            hint: catalogue.text(.accessURLHint, connectors.compactMap(ConnectorAlias.url).joined(separator: ", "))
        )
    }

    private func authoritiesField(_ value: String) -> FormField {
        FormField(
            name: Name.authorities,
            label: catalogue[.factAuthorities],
            kind: .text,
            hint: catalogue[.authoritiesHint],
            value: value,
            maxLength: Self.maxPathLength
        )
    }

    /// The connector that the access URL names, if there is one, or else the chosen one.
    private func connector(_ call: ConsoleCall) throws(FormRefusal) -> Connector {
        let url = call.typed(Name.url)
        if !url.isEmpty {
            guard let connector = ConnectorAlias.connector(url: url) else {
                let known = ConnectorAlias.known.joined(separator: ", ")
                throw FormRefusal([Name.url: catalogue.text(.accessURLWrong, known)])
            }
            return connector
        }
        guard let connector = Connector(rawValue: call.typed(Name.connector)) else {
            throw FormRefusal([Name.connector: catalogue[.connectorMissing]])
        }
        return connector
    }

    /// The file of certificate authorities; nil for none. It is on the sending hosts, so only the form of its path
    /// can be checked here.
    private func authorities(_ call: ConsoleCall) throws(FormRefusal) -> String? {
        let path = call.typed(Name.authorities)
        guard !path.isEmpty else { return nil }
        guard path.hasPrefix("/"), !path.hasSuffix("/"), path.utf8.count <= Self.maxPathLength,
            path.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { throw FormRefusal([Name.authorities: catalogue[.authoritiesWrong]]) }
        return path
    }

    private func add(_ call: ConsoleCall) async throws -> ConsoleReply {
        try await form.reply(to: call) {
            let (connector, address) = try address(call)
            let name = call.typed(Name.name)
            var options = AccountOptionValues()
            options.authorities = try authorities(call)
            let json = options.json(connector)
            try await responder.database.run {
                try await $0.declareAccount(
                    name: name,
                    connector: connector,
                    host: address.host,
                    port: Int32(address.port),
                    options: json,
                    by: call.actor
                )
            }
            return .redirect(Self.path + "?done=account&\(ConsoleRoute.added)=\(SignIn.encoded(name))")
        }
    }

    /// The connector, and the typed address or else the gateway's own.
    private func address(_ call: ConsoleCall) throws(FormRefusal) -> (Connector, GatewayAddress) {
        let environment = ApplicationEnvironment(rawValue: call.typed(Name.environment)) ?? .production
        let connector = try connector(call)
        guard
            var address = GatewayAddress.standard(
                connector,
                connector.platform == .android ? .production : environment
            )
        else { throw FormRefusal([Name.connector: catalogue[.connectorMissing]]) }
        if !call.typed(Name.host).isEmpty { address.host = call.typed(Name.host) }
        if !call.typed(Name.port).isEmpty { address.port = try port(call, Name.port, mayBeEmpty: true) }
        try check(address, connector)
        return (connector, address)
    }

    /// - Parameter mayBeEmpty: whether an empty field means the gateway's own port.
    private func port(_ call: ConsoleCall, _ name: String, mayBeEmpty: Bool) throws(FormRefusal) -> Int {
        guard let port = Int(call.typed(name)), (1...65_535).contains(port) else {
            throw FormRefusal([name: catalogue[mayBeEmpty ? .portWrong : .portMissing]])
        }
        return port
    }

    /// Refuses an address where no gateway of the connector listens.
    private func check(_ address: GatewayAddress, _ connector: Connector) throws(FormRefusal) {
        do throws(GatewayHostError) {
            _ = try GatewayHost(address.host)
        } catch {
            throw FormRefusal([Name.host: "\(catalogue[.fieldHost]): \(error)."])
        }
        if let problem = address.problem(connector) { throw FormRefusal([Name.host: problem + "."]) }
        if address.isClosed(connector) { throw FormRefusal([Name.host: catalogue[.binaryClosed]]) }
    }
}

/// The page of one account, and changing it.
extension AccountPages {
    private func show(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.smallID()
        let (account, rate, applications) = try await responder.database.run { store in
            (
                try await store.account(id), try await store.accountVersion(id).messagesPerSecond,
                try await store.applications(account: id, limit: Self.maxApplications)
            )
        }
        let options = AccountOptionValues(account)
        var facts: [(Phrase, String)] = [
            (.factConnector, "\(account.connector.rawValue): \(meaning(account.connector))"),
            (.fieldAccessURL, ConnectorAlias.url(account.connector) ?? ""),
            (.factGateway, GatewayAddress(host: account.host, port: Int(account.port)).description),
            (.columnState, catalogue[account.active ? .accountActive : .accountPaused]),
        ]
        if AccountOption.connections.isKnown(to: account.connector) {
            facts.append((.fieldConnections, options.connections.map(String.init) ?? catalogue[.bySetting]))
        }
        if let host = options.feedbackHost { facts.append((.fieldFeedbackHost, host)) }
        if let port = options.feedbackPort { facts.append((.fieldFeedbackPort, "\(port)")) }
        facts.append((.fieldRate, rate.map(RateNumber.shown) ?? catalogue[.noLimit]))
        facts.append((.factAuthorities, options.authorities ?? catalogue[.bySetting]))
        var values: PageValues = [
            "id": .text("\(id)"), "mayDeclare": .flag(call.mayDeclare), "isPaused": .flag(!account.active),
            "facts": .list(facts.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }),
            "applications": .list(
                applications.map { row in
                    ["name": .text(row.name), "path": .text(ApplicationPage.path("\(row.id)"))]
                }
            ),
            "hasApplications": .flag(!applications.isEmpty),
        ]
        if options.authorities != nil {
            values["authorities"] = .text(catalogue[.authoritiesNote])
        }
        if call.query["done"] == "changed" { values["done"] = .text(catalogue[.accountChanged]) }
        return .page(ConsolePage("account", title: account.name, values))
    }

    private typealias Version = (version: Int64, messagesPerSecond: Double?)

    private func changeable(_ call: ConsoleCall) async throws -> (AccountRow, Version) {
        let id = try call.smallID()
        // Read the version first, so that a change made during this read is detected when the form is saved.
        return try await responder.database.run { store in
            let version = try await store.accountVersion(id)
            return (try await store.account(id), version)
        }
    }

    private func changeForm(_ account: AccountRow, _ version: Version) -> FormPage {
        let options = AccountOptionValues(account)
        func line(_ name: String, _ label: Phrase, _ hint: Phrase, _ value: String, maxLength: Int = 5) -> FormField {
            var field = FormField(name: name, label: catalogue[label], kind: .text, hint: catalogue[hint], value: value)
            field.maxLength = maxLength
            return field
        }
        let own = ApplicationEnvironment.allCases.reversed().compactMap {
            GatewayAddress.standard(account.connector, $0)?.description
        }
        let connectors = Connector.allCases.filter { $0.platform == account.connector.platform }
        var fields = [
            connectorField(connectors, account.connector), urlField(connectors),
            FormField(
                name: Name.host,
                label: catalogue[.fieldHost],
                kind: .text,
                hint: catalogue.text(
                    .hostChangeHint,
                    own.reduce(into: []) { $0 += $0.contains($1) ? [] : [$1] }.joined(separator: ", ")
                ),
                isRequired: true,
                value: account.host,
                maxLength: 253
            ),
            FormField(
                name: Name.port,
                label: catalogue[.fieldPort],
                kind: .text,
                isRequired: true,
                value: "\(account.port)",
                maxLength: 5
            ),
        ]
        if AccountOption.connections.isKnown(to: account.connector) {
            let value = options.connections.map(String.init) ?? ""
            fields.append(line(Name.connections, .fieldConnections, .connectionsHint, value, maxLength: 3))
        }
        if AccountOption.feedbackHost.isKnown(to: account.connector) {
            let port = options.feedbackPort.map(String.init) ?? ""
            fields.append(
                line(Name.feedbackHost, .fieldFeedbackHost, .feedbackHint, options.feedbackHost ?? "", maxLength: 253)
            )
            fields.append(line(Name.feedbackPort, .fieldFeedbackPort, .feedbackHint, port))
        }
        fields.append(authoritiesField(options.authorities ?? ""))
        fields.append(RateField.field(Name.rate, catalogue, version.messagesPerSecond))
        fields.append(
            FormField(
                name: Name.state,
                label: catalogue[.columnState],
                kind: .choice([
                    FormOption("", catalogue[.accountActive]), FormOption(Self.paused, catalogue[.accountPaused]),
                ]),
                hint: catalogue[.stateHint],
                value: account.active ? "" : Self.paused
            )
        )
        let path = "\(Self.path)/\(account.id)"
        return FormPage(
            title: catalogue.text(.changeTitle, account.name),
            action: path + "/change",
            back: (path, account.name),
            intro: catalogue[.changeAccountText],
            fields: fields,
            hidden: [Name.version: "\(version.version)"],
            button: catalogue[.save]
        )
    }

    private func change(_ call: ConsoleCall) async throws -> ConsoleReply {
        let (account, version) = try await changeable(call)
        return try await changeForm(account, version).reply(to: call) {
            let (wanted, rate) = try wanted(call, account)
            try await checkCredentials(account, wanted.connector)
            let names = try await responder.database.run { store in
                try await store.applications().filter { application in
                    application.accountID == account.id && RouteCheck.problem(application, wanted) != nil
                        && RouteCheck.problem(application, account) == nil
                }.map(\.name)
            }
            if !names.isEmpty {
                let list = names.prefix(5).joined(separator: ", ")
                throw FormRefusal([Name.host: catalogue.text(.hostOfOthers, wanted.host, list)])
            }
            try await responder.database.run {
                try await $0.changeAccount(
                    wanted,
                    version: Int64(call.typed(Name.version)) ?? 0,
                    messagesPerSecond: rate,
                    by: call.actor
                )
            }
            return .redirect("\(Self.path)/\(account.id)?done=changed")
        }
    }

    /// Refuses a connector that cannot use the credentials of the account's applications.
    private func checkCredentials(_ account: AccountRow, _ connector: Connector) async throws {
        guard connector != account.connector else { return }
        let unfit = try await responder.database.run { store in
            var names: [String] = []
            for application in try await store.applications() where application.accountID == account.id {
                guard let id = application.credentialID, let facts = try await store.credentialFacts(id) else {
                    continue
                }
                if !facts.kind.suits(connector) { names.append(application.name) }
            }
            return names
        }
        guard !unfit.isEmpty else { return }
        let list = unfit.prefix(5).joined(separator: ", ")
        throw FormRefusal([Name.connector: catalogue.text(.connectorUnfit, connector.rawValue, list)])
    }

    /// The typed address. If the form still shows the old connector's own gateway, it is replaced by the new
    /// connector's.
    private func address(_ call: ConsoleCall, of account: AccountRow, _ connector: Connector) throws(FormRefusal)
        -> GatewayAddress
    {
        let before = GatewayAddress(host: account.host, port: Int(account.port))
        let typed = GatewayAddress(
            host: GatewayHost.comparable(call.typed(Name.host)),
            port: try port(call, Name.port, mayBeEmpty: false)
        )
        let isElsewhere =
            GatewayAddress.standard(connector, .production) != GatewayAddress.standard(account.connector, .production)
        guard typed == before, isElsewhere else { return typed }
        let own = ApplicationEnvironment.allCases.first {
            GatewayAddress.standard(account.connector, $0)?.host == before.host
        }
        // A stand-in for one gateway does not replace the other one.
        guard let own, let address = GatewayAddress.standard(connector, own) else {
            throw FormRefusal([Name.host: catalogue.text(.hostOfConnector, account.connector.rawValue)])
        }
        return address
    }

    /// The account as typed, and its rate.
    private func wanted(_ call: ConsoleCall, _ account: AccountRow) throws(FormRefusal) -> (AccountRow, Double?) {
        let connector = try connector(call)
        guard connector.platform == account.connector.platform else {
            let field = call.typed(Name.url).isEmpty ? Name.connector : Name.url
            throw FormRefusal([field: catalogue[.connectorOfOther]])
        }
        let address = try address(call, of: account, connector)
        // Faults in the stored address are not the concern of this form.
        if connector != account.connector || address != GatewayAddress(host: account.host, port: Int(account.port)) {
            try check(address, connector)
        }
        var options = AccountOptionValues(account)
        options.authorities = try authorities(call)
        if !call.typed(Name.connections).isEmpty {
            guard let count = Int(call.typed(Name.connections)), AccountOption.connectionLimit.contains(count) else {
                throw FormRefusal([Name.connections: catalogue[.connectionsWrong]])
            }
            options.connections = count
        } else {
            options.connections = nil
        }
        let feedback = call.typed(Name.feedbackHost)
        if !feedback.isEmpty, (try? GatewayHost(feedback)) == nil {
            throw FormRefusal([Name.feedbackHost: catalogue[.hostWrong]])
        }
        options.feedbackHost = feedback.isEmpty ? nil : GatewayHost.comparable(feedback)
        options.feedbackPort =
            call.typed(Name.feedbackPort).isEmpty ? nil : try port(call, Name.feedbackPort, mayBeEmpty: true)
        let typed = call.typed(Name.rate)
        let rate = RateField.value(typed)
        if rate == .wrong { throw FormRefusal([Name.rate: RateField.problem(typed, catalogue)]) }
        let wanted = AccountRow(
            id: account.id,
            name: account.name,
            connector: connector,
            host: address.host,
            port: Int32(address.port),
            options: options.json(connector),
            active: call.typed(Name.state) != Self.paused
        )
        return (wanted, rate.messagesPerSecond)
    }
}

/// The options of an external account, as the forms use them.
private struct AccountOptionValues: Codable {
    /// A path on the hosts where its children run.
    var authorities: String?
    var connections: Int?
    var feedbackHost: String?
    var feedbackPort: Int?

    private enum CodingKeys: String, CodingKey {
        case authorities = "ca_file"
        case connections
        case feedbackHost = "feedback_host"
        case feedbackPort = "feedback_port"
    }

    /// No options: the settings apply.
    init() {}

    /// The options of an account; none if they are stored in a form that this program does not know.
    init(_ account: AccountRow) {
        self = (try? JSONBody.decode(Self.self, from: account.options.utf8)) ?? Self()
    }

    /// The JSON that the database stores, with only the options that the connector has.
    func json(_ connector: Connector) -> String {
        let text = (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        return AccountOption.fitting(json: text, connector: connector)
    }
}
