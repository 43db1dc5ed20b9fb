import Foundation
import GatewaySimulator
import GatewayTestSupport
import Gateways
import HTTP2
import NIOPosix
import PushCore
import Synchronization
import Testing

@testable import LegacyGateways

@Suite("The feedback service", .timeLimit(.minutes(2)))
struct BinaryFeedbackTests {
    private func reader(_ fixture: Fixture, port: Int? = nil, credential: GatewayCredential? = nil) throws
        -> APNsFeedbackReader
    {
        var options = try fixture.options(.iosBinary, port: fixture.simulator.apnsBinaryPort)
        options.feedbackAddress.port = port ?? fixture.simulator.apnsFeedbackPort
        options.connections.requestTimeoutMilliseconds = 1_000
        return try APNsFeedbackReader(
            credential: credential ?? fixture.apnsCertificate,
            options: options,
            now: fixture.clock.now()
        )
    }

    private func read(_ reader: APNsFeedbackReader) async throws -> (APNsFeedbackReport, [APNsFeedbackEntry]) {
        let entries = Mutex<[APNsFeedbackEntry]>([])
        let report = try await reader.read(eventLoop: MultiThreadedEventLoopGroup.singleton.next()) { batch in
            #expect(batch.count <= 1_000)
            entries.withLock { $0 += batch }
        }
        return (report, entries.withLock { $0 })
    }

    @Test("Tokens of devices without the app come with their time, once")
    func tells() async throws {
        try await Fixture.run { fixture in
            let gone = (0..<3).map { Fixture.token(1 << 32 | UInt64($0)) }
            fixture.simulator.setDevice(gone[0], to: .unregistered(sinceMilliseconds: 1_700_000_000_999))
            fixture.simulator.setDevice(gone[1], to: .expired(sinceMilliseconds: 1_600_000_000_000))
            let gateway = try await fixture.binaryGateway()
            gateway.submit(fixture.binaryBatch(count: 3))
            await fixture.collector.waitForOutcomes(3)
            #expect(fixture.collector.classes(1) == [.accepted: 3], "the gateway itself says nothing of them")
            let (report, entries) = try await read(try reader(fixture))
            #expect(report == APNsFeedbackReport(entries: 2, trouble: ""))
            #expect(
                Set(entries) == [
                    APNsFeedbackEntry(token: gone[0], since: 1_700_000_000),
                    APNsFeedbackEntry(token: gone[1], since: 1_600_000_000),
                ]
            )
            #expect(try await read(try reader(fixture)).0.entries == 0, "what was read is forgotten")
            await gateway.shutdown()
        }
    }

    @Test("A long list comes in chunks, and an error from the caller ends the reading")
    func long() async throws {
        try await Fixture.run { fixture in
            let tokens = (0..<5_000).map { Fixture.token(1 << 32 | UInt64($0)) }
            fixture.simulator.addFeedback(tokens, sinceMilliseconds: 1_000_000, topic: Fixture.topic)
            fixture.simulator.addFeedback(["aa"], sinceMilliseconds: 1_000_000, topic: "com.example.other")
            #expect(!fixture.simulator.addFeedback(["x"], sinceMilliseconds: 1, topic: Fixture.topic))
            let (report, entries) = try await read(try reader(fixture))
            #expect(report == APNsFeedbackReport(entries: 5_000, trouble: ""))
            #expect(Set(entries.map(\.token)) == Set(tokens))
            #expect(fixture.simulator.feedbackCount == 1, "another app's are not told")
            struct Full: Error {}
            fixture.simulator.addFeedback(tokens, sinceMilliseconds: 1_000_000, topic: Fixture.topic)
            let again = try reader(fixture)
            await #expect(throws: Full.self) {
                _ = try await again.read(eventLoop: MultiThreadedEventLoopGroup.singleton.next()) { _ in throw Full() }
            }
        }
    }

    @Test("Wrong servers: silent, nonsense, unreachable, or refusing the certificate")
    func trouble() async throws {
        try await Fixture.run { fixture in
            // The gateway's own port never sends anything.
            let silent = try await read(try reader(fixture, port: fixture.simulator.apnsBinaryPort)).0
            #expect(silent.entries == 0 && silent.trouble.contains("neither sent anything"))
            let away = try reader(fixture, port: try await ClosedPort.find())
            await #expect(throws: (any Error).self) { _ = try await read(away) }
            let other = fixture.certificate(fixture.simulator.credentials.apnsOtherCertificateFile)
            let refused = try await read(try reader(fixture, credential: other)).0
            #expect(refused.entries == 0 && !refused.trouble.isEmpty)
            #expect(throws: GatewayCredentialError.self) { try reader(fixture, credential: fixture.apnsCredential) }
        }
    }

    @Test("Addresses: the feedback service has its own name and the port after the gateway's")
    func addresses() {
        #expect(
            GatewayAddress.standard(.iosBinary, .production)?.feedback
                == GatewayAddress(host: "feedback.push.apple.com", port: 2_196)
        )
        #expect(
            GatewayAddress.standard(.iosBinary, .sandbox)?.feedback
                == GatewayAddress(host: "feedback.sandbox.push.apple.com", port: 2_196)
        )
        #expect(GatewayAddress(host: "127.0.0.1", port: 5).feedback == GatewayAddress(host: "127.0.0.1", port: 6))
    }
}
