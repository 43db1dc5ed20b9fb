import Administration
import ArgumentParser
import Foundation
import PushCore

/// `pushmta bench`.
package struct BenchCommand: AsyncParsableCommand {
    package init() {}

    package static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure how fast this machine is.",
        subcommands: [BenchDeliveryCommand.self, BenchMessageCommand.self, BenchHTTP2Command.self]
    )
}

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
    var credential: TestRoute.Proof?

    @Flag(help: "No personalisation and no tracking, so that legacy FCM can share requests among messages.")
    var equal = false

    @Option(help: "An error packet of the binary gateway every so many messages; the messages that it is about fail.")
    var errorEvery: Int64?

    @Option(help: "How long the gateways take to answer, in milliseconds: 50, 10-80, exp:40 or p50:80,p99:800.")
    var latency: String?

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
                    + TestRoute.Proof.all(chosen).map(\.rawValue).joined(separator: " or ") + "."
            )
        }
        if let errorEvery, errorEvery < 1 || route.connector != .iosBinary {
            throw ValidationError("--error-every is for --connector ios-binary: give a number from 1 on.")
        }
        guard (0...32).contains(readers) else {
            throw ValidationError("--readers is \(readers): give a number from 0 to 32.")
        }
    }

    private var chosen: Connector { connector ?? TestRoute.usual(platform).connector }

    private var route: TestRoute? { TestRoute(chosen, credential) }

    func run() async throws {
        do {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushmta-bench-\(getpid())").path
            let bench = DeliveryBench(
                site: try TestSite(folder: folder),
                database: database,
                messages: messages,
                route: route ?? .usual(platform),
                isEqual: equal,
                errorEvery: errorEvery,
                latency: latency,
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
                site: try TestSite(folder: folder),
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

/// `pushmta bench http2`.
struct BenchHTTP2Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "http2",
        abstract: "Measure the HTTP/2 engine beside h2load, against the same nghttpd.",
        discussion: """
            Starts nghttpd with TLS and 1,000 streams on a free port and sends the same requests over one connection with the \
            engine and with h2load in turn, at 100, 500 and 1,000 concurrent streams. Figures are medians of the rounds. Needs \
            nghttpd, h2load and openssl (Debian: nghttp2-server, nghttp2-client, openssl).
            """
    )

    @Option(help: "The requests of one run.")
    var requests = 300_000

    @Option(help: "The rounds; each runs both clients at each number of streams.")
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
        do {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushmta-http2-\(getpid())").path
            let bench = HTTP2Bench(folder: folder, requests: requests, rounds: rounds)
            guard let report = try await UntilSignal.run({ try await bench.run() }) else {
                throw CommandFailure(.negative, "The bench was interrupted.")
            }
            StandardOutput.line(json ? report.json : report.text)
            guard report.failed == 0 else { throw ExitCode(CommandFailure.Code.negative.rawValue) }
        } catch {
            throw CommandFailure.report(error)
        }
    }
}

extension TestRoute.Proof: ExpressibleByArgument {}
