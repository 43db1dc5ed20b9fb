import ArgumentParser

/// `pushmta seed`.
struct SeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seed",
        abstract: "Seed addresses: who gets proofs of deliveries.",
        subcommands: [SeedAddCommand.self, SeedListCommand.self, SeedRemoveCommand.self]
    )
}
