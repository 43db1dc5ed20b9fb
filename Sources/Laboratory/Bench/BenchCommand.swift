import Administration
import ArgumentParser
import Foundation
import PushCore

package struct BenchCommand: AsyncParsableCommand {
    package init() {}

    package static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure how fast this machine is.",
        subcommands: [
            BenchAllCommand.self, BenchDeliveryCommand.self, BenchMessageCommand.self, BenchPrepareCommand.self,
            BenchReleaseCommand.self,
            BenchWebCommand.self,
            BenchHTTP2Command.self,
        ]
    )
}

extension BenchCommand {
    /// The bench's own folder.
    static var folder: String {
        FileManager.default.temporaryDirectory.appendingPathComponent("pushmta-bench-\(getpid())").path
    }

    /// A site in the bench's own folder.
    static func site(hosts: Int = 1) throws -> TestSite {
        try TestSite(folder: folder, hosts: hosts)
    }

    /// Runs a bench and prints its report. It exits with status 1 if the report is not complete.
    static func show<Report: BenchReport>(json: Bool, _ run: @escaping @Sendable () async throws -> Report) async throws
    {
        do {
            guard let report = try await UntilSignal.run(run) else {
                throw CommandFailure(.negative, "The bench was interrupted.")
            }
            StandardOutput.line(json ? report.cell.json : report.text)
            guard report.isComplete else { throw ExitCode(CommandFailure.Code.negative.rawValue) }
        } catch {
            throw CommandFailure.report(error)
        }
    }
}

struct BenchDeliveryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delivery",
        abstract: "Measure a delivery from its start to the last stored outcome.",
        discussion: """
            Everything runs on this machine: a private PostgreSQL cluster with durability on (or your own database), \
            the gateway simulator, a supervisor and its children. Tokens are random, two fields are personalised, and \
            preparation is included. Exit status 1 if not every message was sent.
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
            The connector's credential instead of its usual one: key, certificate, service-account, or \
            project-key for FCM's legacy protocol.
            """
    )
    var credential: TestRoute.Proof?

    @Flag(help: "No personalisation and no tracking, so that legacy FCM can combine messages in a request.")
    var equal = false

    @Option(help: "Have the binary gateway send an error packet every N messages; the messages it names fail.")
    var errorEvery: Int64?

    @Option(help: "How long the gateways take to answer, in milliseconds: 50, 10-80, exp:40 or p50:80,p99:800.")
    var latency: String?

    @Option(help: "The maximum number of MTA children.")
    var children = 1

    @Option(
        help:
            "The number of hosts that share the work, each with its own supervisor, children and journals."
    )
    var hosts = 1

    @Option(help: "The simulated FCM project's quota in requests per minute; all hosts are configured with it.")
    var quota: Int?

    @Option(
        help: """
            The number of readers. Each holds a REPEATABLE READ transaction open, with a snapshot from before the \
            start, and reads a little from time to time.
            """
    )
    var readers = 0

    @Flag(help: "Analyse the delivery first, so that the start only releases its messages.")
    var analyze = false

    @Option(
        help:
            "A database to use instead of a private cluster: a libpq string or URI. It must be empty or PushMTA's."
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
                    + TestRoute.Proof.all(chosen).map(\.rawValue).joined(separator: " or ") + "."
            )
        }
        if let errorEvery, errorEvery < 1 || route.connector != .iosBinary {
            throw ValidationError("--error-every is for --connector ios-binary: give a number of at least 1.")
        }
        guard (1...16).contains(hosts) else {
            throw ValidationError("--hosts is \(hosts): give a number from 1 to 16.")
        }
        if let quota, quota < 600 || quota > 60_000_000 || route.proof != .serviceAccount {
            throw ValidationError(
                "--quota is for FCM HTTP v1 (--platform android): give a number from 600 to 60000000."
            )
        }
        guard (0...32).contains(readers) else {
            throw ValidationError("--readers is \(readers): give a number from 0 to 32.")
        }
    }

    private var chosen: Connector { connector ?? TestRoute.usual(platform).connector }

    private var route: TestRoute? { TestRoute(chosen, credential) }

    func run() async throws {
        try await BenchCommand.show(json: json) {
            try await DeliveryBench(
                site: BenchCommand.site(hosts: hosts),
                database: database,
                messages: messages,
                route: route ?? .usual(platform),
                isEqual: equal,
                errorEvery: errorEvery,
                latency: latency,
                children: children,
                quota: quota,
                readers: readers,
                isAnalysed: analyze
            ).run()
        }
    }
}

struct BenchMessageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "message",
        abstract: "Measure transactional messages from their call to the gateway.",
        discussion: """
            Everything runs on this machine, as for `bench delivery`. Sessions add messages to a continuous delivery, \
            with a random pause before each call. The gateway records when each message arrives. With --bulk, another \
            delivery is sent in parallel by the same children. Exit status 1 if a message did not arrive, or arrived \
            twice.
            """
    )

    @Option(help: "The number of messages.")
    var messages = 500

    @Option(help: "The number of database sessions that share the messages; each call is its own transaction.")
    var sessions = 1

    @Option(help: "The number of messages per call; more than one are sent with send_messages.")
    var batch = 1

    @Option(help: "The mean pause of a session between calls, in milliseconds; 0 for none.")
    var pause = 50

    @Option(help: "The number of messages in a delivery that runs in parallel.")
    var bulk: Int64 = 0

    @Option(help: "How long the gateway takes to answer, in milliseconds: 50, 10-80, exp:40 or p50:80,p99:800.")
    var latency: String?

    @Option(help: "The maximum number of MTA children.")
    var children = 1

    @Flag(help: "Print one line of JSON at the end.")
    var json = false

    func validate() throws {
        guard (1...10_000_000).contains(messages), (1...64).contains(sessions), (1...10_000).contains(batch),
            (0...60_000).contains(pause), (0...100_000_000).contains(bulk), (1...64).contains(children)
        else {
            throw ValidationError(
                """
                Give --messages from 1 to 10000000, --sessions from 1 to 64, --batch from 1 to 10000, --pause from 0 \
                to 60000, --bulk from 0 to 100000000, --children from 1 to 64.
                """
            )
        }
    }

    func run() async throws {
        try await BenchCommand.show(json: json) {
            try await MessageBench(
                site: BenchCommand.site(),
                messages: messages,
                sessions: min(sessions, messages),
                batch: batch,
                pause: .milliseconds(pause),
                bulk: bulk,
                latency: latency,
                children: children
            ).run()
        }
    }
}

struct BenchHTTP2Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "http2",
        abstract: "Measure the HTTP/2 engine and h2load against the same nghttpd.",
        discussion: """
            Starts nghttpd with TLS and 1,000 streams on a free port. Sends the same requests over one connection with \
            the engine and with h2load alternately, at 100, 500 and 1,000 concurrent streams. Figures are medians of \
            the rounds. Needs nghttpd, h2load and openssl (Debian: nghttp2-server, nghttp2-client, openssl).
            """
    )

    @Option(help: "The number of requests in one run.")
    var requests = 300_000

    @Option(help: "The number of rounds; each runs both clients at each number of streams.")
    var rounds = 3

    @Flag(help: "Print one line of JSON at the end.")
    var json = false

    func validate() throws {
        guard (1_000...100_000_000).contains(requests) else {
            throw ValidationError("--requests is \(requests): give a number from 1000 to 100000000.")
        }
        guard (1...100).contains(rounds) else {
            throw ValidationError("--rounds is \(rounds): give a number from 1 to 100.")
        }
    }

    func run() async throws {
        try await BenchCommand.show(json: json) {
            try await HTTP2Bench(folder: BenchCommand.folder, requests: requests, rounds: rounds).run()
        }
    }
}

extension TestRoute.Proof: ExpressibleByArgument {}
