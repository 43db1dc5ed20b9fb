import Gateways
import HTTPTypes
import PushCore
import Store

/// External accounts: the list, and declaring one.
struct AccountPages: Sendable {
    let responder: ConsoleResponder

    static let path = ServiceListPage.path + "/accounts"
    /// Rows of a page.
    private static let most = 50

    private var catalogue: Catalogue { responder.pages.catalogue }

    /// The names of the fields.
    private enum Name {
        static let name = "name"
        static let connector = "connector"
        static let environment = "environment"
        static let host = "host"
        static let port = "port"
    }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.read)) { try await list($0) },
            ConsoleRoute(.get, Self.path + "/new", .role(.admin)) { _ in form.reply() },
            ConsoleRoute(.post, Self.path + "/new", .role(.admin)) { try await add($0) },
        ]
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let after = call.query["after"] ?? ""
        // One more tells whether there are more.
        let accounts = try await responder.database.run {
            try await $0.accounts(after: after, most: Self.most + 1)
        }
        let rows = accounts.prefix(Self.most).map { account -> PageValues in
            [
                "name": .text(account.name), "connector": .text(account.connector.rawValue),
                "meaning": .text(meaning(account.connector)),
                "gateway": .text(GatewayAddress(host: account.host, port: Int(account.port)).description),
                "state": .text(catalogue[account.active ? .accountActive : .accountPaused]),
                "stateClass": .text(account.active ? "health-alive" : "fair"),
            ]
        }
        var values: PageValues = [
            "accounts": .list(Array(rows)), "hasAccounts": .flag(!rows.isEmpty), "mayDeclare": .flag(call.mayDeclare),
            "isLater": .flag(!after.isEmpty), "hasPages": .flag(!after.isEmpty || accounts.count > Self.most),
        ]
        if accounts.count > Self.most {
            let name = SignIn.encoded(accounts[Self.most - 1].name)
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
        let connectors: [Connector] = [.iosHTTP2, .androidV2, .androidV1, .iosBinary]
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
                FormField(
                    name: Name.connector,
                    label: catalogue[.factConnector],
                    kind: .choice(connectors.map { FormOption($0.rawValue, "\($0.rawValue): \(meaning($0))") }),
                    isRequired: true,
                    value: Connector.iosHTTP2.rawValue
                ),
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
                    most: 253
                ),
                FormField(name: Name.port, label: catalogue[.fieldPort], kind: .text, most: 5),
            ],
            button: catalogue[.newAccountButton]
        )
    }

    private func add(_ call: ConsoleCall) async throws -> ConsoleReply {
        try await form.reply(to: call) {
            let (connector, address) = try address(call)
            let name = call.typed(Name.name)
            try await responder.database.run {
                try await $0.declareAccount(
                    name: name,
                    connector: connector,
                    host: address.host,
                    port: Int32(address.port),
                    by: call.actor
                )
            }
            return .redirect(Self.path + "?done=account")
        }
    }

    /// The connector, and the address that was typed or else the gateway's own.
    private func address(_ call: ConsoleCall) throws -> (Connector, GatewayAddress) {
        let environment = ApplicationEnvironment(rawValue: call.typed(Name.environment)) ?? .production
        guard let connector = Connector(rawValue: call.typed(Name.connector)),
            var address = GatewayAddress.standard(
                connector,
                connector.platform == .android ? .production : environment
            )
        else { throw FormRefusal(words: catalogue[.connectorMissing]) }
        if !call.typed(Name.host).isEmpty { address.host = call.typed(Name.host) }
        if !call.typed(Name.port).isEmpty {
            guard let port = Int(call.typed(Name.port)), (1...65_535).contains(port) else {
                throw FormRefusal(words: catalogue[.portWrong])
            }
            address.port = port
        }
        if let problem = address.problem(connector) { throw FormRefusal(words: problem + ".") }
        if address.isClosed(connector) { throw FormRefusal(words: catalogue[.binaryClosed]) }
        return (connector, address)
    }
}
