import ArgumentParser

/// `pushmta app`.
struct ApplicationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Applications: a service on one platform and environment.",
        subcommands: [
            ApplicationAddCommand.self, ApplicationListCommand.self, ApplicationSetCommand.self,
            ApplicationShowCommand.self, ApplicationResumeCommand.self, ApplicationTestCommand.self,
        ],
        aliases: ["application"]
    )
}
