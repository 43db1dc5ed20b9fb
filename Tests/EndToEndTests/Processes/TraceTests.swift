import Foundation
import PostgresClient
import PushCore
import Testing

@testable import Administration
@testable import Laboratory
@testable import Store
@testable import pushmta

/// `pushmta trace` beside a delivery.
@Suite(.serialized) struct TraceTests {
    private static func rows(_ output: String) throws -> [[String: Any]] {
        try output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\($0)")
        }
    }

    @Test func itShowsTheWireWithoutSecretsAndTextsOnRecordOnly() async throws {
        try await DeliverySite.with(subscribers: 40) { site in
            let content = #"{"ios":{"title":"Hello {{firstName|nobody}}, it is secret"}}"#
            // Nobody runs yet: it waits for children.
            async let masked = site.run(
                "trace",
                "--app",
                site.application,
                "--seconds",
                "8",
                "--json",
                "--per-second",
                "100"
            )
            async let plain = site.run("trace", "--app", site.application, "--seconds", "8", "--unmasked")
            try await site.wait("the record") { try await Self.records(site) == 1 }
            let id = try await site.send(content, to: site.application)
            _ = try await site.progress(id)
            let (hidden, shown) = (try await masked, try await plain)
            let rows = try Self.rows(hidden.output)
            #expect((1...40).contains(rows.count) && hidden.errors.contains("The trace has ended"), "\(hidden)")
            let tokens = try await site.store.subscriptions(limit: 100).map(\.pushToken)
            #expect(tokens.count == 40)
            for output in [hidden.output, shown.output] {
                #expect(!tokens.contains { output.contains($0) } && !output.lowercased().contains("bearer"))
                #expect(output.contains("(hidden)") && output.contains("apns-topic") && output.contains(":status"))
            }
            #expect(!hidden.output.contains("Hello") && !hidden.output.contains("secret"), "\(hidden.output)")
            #expect(shown.output.contains("Hello nobody, it is secret"), "\(shown.output)")
            #expect(rows.allSatisfy { $0["delivery"] as? Int == Int(id) && ($0["token_hash"] as? String)?.count == 64 })
            #expect(try await Self.records(site) == 1)
        }
    }

    @Test func withoutASupervisorItSaysSo() async throws {
        try await DeliverySite.with(subscribers: 1) { site in
            let socket = site.settings.mta.workingPath + "/trace.sock"
            try await site.wait("the socket") { FileManager.default.fileExists(atPath: socket) }
            let mode = try FileManager.default.attributesOfItem(atPath: socket)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            try await site.run("trace", "--app", "nobody", expect: 65)
            try await site.run("trace", "--app", site.application, "--token-hash", "ab", expect: 64)
            try await site.run("trace", "--app", site.application, "--per-second", "101", expect: 64)
            let elsewhere = ["--set", "mta.workingPath=/nowhere"]
            let ending = try await Program.pushmta().run(
                ["trace", "--app", site.application, "--config", site.testSite.settingsFile] + elsewhere
            )
            #expect(ending.status == 69 && ending.errors.contains("/nowhere/trace.sock"), "\(ending.errors)")
        }
    }

    private static func records(_ site: DeliverySite) async throws -> Int64 {
        let sql = "SELECT count(*) FROM pushmta_engine.audit_log WHERE action = 'trace.unmasked'"
        return try await site.store.query(sql).int64(0, 0)
    }
}
