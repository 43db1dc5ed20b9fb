import CurlClient
import Foundation
import ProcessEvents
import PushCore
import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// What real processes log while a delivery runs and the database is lost.
@Suite struct LogTests {
    /// A parsed line.
    private struct Line {
        let values: [String: String]
        let text: String

        var event: String { values["event"] ?? "" }
    }

    private func lines(_ path: String) throws -> [Line] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { text in
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
                "\(text)"
            )
            for key in ProcessEvent.numberKeys {
                #expect(object[key] == nil || object[key] is NSNumber, "\(key) is a number: \(text)")
            }
            var values = object.mapValues { "\($0)" }
            // Keep the written form: a parser turns 3.0 into 3.
            if let seconds = text.firstMatch(of: /"seconds":([0-9.]+)/) { values["seconds"] = String(seconds.1) }
            return Line(values: values, text: String(text))
        }
    }

    /// The time of a line, which all logs write in the same form.
    private static var time: Regex<Substring> { /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/ }

    @Test(.timeLimit(.minutes(3))) func anOutageIsToldOnceAndNoSecretEver() async throws {
        let port = try await FreePort.any()
        func configure(_ settings: inout Settings) {
            settings.log.format = "json"
            settings.log.level = "trace"
            settings.web.address = "127.0.0.1"
            settings.web.port = port
        }
        try await DeliverySite.with(subscribers: 30, configure: configure) { site in
            var settings = site.settings
            settings.web.workingPath = site.testSite.folder + "/web"
            settings.web.accessLog = site.testSite.folder + "/log/access.log"
            try site.testSite.host.write(settings)
            _ = try await site.testSite.startWeb(settings)
            try await site.testSite.startFeedback()
            try await site.slowDown(streams: 1, milliseconds: 50)
            let delivery = try await site.send(to: site.application)
            _ = try await site.progress(delivery) { $0.sent > 0 }
            let logs = [site.testSite.supervisor.logFile, site.testSite.web.logFile, site.testSite.feedback.logFile]
            try await site.testSite.cluster.stop()
            for log in logs {
                try await site.wait("\(log): away") { try lines(log).contains { $0.event == "database_away" } }
            }
            try await site.testSite.cluster.start()
            // The supervisor's log includes its child's lines.
            for (process, log) in zip(["supervisor", "web", "feedback", "mta-child"], logs + [logs[0]]) {
                try await site.wait("\(process): back") {
                    try lines(log).contains { $0.values["process"] == process && $0.event == "database_back" }
                }
            }
            #expect(try await site.progress(delivery).sent == 30)
            try checkOutage(logs)
            try await checkChild(site, logs[0])
            try await checkAccessLog(site, port)
            try await checkSecrets(site)
        }
    }

    /// Each process logs the outage once, in the same words.
    private func checkOutage(_ logs: [String]) throws {
        var told: [String: [Line]] = [:]
        for log in logs {
            for line in try lines(log) where line.event.hasPrefix("database_") {
                told["\(line.values["process"] ?? "") \(line.values["pid"] ?? "")", default: []].append(line)
            }
        }
        #expect(
            Set(told.keys.map { String($0.split(separator: " ")[0]) }) == [
                "supervisor", "mta-child", "web", "feedback",
            ]
        )
        for (process, lines) in told {
            #expect(lines.map(\.event) == ["database_away", "database_back"], "\(process): \(lines.map(\.text))")
            let away = try #require(lines.first?.values["message"])
            #expect(away.hasPrefix("The database is unreachable: "), "\(process): \(away)")
            let seconds = try #require(lines.last?.values["seconds"])
            #expect(lines.last?.values["message"] == "The database is back after \(seconds) s")
            #expect((Double(seconds) ?? 0) > 0)
        }
    }

    /// A child has the same id in its own lines, in its supervisor's lines and in the database. Applications and
    /// accounts are named.
    private func checkChild(_ site: DeliverySite, _ log: String) async throws {
        let all = try lines(log)
        for line in all { #expect(line.values["time"]?.wholeMatch(of: Self.time) != nil, "\(line.text)") }
        let started = try #require(all.first { $0.event == "child_started" })
        let id = try #require(started.values["child"])
        #expect(
            started.values["message"]?.hasPrefix("Starting child \(id) for application \(site.application) ") == true
        )
        #expect(started.values["application"] == site.application)
        let own = all.filter { $0.values["process"] == "mta-child" && $0.values["child"] == id }
        #expect(own.contains { $0.values["application"] == site.application && $0.values["account"]?.isEmpty == false })
        let known = try await site.store.children().map { String($0.id) }
        #expect(known.contains(id))
    }

    private func checkAccessLog(_ site: DeliverySite, _ port: Int) async throws {
        let request = CurlRequest(url: "http://127.0.0.1:\(port)/api/v1/devices/12345")
        #expect(try await CurlClient().perform(request).status == 401)
        let path = site.testSite.folder + "/log/access.log"
        func text() -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
        try await site.wait("the request is in the access log") { text().contains("/api/v1/devices/{id}") }
        #expect(!text().contains("12345"))
        // In the format of the log, with the keys of all its lines.
        for line in try lines(path) {
            #expect(line.values["time"]?.wholeMatch(of: Self.time) != nil, "\(line.text)")
            #expect(
                Set(line.values.keys).isSuperset(of: ["level", "process", "pid", "host", "message"]),
                "\(line.text)"
            )
            #expect(line.text.contains(#""status":"#) && !line.text.contains(#""status":""#), "\(line.text)")
        }
    }

    /// Push tokens, the key file's keys, and the credentials.
    private func checkSecrets(_ site: DeliverySite) async throws {
        var secrets: [String] = []
        for row in try await site.store.subscriptions(application: nil, limit: 100) { secrets.append(row.pushToken) }
        #expect(secrets.count >= 30 && secrets.allSatisfy { $0.count >= 32 })
        let key = try String(contentsOfFile: site.settings.credentialKeyFile, encoding: .utf8)
        secrets += key.split(whereSeparator: \.isWhitespace).map(String.init).filter { $0.count >= 32 }
        let pem = try String(contentsOfFile: site.simulator.credentials.apns.keyFile, encoding: .utf8)
        secrets += pem.split(separator: "\n").map(String.init).filter { $0.count >= 32 && !$0.hasPrefix("-") }
        #expect(secrets.count >= 32)
        let folder = site.testSite.folder + "/log"
        let logs = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(logs.count >= 4, "\(logs)")
        for log in logs where !log.hasPrefix("simulator") {
            let text = try String(contentsOfFile: folder + "/" + log, encoding: .utf8)
            for secret in secrets where text.contains(secret) { Issue.record("\(log) holds \(secret.prefix(6))…") }
            // Bearer tokens of both gateways are JSON Web Tokens.
            #expect(!text.contains("eyJ"), "\(log) holds what looks like a token")
        }
    }
}
