import ArgumentParser
import Foundation
import PushCore

/// `pushmta bench delivery`.
struct BenchDeliveryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delivery",
        abstract: "Measure a delivery from its start to the last stored outcome.",
        discussion: """
            Everything runs on this machine: a private PostgreSQL cluster with durability on (or the database that you name), the \
            gateway simulator, a supervisor and its children. Tokens are random, two fields are personalised, preparation is \
            included. Exit status 1 if not every message was sent.
            """
    )

    @Option(help: "The number of messages.")
    var messages: Int64 = 1_000_000

    @Option(help: "The platform: ios measures APNs, android FCM.")
    var platform = Platform.ios

    @Option(help: "The connector instead of the platform's usual one: ios-http2, ios-binary, android-v1 or android-v2.")
    var connector: Connector?

    @Option(
        help: """
            What the connector proves itself with instead of its usual credential: key, certificate, service-account, or \
            project-key for FCM's legacy protocol.
            """
    )
    var credential: TrialRoute.Proof?

    @Flag(help: "No personalisation and no tracking, so that legacy FCM can share requests among messages.")
    var equal = false

    @Option(help: "An error packet of the binary gateway every so many messages; the messages that it is about fail.")
    var errorEvery: Int64?

    @Option(help: "The most MTA children.")
    var children = 1

    @Option(
        help: """
            Readers that keep a REPEATABLE READ transaction open on the database, with a snapshot from before the start, and \
            read a little now and then.
            """
    )
    var readers = 0

    @Option(
        help:
            "A database to use instead of a private cluster: a libpq connection string or URI. It must be empty or ours."
    )
    var database: String?

    @Flag(help: "Print one line of JSON at the end.")
    var json = false

    func validate() throws {
        guard (1...100_000_000).contains(messages) else {
            throw ValidationError("--messages is \(messages): give a number from 1 to 100000000.")
        }
        guard (1...64).contains(children) else {
            throw ValidationError("--children is \(children): give a number from 1 to 64.")
        }
        guard let route else {
            throw ValidationError(
                "--credential is \(credential?.rawValue ?? ""): the connector takes "
                    + TrialRoute.Proof.all(chosen).map(\.rawValue).joined(separator: " or ") + "."
            )
        }
        if let errorEvery, errorEvery < 1 || route.connector != .iosBinary {
            throw ValidationError("--error-every is for --connector ios-binary: give a number from 1 on.")
        }
        guard (0...32).contains(readers) else {
            throw ValidationError("--readers is \(readers): give a number from 0 to 32.")
        }
    }

    private var chosen: Connector { connector ?? TrialRoute.usual(platform).connector }

    private var route: TrialRoute? { TrialRoute(chosen, credential) }

    func run() async throws {
        do {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushmta-bench-\(getpid())").path
            let bench = DeliveryBench(
                site: try TrialSite(folder: folder),
                database: database,
                messages: messages,
                route: route ?? .usual(platform),
                isEqual: equal,
                errorEvery: errorEvery,
                children: children,
                readers: readers
            )
            guard let report = try await UntilSignal.run({ try await bench.run() }) else {
                throw CommandFailure(.negative, "The bench was interrupted.")
            }
            StandardOutput.line(json ? report.json : report.text)
            guard report.isComplete else { throw ExitCode(CommandFailure.Code.negative.rawValue) }
        } catch {
            throw CommandFailure.report(error)
        }
    }
}
