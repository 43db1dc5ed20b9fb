import ArgumentParser
import Foundation

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
