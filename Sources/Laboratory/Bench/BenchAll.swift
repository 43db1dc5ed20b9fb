import Administration
import Foundation
import PushCore
import Store

/// Runs every bench, one after another.
struct BenchAll: Sendable {
    /// The number of messages in each delivery.
    let messages: Int64

    /// The gateways' latencies: none, that of a near gateway, that of a far one, and one with a slow answer in a
    /// hundred.
    private static let latencies = ["0", "50", "200", "p50:80,p99:800"]

    /// Runs every bench and removes everything it created.
    func run() async throws -> BenchAllReport {
        var report = BenchAllReport(machine: try await BenchMachine.this())
        for platform in [Platform.ios, .android] { try await deliveries(platform, &report) }
        try await transactional(&report)
        let prepared = try await PrepareBench(site: BenchCommand.site(), subscriptions: messages * 5).run()
        report.note(prepared)
        report.add("preparation by filter", Double(prepared.target) / prepared.seconds, "subscriptions/s", prepared)
        let web = try await WebBench(site: BenchCommand.site(), connections: 256, seconds: 8).run()
        report.note(web)
        for row in web.rows {
            report.add(
                "web: \(row.name)",
                row.rate,
                "requests/s",
                String(format: "p99 %.1f ms", row.p99),
                row.failed == 0
            )
        }
        let http2 = try await HTTP2Bench(folder: BenchCommand.folder, requests: 300_000, rounds: 3).run()
        report.note(http2)
        for row in http2.rows {
            let words = String(format: "%.2f of h2load's %.0f", row.ratio, row.h2load.requestsPerSecond)
            report.add(
                "HTTP/2 client, \(row.streams) streams",
                row.engine.requestsPerSecond,
                "requests/s",
                words,
                row.engine.failed == 0
            )
        }
        return report
    }

    /// Runs each latency twice, in ascending and then in descending order, and keeps the better run: other work on the
    /// machine can only slow it down.
    private func deliveries(_ platform: Platform, _ report: inout BenchAllReport) async throws {
        var best: [String: DeliveryBenchReport] = [:]
        var lost: Set<String> = []
        for latency in Self.latencies + Self.latencies.reversed() {
            let one = try await DeliveryBench(
                site: BenchCommand.site(),
                database: nil,
                messages: messages,
                route: .usual(platform),
                isEqual: false,
                errorEvery: nil,
                latency: latency == "0" ? nil : latency,
                children: 1,
                quota: nil,
                readers: 0,
                isAnalysed: false
            ).run()
            report.note(one)
            report.database = one.databaseSettings
            if !one.isComplete { lost.insert(latency) }
            if one.messagesPerSecond > best[latency]?.messagesPerSecond ?? 0 { best[latency] = one }
        }
        for latency in Self.latencies {
            guard let one = best[latency] else { continue }
            let words = String(
                format: "CPU %.1f µs, WAL %.0f bytes a message, child %.0f MiB",
                one.cpuMicroseconds,
                one.walBytesPerMessage,
                one.peakChildMiB
            )
            let name = "\(platform == .ios ? "APNs" : "FCM HTTP v1"), answers after \(latency) ms"
            let sustained = one.sustainedRate.map { "\(Int($0)) from the first tenth to the last; " } ?? ""
            report.add(name, one.messagesPerSecond, "messages/s", sustained + words, !lost.contains(latency))
        }
    }

    private func transactional(_ report: inout BenchAllReport) async throws {
        for (name, sessions, batch, bulk) in [
            ("send_message, 1 session", 1, 1, 0), ("send_message, 16 sessions", 16, 1, 0),
            ("send_message, 16 sessions, during bulk", 16, 1, messages * 2),
            ("send_messages by 100, 16 sessions", 16, 100, 0),
        ] {
            let one = try await MessageBench(
                site: BenchCommand.site(),
                messages: Int(messages / 50) * (batch > 1 ? 10 : 1) / (sessions > 1 ? 1 : 2),
                sessions: sessions,
                batch: batch,
                pause: .zero,
                bulk: bulk,
                latency: nil,
                children: 1
            ).run()
            report.note(one)
            let words = String(
                format: "a call p99 %.1f ms; commit to gateway p99 %.1f ms, all %.0f ms after the last",
                MessageBenchReport.percentile(99, one.calls),
                MessageBenchReport.percentile(99, one.fromCommit),
                one.afterLastCommit * 1_000
            )
            report.add(name, one.rate, "messages/s", words, one.isComplete)
        }
    }
}

/// The results of all benches.
struct BenchAllReport: BenchReport {
    struct Row: Sendable {
        let name: String
        let value: Double
        let unit: String
        let words: String
        let isComplete: Bool
    }

    let machine: BenchMachine
    /// PostgreSQL's durability settings.
    var database: [(name: String, value: String)] = []
    private(set) var rows: [Row] = []

    init(machine: BenchMachine) {
        self.machine = machine
    }

    mutating func add(_ name: String, _ value: Double, _ unit: String, _ words: String, _ isComplete: Bool) {
        rows.append(Row(name: name, value: value, unit: unit, words: words, isComplete: isComplete))
    }

    /// Adds a figure, with the rest from the bench's report.
    mutating func add(_ name: String, _ value: Double, _ unit: String, _ report: any BenchReport) {
        add(name, value, unit, report.text, report.isComplete)
    }

    /// Prints a report on standard error as progress.
    func note(_ report: any BenchReport) {
        StandardError.write(report.text + "\n\n")
    }

    var isComplete: Bool { rows.allSatisfy(\.isComplete) }

    private var settings: [(String, String)] {
        machine.facts + [("PostgreSQL's settings", database.map { "\($0.name)=\($0.value)" }.joined(separator: " "))]
    }

    var cell: Cell {
        .object([
            ("machine", .object(settings.map { ($0.0, .text($0.1)) })),
            (
                "figures",
                .list(
                    rows.map {
                        .object([
                            ("name", .text($0.name)), ("value", .number($0.value)), ("unit", .text($0.unit)),
                            ("words", .text($0.words)), ("complete", .flag($0.isComplete)),
                        ])
                    }
                )
            ),
            ("complete", .flag(isComplete)),
        ])
    }

    var text: String {
        var table = Table(["bench", "value", "unit", "besides"])
        for row in rows {
            let lost = row.isComplete ? "" : "NOT COMPLETE; "
            table.add([.text(row.name), .integer(Int64(row.value)), .text(row.unit), .text(lost + row.words)])
        }
        return (settings.map { "\($0.0): \($0.1)" } + ["", table.text]).joined(separator: "\n")
    }

    /// A chart with a bar per rate, scaled per unit. It embeds no font and follows the reader's colour scheme.
    var chart: String {
        let (left, width, height) = (330.0, 420.0, 24.0)
        var bars: [String] = []
        for (number, row) in rows.enumerated() {
            let highest = rows.filter { $0.unit == row.unit }.map(\.value).max() ?? 1
            let y = 40 + Double(number) * height
            bars.append(
                String(
                    format: """
                        <text x="%.0f" y="%.0f" text-anchor="end">%@</text><rect x="%.0f" y="%.0f" width="%.1f" height="15" rx="2"/>\
                        <text x="%.1f" y="%.0f">%@ %@</text>
                        """,
                    left - 10,
                    y,
                    row.name,
                    left,
                    y - 12,
                    max(1, width * row.value / max(highest, 1)),
                    left + 8 + max(1, width * row.value / max(highest, 1)),
                    y,
                    Self.grouped(Int64(row.value)),
                    row.unit
                )
            )
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 \(Int(60 + Double(rows.count) * height))" \
            role="img" aria-label="Rates of every bench">
            <style>text{font:13px sans-serif;fill:#222}rect{fill:#2a6fbb}\
            @media(prefers-color-scheme:dark){text{fill:#ddd}rect{fill:#6aa9ee}}</style>
            <text x="10" y="18">\(machine.line.replacing("&", with: "&amp;").replacing("<", with: "&lt;"))</text>
            \(bars.joined(separator: "\n"))
            </svg>

            """
    }

    private static func grouped(_ value: Int64) -> String {
        var digits = Array(String(value))
        var place = digits.count - 3
        while place > 0 {
            digits.insert(",", at: place)
            place -= 3
        }
        return String(digits)
    }
}

/// The machine that a bench ran on.
struct BenchMachine: Sendable {
    /// The machine's facts, by name.
    let facts: [(String, String)]
    /// A one-line summary of the facts.
    let line: String

    static func this() async throws -> BenchMachine {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let memory = ProcessInfo.processInfo.physicalMemory >> 30
        let model = value("/proc/cpuinfo", "model name", ":") ?? "unknown processor"
        let system =
            value("/etc/os-release", "PRETTY_NAME", "=") ?? ProcessInfo.processInfo.operatingSystemVersionString
        let postgres = try await ToolRun.run(PrivateCluster.program("postgres"), ["--version"]).split(separator: "\n")
            .first.map(String.init)
        let date = String(ISO8601DateFormatter().string(from: Date()).prefix(10))
        #if DEBUG
        let build = "debug build"
        #else
        let build = "release build"
        #endif
        return BenchMachine(
            facts: [
                ("date", date), ("processor", "\(cores) × \(model)"), ("memory", "\(memory) GiB"), ("system", system),
                ("database", postgres ?? "unknown"), ("program", build),
                ("settings", "default; one child; everything on this machine"),
            ],
            line: "\(date), \(cores) cores, \(memory) GiB, \(system), \(postgres ?? ""), \(build)"
        )
    }

    /// The value of the first line with this name in a file.
    private static func value(_ file: String, _ name: String, _ separator: Character) -> String? {
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").first { $0.hasPrefix(name) }?.split(separator: separator, maxSplits: 1).last
            .map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: " \""))
            }
    }
}
