import Foundation
import PostgresClient
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// The match of an application, its account and its credential is checked before anything is sent.
@Suite struct RouteCommandTests {
    private func run(_ site: DeliverySite, _ words: String..., expect status: Int32 = 0) async throws -> String {
        let ending = try await Program.pushmta().run(words + ["--config", site.testSite.settingsFile])
        #expect(ending.status == status, "\(words): \(ending.output) \(ending.errors)")
        return ending.output + ending.errors
    }

    private func sql(_ site: DeliverySite, _ text: String) async throws {
        let connection = try await PostgresConnection.connect(StoreSession.configuration(site.settings, role: "test"))
        defer { Task { await connection.close() } }
        try await connection.run(script: text)
    }

    private func certificate(_ site: DeliverySite) throws -> [String] {
        let apns = site.simulator.credentials.apns
        let passphrase = site.testSite.folder + "/passphrase"
        try #require(apns.certificatePassphrase).write(toFile: passphrase, atomically: true, encoding: .utf8)
        return ["--key", try #require(apns.certificateFile), "--passphrase-file", passphrase]
    }

    @Test func anApplicationDoesNotGoToTheOtherEnvironment() async throws {
        try await DeliverySite.with { site in
            let own = site.application
            _ = try await run(site, "account", "add", "apple", "--connector", "ios-http2")
            _ = try await run(site, "account", "add", "test", "--connector", "ios-http2", "--environment", "sandbox")
            _ = try await run(site, "app", "set", own, "--account", "apple")
            let refused = try await run(site, "app", "set", own, "--account", "test", expect: 65)
            #expect(refused.contains("api.sandbox.push.apple.com, which is for sandbox"))
            let moved = try await run(site, "account", "set", "apple", "--environment", "sandbox", expect: 65)
            #expect(moved.contains(own))
            let added = [
                "app", "add", "other", "--message-id-format", "uuid", "--service", site.audience.prefix, "--platform",
                "ios", "--environment",
                "sandbox",
                "--bundle-id", "com.example.app", "--account",
            ]
            for (account, status) in [("apple", Int32(65)), ("test", 0)] {
                let ending = try await Program.pushmta().run(added + [account, "--config", site.testSite.settingsFile])
                #expect(ending.status == status, "\(ending.errors)")
            }
            // As stored by a version without the check.
            try await sql(
                site,
                "UPDATE pushmta_engine.external_account SET host = 'api.development.push.apple.com' WHERE name = 'apple'"
            )
            let doctor = try await run(site, "doctor", expect: 1)
            #expect(doctor.contains("which is for sandbox: there every push token is a bad one"))
            let content = #"{"ios":{"title":"x"}}"#
            let words = ["delivery", "create", "--label", "x", "--app", own, "--content", content, "--start"]
            let create = try await Program.pushmta().run(words + ["--config", site.testSite.settingsFile])
            #expect(create.status == 65 && create.errors.contains("created but not started"), "\(create.errors)")
            let failed = try await site.progress(try await site.send(to: own))
            #expect(failed.state == .editing && failed.stateReason.contains("which is for sandbox"))
            _ = try await run(
                site,
                "account",
                "add",
                "fcm",
                "--connector",
                "android-v2",
                "--environment",
                "sandbox",
                expect: 64
            )
        }
    }

    @Test func aBundleIDIsThatOfTheCertificate() async throws {
        try await DeliverySite.with { site in
            let name = try await site.add("certified", account: site.application)
            let set = try await Program.pushmta().run(
                ["credential", "set", name] + certificate(site) + ["--config", site.testSite.settingsFile]
            )
            #expect(set.status == 0, "\(set.errors)")
            let other = try await run(site, "app", "set", name, "--bundle-id", "com.other.app", expect: 65)
            #expect(other.contains("com.other.app") && other.contains(site.simulator.credentials.apns.topics[0]))
            for id in ["", "a b", "com.example.app ", "a/../c", "a\nb", "com.exämple"] {
                let text = try await run(site, "app", "set", name, "--bundle-id", id, expect: 65)
                #expect(text.contains("letters, digits, dots and hyphens"))
            }
            #expect(try await site.store.application(named: name).bundleID == site.simulator.credentials.apns.topics[0])
            await #expect(throws: (any Error).self) {
                try await sql(site, "UPDATE pushmta_engine.application SET bundle_id = 'a b'")
            }
            try await sql(site, "UPDATE pushmta_engine.application SET bundle_id = 'com.other' WHERE name = '\(name)'")
            #expect(try await run(site, "doctor", expect: 1).contains("its bundle id is com.other"))
            let failed = try await site.progress(try await site.send(to: name))
            #expect(failed.state == .editing && failed.stateReason.contains("its bundle id is com.other"))
        }
    }

    @Test func anApplicationComesWithItsCredentialOrNotAtAll() async throws {
        try await DeliverySite.with { site in
            let name = try await site.add("certified", account: site.application)
            let apns = site.simulator.credentials.apns
            let both =
                ["--key", try #require(apns.universalCertificateFile)] + (try certificate(site).dropFirst(2))
            let config = ["--config", site.testSite.settingsFile]
            let set = try await Program.pushmta().run(["credential", "set", name] + both + config)
            #expect(set.status == 0, "\(set.errors)")
            let add =
                [
                    "app", "add", "twin", "--message-id-format", "uuid", "--service", site.audience.prefix,
                    "--platform", "ios", "--environment",
                    "sandbox", "--bundle-id", apns.topics[0], "--sound", "chime.caf",
                ] + both + config
            let refused = try await Program.pushmta().run(add)
            #expect(refused.status == 65 && refused.errors.contains("do not share a certificate"))
            #expect(try await !site.store.applications().contains { $0.name == "twin" })
            let added = try await Program.pushmta().run(add + ["--both-environments"])
            #expect(added.status == 0 && added.output.contains("expires in"), "\(added.errors)")
            let twin = try await site.store.application(named: "twin")
            #expect(twin.credentialID != nil && twin.sounds.contains("chime.caf"))
        }
    }
}
