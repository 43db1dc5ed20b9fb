import ArgumentParser
import Foundation

struct BenchAllCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "all",
        abstract:
            "Run every bench with the default settings, and print one table with the machine, the versions and the "
            + "settings.",
        discussion: """
            Takes about ten minutes at full size. Deliveries run with latencies of 0, 50 and 200 ms and with a \
            long-tailed one. They run in ascending and then in descending order, so that a machine that slows down \
            does not favour one. Needs wrk, nginx, nghttpd, h2load and openssl. Exit status 1 if a bench lost \
            something.
            """
    )

    @Option(help: "The number of messages in each delivery; the other benches scale with it.")
    var messages: Int64 = 1_000_000

    @Option(help: "Write a chart of the rates (SVG) to this file.")
    var svg: String?

    @Flag(help: "Print one line of JSON at the end.")
    var json = false

    func validate() throws {
        guard (10_000...100_000_000).contains(messages) else {
            throw ValidationError("--messages is \(messages): give a number from 10000 to 100000000.")
        }
    }

    func run() async throws {
        try await BenchCommand.show(json: json) {
            let report = try await BenchAll(messages: messages).run()
            if let svg { try report.chart.write(toFile: svg, atomically: true, encoding: .utf8) }
            return report
        }
    }
}
