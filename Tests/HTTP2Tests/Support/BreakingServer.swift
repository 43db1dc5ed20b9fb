import NIOCore
import NIOPosix
import NIOSSL

/// A TLS server that sends nonsense instead of HTTP/2, and leaves its sockets open whatever the peer does.
final class BreakingServer: Sendable {
    /// When it sends the nonsense.
    enum Moment: Sendable {
        case atOnce
        /// After its SETTINGS, at the first request.
        case afterSettings
        /// With the answers to this many requests, as an invalid TLS record.
        case afterAnswers(Int)
    }

    let accepted = Observed(0)
    let port: Int
    private let channel: any Channel

    init(_ moment: Moment) async throws {
        let context = try TestCertificate.shared.get().serverContext()
        let accepted = accepted
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                accepted.update { $0 += 1 }
                return channel.eventLoop.makeCompletedFuture {
                    let records = RecordBreaker()
                    try channel.pipeline.syncOperations.addHandlers([
                        records, NIOSSLServerHandler(context: context), Breaker(moment, records),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
    }

    func stop() async throws {
        try await channel.close()
    }

    private final class Breaker: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let moment: Moment
        private let records: RecordBreaker
        private var hasSpoken = false
        private var came: [UInt8] = []

        init(_ moment: Moment, _ records: RecordBreaker) {
            self.moment = moment
            self.records = records
        }

        /// The client's preface and, for `afterSettings`, a second read with what it sends after the SETTINGS.
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if case .afterAnswers(let count) = moment { return answer(context, unwrapInboundIn(data), count) }
            let nonsense = Frame(kind: .data, flags: Frame.endStream, stream: 99, payload: [1]).bytes
            if case .afterSettings = moment, !hasSpoken {
                hasSpoken = true
                return write(context, Frame.settings([(Frame.maxConcurrentStreams, 100)]))
            }
            if case .atOnce = moment { write(context, Frame.settings() + nonsense) } else { write(context, nonsense) }
            // Later bytes, such as the end of TLS, are no longer read.
            context.channel.setOption(.autoRead, value: false).whenFailure { _ in }
        }

        /// Answers all requests, once they have arrived, in one write followed by a broken record.
        private func answer(_ context: ChannelHandlerContext, _ data: ByteBuffer, _ count: Int) {
            came += Array(data.readableBytesView)
            if !hasSpoken { write(context, Frame.settings([(Frame.maxConcurrentStreams, 100)])) }
            hasSpoken = true
            let ends = Frame.parse(came).filter {
                $0.flags & Frame.endStream != 0 && ($0.kind == .data || $0.kind == .headers)
            }
            guard ends.count == count else { return }
            records.breaksNext = true
            write(context, ends.flatMap { Frame.status200($0.stream) })
        }

        private func write(_ context: ChannelHandlerContext, _ bytes: [UInt8]) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        }
    }

    /// Appends an invalid TLS record to the next one that leaves.
    private final class RecordBreaker: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        var breaksNext = false

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            var buffer = unwrapOutboundIn(data)
            if breaksNext { buffer.writeBytes([0x17, 3, 3, 0, 40] + [UInt8](repeating: 7, count: 40)) }
            breaksNext = false
            context.write(wrapOutboundOut(buffer), promise: promise)
        }
    }
}
