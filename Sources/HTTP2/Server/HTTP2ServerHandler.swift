import NIOCore
import NIOSSL
import NIOTLS
import Synchronization

/// Speaks HTTP/2 as a server on a channel: put it behind `NIOSSLServerHandler` (ALPN `h2`) or on a plain channel.
public final class HTTP2ServerHandler: ChannelInboundHandler {
    public typealias InboundIn = ByteBuffer
    public typealias OutboundOut = ByteBuffer

    private static let nextID = Atomic<Int>(1)

    private let settings: HTTP2ServerSettings
    private let delegate: any HTTP2ServerDelegate
    private var connection: HTTP2ServerConnection?

    public init(settings: HTTP2ServerSettings, delegate: any HTTP2ServerDelegate) {
        self.settings = settings
        self.delegate = delegate
    }

    public func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive, !isBehindTLS(context) { begin(context) }
    }

    public func channelActive(context: ChannelHandlerContext) {
        if !isBehindTLS(context) { begin(context) }
        context.fireChannelActive()
    }

    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // What the delegate does in `opened`, a GOAWAY at once for example, must not break the handshake.
        if case TLSUserEvent.handshakeCompleted = event { begin(context) }
        context.fireUserInboundEventTriggered(event)
    }

    private func isBehindTLS(_ context: ChannelHandlerContext) -> Bool {
        (try? context.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)) != nil
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard connection == nil else { return }
        do {
            let id = Self.nextID.add(1, ordering: .relaxed).oldValue
            var settings = settings
            delegate.willOpen(context.channel, &settings)
            let connection = try HTTP2ServerConnection(id: id, context: context, settings: settings)
            self.connection = connection
            delegate.opened(connection)
            connection.flush()
        } catch {
            context.close(promise: nil)
        }
    }

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let connection, !connection.isClosed else { return }
        let buffer = unwrapInboundIn(data)
        do {
            try buffer.withUnsafeReadableBytes { try connection.session.receive($0) }
        } catch {
            connection.close()
        }
    }

    public func channelReadComplete(context: ChannelHandlerContext) {
        if let connection {
            var requests: [HTTP2ServerRequest] = []
            // What came together with the end is not processed: its sender can only find it ambiguous.
            if !connection.session.requests.isEmpty, !connection.isClosed {
                swap(&requests, &connection.session.requests)
                delegate.received(connection, requests: requests)
            }
            connection.flush()
            // Until they are written answers may have their ids in the requests' memory.
            connection.session.recycle(&requests)
        }
        context.fireChannelReadComplete()
    }

    public func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { connection?.flush() }
        context.fireChannelWritabilityChanged()
    }

    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A peer that breaks TLS or resets the connection ends it; the delegate learns of that from `closed`.
        context.close(promise: nil)
    }

    public func channelInactive(context: ChannelHandlerContext) {
        if let connection {
            connection.channelGone()
            delegate.closed(connection)
        }
        connection = nil
        context.fireChannelInactive()
    }
}

/// What a server connection tells its owner; every method is called on the connection's event loop.
public protocol HTTP2ServerDelegate: AnyObject {
    /// A connection is about to be there: the handshake is done and SETTINGS can still be changed.
    func willOpen(_ channel: any Channel, _ settings: inout HTTP2ServerSettings)
    /// A connection is there; SETTINGS have been sent.
    func opened(_ connection: HTTP2ServerConnection)
    /// Complete requests: one call for all that one read brought. Answers given inside are flushed afterwards.
    func received(_ connection: HTTP2ServerConnection, requests: [HTTP2ServerRequest])
    func closed(_ connection: HTTP2ServerConnection)
}

extension HTTP2ServerDelegate {
    /// Leaves the settings as they are.
    public func willOpen(_ channel: any Channel, _ settings: inout HTTP2ServerSettings) {}
}

/// What a server announces in its first SETTINGS frame, and its own limits.
public struct HTTP2ServerSettings: Sendable {
    /// SETTINGS_MAX_CONCURRENT_STREAMS.
    public var maxConcurrentStreams: UInt32
    /// SETTINGS_HEADER_TABLE_SIZE; APNs announces 4,096.
    public var headerTableSize: UInt32 = 4_096
    /// SETTINGS_MAX_HEADER_LIST_SIZE; APNs announces 8,000.
    public var maxHeaderListSize: UInt32 = 8_000
    /// SETTINGS_INITIAL_WINDOW_SIZE; APNs announces 65,535.
    public var initialWindowSize: UInt32 = 65_535
    /// Bytes of a body that are kept; the rest is only counted.
    public var largestBody = 16 * 1_024
    /// The debug data of a GOAWAY (PROTOCOL_ERROR) for a client that exceeds the limit of streams, if not the session's own words.
    public var violationDebugData: [UInt8]?

    public init(maxConcurrentStreams: UInt32 = 1_000) {
        self.maxConcurrentStreams = maxConcurrentStreams
    }
}

/// A complete request, as a server received it.
public struct HTTP2ServerRequest: Sendable {
    public var streamID: Int32
    public var headers: HTTP2HeaderBlock
    /// The body, at most the settings' `largestBody` bytes of it; ``bodyLength`` says how long it was.
    public var body: [UInt8]
    /// The length of the body as it was sent.
    public var bodyLength: Int

    public init(streamID: Int32, headers: HTTP2HeaderBlock, body: [UInt8], bodyLength: Int) {
        self.streamID = streamID
        self.headers = headers
        self.body = body
        self.bodyLength = bodyLength
    }
}
