import ArgumentParser

/// `pushmta supervisor`: without a subcommand it runs the supervisor.
struct SupervisorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "supervisor",
        abstract: "Run the supervisor of this host, or let one end in order.",
        subcommands: [SupervisorRunCommand.self, SupervisorDrainCommand.self],
        defaultSubcommand: SupervisorRunCommand.self
    )
}
