import Logging
import NIOCore
import NIOPosix
import PushCore
import Store
import Synchronization
import TestSupport
import Testing

@testable import Console

/// What strangers can do to the console by only holding connections.
@Suite struct ConnectionTests {
    /// Collects what it receives.
    private final class Collector: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        let text = Mutex("")

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            text.withLock { $0 += String(buffer: bytes) }
        }
    }

    private func connect(_ port: Int, _ collector: Collector = Collector()) async throws -> any Channel {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(collector) }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    private func send(_ text: String, _ channel: any Channel) {
        channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
    }

    /// A thousand connections that each sent a line every eight seconds used to shut everyone out permanently.
    @Test func slowConnectionsShutNobodyOut() async throws {
        let port = Int(try FreePort.find())
        let site = try await ConsoleSite.start { $0.port = port }
        let (opened, open) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await site.server.run { open.yield($0) } }
        var ports = opened.makeAsyncIterator()
        _ = await ports.next()
        var slow: [any Channel] = []
        for _ in 0..<250 {
            let channel = try await connect(port)
            send("GET /sign-in HTTP/1.1\r\nHost: localhost\r\n", channel)
            slow.append(channel)
        }
        // This is the maximum for one client: any further connection is closed before its first byte.
        let more = try await connect(port)
        try await eventually("one too many is closed") { !more.isActive }
        // They keep sending, but lose their connections anyway.
        var number = 0
        try await eventually("all are closed", within: .seconds(40)) {
            number += 1
            for channel in slow where channel.isActive { send("x-\(number): y\r\n", channel) }
            return slow.allSatisfy { !$0.isActive }
        }
        let answer = Collector()
        let person = try await connect(port, answer)
        send("GET /sign-in HTTP/1.1\r\nHost: localhost\r\n\r\n", person)
        try await eventually("a person is served") {
            answer.text.withLock { $0.hasPrefix("HTTP/1.1 200") && $0.contains("</html>") }
        }
        // A request that is not HTTP gets an error.
        let other = Collector()
        let wrong = try await connect(port, other)
        send("nonsense\r\n\r\n", wrong)
        try await eventually("it is refused") {
            other.text.withLock { $0.hasPrefix("HTTP/1.1 400") } && !wrong.isActive
        }
        site.server.drain()
        try await running.value
        await site.admin.close()
    }

    @Test func aProxyThatNobodyNamedIsTold() async throws {
        let site = try await ConsoleSite.start()
        #expect(site.responder.setup.settings.console.proxyNotice?.contains("console.trustedProxies") == true)
        var settings = ConsoleSettings()
        settings.trustedProxies = "127.0.0.1"
        #expect(settings.proxyNotice == nil)
        settings.trustedProxies = ""
        settings.address = "192.0.2.1"
        #expect(settings.proxyNotice == nil)
        await site.close()
    }
}
