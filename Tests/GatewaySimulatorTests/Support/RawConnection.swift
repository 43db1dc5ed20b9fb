import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

@testable import GatewaySimulator

/// A connection that speaks HTTP/2 frame by frame, for what no well-behaved client does.
final class RawConnection: Sendable {
    private let asyncChannel: NIOAsyncChannel<ByteBuffer, ByteBuffer>
    private let frames: AsyncStream<RawFrame>
    private let reader: Task<Void, any Error>
    private let seen: Counts

    struct Ended: Error {}

    /// How many frames of each type have come, and the stream limit that was announced last.
    private final class Counts: Sendable {
        let values = Mutex<[UInt8: Int]>([:])
        let limit = Mutex<UInt32?>(nil)
    }

    /// Connects, sends the preface and acknowledges the server's first SETTINGS.
    static func open(_ fixture: Fixture, port: Int, preface: [UInt8] = opening) async throws -> RawConnection {
        let tls = try tls(fixture)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture { try wrap(channel, tls) }
            }
        return start(channel, preface)
    }

    /// Connects and says nothing until the body has run; only then the TLS handshake begins.
    static func open(
        _ fixture: Fixture,
        port: Int,
        beforeHandshake body: () async throws -> Void
    ) async throws -> RawConnection {
        let tls = try tls(fixture)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port).get()
        do {
            try await body()
        } catch {
            try? await channel.close().get()
            throw error
        }
        // A TLS handler that is added to an open channel begins its handshake at once.
        return start(try await channel.eventLoop.submit { try wrap(channel, tls) }.get())
    }

    private static func tls(_ fixture: Fixture) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .file(fixture.simulator.caFile)
        configuration.applicationProtocols = ["h2"]
        return try NIOSSLContext(configuration: configuration)
    }

    private static func wrap(
        _ channel: any Channel,
        _ tls: NIOSSLContext
    ) throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        let handler = try NIOSSLClientHandler(context: tls, serverHostname: "localhost")
        try channel.pipeline.syncOperations.addHandler(handler)
        return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
    }

    /// The preface, empty SETTINGS, and the acknowledgement of the server's.
    static let opening =
        Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        + RawFrame(type: RawFrame.settings, flags: 0, streamID: 0, payload: []).bytes
        + RawFrame(type: RawFrame.settings, flags: 1, streamID: 0, payload: []).bytes

    private static func start(
        _ channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>,
        _ preface: [UInt8] = opening
    ) -> RawConnection {
        let connection = RawConnection(channel)
        connection.send(preface)
        return connection
    }

    private init(_ asyncChannel: NIOAsyncChannel<ByteBuffer, ByteBuffer>) {
        self.asyncChannel = asyncChannel
        let (frames, continuation) = AsyncStream.makeStream(of: RawFrame.self)
        self.frames = frames
        let seen = Counts()
        self.seen = seen
        reader = Task {
            defer { continuation.finish() }
            try await asyncChannel.executeThenClose { inbound, _ in
                var pending: [UInt8] = []
                for try await buffer in inbound {
                    pending += Array(buffer.readableBytesView)
                    while let frame = RawFrame.take(from: &pending) {
                        seen.values.withLock { $0[frame.type, default: 0] += 1 }
                        if let limit = frame.streamLimit { seen.limit.withLock { $0 = limit } }
                        continuation.yield(frame)
                    }
                }
            }
        }
    }

    /// The next frame of that type; others are passed over.
    func frame(type: UInt8) async throws -> RawFrame {
        for await frame in frames where frame.type == type { return frame }
        throw Ended()
    }

    /// The next frame of any type; nil at the end of the connection.
    func next() async -> RawFrame? {
        for await frame in frames { return frame }
        return nil
    }

    /// The next stream limit that is announced.
    func limit() async throws -> UInt32 {
        for await frame in frames {
            if let limit = frame.streamLimit { return limit }
        }
        throw Ended()
    }

    /// The stream limit that was announced last.
    var lastLimit: UInt32? { seen.limit.withLock { $0 } }

    /// How many frames of that type have come so far.
    func count(type: UInt8) -> Int {
        seen.values.withLock { $0[type, default: 0] }
    }

    /// Opens a request and leaves its body open.
    func sendOpenRequest(streamID: UInt32) {
        // From HPACK's static table: POST, https, path "/"; then a literal :authority "localhost".
        let block: [UInt8] = [0x83, 0x87, 0x84, 0x01, 9] + Array("localhost".utf8)
        send(RawFrame(type: 1, flags: 4, streamID: streamID, payload: block).bytes)
    }

    /// Gives a request up: RST_STREAM with CANCEL.
    func sendReset(streamID: UInt32) {
        send(RawFrame(type: 3, flags: 0, streamID: streamID, payload: [0, 0, 0, 8]).bytes)
    }

    /// Sends a PING whose last byte is a number.
    func sendPing(_ number: UInt8) {
        send(RawFrame(type: RawFrame.ping, flags: 0, streamID: 0, payload: [0, 0, 0, 0, 0, 0, 0, number]).bytes)
    }

    func close() async {
        reader.cancel()
        try? await asyncChannel.channel.close().get()
    }

    /// Sends what is a frame, or is none.
    func send(_ bytes: [UInt8]) {
        asyncChannel.channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    }
}
