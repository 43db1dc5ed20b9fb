import CurlClient
import GatewaySimulator
import GatewayTestSupport
import NIOCore
import NIOPosix
import PushCore
import Testing

@testable import Gateways

@Suite("HTTP proxy")
struct GatewayProxyTests {
    private func start(_ connector: Connector, _ fixture: Fixture, _ proxy: GatewayProxy) async throws -> any Gateway {
        let isAPNs = connector == .iosHTTP2
        let gateway = try fixture.factory.make(
            connector: connector,
            credential: isAPNs ? fixture.apnsCredential : fixture.serviceAccount,
            topic: Fixture.topic,
            options: try fixture.options(
                connector,
                port: isAPNs ? fixture.simulator.apnsPort : fixture.simulator.fcmPort,
                proxy: proxy
            ),
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            delegate: fixture.collector
        )
        try await gateway.start()
        return gateway
    }

    @Test("APNs, FCM and the token endpoint are reached through the proxy")
    func tunnels() async throws {
        try await Fixture.run { fixture in
            let proxy = try await TestProxy()
            let settings = GatewayProxy(host: "127.0.0.1", port: proxy.port, login: "me@home", password: "a:b/c%")
            for (index, connector) in [Connector.iosHTTP2, .androidV2].enumerated() {
                let gateway = try await start(connector, fixture, settings)
                gateway.submit(fixture.batch(id: Int64(index + 1), connector, count: 50))
                await fixture.collector.waitForOutcomes((index + 1) * 50)
                #expect(fixture.collector.classes(Int64(index + 1)) == [.accepted: 50])
                await gateway.shutdown()
            }
            let asked = proxy.asked
            let ports = [fixture.simulator.apnsPort, fixture.simulator.fcmPort, fixture.simulator.oauthPort]
            for port in ports {
                let head = try #require(asked.first { $0.hasPrefix("CONNECT 127.0.0.1:\(port) ") })
                // me@home:a:b/c%
                #expect(head.contains("Proxy-Authorization: Basic bWVAaG9tZTphOmIvYyU=\r\n"), "\(head)")
            }
            try await proxy.stop()
        }
    }

    @Test("Excepted hosts are reached directly")
    func direct() async throws {
        try await Fixture.run { fixture in
            let settings = GatewayProxy(host: "127.0.0.1", port: 1, direct: ["*.intern", "127.*"])
            let gateway = try await start(.androidV1, fixture, settings)
            gateway.submit(fixture.batch(.androidV1, count: 5))
            await fixture.collector.waitForOutcomes(5)
            #expect(fixture.collector.classes(1) == [.accepted: 5])
            await gateway.shutdown()
        }
    }

    @Test("Names of hosts that need no proxy")
    func patterns() {
        let proxy = GatewayProxy(host: "p", port: 1, direct: ["localhost*", "*.intern", "a*b*c", "Exact"])
        for name in ["localhost", "localhost.localdomain", "x.intern", "X.INTERN", "abc", "axxbxxc", "exact"] {
            #expect(!proxy.isUsed(for: name), "\(name)")
        }
        for name in ["mylocalhost", "intern", "ab", "abcd", "exactly", "", "fcm.googleapis.com"] {
            #expect(proxy.isUsed(for: name), "\(name)")
        }
        #expect(GatewayProxy(host: "p", port: 1, direct: ["*"]).http2(for: "any") == nil)
        #expect(GatewayProxy(host: "p", port: 1, direct: ["*"]).curl(for: "any") == .none)
        #expect(proxy.curl(for: "x") == .url("http://p:1"))
        #expect(GatewayProxy(host: "::1", port: 2).curl(for: "x") == .url("http://[::1]:2"))
        var dumped = ""
        dump(GatewayProxy(host: "p", port: 1, login: "l", password: "hush"), to: &dumped)
        #expect(!dumped.contains("hush"))
    }

    @Test("Settings")
    func settings() throws {
        var settings = NMACSettings()
        settings.proxyHTTP.address = "proxy.example"
        #expect(try settings.gatewayProxy(environment: ["https_proxy": "http://other:1"]) == nil)
        settings.useHTTPProxy = true
        settings.proxyHTTP.override = "localhost; *.intern,x"
        #expect(
            try settings.gatewayProxy(environment: [:])
                == GatewayProxy(host: "proxy.example", port: 8_080, direct: ["localhost", "*.intern", "x"])
        )
        for address in ["", "http://proxy.example", "me:hush@proxy.example", "a b"] {
            settings.proxyHTTP.address = address
            let error = #expect(throws: SettingsError.self) { try settings.gatewayProxy(environment: [:]) }
            #expect(error?.message.contains("hush") == false)
        }
        settings.proxyHTTP = ProxyHTTPSettings()
        settings.proxyHTTP.address = "environment"
        #expect(try settings.gatewayProxy(environment: [:]) == nil)
        let read = try settings.gatewayProxy(environment: [
            "https_proxy": "http://me%40home:hu%3Ash@proxy.example:3128/", "no_proxy": "localhost,.example.com",
        ])
        #expect(read?.curl(for: "x") == .url("http://me%40home:hu%3Ash@proxy.example:3128"))
        #expect(read?.isUsed(for: "fcm.googleapis.com") == true)
        #expect(read?.isUsed(for: "a.example.com") == false && read?.isUsed(for: "example.com") == false)
        #expect(try settings.gatewayProxy(environment: ["https_proxy": "proxy.example"])?.port == 1_080)
        #expect(throws: SettingsError.self) {
            try settings.gatewayProxy(environment: ["https_proxy": "socks5://proxy.example"])
        }
    }

    @Test("A proxy that refuses is named")
    func refusal() async throws {
        try await Fixture.run { fixture in
            let proxy = try await TestProxy(answer: "HTTP/1.1 403 Forbidden\r\n\r\n")
            let settings = GatewayProxy(host: "127.0.0.1", port: proxy.port)
            let gateway = try await start(.iosHTTP2, fixture, settings)
            let event = try await fixture.collector.waitForEvent(.unreachable)
            #expect(event.message.contains("the proxy 127.0.0.1:\(proxy.port) refuses a tunnel"))
            #expect(event.message.contains("nmac.proxyHTTP"))
            await gateway.shutdown()
            try await proxy.stop()
        }
    }
}
