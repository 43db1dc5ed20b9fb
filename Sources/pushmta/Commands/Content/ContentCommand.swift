import ArgumentParser

/// `pushmta content`.
struct ContentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "content",
        abstract: "What the content of a delivery can say.",
        subcommands: [ContentSchemaCommand.self]
    )
}
