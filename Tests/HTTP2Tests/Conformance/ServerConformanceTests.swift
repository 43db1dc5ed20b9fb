import Foundation
import HTTP2
import Testing

/// Our server against independent clients.
@Suite struct ServerConformanceTests {
    @Test(arguments: ["plain", "padding", "continuation", "slow", "smallwindow", "large", "trailers", "cancel", "ping"])
    func pythonsH2(_ mode: String) async throws {
        let server = try await LoopbackServer(
            tls: true,
            settings: HTTP2ServerSettings(maxConcurrentStreams: 50),
            script: LoopbackServer.echoOdd
        )
        let certificate = try TestCertificate.shared.get().certificateFile
        let script = Fixture.path("demanding_client.py")
        let client = try ExternalProcess("python3", [script, mode, "\(server.port)", certificate])
        let lines = try await client.end()
        let count = mode == "slow" ? 40 : 300
        #expect(lines == ["ok \(count) of \(count)"])
        try await server.seen.wait(for: "the end of the connection") { $0.closed == 1 }
        try await server.stop()
    }

    @Test(arguments: [false, true])
    func h2load(_ tls: Bool) async throws {
        let server = try await LoopbackServer(tls: tls, script: LoopbackServer.echoOdd)
        let body = try TemporaryFolder.shared.get() + "/h2load-\(tls).json"
        try Data("{\"aps\":{\"alert\":\"hello\"}}".utf8).write(to: URL(fileURLWithPath: body))
        let scheme = tls ? "https" : "http"
        let load = try ExternalProcess(
            "h2load",
            [
                "-n", "10000", "-c", "4", "-m", "100", "-d", body,
                "\(scheme)://127.0.0.1:\(server.port)/3/device/1", "\(scheme)://127.0.0.1:\(server.port)/3/device/2",
            ]
        )
        let report = try await load.end().joined(separator: "\n")
        #expect(report.contains("10000 total, 10000 started, 10000 done"), "\(report)")
        #expect(report.contains("0 errored, 0 timeout"), "\(report)")
        #expect(report.contains("5000 2xx, 0 3xx, 5000 4xx, 0 5xx"), "\(report)")
        #expect(server.seen.value.requests == 10_000)
        try await server.stop()
    }
}
