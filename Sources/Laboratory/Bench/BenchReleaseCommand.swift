import ArgumentParser

struct BenchReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Measure how soon after its start the first message of an analysed delivery arrives.",
        discussion: """
            Everything runs on this machine, as for `bench delivery`. Each round analyses a delivery, starts it, and \
            stops it when the simulator has its first message. At the first start no child runs. Before each other one, \
            a single message has made a child connect. Exit status 1 if a message did not arrive.
            """
    )

    @Option(help: "The number of messages in each delivery.")
    var messages: Int64 = 5_000_000

    @Option(help: "The number of starts with a connected child.")
    var rounds = 3

    @Flag(help: "Print one line of JSON at the end.")
    var json = false

    func validate() throws {
        guard (1_000...100_000_000).contains(messages), (1...100).contains(rounds) else {
            throw ValidationError("Give --messages from 1000 to 100000000, and --rounds from 1 to 100.")
        }
    }

    func run() async throws {
        try await BenchCommand.show(json: json) {
            try await ReleaseBench(site: BenchCommand.site(), messages: messages, rounds: rounds).run()
        }
    }
}
