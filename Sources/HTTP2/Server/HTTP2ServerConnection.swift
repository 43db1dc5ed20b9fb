import NIOCore
import NIOSSL

/// The server side of a connection. Confined to its event loop.
package final class HTTP2ServerConnection {
    /// A number that is unique among the connections of the process.
    package let id: Int
    package let channel: any Channel
    let session: ServerSession
    /// The limit of concurrent streams that was last announced.
    package private(set) var maxConcurrentStreams: UInt32
    /// The owner's object for this connection.
    package var user: AnyObject?
    private var output = ByteBuffer()
    private let context: ChannelHandlerContext
    private(set) var isClosed = false
    private var isWriting = false

    /// The size of the pieces in which output is flushed, in bytes: four TLS records.
    private static let outputPiece = 64 * 1_024

    init(id: Int, context: ChannelHandlerContext, settings: HTTP2ServerSettings) throws {
        self.id = id
        self.context = context
        channel = context.channel
        session = try ServerSession(settings: settings)
        maxConcurrentStreams = settings.maxConcurrentStreams
    }

    package var eventLoop: any EventLoop { channel.eventLoop }

    /// The number of open streams, whose requests are arriving or wait for their response.
    package var activeStreams: Int { session.streams.count }

    /// Whether a request still waits for its response; false once the client has cancelled it.
    package func isOpen(streamID: Int32) -> Bool {
        session.streams.find(streamID) != nil
    }

    /// Answers a request. Outside `received`, ``flush()`` must follow.
    package func respond(
        _ streamID: Int32,
        _ response: HTTP2PreparedResponse,
        varyingValue: ArraySlice<UInt8> = [],
        body: [UInt8] = []
    ) {
        session.respond(streamID, response, varyingValue: varyingValue, body: body)
    }

    /// Answers a request with a head that is used once.
    package func respond(streamID: Int32, status: Int, headers: [(String, String)], body: [UInt8] = []) {
        respond(streamID, HTTP2PreparedResponse(status: status, headers: headers), body: body)
    }

    /// Resets a stream with an error code of RFC 9113 section 7.
    package func reset(streamID: Int32, errorCode: HTTP2ErrorCode) {
        session.reset(streamID, errorCode.rawValue)
    }

    /// Announces a new limit of concurrent streams.
    package func setMaxConcurrentStreams(_ limit: UInt32) {
        maxConcurrentStreams = limit
        session.setMaxConcurrentStreams(limit)
    }

    /// Sends GOAWAY; streams above `lastStreamID` (nil for the last one that was processed) get no response.
    package func goAway(lastStreamID: Int32? = nil, errorCode: HTTP2ErrorCode, debugData: [UInt8]) {
        session.goAway(lastStreamID: lastStreamID, code: errorCode.rawValue, debugData: debugData)
    }

    /// Writes all responses since the last flush.
    ///
    /// Output that the client does not read stays in the session, which limits it.
    package func flush() {
        write(isLast: false)
        if session.isFinished || session.ownGoAway != nil { close() }
    }

    private func write(isLast: Bool) {
        // A flush may report writability from inside.
        guard !isClosed, !isWriting else { return }
        isWriting = true
        defer { isWriting = false }
        var hasMore = true
        while hasMore, !isClosed, isLast || channel.isWritable {
            output.clear(minimumCapacity: Self.outputPiece)
            hasMore = session.serialise(into: &output, limit: Self.outputPiece - 16_384)
            if output.readableBytes > 0 { context.writeAndFlush(NIOAny(output), promise: nil) }
        }
    }

    /// Flushes, then closes TLS and TCP in an orderly way.
    package func close() {
        write(isLast: true)
        guard !isClosed else { return }
        isClosed = true
        context.close(promise: nil)
    }

    /// Ends the connection with a TCP reset, without GOAWAY or TLS close, and discards queued output.
    package func abort() {
        guard !isClosed else { return }
        isClosed = true
        TCPReset.send(context)
    }

    func channelGone() {
        isClosed = true
    }
}
