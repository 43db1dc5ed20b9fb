import Foundation
import Gateways
import PostgresClient
import PushCore
import Testing

@testable import Administration
@testable import Laboratory
@testable import Store
@testable import pushmta

/// `pushmta trace` while deliveries run.
@Suite(.serialized) struct TraceTests {
    private static let content = """
        {"ios":{"title":"Hello {{firstName|nobody}}, it is private"},"android":{"title":"Hello {{firstName|nobody}}, it is private"}}
        """
    private static let subscribers: Int64 = 40

    @Test func itShowsTheWireWithoutSecretsOverTheRestartOfAChild() async throws {
        try await DeliverySite.with(subscribers: Self.subscribers) { site in
            // No child runs yet: the trace waits for children. It ends after this many messages.
            async let masked = Self.trace(site, site.application, ["--json", "--count", "\(2 * Self.subscribers)"])
            async let plain = Self.trace(site, site.application, ["--unmask", "--count", "\(Self.subscribers)"])
            try await Self.opened(2, at: site)
            let records = try await Self.records(site)
            #expect(records.map { $0.dropFirst() } == [["trace.unmasked", "application \(site.application)"]])
            #expect(records.first?.first?.contains(AuditAuthor.commandLine.name) == true, "\(records)")
            let first = try await site.send(Self.content, to: site.application)
            #expect(try await site.progress(first).sent == Self.subscribers)
            for child in try await site.store.children() where child.report.pid > 0 {
                #expect(kill(child.report.pid, SIGKILL) == 0)
            }
            let second = try await site.send(Self.content, to: site.application)
            #expect(try await site.progress(second, within: .seconds(150)).sent == Self.subscribers)
            let (hidden, shown) = (try await masked, try await plain)
            let rows = try Self.rows(hidden.output)
            #expect(rows.count == 2 * Int(Self.subscribers), "\(hidden.errors)")
            #expect(Set(rows.compactMap { $0["delivery"] as? Int }) == [Int(first), Int(second)])
            #expect(Set(rows.compactMap { $0["child"] as? Int }).count > 1)
            try await Self.expectNoSecrets(in: hidden.output + hidden.errors, site)
            try await Self.expectNoSecrets(in: shown.output + shown.errors, site)
            #expect(!hidden.output.contains("Hello") && !hidden.output.contains("private"), "\(hidden.output)")
            #expect(shown.output.contains("Hello Ada, it is private"), "\(shown.output)")
            for row in rows {
                let (request, answer) = (try Self.headers(row["request"]), try Self.headers(row["answer"]))
                let hash = try #require(row["token_hash"] as? String)
                #expect(request[":path"] == "/3/device/\(hash)" && request["authorization"] == "(hidden)")
                #expect(request["apns-topic"] == site.simulator.credentials.apns.topics[0])
                #expect(answer[":status"] == "200" && answer["apns-id"] == request["apns-id"])
                #expect(row["latency_ms"] as? Double ?? 0 > 0)
            }
            #expect(hidden.errors.contains("Shown: 80 of 80 messages of \(site.application)."), "\(hidden.errors)")
            #expect(shown.output.contains("< :status: 200") && shown.output.contains("> authorization: (hidden)"))
            #expect(try await Self.records(site).count == 1)
        }
    }

    @Test func itFindsTheMessageToOneTokenOfFCM() async throws {
        try await DeliverySite.with(subscribers: 1) { site in
            var audience = site.audience
            audience.prefix = "other"
            let application = try await audience.create([.android])[0]
            try await audience.seed([application], count: Self.subscribers)
            let tokens = try await site.store.subscriptions(application: application).map(\.pushToken)
            let hash = PushTokenHash.text(tokens[7].utf8)
            async let traced = Self.trace(
                site,
                application,
                ["--json", "--count", "1", "--token-hash", hash.uppercased()]
            )
            try await Self.opened(1, at: site)
            let id = try await site.send(Self.content, to: application)
            #expect(try await site.progress(id).sent == Self.subscribers)
            let ending = try await traced
            let rows = try Self.rows(ending.output)
            let row = try #require(rows.first)
            #expect(rows.count == 1 && row["token_hash"] as? String == hash && row["delivery"] as? Int == Int(id))
            let (request, answer) = (try Self.headers(row["request"]), try Self.headers(row["answer"]))
            #expect(request["authorization"] == "(hidden)" && request[":path"]?.hasPrefix("/v1/projects/") == true)
            #expect(answer[":status"] == "200" && row["latency_ms"] as? Double ?? 0 > 0)
            let bodies = [row["request"], row["answer"]].compactMap { ($0 as? [String: Any])?["body"] as? String }
            #expect(bodies.count == 2 && bodies[0].contains(#""token":"\#(hash)""#), "\(bodies)")
            #expect(bodies[0].contains("****") && !bodies[0].contains("Hello"), "\(bodies)")
            #expect(bodies[1].contains(#""name":"projects/"#), "\(bodies)")
            try await Self.expectNoSecrets(in: ending.output + ending.errors, site)
            #expect(try await Self.records(site).isEmpty)
        }
    }

    @Test func whatItCannotDoItSays() async throws {
        try await DeliverySite.with(subscribers: 1) { site in
            let socket = Self.socket(site)
            try await site.wait("the socket") { FileManager.default.fileExists(atPath: socket) }
            let mode = try FileManager.default.attributesOfItem(atPath: socket)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            try await site.run("trace", "--app", "nobody", expect: 65)
            try await site.run("trace", "--app", site.application, "--token-hash", "ab", expect: 64)
            try await site.run("trace", "--app", site.application, "--per-second", "101", expect: 64)
            try await site.run("trace", "--app", site.application, "--count", "0", expect: 64)
            let ended = try await site.run("trace", "--app", site.application, "--seconds", "1")
            #expect(ended.errors.contains("The trace has ended: its time is over") && ended.output.isEmpty)
            let elsewhere = ["--set", "mta.workingPath=/nowhere"]
            let ending = try await Program.pushmta().run(
                ["trace", "--app", site.application, "--config", site.testSite.settingsFile] + elsewhere
            )
            #expect(ending.status == 69 && ending.errors.contains("/nowhere/trace.sock"), "\(ending.errors)")
        }
    }

    private static func socket(_ site: DeliverySite) -> String { site.settings.mta.workingPath + "/trace.sock" }

    private static func trace(
        _ site: DeliverySite,
        _ application: String,
        _ options: [String]
    ) async throws -> Program.Ending {
        try await site.wait("the socket") { FileManager.default.fileExists(atPath: Self.socket(site)) }
        let arguments = ["trace", "--app", application, "--per-second", "100", "--seconds", "240"]
        let ending = try await Program.pushmta().run(arguments + options + ["--config", site.testSite.settingsFile])
        #expect(ending.status == 0, "\(options): \(ending.output) \(ending.errors)")
        return ending
    }

    /// Waits until the supervisor logs this many traces.
    private static func opened(_ count: Int, at site: DeliverySite) async throws {
        let file = site.testSite.host.supervisor.logFile
        try await site.wait("\(count) traces in \(file)") {
            let log = String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)
            return log.split(separator: "A trace of application").count > count
        }
    }

    private static func rows(_ output: String) throws -> [[String: Any]] {
        try output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\($0)")
        }
    }

    private static func headers(_ part: Any?) throws -> [String: String] {
        let list = try #require(
            (part as? [String: Any])?["headers"] as? [[String: String]],
            "\(String(describing: part))"
        )
        return Dictionary(list.map { ($0["name"] ?? "", $0["value"] ?? "") }, uniquingKeysWith: { $1 })
    }

    /// The trace has no push token and no credential of a sender.
    private static func expectNoSecrets(in output: String, _ site: DeliverySite) async throws {
        let tokens = try await site.store.subscriptions(limit: 1_000).map(\.pushToken)
        #expect(tokens.count >= Int(subscribers) && !tokens.contains { output.contains($0) })
        #expect(!output.lowercased().contains("bearer"))
        // The head of each provider token: {"alg":… in base64.
        #expect(!output.contains("eyJ"))
    }

    private static func records(_ site: DeliverySite) async throws -> [[String]] {
        let sql = "SELECT who, action, subject FROM pushmta_engine.audit_log WHERE action LIKE 'trace%' ORDER BY id"
        let rows = try await site.store.query(sql)
        return try (0..<rows.rowCount).map { row in try (0..<3).map { try rows.text(row, $0) } }
    }
}
