import ArgumentParser

/// `pushmta quickstart`: what `Deploy/quickstart` runs after the build.
struct QuickstartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quickstart",
        abstract: "Send a sample delivery to simulated devices on this machine.",
        subcommands: [QuickstartRunCommand.self, QuickstartStopCommand.self],
        defaultSubcommand: QuickstartRunCommand.self
    )
}
