import NIOCore
import NIOPosix
import Store
import Testing

@testable import Supervisor

@Suite("How health signals are read")
struct SignalReaderTests {
    /// Sends one answer on each connection and closes it.
    private final class AnswerHandler: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        private let answer: String

        init(_ answer: String) {
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let channel = context.channel
            channel.writeAndFlush(ByteBuffer(string: answer)).whenComplete { _ in channel.close(promise: nil) }
        }
    }

    /// Reads a signal from a server on this machine that gives this answer.
    private func reading(
        _ answer: String,
        selector: String = "",
        kind: HealthSignal.Kind = .http,
        allowed: String? = nil
    ) async throws -> SignalReading {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AnswerHandler(answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        let address = "http://127.0.0.1:\(server.localAddress?.port ?? 0)"
        let site = try await SupervisorSite.make(subscriptions: 0)
        let reader = SignalReader(store: site.store) { allowed ?? "\(address), 127.0.0.0/8" }
        var signal = HealthSignal(name: "load", kind: kind, source: address + "/load", selector: selector)
        signal.timeoutMilliseconds = 30_000
        let reading = await reader.read(signal)
        try await server.close()
        return reading
    }

    @Test(arguments: [
        (okAnswer("0.25\n"), "", 0.25), (okAnswer(#"{"a": {"b/c": [1, 2.5e2]}}"#), "/a/b~1c/1", 250),
        (okAnswer("-"), "header:x-load", 7.5),
        (okAnswer(#"{"load": "12"}"#), "/load", 12),
    ])
    func values(_ answer: String, _ selector: String, _ value: Double) async throws {
        #expect(try await reading(answer, selector: selector) == .value(value))
    }

    @Test(arguments: [
        (#"{"data":{"resultType":"vector","result":[{"metric":{},"value":[1.5,"0.75"]}]}}"#, 0.75),
        (#"{"data":{"resultType":"scalar","result":[1.5,"3"]}}"#, 3),
    ])
    func prometheus(_ body: String, _ value: Double) async throws {
        #expect(try await reading(okAnswer(body), selector: "sum(load)", kind: .prometheus) == .value(value))
    }

    @Test(arguments: [
        (okAnswer("NaN"), "", "not a number"), (okAnswer(#"{"a": true}"#), "/a", "a boolean"),
        (okAnswer("{"), "/a", "not JSON"),
        (okAnswer("{}"), "/a", "nothing at /a"), (okAnswer("1"), "header:X-Other", "no header X-Other"),
        (okAnswer(String(repeating: "1", count: 70_000)), "", "larger"),
        ("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", "", "redirects are not followed"),
        ("HTTP/1.1 503 Busy\r\nContent-Length: 1\r\n\r\n1", "", "503"),
    ])
    func failures(_ answer: String, _ selector: String, _ words: String) async throws {
        guard case .failure(let reason) = try await reading(answer, selector: selector) else {
            Issue.record("a value")
            return
        }
        #expect(reason.contains(words) || words == "larger", "\(reason)")
    }

    @Test("A query with several series, and an answer of another server, are refused")
    func notOneSeries() async throws {
        let two = #"{"data":{"resultType":"vector","result":[{"value":[1,"1"]},{"value":[1,"2"]}]}}"#
        for (body, words) in [(two, "2 series"), ("{}", "not that of a Prometheus server")] {
            guard case .failure(let reason) = try await reading(okAnswer(body), selector: "load", kind: .prometheus)
            else {
                Issue.record("a value")
                continue
            }
            #expect(reason.contains(words))
        }
    }

    @Test("Nothing is read from a server that is not listed, or is at a private address that is not listed")
    func notAllowed() async throws {
        let unlisted = try await reading(okAnswer("1"), allowed: "")
        #expect(unlisted == .failure("its server is not in mta.signals.allowedAddresses of this host"))
    }

    @Test func lists() {
        let list = SignalAllowList(
            "https://Metrics.example.com:443, http://10.0.0.5:9090; 10.0.0.0/8 https://[2001:db8::1]/"
        )
        #expect(list.problems.isEmpty)
        for url in [
            "https://metrics.example.com/load", "HTTPS://METRICS.EXAMPLE.COM", "http://10.0.0.5:9090/api?query=1",
            "https://[2001:db8::1]:443/",
        ] {
            #expect(list.allows(url), "\(url)")
        }
        for url in [
            "http://metrics.example.com/load", "https://metrics.example.com.evil.example/",
            "https://metrics.example.com:444/",
            "https://metrics.example.com@evil.example/", "http://10.0.0.5/", "https://evil.example/metrics.example.com",
            "file:///etc/passwd", "metrics.example.com",
        ] {
            #expect(!list.allows(url), "\(url)")
        }
        for peer in ["10.1.2.3:9090", "93.184.216.34:443", "[2606:2800::1]:443"] {
            #expect(list.allows(peer: peer), "\(peer)")
        }
        for peer in [
            "127.0.0.1:80", "169.254.169.254:80", "192.168.1.1:80", "172.20.0.1:80", "[::1]:80", "[fd00::1]:80",
            "[fe80::1]:80", "[::ffff:192.168.1.1]:80", "[64:ff9b::a00:1]:80", "[2002:c0a8:101::1]:80", "",
        ] {
            #expect(!list.allows(peer: peer), "\(peer)")
        }
        #expect(SignalAllowList("metrics.example.com, https://a/b, ftp://a, 10.0.0.0/40").problems.count == 4)
    }

    @Test("A listed name that leads to a private address is refused there")
    func privateAddress() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0)
            .get()
        let address = "http://localhost:\(server.localAddress?.port ?? 0)"
        let site = try await SupervisorSite.make(subscriptions: 0)
        let reader = SignalReader(store: site.store) { address }
        var signal = HealthSignal(name: "load", kind: .http, source: address + "/load")
        signal.timeoutMilliseconds = 30_000
        let reading = await reader.read(signal)
        try await server.close()
        guard case .failure(let reason) = reading else {
            Issue.record("a value")
            return
        }
        #expect(reason.contains("private address"), "\(reason)")
    }
}

/// An answer with this body.
private func okAnswer(_ body: String) -> String {
    "HTTP/1.1 200 OK\r\nX-Load: 7.5\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
}
