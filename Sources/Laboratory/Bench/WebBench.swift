import Administration
import Foundation
import LaboratoryStore
import PushCore
import Store

/// Measures the web process with `wrk`, and nginx in the same run for comparison.
struct WebBench: Sendable {
    let site: TestSite
    /// The number of connections that wrk keeps open.
    let connections: Int
    /// The duration of each of the four runs, in seconds.
    let seconds: Int

    /// The number of messages for which receipts are sent. It is about what a web process answers in some seconds, so
    /// that most receipts are a message's first.
    private static let messages: Int64 = 200_000
    /// The number of the first new device, greater than that of any device registered before. wrk makes tokens from
    /// these numbers.
    private static let firstNewDevice = 1_000_000_000

    private var scripts: String { site.folder + "/wrk" }

    /// Runs the bench and removes everything it created.
    func run() async throws -> WebBenchReport {
        let wrk = try Executables.tool("wrk", package: "wrk")
        let nginx = try Executables.tool("nginx", package: "nginx-light")
        return try await site.cleanly { try await measure(wrk, nginx) }
    }

    private func measure(_ wrk: String, _ nginx: String) async throws -> WebBenchReport {
        tell("starting the database, the gateway simulator and a web process")
        try await site.prepare()
        let port = try await FreePort.any()
        let settings = try site.writeSettings(children: 1, webPort: port)
        _ = try await Store.migrate(StoreSession.configuration(settings, role: "migrate"))
        let simulator = try await site.startSimulator()
        try await site.startSupervisor()
        let base = try await site.startWeb(settings)
        return try await StoreSession.run(settings, role: "bench") { store in
            let audience = TestAudience(store: store, settings: settings, simulator: simulator)
            let applications = try await audience.create([.ios])
            let key = try await store.registrableApplications().first?.integrationKey ?? ""
            try await audience.seed(applications, count: Self.messages)
            let delivery = try await sendAll(store, applications)
            try await site.supervisor.stop()
            try await writeScripts(store, delivery, key)
            var rows: [WebBenchReport.Row] = []
            for (name, script) in [
                ("tracking", "track"), ("new registrations", "new"), ("repeated registrations", "again"),
            ] {
                rows.append(try await load(wrk, name, base + "/", script))
            }
            rows.append(try await beside(nginx, wrk))
            return WebBenchReport(
                connections: connections,
                seconds: seconds,
                rows: rows,
                residentBytes: site.web.running?.peakResidentBytes ?? 0
            )
        }
    }

    /// Sends the messages for which receipts are sent later.
    private func sendAll(_ store: Store, _ applications: [String]) async throws -> Int64 {
        tell("sending \(Self.messages) messages for the receipts")
        let id = try await store.createDelivery(
            NewDelivery(label: "Bench", applications: applications, content: TestAudience.content)
        )
        try await store.startDelivery(id)
        let watch = DeliveryWatch(store: store, id: id, timeout: .seconds(60)) { try site.checkProcesses() }
        let progress = try await watch.untilOver { _ in }
        guard progress.sent == Self.messages else {
            throw CommandFailure(.software, "\(progress.sent) of \(Self.messages) messages were sent.")
        }
        return id
    }

    private func writeScripts(_ store: Store, _ delivery: Int64, _ key: String) async throws {
        try FileManager.default.createDirectory(atPath: scripts, withIntermediateDirectories: true)
        let codec = try MessageIDCodec(
            deliveryID: delivery,
            trackingKey: try await store.trackingKey(delivery: delivery)
        )
        var ids: [MessageUUID] = []
        codec.appendUUIDs(sequences: 1...Int32(Self.messages), to: &ids)
        try write("ids", ids.shuffled().map(\.description).joined(separator: "\n") + "\n")
        try write(
            "track.lua",
            """
            local ids, last = {}, 0
            for line in io.lines("\(scripts)/ids") do ids[#ids + 1] = "/r/?id=h" .. line .. ",\(String(delivery, radix: 16)),1" end
            function request() last = last % #ids + 1; return wrk.format("GET", ids[last]) end
            """
        )
        try write("new.lua", registration(key, number: "last = last + 1; local n = last", first: Self.firstNewDevice))
        // Devices of the previous run register again with the same values, in scattered order: 7,919 and their number
        // have no common divisor.
        let again = "last = last + 7919; local n = last % 20000 + \(Self.firstNewDevice + 1)"
        try write("again.lua", registration(key, number: again, first: Self.firstNewDevice))
    }

    /// A registration as Adobe's SDK for iOS sends it.
    private func registration(_ key: String, number: String, first: Int) -> String {
        """
        local last = \(first)
        local head = { ["Content-Type"] = "application/x-www-form-urlencoded;charset=UTF-8" }
        function request()
            \(number)
            return wrk.format("POST", "/nms/mobile/1/registerIOS.jssp", head, string.format(
                "registrationToken=%064x&mobileAppUuid=\(key)&userKey=person-%d&deviceName=iPhone&deviceModel=iPhone" ..
                "&deviceBrand=Apple&deviceManufacturer=Apple&osName=iOS&osVersion=iOS%%2018.1&osLanguage=en-US" ..
                "&additionalParams=%%3CadditionalParams%%3E%%3Cparam%%20name%%3D%%22firstName%%22%%20value%%3D%%22Ada%%20%d" ..
                "%%22%%20%%2F%%3E%%3C%%2FadditionalParams%%3E", n, n, n))
        end
        """
    }

    private func load(_ wrk: String, _ name: String, _ url: String, _ script: String?) async throws
        -> WebBenchReport.Row
    {
        tell("\(name), \(seconds) s")
        var arguments = ["-t1", "-c\(connections)", "-d\(seconds)s", "--latency"]
        if let script { arguments += ["-s", "\(scripts)/\(script).lua"] }
        return try WebBenchReport.Row(name: name, wrk: try await ToolRun.run(wrk, arguments + [url]))
    }

    /// Measures nginx with an empty answer and a log line: a server that stores nothing.
    private func beside(_ nginx: String, _ wrk: String) async throws -> WebBenchReport.Row {
        let port = try await FreePort.any()
        let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(scripts)/\($0);" }
        try write(
            "nginx.conf",
            """
            daemon off; pid \(scripts)/nginx.pid; worker_processes 2; error_log stderr;
            events { worker_connections 10000; }
            http { \(places.joined(separator: " ")) access_log \(scripts)/access.log;
            server { listen 127.0.0.1:\(port); location / { return 200; } } }
            """
        )
        let server = BackgroundProcess(
            name: "nginx",
            recordFile: site.folder + "/run/nginx.pid",
            logFile: site.folder + "/log/nginx.log"
        )
        try await server.start(nginx, ["-e", "stderr", "-c", "\(scripts)/nginx.conf"])
        do {
            try await FreePort.untilOpen(port)
            let row = try await load(wrk, "nginx, empty answer", "http://127.0.0.1:\(port)/", nil)
            try await server.stop()
            return row
        } catch {
            _ = try? await server.stop()
            throw error
        }
    }

    private func write(_ name: String, _ text: String) throws {
        try text.write(toFile: "\(scripts)/\(name)", atomically: true, encoding: .utf8)
    }

    private func tell(_ text: String) {
        StandardError.write("bench web: \(text)\n")
    }
}

/// The report of a web process bench.
struct WebBenchReport: BenchReport {
    struct Row: Sendable {
        /// The kind of request.
        let name: String
        /// Requests a second.
        let rate: Double
        /// The 50th and 99th percentile of the answer times, in milliseconds.
        let p50: Double
        let p99: Double
        /// Answers that were not 200, and requests without an answer.
        let failed: Int64

        /// Parses the output of `wrk --latency`.
        ///
        /// - Throws: `CommandFailure` if the figures are missing.
        init(name: String, wrk output: String) throws {
            let lines = output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
            func value(_ first: String) -> String? { lines.first { $0.first == first }?.dropFirst().first }
            guard let rate = value("Requests/sec:").flatMap(Double.init),
                let p50 = value("50%").flatMap(Self.milliseconds), let p99 = value("99%").flatMap(Self.milliseconds)
            else { throw CommandFailure(.software, "wrk printed no figures: \(output.suffix(300))") }
            self.name = name
            self.rate = rate
            self.p50 = p50
            self.p99 = p99
            // "Non-2xx or 3xx responses: 12", "Socket errors: connect 0, read 1, write 0, timeout 2"
            let refused = lines.first { $0.first == "Non-2xx" }?.last.flatMap { Int64($0) } ?? 0
            let errors = lines.first { $0.first == "Socket" } ?? []
            failed = refused + errors.compactMap { Int64($0.filter { $0 != "," }) }.reduce(0, +)
        }

        /// Parses "812.00us", "9.30ms" or "1.02s".
        static func milliseconds(_ text: String) -> Double? {
            for (unit, factor) in [("us", 0.001), ("ms", 1), ("s", 1_000)] where text.hasSuffix(unit) {
                return Double(text.dropLast(unit.count)).map { $0 * factor }
            }
            return nil
        }
    }

    /// The number of open connections.
    let connections: Int
    /// The duration of each run, in seconds.
    let seconds: Int
    /// One row for each kind of request.
    let rows: [Row]
    /// The maximum resident memory of the web process, in bytes.
    let residentBytes: Int64

    /// Whether every answer was 200.
    var isComplete: Bool { rows.allSatisfy { $0.failed == 0 } }

    var cell: Cell {
        .object([
            ("connections", Cell(connections)), ("seconds", Cell(seconds)), ("complete", .flag(isComplete)),
            ("residentBytes", .integer(residentBytes)), ("rows", table.cell),
        ])
    }

    var text: String {
        table.text
            + "\n\(connections) connections, \(seconds) s each; the web process used at most \(residentBytes >> 20) MiB of RAM."
    }

    private var table: Table {
        var table = Table(["request", "a second", "p50 ms", "p99 ms", "failed"])
        for row in rows {
            table.add([.text(row.name), .number(row.rate), .number(row.p50), .number(row.p99), .integer(row.failed)])
        }
        return table
    }
}
