import ArgumentParser

struct BenchWebCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "Measure the web process: receipts, new and repeated registrations; with nginx for comparison.",
        discussion: """
            Everything runs on this machine, as for `bench delivery`. 200,000 messages are sent first, so that there \
            are messages to report receipts of. wrk makes each kind of request for some seconds, and finally requests \
            to an nginx that returns empty answers. Needs wrk and nginx (Debian: wrk, nginx-light). Exit status 1 if \
            an answer was not 200.
            """
    )

    @Option(help: "The number of connections that wrk keeps open.")
    var connections = 256

    @Option(help: "The duration of each of the four runs, in seconds.")
    var seconds = 8

    @Flag(help: "Print one line of JSON at the end.")
    var json = false

    func validate() throws {
        guard (1...10_000).contains(connections), (1...3_600).contains(seconds) else {
            throw ValidationError("Give --connections from 1 to 10000 and --seconds from 1 to 3600.")
        }
    }

    func run() async throws {
        try await BenchCommand.show(json: json) {
            try await WebBench(site: BenchCommand.site(), connections: connections, seconds: seconds).run()
        }
    }
}
