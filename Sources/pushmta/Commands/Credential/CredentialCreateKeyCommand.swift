import ArgumentParser

/// `pushmta credential create-key FILE`.
struct CredentialCreateKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create-key",
        abstract: "Make the key under which credentials are sealed."
    )

    @Argument(help: "The file; it must not exist yet.")
    var file: String

    func run() async throws {
        do {
            try CredentialKeyFile.create(at: file)
            StandardOutput.line(
                "The key is in \(file). Name it in the setting credentialKeyFile, copy it to every host, keep it safe."
            )
        } catch {
            throw CommandFailure.report(error)
        }
    }
}
