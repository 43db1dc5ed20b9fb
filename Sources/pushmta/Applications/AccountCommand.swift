import Administration
import ArgumentParser
import Foundation
import Gateways
import MTAChild
import PushCore
import Store

struct AccountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account",
        abstract: "External accounts: how deliveries reach a gateway.",
        subcommands: [AccountAddCommand.self, AccountListCommand.self, AccountSetCommand.self]
    )
}

/// `pushmta account add NAME --connector …`.
struct AccountAddCommand: SentenceCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add an external account.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "Its name in commands and SQL, unique.")
    var name: String

    @OptionGroup var connector: ConnectorOptions

    @Option(help: "The gateway's environment, for a gateway with two: production or sandbox.")
    var environment = ApplicationEnvironment.production

    @Option(help: "The host of the gateway or of a stand-in (default: the gateway's own).")
    var host: String?

    @Option(help: "The port (default: the gateway's own; Apple's HTTP/2 gateway also listens on 2197).")
    var port: Int32?

    @OptionGroup var options: AccountOptions

    func validate() throws {
        guard connector.chosen != nil else {
            throw ValidationError("Missing expected argument '--connector <connector>' or '--url <url>'")
        }
        if environment == .sandbox, connector.chosen?.platform == .android {
            throw ValidationError("--environment sandbox is for Apple's gateways: Google has a single one.")
        }
        if let problem = host.flatMap({ AccountAddress.problem($0, option: "--host") }) {
            throw ValidationError(problem)
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        guard let connector = connector.chosen, let address = GatewayAddress.standard(connector, environment) else {
            throw CommandFailure(.data, "This connector has no gateway of its own: give --host and --port.")
        }
        let host = host ?? address.host
        let port = port ?? Int32(address.port)
        if let problem = GatewayAddress(host: host, port: Int(port)).problem(connector) {
            throw CommandFailure(.data, "\(problem): omit --host and --port to use the gateway's own address.")
        }
        let row = try await StoreSession.run(loaded.values) { store in
            try await store.createAccount(
                name: name,
                connector: connector,
                host: host,
                port: port,
                options: options.json(merging: nil)
            )
        }
        StandardOutput.line(
            "Account \(row.name) goes through \(row.connector.rawValue) to \(row.host):\(row.port).",
            [("name", .text(row.name))]
        )
        if let note = AccountAddress.note(connector, host: host) { StandardOutput.line(note) }
    }
}

/// `pushmta account set NAME …`: changes only what is given.
struct AccountSetCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change an external account; options that are not given keep their values.",
        discussion: """
            With another connector, an account that uses a gateway's own address moves to the own address of the new \
            connector's gateway. For an account that uses a stand-in, give the address of the new one. The command \
            fails if an application has a credential that the new connector does not accept. Deliveries under way \
            continue through the changed account.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The account's name.")
    var name: String

    @OptionGroup var connector: ConnectorOptions

    @Option(help: "Use the gateway's own address in this environment: production or sandbox.")
    var environment: ApplicationEnvironment?

    @Option(help: "The gateway's host.")
    var host: String?

    @Option(help: "The gateway's port.")
    var port: Int32?

    @Flag(inversion: .prefixedEnableDisable, help: "Whether deliveries may be sent through it.")
    var active: Bool?

    @OptionGroup var options: AccountOptions

    func validate() throws {
        if let problem = host.flatMap({ AccountAddress.problem($0, option: "--host") }) {
            throw ValidationError(problem)
        }
        guard options.isEmpty, connector.chosen == nil, environment == nil, host == nil, port == nil, active == nil
        else { return }
        throw ValidationError("There is nothing to change: give at least one option.")
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
            // Options that only the old connector had are dropped.
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
        StandardOutput.line("Account \(name) was changed.\(isMoved ? way : "") \(RouteNotice.children(of: "it"))")
        if isMoved || !options.isEmpty, let note = RouteNotice.text(underWay: underWay) { StandardOutput.line(note) }
        if isMoved, let note = AccountAddress.note(row.connector, host: row.host) { StandardOutput.line(note) }
    }

    /// The new address; nil if it does not change.
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
                "External account \(name) uses \(present), a gateway for connector \(account.connector.rawValue). Give the address of one for \(connector.rawValue) with --host and --port, or give --environment to use the gateway's own address."
            )
        }
        if let host { address.host = GatewayHost.comparable(host) }
        if let port { address.port = Int(port) }
        if let problem = GatewayAddress(host: address.host, port: address.port).problem(connector) {
            throw CommandFailure(
                .data,
                "\(problem): give --environment to use the gateway's own address, or another --host."
            )
        }
        return address == present ? nil : address
    }
}

struct AccountListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the external accounts.")

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.accounts() }
        var table = Table(["id", "name", "connector", "host", "port", "options", "active"])
        for row in rows {
            table.add([
                Cell(row.id), .text(row.name), .text(row.connector.rawValue), .text(row.host), Cell(row.port),
                .text(row.options), .flag(row.active),
            ])
        }
        table.show(json: json)
    }
}

/// The options of an external account, apart from its address.
struct AccountOptions: ParsableArguments {
    @Option(
        name: .customLong("ca-file"),
        help: "A PEM file of certificate authorities to trust instead of the default ones."
    )
    var certificateAuthorityFile: String?

    @Option(help: "Connections of one child to the gateway (default: the setting).")
    var connections: Int?

    @Option(help: "ios-binary: host of the feedback service (default: derived from the gateway's host).")
    var feedbackHost: String?

    @Option(help: "ios-binary: port of the feedback service (default: the gateway's port plus one).")
    var feedbackPort: Int?

    func validate() throws {
        if let feedbackPort, !(1...65_535).contains(feedbackPort) {
            throw ValidationError("--feedback-port is \(feedbackPort): give a number from 1 to 65535.")
        }
        if let problem = feedbackHost.flatMap({ AccountAddress.problem($0, option: "--feedback-host") }) {
            throw ValidationError(problem)
        }
        if let file = certificateAuthorityFile { try Self.checkAuthorities(file) }
        if let connections, !(1...100).contains(connections) {
            throw ValidationError("--connections is \(connections): give a number from 1 to 100.")
        }
    }

    /// Whether any option was given.
    var isEmpty: Bool {
        certificateAuthorityFile == nil && connections == nil && feedbackHost == nil && feedbackPort == nil
    }

    /// The options as the database stores them. Those that were not given keep their values from `earlier`.
    func json(merging earlier: String?) -> String {
        let known = earlier.flatMap { try? JSONBody.decode(Stored.self, from: $0.utf8) } ?? Stored()
        var pairs: [(String, Cell)] = []
        if let file = certificateAuthorityFile.map(Self.absolutePath) ?? known.caFile {
            pairs.append(("ca_file", .text(file)))
        }
        if let count = connections ?? known.connections { pairs.append(("connections", Cell(count))) }
        if let host = feedbackHost.map(GatewayHost.comparable) ?? known.feedbackHost {
            pairs.append(("feedback_host", .text(host)))
        }
        if let port = feedbackPort ?? known.feedbackPort { pairs.append(("feedback_port", Cell(port))) }
        return Cell.object(pairs).json
    }

    /// A file without a certificate authority would make the first delivery fail.
    private static func checkAuthorities(_ file: String) throws {
        do {
            let pem = try SmallFile.contents(file, "file of certificate authorities", "give the path of a PEM file")
            try CertificateAuthorities.check(Array(pem))
        } catch let error as GatewayCredentialError {
            throw ValidationError("--ca-file \(file): \(error)")
        } catch {
            throw ValidationError("--ca-file: \(error)")
        }
    }

    /// Children run in another folder than the one in which the option was typed.
    private static func absolutePath(_ path: String) -> String {
        URL(fileURLWithPath: path).standardizedFileURL.path
    }

    private struct Stored: Decodable {
        var caFile: String?
        var connections: Int?
        var feedbackHost: String?
        var feedbackPort: Int?

        enum CodingKeys: String, CodingKey {
            case caFile = "ca_file"
            case connections
            case feedbackHost = "feedback_host"
            case feedbackPort = "feedback_port"
        }
    }
}

/// The connector, by its name or by Adobe Campaign's address for it.
struct ConnectorOptions: ParsableArguments {
    @Option(
        help: "The connector that talks to the gateway: \(Connector.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    var connector: Connector?

    @Option(
        help: ArgumentHelp(
            "Adobe Campaign's address of a connector, instead of --connector; only its path matters.",
            discussion: ConnectorAlias.known.joined(separator: "\n")
        )
    )
    var url: String?

    func validate() throws {
        guard let url else { return }
        guard connector == nil else { throw ValidationError("Give --connector or --url, not both.") }
        guard ConnectorAlias.connector(url: url) != nil else {
            throw ValidationError(
                "--url is not the address of a connector: use \(ConnectorAlias.known.joined(separator: ", ")), or --connector."
            )
        }
    }

    /// The connector; nil if none was named.
    var chosen: Connector? { connector ?? url.flatMap(ConnectorAlias.connector) }
}

/// Checks of an account's address that need no connection.
enum AccountAddress {
    /// What is wrong with a typed host, naming its option; nil if nothing is wrong.
    static func problem(_ host: String, option: String) -> String? {
        // A user who copies from Adobe's external account may paste this address.
        guard ConnectorAlias.connector(url: host) == nil else {
            return "\(option) is Adobe Campaign's address of a connector: give it with --url."
        }
        do {
            _ = try GatewayHost(host)
            return nil
        } catch {
            return "\(option) is not a host: \(error)."
        }
    }

    /// The environment whose gateway has this address; nil for any other address. Such an account gets another
    /// address with another connector.
    static func environment(_ connector: Connector, host: String, port: Int) -> ApplicationEnvironment? {
        ApplicationEnvironment.allCases.reversed().first { environment in
            guard let address = GatewayAddress.standard(connector, environment) else { return false }
            return address.host == GatewayHost.comparable(host)
                && (address.port == port || GatewayAddress.ports(connector).contains(port))
        }
    }

    /// Whether two connectors talk to different gateways, so that a stand-in for one does not work for the other.
    static func isElsewhere(_ connector: Connector, than other: Connector) -> Bool {
        GatewayAddress.standard(connector, .production) != GatewayAddress.standard(other, .production)
    }

    /// A notice about a connector, shown when an account gets it.
    static func note(_ connector: Connector, host: String) -> String? {
        guard GatewayAddress(host: host).isClosed(connector),
            let remark = GatewayRegistry.standard.kind(of: connector)?.remark
        else { return nil }
        return "\(remark). Name another gateway with --host."
    }
}
