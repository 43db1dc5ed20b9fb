import ArgumentParser
import Foundation

/// `pushmta bench message`.
struct BenchMessageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "message",
        abstract: "Measure how long a message takes from send_message to the gateway.",
        discussion: """
            Everything runs on this machine, as for `bench delivery`. Messages are added to a continuous delivery one after the \
            other, each after a random pause; the gateway notes when each arrives. With --bulk another delivery is sent \
            meanwhile, through the same children. Exit status 1 if a message did not arrive, or arrived twice.
            """
    )

    @Option(help: "The number of messages.")
    var messages = 500

    @Option(help: "The mean pause between two messages, in milliseconds.")
    var pause = 50

    @Option(help: "Messages of a delivery that runs meanwhile.")
    var bulk: Int64 = 0

    @Option(help: "The most MTA children.")
    var children = 1

    @Flag(help: "Print one line of JSON at the end.")
    var json = false

    func validate() throws {
        guard (1...100_000).contains(messages), (0...60_000).contains(pause), (0...100_000_000).contains(bulk),
            (1...64).contains(children)
        else {
            throw ValidationError(
                "Give --messages from 1 to 100000, --pause from 0 to 60000, --bulk from 0 to 100000000, --children from 1 to 64."
            )
        }
    }

    func run() async throws {
        do {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushmta-bench-\(getpid())").path
            let bench = MessageBench(
                site: try TrialSite(folder: folder),
                messages: messages,
                pause: .milliseconds(pause),
                bulk: bulk,
                children: children
            )
            guard let report = try await UntilSignal.run({ try await bench.run() }) else {
                throw CommandFailure(.negative, "The bench was interrupted.")
            }
            StandardOutput.line(json ? report.cell.json : report.text)
            guard report.isComplete else { throw ExitCode(CommandFailure.Code.negative.rawValue) }
        } catch {
            throw CommandFailure.report(error)
        }
    }
}
