import NIOCore
import NIOPosix
import Synchronization

/// A client connection that sends bytes on demand and collects what it receives, or never reads.
final class RawConnection: Sendable {
    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let owner: Received

        init(_ owner: Received) {
            self.owner = owner
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = unwrapInboundIn(data)
            owner.bytes.withLock { $0 += buffer.readableBytesView }
        }
    }

    private final class Received: Sendable {
        let bytes = Mutex<[UInt8]>([])
    }

    private let channel: any Channel
    private let received: Received

    private init(_ channel: any Channel, _ received: Received) {
        self.channel = channel
        self.received = received
    }

    /// Opens a connection.
    ///
    /// - Parameter reads: false for a connection that never reads, with a small receive buffer.
    static func open(port: Int, reads: Bool = true) async throws -> RawConnection {
        let received = Received()
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(received))
                }
            }
        if !reads {
            bootstrap = bootstrap.channelOption(.autoRead, value: false)
                .channelOption(.socketOption(.so_rcvbuf), value: 4_096)
        }
        return RawConnection(try await bootstrap.connect(host: "127.0.0.1", port: port).get(), received)
    }

    /// Whether the server has closed it.
    var isClosed: Bool { !channel.isActive }

    /// The complete answers received so far.
    var answers: [RawAnswer] {
        var bytes = received.bytes.withLock { $0 }
        var answers: [RawAnswer] = []
        while let (answer, length) = RawAnswer.parse(bytes) {
            answers.append(answer)
            bytes.removeFirst(length)
        }
        return answers
    }

    func send(_ text: String) {
        channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
    }

    func close() async {
        try? await channel.close()
    }
}
