import Administration
import Foundation
import NIOCore
import NIOPosix
import Subprocess
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Measures the engine and h2load alternately against one nghttpd.
struct HTTP2Bench: Sendable {
    /// The numbers of concurrent streams: FCM's limit, and half and all of the limit that APNs announces.
    private static let streamCounts = [100, 500, 1_000]
    private static let path = "/3/device/\(String(repeating: "5a", count: 32))"
    private static let messageID = "8f4ce2a1-21c3-4f5e-9d65-2f5a1b7c9e01"
    /// 149 bytes, the size of a short alert.
    private static let body =
        #"{"aps":{"alert":{"title":"Hello Anna","body":"Your parcel arrives tomorrow before noon in Hamburg. Enjoy"},"#
        + #""sound":"default"},"_mId":"12","_dId":"9"}"#

    /// The bench's own folder, which is removed at the end.
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

/// The report of `pushmta-lab bench http2`.
struct HTTP2BenchReport: BenchReport {
    /// The medians at one number of streams.
    struct Row: Sendable {
        var streams: Int
        var engine: BenchMeasurement
        var h2load: BenchMeasurement

        /// The engine's requests a second divided by h2load's.
        var ratio: Double { engine.requestsPerSecond / h2load.requestsPerSecond }
        /// The engine's CPU time per request divided by h2load's.
        var cpuRatio: Double { engine.cpuMicrosecondsPerRequest / h2load.cpuMicrosecondsPerRequest }
    }

    var requests: Int
    var rounds: Int
    var rows: [Row]

    var failed: Int { rows.reduce(0) { $0 + $1.engine.failed + $1.h2load.failed } }

    /// Whether every request was answered with 200.
    var isComplete: Bool { failed == 0 }

    /// The worst ratio over the numbers of streams, and the worst ratio of CPU time.
    var cell: Cell {
        .object([
            ("ratio", .number(rows.map(\.ratio).min() ?? 0)), ("cpuRatio", .number(rows.map(\.cpuRatio).max() ?? 0)),
            ("h2loadPerSecond", .number(rows.map(\.h2load.requestsPerSecond).max() ?? 0)), ("failed", Cell(failed)),
        ])
    }

    var text: String {
        var lines = [
            "\(requests) POST requests with a 149-byte body a run, one TLS connection to nghttpd -m 1000, medians of "
                + "\(rounds) rounds",
            "",
            "streams   engine req/s   h2load req/s   ratio   engine CPU µs   h2load CPU µs   ratio",
        ]
        for row in rows {
            lines.append(
                String(
                    format: "%7d %14.0f %14.0f %7.2f %15.2f %15.2f %7.2f",
                    row.streams,
                    row.engine.requestsPerSecond,
                    row.h2load.requestsPerSecond,
                    row.ratio,
                    row.engine.cpuMicrosecondsPerRequest,
                    row.h2load.cpuMicrosecondsPerRequest,
                    row.cpuRatio
                )
            )
        }
        if failed > 0 { lines.append("\(failed) requests were not answered with 200") }
        return lines.joined(separator: "\n")
    }
}
