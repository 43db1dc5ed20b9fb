import ArgumentParser

struct BenchPrepareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prepare",
        abstract: "Measure the preparation of a delivery whose filter chooses a fifth of all subscriptions.",
        discussion: """
            Everything runs on this machine, as for `bench delivery`. The delivery is limited to one message a second, \
            so that almost nothing is sent. Exit status 1 if the filter chose the wrong number of subscriptions. With \
            --caps it prepares three such deliveries: one without frequency caps, one under two caps, with a history \
            of 180 days, and one without them again.
            """
    )

    @Option(help: "The number of subscriptions.")
    var subscriptions: Int64 = 5_000_000

    @Flag(help: "Compare with a delivery under two frequency caps: 6 messages in 7 days, 14 in 30 days.")
    var caps = false

    @Flag(help: "Print one line of JSON at the end.")
    var json = false

    func validate() throws {
        guard (1_000...100_000_000).contains(subscriptions) else {
            throw ValidationError("--subscriptions is \(subscriptions): give a number from 1000 to 100000000.")
        }
    }

    func run() async throws {
        try await BenchCommand.show(json: json) {
            try await PrepareBench(site: BenchCommand.site(), subscriptions: subscriptions, hasCaps: caps).run()
        }
    }
}
