import ArgumentParser

/// `pushmta drill`.
struct DrillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drill",
        abstract: "Prove on this machine that nothing is lost, whatever dies.",
        subcommands: [DrillListCommand.self, DrillRunCommand.self]
    )
}
