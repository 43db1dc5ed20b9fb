import Foundation
import GatewaySimulator
import GatewayTestSupport
import NIOCore
import NIOPosix
import PushCore
import Synchronization
import Testing

@testable import Gateways

@Suite("APNs with certificates")
struct APNsCertificateTests {
    private func credential(_ file: String, _ fixture: Fixture) throws -> GatewayCredential {
        .apnsCertificate(
            pkcs12: Array(try Data(contentsOf: URL(fileURLWithPath: file))),
            passphrase: fixture.simulator.credentials.apnsCertificatePassphrase
        )
    }

    @Test("All streams at once, and no authorization", arguments: [false, true])
    func accepted(_ isSandbox: Bool) async throws {
        let change: (inout GatewaySimulatorOptions) -> Void = { $0.isSandbox = isSandbox }
        try await Fixture.run(options: change) { fixture in
            for file in [
                fixture.simulator.credentials.apnsCertificateFile,
                fixture.simulator.credentials.apnsUniversalCertificateFile,
            ] {
                let gateway = try await fixture.gateway(.iosHTTP2, credential: try credential(file, fixture))
                let deadline = ContinuousClock.now + .seconds(60)
                while await gateway.status().connections == 0, ContinuousClock.now < deadline { await Task.yield() }
                #expect(await gateway.status().streamLimit == 1_000)
                await gateway.shutdown()
            }
            let file = fixture.simulator.credentials.apnsCertificateFile
            let gateway = try await fixture.gateway(.iosHTTP2, credential: try credential(file, fixture))
            gateway.submit(fixture.batch(.iosHTTP2, count: 2_500))
            await fixture.collector.waitForOutcomes(2_500)
            #expect(fixture.collector.classes(1) == [.accepted: 2_500])
            #expect(fixture.collector.twice.isEmpty)
            await gateway.shutdown()
            let counters = fixture.simulator.counters().apns
            #expect(counters.accepted == 2_500 && counters.rejectedTotal == 0)
        }
    }

    @Test("The header authorization is sent with a key and not with a certificate")
    func headers() async throws {
        try await Fixture.run { fixture in
            let server = try await HeaderServer(fixture.folder)
            let file = fixture.simulator.credentials.apnsCertificateFile
            for (index, credential) in [fixture.apnsCredential, try credential(file, fixture)].enumerated() {
                let gateway = try fixture.factory.make(
                    connector: .iosHTTP2,
                    credential: credential,
                    topic: Fixture.topic,
                    options: try fixture.options(.iosHTTP2, port: server.port),
                    eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
                    delegate: fixture.collector
                )
                try await gateway.start()
                gateway.submit(fixture.batch(id: Int64(index + 1), .iosHTTP2, count: 1))
                await fixture.collector.waitForOutcomes(index + 1)
                await gateway.shutdown()
            }
            let fields = server.seen.fields.withLock { $0 }
            try #require(fields.count == 2)
            #expect(fields[0]["authorization"]?.hasPrefix("bearer ") == true)
            #expect(fields[1]["authorization"] == nil)
            #expect(fields[1]["apns-topic"] == Fixture.topic)
            try await server.stop()
        }
    }

    @Test("A certificate of the other environment is refused with its reason, and messages wait")
    func otherEnvironment() async throws {
        try await Fixture.run { fixture in
            let file = fixture.simulator.credentials.apnsOtherCertificateFile
            let gateway = try await fixture.gateway(.iosHTTP2, credential: try credential(file, fixture))
            let event = try await fixture.collector.waitForEvent(.applicationStopped)
            #expect(event.reason == "BadCertificateEnvironment")
            gateway.submit(fixture.batch(.iosHTTP2, count: 10))
            await gateway.shutdown()
            #expect(fixture.collector.classes(1) == [.unprocessed: 10])
            #expect(fixture.simulator.counters().apns.accepted == 0)
        }
    }

    @Test("An expired certificate is refused here, and by the gateway if it gets there")
    func expired() async throws {
        let past = ManualClock(offsets: [-1.5 * 365 * 86_400])
        try await Fixture.run(clock: past) { fixture in
            let expired = try credential(fixture.simulator.credentials.apnsExpiredCertificateFile, fixture)
            let gateway = try await fixture.gateway(.iosHTTP2, credential: expired)
            let event = try await fixture.collector.waitForEvent(.applicationStopped)
            #expect(event.reason == "BadCertificate")
            await gateway.shutdown()
            past.set(offset: 0)
            let error = await #expect(throws: GatewayCredentialError.self) {
                try await fixture.gateway(.iosHTTP2, credential: expired)
            }
            #expect(error?.code == .expired)
        }
    }

    @Test("A revoked certificate, and one of an unknown issuer")
    func revoked() async throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let stranger = GatewayCredential.apnsCertificate(
            pkcs12: try files.pkcs12(try files.pair(marks: [1, 2])),
            passphrase: "secret phrase"
        )
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(.iosHTTP2, credential: stranger)
            #expect(try await fixture.collector.waitForEvent(.applicationStopped).reason == "BadCertificate")
            await gateway.shutdown()
        }
        try await Fixture.run { fixture in
            let file = fixture.simulator.credentials.apnsCertificateFile
            let gateway = try await fixture.gateway(.iosHTTP2, credential: try credential(file, fixture))
            gateway.submit(fixture.batch(.iosHTTP2, count: 5))
            await fixture.collector.waitForOutcomes(5)
            fixture.simulator.revokeKey(true, for: .apns)
            gateway.submit(fixture.batch(id: 2, .iosHTTP2, count: 5))
            await fixture.collector.waitForOutcomes(10)
            #expect(fixture.collector.classes(2) == [.stopApplication: 5])
            #expect(fixture.collector.outcomes(2)[0]?.reason == "BadCertificate")
            await gateway.shutdown()
        }
    }

    @Test("A certificate for other topics")
    func topics() async throws {
        try await Fixture.run { fixture in
            let file = fixture.simulator.credentials.apnsCertificateFile
            let gateway = try await fixture.gateway(
                .iosHTTP2,
                topic: "com.example.other",
                credential: try credential(file, fixture)
            )
            gateway.submit(fixture.batch(.iosHTTP2, count: 3))
            await fixture.collector.waitForOutcomes(3)
            #expect(fixture.collector.outcomes(1)[0]?.reason == "TopicDisallowed")
            #expect(fixture.collector.classes(1) == [.stopApplication: 3])
            await gateway.shutdown()
        }
    }

    @Test("Credentials of the wrong kind are explained")
    func kinds() async throws {
        try await Fixture.run { fixture in
            let file = fixture.simulator.credentials.apnsCertificateFile
            let certificate = try credential(file, fixture)
            let wrong: [(Connector, GatewayCredential, String)] = [
                (
                    .iosHTTP2, fixture.serviceAccount,
                    "an APNs key (.p8) or an APNs certificate (.p12), not a service account"
                ),
                (.iosBinary, fixture.apnsCredential, "an APNs certificate (.p12), not an APNs key"),
                (.androidV1, certificate, "a service account (JSON file) or a project key, not an APNs certificate"),
                (.androidV2, fixture.apnsCredential, "not an APNs key"),
            ]
            for (connector, credential, mention) in wrong {
                let error = await #expect(throws: GatewayCredentialError.self) {
                    try await fixture.gateway(connector, credential: credential)
                }
                #expect(error?.code == .wrongKind)
                #expect(error?.message.contains(mention) == true, "\(error?.message ?? "")")
            }
        }
    }
}
