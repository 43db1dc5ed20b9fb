import ArgumentParser
import Gateways
import PushCore
import Store

/// `pushmta account set NAME …`: changes what is given and leaves the rest.
struct AccountSetCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change an external account; what is not given stays.",
        discussion: """
            With another connector an account at a gateway's own address goes to the own address of the new connector's gateway. \
            Where the new gateway of a stand-in's account is has to be said. Applications whose credential the new connector does not \
            take keep the account from being changed. Deliveries under way go on over the account as it is then.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The account's name.")
    var name: String

    @OptionGroup var connector: ConnectorOptions

    @Option(help: "Go to the gateway's own address in this environment: production or sandbox.")
    var environment: ApplicationEnvironment?

    @Option(help: "The gateway's host.")
    var host: String?

    @Option(help: "The gateway's port.")
    var port: Int32?

    @Flag(inversion: .prefixedEnableDisable, help: "Whether parts may be sent through it.")
    var active: Bool?

    @OptionGroup var options: AccountOptions

    func validate() throws {
        if let problem = host.flatMap({ AccountAddress.problem($0, option: "--host") }) {
            throw ValidationError(problem)
        }
        guard options.isEmpty, connector.chosen == nil, environment == nil, host == nil, port == nil, active == nil
        else { return }
        throw ValidationError("Nothing is to be changed: give at least one option.")
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let (row, address, underWay) = try await StoreSession.run(loaded.values) { store in
            let accounts = try await store.accounts()
            guard let account = accounts.first(where: { $0.name == name }) else {
                throw CommandFailure.unknownName(
                    "external account",
                    name,
                    among: accounts.map(\.name),
                    list: "account list"
                )
            }
            let address = try self.address(of: account)
            if let wanted = connector.chosen { try await CredentialFit.require(wanted, of: account, store) }
            // What only the earlier connector had does not come along.
            let earlier =
                connector.chosen.map { AccountOption.fitting(json: account.options, connector: $0) } ?? account.options
            let row = try await store.setAccount(
                name: name,
                connector: connector.chosen,
                host: address?.host,
                port: address.map { Int32(clamping: $0.port) },
                options: options.isEmpty ? nil : options.json(merging: earlier),
                active: active
            )
            return (row, address, try await store.deliveriesUnderWay(account: name))
        }
        let way = " It goes through \(row.connector.rawValue) to \(row.host):\(row.port)."
        let isMoved = address != nil || connector.chosen != nil
        StandardOutput.line("Account \(name) is changed.\(isMoved ? way : "") \(RouteNotice.children(of: "it"))")
        if isMoved || !options.isEmpty, let note = RouteNotice.text(underWay: underWay) { StandardOutput.line(note) }
        if isMoved, let note = AccountAddress.note(row.connector, host: row.host) { StandardOutput.line(note) }
    }

    /// The new address; nil if it stays.
    private func address(of account: AccountRow) throws -> GatewayAddress? {
        let connector = connector.chosen ?? account.connector
        let present = GatewayAddress(host: account.host, port: Int(account.port))
        var address = present
        let own = AccountAddress.environment(account.connector, host: present.host, port: present.port)
        let environment = environment ?? (connector == account.connector ? nil : own)
        if let environment, let standard = GatewayAddress.standard(connector, environment) { address = standard }
        if environment == nil, port == nil, AccountAddress.isElsewhere(connector, than: account.connector) {
            throw CommandFailure(
                .data,
                "External account \(name) goes to \(present), where a gateway of connector \(account.connector.rawValue) listens: say with --host and --port where one of \(connector.rawValue) does, or give --environment for the gateway's own address."
            )
        }
        if let host { address.host = GatewayHost.comparable(host) }
        if let port { address.port = Int(port) }
        if let problem = AccountAddress.problem(connector, host: address.host, port: address.port) {
            throw CommandFailure(
                .data,
                "\(problem): give --environment for the gateway's own address, or another --host."
            )
        }
        return address == present ? nil : address
    }
}
