import ArgumentParser

/// `pushmta config`.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Check or show the settings.",
        subcommands: [ConfigCheckCommand.self, ConfigShowCommand.self]
    )
}
