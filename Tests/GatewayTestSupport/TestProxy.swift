import NIOCore
import NIOPosix
import Synchronization

/// An HTTP proxy on 127.0.0.1 that opens tunnels (CONNECT) and records its requests.
package final class TestProxy: Sendable {
    /// The heads of the requests, line ends included.
    package var asked: [String] { heads.value.withLock { $0 } }
    package let port: Int
    private let heads: Heads
    private let channel: any Channel

    /// - Parameters:
    ///   - answer: its answer instead of a tunnel; nil opens one.
    ///   - splits: sends its answer byte by byte.
    package init(answer: String? = nil, splits: Bool = false) async throws {
        let heads = Heads()
        self.heads = heads
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = ProxyHandler(answer: answer, splits: splits) { head in
                        heads.value.withLock { $0.append(head) }
                    }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
    }

    package func stop() async throws {
        try await channel.close()
    }
}

private final class Heads: Sendable {
    let value = Mutex<[String]>([])
}

/// Reads one request, then passes bytes on in both directions.
private final class ProxyHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: String?
    private let splits: Bool
    private let note: (String) -> Void
    private var head: [UInt8] = []
    private var other: (any Channel)?
    private var waiting: [ByteBuffer] = []
    private var isOpening = false

    init(answer: String?, splits: Bool, note: @escaping (String) -> Void) {
        self.answer = answer
        self.splits = splits
        self.note = note
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        if let other { return other.writeAndFlush(buffer, promise: nil) }
        if isOpening { return waiting.append(buffer) }
        head += buffer.readableBytesView
        guard head.suffix(4) == [13, 10, 13, 10] else { return }
        let text = String(decoding: head, as: UTF8.self)
        note(text)
        if let answer { return say(answer, context) }
        open(text, context)
    }

    private func say(_ text: String, _ context: ChannelHandlerContext) {
        for piece in splits ? text.utf8.map({ [$0] }) : [Array(text.utf8)] {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: piece)), promise: nil)
        }
    }

    private func open(_ head: String, _ context: ChannelHandlerContext) {
        let target = head.split(separator: " ").dropFirst().first?.split(separator: ":") ?? []
        guard target.count == 2, let port = Int(target[1]) else { return context.close(promise: nil) }
        isOpening = true
        let own = context.channel
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        ClientBootstrap(group: context.eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(BackHandler(to: own))
                }
            }
            .connect(host: String(target[0]), port: port)
            .whenComplete { result in
                let (handler, context) = bound.value
                guard case .success(let channel) = result else {
                    return handler.say("HTTP/1.1 502 Bad Gateway\r\n\r\n", context)
                }
                handler.other = channel
                handler.say("HTTP/1.1 200 Connection established\r\nProxy-Agent: test\r\n\r\n", context)
                for buffer in handler.waiting { channel.writeAndFlush(buffer, promise: nil) }
            }
    }

    func channelInactive(context: ChannelHandlerContext) {
        other?.close(promise: nil)
    }
}

/// Passes a server's bytes on to the client.
private final class BackHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let target: any Channel

    init(to target: any Channel) {
        self.target = target
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        target.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        target.close(promise: nil)
    }
}
