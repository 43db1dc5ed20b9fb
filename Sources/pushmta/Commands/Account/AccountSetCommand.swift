import ArgumentParser
import Store

/// `pushmta account set NAME …`: changes what is given and leaves the rest.
struct AccountSetCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change an external account; what is not given stays."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The account's name.")
    var name: String

    @Option(help: "The gateway's host.")
    var host: String?

    @Option(help: "The gateway's port.")
    var port: Int32?

    @Flag(inversion: .prefixedEnableDisable, help: "Whether parts may be sent through it.")
    var active: Bool?

    @OptionGroup var options: AccountOptions

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            let accounts = try await store.accounts()
            guard let account = accounts.first(where: { $0.name == name }) else {
                throw CommandFailure.unknownName(
                    "external account",
                    name,
                    among: accounts.map(\.name),
                    list: "account list"
                )
            }
            try await store.setAccount(
                name: name,
                host: host,
                port: port,
                options: options.isEmpty ? nil : options.json(merging: account.options),
                active: active
            )
        }
        StandardOutput.line("Account \(name) is changed. Children take it up when they start next.")
    }
}
