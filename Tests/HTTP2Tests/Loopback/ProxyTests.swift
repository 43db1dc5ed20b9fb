import GatewayTestSupport
import HTTP2
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import HTTP2

/// Connections through an HTTP proxy, and certificates of clients.
@Suite struct ProxyTests {
    @Test(arguments: [false, true])
    func requestsGoThroughATunnel(_ tls: Bool) async throws {
        let server = try await LoopbackServer(tls: tls)
        let proxy = try await TestProxy()
        let test = try await TestClient(port: server.port, tls: tls, connections: 2) {
            $0.proxy = HTTP2Proxy(host: "127.0.0.1", port: proxy.port)
        }
        test.client.submit(TestBatch.make(500))
        let seen = try await test.probe.resolved(500)
        #expect(seen.answered == 500)
        #expect(server.seen.value.requests == 500)
        let asked = proxy.asked
        #expect(asked.count == 2)
        let target = "127.0.0.1:\(server.port)"
        #expect(asked.allSatisfy { $0.hasPrefix("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n") })
        #expect(asked.allSatisfy { !$0.contains("Proxy-Authorization") })
        await test.client.shutdown()
        try await proxy.stop()
        try await server.stop()
    }

    @Test func nameAndPasswordAreGiven() async throws {
        let server = try await LoopbackServer(tls: true)
        let proxy = try await TestProxy(splits: true)
        let test = try await TestClient(port: server.port, tls: true, host: "localhost") {
            $0.proxy = HTTP2Proxy(host: "127.0.0.1", port: proxy.port, login: "Aladdin", password: "open sesame")
        }
        test.client.submit(TestBatch.make(3))
        #expect(try await test.probe.resolved(3).answered == 3)
        // The example of RFC 7617 section 2.
        let head = try #require(proxy.asked.first)
        #expect(head.contains("\r\nProxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"))
        #expect(head.hasPrefix("CONNECT localhost:"))
        #expect(test.seen.failedDials.isEmpty && test.seen.openings == 1 && proxy.asked.count == 1)
        await test.client.shutdown()
        try await proxy.stop()
        try await server.stop()
    }

    @Test(arguments: [
        (
            "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n",
            "407 Proxy Authentication Required"
        ),
        ("HTTP/1.0 503 \r\n\r\n", "503"), ("SSH-2.0-OpenSSH_9.2\r\n\r\n", "not an HTTP proxy"),
        ("HTTP/1.1 2000 OK\r\n\r\n", "not an HTTP proxy"), (String(repeating: "x", count: 20_000), "is too long"),
    ])
    func aRefusedTunnelIsExplainedAndTriedAgain(_ answer: String, _ reason: String) async throws {
        let proxy = try await TestProxy(answer: answer)
        let test = try await TestClient(port: 443, tls: true, host: "gateway.example") {
            $0.proxy = HTTP2Proxy(host: "127.0.0.1", port: proxy.port, login: "me", password: "secret")
        }
        test.client.submit(TestBatch.make(2))
        let seen = try await test.probe.seen.wait(for: "two failed attempts") { $0.failedDials.count >= 2 }
        for dial in seen.failedDials.prefix(2) {
            #expect(dial.reason.contains("the proxy 127.0.0.1:\(proxy.port) refuses a tunnel to gateway.example:443"))
            #expect(dial.reason.contains(reason), "\(dial.reason)")
            #expect(!dial.reason.contains("secret"))
        }
        #expect(seen.openings == 0 && seen.resolved.isEmpty)
        await test.client.shutdown()
        #expect(test.seen.unprocessed == 2)
        try await proxy.stop()
    }

    @Test func aProxyThatIsNotThereIsNamed() async throws {
        let port = try await FreePort.any()
        let test = try await TestClient(port: 443, tls: true, host: "gateway.example") {
            $0.proxy = HTTP2Proxy(host: "127.0.0.1", port: port)
        }
        let seen = try await test.probe.seen.wait(for: "a failed attempt") { !$0.failedDials.isEmpty }
        #expect(seen.failedDials.first?.reason.contains("the proxy 127.0.0.1:\(port) cannot be reached") == true)
        await test.client.shutdown()
    }

    @Test func aProxyThatSaysNothingIsGivenUp() async throws {
        let proxy = try await TestProxy(answer: "")
        let test = try await TestClient(port: 443, tls: true, host: "gateway.example") {
            $0.proxy = HTTP2Proxy(host: "127.0.0.1", port: proxy.port)
            $0.connections.connectTimeoutMilliseconds = 200
        }
        let seen = try await test.probe.seen.wait(for: "a failed attempt") { !$0.failedDials.isEmpty }
        #expect(seen.failedDials.first?.reason.contains("did not come within 200 ms") == true)
        await test.client.shutdown()
        try await proxy.stop()
    }

    @Test func answersComeInPieces() {
        let whole = Array("HTTP/1.1 200 OK\nVia: x\n\nrest".utf8)
        for cut in 0...whole.count {
            var answer = TunnelAnswer()
            let first = answer.append(whole[..<cut])
            let end = whole.count - 4
            guard cut < end else {
                #expect(first == .open(rest: Array(whole[end..<cut])))
                continue
            }
            #expect(first == .incomplete)
            #expect(answer.append(whole[cut...]) == .open(rest: Array("rest".utf8)))
        }
        var empty = TunnelAnswer()
        #expect(empty.append(Array("\r\n".utf8)) == .refused("what listens there is not an HTTP proxy"))
    }

    @Test func aProxysLoginIsNeverShown() {
        let proxy = HTTP2Proxy(host: "proxy.example", port: 3_128, login: "me", password: "secret")
        var dumped = ""
        dump(proxy, to: &dumped)
        #expect(!dumped.contains("Basic") && !"\(proxy) \(String(reflecting: proxy))".contains("Basic"))
    }

    @Test func theClientShowsItsCertificate() async throws {
        let own = try TestCertificate.shared.get()
        let shown = Observed<[[UInt8]]>([])
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(own.certificateFile).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: own.keyFile, format: .pem))
        )
        configuration.applicationProtocols = ["h2"]
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .file(try TestCertificate.stranger.get().certificateFile)
        let context = try NIOSSLContext(configuration: configuration)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: context))
                    try pipeline.addHandler(
                        HTTP2ServerHandler(settings: HTTP2ServerSettings(), delegate: CertificateNote(shown))
                    )
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port ?? 0
        let stranger = try TestCertificate.stranger.get()
        let chain = try NIOSSLCertificate.fromPEMFile(stranger.certificateFile)
        let key = try NIOSSLPrivateKey(file: stranger.keyFile, format: .pem)
        let test = try await TestClient(port: port, tls: true) {
            $0.tls?.identity = HTTP2TLSIdentity(certificateChain: chain, privateKey: key)
        }
        test.client.submit(TestBatch.make(4))
        #expect(try await test.probe.resolved(4).answered == 4)
        #expect(shown.value == [try chain[0].toDERBytes()])
        await test.client.shutdown()
        // Without one, the server requests no certificate.
        let anonymous = try await TestClient(port: port, tls: true)
        let seen = try await anonymous.probe.seen.wait(for: "a failed attempt") { !$0.failedDials.isEmpty }
        #expect(seen.openings == 0)
        await anonymous.client.shutdown()
        try await channel.close()
    }
}

private final class CertificateNote: HTTP2ServerDelegate {
    private let shown: Observed<[[UInt8]]>

    init(_ shown: Observed<[[UInt8]]>) {
        self.shown = shown
    }

    func willOpen(_ channel: any Channel, _ settings: inout HTTP2ServerSettings) {
        let handler = try? channel.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
        shown.update { $0.append((try? handler?.peerCertificate?.toDERBytes()) ?? []) }
    }

    func opened(_ connection: HTTP2ServerConnection) {}
    func received(_ connection: HTTP2ServerConnection, requests: [HTTP2ServerRequest]) {
        LoopbackServer.accept(connection, requests)
    }
    func closed(_ connection: HTTP2ServerConnection) {}
}
