import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import MetricsEndpoint

/// The endpoint, asked over a socket by curl.
@Suite(.timeLimit(.minutes(1))) struct MetricsServerTests {
    /// Runs a server on a port that the system chooses.
    private func serving(_ page: String, _ body: (Int) async throws -> Void) async throws {
        let port = Mutex(0)
        let server = MetricsServer(
            address: "127.0.0.1",
            port: 0,
            setting: "metrics.webPort",
            logger: Logger(label: "test"),
            onOpen: { open in port.withLock { $0 = open } },
            page: { page }
        )
        let run = Task { await server.run() }
        try await eventually("it listens") { port.withLock { $0 } > 0 }
        do {
            try await body(port.withLock { $0 })
        } catch {
            run.cancel()
            await run.value
            throw error
        }
        run.cancel()
        await run.value
    }

    private func curl(_ arguments: String...) async throws -> String {
        let log = NSTemporaryDirectory() + "metrics-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: log) }
        return try await Command.run("/usr/bin/curl", ["-sS", "--max-time", "10"] + arguments, log: log)
    }

    @Test func thePageIsServedAndNothingElse() async throws {
        try await serving("pushmta_max_children 7\n") { port in
            let base = "http://127.0.0.1:\(port)"
            let answer = try await curl("-i", base + "/metrics")
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("\r\n\r\npushmta_max_children 7\n"))
            #expect(answer.lowercased().contains("content-type: text/plain; version=0.0.4"))
            #expect(try await curl("-I", base + "/metrics?x=1").hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(try await curl("-i", base + "/").hasPrefix("HTTP/1.1 404"))
            #expect(try await curl("-i", "-X", "POST", "-d", "x", base + "/metrics").hasPrefix("HTTP/1.1 405"))
            // Two requests of one connection.
            #expect(try await curl(base + "/metrics", base + "/metrics").count == 2 * "pushmta_max_children 7\n".count)
        }
    }

    /// A port that somebody else has is tried again, and is no end.
    @Test func aPortThatIsTakenIsNoError() async throws {
        try await serving("pushmta_max_children 7\n") { port in
            let server = MetricsServer(
                address: "127.0.0.1",
                port: port,
                setting: "metrics.webPort",
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
                page: { "" }
            )
            let second = Task { await server.run() }
            let page = try await curl("http://127.0.0.1:\(port)/metrics")
            #expect(page == "pushmta_max_children 7\n")
            second.cancel()
            await second.value
        }
    }
}
