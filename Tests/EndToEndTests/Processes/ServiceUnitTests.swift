import CurlClient
import Foundation
import Logging
import ProcessEvents
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// The systemd units and the processes that they start, with the socket and the folder that systemd passes.
@Suite struct ServiceUnitTests {
    static let folder = ProjectFolder.path + "/Deploy/systemd"
    static let units = ["pushmta-supervisor", "pushmta-web", "pushmta-feedback", "pushmta-console"]

    /// The values of a key of a unit.
    private func values(_ key: String, of unit: String) throws -> [String] {
        let text = try String(contentsOfFile: "\(Self.folder)/\(unit).service", encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix(key + "=") }.map {
            String($0.dropFirst(key.count + 1))
        }
    }

    @Test func thereIsNoOtherUnit() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
        #expect(files.sorted() == Self.units.map { $0 + ".service" }.sorted())
    }

    /// A lost database does not keep a process from starting, and the watchdog is served all the time.
    @Test(arguments: units) func theProcessTellsHowItGoes(_ unit: String) async throws {
        let folder = try TemporaryFolder()
        let socket = try NotifySocket(path: folder.path + "/notify")
        let credentials = folder.path + "/credentials"
        try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: true)
        try CredentialKeyFile.create(at: credentials + "/pushmta-credential-key")
        let words = try #require(try values("ExecStart", of: unit).first).split(separator: " ").map(String.init)
        #expect(words.first == "/usr/bin/pushmta")
        let metrics = try await FreePort.any()
        let name = String(unit.dropFirst("pushmta-".count))
        let process = BackgroundProcess(
            name: unit,
            recordFile: folder.path + "/record",
            logFile: folder.path + "/log"
        )
        try await process.start(
            "/usr/bin/env",
            [
                "NOTIFY_SOCKET=\(socket.path)", "WATCHDOG_USEC=400000", "CREDENTIALS_DIRECTORY=\(credentials)",
                "PUSHMTA_DATABASE_URL=host=\(folder.path)", "PUSHMTA_MTA_WORKING_PATH=\(folder.path)/mta",
                "PUSHMTA_WEB_WORKING_PATH=\(folder.path)/web", "PUSHMTA_WEB_PORT=\(try await FreePort.any())",
                "PUSHMTA_CONSOLE_PORT=\(try await FreePort.any())", "PUSHMTA_LOG_FORMAT=json",
                "PUSHMTA_METRICS_\(name.uppercased())_PORT=\(metrics)",
                try Program.pushmta().path,
            ] + words.dropFirst()
        )
        #expect(await socket.notice(containing: "READY=1")?.contains("STATUS=") == true)
        for _ in 0..<3 { #expect(await socket.notice(containing: "WATCHDOG=1") != nil) }
        let request = CurlRequest(url: "http://127.0.0.1:\(metrics)/metrics", timeoutMilliseconds: 10_000)
        try await eventually("its page of metrics") { (try? await CurlClient().perform(request)) != nil }
        let page = String(decoding: try await CurlClient().perform(request).body, as: UTF8.self)
        #expect(page.contains("pushmta_build_info{process=\"\(name)\"") && page.contains("process_open_fds"), "\(page)")
        let id = try #require(process.running).id
        if try values("ExecReload", of: unit) == ["/bin/kill -HUP $MAINPID"] {
            kill(id, SIGHUP)
            #expect(await socket.notice(containing: "RELOADING=1") != nil)
            #expect(await socket.notice(containing: "READY=1") != nil)
        }
        try await process.stop()
        #expect(await socket.notice(containing: "STOPPING=1") != nil)
        let lines = try String(contentsOfFile: folder.path + "/log", encoding: .utf8).split(separator: "\n")
        for line in lines {
            let object = try #require(
                (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any],
                "\(line)"
            )
            #expect(Set(["time", "level", "process", "pid", "host", "message"]).isSubset(of: object.keys), "\(line)")
        }
        #expect(!lines.isEmpty)
    }

    /// systemd's journal would mix text sent to /dev/log with the lines of a unit's log. The test can watch /dev/log
    /// only on a machine without one.
    @Test(.enabled(if: geteuid() == 0 && !FileManager.default.fileExists(atPath: "/dev/log")))
    func librariesSayNothingBesideTheLog() async throws {
        let folder = try TemporaryFolder()
        let syslog = try NotifySocket(path: "/dev/log")
        defer { try? FileManager.default.removeItem(atPath: "/dev/log") }
        let process = BackgroundProcess(name: "web", recordFile: folder.path + "/record", logFile: folder.path + "/log")
        // As the unit's user, who may not raise a thread's priority.
        try await process.start(
            "/usr/bin/setpriv",
            [
                "--bounding-set=-sys_nice", try Program.pushmta().path, "web", "--database", "host=\(folder.path)",
                "--set",
                "web.workingPath=\(folder.path)/web", "--set", "web.accessLog=", "--set",
                "web.port=\(try await FreePort.any())", "--set", "metrics.webPort=0", "--set", "log.format=json",
            ]
        )
        try await eventually("it serves and the database is away") {
            let log = (try? String(contentsOfFile: folder.path + "/log", encoding: .utf8)) ?? ""
            return log.contains("process_started") && log.contains("database_away")
        }
        try await process.stop()
        #expect(await syslog.notice(containing: "", within: .milliseconds(1)) == nil)
    }

    @Test func anEventIsAnObjectOnALineOfItsOwn() throws {
        var handler = ProcessLogHandler(process: "mta-child", host: "push-1", format: .json)
        handler[metadataKey: "child"] = "7"
        let context = LogContext()
        context.set("account", "apns")
        handler.metadataProvider = context.provider
        let event = LogEvent(
            level: .warning,
            message: "a \"line\"\nand another",
            metadata: [
                "application": "shop-ios", "level": "no", "event": "child_died", "reason": "stuck", "delivery": "9",
            ],
            source: nil,
            file: "",
            function: "",
            line: 0
        )
        let time = Date(timeIntervalSince1970: 1_764_000_000.25)
        let line = String(decoding: handler.line(event, at: time), as: UTF8.self)
        let start = #"{"time":"2025-11-24T16:00:00.250Z","level":"warning","process":"mta-child","pid":"#
        #expect(line.hasPrefix(start), "\(line)")
        #expect(
            line.hasSuffix(
                #","host":"push-1","message":"a \"line\"\nand another","application":"shop-ios","account":"apns","delivery":9,"child":7,"event":"child_died","reason":"stuck"}"#
            ),
            "\(line)"
        )
        var people = ProcessLogHandler(process: "supervisor", host: "push-1", format: .text)
        #expect(
            String(decoding: people.line(event, at: time), as: UTF8.self)
                == "2025-11-24T16:00:00.250Z warning supervisor[\(getpid())]: a \"line\" and another [application=shop-ios delivery=9 event=child_died reason=stuck]"
        )
        people[metadataKey: "child"] = "7"
        #expect(String(decoding: people.line(event, at: time), as: UTF8.self).contains(" child=7 event="))
    }
}
