import GatewaySimulator
import GatewayTestSupport
import Gateways
import NIOPosix
import PushCore
import Synchronization
import Testing

@testable import LegacyGateways

@Suite("The binary protocol through an HTTP proxy", .timeLimit(.minutes(2)))
struct BinaryProxyTests {
    @Test("The gateway and its feedback service are reached through tunnels, and TLS ends at the gateway")
    func tunnels() async throws {
        try await Fixture.run { fixture in
            let proxy = try await TestProxy(splits: true)
            let settings = GatewayProxy(host: "127.0.0.1", port: proxy.port)
            let gateway = try await fixture.binaryGateway(proxy: settings)
            gateway.submit(fixture.binaryBatch(count: 200))
            await fixture.collector.waitForOutcomes(200)
            #expect(fixture.collector.classes(1) == [.accepted: 200])
            await gateway.shutdown()
            fixture.simulator.addFeedback(["0a0b"], sinceMilliseconds: 7_000, topic: Fixture.topic)
            var options = try fixture.options(.iosBinary, port: fixture.simulator.apnsBinaryPort, proxy: settings)
            options.feedbackAddress.port = fixture.simulator.apnsFeedbackPort
            let reader = try APNsFeedbackReader(
                credential: fixture.apnsCertificate,
                options: options,
                now: fixture.clock.now()
            )
            let heard = Mutex<[APNsFeedbackEntry]>([])
            let report = try await reader.read(eventLoop: MultiThreadedEventLoopGroup.singleton.next()) { entries in
                heard.withLock { $0 += entries }
            }
            #expect(report.trouble.isEmpty && heard.withLock { $0 } == [APNsFeedbackEntry(token: "0a0b", since: 7)])
            let targets = proxy.asked.map { $0.prefix { !$0.isNewline } }
            #expect(targets.contains("CONNECT 127.0.0.1:\(fixture.simulator.apnsBinaryPort) HTTP/1.1"))
            #expect(targets.contains("CONNECT 127.0.0.1:\(fixture.simulator.apnsFeedbackPort) HTTP/1.1"))
            try await proxy.stop()
        }
    }

    @Test("A proxy that opens no tunnel is reported by an event")
    func refused() async throws {
        try await Fixture.run { fixture in
            let proxy = try await TestProxy(answer: "HTTP/1.1 403 Not for you\r\n\r\n")
            let gateway = try await fixture.binaryGateway(proxy: GatewayProxy(host: "127.0.0.1", port: proxy.port))
            let event = try await fixture.collector.waitForEvent(.unreachable)
            #expect(event.message.contains("403 Not for you"), "\(event)")
            await gateway.shutdown()
            try await proxy.stop()
        }
    }
}
