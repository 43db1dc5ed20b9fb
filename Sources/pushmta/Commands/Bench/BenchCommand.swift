import ArgumentParser

/// `pushmta bench`.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure how fast this machine is.",
        subcommands: [BenchDeliveryCommand.self, BenchMessageCommand.self, BenchHTTP2Command.self]
    )
}
