import ArgumentParser

/// `pushmta mapping`.
struct MappingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mapping",
        abstract: "Target mappings: views in which a service's user keys reconcile with people.",
        subcommands: [MappingAddCommand.self, MappingListCommand.self, MappingShowCommand.self]
    )
}
