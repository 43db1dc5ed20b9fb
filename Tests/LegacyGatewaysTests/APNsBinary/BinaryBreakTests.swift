import Foundation
import GatewayTestSupport
import Gateways
import HTTP2
import NIOCore
import NIOEmbedded
import NIOTLS
import PushCore
import Testing

@testable import LegacyGateways

/// A connection whose channel fails, without a network.
@Suite("A breaking binary connection", .timeLimit(.minutes(1)))
struct BinaryBreakTests {
    /// Replaces TLS: it holds data until the end of the read, and closes slowly.
    private final class SlowTLS: ChannelDuplexHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundIn = ByteBuffer

        private var read: [NIOAny] = []
        private(set) var isClosing = false
        /// Whether the end of a read finds the channel closed, which NIOSSL reports as an error.
        var isUnderneathClosed = false

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            read.append(data)
        }

        func channelReadComplete(context: ChannelHandlerContext) {
            let all = read
            read = []
            for data in all { context.fireChannelRead(data) }
            if isUnderneathClosed { return context.fireErrorCaught(ChannelError.ioOnClosedChannel) }
            context.fireChannelReadComplete()
        }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            isClosing = true
            promise?.succeed()
        }
    }

    private struct Break: Error {}

    private struct Site {
        let channel = EmbeddedChannel()
        let tls = SlowTLS()
        let pool: BinaryPool
        let connection: BinaryConnection

        init(_ fixture: Fixture) throws {
            pool = BinaryPool(
                options: try fixture.options(.iosBinary, port: 1),
                certificate: try fixture.clientCertificate,
                now: { Date() },
                eventLoop: channel.embeddedEventLoop,
                delegate: fixture.collector
            )
            connection = BinaryConnection(pool: pool)
            try channel.pipeline.syncOperations.addHandlers([tls, connection])
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            pool.connections = [connection]
            channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
        }

        func send(_ batch: GatewayRequestBatch) {
            let messages = (0..<Int32(batch.count)).map { BinaryMessage(batch: batch, row: $0) }
            connection.send(messages, now: 0)
        }
    }

    @Test("While TLS is closing, nothing more is written into it")
    func noRoom() async throws {
        try await Fixture.run { fixture in
            let site = try Site(fixture)
            #expect(site.connection.room(10) == 10)
            site.send(fixture.binaryBatch(count: 3))
            site.channel.pipeline.fireErrorCaught(Break())
            #expect(site.tls.isClosing && site.connection.state.phase != .closed, "it is not gone yet")
            #expect(site.connection.room(10) == 0)
            site.pool.submit(fixture.binaryBatch(id: 2, count: 4))
            #expect(fixture.collector.announced(2, 4) == [0, 0, 0, 0], "they wait for another connection")
            site.channel.pipeline.fireChannelInactive()
            #expect(fixture.collector.classes(1) == [.ambiguous: 3])
            site.pool.cancelQueued()
            #expect(fixture.collector.outcomes(2).values.allSatisfy { $0.neverLeft })
        }
    }

    @Test(
        "An error packet read together with a reset is processed, and a closed channel is asked for it only once",
        arguments: [false, true]
    )
    func lastWord(isUnderneathClosed: Bool) async throws {
        try await Fixture.run { fixture in
            let site = try Site(fixture)
            site.send(fixture.binaryBatch(count: 5))
            site.channel.pipeline.fireChannelRead(ByteBuffer(bytes: [8, 8, 0, 0, 0, 2]))
            site.tls.isUnderneathClosed = isUnderneathClosed
            // No end of the read follows an error.
            site.channel.pipeline.fireErrorCaught(Break())
            #expect(site.tls.isClosing)
            #expect(site.connection.closeReason?.contains("Break") == true, "the first error is the reason")
            site.channel.pipeline.fireChannelInactive()
            #expect(fixture.collector.classes(1) == [.accepted: 1, .permanent: 1, .unprocessed: 3])
        }
    }

    @Test("A new connection is a sign of health, and the end of one says nothing")
    func signs() async throws {
        try await Fixture.run { fixture in
            let site = try Site(fixture)
            site.send(fixture.binaryBatch(count: 3))
            site.channel.pipeline.fireErrorCaught(Break())
            site.channel.pipeline.fireChannelInactive()
            let events = fixture.collector.events
            #expect(events.contains { $0.kind == .connected && $0.sign == .well })
            #expect(events.contains { $0.kind == .connectionLost && $0.sign == nil })
            let outcomes = fixture.collector.outcomes(1).values
            #expect(outcomes.count == 3 && outcomes.allSatisfy { $0.fault == AnswerFault.none })
        }
    }

    @Test("A break counts once, when it is noticed, however long the socket stays open")
    func breakIsCounted() async throws {
        try await Fixture.run { fixture in
            let site = try Site(fixture)
            site.send(fixture.binaryBatch(count: 3))
            site.channel.pipeline.fireErrorCaught(Break())
            #expect(site.connection.state.phase != .closed, "it is not gone yet")
            #expect(site.pool.pacing.failures == 1)
            #expect(site.pool.pacing.dials(wanted: 1, proven: 0, unproven: 0, at: .now()) == 0)
            site.channel.pipeline.fireChannelInactive()
            #expect(site.pool.pacing.failures == 1)
        }
    }
}
