import Foundation
import HTTP2
import NIOSSL
import Testing

@testable import GatewaySimulator

/// What APNs does with senders that show a certificate.
struct APNsCertificateTests {
    private func identity(_ file: String, _ fixture: Fixture) throws -> HTTP2TLSIdentity {
        let passphrase = Array(fixture.simulator.credentials.apnsCertificatePassphrase.utf8)
        let bundle = try NIOSSLPKCS12Bundle(file: file, passphrase: passphrase)
        return HTTP2TLSIdentity(certificateChain: bundle.certificateChain, privateKey: bundle.privateKey)
    }

    private func probe(_ file: String, _ fixture: Fixture) async throws -> Probe {
        try await Probe.open(
            fixture,
            port: fixture.simulator.apnsPort,
            streams: 1_000,
            identity: try identity(file, fixture)
        )
    }

    @Test func thousandStreamsAreAllowedAtOnceAndTokensAreNotLookedAt() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await probe(fixture.simulator.credentials.apnsCertificateFile, fixture)
            try await probe.limit(1_000)
            #expect(probe.limits == [1_000], "the first SETTINGS say so, not a second one")
            let ids = Batches.ids(2_000)
            probe.submit(Batches.apns(fixture, ids: ids, authorization: "bearer nonsense"))
            probe.submit(Batches.apns(fixture, ids: Batches.ids(10), authorization: nil))
            try await probe.resolved(2_010)
            #expect(probe.statuses == [200: 2_010])
            #expect(fixture.simulator.counters().apns.accepted == 2_010)
            await probe.close()
        }
    }

    @Test func aWrongCertificateMeetsAGoAwayWithItsReason() async throws {
        try await Fixture.run { (fixture) async throws in
            let credentials = fixture.simulator.credentials
            let wrong = [
                (credentials.apnsOtherCertificateFile, #"{"reason":"BadCertificateEnvironment"}"#),
                (credentials.apnsExpiredCertificateFile, #"{"reason":"BadCertificate"}"#),
            ]
            for (file, reason) in wrong {
                let probe = try await probe(file, fixture)
                try await probe.event("a GOAWAY with \(reason)") { event in
                    guard case .goAway(let code, let last, let data, _) = event else { return false }
                    return code == .noError && last == 0 && String(decoding: data, as: UTF8.self) == reason
                }
                // The handshake and SETTINGS had been good.
                #expect(probe.limits == [1])
                await probe.close()
            }
            fixture.simulator.revokeKey(true, for: .apns)
            let revoked = try await probe(credentials.apnsCertificateFile, fixture)
            try await revoked.event("a GOAWAY") { event in
                if case .goAway(.noError, 0, let data, _) = event {
                    data == Array(#"{"reason":"BadCertificate"}"#.utf8)
                } else {
                    false
                }
            }
            await revoked.close()
            #expect(fixture.simulator.counters().apns.accepted == 0)
        }
    }

    @Test func aCertificateForBothEnvironmentsIsGoodInEach() async throws {
        for isSandbox in [false, true] {
            try await Fixture.run(.with { $0.isSandbox = isSandbox }) { (fixture) async throws in
                let credentials = fixture.simulator.credentials
                for file in [credentials.apnsUniversalCertificateFile, credentials.apnsCertificateFile] {
                    let probe = try await probe(file, fixture)
                    probe.submit(Batches.apns(fixture, ids: Batches.ids(2)))
                    try await probe.resolved(2)
                    #expect(probe.statuses == [200: 2])
                    await probe.close()
                }
            }
        }
    }

    @Test func theTopicOfASingleTopicCertificateNeedNotBeNamed() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await probe(fixture.simulator.credentials.apnsCertificateFile, fixture)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(1), topic: nil))
            try await probe.resolved(1)
            #expect(probe.statuses == [200: 1])
            probe.submit(Batches.apns(fixture, ids: Batches.ids(1), topic: "com.example.other"))
            try await probe.resolved(2)
            #expect(fixture.simulator.counters().apns.rejected["TopicDisallowed"] == 1)
            await probe.close()
        }
        try await Fixture.run(.with { $0.apnsTopics = ["com.example.app", "com.example.app.voip"] }) {
            (fixture) async throws in
            let probe = try await probe(fixture.simulator.credentials.apnsCertificateFile, fixture)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(1), topic: nil))
            try await probe.resolved(1)
            #expect(fixture.simulator.counters().apns.rejected["MissingTopic"] == 1)
            await probe.close()
        }
    }

    @Test func aCertificateSendsToTheTopicsThatItCarries() async throws {
        let app = "com.example.app"
        try await Fixture.run(.with { $0.apnsTopics = [app, app + ".voip", app + ".location-query"] }) {
            (fixture) async throws in
            let probe = try await probe(fixture.simulator.credentials.apnsCertificateFile, fixture)
            // Location takes no certificate, whatever it carries.
            let types: [APNsPushType] = [.alert, .voip, .liveactivity, .location]
            for (number, type) in types.enumerated() {
                let batch = Batches.apns(
                    fixture,
                    ids: Batches.ids(1),
                    topic: app + type.topicSuffix,
                    pushType: type.rawValue
                )
                probe.submit(batch)
                try await probe.resolved(number + 1)
                let refused = fixture.simulator.counters().apns.rejected["TopicDisallowed"] ?? 0
                #expect(refused == max(0, number - 1), "\(type)")
            }
            await probe.close()
        }
    }

    @Test func theFilesAreKeptAndMadeAnewWhenTheyNoLongerFit() async throws {
        let folder = NSTemporaryDirectory() + "simulator-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var seen: [Data] = []
        for topics in [["com.example.app"], ["com.example.app"], ["com.example.other"]] {
            var options = GatewaySimulatorOptions(stateFolder: folder)
            options.apnsTopics = topics
            let simulator = try await GatewaySimulator.start(options)
            let file = simulator.credentials.apnsCertificateFile
            seen.append(try Data(contentsOf: URL(fileURLWithPath: file)))
            let rights = try FileManager.default.attributesOfItem(atPath: file)
            #expect(rights[.posixPermissions] as? Int == 0o600)
            await simulator.stop()
        }
        #expect(seen[0] == seen[1] && seen[1] != seen[2])
    }
}
