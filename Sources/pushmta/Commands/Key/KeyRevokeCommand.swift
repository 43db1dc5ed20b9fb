import ArgumentParser
import Store

/// `pushmta key revoke KEY`.
struct KeyRevokeCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke a key of the API.",
        discussion:
            "Web processes take a key for 5 seconds without asking the database again; after that it is refused."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "Its id, as pushmta key list shows it, or its name.")
    var key: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.revokeAPIKey(key) }
        StandardOutput.line("API key \(key) is revoked: it is refused within 10 seconds.")
    }
}
