import ArgumentParser

/// `pushmta credential`.
struct CredentialCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential",
        abstract: "Credentials for the gateways, sealed in the database.",
        subcommands: [
            CredentialCreateKeyCommand.self, CredentialSetCommand.self, CredentialListCommand.self,
            CredentialRotateKeyCommand.self,
        ]
    )
}
