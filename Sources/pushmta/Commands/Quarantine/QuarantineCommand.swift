import ArgumentParser

/// `pushmta quarantine`.
struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "What gateways said about push tokens: see it, and take it back where it was a mistake.",
        subcommands: [QuarantineListCommand.self, QuarantineUndoCommand.self]
    )
}
