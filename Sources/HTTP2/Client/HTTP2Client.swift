import NIOCore

/// A set of HTTP/2 connections to one server: batches of requests in, the end of each request out.
///
/// The client dials and redials by itself (a new DNS answer and a back-off with jitter each time), follows the server's
/// limit of concurrent streams, and settles every request exactly once, as an answer, as *unprocessed* (it may be sent again
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

    /// Replaces the connections: those that are open take no more requests, settle what they have, and close.
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

    /// Ends the pause between attempts to connect, if there is one: somebody has put right what was wrong.
    public func retryNow() {
        let pool = pool
        eventLoop.execute { pool.value.retryNow() }
    }

    /// Gives back what waits, lets what is on the wire settle until its deadline, and closes the connections.
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
