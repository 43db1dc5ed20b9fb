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

    @OptionGroup var connector: ConnectorOptions

    @Option(help: "The environment whose gateway it is, where the gateway has two: production or sandbox.")
    var environment = ApplicationEnvironment.production

    @Option(help: "The gateway's host, or that of a stand-in (default: the gateway's own).")
    var host: String?

    @Option(help: "The gateway's port (default: the gateway's own; Apple's HTTP/2 gateway listens on 2197 too).")
    var port: Int32?

    @OptionGroup var options: AccountOptions

    func validate() throws {
        guard connector.chosen != nil else {
            throw ValidationError("Missing expected argument '--connector <connector>' or '--url <url>'")
        }
        if environment == .sandbox, connector.chosen?.platform == .android {
            throw ValidationError("--environment sandbox is for Apple's gateways: Google has one for everything.")
        }
        if let problem = host.flatMap({ AccountAddress.problem($0, option: "--host") }) {
            throw ValidationError(problem)
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        guard let connector = connector.chosen, let address = GatewayAddress.standard(connector, environment) else {
            throw CommandFailure(.data, "There is no gateway of this connector: name its --host and --port.")
        }
        let host = host ?? address.host
        let port = port ?? Int32(address.port)
        if let problem = AccountAddress.problem(connector, host: host, port: Int(port)) {
            throw CommandFailure(.data, "\(problem): leave --host and --port out for the gateway's own address.")
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
        StandardOutput.line("Account \(row.name) goes through \(row.connector.rawValue) to \(row.host):\(row.port).")
        if let note = AccountAddress.note(connector, host: host) { StandardOutput.line(note) }
    }
}
