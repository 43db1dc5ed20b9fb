import ArgumentParser

/// `pushmta message`.
struct MessageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "message",
        abstract: "Single messages: add one to a continuous delivery, look one up.",
        subcommands: [MessageSendCommand.self, MessageShowCommand.self]
    )
}
