import ArgumentParser

/// `pushmta key`.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Keys of the API that the web process has at /api/v1.",
        subcommands: [KeyCreateCommand.self, KeyListCommand.self, KeyRevokeCommand.self]
    )
}
