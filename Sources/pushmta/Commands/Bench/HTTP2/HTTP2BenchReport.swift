import Foundation

/// What `pushmta bench http2` found.
struct HTTP2BenchReport: Sendable {
    /// The medians at one number of streams.
    struct Row: Sendable {
        var streams: Int
        var engine: BenchMeasurement
        var h2load: BenchMeasurement

        /// Requests a second, ours by h2load's.
        var ratio: Double { engine.requestsPerSecond / h2load.requestsPerSecond }
        /// Client CPU a request, ours by h2load's.
        var cpuRatio: Double { engine.cpuMicrosecondsPerRequest / h2load.cpuMicrosecondsPerRequest }
    }

    var requests: Int
    var rounds: Int
    var rows: [Row]

    var failed: Int { rows.reduce(0) { $0 + $1.engine.failed + $1.h2load.failed } }

    /// The worst ratio of the three numbers of streams, and the worst ratio of CPU.
    var json: String {
        let ratio = rows.map(\.ratio).min() ?? 0
        let cpuRatio = rows.map(\.cpuRatio).max() ?? 0
        return String(format: "{\"ratio\":%.3f,\"cpuRatio\":%.3f,\"failed\":%d}", ratio, cpuRatio, failed)
    }

    var text: String {
        var lines = [
            "\(requests) POST requests with a 149-byte body a run, one TLS connection to nghttpd -m 1000, medians of \(rounds) rounds",
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
