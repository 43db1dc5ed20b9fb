import ArgumentParser
import Gateways
import PushCore
import Store

/// `pushmta account add NAME --connector …`.
struct AccountAddCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add an external account.")

    @OptionGroup var global: GlobalOptions

    @Argument(help: "Its name in commands and SQL, unique.")
    var name: String

    @Option(help: "What speaks to the gateway: \(AccountAddCommand.connectors).")
    var connector: Connector

    @Option(help: "The environment whose gateway it is, where the gateway has two: production or sandbox.")
    var environment = ApplicationEnvironment.production

    @Option(help: "The gateway's host, or that of a stand-in (default: the gateway's own).")
    var host: String?

    @Option(help: "The gateway's port (default: the gateway's own).")
    var port: Int32?

    @OptionGroup var options: AccountOptions

    /// The connectors that have a gateway.
    private static var connectors: String {
        Connector.allCases.filter { GatewayAddress.standard($0, .production) != nil }.map(\.rawValue).joined(
            separator: ", "
        )
    }

    func execute(_ loaded: LoadedSettings) async throws {
        guard let address = GatewayAddress.standard(connector, environment) else {
            throw CommandFailure(
                .data,
                "This version has no connector \(connector.rawValue): use one of \(Self.connectors)"
            )
        }
        let row = try await StoreSession.run(loaded.values) { store in
            try await store.createAccount(
                name: name,
                connector: connector,
                host: host ?? address.host,
                port: port ?? Int32(address.port),
                options: options.json(merging: nil)
            )
        }
        StandardOutput.line("Account \(row.name) goes through \(row.connector.rawValue) to \(row.host):\(row.port).")
    }
}
