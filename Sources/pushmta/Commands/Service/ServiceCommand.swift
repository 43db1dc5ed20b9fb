import ArgumentParser

/// `pushmta service`.
struct ServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Mobile application services: what marketing calls the app.",
        subcommands: [
            ServiceAddCommand.self, ServiceListCommand.self, ServiceSetCommand.self, ServiceShowCommand.self,
        ]
    )
}
