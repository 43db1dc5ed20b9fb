/// Receives a client's results and events. Every method is called on the client's event loop.
package protocol HTTP2ClientDelegate: AnyObject, Sendable {
    /// Requests are about to be sent. One call announces all that the connections get at once, before any byte is
    /// written.
    ///
    /// Each request is announced once, in the order of submission, and gets a stream at once. (If the connection runs
    /// out of stream ids just then, the rest waits for another connection and is not announced again.) Batches
    /// submitted during the call are queued.
    ///
    /// - Returns: false to withhold them. They and all other waiting requests are then returned as *unprocessed*
    ///   (`cancelled`), in a separate task of the event loop.
    func aboutToSend(_ requests: [HTTP2Departure]) -> Bool
    /// Requests have ended. One call covers all that one read resolved, before their stream slots are reused.
    func completed(_ completions: [HTTP2Completion])
    /// A connection event.
    func connectionEvent(_ event: HTTP2ConnectionEvent)
}

extension HTTP2ClientDelegate {
    /// Lets all requests be sent.
    package func aboutToSend(_ requests: [HTTP2Departure]) -> Bool { true }
}

/// An event of one of a client's connections.
package enum HTTP2ConnectionEvent: Sendable {
    /// A connection is ready: TLS negotiated `h2`, and the server's first SETTINGS frame was received.
    case opened(address: String)
    /// An attempt to connect failed; the next one starts after the delay.
    case dialFailed(reason: String, attempt: Int, nextDelayMilliseconds: Int64)
    /// The server's limit of concurrent streams changed.
    case limitChanged(Int)
    /// The maximum number of requests on the wire, over all connections, changed.
    case capacityChanged(Int)
    /// The server sent GOAWAY. APNs puts a JSON object with the reason into the debug data, even with NO_ERROR.
    ///
    /// `wasInUse` is false for a connection that already took no more requests, such as a replaced one.
    case goAway(code: HTTP2ErrorCode, lastStreamID: Int32, debugData: [UInt8], wasInUse: Bool)
    /// A connection ended. `reason` is nil for an orderly end.
    case closed(reason: String?)
}

/// Requests of a batch that are about to get streams.
package struct HTTP2Departure: Sendable {
    /// The batch of the requests.
    package var batch: HTTP2RequestBatch
    /// Their indexes in the batch; never empty.
    package var range: Range<Int32>
}
