import NIOCore
import NIOSSL
import Synchronization

/// A server's side of one connection; all of it is used on the connection's event loop.
public final class HTTP2ServerConnection {
    /// A number of its own among the connections of the process.
    public let id: Int
    public let channel: any Channel
    let session: ServerSession
    /// The limit of concurrent streams that was announced last.
    public private(set) var maxConcurrentStreams: UInt32
    /// Whatever the owner keeps with the connection.
    public var user: AnyObject?
    private var output = ByteBuffer()
    private let context: ChannelHandlerContext
    private(set) var isClosed = false
    private var isWriting = false

    /// A flush is written in pieces of this size: four TLS records.
    private static let outputPiece = 64 * 1_024

    init(id: Int, context: ChannelHandlerContext, settings: HTTP2ServerSettings) throws {
        self.id = id
        self.context = context
        channel = context.channel
        session = try ServerSession(settings: settings)
        maxConcurrentStreams = settings.maxConcurrentStreams
    }

    public var eventLoop: any EventLoop { channel.eventLoop }

    /// Streams that are open: requests that arrive or wait for their answer.
    public var activeStreams: Int { session.streams.count }

    /// Whether a request still waits for its answer; false once the client has cancelled it.
    public func isOpen(streamID: Int32) -> Bool {
        session.streams.find(streamID) != nil
    }

    /// Answers a request. Outside of `received`, ``flush()`` must follow.
    public func respond(
        _ streamID: Int32,
        _ response: HTTP2PreparedResponse,
        varyingValue: ArraySlice<UInt8> = [],
        body: [UInt8] = []
    ) {
        session.respond(streamID, response, varyingValue: varyingValue, body: body)
    }

    /// Answers a request with a head that is made for this one answer.
    public func respond(streamID: Int32, status: Int, headers: [(String, String)], body: [UInt8] = []) {
        respond(streamID, HTTP2PreparedResponse(status: status, headers: headers), body: body)
    }

    /// Resets a stream with an error code of RFC 9113 section 7.
    public func reset(streamID: Int32, errorCode: HTTP2ErrorCode) {
        session.reset(streamID, errorCode.rawValue)
    }

    /// Announces another limit of concurrent streams.
    public func setMaxConcurrentStreams(_ limit: UInt32) {
        maxConcurrentStreams = limit
        session.setMaxConcurrentStreams(limit)
    }

    /// Sends GOAWAY; streams above `lastStreamID` (nil: the last one that was processed) will not be answered.
    public func goAway(lastStreamID: Int32? = nil, errorCode: HTTP2ErrorCode, debugData: [UInt8]) {
        session.goAway(lastStreamID: lastStreamID, code: errorCode.rawValue, debugData: debugData)
    }

    /// Writes all that was answered since the last flush.
    ///
    /// What the client does not read stays with the session, which bounds it, until there is room for it.
    public func flush() {
        write(isLast: false)
        if session.isFinished || session.ownGoAway != nil { close() }
    }

    private func write(isLast: Bool) {
        // A flush may tell of room from inside.
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

    /// Flushes, then ends the connection as TLS and TCP ask.
    public func close() {
        write(isLast: true)
        guard !isClosed else { return }
        isClosed = true
        context.close(promise: nil)
    }

    /// Ends the connection with a TCP reset: no GOAWAY, no TLS close, nothing that waits is sent.
    public func abort() {
        guard !isClosed else { return }
        isClosed = true
        TCPReset.send(context)
    }

    func channelGone() {
        isClosed = true
    }
}

/// A response head that is sent again and again, with at most one field whose value varies.
public final class HTTP2PreparedResponse: Sendable {
    private static let lastNumber = Atomic<UInt64>(0)
    /// No other head of the process has this number.
    let number = HTTP2PreparedResponse.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    let fields: [HTTP2HeaderField]
    /// The beginning of the field that varies, a literal that nobody on the way is to index (RFC 7541, section 6.2.3), up to its value; nil for none.
    let varyingName: [UInt8]?

    /// - Parameters:
    ///   - headers: fields that all have.
    ///   - varyingHeader: the name of a field whose value is given with each response; it is never indexed.
    public init(status: Int, headers: [(String, String)], varyingHeader: String? = nil) {
        fields = ([(":status", String(status))] + headers).map { HTTP2HeaderField($0.0, $0.1) }
        varyingName = varyingHeader.map { name in
            var field: [UInt8] = [0x10]
            HeaderBlockWriter.append(Array(name.utf8), to: &field)
            return field
        }
    }
}
