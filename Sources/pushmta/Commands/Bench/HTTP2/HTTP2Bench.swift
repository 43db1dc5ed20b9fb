import Foundation
import NIOCore
import NIOPosix
import Subprocess
import SystemPackage

/// Measures the engine and h2load in turn against one nghttpd.
struct HTTP2Bench: Sendable {
    /// The numbers of concurrent streams: what FCM allows, half of and all that APNs announces.
    private static let streamCounts = [100, 500, 1_000]
    private static let path = "/3/device/\(String(repeating: "5a", count: 32))"
    private static let messageID = "8f4ce2a1-21c3-4f5e-9d65-2f5a1b7c9e01"
    /// 149 bytes, as a short alert has.
    private static let body =
        #"{"aps":{"alert":{"title":"Hello Anna","body":"Your parcel arrives tomorrow before noon in Hamburg. Enjoy"},"#
        + #""sound":"default"},"_mId":"12","_dId":"9"}"#

    /// A folder of the bench's own; it is removed at the end.
    let folder: String
    let requests: Int
    let rounds: Int

    func run() async throws -> HTTP2BenchReport {
        try FileManager.default.createDirectory(atPath: folder + "/root/3/device", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data().write(to: URL(fileURLWithPath: folder + "/root" + Self.path))
        try Data(Self.body.utf8).write(to: URL(fileURLWithPath: folder + "/body.json"))
        try await makeCertificate()
        let port = try await FreePort.any()
        let server = BackgroundProcess(
            name: "nghttpd",
            recordFile: folder + "/nghttpd.pid",
            logFile: folder + "/nghttpd.log"
        )
        try await server.start(
            try Executables.tool("nghttpd", package: "nghttp2-server"),
            ["-m", "1000", "-d", folder + "/root", String(port), folder + "/key.pem", folder + "/cert.pem"]
        )
        do {
            let report = try await measure(port)
            try await server.stop()
            return report
        } catch {
            _ = try? await server.stop()
            throw error
        }
    }

    private func makeCertificate() async throws {
        try await ToolRun.run(
            try Executables.tool("openssl", package: "openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                "-keyout", folder + "/key.pem", "-out", folder + "/cert.pem",
            ]
        )
    }

    private func measure(_ port: Int) async throws -> HTTP2BenchReport {
        var engine: [[BenchMeasurement]] = Self.streamCounts.map { _ in [] }
        var h2load = engine
        for _ in 0..<rounds {
            for (position, streams) in Self.streamCounts.enumerated() {
                engine[position].append(try await runEngine(port, streams))
                h2load[position].append(try await runH2load(port, streams))
            }
        }
        let rows = Self.streamCounts.enumerated().map { position, streams in
            HTTP2BenchReport.Row(
                streams: streams,
                engine: BenchMeasurement.median(engine[position]),
                h2load: BenchMeasurement.median(h2load[position])
            )
        }
        return HTTP2BenchReport(requests: requests, rounds: rounds, rows: rows)
    }

    private func runEngine(_ port: Int, _ streams: Int) async throws -> BenchMeasurement {
        let run = HTTP2EngineRun(
            requests: requests,
            host: "127.0.0.1",
            port: port,
            path: Self.path,
            messageID: Self.messageID,
            body: Self.body
        )
        return try await run.run(host: "127.0.0.1", port: port, streams: streams, trustRootsFile: folder + "/cert.pem")
    }

    private func runH2load(_ port: Int, _ streams: Int) async throws -> BenchMeasurement {
        let before = BenchMeasurement.cpuSeconds(BenchMeasurement.endedChildren)
        let output = try await ToolRun.run(
            try Executables.tool("h2load", package: "nghttp2-client"),
            [
                "-n", String(requests), "-c", "1", "-m", String(streams), "-d", folder + "/body.json",
                "-H", "apns-topic: com.example.app", "-H", "apns-push-type: alert", "-H", "apns-id: \(Self.messageID)",
                "https://127.0.0.1:\(port)\(Self.path)",
            ]
        )
        let cpu = BenchMeasurement.cpuSeconds(BenchMeasurement.endedChildren) - before
        // "finished in 1.96s, 153447.51 req/s, 4.25MB/s" and "requests: … 300000 succeeded, 0 failed, …"
        guard let rate = Self.number(before: " req/s", in: output), rate > 0,
            let succeeded = Self.number(before: " succeeded", in: output)
        else {
            throw CommandFailure(.software, "h2load printed no figures: \(output.suffix(200))")
        }
        return BenchMeasurement(
            requests: requests,
            seconds: Double(requests) / rate,
            cpuSeconds: cpu,
            failed: requests - Int(succeeded)
        )
    }

    private static func number(before unit: String, in text: String) -> Double? {
        guard let end = text.range(of: unit) else { return nil }
        let digits = text[..<end.lowerBound].reversed().prefix { $0.isNumber || $0 == "." }
        return Double(String(digits.reversed()))
    }
}
