import Foundation
import PostgresClient
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// Push types with their own topics, certificates and push tokens. A fault of such a delivery is reported before it
/// starts. If the gateway reports it, it affects no other delivery and no token.
@Suite struct PushTypeTests {
    private static let voip = #"{"ios":{"push_type":"voip","variables":{"call":"1"}}}"#
    private static let location = #"{"ios":{"push_type":"location","aps":{"x":1}}}"#
    private static let activity =
        #"{"ios":{"aps":{"event":"update","timestamp":1,"content-state":{"score":1}}}}"#

    @discardableResult
    private func run(_ site: DeliverySite, _ words: [String], expect status: Int32 = 0) async throws -> String {
        let ending = try await Program.pushmta().run(words + ["--config", site.testSite.settingsFile])
        #expect(ending.status == status, "\(words): \(ending.output) \(ending.errors)")
        return ending.output + ending.errors
    }

    private func texts(_ site: DeliverySite, _ sql: String) async throws -> [String] {
        let connection = try await PostgresConnection.connect(StoreSession.configuration(site.settings, role: "test"))
        let rows = try await connection.execute(PostgresStatement(sql, prepare: false))
        let texts = try (0..<rows.rowCount).map { try rows.text($0, 0) }
        await connection.close()
        return texts
    }

    /// The enabled tokens of an application.
    private func tokens(_ site: DeliverySite, _ name: String) async throws -> [String] {
        try await texts(
            site,
            """
            SELECT s.push_token FROM pushmta_engine.subscription s JOIN pushmta_engine.application a ON a.id = s.application_id
            WHERE a.name = '\(name)' AND s.enabled ORDER BY s.id
            """
        )
    }

    /// An application with the sample certificate, which has only the plain bundle id as its topic.
    private func certified(_ site: DeliverySite) async throws -> String {
        let name = try await site.add("certified", account: site.application)
        let apns = site.simulator.credentials.apns
        let passphrase = site.testSite.folder + "/passphrase"
        try #require(apns.certificatePassphrase).write(toFile: passphrase, atomically: true, encoding: .utf8)
        let file = try #require(apns.certificateFile)
        try await run(site, ["credential", "set", name, "--key", file, "--passphrase-file", passphrase])
        return name
    }

    private func isHealthy(_ site: DeliverySite) async throws -> Bool {
        try await site.store.applicationHealth().allSatisfy { $0.state == .closed && $0.openedAt == nil }
    }

    /// No spare children: they would find an application before it has its credential.
    private static func withoutStock(_ settings: inout Settings) {
        settings.mta.master.startSpareServers = 0
        settings.mta.master.minSpareServers = 0
    }

    @Test func whatTheCertificateDoesNotCarryIsRefusedBeforeAnythingIsSent() async throws {
        try await DeliverySite.with(configure: Self.withoutStock) { site in
            let name = try await certified(site)
            let topic = site.simulator.credentials.apns.topics[0]
            let reasons = [
                (Self.voip, "push type voip has the topic \(topic).voip, and"),
                (Self.activity, "push type liveactivity has the topic \(topic).push-type.liveactivity, and"),
                (Self.location, "APNs accepts push type location only with a token key"),
            ]
            let file = site.testSite.folder + "/content.json"
            for (content, reason) in reasons {
                try content.write(toFile: file, atomically: true, encoding: .utf8)
                let check = try await run(site, ["delivery", "create", "--check", file, "--app", name], expect: 65)
                #expect(check.contains(reason) && check.contains("ios.push_type"), "\(check)")
                let words = ["delivery", "create", "--label", "x", "--app", name, "--content", content]
                #expect(try await run(site, words, expect: 65).contains(reason))
                // For a delivery created in the database, start or the preparation reports it.
                let id = try await site.store.createDelivery(
                    NewDelivery(label: "x", applications: [name], content: content)
                )
                let start = try await run(site, ["delivery", "start", String(id)], expect: 65)
                #expect(start.contains("was not started") && start.contains(reason), "\(start)")
                let failed = try await site.progress(try await site.send(content, to: name))
                #expect(failed.state == .editing && failed.stateReason.contains(reason), "\(failed.stateReason)")
                #expect(failed.target == 0)
                // With a key the delivery is right, and a notice explains its tokens.
                let right = try await run(site, ["delivery", "create", "--check", file, "--app", site.application])
                #expect(right.contains("is valid") && right.contains("push tokens of its own"), "\(right)")
                let token = try #require(try await tokens(site, site.application).first)
                let preview = [
                    "delivery", "preview", "--content", file, "--app", site.application, "--subscription", token,
                ]
                #expect(try await run(site, preview).contains("push tokens of its own"))
            }
            let json = try await Program.pushmta().run(["delivery", "create", "--check", file, "--json"]).json()
            #expect((json["notices"] as? [String])?.count == 1)
            try #"{"ios":{"title":"x"}}"#.write(toFile: file, atomically: true, encoding: .utf8)
            let alert = try await run(site, ["delivery", "create", "--check", file, "--app", name])
            #expect(!alert.contains("Note"))
            #expect(try await isHealthy(site))
        }
    }

    @Test func aTopicThatTheGatewayDisallowsStopsNoOtherDelivery() async throws {
        try await DeliverySite.with(configure: Self.withoutStock) { site in
            let name = try await certified(site)
            // Without the certificate's known topics, only the gateway can report it.
            _ = try await texts(
                site,
                "UPDATE pushmta_engine.credential SET attributes = attributes - 'topics' RETURNING name"
            )
            let call = try await site.send(Self.voip, to: name)
            let held = try await site.progress(call) { $0.state == .paused }
            #expect(held.stateReason.contains("400 TopicDisallowed to push type voip"), "\(held.stateReason)")
            let alert = try await site.progress(try await site.send(to: name))
            #expect(alert.state == .finished && alert.sent == 20)
            #expect(try await isHealthy(site))
            #expect(try await run(site, ["status", "--wide"]).contains("pushmta delivery resume \(call)"))
            #expect(try await run(site, ["delivery", "status", String(call)]).contains("TopicDisallowed"))
            // The fault was not corrected: the delivery is tried and held back again.
            try await run(site, ["delivery", "resume", String(call)])
            let again = try await site.progress(call) {
                $0.state == .paused && !$0.stateReason.isEmpty && $0.partsClaimed == 0
            }
            #expect(again.pending == 20 && again.failed == 0 && again.sent == 0)
            #expect(try await tokens(site, name).count == 20)
            // `delivery watch` reports that the delivery will not end.
            #expect(try await run(site, ["delivery", "watch", String(call)], expect: 1).contains("TopicDisallowed"))
            try await run(site, ["delivery", "stop", String(call)])
            #expect(try await site.progress(call).canceled == 20)
            #expect(try await isHealthy(site))
        }
    }

    @Test func tokensOfNotificationsSurviveAPushOfAnotherKind() async throws {
        try await DeliverySite.with(poolPeriod: 1) { site in
            let all = try await tokens(site, site.application)
            let list = all.map { "\"\($0)\"" }.joined(separator: ",")
            _ = try await SimulatorControl(site.simulator).post(
                "/devices",
                #"{"tokens":[\#(list)],"state":"PushType","by":"alert"}"#
            )
            // No token is of the right kind: nothing fails, and the delivery says why it waits.
            let call = try await site.send(Self.voip, to: site.application)
            let held = try await site.progress(call) { $0.state == .paused && $0.partsClaimed == 0 }
            #expect(held.pending == Int64(all.count) && held.failed == 0)
            #expect(held.stateReason.contains("needs its own push tokens"), "\(held.stateReason)")
            // So few failures may be a coincidence: the messages fail, but no token is changed.
            _ = try await texts(
                site,
                """
                UPDATE pushmta_engine.subscription SET enabled = false WHERE id NOT IN (
                    SELECT id FROM pushmta_engine.subscription ORDER BY id LIMIT 8) RETURNING push_token
                """
            )
            let few = try await site.progress(try await site.send(Self.voip, to: site.application))
            #expect(few.state == .finished && few.failed == 8)
            let outcomes = try await site.store.outcomeCounts(delivery: few.id)
            #expect(outcomes.map(\.reason) == ["DeviceTokenNotForTopic"])
            let alert = try await site.progress(try await site.send(to: site.application))
            #expect(alert.sent == 8 && alert.notApplicable == 0)
            for id in [call, few.id] { #expect(try await site.store.tokenEventCounts(delivery: id).isEmpty) }
            #expect(try await tokens(site, site.application).count == 8)
            #expect(try await isHealthy(site))
        }
    }
}
