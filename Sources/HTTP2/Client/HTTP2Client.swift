// HTTP2: HTTP/2 on SwiftNIO, a client for the gateways and a server for the simulator.
//
// WHAT IT DOES
//   The client holds a number of connections to one server, sends batches of small requests over them, follows the server's
//   limit of streams, and says of each request how it ended: answered, unprocessed (it may be sent again without a duplicate)
//   or ambiguous (it was written and nobody knows). The server hands complete requests to a delegate and writes its answers.
//   DialPacing, HTTP2Proxy with TunnelHandler, and SocketQueue also serve the gateways that speak no HTTP/2.
//
// HOW IT IS USED
//   Gateways makes an HTTP2Client with a configuration, an event loop and an HTTP2ClientDelegate: start(), submit(_:) of
//   filled HTTP2RequestBatches, shutdown(). The delegate hears aboutToSend(_:) before streams are opened, completed(_:) for
//   all that one read resolved, and connectionEvent(_:). GatewaySimulator puts an HTTP2ServerHandler with an
//   HTTP2ServerDelegate into a channel. The bench of the laboratory drives the client directly.
//
// THREADS AND TASKS
//   Everything happens on the one event loop, the calls of the delegate as well. Calls from other threads hop once. What
//   a frame tells is only noted while a read is taken apart, and handled when all of it is. Nothing blocks.
//
// STATE AND FILES
//   Memory only. A batch owns the memory that paths, values and bodies are read from until all of its requests are written;
//   each open stream holds its batch.
//   FrameSession takes frames apart and keeps windows and what is to be sent; ClientSession and ServerSession keep the streams.
//   HeaderEncoder writes header blocks, and nghttp2 reads them. The trust roots are read from a file at the start, and again
//   when dialling has failed.
//
// FAILURES
//   No connection: the delegate is told and it dials again, with a new DNS answer, after pauses that double from 1 s to 5 s;
//   one connection at a time is tried until one has brought an answer. No answer by the deadline: the stream is reset with
//   CANCEL and the request is ambiguous, or unprocessed if nothing of its body was written; after three in a row the connection
//   is retired. Silence with requests open: a PING, and without its answer the end of the connection. GOAWAY: what is above its
//   last stream is unprocessed, the rest goes on. However a server ends a connection, DialPacing says when the next is dialled.
//   What a server makes us say is bounded: nothing is written that it does not read. It never repeats a request, and resolves
//   each exactly once.
//
// SETTINGS
//   None of its own: HTTP2ClientConfiguration and HTTP2ServerSettings have them, with the reason for each value.
//
// SEE ALSO
//   Client/HTTP2ClientPool.swift, Client/HTTP2ClientConnection.swift, FrameSession.swift, Client/ClientSession.swift,
//   Client/HeaderEncoder.swift, Client/HTTP2RequestBatch.swift, Client/DialPacing.swift, Server/HTTP2ServerHandler.swift,
//   Sources/CNGHTTP2/module.modulemap

import NIOCore
import NIOSSL

/// A set of HTTP/2 connections to one server: batches of requests in, the end of each request out.
///
/// The client dials and redials by itself (a new DNS answer and a back-off with jitter each time), follows the server's
/// limit of concurrent streams, and resolves every request exactly once, as an answer, as *unprocessed* (it may be sent again
/// without a duplicate) or as *ambiguous* (it was written and nobody knows). It repeats nothing by itself.
public final class HTTP2Client: Sendable {
    public let eventLoop: any EventLoop
    private let pool: NIOLoopBoundBox<HTTP2ClientPool>

    /// - Parameter delegate: told of every end and event, on `eventLoop`; the client keeps it alive until ``shutdown()``.
    public init(
        configuration: HTTP2ClientConfiguration,
        eventLoop: any EventLoop,
        delegate: any HTTP2ClientDelegate
    ) {
        self.eventLoop = eventLoop
        pool = .makeBoxSendingValue(
            HTTP2ClientPool(configuration: configuration, eventLoop: eventLoop, delegate: delegate),
            eventLoop: eventLoop
        )
    }

    /// Begins to connect.
    /// - Throws: if the trust roots cannot be read. Trouble with connections is told to the delegate and tried again.
    public func start() async throws {
        let pool = pool
        try await eventLoop.submit { try pool.value.start() }.get()
    }

    /// Queues a batch, once; may be called from any thread and costs one hop to the event loop.
    public func submit(_ batch: HTTP2RequestBatch) {
        let pool = pool
        if eventLoop.inEventLoop {
            pool.value.submit(batch)
        } else {
            eventLoop.execute { pool.value.submit(batch) }
        }
    }

    /// Gives the requests that wait for a stream back as *unprocessed*.
    public func cancelQueued() {
        let pool = pool
        eventLoop.execute { pool.value.cancelQueued() }
    }

    /// Replaces the connections: those that are open take no more requests, resolve what they have, and close.
    public func retireConnections() {
        let pool = pool
        eventLoop.execute { pool.value.retireConnections() }
    }

    /// Asks the server over all open connections whether it is there, and ends those on which nothing comes back in time.
    ///
    /// Returns whether one of them has answered; nil if none is open.
    public func ping(timeoutMilliseconds: Int64) async -> Bool? {
        let pool = pool
        let promise = eventLoop.makePromise(of: Bool?.self)
        eventLoop.execute { pool.value.ping(timeoutMilliseconds: timeoutMilliseconds, promise) }
        return try? await promise.futureResult.get()
    }

    /// Cancels requests that were sent longer ago than that, as if their deadline were over.
    public func giveUp(olderThanMilliseconds age: Int64) {
        let pool = pool
        eventLoop.execute { pool.value.giveUp(olderThanMilliseconds: age) }
    }

    /// Ends the pause between attempts to connect, if there is one: somebody has put right what was wrong.
    public func retryNow() {
        let pool = pool
        eventLoop.execute { pool.value.retryNow() }
    }

    /// The server wants less from this sender, as it has said in an answer: fewer connections are held for a while.
    public func backOff() {
        let pool = pool
        eventLoop.execute { pool.value.backOff() }
    }

    /// Gives back what waits, lets what is on the wire resolve until its deadline, and closes the connections.
    public func shutdown() async {
        let pool = pool
        let promise = eventLoop.makePromise(of: Void.self)
        eventLoop.execute { pool.value.stop(promise) }
        try? await promise.futureResult.get()
    }

    public func status() async -> HTTP2ClientStatus? {
        let pool = pool
        return try? await eventLoop.submit { pool.value.status }.get()
    }
}

/// What a client tells its owner; every method is called on the client's event loop.
public protocol HTTP2ClientDelegate: AnyObject, Sendable {
    /// Requests are about to leave: one call for all that a connection gets at once, before any of their bytes exists.
    ///
    /// They are announced once, in the order in which they were submitted, and each of them gets a stream at once. (If the
    /// connection runs out of stream ids just then, the rest of them waits for another one and is not announced again.)
    /// What the owner submits meanwhile is queued.
    ///
    /// - Returns: false to keep them: they, and all others that wait, come back as *unprocessed* (`cancelled`), in a task of
    ///   the event loop of its own.
    func aboutToSend(_ requests: [HTTP2Departure]) -> Bool
    /// Requests have ended: one call for all that one read resolved, before their stream slots are used again.
    func completed(_ completions: [HTTP2Completion])
    /// Something happened to a connection.
    func connectionEvent(_ event: HTTP2ConnectionEvent)
}

extension HTTP2ClientDelegate {
    /// Lets all requests leave.
    public func aboutToSend(_ requests: [HTTP2Departure]) -> Bool { true }
}

/// Something that happened to one of a client's connections.
public enum HTTP2ConnectionEvent: Sendable {
    /// A connection is ready: TLS agreed on `h2` and the server's first SETTINGS frame came.
    case opened(address: String)
    /// An attempt to connect failed; the next one starts after the delay.
    case dialFailed(reason: String, attempt: Int, nextDelayMilliseconds: Int64)
    /// The server's limit of concurrent streams changed.
    case limitChanged(Int)
    /// So many requests may be on the wire at once now, over all connections.
    case capacityChanged(Int)
    /// The server sent GOAWAY. APNs puts a JSON object with the reason into the debug data, even with NO_ERROR.
    ///
    /// `wasInUse` is false for a connection that took no more requests already, such as one that was replaced.
    case goAway(code: HTTP2ErrorCode, lastStreamID: Int32, debugData: [UInt8], wasInUse: Bool)
    /// A connection ended. `reason` is nil for one that ended as it should.
    case closed(reason: String?)
}

/// Requests of a batch that are about to get streams.
public struct HTTP2Departure: Sendable {
    /// The batch that the requests belong to.
    public var batch: HTTP2RequestBatch
    /// Their indexes in the batch; never empty.
    public var range: Range<Int32>
}

/// The end of one request of a batch.
public struct HTTP2Completion: Sendable {
    /// The batch that the request belongs to.
    public var batch: HTTP2RequestBatch
    /// The request's index in its batch.
    public var index: Int32
    /// The time from handing the request to the connection to its end, in microseconds; 0 if it was never written.
    public var latencyMicroseconds: UInt32
    public var result: HTTP2Result
}

/// How one request ended, by what may safely be done next (RFC 9113 section 8.7).
public enum HTTP2Result: Sendable {
    case response(HTTP2Response)
    /// The server did not process the request: it may be sent again without a duplicate.
    case unprocessed(HTTP2Failure)
    /// The request was written and no answer came: it may or may not have been processed.
    case ambiguous(HTTP2Failure)
}

/// The parts of a response that a push gateway's answer consists of.
public struct HTTP2Response: Sendable {
    /// The `:status`, 100…599.
    public var status: Int16
    /// The `retry-after` field as it came: seconds or an HTTP date.
    public var retryAfter: String?
    /// The body, at most 64 KiB of it; empty for an accepted APNs request.
    public var body: [UInt8]
    /// Whether it carries the first of the header fields that only this request had, with the request's value: APNs gives every
    /// `apns-id` back, which nothing in its place would do.
    public var echoesRequest: Bool
    /// The header fields beside these, if they were to be kept (``HTTP2RequestBatch/keepAnswerFields(of:)``); else nil.
    public var otherFields: [HTTP2HeaderField]?

    public init(
        status: Int16,
        retryAfter: String? = nil,
        body: [UInt8] = [],
        echoesRequest: Bool = false,
        otherFields: [HTTP2HeaderField]? = nil
    ) {
        self.status = status
        self.retryAfter = retryAfter
        self.body = body
        self.echoesRequest = echoesRequest
        self.otherFields = otherFields
    }
}

/// A client's figures at one moment.
public struct HTTP2ClientStatus: Sendable {
    /// Connections that are ready for requests.
    public var connections: Int
    /// Requests on the wire without an answer.
    public var streamsInFlight: Int
    /// Requests that wait for a stream.
    public var queued: Int
    /// The sum of the ready connections' limits of concurrent streams.
    public var streamLimit: Int
    /// How many connections there are to be, and why.
    public var size: ConnectionSetSize
}

/// The settings of a set of connections to one server.
public struct HTTP2ClientConfiguration: Sendable {
    public var host: String
    public var port: Int
    /// The connections, whatever is spoken on them.
    public var connections: ConnectionOptions
    /// nil speaks HTTP/2 over plain TCP with prior knowledge.
    public var tls: HTTP2TLS?
    /// The proxy that connections go through; nil for none.
    public var proxy: HTTP2Proxy?
    /// Concurrent streams until the server's SETTINGS name a limit: 1 for APNs with tokens, 1,000 with a certificate, 100 for
    /// FCM.
    public var initialMaxConcurrentStreams: Int
    /// Our own ceiling per connection: 1,000 is what APNs announces. A server that names no limit gets 100 streams.
    public var maxConcurrentStreams = 1_000
    /// With requests outstanding and nothing read for so long, a PING asks whether the server is there. Go's and pushy's
    /// figure is 15 s as well.
    public var pingAfterSilenceMilliseconds: Int64 = 15_000
    /// A PING without an answer for so long ends the connection.
    public var pingTimeoutMilliseconds: Int64 = 15_000
    /// After so many deadlines in a row without any answer the connection is retired.
    public var timeoutsBeforeRetirement = 3
    /// Connects only while requests wait: for FCM, which closes idle connections after minutes and polices PINGs.
    public var dialsLazily = false
    /// A connection is retired before it opens a stream with this id or a higher one; 2^31-1 is the protocol's last.
    public var lastStreamID: Int32 = .max

    public init(
        host: String,
        port: Int,
        connections: ConnectionOptions,
        tls: HTTP2TLS? = HTTP2TLS(),
        initialMaxConcurrentStreams: Int
    ) {
        self.host = host
        self.port = port
        self.connections = connections
        self.tls = tls
        self.initialMaxConcurrentStreams = initialMaxConcurrentStreams
    }
}

/// A client's connections to one server, whatever is spoken on them.
public struct ConnectionOptions: Sendable, Hashable {
    /// How many are held at most, 1 or more.
    public var count: Int
    /// How many are held at least; as many as at most unless set. Between the two an HTTP/2 client opens what rate and latency ask for, see
    /// ``ConnectionSetSize``.
    public var fewest: Int
    /// A request without an answer for so long is given up and counts as ambiguous. FCM asks for 10 s or more.
    public var requestTimeoutMilliseconds: Int64
    /// The time until a connection can take requests: for the name, TCP, TLS and, with HTTP/2, the first SETTINGS frame together.
    public var connectTimeoutMilliseconds: Int64
    /// The first pause between attempts to connect; it doubles up to the maximum, with jitter.
    public var firstBackOffMilliseconds: Int64 = 1_000
    /// No more than five seconds: nobody waits longer for a server that is back, and only one process of all hosts goes on dialling for long.
    public var maximumBackOffMilliseconds: Int64 = 5_000

    public init(count: Int = 1, requestTimeoutMilliseconds: Int64, connectTimeoutMilliseconds: Int64) {
        self.count = count
        fewest = count
        self.requestTimeoutMilliseconds = requestTimeoutMilliseconds
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    }
}

/// How a client proves the server's identity, and its own where the server asks for that.
public struct HTTP2TLS: Sendable {
    /// A PEM file with the trusted roots; nil means the system's.
    public var trustRootsFile: String?
    /// The name that the certificate must carry and that is sent as SNI; nil means the host.
    public var serverName: String?
    /// The client's certificate; nil for none.
    public var identity: HTTP2TLSIdentity?

    public init(trustRootsFile: String? = nil, serverName: String? = nil, identity: HTTP2TLSIdentity? = nil) {
        self.trustRootsFile = trustRootsFile
        self.serverName = serverName
        self.identity = identity
    }
}

/// What a client proves its own identity with.
public struct HTTP2TLSIdentity: Sendable {
    /// The certificate, then those that signed it.
    public let certificateChain: [NIOSSLCertificate]
    public let privateKey: NIOSSLPrivateKey

    public init(certificateChain: [NIOSSLCertificate], privateKey: NIOSSLPrivateKey) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
    }
}

/// Why a request ended without a response.
public struct HTTP2Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened to the request's stream or connection.
    public enum Cause: Sendable, Hashable {
        /// The server reset the stream.
        case reset(HTTP2ErrorCode)
        /// We reset the stream, as the server broke the protocol on it: what was malformed.
        case malformed(String)
        /// The server sent GOAWAY and the stream is above its last stream id.
        case goAway
        /// The connection ended while the request was on it.
        case connectionClosed
        /// The request's deadline passed; the stream was reset with CANCEL.
        case timeout
        /// The caller took the request back before it was written.
        case cancelled
    }

    public var cause: Cause

    public init(_ cause: Cause) {
        self.cause = cause
    }

    public var description: String {
        switch cause {
        case .reset(let code): "the stream was reset by the server with \(code)"
        case .malformed(let what): "the server's answer was malformed: \(what)"
        case .goAway: "the server closed the connection for new streams before it processed this one"
        case .connectionClosed: "the connection ended before an answer came"
        case .timeout: "no answer came before the request's deadline"
        case .cancelled: "the request was taken back before it was written"
        }
    }
}

/// The error codes of RFC 9113 section 7.
public struct HTTP2ErrorCode: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    public var rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    public static let noError = HTTP2ErrorCode(rawValue: 0x0)
    public static let protocolError = HTTP2ErrorCode(rawValue: 0x1)
    public static let internalError = HTTP2ErrorCode(rawValue: 0x2)
    public static let flowControlError = HTTP2ErrorCode(rawValue: 0x3)
    public static let settingsTimeout = HTTP2ErrorCode(rawValue: 0x4)
    public static let streamClosed = HTTP2ErrorCode(rawValue: 0x5)
    public static let frameSizeError = HTTP2ErrorCode(rawValue: 0x6)
    public static let refusedStream = HTTP2ErrorCode(rawValue: 0x7)
    public static let cancel = HTTP2ErrorCode(rawValue: 0x8)
    public static let compressionError = HTTP2ErrorCode(rawValue: 0x9)
    public static let connectError = HTTP2ErrorCode(rawValue: 0xa)
    public static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 0xb)
    public static let inadequateSecurity = HTTP2ErrorCode(rawValue: 0xc)
    public static let http11Required = HTTP2ErrorCode(rawValue: 0xd)

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    /// The name that RFC 9113 gives the code, or the number in hexadecimal when it has none.
    public var description: String {
        rawValue < UInt32(Self.names.count) ? Self.names[Int(rawValue)] : "0x" + String(rawValue, radix: 16)
    }
}
