// HTTP2: HTTP/2 on nghttp2 and SwiftNIO, a client for the gateways and a server for the simulator.
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
//   Everything happens on the one event loop, the calls of the delegate as well. Calls from other threads hop once. nghttp2's
//   callbacks only note what happened; it is handled when nghttp2 has returned. Nothing blocks.
//
// STATE AND FILES
//   Memory only. A batch owns the memory that paths, values and bodies are read from, and each open stream holds its batch.
//   nghttp2 keeps streams, windows and the order of frames; the requests' header blocks are HeaderEncoder's. The trust roots
//   are read from a file at the start, and again when dialling has failed.
//
// FAILURES
//   No connection: the delegate is told and it dials again, with a new DNS answer, after pauses that double from 1 s to 5 s;
//   one connection at a time is tried until one has brought an answer. No answer by the deadline: the stream is reset with
//   CANCEL and the request is ambiguous, or unprocessed if it was not written; after three in a row the connection is
//   retired. Silence with requests open: a PING, and without its answer the end of the connection. GOAWAY: what is above its
//   last stream is unprocessed, the rest goes on. It never repeats a request, and resolves each exactly once.
//
// SETTINGS
//   None of its own: HTTP2ClientConfiguration and HTTP2ServerSettings have them, with the reason for each value.
//
// SEE ALSO
//   Client/HTTP2ClientPool.swift, Client/HTTP2ClientConnection.swift, Client/ClientSession.swift,
//   Client/HeaderEncoder.swift, Client/HTTP2RequestBatch.swift, Client/DialPacing.swift, Server/HTTP2ServerHandler.swift,
//   Sources/CNGHTTP2/module.modulemap

import NIOCore

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

    /// Queues a batch; may be called from any thread and costs one hop to the event loop.
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

    /// The client's figures now.
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
    /// The server answered.
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
